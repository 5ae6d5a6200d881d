//! Small runs on synthetic data, whose folders are damaged.

use std::path::Path;

use fedspd_experiment::config::Config;
use fedspd_experiment::remote::{Coordinator, EvaluationPlan, Introduction, Site, SitePolicy, SiteTask};
use fedspd_experiment::{Error, Experiment, Observer, RoundProgress, run};

/// The number of rounds before a run is interrupted.
const ROUNDS: u32 = 2;

/// Returns the configuration of a small run of three rounds, with some changes.
///
/// # Errors
/// Faults of the changes.
pub fn config(changes: &[&str]) -> Result<Config, Error> {
    const SMALL: [&str; 15] = [
        "data.name=generated",
        "data.generated.subjects=4",
        "data.generated.trials=16",
        "data.generated.channels=4",
        "data.generated.classes=2",
        "data.generated.samples=40",
        "model.dims=[3, 2]",
        "train.epochs=3",
        "train.batch=8",
        "train.early_stop=2",
        "federated.rounds=3",
        "federated.carry_state=true",
        "split={train=0.5, val=0.25, test=0.25}",
        "run.threads=1",
        "run.seeds=[0]",
    ];
    let overrides =
        SMALL.iter().chain(changes).map(|change| change.parse()).collect::<Result<Vec<_>, _>>()?;
    Ok(Config::parse("", "the fuzzer", &overrides)?)
}

/// Runs an experiment in a folder, to its end.
///
/// # Errors
/// Faults of the run.
pub fn finished(config: Config, folder: &Path) -> Result<(), Error> {
    run(&Experiment::new(config, &())?, "fuzz", folder, &mut ()).map(drop)
}

/// Runs the first rounds of an experiment in a folder.
///
/// # Errors
/// Faults of the run.
pub fn interrupted(config: Config, folder: &Path) -> Result<(), Error> {
    run(&Experiment::new(config, &())?, "fuzz", folder, &mut Rounds(0)).map(drop)
}

/// Interrupts a run after its first rounds.
struct Rounds(u32);

impl Observer for Rounds {
    fn round(&mut self, _: &RoundProgress) {
        self.0 += 1;
    }

    fn warning(&mut self, _: &str) {}

    fn interrupted(&self) -> bool {
        self.0 >= ROUNDS
    }
}

/// Opens the two sites of a run, with their states in a folder.
///
/// # Errors
/// Faults of the sites.
pub fn sites(config: &Config, state: &Path) -> Result<Vec<Site>, Error> {
    let site = |(number, subjects): (u32, &str)| {
        let policy = format!(
            "name = \"client {}\"\nnumber = {number}\napproval = \"automatic\"\n[data]\nsubjects = \"{subjects}\"\n",
            number + 1
        );
        let policy = SitePolicy::parse(&policy, Path::new("site.toml"))?;
        Site::asked(&policy, state, &config.to_toml(), &(), &mut ())
    };
    [(0, "1,2"), (1, "3,4")].into_iter().map(site).collect()
}

/// Returns the introductions of sites.
///
/// # Errors
/// Faults of the sites.
pub fn introductions(sites: &[Site]) -> Result<Vec<Introduction>, Error> {
    sites.iter().map(Site::introduce).collect()
}

/// Opens the coordinator of a run with these sites.
///
/// # Errors
/// As [`Coordinator::open`].
pub fn coordinator(config: &Config, folder: &Path, sites: Vec<Introduction>) -> Result<Coordinator, Error> {
    Coordinator::open(config.clone(), "fuzz", folder, sites, 1, &mut ())
}

/// Trains and scores one round. A site that fails does not take part.
///
/// # Errors
/// Faults of the coordinator.
pub fn round(server: &mut Coordinator, sites: &[Site]) -> Result<(), Error> {
    let plan = server.plan()?;
    for asked in &plan.clients {
        let task = SiteTask {
            run: server.identity().clone(),
            exchange: plan.exchange,
            epochs: asked.epochs,
            learning_rate: plan.learning_rate,
            since: asked.since,
            message: plan.message.clone(),
        };
        let reply = sites[asked.client].train(&task).map_err(|error| error.to_string());
        server.submit(asked.client, reply)?;
    }
    let Some(EvaluationPlan { message, validated, tested, since }) = server.close()? else { return Ok(()) };
    for (client, (site, since)) in sites.iter().zip(since).enumerate() {
        let scores = site.evaluate(server.identity(), &message, since, validated, tested);
        server.score(client, scores.map_err(|error| error.to_string()), &mut ())?;
    }
    server.advance(&mut ())
}
