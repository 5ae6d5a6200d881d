//! Training modes, which share one loop.

use fedspd_experiment::headline;

use crate::runs::experiment;
use crate::support::{Warnings, in_folder};

pub(crate) const TASK: &str = r#"
    [data]
    name = "generated"
    [data.generated]
    subjects = 8
    trials = 30
    channels = 8
    classes = 3
    shift = 0.3
    strength = 0.6
    [model]
    dims = [4]
    epsilon = 1e-4
    [train]
    lr = 1e-2
    batch = 16
    epochs = 20
    early_stop = 0
    [federated]
    rounds = 20
    epochs_local = 1
"#;

/// One client with all trials, carried moments and one epoch a round is centralised training, bit
/// for bit.
#[test]
fn a_federation_of_one_is_centralised_training() {
    let everyone = "federated.clients={ 'all clients' = [1, 2, 3, 4, 5, 6, 7, 8] }";
    let federated = experiment(TASK, &[everyone, "federated.carry_state=true"]);
    let centralised = experiment(TASK, &[everyone, "mode=centralised"]);
    let rows = |experiment| {
        let table = in_folder(experiment, &mut ()).0;
        let row =
            |row: fedspd_run::ResultRow| (row.round, row.client, row.split, row.metric, row.value.to_bits());
        table.rows.into_iter().map(row).collect::<Vec<_>>()
    };
    let (federated, centralised) = (rows(&federated), rows(&centralised));
    assert!(federated.len() > 100);
    assert_eq!(federated, centralised);
}

/// Every mode learns, and tests the same trials.
#[test]
fn every_mode_learns() {
    let mut tested = Vec::new();
    for (mode, least) in [("federated", 0.55), ("centralised", 0.55), ("local", 0.4)] {
        let table = in_folder(&experiment(TASK, &[&format!("mode={mode}")]), &mut ()).0;
        let found = headline(&table);
        assert!(found.macro_f1.mean > least, "{mode}: {}", found.macro_f1.mean);
        assert!(
            found.worst_client.mean <= found.mean_client.mean && found.feasibility_error.unwrap() < 1e-12
        );
        let trials = table.rows.iter().filter(|row| row.metric == "final_trials" && row.split == "test");
        tested.push(trials.map(|row| (row.client.clone(), row.value as u64)).collect::<Vec<_>>());
    }
    assert_eq!(tested[0].len(), 4);
    assert!(tested.windows(2).all(|pair| pair[0] == pair[1]));
}

/// Centralised training stops early and ends with the best model by validation.
#[test]
fn early_stopping_returns_to_the_best() {
    let stopping = ["mode=centralised", "train.epochs=60", "train.early_stop=5"];
    let (table, _) = in_folder(&experiment(TASK, &stopping), &mut ());
    let values = |split: &str, metric: &str| {
        let wanted = |row: &&fedspd_run::ResultRow| {
            row.client == "pooled" && row.split == split && row.metric == metric
        };
        table.rows.iter().filter(wanted).map(|row| (row.round, row.value)).collect::<Vec<_>>()
    };
    let validation = values("validation", "macro_f1");
    let last = validation.last().unwrap().0;
    assert!(last < 60);
    let best = values("model", "final_round")[0].1 as u32;
    assert_eq!(last, best + 5);
    let highest = validation.iter().map(|&(_, f1)| f1).fold(0.0, f64::max);
    assert_eq!(validation.iter().find(|(_, f1)| *f1 == highest).unwrap().0, best);
    let then = values("test", "macro_f1")[best as usize - 1];
    assert_eq!(values("test", "final_macro_f1"), [(last, then.1)]);
}

/// Alignment removes differences between subjects, for every choice of fitted trials. For a
/// held-out subject it is fitted on the subject's own trials.
#[test]
fn alignment_helps_where_subjects_differ() {
    let shifted = ["data.generated.shift=1.5", "federated.rounds=30", "split.held_out_subjects='7,8'"];
    let f1 = |more: &[&str]| {
        let overrides: Vec<&str> = shifted.iter().chain(more).copied().collect();
        let found = headline(&in_folder(&experiment(TASK, &overrides), &mut ()).0);
        (found.macro_f1.mean, found.held_out.mean)
    };
    let plain = f1(&[]);
    for more in [
        &["align.kind=riemannian"][..],
        &["align.kind=log-euclidean"],
        &["align.kind=riemannian", "align.fit=all"],
        &["align.kind=riemannian", "align.calibration=15"],
    ] {
        let aligned = f1(more);
        assert!(aligned.0 > plain.0 + 0.1 && aligned.1 > plain.1 + 0.1, "{more:?}: {plain:?} {aligned:?}");
    }
}

