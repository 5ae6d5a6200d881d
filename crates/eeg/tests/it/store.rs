//! Prepared data on disk: what is written comes back, NumPy reads it, and what does not fit is refused.

use std::path::Path;

use fedspd_eeg::npz::NpzWriter;
use fedspd_eeg::store::{Prepared, load};
use fedspd_eeg::{Covariances, MICROVOLTS, Trials};

use crate::covariance::about;
use crate::support::noise;

fn covariances(inputs: usize) -> Covariances {
    let (n, trials) = (3, 4);
    let mut about = about(n, trials);
    about.origins[2].subject = "12".into();
    about.origins[3].run = "R2".into();
    let names = (0..inputs).map(|input| format!("band {input}")).collect();
    Covariances::new(about, names, noise(1, trials * inputs * n * n)).unwrap()
}

#[test]
fn covariances_come_back_as_they_were() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("covariances.npz");
    for inputs in [1, 3] {
        let covariances = covariances(inputs);
        covariances.save(&path).unwrap();
        assert_eq!(load(&path).unwrap(), Prepared::Covariances(covariances));
    }
}

#[test]
fn trials_come_back_in_single_precision() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trials.npz");
    let mut about = about(2, 3);
    about.unit = MICROVOLTS.into();
    let samples: Vec<f64> = noise(2, 3 * 5 * 2).iter().map(|&x| f64::from(x as f32)).collect();
    let trials = Trials::new(about, 5, samples).unwrap();
    trials.save(&path).unwrap();
    assert_eq!(load(&path).unwrap(), Prepared::Trials(trials));
}

#[test]
fn the_same_data_are_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let [a, b] = ["a.npz", "b.npz"].map(|name| folder.path().join(name));
    covariances(2).save(&a).unwrap();
    covariances(2).save(&b).unwrap();
    assert_eq!(std::fs::read(a).unwrap(), std::fs::read(b).unwrap());
}

/// Arrays of a sound file, of which a test changes or leaves out some.
struct Arrays {
    x: (Vec<usize>, Vec<f64>),
    y: Vec<i64>,
    subject: Vec<i64>,
    channels: Vec<&'static str>,
    sfreq: Vec<f64>,
    unit: &'static str,
    kind: Option<&'static str>,
    without: &'static str,
}

fn arrays() -> Arrays {
    Arrays {
        x: (vec![2, 3, 3], vec![1.0; 18]),
        y: vec![0, 1],
        subject: vec![7, 7],
        channels: vec!["C3", "Cz", "C4"],
        sfreq: vec![160.0],
        unit: "uV^2",
        kind: None,
        without: "",
    }
}

impl Arrays {
    fn write(&self, path: &Path) {
        let mut writer = NpzWriter::create(path).unwrap();
        let one = |name: &str| name != self.without;
        if one("X") {
            writer.floats("X", &self.x.0, &self.x.1).unwrap();
        }
        if one("y") {
            writer.integers("y", &[self.y.len()], &self.y).unwrap();
        }
        for name in ["subject", "session", "run"].into_iter().filter(|name| one(name)) {
            writer.integers(name, &[self.subject.len()], &self.subject).unwrap();
        }
        if one("classes") {
            writer.strings("classes", &[2], &["left", "right"]).unwrap();
        }
        if one("channels") {
            writer.strings("channels", &[self.channels.len()], &self.channels).unwrap();
        }
        if one("sfreq") {
            writer.floats("sfreq", &[self.sfreq.len()], &self.sfreq).unwrap();
        }
        if one("unit") {
            writer.strings("unit", &[], &[self.unit]).unwrap();
        }
        if let Some(kind) = self.kind {
            writer.strings("kind", &[], &[kind]).unwrap();
        }
        writer.finish().unwrap();
    }
}

/// A change to sound arrays, and what is said about it.
type Case<'a> = (&'a dyn Fn(&mut Arrays), String);

#[test]
fn arrays_that_do_not_fit_are_refused_with_their_fault() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.npz");
    let message = |change: &dyn Fn(&mut Arrays)| {
        let mut arrays = arrays();
        change(&mut arrays);
        arrays.write(&path);
        let message = load(&path).unwrap_err().to_string();
        message.strip_prefix(&format!("{}: ", path.display())).unwrap().to_owned()
    };
    arrays().write(&path);
    assert!(matches!(load(&path).unwrap(), Prepared::Covariances(_)));
    for name in ["X", "y", "subject", "session", "run", "classes", "channels", "sfreq", "unit"] {
        assert_eq!(message(&|a| a.without = name), format!("there is no array `{name}`"));
    }
    let shape = "it must be 2 x 3 x 3, or 2 x inputs x 3 x 3";
    let cases: [Case<'_>; 10] = [
        (&|a| a.x = (vec![2, 4, 4], vec![1.0; 32]), format!("`X` has the shape [2, 4, 4]; {shape}")),
        (&|a| a.x = (vec![18], vec![1.0; 18]), "`X` has the shape [18]; it must be 2 x 3 x samples".into()),
        (&|a| a.x = (vec![2, 0, 3, 3], vec![]), format!("`X` has the shape [2, 0, 3, 3]; {shape}")),
        (
            &|a| a.y = vec![0, 2],
            "`y` has the label 2 at trial 1, but there are 2 classes (counted from 0)".into(),
        ),
        (
            &|a| a.y = vec![-1, 0],
            "`y` has the label -1 at trial 0, but there are 2 classes (counted from 0)".into(),
        ),
        (&|a| a.subject = vec![7], "`subject` has the shape [1]; it must be one per trial, 2".into()),
        (&|a| a.x.1[10] = f64::NAN, "`X` has NaN in trial 1".into()),
        (&|a| a.sfreq = vec![0.0], "`sfreq` is 0; it must be positive".into()),
        (&|a| a.unit = "V^2", "`unit` is \"V^2\"; it must be uV^2, or 1 for none".into()),
        (
            &|a| a.kind = Some("epochs"),
            "`kind` is \"epochs\"; it must be \"trials\" or \"covariances\"".into(),
        ),
    ];
    for (change, expected) in cases {
        assert_eq!(message(change), expected);
    }
}
