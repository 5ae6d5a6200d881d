//! Sites and their coordinator, with a loop that passes messages: the bytes of a run in one
//! process.

use std::path::Path;

use fedspd_experiment::config::{Config, Preset};
use fedspd_experiment::remote::{
    ClientPlan, Coordinator, Identity, Introduction, Site, SitePolicy, SiteTask, site_config,
};
use fedspd_experiment::{Error, Experiment, run};
use fedspd_federated::{Exchange, LOSS, Message, Numbers, Part};
use fedspd_run::Status;
use serde_json::json;

use crate::runs::uninterrupted;

/// Two clients of the sample.
pub(crate) fn config(changes: &[&str]) -> Config {
    let own = ["data.subjects=1-4", "federated.rounds=3", "run.threads=1", "federated.carry_state=true"];
    let overrides: Vec<_> = own.iter().chain(changes).map(|change| change.parse().unwrap()).collect();
    Preset::find("sample").unwrap().config(&overrides).unwrap()
}

/// The policy of a site without approval by a person.
pub(crate) fn policy(number: u32, more: &str) -> SitePolicy {
    let text =
        format!("name = \"client {}\"\nnumber = {number}\napproval = \"automatic\"\n{more}", number + 1);
    SitePolicy::parse(&text, Path::new("site.toml")).unwrap()
}

fn sites(config: &Config, state: &Path) -> Vec<Site> {
    let site = |(number, subjects): (u32, &str)| {
        let policy = policy(number, &format!("[data]\nsubjects = \"{subjects}\"\n"));
        Site::asked(&policy, state, &config.to_toml(), &(), &mut ()).unwrap()
    };
    [(0, "1,2"), (1, "3,4")].into_iter().map(site).collect()
}

fn coordinator(config: &Config, folder: &Path, sites: &[Site]) -> Coordinator {
    let introductions = sites.iter().map(|site| site.introduce().unwrap()).collect();
    Coordinator::open(config.clone(), "sample", folder, introductions, 1, &mut ()).unwrap()
}

fn train(server: &Coordinator, sites: &[Site]) -> Vec<(usize, Message)> {
    let plan = server.plan().unwrap();
    let reply = |asked: &ClientPlan| {
        let task = SiteTask {
            run: server.identity().clone(),
            exchange: plan.exchange,
            epochs: asked.epochs,
            learning_rate: plan.learning_rate,
            since: asked.since,
            message: plan.message.clone(),
        };
        (asked.client, sites[asked.client].train(&task).unwrap())
    };
    plan.clients.iter().map(reply).collect()
}

fn round(server: &mut Coordinator, sites: &[Site]) {
    for (client, reply) in train(server, sites) {
        server.submit(client, Ok(reply)).unwrap();
    }
    let asked = server.close().unwrap().unwrap();
    for (client, site) in sites.iter().enumerate() {
        let since = asked.since[client];
        let scores =
            site.evaluate(server.identity(), &asked.message, since, asked.validated, asked.tested).unwrap();
        server.score(client, Ok(scores), &mut ()).unwrap();
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
    // The second round is trained, but the server never receives the replies.
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
    assert_eq!(uninterrupted(&one), uninterrupted(&many));
}

/// Two runs of one configuration, at the same time and with the same sites: neither uses states of
/// the other.
#[test]
fn runs_do_not_disturb_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(&[]);
    let all = sites(&config, folder.path());
    let mut servers = ["one", "two"].map(|name| coordinator(&config, &folder.path().join(name), &all));
    assert_ne!(servers[0].identity(), servers[1].identity());
    // The second is a round behind, so that it could read the moments of the other by mistake.
    round(&mut servers[0], &all);
    for server in &mut servers {
        while !server.finished() {
            round(server, &all);
        }
    }
    let model =
        |name: &str| std::fs::read(folder.path().join(name).join("models/seed-0.safetensors")).unwrap();
    assert_eq!(model("one"), model("two"));
}

#[test]
fn what_a_site_reads_is_its_own_to_say() {
    let shared = config(&["data.root=\"/server\"", "data.name=physionet-mi", "data.exclude=4"]).to_toml();
    let own = |changes: &[&str]| {
        let changes: Vec<_> = changes.iter().map(|change| change.parse().unwrap()).collect();
        site_config(&shared, &changes).unwrap().data
    };
    let ids =
        |selection: &Option<fedspd_eeg::dataset::Selection>| selection.as_ref().map(|s| s.ids().to_vec());
    let data = own(&[]);
    assert_eq!((data.root, ids(&data.subjects).map(|ids| ids.len())), (None, Some(4)));
    let data = own(&["data.root=/mine", "data.subjects=2"]);
    assert_eq!(data.root.as_deref(), Some(Path::new("/mine")));
    assert_eq!(ids(&data.subjects), Some(vec!["2".to_owned()]));
    let data = own(&["data.name=/mine/eeg.npz"]);
    assert_eq!((data.root, data.subjects, data.exclude), (None, None, None));
    for file in ["/etc/secret.npz", "study.toml"] {
        let shared = config(&[&format!("data.name={file}")]).to_toml();
        assert!(
            matches!(site_config(&shared, &[]), Err(Error::ServersFile { path }) if path == Path::new(file))
        );
        assert!(site_config(&shared, &["data.name=sample".parse().unwrap()]).is_ok());
    }
}

