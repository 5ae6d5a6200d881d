//! Features: the covariances computed from a trial.

use std::ops::Range;

use crate::filter::Band;
use crate::names::first_twice;
use crate::{Branch, Definition, Error, Estimator, Extent, IIR, Making, Recipe};

/// The covariances of a trial: one for each band and window.
#[derive(Clone, Debug, PartialEq)]
pub struct Features {
    /// Filter bands.
    pub bands: Vec<Band>,
    /// Windows in seconds after the event, the first sample included and the last excluded. If
    /// there are none, the whole trial is used, including both ends.
    pub windows: Vec<[f64; 2]>,
    /// The covariance estimator.
    pub estimator: Estimator,
}

impl Features {
    /// One covariance of the whole trial in one band, as in the paper.
    pub fn whole_trial(band: Band) -> Self {
        Self { bands: vec![band], windows: Vec::new(), estimator: Estimator::default() }
    }

    /// The number of matrices of a trial.
    pub fn inputs(&self) -> usize {
        self.bands.len() * self.windows.len().max(1)
    }

    /// The windows; the whole trial is the interval of the definition.
    fn windows(&self, interval: [f64; 2]) -> Vec<[f64; 2]> {
        if self.windows.is_empty() { vec![interval] } else { self.windows.clone() }
    }

    /// The name of each matrix, bands first, for trials with this interval.
    pub fn names(&self, interval: [f64; 2]) -> Vec<String> {
        let windows: Vec<String> = self.windows(interval).into_iter().map(window_name).collect();
        let of_band = |band: &Band| windows.iter().map(|window| format!("{band}, {window}")).collect();
        self.bands.iter().flat_map::<Vec<String>, _>(of_band).collect()
    }

    /// The processing of the trials of a definition, before any alignment.
    ///
    /// # Errors
    /// As [`Features::ranges`].
    pub(crate) fn making(&self, definition: &Definition) -> Result<Making, Error> {
        let (interval, sfreq) = (definition.interval, definition.sfreq);
        let ranges = self.ranges(interval, sfreq, definition.trial_length(sfreq))?;
        let windows: Vec<_> = self.windows(interval).into_iter().zip(ranges).collect();
        let branch = |band: Band, (window, range): &([f64; 2], Range<usize>)| Branch {
            band: Some(band),
            filter: Some(IIR.to_owned()),
            window: Some(*window),
            samples: Some(range.len()),
            centred: Some(true),
            estimator: Some(self.estimator.to_string()),
            ..Branch::default()
        };
        let branches =
            self.bands.iter().flat_map(|&band| windows.iter().map(move |window| branch(band, window)));
        Ok(Making {
            reference: definition.reference.clone(),
            branches: branches.collect(),
            recipe: Some(Recipe::of(definition)),
        })
    }

    /// The extent of each matrix, in the same order.
    pub(crate) fn extents(&self, windows: &[Range<usize>], sfreq: f64) -> Vec<Extent> {
        let extent = |band: &Band, samples: usize| Extent {
            samples,
            freedom: 2.0 * (band.high - band.low) * samples as f64 / sfreq,
        };
        let of_band = |band| windows.iter().map(move |window| extent(band, window.len()));
        self.bands.iter().flat_map(of_band).collect()
    }

    /// The windows as ranges of samples of a trial.
    ///
    /// # Errors
    /// [`Error::Window`] for a window that is empty or reaches beyond the trial; [`Error::Twice`]
    /// for a window or a band given twice, because equal names mean equal matrices.
    pub(crate) fn ranges(
        &self,
        interval: [f64; 2],
        sfreq: f64,
        length: usize,
    ) -> Result<Vec<Range<usize>>, Error> {
        let bands = self.bands.iter().map(ToString::to_string).collect::<Vec<_>>();
        let windows = self.windows(interval).into_iter().map(window_name).collect();
        for (what, names) in [("the band", bands), ("the window", windows)] {
            if let Some(twice) = first_twice(&names) {
                return Err(Error::Twice { what, name: twice.clone() });
            }
        }
        let range = |window: [f64; 2]| {
            // A trial includes both ends, and so does the window that spans all of it: one name,
            // one matrix.
            if window == interval {
                return Ok(0..length);
            }
            let [first, last] = window.map(|t| ((t - interval[0]) * sfreq).round_ties_even());
            if interval[0] <= window[0] && window[1] <= interval[1] && first + 2.0 <= last {
                Ok(first as usize..last as usize)
            } else {
                Err(Error::Window { window, interval })
            }
        };
        self.windows(interval).into_iter().map(range).collect()
    }
}

/// The name of a window. It has dots if a time is negative, to keep the dash from a minus sign.
pub(crate) fn window_name([start, end]: [f64; 2]) -> String {
    if start < 0.0 || end < 0.0 { format!("{start}..{end} s") } else { format!("{start}-{end} s") }
}
