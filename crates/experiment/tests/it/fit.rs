//! Training without a run folder, and predictions of single trials.

use std::path::Path;

use fedspd_experiment::{Content, Error, Experiment, Predictor, fit, run};
use fedspd_nn::file::{decode, encode};

use crate::modes::TASK;
use crate::runs::experiment;
use crate::support::Warnings;

/// Training on trials in memory gives the bytes that a run saves, in every mode with one model,
/// with and without a test.
#[test]
fn fit_gives_the_model_of_a_run() {
    let untested: &[&str] = &["split.train=0.9", "split.test=0"];
    for (mode, split) in [("federated", &[][..]), ("centralised", &[]), ("federated", untested)] {
        let mode = format!("mode={mode}");
        let settings = [&[&*mode, "federated.rounds=3", "train.epochs=3"], split].concat();
        let experiment = experiment(TASK, &settings);
        let folder = tempfile::tempdir().unwrap();
        let mut warnings = Warnings(Vec::new());
        run(&experiment, "mine", &folder.path().join("run"), &mut warnings).unwrap();
        assert_eq!(warnings.0, Vec::<String>::new());
        let saved = std::fs::read(folder.path().join("run/models/seed-0.safetensors")).unwrap();
        let Experiment { config, dataset } = experiment;
        let given = Experiment::on(config, "arrays", dataset.content).unwrap();
        assert_eq!(fit(&given, &mut ()).unwrap().unwrap(), saved);
    }
    let alone = experiment(TASK, &["mode=local", "train.epochs=1"]);
    assert!(matches!(fit(&alone, &mut ()), Err(Error::NoModel { .. })));
}

/// The prediction of a trial does not depend on other trials, and invalid trials are refused.
#[test]
fn trials_are_predicted_one_by_one() {
    let experiment = experiment(TASK, &["mode=centralised", "train.epochs=3"]);
    let model = fit(&experiment, &mut ()).unwrap().unwrap();
    let predictor = Predictor::new("mine", &model).unwrap();
    let Content::Covariances(covariances) = &experiment.dataset.content else { panic!() };
    let mut numbers = covariances.matrices()[..130 * 64].to_vec();
    let together =
        predictor.probabilities(130, |trials| numbers[64 * trials.start..64 * trials.end].to_vec());
    let together = together.unwrap();
    let alone: Vec<f64> = numbers
        .chunks(64)
        .flat_map(|trial| predictor.probabilities(1, |_| trial.to_vec()).unwrap())
        .collect();
    assert_eq!((together.len(), &together), (130 * 3, &alone));
    assert!(together.chunks(3).all(|row| (row.iter().sum::<f64>() - 1.0).abs() < 1e-12));
    assert!(matches!(predictor.probabilities(2, |_| numbers[..100].to_vec()), Err(Error::Network(_))));
    // A fault names its trial among all trials, not within a batch.
    let mut message = |entry: usize, value: f64| {
        let kept = std::mem::replace(&mut numbers[100 * 64 + entry], value);
        let said =
            predictor.probabilities(130, |trials| numbers[64 * trials.start..64 * trials.end].to_vec());
        numbers[100 * 64 + entry] = kept;
        said.unwrap_err().to_string()
    };
    assert_eq!(message(1, f64::NAN), "trial 100, input 0: entry (0, 1) of matrix 0 is NaN");
    assert!(message(1, 1e9).starts_with("trial 100, input 0: matrix 0 is not symmetric"));
    let negative = "`the array`: the matrix of trial 100 is not a covariance: its eigenvalues range from -";
    assert!(message(0, -1e9).starts_with(negative));
    assert!(Predictor::new("mine", &model[..100]).is_err());
}

/// A file may say anything about its preparation. One that does not belong to the network is refused.
#[test]
fn a_preparation_belongs_to_its_network() {
    let experiment = experiment(TASK, &["mode=centralised", "train.epochs=1"]);
    let model = fit(&experiment, &mut ()).unwrap().unwrap();
    let (manifest, parameters) = decode::<f64>(Path::new("mine"), &model).unwrap();
    let changed = |change: &dyn Fn(&mut serde_json::Value)| {
        let mut preparation = manifest.preparation.clone().unwrap();
        change(&mut preparation);
        let bytes = encode(Path::new("mine"), &manifest.clone().prepared(preparation), &parameters).unwrap();
        match Predictor::new("mine", &bytes) {
            Err(Error::StoredPreparation { reason, .. }) => reason,
            Err(other) => panic!("{other}"),
            Ok(_) => panic!("accepted"),
        }
    };
    let branch = |key: &'static str, value: serde_json::Value| {
        changed(&move |preparation| preparation["making"]["branches"][0][key] = value.clone())
    };
    let of_samples = "covariances have no z-scores and no Euclidean alignment";
    assert_eq!(branch("z_score", true.into()), of_samples);
    assert_eq!(branch("alignment", "euclidean".into()), of_samples);
    assert_eq!(
        changed(&|preparation| preparation["content"] = "trials".into()),
        "it prepares trials, but the network reads covariances"
    );
    assert_eq!(
        changed(&|preparation| preparation["channels"][0] = "other".into()),
        "its classes or channels are not those of the network"
    );
    let twice = changed(&|preparation| {
        let branches = preparation["making"]["branches"].as_array_mut().unwrap();
        branches.push(branches[0].clone());
    });
    assert_eq!(twice, "it has 2 inputs, but the network has 1");
}
