//! How a run on several machines begins: the network that all sites can read, and the run folder.

use std::path::Path;

use fedspd_federated::{Member, Server, ServerConfig, Wire};
use fedspd_manifold::Real;
use fedspd_manifold::simd::Simd;
use fedspd_nn::file::Manifest as ModelManifest;
use fedspd_nn::{EegNet, Model, Seed, SpdNet};
use fedspd_run::{
    Event, FolderLock, Manifest, RunFolder, SCHEMA_VERSION, SeedShards, Shard, Shards, Status, atomic,
};

use super::identity::Identity;
use super::introduction::{Facts, Introduction};
use super::machine::Machine;
use crate::config::{Config, Mode, ModelKind, Precision};
use crate::data::dataset_name;
use crate::results::{model_name, weights_name};
use crate::store::Store;
use crate::{Error, network};

/// The one seed of a run on several machines, whose configuration allows one.
pub(super) fn only_seed(config: &Config) -> Result<u64, Error> {
    let refuse = |fault, found: String| Err(Error::Remote { fault, found });
    if config.mode != Mode::Federated {
        return refuse("is `federated`", format!("{:?}", config.mode).to_lowercase());
    }
    if let Some(held_out) = &config.split.held_out_subjects {
        return refuse("holds out nobody, whom the server would need trials of", held_out.ids().join(", "));
    }
    match config.run.seeds.as_slice() {
        &[seed] => Ok(seed),
        seeds => refuse("has one seed", format!("{seeds:?}")),
    }
}

/// The server, and what a model file says of its model.
pub(super) fn machine(
    config: &Config,
    facts: &Facts,
    sites: &[Introduction],
    quorum: usize,
    seed: u64,
) -> Result<(Box<dyn Machine>, ModelManifest), Error> {
    let (classes, channels) = (facts.classes.len(), facts.channels.len());
    let members = members(sites);
    let settings = ServerConfig { quorum, ..network::server(config) };
    let names = (facts.classes.clone(), facts.channels.clone());
    let precision = config.model.resolved_precision();
    let (machine, manifest) = match config.model.kind {
        ModelKind::Spdnet => {
            let shape = network::spdnet(config, channels, facts.inputs, classes);
            let machine = match precision {
                Precision::F64 => {
                    server::<f64, _>(&SpdNet::new(shape.clone())?, config, settings, members, seed)?
                }
                Precision::F32 => {
                    server::<f32, _>(&SpdNet::new(shape.clone())?, config, settings, members, seed)?
                }
            };
            (machine, ModelManifest::spdnet(shape, &facts.unit_read, names.0, names.1)?)
        }
        ModelKind::Eegnet => {
            let samples = facts.samples.unwrap_or(0);
            let shape = network::eegnet(config, channels, samples, facts.sfreq, classes);
            let machine = match precision {
                Precision::F64 => {
                    server::<f64, _>(&EegNet::new(shape.clone())?, config, settings, members, seed)?
                }
                Precision::F32 => {
                    server::<f32, _>(&EegNet::new(shape.clone())?, config, settings, members, seed)?
                }
            };
            (machine, ModelManifest::eegnet(shape, &facts.unit_read, names.0, names.1)?)
        }
    };
    Ok((machine, manifest.treated(facts.treatment.clone())))
}

fn server<T: Real, M: Model<T>>(
    model: &M,
    config: &Config,
    settings: ServerConfig,
    members: Vec<Member>,
    seed: u64,
) -> Result<Box<dyn Machine>, Error> {
    let method = network::method::<T>(config, &Wire::new(model.layout().clone()))?.server;
    Ok(Box::new(Server::new(settings, members, model.initial(Seed(seed))?, method, Seed(seed))?))
}

/// The sites as the server knows them. How much a site counts is what it announced.
pub(super) fn members(sites: &[Introduction]) -> Vec<Member> {
    let member = |site: &Introduction| Member { name: site.name.clone(), trials: site.trials.training() };
    sites.iter().map(member).collect()
}

/// The folder of the run: new, or that of the same run by the same sites, to go on in.
pub(super) fn folder(
    config: &Config,
    name: &str,
    path: &Path,
    facts: &Facts,
    sites: &[Introduction],
    parameters: usize,
    seed: u64,
) -> Result<(RunFolder, FolderLock, Manifest, Store, Identity), Error> {
    let shards = shards(facts, sites, seed);
    if let Ok(folder) = RunFolder::open(path) {
        let lock = folder.lock()?;
        let begun = Manifest::read(&folder.manifest())?;
        if begun.config_hash != config.hash() {
            return Err(Error::ConfigChanged { path: folder.config() });
        }
        if Shards::read(&folder.shards())? != shards {
            return Err(Error::SitesChanged { path: folder.shards() });
        }
        let store = Store::open(&folder, &begun.config_hash)?;
        let identity = Identity::read(&folder)?;
        return Ok((folder, lock, begun, store, identity));
    }
    let begun = run_manifest(config, name, facts, parameters)?;
    let identity = Identity::draw();
    let (folder, lock) = RunFolder::create(path, |folder| {
        atomic::write(&folder.config(), config.to_toml().as_bytes())?;
        shards.write(&folder.shards())?;
        identity.write(folder)?;
        begun.write(&folder.manifest())?;
        Ok::<(), Error>(())
    })?;
    let mut store = Store::open(&folder, &begun.config_hash)?;
    store.event(&Event::Started)?;
    Ok((folder, lock, begun, store, identity))
}

/// Who has how many trials. Whose they are, only the sites know.
fn shards(facts: &Facts, sites: &[Introduction], seed: u64) -> Shards {
    let clients = sites.iter().map(|site| Shard {
        name: site.name.clone(),
        subjects: Vec::new(),
        train: site.trials.train.clone(),
        val: site.trials.validation.clone(),
        test: site.trials.test.clone(),
    });
    let seeds = vec![SeedShards { seed, clients: clients.collect(), held_out: Vec::new() }];
    Shards { classes: facts.classes.clone(), seeds }
}

fn run_manifest(config: &Config, name: &str, facts: &Facts, parameters: usize) -> Result<Manifest, Error> {
    let cpu = Simd::detect().map_err(fedspd_nn::Error::from)?;
    Ok(Manifest {
        schema: SCHEMA_VERSION,
        fedspd_version: env!("CARGO_PKG_VERSION").to_owned(),
        name: name.to_owned(),
        config_hash: config.hash(),
        seeds: config.run.seeds.as_slice().to_vec(),
        dataset: dataset_name(config, &config.data.source()?),
        data_sha256: None,
        unit: facts.unit.clone(),
        classes: facts.classes.clone(),
        channels: facts.channels.clone(),
        subjects: Vec::new(),
        excluded: Vec::new(),
        alignment: facts.alignment.clone(),
        transductive: facts.transductive,
        held_out: None,
        weights: weights_name(config.federated.weights).to_owned(),
        model: model_name(config.model.kind).to_owned(),
        parameters: parameters as u64,
        cpu_path: cpu.name().to_owned(),
        threads: 1,
        wall_seconds: None,
        peak_memory_bytes: None,
        status: Status::Running,
    })
}
