//! A writer of EDF and BDF: valid files, and a way to damage them.

/// A file to be written. Fields are text, so that tests can make them wrong.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    /// The reserved field: `EDF+C`, `BDF+D` or empty.
    pub(crate) kind: &'static str,
    pub(crate) sample_bytes: usize,
    pub(crate) records: usize,
    pub(crate) record_duration: String,
    pub(crate) signals: Vec<DraftSignal>,
}

#[derive(Clone, Debug)]
pub(crate) struct DraftSignal {
    pub(crate) label: Vec<u8>,
    pub(crate) unit: Vec<u8>,
    pub(crate) physical: [String; 2],
    pub(crate) digital: [i32; 2],
    /// The bytes of each record, all of equal length.
    pub(crate) data: Vec<Vec<u8>>,
}

impl Draft {
    /// An EDF file without signals, with records of one second.
    pub(crate) fn edf(records: usize) -> Self {
        Self { kind: "", sample_bytes: 2, records, record_duration: "1".into(), signals: Vec::new() }
    }

    /// A BDF file without signals, with records of one second.
    pub(crate) fn bdf(records: usize) -> Self {
        Self { kind: "24BIT", sample_bytes: 3, ..Self::edf(records) }
    }

    pub(crate) fn kind(self, kind: &'static str) -> Self {
        Self { kind, ..self }
    }

    pub(crate) fn duration(self, seconds: &str) -> Self {
        Self { record_duration: seconds.into(), ..self }
    }

    /// Adds a signal with these samples, equally many in each record. Its physical range equals its
    /// digital range.
    pub(crate) fn signal(self, label: &str, unit: &[u8], samples: &[i32]) -> Self {
        let largest = 1 << (8 * self.sample_bytes - 1);
        let (low, high) = (-largest, largest - 1);
        self.scaled(label, unit, [&low.to_string(), &high.to_string()], [low, high], samples)
    }

    /// Adds a signal with its ranges.
    pub(crate) fn scaled(
        mut self,
        label: &str,
        unit: &[u8],
        physical: [&str; 2],
        digital: [i32; 2],
        samples: &[i32],
    ) -> Self {
        let bytes: Vec<u8> =
            samples.iter().flat_map(|sample| sample.to_le_bytes()[..self.sample_bytes].to_vec()).collect();
        let size = bytes.len() / self.records;
        self.signals.push(DraftSignal {
            label: label.into(),
            unit: unit.into(),
            physical: physical.map(str::to_owned),
            digital,
            data: bytes.chunks(size.max(1)).map(<[u8]>::to_vec).collect(),
        });
        self
    }

    /// Adds a signal with annotations: for each record, its lists.
    pub(crate) fn annotations(mut self, lists: &[Vec<u8>]) -> Self {
        assert_eq!(lists.len(), self.records);
        let size = lists.iter().map(Vec::len).max().unwrap().next_multiple_of(self.sample_bytes);
        let filled = |list: &Vec<u8>| {
            let mut list = list.clone();
            list.resize(size, 0);
            list
        };
        self.signals.push(DraftSignal {
            label: if self.sample_bytes == 2 { b"EDF Annotations".into() } else { b"BDF Annotations".into() },
            unit: Vec::new(),
            physical: ["-1".into(), "1".into()],
            digital: [-32768, 32767],
            data: lists.iter().map(filled).collect(),
        });
        self
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let mut field = |value: &[u8], width: usize| {
            assert!(value.len() <= width);
            out.extend(value);
            out.resize(out.len() + width - value.len(), b' ');
        };
        let number = |number: usize| number.to_string().into_bytes();
        field(if self.sample_bytes == 2 { b"0" } else { b"\xffBIOSEMI" }, 8);
        field(b"X X X X", 80);
        field(b"Startdate 16-NOV-2026 X X X", 80);
        field(b"16.11.26", 8);
        field(b"10.20.30", 8);
        field(&number(256 * (1 + self.signals.len())), 8);
        field(self.kind.as_bytes(), 44);
        field(&number(self.records), 8);
        field(self.record_duration.as_bytes(), 8);
        field(&number(self.signals.len()), 4);
        // The header is stored column by column, each with all signals.
        let mut column = |width: usize, value: &dyn Fn(&DraftSignal) -> Vec<u8>| {
            for signal in &self.signals {
                field(&value(signal), width);
            }
        };
        column(16, &|signal| signal.label.clone());
        column(80, &|_| b"electrode".to_vec());
        column(8, &|signal| signal.unit.clone());
        column(8, &|signal| signal.physical[0].clone().into_bytes());
        column(8, &|signal| signal.physical[1].clone().into_bytes());
        column(8, &|signal| signal.digital[0].to_string().into_bytes());
        column(8, &|signal| signal.digital[1].to_string().into_bytes());
        column(80, &|_| b"HP:0.1Hz".to_vec());
        column(8, &|signal| number(signal.data[0].len() / self.sample_bytes));
        column(32, &|_| Vec::new());
        for record in 0..self.records {
            for signal in &self.signals {
                out.extend(&signal.data[record]);
            }
        }
        out
    }
}

/// A time-stamped annotation list.
pub(crate) fn list(onset: &str, duration: &str, texts: &[&str]) -> Vec<u8> {
    let mut out = onset.as_bytes().to_vec();
    if !duration.is_empty() {
        out.push(0x15);
        out.extend(duration.as_bytes());
    }
    out.push(0x14);
    for text in texts {
        out.extend(text.as_bytes());
        out.push(0x14);
    }
    out.push(0);
    out
}

/// Replaces a field that begins at this byte.
pub(crate) fn put(bytes: &mut [u8], first: usize, width: usize, value: &[u8]) {
    bytes[first..first + width].fill(b' ');
    bytes[first..first + value.len()].copy_from_slice(value);
}

/// The first byte of a field of a signal: `before` is the width of the previous fields, per signal.
pub(crate) fn place(signals: usize, before: usize, width: usize, signal: usize) -> usize {
    256 + before * signals + width * signal
}
