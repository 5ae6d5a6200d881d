//! A continuous recording.

/// What was measured in one go, and what was noted meanwhile.
#[derive(Clone, Debug, PartialEq)]
pub struct Recording {
    /// Samples per second.
    pub sfreq: f64,
    /// The names of the channels.
    pub channels: Vec<String>,
    /// Microvolts: sample after sample, each with all channels.
    pub samples: Vec<f64>,
    /// By onset, then by duration.
    pub annotations: Vec<Annotation>,
}

/// Something noted in a recording.
#[derive(Clone, Debug, PartialEq)]
pub struct Annotation {
    /// Seconds after the first sample.
    pub onset: f64,
    /// Seconds; 0 if not given.
    pub duration: f64,
    /// What was noted.
    pub text: String,
}

impl Annotation {
    /// The order of annotations, MNE's: by onset, then by duration; those that agree in both stay in the order of the file.
    pub(crate) fn order(&self, other: &Self) -> std::cmp::Ordering {
        self.onset.total_cmp(&other.onset).then(self.duration.total_cmp(&other.duration))
    }
}

impl Recording {
    /// The number of samples of each channel.
    pub fn len(&self) -> usize {
        self.samples.len() / self.channels.len().max(1)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.samples.is_empty()
    }
}
