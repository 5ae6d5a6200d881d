//! From files to trials and covariances: plans, golden values of MNE, MOABB's definitions, and
//! refusals.

use std::path::{Path, PathBuf};

use fedspd_eeg::dataset::{Selection, built_in, definition};
use fedspd_eeg::filter::Band;
use fedspd_eeg::prepare::{Features, Plan, PlanOptions};
use fedspd_eeg::{Definition, DropReason, Error, Estimator, NO_UNIT, QualitySummary};
use fedspd_manifold::SpdMetric;

use crate::support::{array, distance, golden, transposed};

const BAND: Band = Band { low: 8.0, high: 32.0 };

/// PhysionetMI, but with the six channels and two runs of the golden recordings.
fn physionet(change: impl FnOnce(&mut Definition)) -> Definition {
    let mut small = definition("physionet-mi").unwrap();
    small.runs = Some(vec!["4".into(), "6".into()]);
    small.channels.as_mut().unwrap().truncate(6);
    change(&mut small);
    small
}

fn subjects(text: &str) -> PlanOptions {
    PlanOptions { subjects: Some(text.parse::<Selection>().unwrap()), resample: false }
}

fn plan(change: impl FnOnce(&mut Definition), options: &PlanOptions) -> Result<Plan, Error> {
    Plan::new(physionet(change), &[golden("eeg")], options)
}

#[test]
fn epochs_and_covariances_equal_those_of_mne() {
    let plan = plan(|_| (), &subjects("1")).unwrap();
    let (_, labels) = array::<i64>("eeg", "physionet-labels");
    assert_eq!(plan.about("uV").labels(), labels.iter().map(|&label| label as usize).collect::<Vec<_>>());
    let reasons: Vec<&DropReason> = plan.dropped.iter().map(|dropped| &dropped.reason).collect();
    let reason = DropReason::OutsideRecording { span: [28.5, 31.5], recorded: 31.0 };
    assert_eq!(reasons, [&reason, &reason]);

    let trials = plan.all_trials(BAND, &()).unwrap();
    let (shape, expected) = array::<f64>("eeg", "physionet-trials");
    let [count, channels, length] = shape[..] else { panic!() };
    assert_eq!((length, trials.length()), (481, 481));
    for trial in 0..count {
        let rows = &expected[trial * channels * length..(trial + 1) * channels * length];
        assert!(distance(trials.trial(trial), &transposed(channels, length, rows)) < 1e-9);
    }
    for (name, estimator) in
        [("covariances", Estimator::Sample), ("oas", Estimator::Oas), ("ledoit-wolf", Estimator::LedoitWolf)]
    {
        let features = Features { estimator, ..Features::whole_trial(BAND) };
        let (covariances, qualities) = plan.covariances(&features, None, &()).unwrap();
        let (_, expected) = array::<f64>("eeg", &format!("physionet-{name}"));
        assert!(distance(covariances.matrices(), &expected) < 1e-9, "{name}");
        assert_eq!(qualities, covariances.quality().unwrap());
        let summary = QualitySummary::of(&qualities).unwrap();
        assert!(summary.rank == 6 && summary.smallest > 0.0);
    }
    let features = Features::whole_trial(BAND);
    let (recentred, _) = plan.covariances(&features, Some(SpdMetric::AffineInvariant), &()).unwrap();
    let (_, expected) = array::<f64>("eeg", "physionet-recentred-riemannian");
    assert!(distance(recentred.matrices(), &expected) < 1e-8);
    assert_eq!(recentred.about.unit, NO_UNIT);
}

