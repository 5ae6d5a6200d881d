//! Preparations: each field changed alone, at each place where data meet a model or other data.

use std::path::PathBuf;

use fedspd_eeg::{Alignment, AlignmentFit, Branch, Covariances, Making, NO_UNIT};
use fedspd_experiment::config::Config;
use fedspd_experiment::remote::{Coordinator, Site};
use fedspd_experiment::{
    Calibration, Content, Ended, Error, Experiment, NewData, Observer, Predictor, Resumable, RoundProgress,
    run,
};
use tempfile::TempDir;

use crate::remote::policy;

/// Covariances of two subjects with 8 channels, whose preparation is known.
fn base() -> Covariances {
    let text = "data.name = 'generated'\nmodel.dims = [4]\n\
                data.generated = { subjects = 2, trials = 24, channels = 8, classes = 3 }";
    let experiment = Experiment::new(Config::parse(text, "base.toml", &[]).unwrap(), &()).unwrap();
    let Content::Covariances(mut covariances) = experiment.dataset.content else { panic!("trials") };
    let branch = Branch {
        band: Some([8.0, 32.0].into()),
        filter: Some(fedspd_eeg::IIR.into()),
        window: Some([0.0, 3.0]),
        samples: Some(481),
        centred: Some(true),
        estimator: Some("sample".into()),
        ..Branch::default()
    };
    covariances.about.making =
        Making { reference: Some("linked ears".into()), branches: vec![branch], recipe: None };
    covariances
}

/// One field changed alone.
struct Change {
    field: &'static str,
    apply: fn(&mut Covariances),
    /// The values of both sides in messages.
    values: [&'static str; 2],
    /// The note of places that convert the data; none if every place refuses them.
    converted: Option<&'static str>,
}

fn first(covariances: &mut Covariances) -> &mut Branch {
    &mut covariances.about.making.branches[0]
}

/// Puts the last channel first, in names and matrices.
fn turn(covariances: &mut Covariances) {
    let n = covariances.about.channels.len();
    let order: Vec<usize> = (0..n).map(|place| (place + n - 1) % n).collect();
    let mut about = covariances.about.clone();
    about.channels = order.iter().map(|&place| about.channels[place].clone()).collect();
    let turned = |matrix: &[f64]| -> Vec<f64> {
        order.iter().flat_map(|&row| order.iter().map(move |&column| matrix[row * n + column])).collect()
    };
    let matrices = covariances.matrices().chunks_exact(n * n).flat_map(turned).collect();
    *covariances = Covariances::new(about, covariances.inputs.clone(), matrices).unwrap();
}

fn changes() -> Vec<Change> {
    let refused = |field, apply, values| Change { field, apply, values, converted: None };
    vec![
        refused("channels", |c| c.about.channels[2] = "C7".into(), ["channel 3", "C7"]),
        Change {
            field: "order of channels",
            apply: turn,
            values: ["channel 1", "channel 8"],
            converted: Some("channels are reordered by name"),
        },
        refused("sampling rate", |c| c.about.sfreq = 250.0, ["160 Hz", "250 Hz"]),
        refused("reference", |c| c.about.making.reference = Some("Cz".into()), ["linked ears", "Cz"]),
        refused("band", |c| first(c).band = Some([1.0, 40.0].into()), ["8-32 Hz", "1-40 Hz"]),
        refused("filter", |c| first(c).filter = Some("FIR".into()), ["Butterworth", "FIR"]),
        refused("window", |c| first(c).window = Some([0.5, 2.5]), ["0-3 s", "0.5-2.5 s"]),
        refused("samples", |c| first(c).samples = Some(480), ["481", "480"]),
        refused("centring", |c| first(c).centred = Some(false), ["channel means removed", "none"]),
        refused("estimator", |c| first(c).estimator = Some("oas".into()), ["sample", "oas"]),
        refused(
            "inputs per trial",
            |c| {
                let matrices = c.matrices().chunks_exact(64).flat_map(|matrix| [matrix, matrix].concat());
                let mut about = c.about.clone();
                let branch = about.making.branches[0].clone();
                about.making.branches.push(branch);
                *c = Covariances::new(about, vec!["a".into(), "b".into()], matrices.collect()).unwrap();
            },
            ["1", "2"],
        ),
        refused("unit", |c| c.about.unit = NO_UNIT.into(), ["uV^2", "1"]),
        refused("z-score", |c| first(c).z_score = true, ["no", "yes"]),
        refused("alignment", |c| first(c).alignment = Some(Alignment::Riemannian), ["none", "riemannian"]),
        Change {
            field: "order of classes",
            apply: |c| c.about.classes.rotate_left(1),
            values: ["class 1", "class 2"],
            converted: Some("classes are reordered by name"),
        },
        refused(
            "classes",
            |c| c.about.classes = ["x", "y", "z"].map(String::from).to_vec(),
            ["class 1", "x"],
        ),
    ]
}

struct Files {
    folder: TempDir,
}

impl Files {
    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn config(&self, name: &str, more: &str) -> Config {
        let text = format!(
            "data.name = '{}'\nmodel.dims = [4]\nfederated.rounds = 2\nfederated.subjects_per_client = 1\n\
             train.scheduler = 'constant'\nrun.threads = 1\n{more}",
            self.path(name).display()
        );
        Config::parse(&text, "test.toml", &[]).unwrap()
    }
}

/// Stops after one round, and collects warnings.
#[derive(Default)]
struct Stop(bool);

impl Observer for Stop {
    fn round(&mut self, _: &RoundProgress) {
        self.0 = true;
    }

