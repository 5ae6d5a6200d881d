//! Covariances of trials in memory.

use super::{CovarianceWorkspace, Estimator};
use crate::about::{MICROVOLTS, NO_UNIT, SQUARE_MICROVOLTS};
use crate::filter::Band;
use crate::prepare::Features;
use crate::{Branch, Covariances, Error, Making, Trials};

impl Trials {
    /// Estimates the covariance of each window of each trial. Without windows, it uses the whole
    /// trial. Windows are in seconds after the event, as in [`Features`].
    ///
    /// # Errors
    /// [`Error::Window`] for a window that is empty or reaches beyond the trials, also if it is
    /// unknown when they begin; [`Error::Setting`] for a coefficient out of range.
    pub fn covariances(&self, windows: &[[f64; 2]], estimator: Estimator) -> Result<Covariances, Error> {
        let about = &self.about;
        let known = about.making.branches.first().cloned().unwrap_or_default();
        let interval = match (known.window, windows) {
            (Some(interval), _) => interval,
            (None, []) => [0.0, self.length() as f64 / about.sfreq],
            (None, &[window, ..]) => return Err(Error::Window { window, interval: [f64::NAN; 2] }),
        };
        let band = known.band.unwrap_or(Band { low: f64::NAN, high: f64::NAN });
        let features = Features { bands: vec![band], windows: windows.to_vec(), estimator };
        let ranges = features.ranges(interval, about.sfreq, self.length())?;
        let n = about.channels.len();
        let mut workspace = CovarianceWorkspace::new(n)?;
        let mut matrices = vec![0.0; self.len() * ranges.len() * n * n];
        let mut places = matrices.chunks_exact_mut(n * n);
        for trial in 0..self.len() {
            for (range, place) in ranges.iter().zip(&mut places) {
                workspace.estimate(estimator, &self.trial(trial)[range.start * n..range.end * n], place)?;
            }
        }
        let windows =
            if windows.is_empty() { vec![known.window] } else { windows.iter().copied().map(Some).collect() };
        let branch = |(window, range): (Option<[f64; 2]>, &std::ops::Range<usize>)| Branch {
            window,
            samples: Some(range.len()),
            centred: Some(true),
            estimator: Some(estimator.to_string()),
            ..known.clone()
        };
        let branches: Vec<Branch> = windows.into_iter().zip(&ranges).map(branch).collect();
        let name = |(place, branch): (usize, &Branch)| match (branch.band_name(), branch.window_name()) {
            (Some(band), Some(window)) => format!("{band}, {window}"),
            (None, Some(window)) => window,
            _ => format!("input {place}"),
        };
        let names = branches.iter().enumerate().map(name).collect();
        let unit = if about.unit == MICROVOLTS { SQUARE_MICROVOLTS } else { NO_UNIT };
        let mut about = about.clone();
        (about.unit, about.making) = (unit.into(), Making { branches, ..about.making });
        Covariances::new(about, names, matrices)
    }
}