#[test]
fn windows_and_bands_are_covariances_of_their_own() {
    let plan = plan(|_| (), &subjects("1")).unwrap();
    let (slow, windows) = (Band { low: 4.0, high: 12.0 }, vec![[0.0, 0.5], [0.5, 1.0], [1.0, 3.0]]);
    let features = Features { bands: vec![slow, BAND], windows, estimator: Estimator::Sample };
    let (covariances, _) = plan.covariances(&features, None, &()).unwrap();
    assert_eq!(
        covariances.inputs,
        [
            "4-12 Hz, 0-0.5 s",
            "4-12 Hz, 0.5-1 s",
            "4-12 Hz, 1-3 s",
            "8-32 Hz, 0-0.5 s",
            "8-32 Hz, 0.5-1 s",
            "8-32 Hz, 1-3 s"
        ]
    );
    // The covariance of a window of half a second equals that of its samples.
    let trials = plan.all_trials(BAND, &()).unwrap();
    let mut expected = vec![0.0; 36];
    let mut workspace = fedspd_eeg::CovarianceWorkspace::new(6).unwrap();
    workspace.estimate(Estimator::Sample, &trials.trial(3)[80 * 6..160 * 6], &mut expected).unwrap();
    assert_eq!(covariances.matrix(3, 4), expected);
    let message = |windows: &[[f64; 2]], bands: &[Band]| {
        let features = Features { windows: windows.to_vec(), bands: bands.to_vec(), ..features.clone() };
        plan.covariances(&features, None, &()).unwrap_err().to_string()
    };
    for (window, name) in [
        ([0.0, 0.0], "0-0 s"),
        ([-0.1, 1.0], "-0.1..1 s"),
        ([2.0, 3.1], "2-3.1 s"),
        ([0.0, 3.001], "0-3.001 s"),
        ([1.0, 0.5], "1-0.5 s"),
    ] {
        assert_eq!(
            message(&[window], &[BAND]),
            format!("the window {name} is empty or not inside the trial, 0-3 s")
        );
    }
    assert_eq!(message(&[[0.0, 1.0], [0.0, 1.0]], &[BAND]), "the window 0-1 s is given twice");
    assert_eq!(message(&[], &[BAND, slow, BAND]), "the band 8-32 Hz is given twice");
}

/// Equal names mean equal matrices.
#[test]
fn a_window_as_long_as_the_trial_is_the_trial() {
    let plan = plan(|_| (), &subjects("1")).unwrap();
    let whole = Features::whole_trial(BAND);
    let (expected, _) = plan.covariances(&whole, None, &()).unwrap();
    let features = Features { windows: vec![[0.0, 3.0]], ..whole };
    assert_eq!(plan.covariances(&features, None, &()).unwrap().0, expected);
    assert_eq!(expected.inputs, ["8-32 Hz, 0-3 s"]);
}

/// Windows may begin before the event.
#[test]
fn windows_before_the_event_have_a_name_that_can_be_read() {
    let plan = plan(|d| d.interval = [-0.5, 2.0], &subjects("1")).unwrap();
    let features = Features { windows: vec![[-0.5, 0.5]], ..Features::whole_trial(BAND) };
    let (covariances, _) = plan.covariances(&features, None, &()).unwrap();
    assert_eq!(covariances.inputs, ["8-32 Hz, -0.5..0.5 s"]);
}

/// Annotations without a class are counted, and classes without a trial are reported.
#[test]
fn unknown_annotations_and_empty_classes_are_reported() {
    let plan = plan(|_| (), &subjects("1")).unwrap();
    assert_eq!(plan.ignored.iter().map(|(text, count)| (&**text, *count)).collect::<Vec<_>>(), [("T0", 10)]);
    assert!(plan.empty_classes().is_empty());

    let misspelt = |d: &mut Definition| {
        d.events[0].classes =
            [("T1", "left_hand"), ("T3", "right_hand")].map(|(a, b)| (a.into(), b.into())).into();
    };
    let plan = self::plan(misspelt, &subjects("1")).unwrap();
    assert_eq!(plan.empty_classes(), [("right_hand", vec!["T3"])]);
    assert_eq!(plan.ignored.keys().collect::<Vec<_>>(), ["T0", "T2"]);

    // Labels of MATLAB files.
    let mut small = definition("weibo2014").unwrap();
    small.subjects = Some("1".parse().unwrap());
    small.channels = Some(vec!["Fp1".into()]);
    small.mat.as_mut().unwrap().channels = ["Fp1", "CB1", "Fpz", "VEO", "Fp2"].map(String::from).to_vec();
    small.events[0].classes.remove("1");
    let plan = Plan::new(small, &[golden("eeg")], &PlanOptions::default()).unwrap();
    assert_eq!((plan.ignored["1"], plan.trials()), (2, 6));
}

