//! Units of work of a run.

use std::fmt;

use serde::{Deserialize, Serialize};

/// One training of a run: a seed, its fold if the split has several, and its stage if there are
/// two. Each unit has its own checkpoint, rounds and scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Unit {
    /// The seed.
    pub seed: u64,
    /// The test fold, counted from 0; none if the run has one fold only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fold: Option<usize>,
    /// The stage; none if the run has one stage only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage: Option<Stage>,
}

/// Stage of a unit that trains twice (`split.refit`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// Trains on training trials and chooses the number of rounds on validation trials.
    Choose,
    /// Trains on training and validation trials for the chosen number of rounds.
    Fit,
}

impl Stage {
    /// Its name in events and file names.
    pub fn name(self) -> &'static str {
        match self {
            Self::Choose => "choose",
            Self::Fit => "fit",
        }
    }
}

impl Unit {
    /// The only unit of a seed, without folds and stages.
    pub fn of_seed(seed: u64) -> Self {
        Self { seed, fold: None, stage: None }
    }

    /// The unit of the trained model: only the last stage trains one.
    pub fn trained(self) -> Self {
        Self { stage: None, ..self }
    }

    /// Names the unit in file names, such as `seed-0-fold-1`.
    pub fn slug(&self) -> String {
        let fold = self.fold.map_or(String::new(), |fold| format!("-fold-{fold}"));
        let stage = self.stage.map_or(String::new(), |stage| format!("-{}", stage.name()));
        format!("seed-{}{fold}{stage}", self.seed)
    }
}

/// Names the unit in messages, such as `seed 0, fold 1`.
impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "seed {}", self.seed)?;
        if let Some(fold) = self.fold {
            write!(f, ", fold {fold}")?;
        }
        match self.stage {
            Some(stage) => write!(f, ", stage {}", stage.name()),
            None => Ok(()),
        }
    }
}

impl From<u64> for Unit {
    fn from(seed: u64) -> Self {
        Self::of_seed(seed)
    }
}
