//! Prepared data on disk: round trips, access from NumPy, and refusal of arrays that do not match.

use std::path::Path;

use fedspd_eeg::npz::{NpyArray, NpzFile, NpzWriter};
use fedspd_eeg::store::{Prepared, load};
use fedspd_eeg::{Alignment, Branch, Covariances, MICROVOLTS, Making, Trials};
use fedspd_manifold::SpdMetric;

use crate::covariance::about;
use crate::support::noise;
use crate::support::npz::{header, npy};

fn covariances(inputs: usize) -> Covariances {
    let (n, trials) = (3, 4);
    let mut about = about(n, trials);
    about.origins[2].subject = "12".into();
    about.origins[3].run = "R2".into();
    let names = (0..inputs).map(|input| format!("band {input}")).collect();
    let mut matrices = noise(1, trials * inputs * n * n);
    for matrix in matrices.chunks_exact_mut(n * n) {
        for i in 0..n {
            (0..i).for_each(|j| matrix[i * n + j] = matrix[j * n + i]);
        }
    }
    Covariances::new(about, names, matrices).unwrap()
}

/// The processing is stored as arrays that NumPy reads without pickle.
#[test]
fn how_data_were_made_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("covariances.npz");
    let mut covariances = covariances(1);
    let branch = Branch {
        band: Some([8.0, 32.0].into()),
        window: Some([0.0, 3.0]),
        samples: Some(481),
        estimator: Some("oas".into()),
        alignment: Some(Alignment::LogEuclidean),
        ..Branch::default()
    };
    let reference = Some("linked ears".into());
    covariances.about.making = Making { reference, branches: vec![branch], recipe: None };
    covariances.save(&path).unwrap();
    assert_eq!(load(&path).unwrap().content.about().making, covariances.about.making);
    let mut file = NpzFile::open(&path).unwrap();
    for (name, shape, text) in [
        ("estimator", vec![], "oas"),
        ("align", vec![], "log-euclidean"),
        ("bands", vec![1], "8-32 Hz"),
        ("windows", vec![1], "0-3 s"),
    ] {
        assert_eq!(file.strings(name).unwrap(), NpyArray { shape, values: vec![text.to_owned()] });
    }
}

/// A file records its alignment, whichever method was used.
#[test]
fn alignment_leaves_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.npz");
    let align = || load(&path).unwrap().content.about().making.alignment();
    let identity: Vec<f64> = (0..4 * 9).map(|place| f64::from(place % 9 % 4 == 0)).collect();
    let mut covariances = Covariances::new(about(3, 4), vec!["all".into()], identity).unwrap();
    covariances.save(&path).unwrap();
    assert_eq!(align(), None);
    covariances.recentre(SpdMetric::AffineInvariant).unwrap();
    covariances.save(&path).unwrap();
    assert_eq!(align(), Some(Alignment::Riemannian));
    covariances.recentre(SpdMetric::LogEuclidean).unwrap();
    assert_eq!(covariances.about.making.alignment(), Some(Alignment::LogEuclidean));

    let mut trials = Trials::new(about(2, 3), 9, noise(2, 3 * 9 * 2)).unwrap();
    trials.align().unwrap();
    trials.save(&path).unwrap();
    assert_eq!(align(), Some(Alignment::Euclidean));
    let z_score = || load(&path).unwrap().content.about().making.z_score();
    assert!(!z_score());
    trials.z_score().unwrap();
    trials.save(&path).unwrap();
    assert!(z_score());
    let written = NpzFile::open(&path).unwrap().integers("z_score").unwrap();
    assert_eq!(written, NpyArray { shape: vec![], values: vec![1] });
}

#[test]
fn covariances_come_back_as_they_were() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("covariances.npz");
    for inputs in [1, 3] {
        let covariances = covariances(inputs);
        covariances.save(&path).unwrap();
        let loaded = load(&path).unwrap();
        assert_eq!((loaded.content, loaded.notes), (Prepared::Covariances(covariances), vec![]));
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
    assert_eq!(load(&path).unwrap().content, Prepared::Trials(trials));
}

