//! Inspection of a single recording, before any processing.

use std::collections::BTreeMap;
use std::io::{Read, Seek};
use std::path::Path;

use fedspd_manifold::simd::Simd;
use fedspd_manifold::{Left, Triangle, multiply_symmetric};
use serde::Serialize;

use crate::about::MICROVOLTS;
use crate::covariance::mirror;
use crate::read::{EdfFile, Gap};
use crate::voltage::microvolts_per;
use crate::{Error, Quality};

/// The content of a recording.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Inspection {
    /// Its format, such as `EDF+`.
    pub format: String,
    /// Its start date and time, as written in the file.
    pub start: String,
    /// Its length in seconds.
    pub seconds: f64,
    /// Its channels.
    pub channels: Vec<ChannelLook>,
    /// The number of occurrences of each annotation.
    pub annotations: BTreeMap<String, usize>,
    /// Gaps between records.
    pub gaps: Vec<Gap>,
    /// The joint rank of the channels with the most common sampling rate, and their number. Unknown
    /// if there are too few samples.
    pub rank: Option<(usize, usize)>,
}

/// A channel of a recording.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChannelLook {
    /// Its name.
    pub name: String,
    /// Samples per second.
    pub sfreq: f64,
    /// Its unit, as written in the file.
    pub unit: String,
    /// The unit of the values below: [`MICROVOLTS`] if the file's unit is a known voltage,
    /// otherwise the file's unit.
    pub shown_in: String,
    /// The smallest value.
    pub lowest: Option<f64>,
    /// The largest value.
    pub highest: Option<f64>,
    /// The standard deviation.
    pub deviation: Option<f64>,
    /// Whether all values are equal.
    pub flat: bool,
    /// The fault that prevents reading this channel, if there is one.
    pub fault: Option<String>,
}

impl Inspection {
    /// Inspects an EDF or BDF file.
    ///
    /// # Errors
    /// [`Error::Edf`] for an invalid file, [`Error::File`].
    pub fn of(path: &Path) -> Result<Self, Error> {
        let mut file = EdfFile::open(path)?;
        let annotations = file.annotations().map_err(|fault| fault.at(path))?;
        let gaps = file.gaps().map_err(|fault| fault.at(path))?;
        let header = file.header().clone();
        let places: Vec<usize> = header.sampled().collect();
        let mut channels: Vec<ChannelLook> =
            places.iter().map(|&place| ChannelLook::unseen(&file, place)).collect();
        let mut rank = None;
        let mut groups = by_rate(&channels);
        // The most common rate first; among equally common rates, the first in the file.
        groups.sort_by_key(|group| std::cmp::Reverse(group.len()));
        for (number, group) in groups.iter().enumerate() {
            let signals: Vec<usize> = group.iter().map(|&channel| places[channel]).collect();
            let moments = Moments::of(&mut file, &signals, path)?;
            for (column, &channel) in group.iter().enumerate() {
                channels[channel].see(&moments, column);
            }
            if number == 0 {
                rank = moments.rank().map(|rank| (rank, group.len()));
            }
        }
        let mut counts = BTreeMap::new();
        for annotation in annotations {
            *counts.entry(annotation.text).or_insert(0) += 1;
        }
        Ok(Self {
            format: header.format.to_string(),
            start: format!("{} {}", header.start_date, header.start_time),
            seconds: header.records as f64 * header.record_duration,
            channels,
            annotations: counts,
            gaps,
            rank,
        })
    }
}

impl ChannelLook {
    /// The value in the header.
    fn unseen<R: Read + Seek>(file: &EdfFile<R>, place: usize) -> Self {
        let signal = &file.header().signals[place];
        Self {
            name: signal.label.clone(),
            sfreq: file.header().sfreq(place).unwrap_or(f64::NAN),
            unit: signal.unit.clone(),
            shown_in: if microvolts_per(&signal.unit).is_some() {
                MICROVOLTS.into()
            } else {
                signal.unit.clone()
            },
            lowest: None,
            highest: None,
            deviation: None,
            flat: false,
            fault: file.check(place).err().map(|fault| fault.to_string()),
        }
    }

    /// Adds the statistics of its values.
    fn see(&mut self, moments: &Moments, column: usize) {
        if moments.count == 0 {
            return;
        }
        let [lowest, highest] = moments.extremes[column];
        let square = moments.products[column * (moments.means.len() + 1)];
        (self.lowest, self.highest) = (Some(lowest), Some(highest));
        self.deviation = Some((square / moments.count as f64).sqrt());
        self.flat = lowest == highest;
    }
}

/// Joint statistics of some channels. The recording is read twice, record by record, so memory does
/// not depend on its length.
struct Moments {
    /// Samples of each channel.
    count: usize,
    means: Vec<f64>,
    /// The lowest and the highest value of each channel.
    extremes: Vec<[f64; 2]>,
    /// Sums of the products of deviations from the means, channels x channels.
    products: Vec<f64>,
}

impl Moments {
    fn of<R: Read + Seek>(file: &mut EdfFile<R>, signals: &[usize], path: &Path) -> Result<Self, Error> {
        let (n, simd) = (signals.len(), Simd::detect()?);
        let mut count = 0;
        let (mut means, mut extremes) = (vec![0.0; n], vec![[f64::INFINITY, f64::NEG_INFINITY]; n]);
        let sums = file.each(signals, |samples| {
            count += samples.len() / n;
            for sample in samples.chunks_exact(n) {
                for ((mean, [low, high]), &x) in means.iter_mut().zip(&mut extremes).zip(sample) {
                    *mean += x;
                    (*low, *high) = (low.min(x), high.max(x));
                }
            }
        });
        sums.map_err(|fault| fault.at(path))?;
        for mean in &mut means {
            *mean /= count.max(1) as f64;
        }
        let (mut products, mut product, mut centred) = (vec![0.0; n * n], vec![0.0; n * n], Vec::new());
        let squares = file.each(signals, |samples| {
            centred.clear();
            centred.extend(samples.iter().zip(means.iter().cycle()).map(|(x, mean)| x - mean));
            let shape = (n, samples.len() / n);
            multiply_symmetric(
                simd,
                Left::Transposed,
                Triangle::Lower,
                shape,
                &centred,
                &centred,
                &mut product,
            );
            for (sum, x) in products.iter_mut().zip(&product) {
                *sum += x;
            }
        });
        squares.map_err(|fault| fault.at(path))?;
        mirror(n, &mut products);
        Ok(Self { count, means, extremes, products })
    }

    /// The rank of the covariance; unknown with fewer than two samples or with values that are not
    /// finite.
    fn rank(&self) -> Option<usize> {
        if self.count < 2 {
            return None;
        }
        let quality = Quality::of(self.means.len(), &self.products).ok()?;
        quality.first().filter(|quality| quality.is_finite()).map(|quality| quality.rank)
    }
}

/// Groups the readable channels by sampling rate.
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
