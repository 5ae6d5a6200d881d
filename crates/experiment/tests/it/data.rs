//! Data: selections, and their faults.

use std::path::Path;

use fedspd_eeg::Covariances;
use fedspd_experiment::config::Config;
use fedspd_experiment::{
    Calibration, Content, Error, Experiment, Forecast, ModelScores, NewData, Predictor, run,
};
use fedspd_manifold::SpdMetric;
use fedspd_run::{Event, EventLog, Manifest};

use crate::support::Warnings;

fn load(text: &str) -> Result<Experiment, Error> {
    Experiment::new(Config::parse(text, "test.toml", &[]).unwrap(), &())
}

/// Scores a model on a file.
fn evaluate(model: &Path, data: &Path) -> Result<ModelScores, Error> {
    let data = NewData::new(data.to_string_lossy());
    ModelScores::new(&Predictor::load(model)?.predict(&data, Calibration::All, &())?)
}

fn fault(text: &str) -> (String, String) {
    let error = load(text).err().unwrap();
    (error.to_string(), error.hint().unwrap_or_default())
}

#[test]
fn subjects_and_classes_are_chosen() {
    let all = load("[data]\nname = \"sample\"").unwrap();
    assert_eq!((all.dataset.about().origins.len(), all.dataset.about().subjects().len()), (900, 10));
    let some = load(
        "[data]\nname = \"sample\"\nsubjects = \"2-5\"\nexclude = \"3\"\nclasses = [\"feet\", \"left_hand\"]",
    )
    .unwrap();
    let about = some.dataset.about();
    assert_eq!(about.subjects(), ["2", "4", "5"]);
    assert_eq!(about.classes, ["feet", "left_hand"]);
    assert_eq!(some.dataset.excluded[0].subject, "3");
    // Labels still belong to their matrices.
    let (Content::Covariances(all), Content::Covariances(some)) =
        (&all.dataset.content, &some.dataset.content)
    else {
        panic!("not covariances")
    };
    let mut chosen = 0;
    for (trial, origin) in all.about.origins.iter().enumerate() {
        let class = &all.about.classes[origin.label];
        if ["2", "4", "5"].contains(&&*origin.subject) && (class == "feet" || class == "left_hand") {
            assert_eq!(some.matrix(chosen, 0), all.matrix(trial, 0));
            assert_eq!(&some.about.classes[some.about.origins[chosen].label], class);
            chosen += 1;
        }
    }
    assert_eq!(some.len(), chosen);
}

#[test]
fn what_is_not_there_is_named() {
    let cases = [
        (
            "[data]\nname = \"sample\"\nsubjects = \"11\"",
            "`data.subjects` names subject `11`, which has no trials",
            "available: 1, 2, 3, 4, 5, 6, 7, 8, 9, 10",
        ),
        (
            "[data]\nname = \"sample\"\nexclude = \"12\"",
            "`data.exclude` names subject `12`, which has no trials",
            "available: 1, 2, 3, 4, 5, 6, 7, 8, 9, 10",
        ),
        (
            "[data]\nname = \"sample\"\nclasses = [\"feet\", \"tongue\"]",
            "`data.classes` names `tongue`, which is not a class of the data",
            "available: feet, hands, left_hand, right_hand",
        ),
    ];
    for (text, message, hint) in cases {
        let found = fault(text);
        assert_eq!((found.0.as_str(), found.1.as_str()), (message, hint));
    }
    let (message, hint) = fault("[data]\nname = \"sample\"\n[model]\ndims = [65, 8]");
    assert_eq!(message, "`model.dims` begins with 65, but `sample` has 64 channels");
    assert!(hint.contains("at most"), "{hint}");
    let (message, _) = fault("[data]\nname = \"nowhere.npz\"");
    assert!(message.starts_with("nowhere.npz: "), "{message}");
}