#[test]
fn weibo2014_is_cut_as_moabb_does() {
    let mut small = definition("weibo2014").unwrap();
    small.subjects = Some("1".parse().unwrap());
    small.channels = Some(["Fp1", "Fpz", "Fp2"].map(String::from).to_vec());
    small.mat.as_mut().unwrap().channels = ["Fp1", "CB1", "Fpz", "VEO", "Fp2"].map(String::from).to_vec();
    let plan = Plan::new(small, &[golden("eeg")], &PlanOptions::default()).unwrap();
    assert_eq!((plan.trials(), plan.trial_length()), (8, 801));
    let about = plan.about("uV");
    let names: Vec<&str> = about.labels().iter().map(|&label| &*about.classes[label]).collect();
    let order = [
        "hands",
        "left_hand",
        "rest",
        "right_hand",
        "feet",
        "right_hand_left_foot",
        "left_hand_right_foot",
        "left_hand",
    ];
    assert_eq!(names, order);
    let trials = plan.all_trials(BAND, &()).unwrap();
    let (shape, expected) = array::<f64>("eeg", "weibo-trials");
    assert!(distance(trials.trial(0), &transposed(shape[1], shape[2], &expected)) < 1e-9);
    let (covariances, _) = plan.covariances(&Features::whole_trial(BAND), None, &()).unwrap();
    let (_, expected) = array::<f64>("eeg", "weibo-covariances");
    assert!(distance(covariances.matrices(), &expected) < 1e-9);
}

/// Lengths of trials, classes, channels and subjects equal MOABB's.
#[test]
fn built_in_datasets_are_what_moabb_says() {
    let all = built_in().unwrap();
    let [physionet, weibo] = &all[..] else { panic!() };
    assert_eq!((physionet.trial_length(160.0), physionet.trial_length(128.0)), (481, 385));
    assert_eq!(weibo.trial_length(200.0), 801);
    assert_eq!(physionet.classes(), ["feet", "hands", "left_hand", "right_hand"]);
    assert_eq!(weibo.classes().len(), 7);
    assert_eq!(physionet.channels.as_ref().unwrap().len(), 64);
    assert_eq!(weibo.channels.as_ref().unwrap().len(), 60);
    assert_eq!(physionet.subjects.as_ref().unwrap().ids().len(), 109);
    let excluded: Vec<&str> = physionet.excluded.iter().map(|excluded| &*excluded.subject).collect();
    assert_eq!(excluded, ["88", "92", "100"]);
    assert_eq!(physionet.checksums.len(), 109 * 6);
}

/// A recording at another rate is refused, unless the plan resamples it.
#[test]
fn recordings_at_another_rate_are_refused_or_resampled() {
    let other = |d: &mut Definition| d.sfreq = 128.0;
    let path = golden("eeg").join("S001/S001R04.edf");
    let error = plan(other, &subjects("1")).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "{}: sampled at 160 Hz instead of 128 Hz (a trial would have 481 samples instead of 385)",
            path.display()
        )
    );
    assert_eq!(error.hint().unwrap(), "leave the subject out, or resample with --resample");
    let options = PlanOptions { resample: true, ..subjects("1") };
    let resampled = plan(other, &options).unwrap();
    assert_eq!(resampled.trial_length(), 385);
    // The band is far below both Nyquist frequencies, so covariances hardly change.
    let (ours, _) = resampled.covariances(&Features::whole_trial(BAND), None, &()).unwrap();
    let (_, expected) = array::<f64>("eeg", "physionet-covariances");
    assert!(distance(ours.matrices(), &expected) < 0.05);
}

#[test]
fn excluded_subjects_are_left_out_with_their_reason_and_rate() {
    let exclude = |d: &mut Definition| d.excluded[0].subject = "1".into();
    let folder = tempfile::tempdir().unwrap();
    for (subject, run) in [(1, 4), (1, 6), (2, 4), (2, 6)] {
        let to = folder.path().join(format!("S00{subject}"));
        std::fs::create_dir_all(&to).unwrap();
        let from = golden("eeg").join(format!("S001/S001R0{run}.edf"));
        std::fs::copy(from, to.join(format!("S00{subject}R0{run}.edf"))).unwrap();
    }
    let roots = [folder.path().to_owned()];
    let plan = Plan::new(physionet(exclude), &roots, &subjects("1-2")).unwrap();
    assert_eq!(plan.about("uV").subjects(), ["2"]);
    let [left_out] = &plan.left_out[..] else { panic!() };
    assert_eq!((&*left_out.subject, left_out.measured_sfreq), ("1", Some(160.0)));
    assert_eq!(left_out.reason, "recorded at 128 Hz instead of 160 Hz");
    let error = Plan::new(physionet(exclude), &roots, &subjects("1")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "subject 1 is left out: recorded at 128 Hz instead of 160 Hz (measured: 160 Hz)"
    );
    // The exclusion is only for the rate, and resampling removes it.
    let options = PlanOptions { resample: true, ..subjects("1-2") };
    let plan = Plan::new(physionet(exclude), &roots, &options).unwrap();
    assert_eq!(plan.about("uV").subjects(), ["1", "2"]);
}

