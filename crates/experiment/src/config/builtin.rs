//! Built-in experiments: the files under `presets/`, and variants with one or two changed values.

use super::{Config, ConfigError, Override};

/// A built-in experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preset {
    /// Its name.
    pub name: &'static str,
    /// A short description.
    pub about: &'static str,
    /// The text of its file.
    pub text: &'static str,
    /// Its overrides of the file, as on the command line.
    pub changes: &'static [&'static str],
}

macro_rules! preset {
    ($name:literal, $about:literal, $file:literal, [$($change:literal),*]) => {
        Preset {
            name: $name,
            about: $about,
            text: include_str!(concat!("../../../../presets/", $file, ".toml")),
            changes: &[$($change),*],
        }
    };
}

/// All built-in experiments, in the order of listings.
pub const PRESETS: [Preset; 21] = [
    preset!("sample", "the embedded sample with the paper's SPDnet for PhysionetMI", "sample", []),
    preset!(
        "physionet-mi-spdnet",
        "the paper's SPDnet: ProjAvg, full participation",
        "physionet-mi-spdnet",
        []
    ),
    preset!(
        "physionet-mi-spdnet-half",
        "ProjAvg, half participation",
        "physionet-mi-spdnet",
        ["federated.participation=0.5"]
    ),
    preset!(
        "physionet-mi-spdnet-rl-avg",
        "RLAvg, full participation",
        "physionet-mi-spdnet",
        ["federated.aggregation=rl-avg"]
    ),
    preset!(
        "physionet-mi-spdnet-half-rl-avg",
        "RLAvg, half participation",
        "physionet-mi-spdnet",
        ["federated.aggregation=rl-avg", "federated.participation=0.5"]
    ),
    preset!(
        "physionet-mi-spdnet-centralised",
        "SPDnet with all data in one place",
        "physionet-mi-spdnet",
        ["mode=centralised"]
    ),
    preset!("physionet-mi-eegnet", "the paper's EEGNet: full participation", "physionet-mi-eegnet", []),
    preset!(
        "physionet-mi-eegnet-half",
        "EEGNet, half participation",
        "physionet-mi-eegnet",
        ["federated.participation=0.5"]
    ),
    preset!(
        "physionet-mi-eegnet-centralised",
        "EEGNet with all data in one place",
        "physionet-mi-eegnet",
        ["mode=centralised"]
    ),
    preset!("physionet-mi-tangent", "recentred tangent space, no BiMap", "physionet-mi-tangent", []),
    preset!("physionet-mi-best", "ours: three windows, each subject recentred", "physionet-mi-best", []),
    preset!("weibo2014-spdnet", "the paper's SPDnet: ProjAvg, full participation", "weibo2014-spdnet", []),
    preset!(
        "weibo2014-spdnet-half",
        "ProjAvg, half participation",
        "weibo2014-spdnet",
        ["federated.participation=0.5"]
    ),
    preset!(
        "weibo2014-spdnet-rl-avg",
        "RLAvg, full participation",
        "weibo2014-spdnet",
        ["federated.aggregation=rl-avg"]
    ),
    preset!(
        "weibo2014-spdnet-half-rl-avg",
        "RLAvg, half participation",
        "weibo2014-spdnet",
        ["federated.aggregation=rl-avg", "federated.participation=0.5"]
    ),
    preset!(
        "weibo2014-spdnet-centralised",
        "SPDnet with all data in one place",
        "weibo2014-spdnet",
        ["mode=centralised"]
    ),
    preset!("weibo2014-eegnet", "the paper's EEGNet: full participation", "weibo2014-eegnet", []),
    preset!(
        "weibo2014-eegnet-half",
        "EEGNet, half participation",
        "weibo2014-eegnet",
        ["federated.participation=0.5"]
    ),
    preset!(
        "weibo2014-eegnet-centralised",
        "EEGNet with all data in one place",
        "weibo2014-eegnet",
        ["mode=centralised"]
    ),
    preset!("weibo2014-tangent", "recentred tangent space, no BiMap", "weibo2014-tangent", []),
    preset!("weibo2014-best", "ours, as it is on PhysionetMI", "weibo2014-best", []),
];

impl Preset {
    /// Finds the built-in experiment of a name.
    pub fn find(name: &str) -> Option<&'static Self> {
        PRESETS.iter().find(|preset| preset.name == name)
    }

    /// Returns its configuration with further changes.
    ///
    /// # Errors
    /// The first fault of a change.
    pub fn config(&self, changes: &[Override]) -> Result<Config, ConfigError> {
        Config::parse(self.text, &self.place(), &self.all(changes)?)
    }

    /// Returns its configuration with changes that a person wrote for this experiment.
    ///
    /// # Errors
    /// The first fault of a change, or a change without effect.
    pub fn changed(&self, changes: &[Override]) -> Result<Config, ConfigError> {
        Config::parse_written(self.text, &self.place(), &self.all(changes)?)
    }

    fn place(&self) -> String {
        format!("the built-in `{}`", self.name)
    }

    /// Returns its own overrides and further ones.
    fn all(&self, changes: &[Override]) -> Result<Vec<Override>, ConfigError> {
        let own = self.changes.iter().map(|change| change.parse());
        let mut all: Vec<Override> = own.collect::<Result<_, _>>()?;
        all.extend_from_slice(changes);
        Ok(all)
    }
}
