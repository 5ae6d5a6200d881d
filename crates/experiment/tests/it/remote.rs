//! Sites and their coordinator, with messages handed over by a loop: the bytes of a run in one process.

use std::path::Path;

use fedspd_experiment::config::{Config, Preset};
use fedspd_experiment::remote::{Assignment, Coordinator, Reply, Site};
use fedspd_experiment::{Experiment, run};
use fedspd_run::Status;

/// Two clients of the sample.
fn config(changes: &[&str]) -> Config {
    let own = ["data.subjects=1-4", "federated.rounds=3", "run.threads=1", "federated.carry_state=true"];
    let overrides: Vec<_> = own.iter().chain(changes).map(|change| change.parse().unwrap()).collect();
    Preset::find("sample").unwrap().config(&overrides).unwrap()
}

fn sites(config: &Config, state: &Path) -> Vec<Site> {
    let site = |(number, subjects): (u32, &str)| {
        let own = [format!("data.subjects={subjects}").parse().unwrap()];
        let own = Config::parse(&config.to_toml(), "site.toml", &own).unwrap();
        Site::open(own, &config.hash(), &format!("client {}", number + 1), number, state, &()).unwrap()
    };
    [(0, "1,2"), (1, "3,4")].into_iter().map(site).collect()
}

fn coordinator(config: &Config, folder: &Path, sites: &[Site]) -> Coordinator {
    let introductions = sites.iter().map(|site| site.introduce().unwrap()).collect();
    Coordinator::open(config.clone(), "sample", folder, introductions, 1, &mut ()).unwrap()
}

fn train(server: &Coordinator, sites: &[Site]) -> Vec<(usize, Reply)> {
    let plan = server.plan().unwrap();
    let reply = |asked: &fedspd_experiment::remote::Asked| {
        let task = Assignment {
            round: plan.round,
            epochs: asked.epochs,
            learning_rate: plan.learning_rate,
            since: asked.since,
            parameters: plan.parameters.clone(),
        };
        (asked.client, sites[asked.client].train(&task).unwrap())
    };
    plan.clients.iter().map(reply).collect()
}

fn round(server: &mut Coordinator, sites: &[Site]) {
    for (client, reply) in train(server, sites) {
        server.submit(client, Ok(reply)).unwrap();
    }
    let asked = server.close().unwrap();
    for (client, site) in sites.iter().enumerate() {
        let judgement = site.evaluate(&asked.parameters, asked.since[client], asked.tested).unwrap();
        server.judge(client, Ok(judgement), &mut ()).unwrap();
    }
    server.advance(&mut ()).unwrap();
}

#[test]
fn the_same_bytes_as_in_one_process_even_after_a_crash() {
    let folder = tempfile::tempdir().unwrap();
    let (one, many) = (folder.path().join("one"), folder.path().join("many"));
    let config = config(&[]);
    run(&Experiment::new(config.clone(), &()).unwrap(), "sample", &one, &mut ()).unwrap();
    let all = sites(&config, folder.path());
    let mut server = coordinator(&config, &many, &all);
    round(&mut server, &all);
    // The second round is trained, and nobody hears of it.
    train(&server, &all);
    drop(server);
    let all = sites(&config, folder.path());
    let mut server = coordinator(&config, &many, &all);
    assert_eq!(server.rounds(), (1, 3));
    while !server.finished() {
        round(&mut server, &all);
    }
    for name in ["models/seed-0.safetensors", "results.csv", "summary.json", "config.toml"] {
        assert_eq!(std::fs::read(one.join(name)).unwrap(), std::fs::read(many.join(name)).unwrap(), "{name}");
    }
    let manifest = fedspd_run::Manifest::read(&many.join("manifest.json")).unwrap();
    assert_eq!(manifest.status, Status::Done);
    assert!(manifest.subjects.is_empty(), "the server knows nobody");
}
