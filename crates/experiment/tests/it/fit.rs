//! Training without a folder, and what a model says about single trials.

use std::path::Path;

use fedspd_experiment::{Content, Error, Experiment, Predictor, fit, run};

use crate::modes::TASK;
use crate::runs::experiment;
use crate::support::Warnings;

/// The bytes that a run saves, from the same trials as they are in memory, in any mode that has one model, with and without a test.
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

/// A trial is predicted as if it were alone, and what is no trial is refused.
#[test]
fn trials_are_predicted_one_by_one() {
    let experiment = experiment(TASK, &["mode=centralised", "train.epochs=3"]);
    let model = fit(&experiment, &mut ()).unwrap().unwrap();
    let predictor = Predictor::new(Path::new("mine"), &model).unwrap();
    let Content::Covariances(covariances) = &experiment.dataset.content else { panic!() };
    let numbers = &covariances.matrices()[..130 * 64];
    let together = predictor.probabilities(numbers).unwrap();
    let alone: Vec<f64> =
        numbers.chunks(64).flat_map(|trial| predictor.probabilities(trial).unwrap()).collect();
    assert_eq!((together.len(), &together), (130 * 3, &alone));
    assert!(together.chunks(3).all(|row| (row.iter().sum::<f64>() - 1.0).abs() < 1e-12));
    assert!(matches!(predictor.probabilities(&numbers[..100]), Err(Error::Network(_))));
    assert!(Predictor::new(Path::new("mine"), &model[..100]).is_err());
}
