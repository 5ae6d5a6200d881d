//! The processing of data.

use serde::{Deserialize, Serialize};

use super::{Alignment, AlignmentFit, Branch, Recipe};

/// The processing of trials or covariances, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Making {
    /// The reference electrode of the recordings, if it is known.
    pub reference: Option<String>,
    /// One branch for each input of a trial. Empty if the processing is unknown.
    pub branches: Vec<Branch>,
    /// The rules that find trials in recordings, if the data came from recordings.
    pub recipe: Option<Recipe>,
}

impl Making {
    /// Whether filter and window of every input are known.
    pub fn is_known(&self) -> bool {
        let known = |branch: &Branch| branch.filter.is_some() && branch.window.is_some();
        !self.branches.is_empty() && self.branches.iter().all(known)
    }

    /// Returns the text in prepared files.
    pub(crate) fn to_json(&self) -> String {
        // Numbers, texts and lists can always be written.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The alignment of each subject; none if there was none or it is unknown.
    pub fn alignment(&self) -> Option<Alignment> {
        self.branches.first().and_then(|branch| branch.alignment)
    }

    /// Whether every channel of every trial was z-scored.
    pub fn z_score(&self) -> bool {
        self.branches.first().is_some_and(|branch| branch.z_score)
    }

    /// The covariance estimator, if it is known.
    pub fn estimator(&self) -> Option<&str> {
        self.branches.first().and_then(|branch| branch.estimator.as_deref())
    }

    /// The names of the bands, each once, in order.
    pub fn bands(&self) -> Vec<String> {
        distinct(self.branches.iter().filter_map(Branch::band_name))
    }

    /// The names of the windows, each once, in order.
    pub fn windows(&self) -> Vec<String> {
        distinct(self.branches.iter().filter_map(Branch::window_name))
    }

    /// Records an alignment of all inputs.
    pub fn align(&mut self, alignment: Alignment) {
        self.change(|branch| branch.alignment = Some(alignment));
    }

    /// Records the trials that the alignment was fitted on.
    pub fn fitted_on(&mut self, fit: AlignmentFit) {
        self.change(|branch| branch.fit = Some(fit));
    }

    /// Records z-scores of all inputs.
    pub fn scale(&mut self) {
        self.change(|branch| branch.z_score = true);
    }

    /// Returns the same processing without alignment and z-scores.
    #[must_use]
    pub fn before_alignment(mut self) -> Self {
        for branch in &mut self.branches {
            (branch.alignment, branch.fit, branch.z_score) = (None, None, false);
        }
        self
    }

    /// Changes all branches. Data without a known branch get one, so that the change is recorded.
    fn change(&mut self, change: impl Fn(&mut Branch)) {
        if self.branches.is_empty() {
            self.branches.push(Branch::default());
        }
        self.branches.iter_mut().for_each(change);
    }
}

fn distinct(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for name in names {
        if !all.contains(&name) {
            all.push(name);
        }
    }
    all
}
