//! Reading of prepared data.

use std::path::Path;

use fedspd_manifold::check_symmetric;
use fedspd_manifold::simd::Simd;

use super::archive::Archive;
use super::unit::{Conversion, OF_COVARIANCES, OF_TRIALS};
use super::{Note, StoreFault};
use crate::{About, Covariances, Error, Origin, Trials, sample_by_sample};

/// The session or run of all trials in a file that names none.
const ONLY: &str = "1";

/// The content of a file, and how the loader completed or converted it.
#[derive(Clone, Debug, PartialEq)]
pub struct Loaded {
    /// The data.
    pub content: Prepared,
    /// Defaults and conversions, in the order in which they were applied.
    pub notes: Vec<Note>,
}

/// Trials or covariances.
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
/// are equal holds covariances. The shape of `X` gives the numbers of trials and channels.
///
/// # Errors
/// [`Error::File`], [`Error::Npz`] for a faulty archive, [`Error::Store`] for arrays that do not
/// match.
pub fn load(path: &Path) -> Result<Loaded, Error> {
    let mut archive = Archive::open(path)?;
    let mut notes = Vec::new();
    // Shapes come first, so that no array with a wrong shape and no list too long for the file is
    // read.
    let shape = archive.kind()?;
    if shape.channels == 0 {
        return Err(Error::NoChannels { path: path.to_owned() });
    }
    archive.check_trials(shape.trials)?;
    let (about, conversion) = archive.about(&shape, &mut notes)?;
    let mut x = archive.file.floats("X")?.values;
    conversion.apply(&about.unit, &mut x, &mut notes);
    let about = About { unit: conversion.unit.to_owned(), ..about };
    let size = x.len() / shape.trials.max(1);
    if let Some(place) = x.iter().position(|value| !value.is_finite()) {
        return Err(archive.fault(StoreFault::NotFinite { trial: place / size, value: x[place] }));
    }
    let Shape { channels, depth, .. } = shape;
    if !shape.covariances {
        let samples = sample_by_sample(channels, depth, &x, f64::clone);
        let trials = Trials::new(about, depth, samples)?;
        return Ok(Loaded { content: Prepared::Trials(trials), notes });
    }
    archive.symmetric(channels, depth, &x)?;
    let names = if archive.has("inputs") {
        archive.axis("inputs", depth, "input")?
    } else {
        (0..depth).map(|input| format!("input {input}")).collect()
    };
    Ok(Loaded { content: Prepared::Covariances(Covariances::new(about, names, x)?), notes })
}

/// The meaning of the axes of `X`.
struct Shape {
    covariances: bool,
    trials: usize,
    channels: usize,
    /// The number of inputs of covariances, or of samples of trials.
    depth: usize,
}

impl Shape {
    /// The number of inputs per trial.
    fn inputs(&self) -> usize {
        if self.covariances { self.depth } else { 1 }
    }
}

impl Archive<'_> {
    /// Finds whether `X` holds covariances or trials, and how many.
    fn kind(&mut self) -> Result<Shape, Error> {
        let shape = self.shape("X")?;
        let kind = if self.has("kind") { Some(self.text("kind")?) } else { None };
        let (covariances, trials) = match kind.as_deref() {
            Some("covariances") => (true, false),
            Some("trials") => (false, true),
            None => (true, true),
            Some(kind) => return Err(self.fault(StoreFault::Kind { kind: kind.to_owned() })),
        };
        match shape[..] {
            [trials, n, m] if covariances && n == m => {
                return Ok(Shape { covariances: true, trials, channels: n, depth: 1 });
            }
            [trials, depth, n, m] if covariances && n == m && depth > 0 => {
                return Ok(Shape { covariances: true, trials, channels: n, depth });
            }
            [count, channels, depth] if trials && depth > 0 => {
                return Ok(Shape { covariances: false, trials: count, channels, depth });
            }
            _ => {}
        }
        let of_covariances = "trials x channels x channels, or trials x inputs x channels x channels";
        let of_trials = "trials x channels x samples";
        let expected = match (covariances, trials) {
            (true, false) => of_covariances.to_owned(),
            (false, true) => of_trials.to_owned(),
            _ => format!("{of_covariances}, or {of_trials}"),
        };
        Err(self.fault(StoreFault::Shape { name: "X", shape, expected }))
    }

    /// Checks that `X`, `y` and `subject` have as many trials. If two agree, the third is wrong.
    fn check_trials(&mut self, trials: usize) -> Result<(), Error> {
        if let ([labels], [subjects]) = (&self.shape("y")?[..], &self.shape("subject")?[..])
            && labels == subjects
            && *labels != trials
        {
            return Err(self.fault(StoreFault::Trials { trials, entries: *labels }));
        }
        self.check_per_trial("y", trials)?;
        self.check_size("y", trials)
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

    /// Reads everything but the numbers, with the conversion of their unit.
    fn about(&mut self, shape: &Shape, notes: &mut Vec<Note>) -> Result<(About, Conversion), Error> {
        let channels = self.channels(shape.channels, notes)?;
        let subjects = self.ids("subject", shape.trials)?;
        let sessions = self.ids_or_one("session", shape.trials, notes)?;
        let runs = self.ids_or_one("run", shape.trials, notes)?;
        let (classes, labels) = self.labels(notes)?;
        let (sfreq, unit, making) = (self.rate()?, self.text("unit")?, self.making(shape.inputs())?);
        let Some(conversion) = Conversion::of(&unit, shape.covariances) else {
            let expected = if shape.covariances { OF_COVARIANCES } else { OF_TRIALS };
            return Err(self.fault(StoreFault::Unit { unit, expected }));
        };
        let ids = subjects.into_iter().zip(sessions).zip(runs).zip(labels);
        let origin = |(((subject, session), run), label)| Origin { label, subject, session, run };
        let origins = ids.map(origin).collect();
        Ok((About { classes, channels, sfreq, unit, making, origins }, conversion))
    }

    fn channels(&mut self, channels: usize, notes: &mut Vec<Note>) -> Result<Vec<String>, Error> {
        if self.has("channels") {
            let names = self.axis("channels", channels, "channel")?;
            return self.different("channels", names);
        }
        notes.push(Note::NumberedChannels { channels });
        Ok((1..=channels).map(|number| format!("channel {number}")).collect())
    }

    /// Reads one id per trial, or takes the same for all if the array is missing.
    fn ids_or_one(
        &mut self,
        name: &'static str,
        trials: usize,
        notes: &mut Vec<Note>,
    ) -> Result<Vec<String>, Error> {
        if self.has(name) {
            return self.ids(name, trials);
        }
        notes.push(Note::OneForAll { name });
        Ok(vec![ONLY.to_owned(); trials])
    }

    fn rate(&mut self) -> Result<f64, Error> {
        let shape = self.shape("sfreq")?;
        let [sfreq] = self.file.floats("sfreq")?.values[..] else {
            let expected = "a single number".to_owned();
            return Err(self.fault(StoreFault::Shape { name: "sfreq", shape, expected }));
        };
        if sfreq > 0.0 && sfreq.is_finite() { Ok(sfreq) } else { Err(self.fault(StoreFault::Rate { sfreq })) }
    }
}
