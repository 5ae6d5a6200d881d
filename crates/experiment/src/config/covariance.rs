//! `[covariance]`: estimation of covariance matrices from trials.

use fedspd_eeg::Estimator;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::conflict::{Conflict, check_band, check_interval};
use super::tree::item_path;

/// The values of `covariance.estimator`.
pub(crate) const ESTIMATORS: [&str; 4] = ["sample", "oas", "ledoit-wolf", "shrinkage:S"];

/// Estimation of covariance matrices from trials.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Covariance {
    /// Estimator: `sample` (as in the paper), `oas`, `ledoit-wolf`, or `shrinkage:S` with a share S
    /// between 0 and 1.
    #[serde(with = "text")]
    #[schemars(with = "String", extend("format" = "estimator"))]
    pub estimator: Estimator,
    /// Fixed share of shrinkage: `shrinkage = 0.1` means `estimator = "shrinkage:0.1"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "f64", range(min = 0, max = 1))]
    pub shrinkage: Option<f64>,
    /// Time windows in seconds after the cue, one matrix each. Empty: the whole trial.
    pub windows: Vec<[f64; 2]>,
    /// Frequency bands in Hz, one matrix each. Empty: the band of the data.
    pub bands: Vec<[f64; 2]>,
}

impl Covariance {
    /// Returns the estimator, with `shrinkage` applied.
    pub fn resolved_estimator(&self) -> Estimator {
        self.shrinkage.map_or(self.estimator, Estimator::Shrinkage)
    }

    pub(crate) fn check(&self) -> Result<(), Conflict> {
        if let Some(share) = self.shrinkage
            && self.estimator != Estimator::default()
        {
            let found =
                format!("`covariance.shrinkage` is {share} with the estimator \"{}\"", self.estimator);
            let rule = "a fixed share works only with the estimator \"sample\"";
            return Err(
                Conflict::new(&["covariance", "shrinkage"], found, rule).hint("remove one of the two")
            );
        }
        for (index, &window) in self.windows.iter().enumerate() {
            let at = index.to_string();
            check_interval(&["covariance", "windows", &at], &item_path("covariance.windows", index), window)?;
        }
        for (index, &band) in self.bands.iter().enumerate() {
            let at = index.to_string();
            check_band(&["covariance", "bands", &at], &item_path("covariance.bands", index), band)?;
        }
        Ok(())
    }
}

/// Writes an estimator as the text of the command line.
mod text {
    use fedspd_eeg::Estimator;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(estimator: &Estimator, out: S) -> Result<S::Ok, S::Error> {
        out.collect_str(estimator)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(input: D) -> Result<Estimator, D::Error> {
        String::deserialize(input)?.parse().map_err(D::Error::custom)
    }
}