/// ReEig would hide an invalid covariance, so both training and evaluation refuse it.
#[test]
fn matrices_that_are_no_covariances_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let sample = load("[data]\nname = \"sample\"\nsubjects = \"1-2\"").unwrap();
    let Content::Covariances(covariances) = &sample.dataset.content else { panic!("not covariances") };
    let save = |name: &str, change: &dyn Fn(&mut [f64])| {
        let mut numbers = covariances.matrices().to_vec();
        change(&mut numbers[7 * 64 * 64..8 * 64 * 64]);
        let (about, inputs) = (covariances.about.clone(), covariances.inputs.clone());
        Covariances::new(about, inputs, numbers).unwrap().save(&path(name)).unwrap();
        format!(
            "[data]\nname = \"{}\"\n[model]\ndims = [8]\n[federated]\nrounds = 1\nsubjects_per_client = 1",
            path(name).display()
        )
    };
    let zero = save("zero.npz", &|matrix| matrix.fill(0.0));
    let (message, hint) = fault(&zero);
    let begin = "`zero`: the matrix of trial 7 (subject 1, session ";
    assert!(message.starts_with(begin), "{message}");
    assert!(message.ends_with("is not a covariance: its eigenvalues range from 0.0e0 to 0.0e0"), "{message}");
    assert!(hint.contains("data.exclude"), "{hint}");
    let indefinite = save("indefinite.npz", &|matrix| matrix[65] = -matrix[65]);
    let (message, _) = fault(&indefinite);
    assert!(message.contains("its eigenvalues range from -"), "{message}");
    // An average reference loses one rank, and rounding may make that eigenvalue slightly negative.
    let average = save("average.npz", &|matrix| {
        for row in matrix.chunks_exact_mut(64) {
            let mean = row.iter().sum::<f64>() / 64.0;
            for x in row {
                *x -= mean;
            }
        }
        for column in 0..64 {
            let mean = (0..64).map(|row| matrix[row * 64 + column]).sum::<f64>() / 64.0;
            (0..64).for_each(|row| matrix[row * 64 + column] -= mean);
        }
        // In single precision, and symmetric.
        for (row, column) in (0..64).flat_map(|row| (0..=row).map(move |column| (row, column))) {
            let x = f64::from(matrix[row * 64 + column] as f32);
            (matrix[row * 64 + column], matrix[column * 64 + row]) = (x, x);
        }
    });
    run(&load(&average).unwrap(), "average", &path("run"), &mut ()).unwrap();
    let model = path("run/models/seed-0.safetensors");
    for name in ["zero.npz", "indefinite.npz"] {
        let refused = evaluate(&model, &path(name)).err().unwrap();
        assert!(matches!(refused, Error::NotCovariance { .. }), "{refused}");
    }
}

/// SPDnet reads files of covariances and refuses to align them twice. A trained model reads only
/// data of its kind.
#[test]
fn files_and_models_go_together_or_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let sample = load("[data]\nname = \"sample\"\nsubjects = \"1-4\"").unwrap();
    let Content::Covariances(covariances) = &sample.dataset.content else { panic!("not covariances") };
    covariances.save(&path("plain.npz")).unwrap();
    let mut aligned = covariances.clone();
    aligned.recentre(SpdMetric::AffineInvariant).unwrap();
    aligned.save(&path("aligned.npz")).unwrap();

    let text = |name: &str, more: &str| format!("[data]\nname = \"{}\"\n{more}", path(name).display());
    let plain = load(&text("plain.npz", "")).unwrap();
    assert_eq!(plain.dataset.name, "plain");
    assert_eq!(plain.dataset.sha256(), sample.dataset.sha256());
    assert_ne!(load(&text("aligned.npz", "")).unwrap().dataset.sha256(), sample.dataset.sha256());
    let (message, hint) = fault(&text("plain.npz", "[model]\nkind = \"eegnet\""));
    assert_eq!(message, "`plain` holds covariances, which EEGNet does not read");
    assert!(hint.contains("--trials"));
    assert_eq!(load(&text("aligned.npz", "")).unwrap().alignment(), "riemannian-all");
    let (message, _) = fault(&text("aligned.npz", "[align]\nkind = \"riemannian\""));
    assert_eq!(message, "`aligned` is already aligned (riemannian, on all trials)");

    let config = "[align]\nkind = \"riemannian\"\nfit = \"all\"\n[model]\ndims = [8]\nepsilon = 1e-3\n[federated]\nrounds = 3";
    let experiment = load(&text("plain.npz", config)).unwrap();
    let forecast = Forecast::new(&experiment).unwrap();
    assert_eq!((forecast.rounds, forecast.participants, forecast.parameters), (3, 2, 64 * 8 + 4 * 65));
    assert_eq!((forecast.shared, forecast.bytes_per_round), (772, 2 * 2 * 772 * 8));
    assert!(forecast.seconds > 0.0 && forecast.shards.clients.len() == 2);
    // Only the Karcher mean keeps replies: two, with 64 x 8 numbers each.
    for (aggregation, kept) in [("ret-avg", 0), ("karcher", 2 * 64 * 8 * 8)] {
        let kind = format!("{config}\naggregation = \"{aggregation}\"");
        let forecast = Forecast::new(&load(&text("plain.npz", &kind)).unwrap()).unwrap();
        assert_eq!(forecast.reply_bytes, kept, "{aggregation}");
    }
    run(&experiment, "model", &path("run"), &mut ()).unwrap();
    let model = path("run/models/seed-0.safetensors");
    let scores = evaluate(&model, &path("aligned.npz")).unwrap();
    assert_eq!((scores.confusion.total(), scores.subjects.len()), (360, 4));
    let again = evaluate(&model, &path("plain.npz")).unwrap();
    assert_eq!(again.confusion.counts(), scores.confusion.counts());
    assert_eq!(again.loss, scores.loss);
}

