//! A look at one recording before anything is done with it.

use std::collections::BTreeMap;
use std::io::{Read, Seek};
use std::path::Path;

use serde::Serialize;

use crate::read::EdfFile;
use crate::{CovarianceWorkspace, Error, Estimator, Quality};

/// What a recording holds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Inspection {
    /// Its format, as `EdfPlus`.
    pub format: String,
    /// When it begins, as written.
    pub start: String,
    /// Its length in seconds.
    pub seconds: f64,
    /// What was measured.
    pub channels: Vec<ChannelLook>,
    /// For each annotation: how often it is there.
    pub annotations: BTreeMap<String, usize>,
    /// Where records do not follow each other.
    pub gaps: Vec<String>,
    /// The rank of the channels of the most common rate together, and how many these are; not known if there are gaps or too few samples.
    pub rank: Option<(usize, usize)>,
}

/// A channel of a recording.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChannelLook {
    /// Its name.
    pub name: String,
    /// Samples per second.
    pub sfreq: f64,
    /// Its unit as the file says it; amplitudes are in microvolts if it is a voltage.
    pub unit: String,
    /// The smallest value.
    pub lowest: Option<f64>,
    /// The largest value.
    pub highest: Option<f64>,
    /// The standard deviation.
    pub deviation: Option<f64>,
    /// Whether it never changes.
    pub flat: bool,
    /// Why its values are not known, if they are not because of it alone.
    pub fault: Option<String>,
}

impl Inspection {
    /// Looks at an EDF or BDF file.
    ///
    /// # Errors
    /// [`Error::Edf`] for a file that is not one, [`Error::File`].
    pub fn of(path: &Path) -> Result<Self, Error> {
        let mut file = EdfFile::open(path)?;
        let annotations = file.annotations().map_err(|fault| fault.at(path))?;
        let gaps = file.gaps().map_err(|fault| fault.at(path))?;
        let header = file.header().clone();
        let places: Vec<usize> = header.sampled().collect();
        let mut channels: Vec<ChannelLook> =
            places.iter().map(|&place| ChannelLook::unseen(&file, place)).collect();
        let mut rank = None;
        if gaps.is_empty() {
            let mut groups = by_rate(&channels);
            // The most common rate first; of equally common ones the first in the file.
            groups.sort_by_key(|group| std::cmp::Reverse(group.len()));
            for (number, group) in groups.iter().enumerate() {
                let signals: Vec<usize> = group.iter().map(|&channel| places[channel]).collect();
                let samples = file.read(&signals).map_err(|fault| fault.at(path))?;
                for (column, &channel) in group.iter().enumerate() {
                    channels[channel].see(samples[column.min(samples.len())..].iter().step_by(group.len()));
                }
                if number == 0 {
                    rank = rank_of(group.len(), &samples)?;
                }
            }
        }
        let mut counts = BTreeMap::new();
        for annotation in annotations {
            *counts.entry(annotation.text).or_insert(0) += 1;
        }
        Ok(Self {
            format: format!("{:?}", header.format),
            start: format!("{} {}", header.start_date, header.start_time),
            seconds: header.records as f64 * header.record_duration,
            channels,
            annotations: counts,
            gaps: gaps.iter().map(ToString::to_string).collect(),
            rank,
        })
    }
}

impl ChannelLook {
    /// What the header says.
    fn unseen<R: Read + Seek>(file: &EdfFile<R>, place: usize) -> Self {
        let signal = &file.header().signals[place];
        Self {
            name: signal.label.clone(),
            sfreq: file.header().sfreq(place).unwrap_or(f64::NAN),
            unit: signal.unit.clone(),
            lowest: None,
            highest: None,
            deviation: None,
            flat: false,
            fault: file.check(place).err().map(|fault| fault.to_string()),
        }
    }

    /// What its values say.
    fn see<'a>(&mut self, values: impl ExactSizeIterator<Item = &'a f64> + Clone) {
        if values.len() == 0 {
            return;
        }
        let count = values.len() as f64;
        let extremes = values
            .clone()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &x| (low.min(x), high.max(x)));
        let mean = values.clone().sum::<f64>() / count;
        let variance = values.map(|x| (x - mean).powi(2)).sum::<f64>() / count;
        (self.lowest, self.highest) = (Some(extremes.0), Some(extremes.1));
        self.deviation = Some(variance.sqrt());
        self.flat = extremes.0 == extremes.1;
    }
}

/// The channels that can be read, those of one rate together.
fn by_rate(channels: &[ChannelLook]) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (place, channel) in channels.iter().enumerate().filter(|(_, channel)| channel.fault.is_none()) {
        match groups.iter_mut().find(|group| channels[group[0]].sfreq == channel.sfreq) {
            Some(group) => group.push(place),
            None => groups.push(vec![place]),
        }
    }
    groups
}

/// The rank of all channels of a recording, and their number; nothing if there are hardly any samples.
fn rank_of(n: usize, samples: &[f64]) -> Result<Option<(usize, usize)>, Error> {
    if samples.len() < 2 * n {
        return Ok(None);
    }
    let mut covariance = vec![0.0; n * n];
    CovarianceWorkspace::new(n)?.estimate(Estimator::Sample, samples, &mut covariance)?;
    Ok(Quality::of(n, &covariance)?.first().map(|quality| (quality.rank, n)))
}