    fn warning(&mut self, _: &str) {}

    fn interrupted(&self) -> bool {
        self.0
    }
}

/// The outcome at a place: notes of a conversion, or the refusal.
type Outcome = Result<Vec<String>, Error>;

fn at_eval(files: &Files) -> Outcome {
    let data = NewData::new(files.path("changed.npz").to_string_lossy());
    let model = Predictor::load(&files.path("done/models/seed-0.safetensors")).unwrap();
    Ok(model.predict(&data, Calibration::All, &())?.notes)
}

fn at_resume(files: &Files, base: &Covariances, changed: &Covariances) -> Outcome {
    let folder = files.path("begun");
    base.save(&files.path("moving.npz")).unwrap();
    let experiment = Experiment::new(files.config("moving.npz", ""), &()).unwrap();
    let (_, ended) = run(&experiment, "begun", &folder, &mut Stop::default()).unwrap();
    assert!(matches!(ended, Ended::Interrupted { .. }));
    changed.save(&files.path("moving.npz")).unwrap();
    let opened = Resumable::open(&folder, |_| (), &()).map(|_| Vec::new());
    std::fs::remove_dir_all(&folder).unwrap();
    opened
}

fn at_run(files: &Files) -> Outcome {
    let like = format!("data.like = '{}'", files.path("base.npz").display());
    Ok(Experiment::new(files.config("changed.npz", &like), &())?.dataset.notes)
}

fn at_introduction(files: &Files) -> Outcome {
    let site = |number: u32, name: &str| -> Result<_, Error> {
        let state = files.path(&format!("state-{number}"));
        let policy = policy(number, &format!("[data]\nname = '{}'\n", files.path(name).display()));
        Site::asked(&policy, &state, &files.config(name, "").to_toml(), &(), &mut ())?.introduce()
    };
    let introductions = vec![site(0, "base.npz")?, site(1, "changed.npz")?];
    let config = files.config("base.npz", "");
    let opened = Coordinator::open(config, "study", &files.path("study"), introductions, 1, &mut ());
    let outcome = opened.map(|_| Vec::new());
    let _ = std::fs::remove_dir_all(files.path("study"));
    outcome
}

fn words(outcome: &Outcome) -> String {
    match outcome {
        Ok(notes) => notes.join("; "),
        Err(error) => error.to_string(),
    }
}

/// Every field, changed alone, at every place: the place refuses the data with the field and both
/// values, or converts them with a note.
#[test]
fn each_field_at_each_place() {
    let files = Files { folder: tempfile::tempdir().unwrap() };
    let base = base();
    base.save(&files.path("base.npz")).unwrap();
    run(&Experiment::new(files.config("base.npz", ""), &()).unwrap(), "done", &files.path("done"), &mut ())
        .unwrap();
    for Change { field, apply, values, converted } in changes() {
        let mut changed = base.clone();
        apply(&mut changed);
        changed.save(&files.path("changed.npz")).unwrap();
        let places = [
            ("eval", at_eval(&files)),
            ("resume", at_resume(&files, &base, &changed)),
            ("run", at_run(&files)),
            ("Flower", at_introduction(&files)),
        ];
        for (place, outcome) in places {
            let words = words(&outcome);
            println!("{field:>18} | {place:>6} | {words}");
            let converts = ["eval", "run"].contains(&place);
            match (&outcome, converted.filter(|_| converts)) {
                (Ok(notes), Some(note)) => {
                    assert!(notes.iter().any(|found| found.contains(note)), "{field}, {place}: {words}");
                }
                (Err(_), None) => {
                    let shown = values.iter().all(|value| words.contains(value)) || field == "classes";
                    assert!(words.contains(field) || field == "channels", "{field}, {place}: {words}");
                    assert!(shown || words.contains("lacks a channel"), "{field}, {place}: {words}");
                }
                _ => panic!("{field}, {place}: {words}"),
            }
            if place == "Flower" && converted.is_none() {
                assert!(words.contains("client 2"), "{words}");
            }
        }
    }
}

/// Data that were aligned on other trials are evaluated with a note.
#[test]
fn another_fit_of_the_alignment_is_noted() {
    let files = Files { folder: tempfile::tempdir().unwrap() };
    let mut covariances = base();
    covariances.save(&files.path("base.npz")).unwrap();
    let config = files.config("base.npz", "align.kind = 'riemannian'");
    run(&Experiment::new(config, &()).unwrap(), "done", &files.path("done"), &mut ()).unwrap();
    covariances.recentre(fedspd_manifold::SpdMetric::AffineInvariant).unwrap();
    assert_eq!(covariances.about.making.branches[0].fit, Some(AlignmentFit::All));
    covariances.save(&files.path("changed.npz")).unwrap();
    let notes = at_eval(&files).unwrap();
    assert!(notes.iter().any(|note| note.contains("on all trials of each subject")), "{notes:?}");
}

/// Keys that describe the preparation are compared with prepared data.
#[test]
fn keys_of_the_configuration_are_compared_with_prepared_data() {
    let files = Files { folder: tempfile::tempdir().unwrap() };
    base().save(&files.path("base.npz")).unwrap();
    let fault = |more: &str| {
        let loaded = Experiment::new(files.config("base.npz", more), &());
        loaded.map_or_else(|error| error.to_string(), |_| String::new())
    };
    for same in ["", "data.band = [8, 32]", "data.window = [0, 3]", "covariance.windows = [[0, 3]]"] {
        assert_eq!(fault(same), "", "{same}");
    }
    for (key, expected) in [
        ("data.band = [1, 40]", "base: band is 8-32 Hz, but the configuration has 1-40 Hz"),
        ("data.window = [0, 2]", "base: window is 0-3 s, but the configuration has 0-2 s"),
        ("covariance.estimator = 'oas'", "base: estimator is sample, but the configuration has oas"),
        ("covariance.windows = [[0, 1], [1, 3]]", "base: inputs per trial is 1, but the configuration has 2"),
        (
            "covariance.bands = [[8, 12], [12, 32]]",
            "base: inputs per trial is 1, but the configuration has 2",
        ),
    ] {
        assert_eq!(fault(key), expected);
    }
}

/// A file without its preparation gives one warning.
#[test]
fn an_older_file_gives_one_warning() {
    let files = Files { folder: tempfile::tempdir().unwrap() };
    let mut covariances = base();
    covariances.about.making = Making::default();
    covariances.save(&files.path("base.npz")).unwrap();
    let notes = Experiment::new(files.config("base.npz", ""), &()).unwrap().dataset.notes;
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(notes[0].ends_with("what they do not say is not compared"), "{}", notes[0]);
}