#[test]
fn what_is_missing_is_named() {
    let root = golden("eeg");
    let message = |change: fn(&mut Definition), ids: &str| plan(change, &subjects(ids)).unwrap_err();
    let error = message(|_| (), "2");
    assert_eq!(error.to_string(), format!("S002/S002R04.edf is not in {}", root.display()));
    assert_eq!(
        error.hint().unwrap(),
        "say where the files are with --root, or download them with `fedspd data fetch`"
    );
    let error = message(|_| (), "110");
    assert_eq!(error.to_string(), "there is no subject 110");
    let error = message(|d| *d.channels.as_mut().unwrap() = vec!["FC5".into(), "Cz".into()], "1");
    let path = root.join("S001/S001R04.edf");
    assert_eq!(error.to_string(), format!("{}: there is no channel Cz", path.display()));
    assert_eq!(
        error.hint().unwrap(),
        "the file also has Fc3., Fc1., Fcz., Fc2., Fc4.; the definition can rename channels under [rename]"
    );
    let twice = message(|d| drop(d.rename.insert("Fc3.".into(), "FC5".into())), "1");
    assert_eq!(twice.to_string(), format!("{}: channel FC5 is present 2 times", path.display()));
    let error = Plan::new(physionet(|_| ()), &[], &PlanOptions::default()).unwrap_err();
    assert_eq!(error.to_string(), "S001/S001R04.edf is not in any folder (none was given)");
}

/// A user-defined dataset: files are found by name, and all channels are used.
#[test]
fn a_dataset_of_ones_own_needs_no_more_than_a_definition() {
    let text = r#"
        name = "mine"
        format = "edf"
        files = "S{subject:3}/S{subject:3}R{run:2}.edf"
        sfreq = 160
        interval = [0.5, 2.5]
        band = [8, 30]
        events = [{ classes = { T1 = "one", T2 = "two" } }]
    "#;
    let mine = Definition::parse(Path::new("mine.toml"), text).unwrap();
    let plan = Plan::new(mine, &[golden("eeg")], &PlanOptions::default()).unwrap();
    assert_eq!(plan.channels(), ["Fc5.", "Fc3.", "Fc1.", "Fcz.", "Fc2.", "Fc4."]);
    assert_eq!((plan.trial_length(), plan.trials(), plan.files()), (321, 8, 2));
    let runs: Vec<&str> = plan.subjects()[0].iter().map(|run| &*run.ids.run).collect();
    assert_eq!(runs, ["4", "6"]);
    plan.covariances(&Features::whole_trial(Band { low: 8.0, high: 30.0 }), None, &()).unwrap();
}

/// Runs found by search keep the definition's order, session by session.
#[test]
fn runs_of_searched_datasets_keep_the_order_of_the_definition() {
    let folder = tempfile::tempdir().unwrap();
    for (subject, session) in [("b", 2), ("a", 1), ("a", 10), ("a", 2)] {
        for run in [4, 6, 8] {
            let from = golden("eeg").join("S001/S001R04.edf");
            std::fs::copy(from, folder.path().join(format!("{subject}_{session}_{run}.edf"))).unwrap();
        }
    }
    let text = r#"
        name = "mine"
        format = "edf"
        files = "{subject}_{session}_{run}.edf"
        runs = ["6", "4"]
        sfreq = 160
        interval = [0, 3]
        band = [8, 32]
        events = [{ classes = { T1 = "one", T2 = "two" } }]
    "#;
    let mine = Definition::parse(Path::new("mine.toml"), text).unwrap();
    let plan = Plan::new(mine, &[folder.path().to_owned()], &PlanOptions::default()).unwrap();
    let ids: Vec<[&str; 3]> = plan
        .subjects()
        .iter()
        .flatten()
        .map(|run| [&*run.ids.subject, &*run.ids.session, &*run.ids.run])
        .collect();
    let expected = [["a", "1"], ["a", "2"], ["a", "10"], ["b", "2"]];
    let expected: Vec<[&str; 3]> = expected
        .iter()
        .flat_map(|[subject, session]| [[*subject, *session, "6"], [*subject, *session, "4"]])
        .collect();
    assert_eq!(ids, expected);
}