/// EEGNet keeps its statistics at the clients. A held-out subject gets its own from one pass
/// without labels.
#[test]
fn eegnet_learns_and_reads_new_subjects() {
    let text = r#"
        [data]
        name = "generated"
        [data.generated]
        subjects = 4
        trials = 60
        channels = 8
        classes = 2
        samples = 160
        sfreq = 80.0
        [model]
        kind = "eegnet"
        dropout = 0.1
        [train]
        lr = 3e-3
        batch = 10
        [federated]
        rounds = 25
        subjects_per_client = 1
        [split]
        held_out_subjects = "4"
    "#;
    for fedbn in ["all", "statistics"] {
        let table = in_folder(&experiment(text, &[&format!("model.fedbn={fedbn}")]), &mut ()).0;
        let found = headline(&table);
        assert!(found.macro_f1.mean > 0.7, "{fedbn}: {}", found.macro_f1.mean);
        assert!(found.held_out.mean > 0.6, "{fedbn}: {}", found.held_out.mean);
    }

    // Centralised training has one client, whose batch normalisation is part of the model.
    let folder = tempfile::tempdir().unwrap();
    let centralised = experiment(text, &["mode=centralised", "train.epochs=3"]);
    let note = "batch-normalisation statistics fitted on all trials of each subject, without labels";
    assert_eq!(centralised.held_out_note().unwrap(), note);
    fedspd_experiment::run(&centralised, "one", &folder.path().join("run"), &mut ()).unwrap();
    let model = folder.path().join("run/models/seed-0.safetensors");
    let (_, parameters) = fedspd_nn::file::load::<f32>(&model).unwrap();
    for (name, first) in [("norm1.variance", 1.0), ("norm2.scale", 1.0), ("norm3.mean", 0.0)] {
        assert!(parameters.get(name).unwrap().iter().all(|&value| value != first), "{name}");
    }
}

/// A run warns about subjects that a map leaves out.
#[test]
fn subjects_without_a_client_are_told_of() {
    let mut warnings = Warnings::default();
    let some = experiment(TASK, &["federated.clients={ a = [1, 2], b = [3] }", "federated.rounds=1"]);
    in_folder(&some, &mut warnings);
    assert_eq!(warnings.0, ["no client has the subjects 4, 5, 6, 7, 8: their trials are not used"]);
}

/// A run warns about clients without validation or test trials.
#[test]
fn scores_that_will_be_missing_are_told_of() {
    let warnings = |overrides: &[&str]| {
        let mut warnings = Warnings::default();
        let all = [&["federated.rounds=1"], overrides].concat();
        in_folder(&experiment(TASK, &all), &mut warnings);
        warnings.0
    };
    // A client needs more than two trials of a class for three splits; four are enough.
    let few = |clients| {
        let shares = ["split.train=0.98", "split.val=0.01", "split.test=0.01"];
        warnings(&[&["data.generated.trials=6", clients][..], &shares].concat())
    };
    assert_eq!(
        few("federated.subjects_per_client=1"),
        [
            "no client has validation trials: there are no validation scores",
            "no client has test trials: there are no test scores"
        ]
    );
    assert_eq!(
        few("federated.clients={ a = [1], b = [2, 3, 4], c = [5, 6, 7, 8] }"),
        [
            "a has no validation trials: it does not count for the learning rate",
            "a has no test trials: it is not in the test scores"
        ]
    );
    let two = &few("federated.clients={ a = [1], b = [2], c = [3, 4, 5, 6, 7, 8] }")[1];
    let expected = "2 of 3 clients have no test trials (first: a): such a client is not in the test scores";
    assert_eq!(two, expected);
}

/// Clients that stop early stay in the pooled validation, with their last models. Local training
/// has all clients in every round.
#[test]
fn clients_that_have_stopped_are_validated_still() {
    let settings = ["mode=local", "train.epochs=60", "train.early_stop=6", "federated.participation=0.5"];
    let losses = |clients: &str| {
        let experiment = experiment(TASK, &[&settings[..], &[clients]].concat());
        let (table, rounds) = in_folder(&experiment, &mut ());
        assert!(table.rows.iter().all(|row| row.participation == 1.0));
        rounds.into_iter().map(|round| (round.participants, round.validation_loss)).collect::<Vec<_>>()
    };
    let alone = losses("federated.clients={ a = [1, 8] }");
    let both = losses("federated.clients={ a = [1, 8], b = [4, 6] }");
    let stopped = both.iter().position(|(active, _)| *active == ["a"]).unwrap();
    assert!(stopped > 1 && both.len() == alone.len() && stopped + 2 < both.len());
    // While both train, the mean gives the loss of the other client, which is constant afterwards.
    let other = 2.0 * both[stopped - 1].1 - alone[stopped - 1].1;
    for ((_, both), (_, alone)) in both.iter().zip(&alone).skip(stopped) {
        assert!((both - (alone + other) / 2.0).abs() < 1e-12, "{both} {alone} {other}");
    }
}

/// Every method that the configuration names trains in its own way.
#[test]
fn every_method_name_trains_its_own_method() {
    let model = |settings: &[&str]| {
        let settings = [&["federated.rounds=2"], settings].concat();
        fedspd_experiment::fit(&experiment(TASK, &settings), &mut ()).unwrap().unwrap()
    };
    let (fedavg, weight) = (model(&["federated.method=fedavg"]), "federated.prox_mu=5.0");
    let fedprox = model(&["federated.method=fedprox", weight]);
    assert_eq!(model(&[]), fedavg);
    assert_ne!(fedprox, fedavg);
    assert_eq!(model(&[weight]), fedprox);
}
