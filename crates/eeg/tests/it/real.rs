//! Real recordings of PhysionetMI in `FEDSPD_DATA`: the trials of all present subjects, and
//! subjects 1 to 10 compared with MNE and pyRiemann.

use std::path::{Path, PathBuf};
use std::process::Command;

use fedspd_eeg::dataset::definition;
use fedspd_eeg::fetch::{Environment, Locations};
use fedspd_eeg::prepare::{Features, LeftOut, Plan, PlanOptions};
use fedspd_eeg::{Covariances, Definition, Estimator};
use fedspd_manifold::{SpectralFunction, SpectralMap};

use crate::support::array;

const ARCHIVE: &str = "physionet-mi-s001-s010-imagery.tar.xz";

/// The folder with the recordings, unpacked if necessary; `None` without `FEDSPD_DATA`. If the
/// variable is set, missing recordings are a failure.
fn recordings() -> Option<(Option<tempfile::TempDir>, PathBuf)> {
    let root = PathBuf::from(std::env::var_os("FEDSPD_DATA")?);
    let roots = physionet().roots(&Locations::new(Some(&root), &Environment::default()));
    if let Some(folder) = roots.into_iter().find(|folder| !present(folder).is_empty()) {
        return Some((None, folder));
    }
    let archive = root.join(ARCHIVE);
    assert!(archive.is_file(), "FEDSPD_DATA is {}: there are no recordings and no {ARCHIVE}", root.display());
    let folder = tempfile::tempdir().unwrap();
    let unpacked =
        Command::new("tar").arg("-xJf").arg(archive).arg("-C").arg(folder.path()).status().unwrap();
    let path = folder.path().to_owned();
    assert!(unpacked.success() && !present(&path).is_empty());
    Some((Some(folder), path))
}

fn physionet() -> Definition {
    definition("physionet-mi").unwrap()
}

/// The subjects with a folder.
fn present(root: &Path) -> Vec<String> {
    let folder = |subject: &String| root.join(format!("S{subject:0>3}"));
    let all = physionet().subjects.unwrap().ids().to_vec();
    all.into_iter().filter(|subject| folder(subject).is_dir()).collect()
}

/// Every subject has 90 trials, 21 to 24 of each class; subject 104 has 88. Three subjects are
/// excluded for their rate.
#[test]
fn every_subject_has_its_trials() {
    let Some((_folder, root)) = recordings() else { return };
    let there = present(&root);
    let (slow, ordinary): (Vec<&String>, Vec<&String>) =
        there.iter().partition(|subject| ["88", "92", "100"].contains(&subject.as_str()));
    let options = PlanOptions { subjects: Some(there.join(",").parse().unwrap()), resample: false };
    let plan = Plan::new(physionet(), &[root], &options).unwrap();
    let about = plan.about("uV");
    assert_eq!(about.subjects(), ordinary);
    for subject in ordinary {
        let mut counts = [0; 4];
        for trial in about.trials_of(subject) {
            counts[about.origins[trial].label] += 1;
        }
        let expected = if subject == "104" { 88 } else { 90 };
        assert_eq!(counts.iter().sum::<usize>(), expected, "subject {subject}: {counts:?}");
        assert!(counts.iter().all(|count| (21..=24).contains(count)), "subject {subject}: {counts:?}");
    }
    assert!(plan.dropped.is_empty(), "{:?}", plan.dropped);
    let left_out = |subject: &&String| LeftOut {
        subject: (*subject).clone(),
        reason: "recorded at 128 Hz instead of 160 Hz".into(),
        measured_sfreq: Some(128.0),
    };
    assert_eq!(plan.left_out, slow.iter().map(left_out).collect::<Vec<_>>());
}

/// Trace and log-determinant of every matrix.
fn numbers(covariances: &Covariances) -> Vec<[f64; 2]> {
    let n = covariances.about.channels.len();
    let (mut map, mut log) = (SpectralMap::new(n).unwrap(), vec![0.0; n * n]);
    let trace = |matrix: &[f64]| matrix.iter().step_by(n + 1).sum::<f64>();
    let both = |matrix: &[f64]| {
        map.apply(SpectralFunction::Log, matrix, &mut log).unwrap();
        [trace(matrix), trace(&log)]
    };
    covariances.matrices().chunks_exact(n * n).map(both).collect()
}

#[test]
fn ten_subjects_equal_mne_and_pyriemann() {
    let Some((_folder, root)) = recordings() else { return };
    let options = PlanOptions { subjects: Some("1-10".parse().unwrap()), resample: false };
    let plan = Plan::new(physionet(), &[root], &options).unwrap();
    let band = plan.definition().band;
    assert_eq!((plan.trials(), plan.dropped.len()), (900, 0));

    let (_, labels) = array::<i64>("eeg", "real-labels");
    let origins = &plan.about("uV").origins;
    for (origin, row) in origins.iter().zip(labels.chunks_exact(3)) {
        assert_eq!((origin.subject.parse(), origin.run.parse()), (Ok(row[0]), Ok(row[1])));
        assert_eq!(i64::try_from(origin.label), Ok(row[2]));
    }
    for subject in plan.about("uV").subjects() {
        for class in 0..4 {
            let count = origins.iter().filter(|o| o.subject == subject && o.label == class).count();
            assert!((21..=24).contains(&count), "subject {subject} has {count} of class {class}");
        }
    }
    let (_, expected) = array::<f64>("eeg", "real-numbers");
    for (column, estimator) in [(0, Estimator::Sample), (2, Estimator::Oas)] {
        let features = Features { estimator, ..Features::whole_trial(band) };
        let (covariances, _) = plan.covariances(&features, None, &()).unwrap();
        for (ours, row) in numbers(&covariances).iter().zip(expected.chunks_exact(4)) {
            for (ours, expected) in ours.iter().zip(&row[column..column + 2]) {
                assert!((ours - expected).abs() < 1e-9 * expected.abs(), "{ours} and {expected}");
            }
        }
    }
}

/// The eight covariances of another golden case, computed by MNE alone.
#[test]
fn eight_trials_equal_mne_entry_by_entry() {
    let Some((_folder, root)) = recordings() else { return };
    let (_, expected) = array::<f64>("covariances", "covariances");
    let options = PlanOptions { subjects: Some("1,7".parse().unwrap()), resample: false };
    let plan = Plan::new(physionet(), &[root], &options).unwrap();
    let (ours, _) = plan.covariances(&Features::whole_trial(plan.definition().band), None, &()).unwrap();
    let about = &ours.about;
    for (subject, start) in [("1", 0), ("7", 4)] {
        for (place, class) in ["left_hand", "right_hand", "hands", "feet"].iter().enumerate() {
            let run = if place < 2 { "4" } else { "6" };
            let first = about
                .origins
                .iter()
                .position(|o| o.subject == subject && o.run == run && about.classes[o.label] == *class)
                .unwrap();
            let golden = &expected[(start + place) * 64 * 64..(start + place + 1) * 64 * 64];
            assert!(crate::support::distance(ours.matrix(first, 0), golden) < 1e-11);
        }
    }
}
