//! Manifest of a run: experiment, data, version and status.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::{Error, TrialFacts, json};

/// The version of the files of a run folder.
pub const SCHEMA_VERSION: u64 = 1;

/// The identity of a run: enough to repeat it and to judge whether two runs are comparable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// The version of the files, [`SCHEMA_VERSION`].
    pub schema: u64,
    /// The version of the software.
    pub fedspd_version: String,
    /// The name of the experiment.
    pub name: String,
    /// The hash of the resolved configuration, in hexadecimal digits.
    pub config_hash: String,
    /// The seeds, in the order in which they run.
    pub seeds: Vec<u64>,
    /// The dataset.
    pub dataset: String,
    /// The SHA-256 of the data, in hexadecimal digits; none where data are generated.
    pub data_sha256: Option<String>,
    /// The unit of the data.
    pub unit: String,
    /// The names of the classes.
    pub classes: Vec<String>,
    /// The names of the channels.
    pub channels: Vec<String>,
    /// The subjects that take part, held-out ones included.
    pub subjects: Vec<String>,
    /// The excluded subjects.
    pub excluded: Vec<ExcludedSubject>,
    /// How subjects are aligned.
    pub alignment: String,
    /// Whether alignment saw unlabelled test trials.
    pub transductive: bool,
    /// How held-out subjects were treated before they were scored, if there are any.
    #[serde(default)]
    pub held_out: Option<String>,
    /// Facts about trials and their split; none over Flower, where only the sites know them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub facts: Option<TrialFacts>,
    /// How clients are weighted.
    pub weights: String,
    /// The kind of network.
    pub model: String,
    /// The number of its parameters.
    pub parameters: u64,
    /// The instruction set that the kernels use.
    pub cpu_path: String,
    /// The number of threads.
    pub threads: usize,
    /// Wall-clock seconds, over all parts of a resumed run; none until it is done.
    pub wall_seconds: Option<f64>,
    /// Peak memory; none until the run is done, or if the system does not report it.
    pub peak_memory_bytes: Option<u64>,
    /// Its status.
    pub status: Status,
    /// How trials became the input of the network; none in older runs. This crate stores it without
    /// reading it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preparation: Option<serde_json::Value>,
}

/// An excluded subject.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExcludedSubject {
    /// The subject.
    pub subject: String,
    /// The reason.
    pub reason: String,
}

/// Status of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// It runs, or was killed.
    Running,
    /// It was asked to stop and can be resumed.
    Interrupted,
    /// All seeds are done.
    Done,
    /// It stopped with an error.
    Failed,
}

impl Manifest {
    /// Reads a manifest.
    ///
    /// # Errors
    /// When the file cannot be read, is not a manifest, or has another schema version.
    pub fn read(path: &Path) -> Result<Self, Error> {
        // The version comes first, because the other fields depend on it.
        #[derive(Deserialize)]
        struct Version {
            schema: u64,
        }
        let Version { schema } = json::read(path)?;
        if schema != SCHEMA_VERSION {
            return Err(Error::Schema { path: path.to_owned(), found: schema, known: SCHEMA_VERSION });
        }
        json::read(path)
    }

    /// Writes it atomically.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        json::write(path, self)
    }
}