#[test]
fn the_same_data_are_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let [a, b] = ["a.npz", "b.npz"].map(|name| folder.path().join(name));
    covariances(2).save(&a).unwrap();
    covariances(2).save(&b).unwrap();
    assert_eq!(std::fs::read(a).unwrap(), std::fs::read(b).unwrap());
}

/// Arrays of a valid file, of which a test changes or removes some.
struct Arrays {
    x: (Vec<usize>, Vec<f64>),
    y: Vec<i64>,
    subject: Vec<i64>,
    channels: Vec<&'static str>,
    sfreq: Vec<f64>,
    unit: &'static str,
    kind: Option<&'static str>,
    align: Option<&'static str>,
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
        align: None,
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
        if let Some(align) = self.align {
            writer.strings("align", &[], &[align]).unwrap();
        }
        writer.finish().unwrap();
    }
}

/// A change to valid arrays, and the expected message.
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
    let Prepared::Covariances(sound) = load(&path).unwrap().content else { panic!() };
    assert_eq!(sound.about.making, Making::default());
    for name in ["X", "y", "subject", "sfreq", "unit"] {
        assert_eq!(message(&|a| a.without = name), format!("there is no array `{name}`"));
    }
    let matrices = "trials x channels x channels, or trials x inputs x channels x channels";
    let any = format!("{matrices}, or trials x channels x samples");
    let cases: [Case<'_>; 20] = [
        (&|a| a.channels[2] = "C3", "`channels` lists \"C3\" twice".into()),
        (&|a| a.channels.truncate(2), "`channels` has 2 names, but `X` has 3 channels".into()),
        (
            &|a| a.x = (vec![2, 4, 4], vec![1.0; 32]),
            "`channels` has 3 names, but `X` has 4 channels".into(),
        ),
        (
            &|a| a.x = (vec![2, 3, 9], vec![1.0; 54]),
            "`unit` is \"uV^2\"; it must be uV, mV, V or nV, or 1 for dimensionless data".into(),
        ),
        (&|a| a.x = (vec![18], vec![1.0; 18]), format!("`X` has the shape [18]; it must be {any}")),
        (
            &|a| a.x = (vec![2, 0, 3, 3], vec![]),
            format!("`X` has the shape [2, 0, 3, 3]; it must be {any}"),
        ),
        (
            &|a| (a.kind, a.x) = (Some("covariances"), (vec![2, 3, 4], vec![1.0; 24])),
            format!("`X` has the shape [2, 3, 4]; it must be {matrices}"),
        ),
        (
            &|a| (a.kind, a.x) = (Some("trials"), (vec![2, 1, 3, 3], vec![1.0; 18])),
            "`X` has the shape [2, 1, 3, 3]; it must be trials x channels x samples".into(),
        ),
        (&|a| a.y = vec![0], "`y` has 1 entry, but `X` has 2 trials".into()),
        (
            &|a| (a.y, a.subject) = (vec![0, 1, 0], vec![7, 7, 7]),
            "`X` has 2 trials, but `y` and `subject` have 3 entries each".into(),
        ),
        (
            &|a| a.y = vec![0, 2],
            "`y` has the label 2 at trial 1, but `classes` has 2 names (counted from 0)".into(),
        ),
        (
            &|a| a.y = vec![-1, 0],
            "`y` has the label -1 at trial 0, but `classes` has 2 names (counted from 0)".into(),
        ),
        (&|a| a.subject = vec![7], "`subject` has 1 entry, but `X` has 2 trials".into()),
        (&|a| a.x.1[10] = f64::NAN, "`X` has NaN in trial 1".into()),
        (
            &|a| a.x.1[9 + 2] = 3.0,
            "`X` has a matrix that is not symmetric in trial 1, input 0: entries (2, 0) and (0, 2) differ by 2e0".into(),
        ),
        (
            &|a| a.align = Some("procrustes"),
            "`align` is \"procrustes\"; it must be none, riemannian, log-euclidean or euclidean".into(),
        ),
        (
            &|a| (a.x, a.channels) = ((vec![2, 0, 0], vec![]), vec![]),
            "there are no channels".into(),
        ),
        (&|a| a.sfreq = vec![0.0], "`sfreq` is 0; it must be positive".into()),
        (
            &|a| a.unit = "kV^2",
            "`unit` is \"kV^2\"; it must be uV^2, mV^2, V^2 or nV^2, or 1 for dimensionless data".into(),
        ),
        (
            &|a| a.kind = Some("epochs"),
            "`kind` is \"epochs\"; it must be \"trials\" or \"covariances\"".into(),
        ),
    ];
    for (change, expected) in cases {
        assert_eq!(message(change), expected);
    }
}

