//! Reading.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use fedspd_manifold::check_symmetric;
use fedspd_manifold::simd::Simd;

use super::{NOT_ALIGNED, StoreFault};
use crate::about::{MICROVOLTS, NO_UNIT, SQUARE_MICROVOLTS};
use crate::names::first_twice;
use crate::npz::NpzFile;
use crate::{About, Alignment, Covariances, Error, Making, Origin, Trials};

/// What a file holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Prepared {
    /// Trials with all their samples.
    Trials(Trials),
    /// One or several covariances for each trial.
    Covariances(Covariances),
}

impl Prepared {
    /// Classes, channels and origins, and how the data were made.
    pub fn about(&self) -> &About {
        match self {
            Self::Trials(trials) => &trials.about,
            Self::Covariances(covariances) => &covariances.about,
        }
    }
}

/// Reads prepared data, ours or written by NumPy. Without `kind`, arrays with equal last axes are covariances.
///
/// # Errors
/// [`Error::File`], [`Error::Npz`] for a faulty archive, [`Error::Store`] for arrays that do not fit together.
pub fn load(path: &Path) -> Result<Prepared, Error> {
    let mut archive = Archive { file: NpzFile::open(path)?, path };
    let about = archive.about()?;
    if about.channels.is_empty() {
        return Err(Error::NoChannels { path: path.to_owned() });
    }
    let x = archive.have("X").and_then(|()| archive.file.floats("X"))?;
    let (trials, channels) = (about.origins.len(), about.channels.len());
    let kind = if archive.has("kind") { Some(archive.text("kind")?) } else { None };
    let square = x.shape.len() >= 2 && x.shape[x.shape.len() - 1] == x.shape[x.shape.len() - 2];
    let covariances = match kind.as_deref() {
        Some("covariances") => true,
        Some("trials") => false,
        None => square,
        Some(kind) => return Err(archive.fault(StoreFault::Kind { kind: kind.to_owned() })),
    };
    let wrong = |expected: String| StoreFault::Shape { name: "X", shape: x.shape.clone(), expected };
    let inputs = match (covariances, &x.shape[..]) {
        (true, &[t, n, m]) if (t, n, m) == (trials, channels, channels) => 1,
        (true, &[t, inputs, n, m]) if (t, n, m) == (trials, channels, channels) && inputs > 0 => inputs,
        (false, &[t, n, samples]) if (t, n) == (trials, channels) && samples > 0 => samples,
        (true, _) => {
            let expected =
                format!("{trials} x {channels} x {channels}, or {trials} x inputs x {channels} x {channels}");
            return Err(archive.fault(wrong(expected)));
        }
        (false, _) => return Err(archive.fault(wrong(format!("{trials} x {channels} x samples")))),
    };
    let units: &[&str] = if covariances { &[SQUARE_MICROVOLTS, NO_UNIT] } else { &[MICROVOLTS, NO_UNIT] };
    if !units.contains(&&*about.unit) {
        let expected = if covariances { "uV^2, or 1 for none" } else { "uV, or 1 for none" };
        return Err(archive.fault(StoreFault::Unit { unit: about.unit, expected }));
    }
    let size = x.values.len() / trials.max(1);
    if let Some(place) = x.values.iter().position(|value| !value.is_finite()) {
        return Err(archive.fault(StoreFault::NotFinite { trial: place / size, value: x.values[place] }));
    }
    if !covariances {
        return Ok(Prepared::Trials(Trials::new(
            about,
            inputs,
            sample_by_sample(channels, inputs, &x.values),
        )?));
    }
    archive.symmetric(channels, inputs, &x.values)?;
    let names = if archive.has("inputs") {
        archive.names("inputs", Some(inputs))?
    } else {
        (0..inputs).map(|input| format!("input {input}")).collect()
    };
    Ok(Prepared::Covariances(Covariances::new(about, names, x.values)?))
}

/// Channels with all samples each become samples with all channels each, trial by trial.
fn sample_by_sample(channels: usize, samples: usize, x: &[f64]) -> Vec<f64> {
    let mut out = Vec::with_capacity(x.len());
    for trial in x.chunks_exact((channels * samples).max(1)) {
        for sample in 0..samples {
            out.extend(trial[sample..].iter().step_by(samples));
        }
    }
    out
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

    /// Checks that covariances are symmetric: whoever wrote them may have mistaken something else for covariances.
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

    fn about(&mut self) -> Result<About, Error> {
        self.have("y")?;
        let y = self.file.integers("y")?;
        let &[trials] = &y.shape[..] else {
            let expected = "one number per trial".to_owned();
            return Err(self.fault(StoreFault::Shape { name: "y", shape: y.shape, expected }));
        };
        let classes = self.different("classes")?;
        let channels = self.different("channels")?;
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

    /// A list of names that tell things apart.
    fn different(&mut self, name: &'static str) -> Result<Vec<String>, Error> {
        let names = self.names(name, None)?;
        match first_twice(&names) {
            Some(twice) => Err(self.fault(StoreFault::Twice { name, twice: twice.clone() })),
            None => Ok(names),
        }
    }

    /// A list of names, of a given length if there is one.
    fn names(&mut self, name: &'static str, length: Option<usize>) -> Result<Vec<String>, Error> {
        self.have(name)?;
        let names = self.file.strings(name)?;
        if names.shape.len() == 1 && length.is_none_or(|length| length == names.values.len()) {
            return Ok(names.values);
        }
        let expected = length.map_or("a list".to_owned(), |length| format!("a list of {length}"));
        Err(self.fault(StoreFault::Shape { name, shape: names.shape, expected }))
    }

    /// One id per trial: texts, or numbers as texts.
    fn ids(&mut self, name: &'static str, trials: usize) -> Result<Vec<String>, Error> {
        self.have(name)?;
        let (shape, ids) = if let Ok(numbers) = self.file.integers(name) {
            (numbers.shape, numbers.values.iter().map(i64::to_string).collect())
        } else {
            let texts = self.file.strings(name)?;
            (texts.shape, texts.values)
        };
        if shape == [trials] {
            return Ok(ids);
        }
        Err(self.fault(StoreFault::Shape { name, shape, expected: format!("one per trial, {trials}") }))
    }

    fn text(&mut self, name: &'static str) -> Result<String, Error> {
        self.have(name)?;
        let text = self.file.strings(name)?;
        match &text.values[..] {
            [text] => Ok(text.clone()),
            _ => Err(self.fault(StoreFault::Shape {
                name,
                shape: text.shape,
                expected: "a single text".into(),
            })),
        }
    }
}
