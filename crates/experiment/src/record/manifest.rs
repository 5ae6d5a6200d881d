//! The manifest at the start of a run.

use fedspd_manifold::simd::Simd;
use fedspd_run::{ExcludedSubject, Manifest, SCHEMA_VERSION, Status, TrialFacts};

use crate::Error;
use crate::config::Config;

/// Facts about the data of a run.
pub(crate) struct RunFacts {
    pub(crate) dataset: String,
    pub(crate) data_sha256: Option<String>,
    pub(crate) unit: String,
    pub(crate) classes: Vec<String>,
    pub(crate) channels: Vec<String>,
    pub(crate) subjects: Vec<String>,
    pub(crate) excluded: Vec<ExcludedSubject>,
    pub(crate) alignment: String,
    pub(crate) transductive: bool,
    pub(crate) held_out: Option<String>,
    pub(crate) facts: Option<TrialFacts>,
    /// Trained parameters of the network.
    pub(crate) parameters: usize,
    pub(crate) threads: usize,
    /// How trials became the input of the network.
    pub(crate) preparation: serde_json::Value,
}

/// Creates the manifest of a new run.
pub(crate) fn run_manifest(config: &Config, name: &str, facts: RunFacts) -> Result<Manifest, Error> {
    let cpu = Simd::detect().map_err(fedspd_nn::Error::from)?;
    Ok(Manifest {
        schema: SCHEMA_VERSION,
        fedspd_version: env!("CARGO_PKG_VERSION").to_owned(),
        name: name.to_owned(),
        config_hash: config.hash(),
        seeds: config.run.seeds.as_slice().to_vec(),
        dataset: facts.dataset,
        data_sha256: facts.data_sha256,
        unit: facts.unit,
        classes: facts.classes,
        channels: facts.channels,
        subjects: facts.subjects,
        excluded: facts.excluded,
        alignment: facts.alignment,
        transductive: facts.transductive,
        held_out: facts.held_out,
        facts: facts.facts,
        weights: config.federated.weights.name().to_owned(),
        model: config.model.kind.name().to_owned(),
        parameters: facts.parameters as u64,
        cpu_path: cpu.name().to_owned(),
        threads: facts.threads,
        wall_seconds: None,
        peak_memory_bytes: None,
        status: Status::Running,
        preparation: Some(facts.preparation),
    })
}
