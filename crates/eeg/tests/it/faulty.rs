//! Readable signals that cannot be used: errors name the file or the trial.

use std::path::Path;

use fedspd_eeg::prepare::{Features, Plan, PlanOptions};
use fedspd_eeg::{Covariances, Definition, Error, Quality, Trials};

use crate::covariance::about;
use crate::support::edf::{Draft, list};
use crate::support::mat::{dims, doubles, file, flags, matrix, name, vector};
use crate::support::noise;

/// Two trials of 300 samples of three channels at 200 Hz, of which the second and third channel are
/// requested.
fn matlab(folder: &Path, data: &[Vec<u8>]) -> Result<Trials, Error> {
    write_matlab(&folder.join("1.mat"), data);
    let plan = plan_of_matlab(folder)?;
    plan.all_trials(plan.definition().band, &())
}

fn write_matlab(path: &Path, data: &[Vec<u8>]) {
    // Doubles, and complex if there are two parts.
    let flags = flags(if data.len() == 2 { 0x0806 } else { 6 });
    let data = matrix(&[&[flags, dims(&[3, 300, 2]), name("data")], data].concat());
    std::fs::write(path, file(&[vector("label", &[1.0, 2.0]), data])).unwrap();
}

const MATLAB: &str = r#"
        name = "mine"
        format = "mat"
        files = "{subject}.mat"
        sfreq = 200
        unit = "uV"
        interval = [0, 1]
        band = [8, 32]
        channels = ["Pz", "C4"]
        rename = { "C4." = "C4" }
        events = [{ classes = { 1 = "one", 2 = "two" } }]
        mat = { data = "data", labels = "label", channels = ["C3", "C4.", "Pz"], padding = 50 }
    "#;

fn plan_of_matlab(folder: &Path) -> Result<Plan, Error> {
    let mine = Definition::parse(Path::new("mine.toml"), MATLAB)?;
    Plan::new(mine, &[folder.to_owned()], &PlanOptions::default())
}

#[test]
fn pauses_of_any_length_are_refused() {
    for padding in ["10001", "100000000000", "9223372036854775807"] {
        let text = MATLAB.replace("padding = 50", &format!("padding = {padding}"));
        let error = Definition::parse(Path::new("mine.toml"), &text).unwrap_err().to_string();
        assert_eq!(error, format!("mine.toml: `padding` is {padding} samples; it must be at most 10000"));
    }
}

/// Labels are not read unless there are as many as trials: a small file could declare millions.
#[test]
fn labels_are_counted_before_they_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let data = matrix(&[flags(6), dims(&[3, 300, 2]), name("data"), doubles(&noise(1, 3 * 300 * 2))]);
    let path = folder.path().join("1.mat");
    std::fs::write(&path, file(&[vector("label", &[1.0; 5]), data])).unwrap();
    let error = plan_of_matlab(folder.path()).unwrap_err();
    assert_eq!(error.to_string(), format!("{}: `label` has 5 labels for 2 trials", path.display()));
}

#[test]
fn complex_signals_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let part = doubles(&noise(1, 3 * 300 * 2));
    assert_eq!(matlab(folder.path(), std::slice::from_ref(&part)).unwrap().len(), 2);
    let error = matlab(folder.path(), &[part.clone(), part]).unwrap_err().to_string();
    assert!(error.starts_with(&format!("{}: ", folder.path().join("1.mat").display())), "{error}");
    assert!(error.contains("`data`") && error.contains("complex"), "{error}");
}

/// A NaN is reported at its own sample, before the mean of the trial spreads it. Channels that are
/// not requested may hold any value.
#[test]
fn a_nan_is_named_with_its_trial_sample_and_channel() {
    let folder = tempfile::tempdir().unwrap();
    let with = |trial: usize, sample: usize, channel: usize, value: f64| {
        let mut values = noise(1, 3 * 300 * 2);
        values[(trial * 300 + sample) * 3 + channel] = value;
        matlab(folder.path(), &[doubles(&values)])
    };
    assert!(with(1, 7, 0, f64::NAN).is_ok());
    for (trial, sample, channel, value, expected) in [
        (0, 0, 2, f64::NAN, "trial 0, sample 0: channel Pz is NaN"),
        (1, 217, 1, f64::INFINITY, "trial 1, sample 217: channel C4 is inf"),
    ] {
        let error = with(trial, sample, channel, value).unwrap_err();
        assert_eq!(error.to_string(), format!("{}, {expected}", folder.path().join("1.mat").display()));
        assert!(error.hint().is_some());
    }
}