#[test]
fn nothing_of_a_sites_disk_is_told_to_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(&[]);
    let site = &sites(&config, folder.path())[0];
    let run: Identity = "0123456789abcdef0123456789abcdef".parse().unwrap();
    let (model, since) = (Message::default(), Some(Exchange { round: 6, number: 0 }));
    let missing = site.evaluate(&run, &model, since, true, true).unwrap_err();
    assert!(missing.to_string().contains(&*folder.path().to_string_lossy()), "{missing}");
    assert_eq!(missing.for_server(), "its state after round 7 is missing");
    let state = folder.path().join(format!("run-{run}/site-0/round-0007.state"));
    std::fs::create_dir_all(state.parent().unwrap()).unwrap();
    std::fs::write(&state, "something else").unwrap();
    let damaged = site.evaluate(&run, &model, since, true, true).unwrap_err();
    assert_eq!(damaged.for_server(), "the task failed; see the site's own log");
}

#[cfg(unix)]
#[test]
fn states_are_for_the_sites_own_account() {
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir().unwrap();
    let config = config(&["federated.rounds=1"]);
    let state = folder.path().join("state");
    let all = sites(&config, &state);
    let mut server = coordinator(&config, &folder.path().join("run"), &all);
    round(&mut server, &all);
    let mode =
        std::fs::metadata(state.join(format!("run-{}", server.identity()))).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}

#[test]
fn an_introduction_that_cannot_be_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let site = &sites(&config(&[]), folder.path())[0];
    let said = serde_json::to_value(site.introduce().unwrap()).unwrap();
    let with = |key: &str, value: serde_json::Value| {
        let mut changed = said.clone();
        *changed.pointer_mut(key).unwrap() = value;
        Introduction::read(&changed.to_string())
    };
    assert_eq!(Introduction::read(&said.to_string()).unwrap(), site.introduce().unwrap());
    for (key, value, fault) in [
        ("/trials/train", json!([i64::MAX, 1, 1, 1]), "it reports 9223372036854775807 trials of a class"),
        ("/trials/test", json!([1]), "it has trial counts for 1 of 4 classes"),
        ("/name", json!("a\nround 1: b"), "its name is \"a\\\\nround 1: b\""),
        ("/name", json!(""), "its name is \"\""),
        ("/facts", json!(null), "invalid type: null"),
    ] {
        let error = with(key, value).unwrap_err().to_string();
        assert!(error.contains(fault), "{error}");
    }
    let warned = with("/warning", json!("x\nround 1: b does not count")).unwrap();
    assert_eq!(warned.warning.as_deref(), Some("x\\nround 1: b does not count"));
}

/// Numbers are refused if their sum would overflow or if they would hide those of other sites.
#[test]
fn numbers_that_cannot_be_do_not_count() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(&["federated.on_client_failure=skip", "federated.rounds=1"]);
    let all = sites(&config, folder.path());
    let mut server = coordinator(&config, &folder.path().join("run"), &all);
    for (client, reply) in train(&server, &all) {
        let mut parts = reply.into_parts();
        if client == 1 {
            parts.retain(|part| part.name != LOSS);
            parts.push(Part::loss(-1e308));
        }
        server.submit(client, Ok(Message::new(parts))).unwrap();
    }
    let asked = server.close().unwrap().unwrap();
    assert_eq!(asked.since, [Some(Exchange::default()), None]);
    for (client, site) in all.iter().enumerate() {
        let scores =
            site.evaluate(server.identity(), &asked.message, asked.since[client], true, true).unwrap();
        let mut parts = scores.into_parts();
        let confusion = parts.iter_mut().find(|part| part.name == "test.confusion").unwrap();
        if let (1, Numbers::U64(counts)) = (client, &mut confusion.numbers) {
            let support: u64 = counts[..4].iter().sum();
            // The sum wraps around to the true number of trials.
            counts[..4].copy_from_slice(&[u64::MAX / 2 + 1, u64::MAX / 2 + 1, support, 0]);
        }
        server.score(client, Ok(Message::new(parts)), &mut ()).unwrap();
    }
    server.advance(&mut ()).unwrap();
    let events = std::fs::read_to_string(folder.path().join("run/events.jsonl")).unwrap();
    assert!(events.contains("client 2 does not count: its loss is -1"), "{events}");
    assert!(events.contains("client 2 did not score the model"), "{events}");
}