/// Sessions listed in a definition need no search, and keep its order.
#[test]
fn listed_sessions_come_in_their_order() {
    let folder = tempfile::tempdir().unwrap();
    for session in ["a", "b", "c"] {
        let from = golden("eeg").join("S001/S001R04.edf");
        std::fs::copy(from, folder.path().join(format!("1_{session}.edf"))).unwrap();
    }
    for subjects in ["", "subjects = \"1\"\n"] {
        let text = format!(
            "name = \"mine\"\nformat = \"edf\"\nfiles = \"{{subject}}_{{session}}.edf\"\n{subjects}sessions = [\"c\", \"a\"]\nsfreq = 160\ninterval = [0, 3]\nband = [8, 32]\nevents = [{{ classes = {{ T1 = \"one\" }} }}]\n"
        );
        let mine = Definition::parse(Path::new("mine.toml"), &text).unwrap();
        let plan = Plan::new(mine, &[folder.path().to_owned()], &PlanOptions::default()).unwrap();
        let sessions: Vec<&str> = plan.subjects()[0].iter().map(|run| &*run.ids.session).collect();
        assert_eq!(sessions, ["c", "a"]);
    }
}

/// Copies a golden recording with other units of its six channels.
fn with_units(folder: &Path, name: &str, units: [&str; 6]) {
    let mut bytes = std::fs::read(golden("eeg").join("S001/S001R04.edf")).unwrap();
    // The header: 256 bytes, then labels and transducers of seven signals before their units.
    for (signal, unit) in units.iter().enumerate() {
        let start = 256 + 7 * (16 + 80) + 8 * signal;
        bytes[start..start + 8].copy_from_slice(format!("{unit:<8}").as_bytes());
    }
    std::fs::write(folder.join(name), bytes).unwrap();
}

fn of_one_folder(unit: &str) -> Definition {
    let text = format!(
        "name = \"mine\"\nformat = \"edf\"\nfiles = \"S{{subject}}.edf\"\nsfreq = 160\n{unit}\ninterval = [0, 3]\nband = [8, 32]\nevents = [{{ classes = {{ T1 = \"one\", T2 = \"two\" }} }}]\n"
    );
    Definition::parse(Path::new("mine.toml"), &text).unwrap()
}

#[test]
fn units_are_those_of_each_channel_and_never_guessed() {
    let folder = tempfile::tempdir().unwrap();
    let roots = [folder.path().to_owned()];
    let plan = |units, unit: &str| {
        with_units(folder.path(), "S1.edf", units);
        Plan::new(of_one_folder(unit), &roots, &PlanOptions::default())
    };
    let volts = plan(["uV"; 6], "").unwrap().all_trials(BAND, &()).unwrap();
    let mixed =
        plan(["uV", "", "mV", "V", "nV", "uV"], "unit = \"mV\"").unwrap().all_trials(BAND, &()).unwrap();
    let factors = [1.0, 1e3, 1e3, 1e6, 1e-3, 1.0];
    let scaled: Vec<f64> = volts.trial(0).iter().enumerate().map(|(i, x)| x * factors[i % 6]).collect();
    assert!(distance(mixed.trial(0), &scaled) < 1e-12);

    let path = folder.path().join("S1.edf");
    let message = |units, unit: &str| plan(units, unit).unwrap_err().to_string();
    let of_channel = |unit: &str| format!("{}: the unit of channel Fc3. is {unit}", path.display());
    assert_eq!(message(["uV", "", "uV", "uV", "uV", "uV"], ""), of_channel("not given"));
    assert_eq!(message(["uV", "DegC", "uV", "uV", "uV", "uV"], ""), of_channel("DegC"));
    assert_eq!(message(["uV", "kV", "uV", "uV", "uV", "uV"], ""), of_channel("kV"));
}