/// A filter spreads the NaN over the recording, so all its trials count as not finite. Other
/// recordings are still measured.
#[test]
fn recordings_with_a_nan_are_in_the_report_of_quality() {
    let folder = tempfile::tempdir().unwrap();
    let mut values = noise(1, 3 * 300 * 2);
    write_matlab(&folder.path().join("2.mat"), &[doubles(&values)]);
    values[1] = f64::NAN;
    write_matlab(&folder.path().join("1.mat"), &[doubles(&values)]);
    let plan = plan_of_matlab(folder.path()).unwrap();
    let (features, path) = (Features::whole_trial(plan.definition().band), folder.path().join("out.npz"));
    let mut qualities = Vec::new();
    let error = plan.save_covariances(&features, None, &path, &(), &mut qualities).unwrap_err();
    let first = format!("{}, trial 0, sample 0: channel C4 is NaN", folder.path().join("1.mat").display());
    assert_eq!(error.to_string(), format!("{first}; 1 more of 4 covariances is not positive definite"));
    let finite: Vec<bool> = qualities.iter().map(Quality::is_finite).collect();
    assert_eq!(finite, [false, false, true, true]);
    assert!(qualities[2..].iter().all(|quality| quality.is_fit(2)) && !path.exists());
}

/// A recording of two channels and one event, with records of 160 samples and this duration.
fn recording(folder: &Path, duration: &str, amplitude: f64, resample: bool) -> Result<Plan, Error> {
    let values: Vec<i32> = noise(3, 2 * 8 * 160).iter().map(|x| (x * 1000.0) as i32).collect();
    let limits = [-32768.0 * amplitude, 32767.0 * amplitude].map(|limit| format!("{limit:.1e}"));
    let mut draft = Draft::edf(8).kind("EDF+C").duration(duration);
    for (label, values) in ["C3", "C4"].into_iter().zip(values.chunks(8 * 160)) {
        draft = draft.scaled(label, b"uV", [&limits[0], &limits[1]], [-32768, 32767], values);
    }
    let seconds: f64 = duration.parse().unwrap();
    let note = |record: usize| {
        let mut notes = list(&format!("+{}", record as f64 * seconds), "", &[""]);
        if record == 2 {
            notes.extend(list("+2", "", &["T1"]));
        }
        notes
    };
    let notes: Vec<Vec<u8>> = (0..8).map(note).collect();
    std::fs::write(folder.join("1.edf"), draft.annotations(&notes).bytes()).unwrap();
    let text = "name = \"mine\"\nformat = \"edf\"\nfiles = \"{subject}.edf\"\nsfreq = 160\ninterval = [0, 3]\nband = [8, 32]\nevents = [{ classes = { T1 = \"one\" } }]\n";
    let mine = Definition::parse(Path::new("mine.toml"), text)?;
    let options = PlanOptions { subjects: None, resample };
    Plan::new(mine, &[folder.to_owned()], &options)
}

#[test]
fn rates_that_cannot_be_resampled_are_named_with_their_file() {
    let folder = tempfile::tempdir().unwrap();
    let error = recording(folder.path(), "1.0007", 1.0, true).unwrap_err();
    let path = folder.path().join("1.edf").display().to_string();
    let text = error.to_string();
    assert!(text.starts_with(&format!("{path}: 159.88")), "{text}");
    assert!(
        text.ends_with(
            "Hz cannot be resampled to 160 Hz: their ratio must be at most 16, and a fraction of whole numbers up to 1000"
        ),
        "{text}"
    );
    assert_eq!(error.hint().unwrap(), "leave the subject out, or resample its files with another program");
    // The rates are so close that a trial has the same number of samples.
    let refused = recording(folder.path(), "1.0007", 1.0, false).unwrap_err().to_string();
    assert!(refused.starts_with(&path) && refused.ends_with(" Hz instead of 160 Hz"), "{refused}");
}

