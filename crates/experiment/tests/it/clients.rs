//! Clients in whole runs: the proximal term, and clients that fail.

use fedspd_experiment::run;

use crate::modes::TASK;
use crate::runs::experiment;
use crate::support::{Warnings, in_folder};

/// A stronger proximal term makes clients drift less from the model that they received.
#[test]
fn a_proximal_term_holds_clients_back() {
    let drift = |mu: &str| {
        let set = format!("federated.prox_mu={mu}");
        let pulled = experiment(TASK, &[&set, "federated.rounds=3", "federated.epochs_local=5"]);
        let (_, rounds) = in_folder(&pulled, &mut ());
        rounds.iter().map(|round| round.layers[0].drift_mean).collect::<Vec<_>>()
    };
    let (free, pulled, held) = (drift("0"), drift("1"), drift("100"));
    for round in 0..3 {
        assert!(free[round] > pulled[round] && pulled[round] > held[round], "{free:?} {pulled:?} {held:?}");
    }
}

/// An overshooting proximal term grows by a factor of a thousand with every step. A client survives
/// three steps but not 180. The run stops, or continues without the client and names it in every
/// round.
#[test]
fn a_client_that_fails_stops_the_run_or_is_left_out() {
    let diverging = [
        "federated.clients={ a = [1, 2], b = [3, 4], c = [5, 6], d = [7, 8] }",
        "federated.epochs_local={ default = 1, c = 60 }",
        "federated.prox_mu=1e5",
        "train.optimizer=riemannian-sgd",
        "federated.rounds=2",
    ];
    let folder = tempfile::tempdir().unwrap();
    let stops = experiment(TASK, &diverging);
    let error = run(&stops, "stops", &folder.path().join("run"), &mut ()).err().unwrap();
    assert!(error.to_string().starts_with("c failed in round 1: training diverged"), "{error}");
    assert!(error.hint().unwrap().contains("on_client_failure"), "{error}");

    let mut warnings = Warnings::default();
    let skips = experiment(TASK, &[&diverging[..], &["federated.on_client_failure=skip"]].concat());
    let (table, rounds) = in_folder(&skips, &mut warnings);
    assert_eq!(rounds.len(), 2);
    for round in &rounds {
        assert_eq!(round.participants, ["a", "b", "c", "d"]);
        let dropped: Vec<&str> = round.dropped.iter().map(|dropped| &*dropped.client).collect();
        assert_eq!(dropped, ["c"]);
        assert!(round.dropped[0].reason.contains("diverged"), "{:?}", round.dropped);
        // Four messages went down, and three replies came back.
        assert_eq!(round.bytes_up * 4, round.bytes_down * 3);
    }
    let told = warnings.0.iter().filter(|text| text.contains(": c does not count: training diverged"));
    assert_eq!(told.count(), 2, "{:?}", warnings.0);
    // The client is still scored.
    assert!(table.rows.iter().any(|row| row.client == "c" && row.metric == "final_macro_f1"));
}