#[test]
fn a_subject_without_trials_is_no_trouble_for_the_others() {
    let folder = tempfile::tempdir().unwrap();
    with_units(folder.path(), "S1.edf", ["uV"; 6]);
    let mut silent = std::fs::read(golden("eeg").join("S001/S001R04.edf")).unwrap();
    // Other annotations: none begins a trial.
    for place in 0..silent.len() - 1 {
        if silent[place] == b'T'
            && matches!(silent[place + 1], b'1' | b'2')
            && silent[place.saturating_sub(1)] == 0x14
        {
            silent[place] = b'X';
        }
    }
    std::fs::write(folder.path().join("S2.edf"), &silent).unwrap();
    let roots = [folder.path().to_owned()];
    let plan = Plan::new(of_one_folder(""), &roots, &PlanOptions::default()).unwrap();
    let features = Features::whole_trial(BAND);
    let (covariances, _) = plan.covariances(&features, Some(SpdMetric::AffineInvariant), &()).unwrap();
    assert_eq!((covariances.len(), covariances.about.subjects()), (4, vec!["1"]));
    assert_eq!(plan.without_trials(), [folder.path().join("S2.edf")]);

    let error = Plan::new(of_one_folder(""), &roots, &subjects("2")).unwrap_err();
    let name = folder.path().join("S2.edf");
    assert_eq!(error.to_string(), format!("{}: no event gives a trial (dropped: 0)", name.display()));
    assert_eq!(
        error.hint().unwrap(),
        "annotations are `T0`, `X1`, `X2`; `events` must name those that begin trials"
    );
}

#[test]
fn trials_of_matlab_files_do_not_reach_into_the_next() {
    let mut small = definition("weibo2014").unwrap();
    small.subjects = Some("1".parse().unwrap());
    small.channels = Some(vec!["Fp1".into()]);
    small.mat.as_mut().unwrap().channels = ["Fp1", "CB1", "Fpz", "VEO", "Fp2"].map(String::from).to_vec();
    small.interval = [3.0, 8.0];
    let error = Plan::new(small, &[golden("eeg")], &PlanOptions::default()).unwrap_err();
    assert!(
        error.to_string().ends_with("subject_1.mat: trials last 8 s, but the interval is 3-8 s"),
        "{error}"
    );
}

