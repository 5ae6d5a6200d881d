//! Prepared data of other programs: all types that NumPy writes, defaults, units, and faults.

use std::collections::BTreeMap;

use fedspd_eeg::Error;
use fedspd_eeg::store::{Loaded, Prepared, load};

use crate::support::npz::{archive, header, npy, stored};

/// The arrays of a file as NumPy writes them: a type, a shape and the bytes of the values.
#[derive(Clone)]
struct Arrays(BTreeMap<&'static str, Vec<u8>>);

const FILES: [(&str, &str); 9] = [
    ("X", "X.npy"),
    ("y", "y.npy"),
    ("subject", "subject.npy"),
    ("session", "session.npy"),
    ("run", "run.npy"),
    ("classes", "classes.npy"),
    ("channels", "channels.npy"),
    ("sfreq", "sfreq.npy"),
    ("unit", "unit.npy"),
];

fn floats(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// Unicode texts of two characters each.
fn texts(words: &[&str]) -> Vec<u8> {
    let points = words.iter().flat_map(|word| word.chars().chain(std::iter::repeat('\0')).take(2));
    points.flat_map(|point| (point as u32).to_le_bytes()).collect()
}

impl Arrays {
    /// Four trials of two channels with the required arrays only.
    fn required() -> Self {
        let x: Vec<f64> = (0..4).flat_map(|trial| [2.0 + f64::from(trial), 0.5, 0.5, 1.0]).collect();
        Self(BTreeMap::new())
            .with("X", "<f8", "(4, 2, 2)", &floats(&x))
            .with("y", "<f8", "(4,)", &floats(&[0.0, 1.0, 1.0, 0.0]))
            .with("subject", "|i1", "(4,)", &[1, 1, 2, 2])
            .with("sfreq", "<i2", "()", &160_i16.to_le_bytes())
            .with("unit", "<U2", "()", &texts(&["1"]))
    }

    /// Adds names of classes and channels, a session and a run.
    fn complete() -> Self {
        Self::required()
            .with("session", "|b1", "(4,)", &[0, 0, 1, 1])
            .with("run", "|S2", "(4,)", b"a\0a\0bbbb")
            .with("classes", "|S1", "(2,)", b"lr")
            .with("channels", "<U2", "(2,)", &texts(&["C3", "C4"]))
    }

    fn with(mut self, name: &'static str, kind: &str, shape: &str, values: &[u8]) -> Self {
        self.0.insert(name, npy(&header(kind, shape), values));
        self
    }

    fn load(&self) -> Result<Loaded, Error> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data.npz");
        let entries = FILES.iter().filter_map(|(name, file)| Some(stored(file, self.0.get(name)?)));
        std::fs::write(&path, archive(&entries.collect::<Vec<_>>())).unwrap();
        load(&path)
    }

    /// Returns message and hint of a file that is refused, without its path.
    fn refusal(&self) -> (String, String) {
        let error = self.load().unwrap_err();
        let message = error.to_string();
        let message = message.split_once("data.npz: ").unwrap().1.to_owned();
        (message, error.hint().unwrap_or_default())
    }
}

fn column(loaded: &Loaded, field: impl Fn(&fedspd_eeg::Origin) -> &String) -> Vec<&str> {
    loaded.content.about().origins.iter().map(|origin| &**field(origin)).collect()
}

#[test]
fn ids_may_have_any_type() {
    let loaded = Arrays::complete().load().unwrap();
    assert_eq!(loaded.notes, []);
    assert_eq!(column(&loaded, |origin| &origin.subject), ["1", "1", "2", "2"]);
    assert_eq!(column(&loaded, |origin| &origin.session), ["0", "0", "1", "1"], "booleans");
    assert_eq!(column(&loaded, |origin| &origin.run), ["a", "a", "bb", "bb"], "bytes");
    for (kind, values) in [
        ("<f4", [1_f32, 1.0, -0.0, 12.0].iter().flat_map(|x| x.to_le_bytes()).collect()),
        (">i8", [1_i64, 1, 0, 12].iter().flat_map(|x| x.to_be_bytes()).collect()),
        ("<u2", [1_u16, 1, 0, 12].iter().flat_map(|x| x.to_le_bytes()).collect()),
        ("<U2", texts(&["1", "1", "0", "12"])),
        ("|S2", b"1\x001\x000\x0012".to_vec()),
    ] {
        for name in ["subject", "session", "run"] {
            let loaded = Arrays::complete().with(name, kind, "(4,)", &values).load().unwrap();
            let ids = column(&loaded, |origin| match name {
                "subject" => &origin.subject,
                "session" => &origin.session,
                _ => &origin.run,
            });
            assert_eq!(ids, ["1", "1", "0", "12"], "{name} of type {kind}");
        }
    }
    let one = Arrays::complete().with("subject", "<U2", "()", &texts(&["S7"])).load().unwrap();
    assert_eq!(column(&one, |origin| &origin.subject), ["S7"; 4], "one value counts for all trials");
}

#[test]
fn labels_may_be_names_or_numbers() {
    let of = |arrays: &Arrays| {
        let loaded = arrays.load().unwrap();
        let about = loaded.content.about();
        (about.classes.clone(), about.labels())
    };
    let named = |arrays: Arrays| arrays.with("y", "<U2", "(4,)", &texts(&["r", "l", "l", "r"]));
    let names = |names: [&str; 2]| names.map(str::to_owned).to_vec();
    assert_eq!(of(&Arrays::complete()), (names(["l", "r"]), vec![0, 1, 1, 0]));
    // Sorted without `classes`, in the order of `classes` otherwise.
    assert_eq!(of(&named(Arrays::required())), (names(["l", "r"]), vec![1, 0, 0, 1]));
    let reversed = named(Arrays::complete()).with("classes", "|S1", "(2,)", b"rl");
    assert_eq!(of(&reversed), (names(["r", "l"]), vec![0, 1, 1, 0]));
    // Numbers are sorted as numbers, not as texts.
    let numbers = Arrays::required().with("y", "|u1", "(4,)", &[10, 2, 2, 10]);
    assert_eq!(of(&numbers), (names(["2", "10"]), vec![1, 0, 0, 1]));
    let booleans = Arrays::required().with("y", "|b1", "(4,)", &[1, 0, 0, 1]);
    assert_eq!(of(&booleans), (names(["0", "1"]), vec![1, 0, 0, 1]));
}

#[test]
fn missing_arrays_have_defaults_with_a_note() {
    let loaded = Arrays::required().load().unwrap();
    assert_eq!(
        loaded.notes.iter().map(ToString::to_string).collect::<Vec<_>>(),
        [
            "there is no array `channels`: the channels are numbered from 1 to 2, so their order cannot be compared with that of other data",
            "there is no array `session`: all trials count as one session",
            "there is no array `run`: all trials count as one run",
            "there is no array `classes`: the classes are the sorted labels of `y`, `0`, `1`",
        ]
    );
    let about = loaded.content.about();
    assert_eq!(about.channels, ["channel 1", "channel 2"]);
    assert_eq!((&*about.origins[3].session, &*about.origins[3].run), ("1", "1"));
}

/// Values and notes are those of the same data in microvolts.
#[test]
fn volts_become_microvolts_with_a_note() {
    let numbers = |loaded: &Loaded| match &loaded.content {
        Prepared::Covariances(covariances) => covariances.matrices().to_vec(),
        Prepared::Trials(trials) => {
            (0..trials.len()).flat_map(|trial| trials.trial(trial)).copied().collect()
        }
    };
    let microvolts = [3.0, 0.5, 0.5, 1.0].repeat(4);
    for (unit, square, per_microvolt, noted) in [
        ("uV", "uV^2", 1.0, false),
        ("\u{b5}V", "\u{b5}V\u{b2}", 1.0, false),
        ("V", "V^2", 1e-6, true),
        ("V", "V**2", 1e-6, true),
        ("V", "V\u{b2}", 1e-6, true),
        ("mV", "mV^2", 1e-3, true),
        ("nV", "nV^2", 1e3, true),
    ] {
        let cases = [
            ("(4, 2, 2)", square, "uV^2", per_microvolt * per_microvolt),
            ("(4, 1, 4)", unit, "uV", per_microvolt),
        ];
        for (shape, unit, converted, factor) in cases {
            let x: Vec<f64> = microvolts.iter().map(|x| x * factor).collect();
            let length = unit.chars().count();
            let letters: Vec<u8> = unit.chars().flat_map(|letter| (letter as u32).to_le_bytes()).collect();
            let arrays = Arrays::required().with("X", "<f8", shape, &floats(&x)).with(
                "unit",
                &format!("<U{length}"),
                "()",
                &letters,
            );
            let loaded = arrays.load().unwrap();
            assert_eq!(loaded.content.about().unit, converted);
            for (found, expected) in numbers(&loaded).iter().zip(&microvolts) {
                assert!((found - expected).abs() <= 4.0 * f64::EPSILON * expected, "{unit}: {found}");
            }
            let notes: Vec<String> = loaded.notes.iter().map(ToString::to_string).collect();
            let note = format!("`X` was converted from {unit} to {converted}");
            assert_eq!(notes.contains(&note), noted, "{unit}: {notes:?}");
        }
    }
}

#[test]
#[allow(clippy::too_many_lines)] // a table
fn every_wrong_array_is_named() {
    let f8 = |values: &[f64]| floats(values);
    let required = "the arrays X, y, subject, sfreq and unit are required; session, run, classes and channels have defaults";
    let objects = "in Python, convert the array before saving it: `.astype(str)` for names, `.astype(float)` for numbers";
    let other_type = "in Python, convert the array before saving it: `.astype('float64')` for numbers, `.astype(str)` for anything else";
    let renamed = "leave `classes` out to name the classes after their labels, or save the name of each trial's class in `y`";
    let objects_in = |name| format!("`{name}` holds pickled Python objects, which are never read");
    let complete = Arrays::complete;
    let rows: Vec<(Arrays, String, &str)> = vec![
        (
            complete().with("y", "|u1", "(3,)", &[0, 1, 1]),
            "`y` has 3 entries, but `X` has 4 trials".into(),
            "",
        ),
        (
            complete().with("y", "|u1", "(4, 1)", &[0; 4]),
            "`y` has the shape [4, 1]; it must be a list with one entry per trial".into(),
            "",
        ),
        (
            complete().with("y", "|u1", "()", &[0]),
            "`y` has the shape []; it must be a list with one entry per trial".into(),
            "",
        ),
        (
            complete().with("y", "<f8", "(4,)", &f8(&[0.0, 0.5, 1.0, 1.0])),
            "`y` has 0.5 at entry 1; it must be a text or a whole number".into(),
            "",
        ),
        (
            complete().with("y", "|u1", "(4,)", &[1, 2, 2, 1]),
            "`y` has the label 2 at trial 1, but `classes` has 2 names (counted from 0)".into(),
            renamed,
        ),
        (
            complete().with("y", "|u1", "(4,)", &[0; 4]).with("classes", "|S1", "(0,)", b""),
            "`y` has the label 0 at trial 0, but `classes` has 0 names (counted from 0)".into(),
            renamed,
        ),
        (
            complete().with("y", "|S1", "(4,)", b"lrlf"),
            "`y` has the label \"f\" at trial 3, but `classes` has `l`, `r`".into(),
            "",
        ),
        (complete().with("y", "|O", "(4,)", &[0; 32]), objects_in("y"), objects),
        (complete().with("session", "|O", "(4,)", &[0; 32]), objects_in("session"), objects),
        (complete().with("channels", "|O", "(2,)", &[0; 16]), objects_in("channels"), objects),
        (
            complete().with("session", "<M8[D]", "(4,)", &[0; 32]),
            "`session` is of type '<M8[D]', which is not read".into(),
            other_type,
        ),
        (
            complete().with("run", "<f8", "(4,)", &f8(&[1.0, 1.0, f64::NAN, 2.0])),
            "`run` has NaN at entry 2; it must be a text or a whole number".into(),
            "",
        ),
        (
            complete().with("run", "<f8", "(4,)", &f8(&[1.0, 1e300, 1.0, 2.0])),
            format!("`run` has {} at entry 1; it must be a text or a whole number", 1e300),
            "",
        ),
        (
            complete().with("session", "|i1", "(5,)", &[0; 5]),
            "`session` has 5 entries, but `X` has 4 trials".into(),
            "",
        ),
        (
            complete().with("channels", "<U2", "(1,)", &texts(&["C3"])),
            "`channels` has 1 name, but `X` has 2 channels".into(),
            "",
        ),
        (
            complete().with("channels", "<U2", "()", &texts(&["C3"])),
            "`channels` has the shape []; it must be a list".into(),
            "",
        ),
        (
            complete().with("classes", "|i1", "(2,)", &[1, 2]),
            "`classes` is of type '|i1' where texts are needed".into(),
            "in Python, save `array.astype(str)`",
        ),
        (
            complete().with("sfreq", "<f8", "(2,)", &f8(&[160.0, 160.0])),
            "`sfreq` has the shape [2]; it must be a single number".into(),
            "",
        ),
        (
            complete().with("sfreq", "<U2", "()", &texts(&["16"])),
            "`sfreq` is of type '<U2' where numbers are needed".into(),
            "",
        ),
        (
            complete().with("unit", "<U2", "()", &texts(&["uV"])),
            "`unit` is \"uV\"; it must be uV^2, mV^2, V^2 or nV^2, or 1 for dimensionless data".into(),
            "",
        ),
        (
            complete().with("X", "|b1", "(4, 2, 2)", &[1; 16]),
            "`X` is of type '|b1' where numbers are needed".into(),
            "",
        ),
        (
            Arrays(complete().0.into_iter().filter(|(name, _)| *name != "subject").collect()),
            "there is no array `subject`".into(),
            required,
        ),
        (
            Arrays(complete().0.into_iter().filter(|(name, _)| *name != "unit").collect()),
            "there is no array `unit`".into(),
            "in Python, save `unit=\"uV^2\"` for covariances of microvolts, or another of uV^2, mV^2, V^2 or nV^2, or 1 for dimensionless data; for trials, uV, mV, V or nV, or 1 for dimensionless data",
        ),
    ];
    for (arrays, message, hint) in rows {
        assert_eq!(arrays.refusal(), (message, hint.to_owned()));
    }
}

/// What fedspd writes needs no note, and comes back as it was.
#[test]
fn own_files_need_no_note() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data.npz");
    let Prepared::Covariances(covariances) = Arrays::required().load().unwrap().content else { panic!() };
    covariances.save(&path).unwrap();
    assert_eq!(load(&path).unwrap(), Loaded { content: Prepared::Covariances(covariances), notes: vec![] });
}
