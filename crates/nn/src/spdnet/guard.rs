//! Check for wrong units by the share of eigenvalues that `ReEig` clamps.

use fedspd_manifold::Real;

use crate::Error;

/// Comparison of the eigenvalues at the first `ReEig` with its threshold.
///
/// In volts, EEG covariances are 1e12 times smaller than in microvolts. `ReEig` then clamps every
/// eigenvalue, the network gets the same matrix in every trial, and all gradients are exactly zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClampReport {
    /// The share of eigenvalues at or below the threshold.
    pub share: f64,
    /// The median eigenvalue.
    pub median: f64,
    /// The threshold.
    pub threshold: f64,
}

/// Above this share, training gives a warning.
const MANY: f64 = 0.5;

/// Above this share, training is refused.
const ALL: f64 = 0.99;

impl ClampReport {
    /// Returns a warning if more than half of the eigenvalues are clamped, otherwise `None`.
    ///
    /// # Errors
    /// [`Error::AllClamped`] if more than 99% are clamped.
    pub fn check(&self) -> Result<Option<String>, Error> {
        let Self { share, median, threshold } = *self;
        if share > ALL {
            return Err(Error::AllClamped { share, threshold, median });
        }
        Ok((share > MANY).then(|| {
            format!(
                "{:.1}% of the eigenvalues are below the threshold {threshold:e} (their median is {median:e}): is the unit right?",
                share * 100.0
            )
        }))
    }
}

/// A collection of eigenvalues.
#[derive(Default)]
pub(super) struct Spectrum {
    eigenvalues: Vec<f64>,
}

impl Spectrum {
    pub(super) fn add(&mut self, eigenvalue: impl Real) {
        self.eigenvalues.push(eigenvalue.to_f64());
    }

    pub(super) fn report(mut self, threshold: f64) -> ClampReport {
        let clamped = self.eigenvalues.iter().filter(|value| **value <= threshold).count();
        let middle = self.eigenvalues.len() / 2;
        let share = clamped as f64 / self.eigenvalues.len().max(1) as f64;
        let median = if self.eigenvalues.is_empty() {
            f64::NAN
        } else {
            *self.eigenvalues.select_nth_unstable_by(middle, f64::total_cmp).1
        };
        ClampReport { share, median, threshold }
    }
}