#[test]
fn faulty_definitions_are_refused_with_their_fault() {
    let base = r#"name = "mine"
format = "edf"
files = "S{subject}.edf"
sfreq = 160
interval = [0, 3]
band = [8, 32]
events = [{ classes = { T1 = "one" } }]
"#;
    let message = |from: &str, to: &str| {
        assert!(base.contains(from));
        let text = base.replace(from, to);
        Definition::parse(Path::new("mine.toml"), &text).unwrap_err().to_string()
    };
    for (from, to, expected) in [
        (
            "\"mine\"",
            "\"../mine\"",
            "mine.toml: `name` is \"../mine\"; it must be letters, digits, dashes, dots and underscores, and begin with a letter or digit",
        ),
        ("sfreq = 160", "sfreq = 0", "mine.toml: `sfreq` is 0e0; it must be positive, at most 1e6"),
        ("[0, 3]", "[3, 3]", "mine.toml: `interval` is [3, 3]; it must begin before it ends"),
        ("[8, 32]", "[8, 80]", "mine.toml: `band` is [8, 80]; it must end below 80 Hz, half of `sfreq`"),
        ("[8, 32]", "[32, 8]", "mine.toml: `band` is [32, 8]; its lower edge must come first"),
        ("[8, 32]", "[0, 32]", "mine.toml: `band` is [0, 32]; its lower edge must be above 0 Hz"),
        ("\"edf\"", "5", "mine.toml: line 2, column 10: wanted string or table"),
        (
            "sfreq = 160",
            "sfreq =",
            "mine.toml: line 4, column 8: string values must be quoted, expected literal string",
        ),
        ("{ T1 = \"one\" }", "{}", "mine.toml: `events` names no class"),
        (
            "sfreq = 160",
            "sfreq = 160\nunit = \"pV\"",
            "mine.toml: `unit` is \"pV\"; it must be V, mV, uV or nV",
        ),
        ("sfreq = 160", "sfreq = 160\nchannels = [\"C3\", \"C3\"]", "mine.toml: `channels` lists C3 twice"),
        (
            "sfreq = 160",
            "sfreq = 160\nsessions = [\"1\"]",
            "mine.toml: `sessions` is a list, but `files` has no placeholder {session}",
        ),
        (
            "sfreq = 160",
            "sfreq = 160\nruns = [\"1\"]",
            "mine.toml: `runs` is a list, but `files` has no placeholder {run}",
        ),
        (
            "events = ",
            "source = { archives = [{ url = \"u\", name = \"a.zip\", sha256 = \"12\", subjects = {} }] }\nevents = ",
            "mine.toml: the `sha256` of the archive a.zip is \"12\"; it must be 64 hexadecimal digits",
        ),
        ("\"edf\"", "\"mat\"", "mine.toml: `format` is \"mat\", but there is no table `mat`"),
    ] {
        assert_eq!(message(from, to), expected);
    }
    for name in ["", "..", ".", "/mine", "a/b", "a\\\\b", "my study", "-mine"] {
        assert!(message("\"mine\"", &format!("\"{name}\"")).starts_with("mine.toml: `name` is "), "{name}");
    }
    let excluded = "subjects = \"1-9\"\nexcluded = [{ subject = \"08\", reason = \"none\" }]\nsfreq = 160";
    assert_eq!(
        message("sfreq = 160", excluded),
        "mine.toml: `excluded` names subject 08, not one of `subjects`"
    );
    let files = message("S{subject}", "S{run}");
    assert!(files.contains("`files` must have the placeholder {subject}"), "{files}");
    assert_eq!(definition("physionet").unwrap_err().to_string(), "there is no dataset `physionet`");
    assert!(matches!(definition("nowhere/mine.toml").unwrap_err(), Error::File { .. }));
}

const STUDY: &str = r#"name = "mine"
format = "edf"
files = "S{subject:3}R{run:2}.edf"
sfreq = 160
interval = [0, 3]
band = [8, 32]
[[events]]
classes = { T1 = "one" }
"#;

/// Unknown keys have their place and the nearest key, in every table.
#[test]
fn unknown_keys_of_definitions_are_named_with_their_place() {
    let tables = [
        ("sfrq = 160\n", "sfrq", "line 1, column 1", "did you mean `sfreq`? the top-level keys are band, "),
        ("  zzz = 1\n", "zzz", "line 1, column 3", "the top-level keys are band, "),
    ];
    let refused = |text: &str| Definition::parse(Path::new("mine.toml"), text).unwrap_err();
    for (line, key, place, hint) in tables {
        let error = refused(&(line.to_owned() + STUDY));
        assert_eq!(error.to_string(), format!("unknown key `{key}` in mine.toml, {place}"));
        assert!(error.hint().unwrap().starts_with(hint), "{:?}", error.hint());
    }
    for (lines, key, place, hint) in [
        (
            "run = [3]\n",
            "events.run",
            "line 9, column 1",
            "did you mean `runs`? the keys of [events] are classes, runs",
        ),
        (
            "[[excluded]]\nsubjct = 3\n",
            "excluded.subjct",
            "line 10, column 1",
            "did you mean `subject`? the keys of [excluded] are reason, subject, unless_resampled",
        ),
        (
            "[source]\narchives = [{ adress = 1 }]\n",
            "source.archives.adress",
            "line 10, column 15",
            "the keys of [source.archives] are name, sha256, subjects, url",
        ),
        (
            "[mat]\npading = 3\n",
            "mat.pading",
            "line 10, column 1",
            "did you mean `padding`? the keys of [mat] are channels, data, labels, padding",
        ),
    ] {
        let error = refused(&(STUDY.to_owned() + lines));
        assert_eq!(error.to_string(), format!("unknown key `{key}` in mine.toml, {place}"));
        assert_eq!(error.hint().unwrap(), hint);
    }
    let error = refused("[data]\nname = \"sample\"\n");
    assert_eq!(
        error.to_string(),
        "mine.toml is the configuration of an experiment, not the definition of a dataset"
    );
    assert_eq!(
        error.hint().unwrap(),
        "start it with `fedspd run mine.toml`; the chapter \"Dataset definition\" of the book lists the keys of a definition"
    );
}

