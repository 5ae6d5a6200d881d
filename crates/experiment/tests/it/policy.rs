//! The policy of a site: what it refuses, and that no message changes what it agreed to.

use std::path::Path;

use fedspd_experiment::Error;
use fedspd_experiment::config::Config;
use fedspd_experiment::remote::{
    Approval, Coordinator, Identity, Site, SitePolicy, SiteTask, Studies, StudyHash,
};
use fedspd_federated::Exchange;

use crate::remote::{config, policy};
use crate::support::Warnings;

fn refused(text: &str) -> String {
    SitePolicy::parse(text, Path::new("site.toml")).unwrap_err().to_string()
}

fn run() -> Identity {
    "0123456789abcdef0123456789abcdef".parse().unwrap()
}

/// The first site of the study, with more in its policy.
fn asked(state: &Path, more: &str, config: &Config) -> Result<Site, Error> {
    let policy = policy(0, &format!("[data]\nsubjects = \"1,2\"\n{more}"));
    Site::asked(&policy, state, &config.to_toml(), &(), &mut ())
}

#[test]
fn a_policy_with_a_typing_error_is_refused() {
    let start = "name = \"a\"\nnumber = 0\n";
    let message = refused(&format!("{start}[data]\nsubject = \"1\"\n"));
    assert!(message.starts_with("site.toml: ") && message.contains("unknown field `subject`"), "{message}");
    assert!(message.contains("line 4"), "{message}");
    for (text, expected) in [
        ("name = \"\"\nnumber = 0\n".to_owned(), "`name` is \"\"; it must be one line of text"),
        ("name = \"a\\nb\"\nnumber = 0\n".to_owned(), "`name` is \"a\\\\nb\"; it must be one line of text"),
        (format!("{start}studies = [\"abc\"]\n"), "`studies` has \"abc\", which is not a SHA-256"),
        (format!("{start}[limits]\nmodels = []\n"), "`limits.models` is empty: no study could run"),
        (format!("{start}[limits]\nmost_epochs = 0\n"), "`limits.most_epochs` is 0; it must be positive"),
        (
            format!("{start}[limits]\nlargest_learning_rate = nan\n"),
            "`limits.largest_learning_rate` is NaN; it must be positive",
        ),
    ] {
        assert_eq!(refused(&text), format!("site.toml: {expected}"));
    }
    assert_eq!(SitePolicy::parse(start, Path::new("site.toml")).unwrap().approval, Approval::Manual);
}

#[test]
fn a_study_beyond_a_limit_is_refused_before_data_are_opened() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path();
    // Without its data, the site would fail in another way.
    let refusal = |limits: &str, changes: &[&str]| {
        let more = format!("name = \"missing.npz\"\n[limits]\n{limits}\n");
        asked(state, &more, &config(changes)).err().unwrap().to_string()
    };
    for (limits, changes, expected) in [
        (
            "models = [\"eegnet\"]",
            &[][..],
            "`model.kind` = spdnet, but the policy of this site has `limits.models` = eegnet",
        ),
        (
            "largest_size = 10",
            &["model.dims=[12]"],
            "`model.dims` = [12], but the policy of this site has `limits.largest_size` = 10",
        ),
        (
            "most_epochs = 2",
            &["federated.epochs_local=3"],
            "`federated.epochs_local` = 3, but the policy of this site has `limits.most_epochs` = 2",
        ),
        (
            "most_rounds = 2",
            &[],
            "`federated.rounds` = 3, but the policy of this site has `limits.most_rounds` = 2",
        ),
        (
            "",
            &["train.lr=0.5"],
            "`train.lr` = 0.5, but the policy of this site has `limits.largest_learning_rate` = 0.1",
        ),
    ] {
        assert_eq!(refusal(limits, changes), format!("the study asks for {expected}"));
    }
    let message = refusal("", &[]);
    assert!(message.contains("missing.npz"), "{message}");
}

/// One training trial of each class: the update of the head would be that trial.
#[test]
fn a_study_that_would_extract_trials_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let extraction = config(&[
        "model.dims=[]",
        "train.optimizer=riemannian-sgd",
        "federated.epochs_local=1",
        "split.train=0.03",
        "split.val=0.03",
        "split.test=0.94",
    ]);
    let error = asked(folder.path(), "", &extraction).err().unwrap();
    assert!(matches!(error, Error::PolicyRefuses { key: "split", limit: "fewest_trials", .. }), "{error}");
    assert_eq!(error.for_server(), "its policy does not allow this study; see the site's own log");
}

