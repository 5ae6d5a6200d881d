//! Reading of prepared data.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use fedspd_manifold::check_symmetric;
use fedspd_manifold::simd::Simd;

use super::{NOT_ALIGNED, StoreFault};
use crate::about::{MICROVOLTS, NO_UNIT, SQUARE_MICROVOLTS};
use crate::names::first_twice;
use crate::npz::{NpzFault, NpzFile};
use crate::{About, Alignment, Covariances, Error, Expansion, Making, Origin, Trials, sample_by_sample};

/// Approximate memory of a list entry: its text, or the label and the three ids of a trial.
const BYTES_PER_ENTRY: u64 = 128;

/// The content of a file.
#[derive(Clone, Debug, PartialEq)]
pub enum Prepared {
    /// Trials with all their samples.
    Trials(Trials),
    /// One or several covariances for each trial.
    Covariances(Covariances),
}

impl Prepared {
    /// Classes, channels, origins and processing of the data.
    pub fn about(&self) -> &About {
        match self {
            Self::Trials(trials) => &trials.about,
            Self::Covariances(covariances) => &covariances.about,
        }
    }
}

/// Reads prepared data, written by fedspd or by NumPy. Without `kind`, an array whose last two axes
/// are equal holds covariances.
///
/// # Errors
/// [`Error::File`], [`Error::Npz`] for a faulty archive, [`Error::Store`] for arrays that do not
/// match.
pub fn load(path: &Path) -> Result<Prepared, Error> {
    let mut archive = Archive { file: NpzFile::open(path)?, path };
    // Shapes come first, so that no array with a wrong shape and no list too long for the file is
    // read.
    let channels = archive.different("channels")?;
    if channels.is_empty() {
        return Err(Error::NoChannels { path: path.to_owned() });
    }
    let trials = archive.trials()?;
    let (covariances, inputs) = archive.kind(trials, channels.len())?;
    let about = archive.about(trials, channels)?;
    let units: &[&str] = if covariances { &[SQUARE_MICROVOLTS, NO_UNIT] } else { &[MICROVOLTS, NO_UNIT] };
    if !units.contains(&&*about.unit) {
        let expected = if covariances { "uV^2, or 1 for none" } else { "uV, or 1 for none" };
        return Err(archive.fault(StoreFault::Unit { unit: about.unit, expected }));
    }
    let (x, channels) = (archive.file.floats("X")?.values, about.channels.len());
    let size = x.len() / trials.max(1);
    if let Some(place) = x.iter().position(|value| !value.is_finite()) {
        return Err(archive.fault(StoreFault::NotFinite { trial: place / size, value: x[place] }));
    }
    if !covariances {
        return Ok(Prepared::Trials(Trials::new(
            about,
            inputs,
            sample_by_sample(channels, inputs, &x, f64::clone),
        )?));
    }
    archive.symmetric(channels, inputs, &x)?;
    let names = if archive.has("inputs") {
        archive.names("inputs", Some(inputs))?
    } else {
        (0..inputs).map(|input| format!("input {input}")).collect()
    };
    Ok(Prepared::Covariances(Covariances::new(about, names, x)?))
}

struct Archive<'a> {
    file: NpzFile<BufReader<File>>,
    path: &'a Path,
}