/// Compressed arrays as in NumPy's `savez_compressed`: one channel, and the given numbers of
/// labels, ids and classes.
fn compressed(path: &Path, trials: usize, labels: usize, ids: usize, classes: usize) {
    let shape = |count: usize| format!("({count},)");
    let bytes = |values: &[f64]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<_>>();
    let text = |words: &[&str]| {
        words.iter().flat_map(|word| word.chars()).flat_map(|c| (c as u32).to_le_bytes()).collect()
    };
    // Noise does not compress; millions of trials are all the same.
    let noisy = trials < 1_000_000;
    let ones = noise(5, if noisy { trials } else { 0 }).iter().map(|x| 1.0 + x * x).collect::<Vec<_>>();
    let (kind, ones) = if noisy { ("<f8", bytes(&ones)) } else { ("|i1", vec![1; trials]) };
    let names: Vec<u8> =
        (0..classes as u32).flat_map(|class| (0x4e00 + class % 20_000).to_le_bytes()).collect();
    let arrays: [(&str, &str, String, Vec<u8>); 9] = [
        ("X", kind, format!("({trials}, 1, 1)"), ones),
        ("y", "|i1", shape(labels), vec![0; labels]),
        ("subject", "<i8", shape(ids), vec![0; 8 * ids]),
        ("session", "<U1", shape(ids), [b'0', 0, 0, 0].repeat(ids)),
        ("run", "|S1", shape(ids), b"0".repeat(ids)),
        ("classes", "<U1", shape(classes), names),
        ("channels", "<U2", shape(1), text(&["Cz"])),
        ("sfreq", "<f8", "()".into(), bytes(&[160.0])),
        ("unit", "<U4", "()".into(), text(&["uV^2"])),
    ];
    let mut zip = zip::ZipWriter::new(std::fs::File::create(path).unwrap());
    let deflated =
        zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Deflated);
    for (name, kind, shape, values) in arrays {
        zip.start_file(format!("{name}.npy"), deflated).unwrap();
        std::io::Write::write_all(&mut zip, &npy(&header(kind, &shape), &values)).unwrap();
    }
    zip.finish().unwrap();
}

/// Labels and ids of many trials are often equal and compress to almost nothing; that must be
/// accepted. Wrong shapes, and lists too long for the file, are refused before they are read.
#[test]
fn lists_are_judged_by_their_shapes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.npz");
    compressed(&path, 9538, 9538, 9538, 2);
    let loaded = load(&path).unwrap().content;
    assert_eq!((loaded.about().origins.len(), &*loaded.about().origins[9537].session), (9538, "0"));
    let message = |trials: usize, labels: usize, ids: usize| {
        compressed(&path, trials, labels, ids, 2);
        let message = load(&path).unwrap_err().to_string();
        message.strip_prefix(&format!("{}: ", path.display())).unwrap().to_owned()
    };
    assert_eq!(message(400, 400, 300_000), "`subject` has 300000 entries, but `X` has 400 trials");
    assert_eq!(message(400, 401, 400), "`y` has 401 entries, but `X` has 400 trials");
    let length = |message: &str| message.rsplit(' ').nth(1).unwrap().parse::<u64>().unwrap();
    let many = message(3_000_000, 3_000_000, 400);
    assert_eq!(many, format!("`y` has 3000000 entries in a file of {} bytes", length(&many)));
}