#[test]
fn nothing_is_opened_before_a_person_approves() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path();
    let text = "name = \"client 1\"\nnumber = 0\n[data]\nsubjects = \"1,2\"\n";
    let manual = SitePolicy::parse(text, Path::new("site.toml")).unwrap();
    let config = config(&[]).to_toml();
    let study = StudyHash::of(&config);
    let open = || Site::asked(&manual, state, &config, &(), &mut ());
    assert!(matches!(open(), Err(Error::NotApproved { study: named }) if named == study.to_string()));
    assert!(!state.join("cache").exists(), "data were prepared");
    let studies = Studies::new(state);
    assert_eq!(studies.all().unwrap(), std::slice::from_ref(&study));
    let other = StudyHash::of("another");
    assert!(matches!(studies.approve(&other), Err(Error::UnknownStudy { .. })));
    studies.approve(&study).unwrap();
    open().unwrap();
    // What was approved is what is obeyed.
    let path = state.join(format!("studies/{study}.toml"));
    std::fs::write(&path, config.replace("rounds = 3", "rounds = 4")).unwrap();
    assert!(matches!(open(), Err(Error::ChangedStudy { .. })));
    // Only listed studies.
    let listed = SitePolicy { studies: vec![other.to_string()], ..manual.clone() };
    std::fs::write(&path, &config).unwrap();
    assert!(matches!(Site::asked(&listed, state, &config, &(), &mut ()), Err(Error::NotListed { .. })));
}

/// After the first message of a run, no message can name another configuration, whatever its key.
#[test]
fn no_message_changes_a_key_of_the_configuration() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path();
    let policy = policy(0, "[data]\nsubjects = \"1,2\"\n");
    let agreed = config(&[]).to_toml();
    let of_run = |study: &StudyHash| Site::of_run(&policy, state, study, &run(), &(), &mut ()).map(drop);
    assert!(matches!(of_run(&StudyHash::of(&agreed)), Err(Error::UnknownStudy { .. })));
    Site::asked(&policy, state, &agreed, &(), &mut ()).unwrap();
    of_run(&StudyHash::of(&agreed)).unwrap();
    let mut keys = 0;
    for (place, line) in agreed.lines().enumerate().filter(|(_, line)| line.contains(" = ")) {
        let changed: Vec<String> = agreed
            .lines()
            .enumerate()
            .map(|(other, text)| if other == place { format!("{text} # changed") } else { text.to_owned() })
            .collect();
        let changed = changed.join("\n");
        let study = StudyHash::of(&changed);
        assert!(matches!(of_run(&study), Err(Error::UnknownStudy { .. })), "{line}");
        // Even if the site agrees to the other study, the run keeps its own.
        Studies::new(state).ask(&changed).unwrap();
        let error = of_run(&study).unwrap_err().to_string();
        assert_eq!(
            error, "invalid message from the server: the run belongs to another study at this site",
            "{line}"
        );
        std::fs::remove_file(state.join(format!("studies/{study}.toml"))).unwrap();
        keys += 1;
    }
    assert!(keys > 50, "{keys} keys");
    of_run(&StudyHash::of(&agreed)).unwrap();
}

#[test]
fn a_task_asks_for_nothing_but_the_study() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(&["data.subjects=1,2", "federated.clients={ \"client 1\" = [1, 2] }"]);
    let site = asked(folder.path(), "", &config).unwrap();
    let introduction = site.introduce().unwrap();
    let server =
        Coordinator::open(config, "study", &folder.path().join("run"), vec![introduction], 1, &mut ())
            .unwrap();
    let plan = server.plan().unwrap();
    let task = SiteTask {
        run: server.identity().clone(),
        exchange: plan.exchange,
        epochs: plan.clients[0].epochs,
        learning_rate: plan.learning_rate,
        since: None,
        message: plan.message,
    };
    site.train(&task).unwrap();
    let place = |round, number| Exchange { round, number };
    let bad = [
        (SiteTask { epochs: 300, ..task.clone() }, "it asks for 300 epochs, but the study has 2"),
        (SiteTask { exchange: place(3, 0), ..task.clone() }, "it asks for round 4, but the study has 3"),
        (
            SiteTask { exchange: place(u32::MAX, 0), ..task.clone() },
            "it asks for round 4294967296, but the study has 3",
        ),
        (
            SiteTask { exchange: place(0, u32::MAX), ..task.clone() },
            "it asks for exchange 4294967296 of a round",
        ),
        (
            SiteTask { learning_rate: 1e6, ..task.clone() },
            "its learning rate is 1000000, but that of the study is 0.001",
        ),
        (
            SiteTask { learning_rate: f64::NAN, ..task.clone() },
            "its learning rate is NaN, but that of the study is 0.001",
        ),
    ];
    for (task, expected) in bad {
        let error = site.train(&task).unwrap_err();
        assert_eq!(error.for_server(), format!("invalid message from the server: {expected}"));
    }
}

/// A second message finds the prepared trials in the cache, with all their facts.
#[test]
fn trials_are_prepared_once() {
    let folder = tempfile::tempdir().unwrap();
    let policy = policy(0, "[data]\nsubjects = \"1,2\"\n");
    let open = || {
        let mut warnings = Warnings(Vec::new());
        let site = Site::asked(&policy, folder.path(), &config(&[]).to_toml(), &(), &mut warnings).unwrap();
        assert_eq!(warnings.0, Vec::<String>::new());
        site.introduce().unwrap()
    };
    let first = open();
    assert!(first.facts.preparation.making.recipe.is_some());
    assert_eq!(open(), first);
}
