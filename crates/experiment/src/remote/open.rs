//! The start of a run on several machines: the server, its network and the run folder.

use std::path::Path;

use fedspd_eeg::Preparation;
use fedspd_federated::{Member, ParameterScopes, Server, ServerConfig};
use fedspd_manifold::Real;
use fedspd_nn::file::{Manifest as ModelManifest, Network};
use fedspd_nn::{Architecture, Seed};
use fedspd_run::{Engine, RunFolder, SeedShards, Shard, Shards};

use super::identity::Identity;
use super::introduction::{Facts, Introduction};
use super::server::AnyServer;
use crate::Error;
use crate::config::{Config, Mode, Select};
use crate::data::{dataset_name, read_stored, same, stored};
use crate::record::{Recorder, RunFacts, run_manifest};
use crate::train::{Visitor, settings, with_network};

/// Returns the single seed of a run on several machines, and checks the configuration.
pub(super) fn only_seed(config: &Config) -> Result<u64, Error> {
    let refuse = |fault, found: String| Err(Error::Remote { fault, found });
    if config.mode != Mode::Federated {
        return refuse("needs `federated`", format!("`mode` is `{}`", config.mode.name()));
    }
    if let Some(held_out) = &config.split.held_out_subjects {
        return refuse(
            "cannot hold out subjects, because the server has no trials",
            format!("`split.held_out_subjects` is {}", held_out.ids().join(", ")),
        );
    }
    check_split(config)?;
    if config.align.population {
        let fault = "has no mean of the people, because sites do not send it";
        return refuse(fault, "`align.population` is true".into());
    }
    if config.select() == Select::BestValidation {
        let fault = "keeps the model of the last round, because sites may not test the best round";
        return refuse(fault, "`run.select` is \"best-validation\"".into());
    }
    match config.run.seeds.as_slice() {
        &[seed] => Ok(seed),
        seeds => refuse("needs one seed", format!("`run.seeds` is {seeds:?}")),
    }
}

/// Checks that each site can split its own trials.
pub(super) fn check_split(config: &Config) -> Result<(), Error> {
    let split = &config.split;
    let found = format!("`split.kind` is \"{}\"", split.kind.name());
    let fault = if split.kind.holds_out_people() {
        "cannot hold out people, because a site knows only its own"
    } else if split.kind.has_folds() && (split.fold.is_none() || split.folds.is_none()) {
        "trains one fold: set `split.fold` and `split.folds`"
    } else if split.refit {
        "trains once: set `split.refit = false`"
    } else {
        return Ok(());
    };
    Err(Error::Remote { fault, found })
}

/// Creates the server and the manifest of its model file.
pub(super) fn server(
    config: &Config,
    facts: &Facts,
    sites: &[Introduction],
    quorum: usize,
    seed: u64,
) -> Result<(Box<dyn AnyServer>, ModelManifest), Error> {
    let settings = ServerConfig { quorum, ..settings::server(config) };
    let new = NewServer { config, settings, members: members(sites), seed };
    let (server, network) = with_network(&config.model, &facts.shape(), new)?;
    let Preparation { unit, classes, channels, .. } = &facts.preparation;
    let manifest = ModelManifest::new(network, unit, classes.clone(), channels.clone())?;
    Ok((server, manifest.prepared(stored(&facts.preparation)?)))
}

struct NewServer<'a> {
    config: &'a Config,
    settings: ServerConfig,
    members: Vec<Member>,
    seed: u64,
}

impl Visitor for NewServer<'_> {
    type Output = (Box<dyn AnyServer>, Network);

    fn visit<T: Real, N: Architecture<T>>(self, network: N) -> Result<Self::Output, Error> {
        let method =
            settings::method::<T>(self.config, &ParameterScopes::new(network.layout().clone()))?.server;
        let (seed, initial) = (Seed(self.seed), network.initial(Seed(self.seed))?);
        let server = Server::new(self.settings, self.members, initial, method, seed)?;
        Ok((Box::new(server), network.describe()))
    }
}

/// Returns the sites as members of the server. The weight of a site is its announced number of
/// trials.
pub(super) fn members(sites: &[Introduction]) -> Vec<Member> {
    let member = |site: &Introduction| Member { name: site.name.clone(), trials: site.trials.training() };
    sites.iter().map(member).collect()
}

/// Opens the recorder of the run, in a new folder or in that of the same run with the same sites.
pub(super) fn recorder(
    config: &Config,
    name: &str,
    path: &Path,
    facts: &Facts,
    sites: &[Introduction],
    parameters: usize,
    seed: u64,
) -> Result<(Recorder, Identity), Error> {
    let shards = shards(facts, sites, seed);
    if RunFolder::open(path).is_ok() {
        let recorder = Recorder::open(path, Engine::Flower)?;
        let folder = recorder.folder();
        if recorder.manifest.config_hash != config.hash() {
            return Err(Error::ConfigChanged { path: folder.config() });
        }
        if let Some(preparation) = &recorder.manifest.preparation {
            let began = read_stored(preparation, &folder.manifest())?;
            same(&began, "the run at its start", &facts.preparation, "the sites")?;
        }
        if Shards::read(&folder.shards())? != shards {
            return Err(Error::SitesChanged { path: folder.shards() });
        }
        let identity = Identity::read(folder)?;
        return Ok((recorder, identity));
    }
    let identity = Identity::draw();
    let facts = RunFacts {
        dataset: dataset_name(config, &config.data.source()?),
        data_sha256: None,
        unit: facts.unit.clone(),
        classes: facts.preparation.classes.clone(),
        channels: facts.preparation.channels.clone(),
        subjects: Vec::new(),
        excluded: Vec::new(),
        alignment: facts.alignment.clone(),
        transductive: facts.transductive,
        held_out: None,
        facts: None,
        parameters,
        threads: 1,
        preparation: stored(&facts.preparation)?,
    };
    let manifest = run_manifest(config, name, facts)?;
    let recorder = Recorder::create(path, config, manifest, &shards, &[], |folder| identity.write(folder))?;
    Ok((recorder, identity))
}

/// Returns the numbers of trials of each site. Only the sites know their subjects.
fn shards(facts: &Facts, sites: &[Introduction], seed: u64) -> Shards {
    let clients = sites.iter().map(|site| Shard {
        name: site.name.clone(),
        subjects: Vec::new(),
        train: site.trials.train.clone(),
        val: site.trials.validation.clone(),
        test: site.trials.test.clone(),
    });
    let seeds = vec![SeedShards {
        seed,
        fold: None,
        clients: clients.collect(),
        held_out: Vec::new(),
        test_sha256: None,
    }];
    Shards { classes: facts.preparation.classes.clone(), seeds }
}