/// Neither engine resumes a run of the other, and every hint names the correct way to resume.
#[test]
fn a_run_of_one_engine_is_not_resumed_by_the_other() {
    let folder = tempfile::tempdir().unwrap();
    let (one, many) = (folder.path().join("one"), folder.path().join("many"));
    let config = config(&["federated.rounds=1"]);
    let experiment = Experiment::new(config.clone(), &()).unwrap();
    run(&experiment, "sample", &one, &mut ()).unwrap();
    let all = sites(&config, folder.path());
    drop(coordinator(&config, &many, &all));
    let by_flower =
        format!("resume it by starting its Flower server again with `out = \"{}\"`", many.display());
    let refused = fedspd_experiment::Resumable::open(&many, |_| (), &()).err().unwrap();
    assert_eq!(refused.to_string(), format!("{} holds a run over Flower", many.display()));
    assert_eq!(refused.hint().unwrap(), by_flower);
    let taken = run(&experiment, "sample", &many, &mut ()).unwrap_err();
    assert_eq!(taken.hint().unwrap(), format!("{by_flower}, or choose another folder with --out"));
    let introductions = all.iter().map(|site| site.introduce().unwrap()).collect();
    let refused = Coordinator::open(config.clone(), "sample", &one, introductions, 1, &mut ()).err().unwrap();
    assert_eq!(refused.to_string(), format!("{} holds a run in one process", one.display()));
    assert!(refused.hint().unwrap().starts_with("resume it with `fedspd resume "), "{:?}", refused.hint());
}

/// A site prepares its trials once. Later messages read the same bytes from the cache.
#[test]
fn a_site_prepares_its_trials_once() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(&["align.kind=riemannian"]);
    let first = sites(&config, folder.path());
    let cached =
        || std::fs::read_dir(folder.path().join("cache")).unwrap().map(|entry| entry.unwrap().path());
    assert_eq!(cached().count(), 2);
    let written: Vec<_> = cached().map(|path| std::fs::read(path).unwrap()).collect();
    let second = sites(&config, folder.path());
    assert_eq!(cached().map(|path| std::fs::read(path).unwrap()).collect::<Vec<_>>(), written);
    let server = coordinator(&config, &folder.path().join("run"), &first);
    assert_eq!(train(&server, &first), train(&server, &second));
}

/// A site that leaves out scores that were requested is named, and the round goes on without it.
#[test]
fn missing_scores_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(&["federated.on_client_failure=skip", "federated.rounds=1"]);
    let all = sites(&config, folder.path());
    let mut server = coordinator(&config, &folder.path().join("run"), &all);
    for (client, reply) in train(&server, &all) {
        server.submit(client, Ok(reply)).unwrap();
    }
    let asked = server.close().unwrap().unwrap();
    for (client, site) in all.iter().enumerate() {
        let scores = site.evaluate(server.identity(), &asked.message, asked.since[client], true, true);
        let mut parts = scores.unwrap().into_parts();
        if client == 0 {
            parts.retain(|part| !part.name.starts_with("validation"));
        }
        server.score(client, Ok(Message::new(parts)), &mut ()).unwrap();
    }
    server.advance(&mut ()).unwrap();
    let events = std::fs::read_to_string(folder.path().join("run/events.jsonl")).unwrap();
    assert!(events.contains("client 1 did not score the model: it sent no `validation.loss`"), "{events}");
}

/// A run is done when its summary is there, not before.
#[test]
fn a_run_without_its_summary_is_not_done() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(&["federated.rounds=1"]);
    let (all, at) = (sites(&config, folder.path()), folder.path().join("run"));
    let mut server = coordinator(&config, &at, &all);
    let status = || fedspd_run::Manifest::read(&at.join("manifest.json")).unwrap().status;
    // The summary cannot replace a folder.
    std::fs::create_dir_all(at.join("summary.json/inside")).unwrap();
    let failed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| round(&mut server, &all)));
    assert!(failed.is_err() && at.join("results.csv").exists());
    assert_eq!(status(), Status::Running);
    drop(server);
    std::fs::remove_dir_all(at.join("summary.json")).unwrap();
    let mut server = coordinator(&config, &at, &all);
    round(&mut server, &all);
    assert!(server.finished() && at.join("summary.json").is_file());
    assert_eq!(status(), Status::Done);
}