/// 160 samples in 1.1 s are 145.45... Hz, which is not exact in binary. The resampled length
/// follows the exact ratio, 11 to 10.
#[test]
fn rounding_of_a_rate_does_not_lengthen_a_recording() {
    let folder = tempfile::tempdir().unwrap();
    let plan = recording(folder.path(), "1.1", 1.0, true).unwrap();
    let trials = plan.all_trials(plan.definition().band, &()).unwrap();
    assert_eq!((trials.len(), trials.length()), (1, 481));
    // Twenty times as many samples as in the file: the header is wrong, or the recording is
    // useless.
    let slow = recording(folder.path(), "20", 1.0, true).unwrap_err().to_string();
    assert!(slow.ends_with("8 Hz cannot be resampled to 160 Hz: their ratio must be at most 16, and a fraction of whole numbers up to 1000"), "{slow}");
}

/// 110 samples in 1.1 s are 100 Hz, even if 110 divided by 1.1 is rounded in binary.
#[test]
fn rates_that_differ_by_rounding_are_one_rate() {
    let folder = tempfile::tempdir().unwrap();
    let values: Vec<i32> = noise(5, 8 * 110).iter().map(|x| (x * 1000.0) as i32).collect();
    let notes: Vec<Vec<u8>> = (0..8)
        .map(|record: i32| {
            let mut notes = list(&format!("+{}", f64::from(record) * 1.1), "", &[""]);
            if record == 1 {
                notes.extend(list("+2", "", &["T1"]));
            }
            notes
        })
        .collect();
    let draft = Draft::edf(8).kind("EDF+C").duration("1.1").signal("C3", b"uV", &values).annotations(&notes);
    std::fs::write(folder.path().join("1.edf"), draft.bytes()).unwrap();
    let text = "name = \"mine\"\nformat = \"edf\"\nfiles = \"{subject}.edf\"\nsfreq = 100\ninterval = [0, 3]\nband = [8, 32]\nevents = [{ classes = { T1 = \"one\" } }]\n";
    let mine = Definition::parse(Path::new("mine.toml"), text).unwrap();
    let plan = |resample| {
        let options = PlanOptions { subjects: None, resample };
        let plan = Plan::new(mine.clone(), &[folder.path().to_owned()], &options).unwrap();
        plan.all_trials(plan.definition().band, &()).unwrap()
    };
    assert_eq!(plan(false).length(), 301);
    assert_eq!(plan(false), plan(true));
}

#[test]
fn signals_too_large_for_float32_are_named_with_their_trial() {
    let folder = tempfile::tempdir().unwrap();
    let plan = recording(folder.path(), "1", 1e36, false).unwrap();
    let path = folder.path().join("out.npz");
    let error = plan.save_trials(plan.definition().band, &path, &(), |_| Ok(())).unwrap_err();
    let text = error.to_string();
    assert!(text.starts_with("trial 0 (subject 1, session 0, run 0): channel C3 is "), "{text}");
    assert!(
        text.ends_with("e38, which is beyond float32") || text.ends_with("e39, which is beyond float32"),
        "{text}"
    );
    assert!(error.hint().unwrap().contains("unit"));
    let trials = plan.all_trials(plan.definition().band, &()).unwrap();
    assert_eq!(trials.save(&path).unwrap_err().to_string(), text);
    assert!(!path.exists());
}

#[test]
fn covariances_that_are_not_finite_are_named_with_their_trial() {
    let folder = tempfile::tempdir().unwrap();
    let plan = recording(folder.path(), "1", 1e160, false).unwrap();
    let features = Features::whole_trial(plan.definition().band);
    let error = plan.covariances(&features, None, &()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "trial 0 (subject 1, session 0, run 0): the covariance of channels C3 and C3 is inf"
    );
    assert!(error.hint().unwrap().contains("unit"));

    let mut matrices = [1.0, 0.0, 0.0, 1.0].repeat(6);
    matrices[4 * 4 + 2] = f64::NAN;
    let names = vec!["8-12 Hz, 0-3 s".to_owned(), "12-30 Hz, 0-3 s".into()];
    let covariances = Covariances::new(about(2, 3), names, matrices).unwrap();
    let qualities = covariances.quality().unwrap();
    let finite: Vec<bool> = qualities.iter().map(Quality::is_finite).collect();
    assert_eq!(finite, [true, true, true, true, false, true]);
    assert!(qualities[4].rank == 0 && qualities[4].smallest.is_nan() && qualities[4].condition().is_nan());
    assert!(qualities.iter().enumerate().all(|(i, quality)| i == 4 || *quality == qualities[0]));
    assert_eq!(
        covariances.check(&qualities, &[]).unwrap_err().to_string(),
        "trial 2 (subject 7, session 0, run 4), 8-12 Hz, 0-3 s: the covariance of channels C1 and C0 is NaN"
    );
}
