//! The built-in `PhysionetMI` on synthetic recordings: all 64 channels, six runs, no real data.

use std::path::Path;

use fedspd_eeg::dataset::definition;
use fedspd_eeg::filter::Band;
use fedspd_eeg::npz::NpzFile;
use fedspd_eeg::prepare::{Features, LeftOut, Plan, PlanOptions};
use fedspd_eeg::{Covariances, Definition, Error, Estimator};

use crate::support::edf::{Draft, list};
use crate::support::{distance, golden, noise};

const SECONDS: usize = 12;
const SFREQ: usize = 160;

/// A recording of noise with a rest and one trial of each class; `scale` is one digital step in
/// `unit`.
fn write(path: &Path, seed: u64, unit: &str, scale: f64) {
    write_at(SFREQ, path, seed, unit, scale);
}

/// The same at another rate.
fn write_at(sfreq: usize, path: &Path, seed: u64, unit: &str, scale: f64) {
    let mut draft = Draft::edf(SECONDS).kind("EDF+C");
    let samples: Vec<i32> = noise(seed, 64 * SECONDS * sfreq).iter().map(|x| (x * 100.0) as i32).collect();
    let names = definition("physionet-mi").unwrap().rename;
    assert_eq!(names.len(), 64);
    let physical = [-32768.0 * scale, 32767.0 * scale].map(|limit| format!("{limit:.6}")[..8].to_owned());
    for (label, samples) in names.keys().zip(samples.chunks(SECONDS * sfreq)) {
        draft = draft.scaled(label, unit.as_bytes(), [&physical[0], &physical[1]], [-32768, 32767], samples);
    }
    let note = |second: usize| {
        let mut notes = list(&format!("+{second}"), "", &[""]);
        for (at, text) in [(0, "T0"), (2, "T1"), (7, "T2")] {
            if at == second {
                notes.extend(list(&format!("+{at}"), "3", &[text]));
            }
        }
        notes
    };
    let notes: Vec<Vec<u8>> = (0..SECONDS).map(note).collect();
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, draft.annotations(&notes).bytes()).unwrap();
}

fn plan(root: &Path, definition: Definition) -> Plan {
    let options = PlanOptions { subjects: Some("1".parse().unwrap()), resample: false };
    Plan::new(definition, &[root.to_owned()], &options).unwrap()
}

fn one_run() -> Definition {
    let mut one_run = definition("physionet-mi").unwrap();
    one_run.runs = Some(vec!["4".into()]);
    one_run
}

#[test]
fn runs_come_in_the_order_of_moabb() {
    let folder = tempfile::tempdir().unwrap();
    for run in [4, 6, 8, 10, 12, 14] {
        write(&folder.path().join(format!("S001/S001R{run:02}.edf")), run, "uV", 1.0);
    }
    let plan = plan(folder.path(), definition("physionet-mi").unwrap());
    assert_eq!(plan.ignored["T0"], 6);
    let path = folder.path().join("out.npz");
    let features = Features::whole_trial(plan.definition().band);
    plan.save_covariances(&features, None, &path, &(), &mut Vec::new()).unwrap();
    let mut file = NpzFile::open(&path).unwrap();
    assert_eq!(file.integers("run").unwrap().values, [4, 4, 8, 8, 12, 12, 6, 6, 10, 10, 14, 14]);
    let classes = file.strings("classes").unwrap().values;
    let labels = file.integers("y").unwrap().values;
    let names: Vec<&str> = labels.iter().map(|&label| &*classes[label as usize]).collect();
    let (one, two) = (["left_hand", "right_hand"], ["hands", "feet"]);
    assert_eq!(names, [one, one, one, two, two, two].concat());
}

/// Covariances are in square microvolts, whatever the unit of the file, so the network's check for
/// volts finds nothing. (The network's tests cover its detection of volts.)
#[test]
fn recordings_in_other_units_give_the_same_covariances() {
    let folder = tempfile::tempdir().unwrap();
    let covariances = |unit: &str, scale: f64| -> Covariances {
        write(&folder.path().join("S001/S001R04.edf"), 4, unit, scale);
        let plan = plan(folder.path(), one_run());
        plan.covariances(&Features::whole_trial(plan.definition().band), None, &()).unwrap().0
    };
    let microvolts = covariances("uV", 1.0);
    assert_eq!(microvolts.about.unit, "uV^2");
    // Limits in the header have eight characters, of which volts use some for zeros.
    for (unit, scale, tolerance) in [("mV", 1e-3, 1e-9), ("V", 1e-6, 1e-3)] {
        let other = covariances(unit, scale);
        assert_eq!(other.about, microvolts.about);
        let far = distance(other.matrices(), microvolts.matrices());
        assert!(far < tolerance, "{unit}: {far:e}");
    }
}

/// Half a second of a band of one hertz: 80 samples of 64 channels, but about one independent
/// sample.
#[test]
fn a_narrow_band_over_a_short_window_is_named_as_the_cause() {
    let folder = tempfile::tempdir().unwrap();
    write(&folder.path().join("S001/S001R04.edf"), 4, "uV", 1.0);
    let plan = plan(folder.path(), one_run());
    // The broad band, whose covariances have full rank, comes first.
    let bands = vec![Band { low: 1.0, high: 79.0 }, Band { low: 10.0, high: 11.0 }];
    let features = Features { bands, windows: vec![[1.0, 1.5]], estimator: Estimator::Sample };
    let message = plan.covariances(&features, None, &()).unwrap_err().to_string();
    let start = "trial 0 (subject 1, session 0, run 4), 10-11 Hz, 1-1.5 s has a covariance of rank ";
    assert!(message.starts_with(start), "{message}");
    let end = "its band and window leave about 1.0 degrees of freedom; 1 more of 4 covariances is not positive definite";
    assert!(message.ends_with(end), "{message}");
}

