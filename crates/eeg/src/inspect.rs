//! A look at one recording before anything is done with it.

use std::collections::BTreeMap;
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
    /// The rank of all channels of the most common rate together, and how many these are; not known if there are gaps.
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
        let mut channels = Vec::with_capacity(places.len());
        for &place in &places {
            let signal = &header.signals[place];
            // One channel at a time: rates may differ.
            let values = if gaps.is_empty() { file.read(&[place]).unwrap_or_default() } else { Vec::new() };
            let (lowest, highest) = values
                .iter()
                .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &x| (low.min(x), high.max(x)));
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            let variance = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / values.len() as f64;
            let known = !values.is_empty();
            channels.push(ChannelLook {
                name: signal.label.clone(),
                sfreq: header.sfreq(place).unwrap_or(f64::NAN),
                unit: signal.unit.clone(),
                lowest: known.then_some(lowest),
                highest: known.then_some(highest),
                deviation: known.then(|| variance.sqrt()),
                flat: known && lowest == highest,
            });
        }
        let mut counts = BTreeMap::new();
        for annotation in annotations {
            *counts.entry(annotation.text).or_insert(0) += 1;
        }
        let rank = if gaps.is_empty() { rank(&mut file, &places, &channels)? } else { None };
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

/// The rank of the channels of the most common rate that have values.
fn rank(
    file: &mut EdfFile<std::io::BufReader<std::fs::File>>,
    places: &[usize],
    channels: &[ChannelLook],
) -> Result<Option<(usize, usize)>, Error> {
    let count = |sfreq: f64| channels.iter().filter(|channel| channel.sfreq == sfreq).count();
    let rates = channels.iter().filter(|channel| channel.lowest.is_some()).map(|channel| channel.sfreq);
    let Some(common) = rates.max_by_key(|&sfreq| count(sfreq)) else { return Ok(None) };
    let of_rate = places.iter().zip(channels);
    let chosen: Vec<usize> =
        of_rate.filter(|(_, c)| c.sfreq == common && c.lowest.is_some()).map(|(&place, _)| place).collect();
    let n = chosen.len();
    let Ok(samples) = file.read(&chosen) else { return Ok(None) };
    if samples.len() < 2 * n {
        return Ok(None);
    }
    let mut covariance = vec![0.0; n * n];
    CovarianceWorkspace::new(n)?.estimate(Estimator::Sample, &samples, &mut covariance)?;
    Ok(Quality::of(n, &covariance)?.first().map(|quality| (quality.rank, n)))
}