impl Archive<'_> {
    fn fault(&self, fault: StoreFault) -> Error {
        Error::Store { path: self.path.to_owned(), fault }
    }

    fn has(&self, name: &str) -> bool {
        self.file.names().any(|there| there == name)
    }

    fn have(&self, name: &'static str) -> Result<(), Error> {
        if self.has(name) { Ok(()) } else { Err(self.fault(StoreFault::Absent { name })) }
    }

    /// Checks that covariances are symmetric: other programs may have stored something else.
    fn symmetric(&self, n: usize, inputs: usize, matrices: &[f64]) -> Result<(), Error> {
        use fedspd_manifold::Error::NotSymmetric;
        match check_symmetric(Simd::detect()?, n, matrices, 0..matrices.len() / (n * n)) {
            Err(NotSymmetric { matrix, row, column, difference, .. }) => {
                let (trial, input, entry) = (matrix / inputs, matrix % inputs, [row, column]);
                Err(self.fault(StoreFault::NotSymmetric { trial, input, entry, difference }))
            }
            other => Ok(other?),
        }
    }

    /// The number of trials.
    fn trials(&mut self) -> Result<usize, Error> {
        self.have("y")?;
        let shape = self.file.shape("y")?;
        let &[trials] = &shape[..] else {
            let expected = "one number per trial".to_owned();
            return Err(self.fault(StoreFault::Shape { name: "y", shape, expected }));
        };
        self.check_size("y", trials)?;
        Ok(trials)
    }

    /// Whether `X` holds covariances, with the number of inputs, or else with the number of
    /// samples.
    fn kind(&mut self, trials: usize, channels: usize) -> Result<(bool, usize), Error> {
        self.have("X")?;
        let shape = self.file.shape("X")?;
        let kind = if self.has("kind") { Some(self.text("kind")?) } else { None };
        let covariances = match kind.as_deref() {
            Some("covariances") => true,
            Some("trials") => false,
            None => shape.len() >= 2 && shape[shape.len() - 1] == shape[shape.len() - 2],
            Some(kind) => return Err(self.fault(StoreFault::Kind { kind: kind.to_owned() })),
        };
        let expected = match (covariances, &shape[..]) {
            (true, &[t, n, m]) if (t, n, m) == (trials, channels, channels) => return Ok((true, 1)),
            (true, &[t, inputs, n, m]) if (t, n, m) == (trials, channels, channels) && inputs > 0 => {
                return Ok((true, inputs));
            }
            (false, &[t, n, samples]) if (t, n) == (trials, channels) && samples > 0 => {
                return Ok((false, samples));
            }
            (true, _) => {
                format!("{trials} x {channels} x {channels}, or {trials} x inputs x {channels} x {channels}")
            }
            (false, _) => format!("{trials} x {channels} x samples"),
        };
        Err(self.fault(StoreFault::Shape { name: "X", shape, expected }))
    }

    /// Checks that a list in memory is not too large for the length of the file.
    fn check_size(&self, name: &'static str, entries: usize) -> Result<(), Error> {
        let length = self.file.length();
        let bytes = (entries as u64).saturating_mul(BYTES_PER_ENTRY);
        let fault = |_| self.fault(StoreFault::Many { name, entries, length });
        Expansion::check(length, bytes).map_err(fault)
    }

    fn about(&mut self, trials: usize, channels: Vec<String>) -> Result<About, Error> {
        let classes = self.different("classes")?;
        let y = self.file.integers("y")?;
        let wrong = |&&label: &&i64| usize::try_from(label).map_or(true, |label| label >= classes.len());
        if let Some(&label) = y.values.iter().find(wrong) {
            let trial = y.values.iter().position(|&other| other == label).unwrap_or(0);
            return Err(self.fault(StoreFault::Label { trial, label, classes: classes.len() }));
        }
        let subjects = self.ids("subject", trials)?;
        let sessions = self.ids("session", trials)?;
        let runs = self.ids("run", trials)?;
        self.have("sfreq")?;
        let sfreq = self.file.floats("sfreq")?;
        let [sfreq] = sfreq.values[..] else {
            let expected = "a single number".to_owned();
            return Err(self.fault(StoreFault::Shape { name: "sfreq", shape: sfreq.shape, expected }));
        };
        if !(sfreq > 0.0 && sfreq.is_finite()) {
            return Err(self.fault(StoreFault::Rate { sfreq }));
        }
        let (unit, making) = (self.text("unit")?, self.making()?);
        let ids = subjects.into_iter().zip(sessions).zip(runs).zip(y.values);
        let origin =
            |(((subject, session), run), label)| Origin { label: label as usize, subject, session, run };
        Ok(About { classes, channels, sfreq, unit, making, origins: ids.map(origin).collect() })
    }

    fn making(&mut self) -> Result<Making, Error> {
        let mut making = Making::default();
        if self.has("estimator") {
            making.estimator = Some(self.text("estimator")?);
        }
        if self.has("align") {
            let name = self.text("align")?;
            making.align = Alignment::ALL.into_iter().find(|align| align.name() == name);
            if making.align.is_none() && name != NOT_ALIGNED {
                return Err(self.fault(StoreFault::Align { name }));
            }
        }
        if self.has("z_score") {
            making.z_score = match self.file.integers("z_score")?.values[..] {
                [0] => false,
                [1] => true,
                ref values => return Err(self.fault(StoreFault::ZScore { values: values.to_vec() })),
            };
        }
        if self.has("bands") {
            making.bands = self.names("bands", None)?;
        }
        if self.has("windows") {
            making.windows = self.names("windows", None)?;
        }
        Ok(making)
    }

    /// Reads a list of distinct names.
    fn different(&mut self, name: &'static str) -> Result<Vec<String>, Error> {
        let names = self.names(name, None)?;
        match first_twice(&names) {
            Some(twice) => Err(self.fault(StoreFault::Twice { name, twice: twice.clone() })),
            None => Ok(names),
        }
    }

    /// Reads a list of names, of a given length if there is one.
    fn names(&mut self, name: &'static str, length: Option<usize>) -> Result<Vec<String>, Error> {
        self.have(name)?;
        let shape = self.file.shape(name)?;
        match shape[..] {
            [found] if length.is_none_or(|length| length == found) => {
                self.check_size(name, found)?;
                Ok(self.file.strings(name)?.values)
            }
            _ => {
                let expected = length.map_or("a list".to_owned(), |length| format!("a list of {length}"));
                Err(self.fault(StoreFault::Shape { name, shape, expected }))
            }
        }
    }

    /// Reads one id per trial: texts, or numbers converted to texts.
    fn ids(&mut self, name: &'static str, trials: usize) -> Result<Vec<String>, Error> {
        self.have(name)?;
        let shape = self.file.shape(name)?;
        if shape != [trials] {
            let expected = format!("one per trial, {trials}");
            return Err(self.fault(StoreFault::Shape { name, shape, expected }));
        }
        match self.file.integers(name) {
            Ok(numbers) => Ok(numbers.values.iter().map(i64::to_string).collect()),
            Err(Error::Npz { fault, .. }) if matches!(*fault, NpzFault::Kind { .. }) => {
                Ok(self.file.strings(name)?.values)
            }
            Err(error) => Err(error),
        }
    }

    fn text(&mut self, name: &'static str) -> Result<String, Error> {
        self.have(name)?;
        let shape = self.file.shape(name)?;
        if shape.iter().product::<usize>() == 1
            && let Some(text) = self.file.strings(name)?.values.pop()
        {
            return Ok(text);
        }
        Err(self.fault(StoreFault::Shape { name, shape, expected: "a single text".into() }))
    }
}
