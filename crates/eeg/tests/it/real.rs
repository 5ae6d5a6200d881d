//! Real recordings, where `FEDSPD_DATA` says they are: subjects 1 to 10 of PhysionetMI against MNE and pyRiemann.

use std::path::PathBuf;
use std::process::Command;

use fedspd_eeg::dataset::definition;
use fedspd_eeg::prepare::{Features, Plan, PlanOptions};
use fedspd_eeg::{Covariances, Estimator};
use fedspd_manifold::{SpectralFunction, SpectralMap};

use crate::support::array;

const ARCHIVE: &str = "physionet-mi-s001-s010-imagery.tar.xz";

/// The folder with the recordings, unpacked if need be; nothing without `FEDSPD_DATA`.
fn recordings() -> Option<(Option<tempfile::TempDir>, PathBuf)> {
    let root = PathBuf::from(std::env::var_os("FEDSPD_DATA")?);
    if root.join("S001/S001R04.edf").is_file() {
        return Some((None, root));
    }
    if !root.join(ARCHIVE).is_file() {
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let unpacked = Command::new("tar")
        .arg("-xJf")
        .arg(root.join(ARCHIVE))
        .arg("-C")
        .arg(folder.path())
        .status()
        .unwrap();
    assert!(unpacked.success());
    let path = folder.path().to_owned();
    Some((Some(folder), path))
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
    let plan = Plan::new(definition("physionet-mi").unwrap(), &[root], &options).unwrap();
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

/// The eight covariances of another golden case, which were made by MNE alone.
#[test]
fn eight_trials_equal_mne_entry_by_entry() {
    let Some((_folder, root)) = recordings() else { return };
    let (_, expected) = array::<f64>("covariances", "covariances");
    let options = PlanOptions { subjects: Some("1,7".parse().unwrap()), resample: false };
    let plan = Plan::new(definition("physionet-mi").unwrap(), &[root], &options).unwrap();
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