/// A whole number stands for its plain decimal text.
#[test]
fn ids_in_definitions_may_be_whole_numbers() {
    let parse = |text: &str| Definition::parse(Path::new("mine.toml"), text);
    let with = |runs: &str, sessions: &str, subject: &str| {
        let study = STUDY
            .replace("R{run", "N{session}R{run")
            .replace("[[events]]", &format!("[[events]]\nruns = {runs}"));
        parse(&format!(
            "runs = {runs}\nsessions = {sessions}\n{study}[[excluded]]\nsubject = {subject}\nreason = \"none\"\n"
        ))
    };
    let numbers = with("[3, 7, 11]", "[1, 2]", "5").unwrap();
    assert_eq!(numbers, with("[\"3\", \"7\", \"11\"]", "[\"1\", \"2\"]", "\"5\"").unwrap());
    assert_eq!(numbers, with("[3, \"7\", 11]", "[1, 2]", "5").unwrap());
    assert_ne!(numbers, with("[\"03\", 7, 11]", "[1, 2]", "5").unwrap(), "leading zeros matter");
    assert_eq!(
        with("[3]", "[1.5]", "5").unwrap_err().to_string(),
        "mine.toml: line 2, column 12: expected a text or a whole number"
    );
}

#[test]
fn threads_change_no_bit() {
    let folder = tempfile::tempdir().unwrap();
    for subject in 1..=5 {
        let to = folder.path().join(format!("S00{subject}"));
        std::fs::create_dir_all(&to).unwrap();
        for run in [4, 6] {
            let from = golden("eeg").join(format!("S001/S001R0{run}.edf"));
            std::fs::copy(from, to.join(format!("S00{subject}R0{run}.edf"))).unwrap();
        }
    }
    let roots: [PathBuf; 1] = [folder.path().to_owned()];
    let plan = Plan::new(physionet(|_| ()), &roots, &subjects("5,1-4")).unwrap();
    assert_eq!(plan.about("uV").subjects(), ["5", "1", "2", "3", "4"]);
    let features = Features::whole_trial(BAND);
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| plan.covariances(&features, Some(SpdMetric::AffineInvariant), &()).unwrap().0)
    };
    assert_eq!(on(1), on(3));
}

/// As in MNE's `raw.filter`, filters do not ring across joins or pauses. Of events at one time, the
/// shortest comes first.
#[test]
fn interrupted_recordings_are_filtered_and_cut_as_mne_does() {
    let text = "name = \"mine\"\nformat = \"edf\"\nfiles = \"{subject}.edf\"\nsubjects = \"interrupted\"\nsfreq = 160\ninterval = [0, 3]\nband = [8, 32]\nevents = [{ classes = { T1 = \"one\", T2 = \"two\" } }]\n";
    let mine = Definition::parse(Path::new("mine.toml"), text).unwrap();
    let plan = Plan::new(mine, &[golden("eeg")], &PlanOptions::default()).unwrap();
    let (_, events) = array::<i64>("eeg", "interrupted-events");
    let ours = plan.subjects()[0][0].epochs.iter().flat_map(|epoch| [epoch.start, epoch.label]);
    assert_eq!(ours.map(|number| i64::try_from(number).unwrap()).collect::<Vec<_>>(), events);
    let dropped: Vec<(&str, f64)> = plan.dropped.iter().map(|d| (&*d.text, d.onset)).collect();
    assert_eq!(dropped, [("T1", 3.0), ("T1", 10.5), ("T1", 16.0)]);
    assert!(plan.ignored.is_empty(), "{:?}", plan.ignored);
    let trials = plan.all_trials(BAND, &()).unwrap();
    let (shape, expected) = array::<f64>("eeg", "interrupted-trials");
    for (trial, expected) in expected.chunks_exact(shape[1] * shape[2]).enumerate() {
        let far = distance(trials.trial(trial), &transposed(shape[1], shape[2], expected));
        assert!(far < 1e-9, "trial {trial}: {far:e}");
    }
}