/// A subject recorded at 128 Hz is excluded with the measured rate. On explicit request it is
/// refused, or resampled.
#[test]
fn subject_88_is_excluded_with_its_rate() {
    let folder = tempfile::tempdir().unwrap();
    let path = |subject: &str| folder.path().join(format!("{subject}/{subject}R04.edf"));
    write(&path("S001"), 1, "uV", 1.0);
    write_at(128, &path("S088"), 88, "uV", 1.0);
    let plan = |definition: Definition, subjects: &str, resample: bool| -> Result<Plan, Error> {
        let options = PlanOptions { subjects: Some(subjects.parse().unwrap()), resample };
        Plan::new(definition, &[folder.path().to_owned()], &options)
    };
    let both = plan(one_run(), "1,88", false).unwrap();
    let reason = "recorded at 128 Hz instead of 160 Hz".to_owned();
    assert_eq!(both.left_out, [LeftOut { subject: "88".into(), reason, measured_sfreq: Some(128.0) }]);
    assert_eq!((both.about("uV").subjects(), both.trials()), (vec!["1"], 2));

    let alone = plan(one_run(), "88", false).unwrap_err();
    assert_eq!(
        alone.to_string(),
        "subject 88 is left out: recorded at 128 Hz instead of 160 Hz (measured: 128 Hz)"
    );
    assert_eq!(alone.hint().unwrap(), "--resample accepts recordings at another rate");
    let refused = plan(Definition { excluded: Vec::new(), ..one_run() }, "88", false).unwrap_err();
    let name = path("S088").display().to_string();
    assert_eq!(
        refused.to_string(),
        format!(
            "{name}: sampled at 128 Hz instead of 160 Hz (a trial would have 385 samples instead of 481)"
        )
    );
    let resampled = plan(one_run(), "1,88", true).unwrap();
    assert!(resampled.left_out.is_empty());
    let trials = resampled.all_trials(resampled.definition().band, &()).unwrap();
    assert_eq!((trials.about.subjects(), trials.len(), trials.length()), (vec!["1", "88"], 4, 481));
}

/// The recordings of `real-events.csv` with the published rates, lengths and annotations, and one
/// channel of zeros.
fn write_published(folder: &Path) {
    let table = std::fs::read_to_string(golden("eeg/real-events.csv")).unwrap();
    let rows: Vec<Vec<&str>> = table.lines().skip(1).map(|row| row.split(',').collect()).collect();
    for run in rows.chunk_by(|a, b| a[..4] == b[..4]) {
        let [subject, name, sfreq, seconds] = [0, 1, 2, 3].map(|column| run[0][column].parse().unwrap());
        let notes = |second: usize| {
            let mut notes = list(&format!("+{second}"), "", &[""]);
            for row in run.iter().filter(|row| row[4].parse::<f64>().unwrap() as usize == second) {
                notes.extend(list(&format!("+{}", row[4]), row[5], &[row[6]]));
            }
            notes
        };
        let draft = Draft::edf(seconds).kind("EDF+C").signal("C3..", b"uV", &vec![0; sfreq * seconds]);
        let notes: Vec<Vec<u8>> = (0..seconds).map(notes).collect();
        let path = folder.join(format!("S{subject:03}/S{subject:03}R{name:02}.edf"));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, draft.annotations(&notes).bytes()).unwrap();
    }
}

/// With the published annotations, subject 1 has 90 trials and subject 104 has 88, 21 to 24 of each
/// class. Three subjects are excluded for their rate.
#[test]
fn published_annotations_give_the_known_numbers_of_trials() {
    let folder = tempfile::tempdir().unwrap();
    write_published(folder.path());
    let mut one_channel = definition("physionet-mi").unwrap();
    one_channel.channels = Some(vec!["C3".into()]);
    let options = PlanOptions { subjects: Some("1,88,92,100,104".parse().unwrap()), resample: false };
    let plan = Plan::new(one_channel, &[folder.path().to_owned()], &options).unwrap();
    let about = plan.about("uV");
    assert_eq!(about.subjects(), ["1", "104"]);
    for (subject, expected) in [("1", 90), ("104", 88)] {
        let mut counts = [0; 4];
        for trial in about.trials_of(subject) {
            counts[about.origins[trial].label] += 1;
        }
        assert_eq!(counts.iter().sum::<usize>(), expected, "subject {subject}: {counts:?}");
        assert!(counts.iter().all(|count| (21..=24).contains(count)), "subject {subject}: {counts:?}");
    }
    assert!(plan.dropped.is_empty(), "{:?}", plan.dropped);
    let left_out = ["88", "92", "100"].map(|subject| LeftOut {
        subject: subject.into(),
        reason: "recorded at 128 Hz instead of 160 Hz".into(),
        measured_sfreq: Some(128.0),
    });
    assert_eq!(plan.left_out, left_out);
}
