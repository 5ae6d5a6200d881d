//! One recording on disk, in any format.

use std::io::{Read, Seek};
use std::path::Path;

use crate::dataset::{Definition, Format, MatLayout};
use crate::read::{EdfFile, MatFault, MatFile, MatVariable};
use crate::voltage::microvolts_per;
use crate::{Annotation, Error};

/// The content of a file apart from its samples.
pub(super) struct Facts {
    /// The channels that can be read.
    pub(super) channels: Vec<FileChannel>,
    pub(super) annotations: Vec<Annotation>,
}

/// A channel of a file.
pub(super) struct FileChannel {
    /// Its name in the file.
    pub(super) label: String,
    /// Its index in the file.
    pub(super) place: usize,
    pub(super) sfreq: f64,
    pub(super) samples: usize,
    /// Its unit in the file; empty if it is not given.
    pub(super) unit: String,
}

impl Facts {
    pub(super) fn of(definition: &Definition, path: &Path) -> Result<Self, Error> {
        match (definition.format, &definition.mat) {
            (Format::Mat, Some(layout)) => mat_facts(definition, layout, path),
            _ => edf_facts(path),
        }
    }
}

/// Reads samples of some channels in microvolts, sample by sample with all channels side by side.
pub(super) fn samples(definition: &Definition, path: &Path, channels: &[usize]) -> Result<Vec<f64>, Error> {
    // Marks the channels without a unit in the file.
    let silent: Vec<bool>;
    let mut samples;
    if let (Format::Mat, Some(layout)) = (definition.format, &definition.mat) {
        silent = vec![true; channels.len()];
        samples = mat_samples(definition, layout, path, channels)?;
    } else {
        let mut file = EdfFile::open(path)?;
        let signals = &file.header().signals;
        silent = channels.iter().map(|&channel| signals[channel].unit.is_empty()).collect();
        samples = file.read(channels).map_err(|fault| fault.at(path))?;
    }
    let factor = definition.unit.as_deref().and_then(microvolts_per).unwrap_or(1.0);
    if factor != 1.0 && silent.contains(&true) {
        for sample in samples.chunks_exact_mut(channels.len()) {
            for (x, _) in sample.iter_mut().zip(&silent).filter(|(_, silent)| **silent) {
                *x *= factor;
            }
        }
    }
    Ok(samples)
}

fn edf_facts(path: &Path) -> Result<Facts, Error> {
    let mut file = EdfFile::open(path)?;
    let annotations = file.annotations().map_err(|fault| fault.at(path))?;
    let header = file.header();
    let channel = |place: usize| {
        let signal = &header.signals[place];
        let samples = header.records * signal.samples_per_record;
        let sfreq = header.sfreq(place).unwrap_or(f64::NAN);
        FileChannel { label: signal.label.clone(), place, sfreq, samples, unit: signal.unit.clone() }
    };
    Ok(Facts { channels: header.sampled().map(channel).collect(), annotations })
}

/// Finds the signals of a MATLAB file. Also returns the samples per trial and the number of trials.
fn mat_signals<'file, R: Read + Seek>(
    layout: &MatLayout,
    path: &Path,
    file: &'file mut MatFile<R>,
) -> Result<(MatVariable<'file, R>, usize, usize), Error> {
    let (rows, name) = (layout.channels.len(), || layout.data.clone());
    let data = file.find(&layout.data)?;
    // Imaginary parts would be read as further trials.
    if data.is_complex() {
        return Err(Error::Mat { path: path.to_owned(), fault: MatFault::Complex { name: name() } });
    }
    // MATLAB drops the third dimension of a single trial.
    let (samples, trials) = match *data.dims() {
        [channels, samples] if channels == rows => (samples, 1),
        [channels, samples, trials] if channels == rows => (samples, trials),
        ref dims => {
            let shape = dims.to_vec();
            return Err(Error::MatShape { path: path.to_owned(), name: name(), shape, channels: rows });
        }
    };
    Ok((data, samples, trials))
}

fn mat_facts(definition: &Definition, layout: &MatLayout, path: &Path) -> Result<Facts, Error> {
    let mut file = MatFile::open(path)?;
    let (_, samples, trials) = mat_signals(layout, path, &mut file)?;
    // Checked before reading: a file with eight trials must not allocate a million labels.
    let labels = file.find(&layout.labels)?.dims().iter().product();
    if labels != trials {
        let (name, path) = (layout.labels.clone(), path.to_owned());
        return Err(Error::MatLabels { path, name, labels, trials });
    }
    let labels = file.numbers(&layout.labels)?.values;
    let (step, sfreq) = (samples + 2 * layout.padding, definition.sfreq);
    let [start, end] = definition.interval.map(|seconds| (seconds * sfreq).round_ties_even());
    if start < 0.0 || end >= samples as f64 {
        let (path, seconds) = (path.to_owned(), samples as f64 / sfreq);
        return Err(Error::MatInterval { path, seconds, interval: definition.interval });
    }
    let annotation = |(trial, label): (usize, &f64)| Annotation {
        onset: (trial * step + layout.padding) as f64 / sfreq,
        duration: samples as f64 / sfreq,
        text: label.to_string(),
    };
    let channel = |(place, label): (usize, &String)| FileChannel {
        label: label.clone(),
        place,
        sfreq,
        samples: trials * step,
        unit: String::new(),
    };
    Ok(Facts {
        channels: layout.channels.iter().enumerate().map(channel).collect(),
        annotations: labels.iter().enumerate().map(annotation).collect(),
    })
}

/// Joins trials to one recording, each channel less its mean over the trial, with zeros between
/// trials.
fn mat_samples(
    definition: &Definition,
    layout: &MatLayout,
    path: &Path,
    channels: &[usize],
) -> Result<Vec<f64>, Error> {
    let mut file = MatFile::open(path)?;
    let (mut data, length, trials) = mat_signals(layout, path, &mut file)?;
    let (rows, padding) = (layout.channels.len(), layout.padding * channels.len());
    let mut trial = vec![0.0; rows * length];
    let (mut means, mut samples) = (vec![0.0; channels.len()], Vec::new());
    for number in 0..trials {
        data.read(&mut trial)?;
        // Checked before the mean spreads the value over the trial.
        for (sample, row) in trial.chunks_exact(rows).enumerate() {
            if let Some(&channel) = channels.iter().find(|&&channel| !row[channel].is_finite()) {
                let place = format!("{}, trial {number}, sample {sample}", path.display());
                let name = definition.channel_name(&layout.channels[channel]).to_owned();
                return Err(Error::NotFinite { place, channel: name, value: row[channel] });
            }
        }
        means.fill(0.0);
        for sample in trial.chunks_exact(rows) {
            for (mean, &channel) in means.iter_mut().zip(channels) {
                *mean += sample[channel];
            }
        }
        for mean in &mut means {
            *mean /= length as f64;
        }
        samples.resize(samples.len() + padding, 0.0);
        for sample in trial.chunks_exact(rows) {
            samples.extend(channels.iter().zip(&means).map(|(&channel, mean)| sample[channel] - mean));
        }
        samples.resize(samples.len() + padding, 0.0);
    }
    Ok(samples)
}