/// A model aligns and scales trials as in training, unless the file says that they are aligned.
#[test]
fn an_eegnet_aligns_and_scales_new_trials() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let made = "[data]\nname = \"generated\"\n[data.generated]\nsubjects = 4\ntrials = 24\nchannels = 6\nclasses = 3\nsamples = 128\nsfreq = 64\n\
                [model]\nkind = \"eegnet\"\n";
    let generated = load(made).unwrap();
    let Content::Trials(trials) = &generated.dataset.content else { panic!("not trials") };
    trials.save(&path("plain.npz")).unwrap();
    let mut aligned = trials.clone();
    aligned.align().unwrap();
    aligned.save(&path("aligned.npz")).unwrap();
    let text = |z_score: bool| {
        format!(
            "[data]\nname = \"{}\"\n[model]\nkind = \"eegnet\"\nz_score = {z_score}\n[align]\nkind = \"euclidean\"\nfit = \"all\"\n[federated]\nrounds = 2",
            path("plain.npz").display()
        )
    };
    for z_score in [true, false] {
        let name = format!("run-{z_score}");
        run(&load(&text(z_score)).unwrap(), "model", &path(&name), &mut ()).unwrap();
        let model = path(&name).join("models/seed-0.safetensors");
        let scores = evaluate(&model, &path("plain.npz")).unwrap();
        let again = evaluate(&model, &path("aligned.npz")).unwrap();
        // Files store trials in single precision.
        assert!((again.loss - scores.loss).abs() < 1e-6, "{} {}", again.loss, scores.loss);
        assert_eq!(again.confusion.counts(), scores.confusion.counts());
    }
}

/// Copies in two subjects are named in a warning, which is an event, and counted in the manifest.
#[test]
fn copies_in_two_subjects_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let sample = fedspd_eeg::sample::sample().unwrap();
    let (about, inputs) = (sample.about.clone(), sample.inputs.clone());
    let mut numbers = sample.into_matrices();
    let size = 64 * 64;
    for (from, to) in about.trials_of("2").into_iter().zip(about.trials_of("7")).take(30) {
        numbers.copy_within(from * size..(from + 1) * size, to * size);
    }
    let path = folder.path().join("copied.npz");
    Covariances::new(about, inputs, numbers).unwrap().save(&path).unwrap();
    let text = format!("[data]\nname = {path:?}\n[federated]\nrounds = 1\n[run]\nseeds = [0]\n");
    let (experiment, run_folder) = (load(&text).unwrap(), folder.path().join("run"));
    let mut warnings = Warnings::default();
    run(&experiment, "test", &run_folder, &mut warnings).unwrap();
    let expected = "subjects 2 and 7 share 30 trials: they are the same or nearly the same; leave one of each pair out with `data.exclude`";
    assert_eq!(warnings.0, [expected]);
    let events = EventLog::read(&run_folder.join("events.jsonl")).unwrap();
    assert!(events.contains(&Event::Warning { text: expected.into() }));
    let facts = Manifest::read(&run_folder.join("manifest.json")).unwrap().facts.unwrap();
    assert_eq!((facts.copied_pairs, facts.copied_trials), (1, 30));
    let without = load(&format!("[data]\nname = {path:?}\nexclude = \"7\"\n")).unwrap();
    assert_eq!(without.dataset.copies.trials, 0);
}

/// No trial of a person of `PhysionetMI` is taken for a copy, if its recordings are there.
#[test]
fn people_of_physionet_mi_are_no_copies() {
    if std::env::var_os("FEDSPD_DATA").is_none() {
        println!("skipped: FEDSPD_DATA is not set");
        return;
    }
    for network in ["spdnet", "eegnet"] {
        let text =
            format!("[data]\nname = \"physionet-mi\"\nsubjects = \"1-20\"\n[model]\nkind = \"{network}\"\n");
        match load(&text) {
            Ok(experiment) => assert_eq!(experiment.dataset.copies.trials, 0, "{network}"),
            Err(error) if error.is_missing_data() => println!("skipped: {error}"),
            Err(error) => panic!("{error}"),
        }
    }
}
