//! What covariances are made of a trial.

use crate::filter::Band;
use crate::{Error, Estimator};

/// The covariances of a trial: one for each band and window.
#[derive(Clone, Debug, PartialEq)]
pub struct Features {
    /// Filter bands.
    pub bands: Vec<Band>,
    /// Windows in seconds after the event, the first included and the last not; the whole trial, with both ends, if there are none.
    pub windows: Vec<[f64; 2]>,
    /// How they are estimated.
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

    /// What each of them is of, bands first.
    pub(crate) fn names(&self, interval: [f64; 2]) -> Vec<String> {
        let whole = [interval];
        let windows = if self.windows.is_empty() { &whole[..] } else { &self.windows };
        let name = |band: &Band, [start, end]: &[f64; 2]| format!("{band}, {start}-{end} s");
        self.bands.iter().flat_map(|band| windows.iter().map(move |window| name(band, window))).collect()
    }

    /// The windows as ranges of samples of a trial.
    ///
    /// # Errors
    /// [`Error::Window`] for one that is empty or reaches beyond the trial.
    pub(crate) fn ranges(
        &self,
        interval: [f64; 2],
        sfreq: f64,
        length: usize,
    ) -> Result<Vec<std::ops::Range<usize>>, Error> {
        if self.windows.is_empty() {
            return Ok(std::iter::once(0..length).collect());
        }
        let range = |&[start, end]: &[f64; 2]| {
            let [first, last] = [start, end].map(|t| ((t - interval[0]) * sfreq).round_ties_even());
            if first >= 0.0 && first + 2.0 <= last && last <= length as f64 {
                Ok(first as usize..last as usize)
            } else {
                Err(Error::Window { window: [start, end], interval })
            }
        };
        self.windows.iter().map(range).collect()
    }
}
