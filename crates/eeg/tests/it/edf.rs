//! Tests of the EDF and BDF reader.

use std::io::Cursor;

use fedspd_eeg::read::{EdfFault, EdfFile, EdfFormat, Gap};
use fedspd_eeg::{Annotation, Error};
use proptest::prelude::*;
use rand::RngExt;

use crate::support::edf::{Draft, list, place, put};
use crate::support::{cases, rng};

type Memory = EdfFile<Cursor<Vec<u8>>>;

fn open(draft: &Draft) -> Memory {
    EdfFile::new(Cursor::new(draft.bytes())).unwrap()
}

fn note(onset: f64, duration: f64, text: &str) -> Annotation {
    Annotation { onset, duration, text: text.to_owned() }
}

/// Four records of a second with two signals and annotations.
fn plus(kind: &'static str, times: [&str; 4]) -> Draft {
    let lists: Vec<Vec<u8>> = times.iter().map(|time| list(time, "", &[""])).collect();
    let samples: Vec<i32> = (0..8).collect();
    Draft::edf(4)
        .kind(kind)
        .signal("C3", b"uV", &samples)
        .signal("C4", b"uV", &samples.iter().map(|x| -x).collect::<Vec<_>>())
        .annotations(&lists)
}

#[test]
fn the_header_says_what_is_there() {
    let draft = plus("EDF+C", ["+0", "+1", "+2", "+3"]).duration("0.5");
    let file = open(&draft);
    let header = file.header();
    assert_eq!((header.format, header.continuous), (EdfFormat::EdfPlus, true));
    assert_eq!((header.records, header.record_duration), (4, 0.5));
    assert_eq!((header.start_date.as_str(), header.start_time.as_str()), ("16.11.26", "10.20.30"));
    let signal = &header.signals[1];
    assert_eq!((signal.label.as_str(), signal.unit.as_str()), ("C4", "uV"));
    assert_eq!((signal.transducer.as_str(), signal.prefilter.as_str()), ("electrode", "HP:0.1Hz"));
    assert_eq!((signal.physical_minimum, signal.physical_maximum), (-32768.0, 32767.0));
    assert_eq!((signal.digital_minimum, signal.digital_maximum), (-32768, 32767));
    assert_eq!((signal.samples_per_record, signal.annotations), (2, false));
    assert!(header.signals[2].annotations);
    assert_eq!(header.sampled().collect::<Vec<_>>(), [0, 1]);
    assert_eq!([0, 1, 2, 3].map(|signal| header.sfreq(signal)), [Some(4.0), Some(4.0), None, None]);

    let kinds = ["", "EDF+C", "EDF+D"].map(|kind| (open(&draft.clone().kind(kind))).header().clone());
    assert_eq!(
        kinds.map(|header| (header.format, header.continuous)),
        [(EdfFormat::Edf, true), (EdfFormat::EdfPlus, true), (EdfFormat::EdfPlus, false),]
    );
    let bdf = ["24BIT", "BDF+C", "BDF+D"].map(|kind| Draft::bdf(1).kind(kind).signal("Cz", b"uV", &[1]));
    let kinds = bdf.map(|draft| open(&draft).header().clone());
    assert_eq!(
        kinds.map(|header| (header.format, header.continuous)),
        [(EdfFormat::Bdf, true), (EdfFormat::BdfPlus, true), (EdfFormat::BdfPlus, false),]
    );
}

#[test]
fn samples_are_sample_after_sample_in_the_order_asked_for() {
    let mut file = open(&plus("EDF+C", ["+0", "+1", "+2", "+3"]));
    assert_eq!(file.read(&[1, 0]).unwrap()[..6], [0.0, 0.0, -1.0, 1.0, -2.0, 2.0]);
    assert_eq!(file.read(&[0]).unwrap(), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
    assert_eq!(file.read(&[0, 0, 1]).unwrap()[3..6], [1.0, 1.0, -1.0]);
    let second = file.read(&[1]).unwrap();
    assert_eq!(second, [0.0, -1.0, -2.0, -3.0, -4.0, -5.0, -6.0, -7.0]);

    let recording = file.recording(&[1]).unwrap();
    assert_eq!((recording.sfreq, recording.len()), (2.0, 8));
    assert_eq!((recording.channels, recording.samples), (vec!["C4".to_owned()], second));
}

#[test]
fn voltages_become_microvolts_and_other_units_stay() {
    let rows: [(&[u8], f64); 15] = [
        (b"uV", 1.0),
        (b"uv", 1.0),
        (b"\xb5V", 1.0),
        ("\u{b5}V".as_bytes(), 1.0),
        ("\u{3bc}V".as_bytes(), 1.0),
        (b"\x83\xcaV", 1.0),
        (b"mV", 1e3),
        (b"mv", 1e3),
        (b"V", 1e6),
        (b"nV", 1e-3),
        (b"", 1.0),
        (b"%", 1.0),
        (b"degC", 1.0),
        (b"Boolean", 1.0),
        (b"mmHg", 1.0),
    ];
    for (unit, factor) in rows {
        let draft = Draft::edf(1).scaled("x", unit, ["-10", "20"], [0, 3], &[0, 1, 3, -1]);
        let expected = [-10.0, 0.0, 20.0, -20.0].map(|value: f64| value * factor);
        assert_eq!(open(&draft).read(&[0]).unwrap(), expected, "{}", unit.escape_ascii());
    }
}

#[test]
fn an_inverted_physical_range_inverts_and_a_decimal_comma_is_a_point() {
    let draft = Draft::edf(1).scaled("x", b"uV", ["1,5", "-1,5"], [-3, 3], &[-3, 0, 2]);
    assert_eq!(open(&draft).read(&[0]).unwrap(), [1.5, 0.0, -1.0]);
}

#[test]
fn samples_of_24_bits_keep_their_sign() {
    let samples = [0, 1, -1, 255, -256, 65536, -65536, 8_388_607, -8_388_608];
    let mut file = open(&Draft::bdf(3).signal("x", b"uV", &samples));
    assert_eq!(file.read(&[0]).unwrap(), samples.map(f64::from));
}

#[test]
fn signals_of_another_rate_are_read_by_themselves() {
    let draft =
        Draft::edf(2).duration("2").signal("fast", b"uV", &[1, 2, 3, 4]).signal("slow", b"uV", &[5, 6]);
    let mut file = open(&draft);
    assert_eq!(file.read(&[0]).unwrap(), [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(file.read(&[1]).unwrap(), [5.0, 6.0]);
    assert_eq!(
        file.read(&[0, 1]).unwrap_err().to_string(),
        "signal 0 (`fast`) has 1 samples per second, signal 1 (`slow`) has 0.5"
    );
}

#[test]
fn annotations_are_relative_to_the_first_sample_and_by_onset() {
    let first = [
        [list("+0.5", "", &[""]), list("+3", "1.5", &["late", "also late"])].concat(),
        // A time and a text in one list.
        list("+1.5", "", &["", "at the beginning"]),
    ];
    let second =
        [list("-1", "", &["before"]), [vec![0, 0], list("+0.75", "", &["Ärger \u{1f610}"])].concat()];
    for draft in [Draft::edf(2).kind("EDF+C"), Draft::bdf(2).kind("BDF+C")] {
        let draft = draft.annotations(&first).signal("x", b"uV", &[1, 2]).annotations(&second);
        let recording = open(&draft).recording(&[1]).unwrap();
        assert_eq!(recording.samples, [1.0, 2.0]);
        assert_eq!(
            recording.annotations,
            [
                note(-1.5, 0.0, "before"),
                note(0.25, 0.0, "Ärger \u{1f610}"),
                note(1.0, 0.0, "at the beginning"),
                note(2.5, 1.5, "late"),
                note(2.5, 1.5, "also late"),
            ]
        );
    }
}

#[test]
fn a_file_may_hold_nothing_but_annotations() {
    let draft = Draft::edf(1).kind("EDF+C").duration("0").annotations(&[list("+0", "", &["", "x"])]);
    assert_eq!(open(&draft).annotations().unwrap(), [note(0.0, 0.0, "x")]);
    assert_eq!(open(&draft.kind("EDF+D")).gaps().unwrap(), []);
}

#[test]
fn a_file_without_annotation_signals_has_no_annotations() {
    let mut file = open(&Draft::edf(2).signal("x", b"uV", &[1, 2]));
    assert_eq!(file.annotations().unwrap(), []);
    assert_eq!(file.recording(&[0]).unwrap().samples, [1.0, 2.0]);
}

#[test]
fn gaps_are_found_and_refused() {
    let mut file = open(&plus("EDF+D", ["+0.5", "+1.5", "+4", "+4.5"]));
    let gaps = [Gap { record: 2, start: 2.0, duration: 1.5 }, Gap { record: 3, start: 4.5, duration: -0.5 }];
    assert_eq!(file.gaps().unwrap(), gaps);
    let message =
        "its records are not contiguous in 2 places: a gap of 1.5 s at 2 s, an overlap of 0.5 s at 4.5 s";
    assert_eq!(file.read(&[0]).unwrap_err().to_string(), message);
    assert_eq!(file.recording(&[0]).unwrap_err().to_string(), message);
    assert_eq!(file.annotations().unwrap(), []);

    let message = "its records are not contiguous: a gap of 0.5 s at 3 s";
    let mut one = open(&plus("EDF+D", ["+0", "+1", "+2", "+3.5"]));
    assert_eq!(one.read(&[0]).unwrap_err().to_string(), message);

    let lists: Vec<Vec<u8>> = (0..9).map(|record| list(&format!("+{}", 3 * record), "", &[""])).collect();
    let many = Draft::edf(9).kind("EDF+D").signal("x", b"uV", &[0; 9]).annotations(&lists);
    assert_eq!(
        open(&many).read(&[0]).unwrap_err().to_string(),
        "its records are not contiguous in 8 places: a gap of 2 s at 1 s, a gap of 2 s at 4 s, a gap of 2 s at 7 s, \
         a gap of 2 s at 10 s, a gap of 2 s at 13 s and 3 more"
    );
}

#[test]
fn a_discontinuous_file_without_gaps_is_read() {
    // Two samples per second: less than a quarter of a second is rounding.
    let mut file = open(&plus("EDF+D", ["+0.5", "+1.51", "+2.49", "+3.7"]));
    assert_eq!(file.gaps().unwrap(), []);
    assert_eq!(file.read(&[0]).unwrap().len(), 8);
    // Small differences add up.
    let mut slow = open(&plus("EDF+D", ["+0", "+1.1", "+2.2", "+3.3"]));
    assert_eq!(slow.gaps().unwrap().len(), 1);
}

#[test]
fn a_number_of_records_that_is_not_known_is_counted() {
    let mut bytes = plus("EDF+C", ["+0", "+1", "+2", "+3"]).bytes();
    put(&mut bytes, 236, 8, b"-1");
    bytes.truncate(bytes.len() - 1);
    let mut file = EdfFile::new(Cursor::new(bytes)).unwrap();
    assert_eq!(file.header().records, 3);
    assert_eq!(file.read(&[0]).unwrap().len(), 6);
}

#[test]
fn less_than_a_record_at_the_end_is_padding() {
    let mut bytes = plus("EDF+C", ["+0", "+1", "+2", "+3"]).bytes();
    bytes.extend([0; 5]);
    assert_eq!(EdfFile::new(Cursor::new(bytes)).unwrap().read(&[0]).unwrap().len(), 8);
}

#[test]
fn a_signal_without_scale_is_refused_only_when_it_is_read() {
    let draft = Draft::edf(1).signal("x", b"uV", &[5]).scaled("off", b"uV", ["0", "0"], [0, 1], &[5]);
    let mut file = open(&draft);
    assert_eq!(file.read(&[0]).unwrap(), [5.0]);
    assert!(file.read(&[0, 1]).is_err());
}

/// Reads these bytes in all steps, and returns the first fault.
fn fault(bytes: Vec<u8>) -> EdfFault {
    let all = |mut file: Memory| {
        let signals: Vec<usize> = file.header().sampled().collect();
        file.recording(&signals)
    };
    EdfFile::new(Cursor::new(bytes)).and_then(all).unwrap_err()
}

/// Three signals, so 256 * 4 bytes of header; 4 records of 2 * 4 + 6 bytes.
fn sound() -> Vec<u8> {
    let bytes = plus("EDF+C", ["+0", "+1", "+2", "+3"]).bytes();
    assert_eq!(bytes.len(), 1024 + 4 * 14);
    bytes
}

/// A valid file with changed fields: first byte, width and value of each.
fn but<const N: usize>(fields: [(usize, usize, &[u8]); N]) -> Vec<u8> {
    let mut bytes = sound();
    for (first, width, value) in fields {
        put(&mut bytes, first, width, value);
    }
    bytes
}

fn with(first: usize, width: usize, value: &[u8]) -> Vec<u8> {
    but([(first, width, value)])
}

/// A valid file with another number for the second signal.
fn signal(before: usize, value: &[u8]) -> Vec<u8> {
    with(place(3, before, 8, 1), 8, value)
}

fn check(rows: Vec<(Vec<u8>, &str)>) {
    for (bytes, message) in rows {
        assert_eq!(fault(bytes).to_string(), message);
    }
}

#[test]
fn faults_of_the_header_have_their_messages() {
    let sound = sound();
    check(vec![
        (vec![], "an empty file"),
        (b"hello".into(), r#"not an EDF or BDF file: it begins with "hello""#),
        (with(0, 8, b"%PDF-1.7"), r#"not an EDF or BDF file: it begins with "%PDF-1.7""#),
        (
            with(0, 8, b"\x1f\x8b\x08\x00\"\n"),
            r#"not an EDF or BDF file: it begins with "\x1f\x8b\x08\x00\"\n  ""#,
        ),
        (with(0, 8, b"1"), r#"not an EDF or BDF file: it begins with "1       ""#),
        (sound[..3].into(), "cut off in its header: the header takes 256 bytes, the file has 3"),
        (sound[..255].into(), "cut off in its header: the header takes 256 bytes, the file has 255"),
        (sound[..256].into(), "cut off in its header: the header takes 1024 bytes, the file has 256"),
        (sound[..1023].into(), "cut off in its header: the header takes 1024 bytes, the file has 1023"),
        (with(252, 4, b"\xb2"), "the number of signals has the byte 0xb2, which is not ASCII"),
        (
            signal(216, b"1\xa0"),
            "the number of samples per record of signal 1 has the byte 0xa0, which is not ASCII",
        ),
        (with(252, 4, b""), r#"the number of signals is "", not a whole number"#),
        (with(252, 4, b"3.5"), r#"the number of signals is "3.5", not a whole number"#),
        (with(252, 4, b"0"), "the header declares 0 signals; there must be at least 1"),
        (with(252, 4, b"-3"), "the header declares -3 signals; there must be at least 1"),
        (
            with(252, 4, b"9999"),
            "the header claims to take 1024 bytes, but with 9999 signals it takes 2560000",
        ),
        (with(184, 8, b"1280"), "the header claims to take 1280 bytes, but with 3 signals it takes 1024"),
        (with(184, 8, b"-1"), "the header claims to take -1 bytes, but with 3 signals it takes 1024"),
        (with(184, 8, b"many"), r#"the size of the header is "many", not a whole number"#),
        (
            but([(184, 8, b"2560000"), (252, 4, b"9999")]),
            "cut off in its header: the header takes 2560000 bytes, the file has 1080",
        ),
    ]);
}

#[test]
fn faults_of_records_and_scales_have_their_messages() {
    let sound = sound();
    check(vec![
        (with(236, 8, b"4 or 5"), r#"the number of records is "4 or 5", not a whole number"#),
        (with(236, 8, b"-2"), r#"the number of records is "-2", not a number of records"#),
        (with(244, 8, b"1s"), r#"the duration of a record is "1s", not a number"#),
        (with(244, 8, b"NaN"), r#"the duration of a record is "NaN", not a number"#),
        (with(244, 8, b"inf"), r#"the duration of a record is "inf", not a number"#),
        (with(244, 8, b"-1"), "a record lasts -1.0 s, so its signals have no sampling rate"),
        (with(244, 8, b"0"), "a record lasts 0.0 s, so its signals have no sampling rate"),
        (with(244, 8, b"1e-310"), "a record lasts 1e-310 s, so its signals have no sampling rate"),
        (signal(104, b"low"), r#"the physical minimum of signal 1 is "low", not a number"#),
        (signal(112, b""), r#"the physical maximum of signal 1 is "", not a number"#),
        (signal(120, b"0.5"), r#"the digital minimum of signal 1 is "0.5", not a whole number of 32 bits"#),
        (signal(128, b"1e10"), r#"the digital maximum of signal 1 is "1e10", not a whole number of 32 bits"#),
        (signal(216, b"0"), "signal 1 (`C4`) has 0 samples per record; there must be at least 1"),
        (signal(216, b"-2"), "signal 1 (`C4`) has -2 samples per record; there must be at least 1"),
        (
            signal(216, b"99999999"),
            "cut off: the header declares 4 records, the file has 0 (missing bytes: 799999976)",
        ),
        (
            sound[..sound.len() - 1].into(),
            "cut off: the header declares 4 records, the file has 3 (missing bytes: 1)",
        ),
        (sound[..1024].into(), "cut off: the header declares 4 records, the file has 0 (missing bytes: 56)"),
        (
            with(236, 8, b"99999999"),
            "cut off: the header declares 99999999 records, the file has 4 (missing bytes: 1399999930)",
        ),
        (with(236, 8, b"3"), "the header declares 3 records, the file has 4 (14 bytes too many)"),
        (with(236, 8, b"0"), "the header declares 0 records, the file has 4 (56 bytes too many)"),
        (
            signal(120, b"32767"),
            "signal 1 (`C4`) has the digital minimum 32767, which is not below its maximum 32767",
        ),
        (
            signal(128, b"-40000"),
            "signal 1 (`C4`) has the digital minimum -32768, which is not below its maximum -40000",
        ),
        (
            signal(104, b"32767"),
            "signal 1 (`C4`) cannot be scaled to its physical minimum 32767.0 and maximum 32767.0",
        ),
        (
            but([(place(3, 104, 8, 1), 8, b"0"), (place(3, 112, 8, 1), 8, b"1e-323")]),
            "signal 1 (`C4`) cannot be scaled to its physical minimum 0.0 and maximum 1e-323",
        ),
        (Draft::edf(1).annotations(&[list("+0", "", &[""])]).bytes(), "no signal is selected"),
    ]);
}

#[test]
fn faults_of_annotations_have_their_messages() {
    let noted = |bytes: &[u8]| {
        let mut lists = vec![list("+0", "", &[""]), list("+1", "", &[""])];
        lists[1].extend(bytes);
        Draft::edf(2).kind("EDF+C").signal("x", b"uV", &[0, 0]).annotations(&lists).bytes()
    };
    let untimed = |draft: Draft| draft.kind("EDF+D").signal("x", b"uV", &[0, 0]);
    check(vec![
        (
            noted(b"1\x14x\x14\0"),
            "record 1, byte 5 of signal 1 (`EDF Annotations`): its onset does not begin with a sign",
        ),
        (
            noted(b"+\x14x\x14\0"),
            "record 1, byte 5 of signal 1 (`EDF Annotations`): its onset is not a number",
        ),
        (
            noted(b"+1e5\x14x\x14\0"),
            "record 1, byte 5 of signal 1 (`EDF Annotations`): its onset is not a number",
        ),
        (
            noted(b"+-5\x14x\x14\0"),
            "record 1, byte 5 of signal 1 (`EDF Annotations`): its onset is not a number",
        ),
        (
            noted(b"+1\x15\x14x\x14\0"),
            "record 1, byte 5 of signal 1 (`EDF Annotations`): its duration is not a number",
        ),
        (
            noted(b"+1\x15-1\x14x\x14\0"),
            "record 1, byte 5 of signal 1 (`EDF Annotations`): its duration is not a number",
        ),
        (
            noted(b"+1\0\0\0"),
            "record 1, byte 5 of signal 1 (`EDF Annotations`): its times are not ended by 0x14",
        ),
        (
            noted(b"+1\x14text\0"),
            "record 1, byte 5 of signal 1 (`EDF Annotations`): its text is not ended by 0x14",
        ),
        (
            noted(b"+1\x14M\xfcde\x14\0"),
            "record 1, byte 5 of signal 1 (`EDF Annotations`): its text is not UTF-8",
        ),
        (
            noted(b"\0\0+1\x14x\x14!!"),
            "record 1, byte 7 of signal 1 (`EDF Annotations`): it is not ended by a zero",
        ),
        (untimed(Draft::edf(2)).bytes(), "discontinuous, but record 0 has no start time"),
        (
            untimed(Draft::edf(2)).annotations(&[list("+0", "", &[""]), list("+1", "", &["x"])]).bytes(),
            "discontinuous, but record 1 has no start time",
        ),
    ]);
}

#[test]
fn a_selection_is_checked() {
    let mut file = open(&plus("EDF+C", ["+0", "+1", "+2", "+3"]));
    let mut message = |signals: &[usize]| file.read(signals).unwrap_err().to_string();
    assert_eq!(message(&[]), "no signal is selected");
    assert_eq!(
        message(&[0, 3]),
        "signal 3 is selected, but signals are counted from 0 and their number is 3"
    );
    assert_eq!(message(&[2]), "signal 2 (`EDF Annotations`) holds annotations, not samples");
}

#[test]
fn a_range_that_overflows_is_refused() {
    for physical in [["-1e308", "1e308"], ["0", "1e308"]] {
        let mut file = open(&Draft::edf(1).scaled("x", b"V", physical, [0, 1], &[0]));
        assert!(matches!(file.read(&[0]), Err(EdfFault::PhysicalRange { .. })));
    }
}

#[test]
fn errors_name_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let show = |path: &std::path::Path| path.display().to_string();
    let error = EdfFile::open(folder.path()).unwrap_err();
    assert_eq!(error.to_string(), format!("{}: a folder, not a file", show(folder.path())));
    assert_eq!(error.hint().unwrap(), "name the file in it");

    let path = folder.path().join("missing.edf");
    let error = EdfFile::open(&path).unwrap_err();
    assert!(matches!(error, Error::File { .. }));
    assert!(error.to_string().starts_with(&show(&path)), "{error}");

    let path = folder.path().join("short.edf");
    let bytes = plus("EDF+C", ["+0", "+1", "+2", "+3"]).bytes();
    std::fs::write(&path, &bytes[..bytes.len() - 20]).unwrap();
    let error = EdfFile::open(&path).unwrap_err();
    let message = "cut off: the header declares 4 records, the file has 2 (missing bytes: 20)";
    assert_eq!(error.to_string(), format!("{}: {message}", show(&path)));
    assert_eq!(error.hint().unwrap(), "the copy is incomplete: copy or download it again");
}

#[test]
fn what_is_no_edf_is_recognised() {
    let hint = |bytes: &[u8]| EdfFile::new(Cursor::new(bytes)).unwrap_err().hint();
    assert_eq!(hint(b"GDF 2.20").unwrap(), "a GDF file: export the recording as EDF");
    assert_eq!(hint(b"\x1f\x8b\x08").unwrap(), "a compressed file: unpack it first");
    assert_eq!(hint(b"PK\x03\x04").unwrap(), "a compressed file: unpack it first");
    assert!(hint(b"<!DOCTYPE html>").unwrap().starts_with("a page of a web site"));
    assert!(hint(b"version https://git-lfs").unwrap().starts_with("a placeholder for the file"));
    assert!(hint(b"/annex/objects/").unwrap().starts_with("a placeholder for the file"));
    assert_eq!(hint(b"hello"), None);
}

#[test]
fn a_file_that_becomes_shorter_meanwhile_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shrinking.edf");
    std::fs::write(&path, Draft::edf(10).signal("x", b"uV", &vec![1; 100_000]).bytes()).unwrap();
    let mut file = EdfFile::open(&path).unwrap();
    std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(512 + 45_000).unwrap();
    assert_eq!(file.read(&[0]).unwrap_err().to_string(), "cut off in record 2 while it was read");
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn what_is_written_is_read(
        seed: u64,
        wide: bool,
        records in 1_usize..5,
        samples in 1_usize..20,
        signals in 1_usize..20,
        after in 0_usize..20,
    ) {
        let mut rng = rng(seed);
        let mut draft = if wide { Draft::bdf(records) } else { Draft::edf(records) };
        let largest = if wide { 1 << 23 } else { 1 << 15 };
        let lists = vec![list("+0", "", &[""]); records];
        let mut written = Vec::new();
        for signal in 0..signals {
            if signal == after {
                draft = draft.annotations(&lists);
            }
            let values: Vec<i32> = (0..records * samples).map(|_| rng.random_range(-largest..largest)).collect();
            draft = draft.signal(&format!("s{signal}"), b"uV", &values);
            written.push(values);
        }
        let mut file = open(&draft);
        let selected: Vec<usize> = file.header().sampled().collect();
        let read = file.read(&selected).unwrap();
        prop_assert_eq!(read.len(), records * samples * signals);
        for (place, &value) in read.iter().enumerate() {
            prop_assert_eq!(value, f64::from(written[place % signals][place / signals]));
        }
    }
}

/// The peak memory in bytes while a file is read in all ways.
fn largest_memory(bytes: &[u8]) -> u64 {
    let read = || {
        let Ok(mut file) = EdfFile::new(Cursor::new(bytes)) else { return };
        let signals: Vec<usize> = file.header().sampled().collect();
        let _ = file.annotations();
        let _ = file.gaps();
        let _ = file.recording(&signals);
        for &signal in signals.iter().take(3) {
            let _ = file.read(&[signal]);
        }
    };
    allocation_counter::measure(read).bytes_max
}

#[test]
fn damaged_files_neither_panic_nor_take_memory() {
    let sound = [
        plus("EDF+C", ["+0", "+1", "+2", "+3"]).bytes(),
        plus("EDF+D", ["+0", "+1", "+2", "+3"]).bytes(),
        Draft::bdf(3)
            .signal("x", b"uV", &[1, 2, 3])
            .annotations(&vec![list("+0", "1", &["", "y"]); 3])
            .bytes(),
    ];
    let mut rng = rng(0);
    for round in 0..30_000 {
        let mut bytes = sound[round % sound.len()].clone();
        for _ in 0..rng.random_range(1..4) {
            let place = rng.random_range(0..bytes.len());
            // Digits and signs are parsed further than other bytes.
            bytes[place] =
                if rng.random() { rng.random() } else { b"0123456789-+. "[rng.random_range(0..14)] };
        }
        if rng.random_ratio(1, 4) {
            bytes.truncate(rng.random_range(0..bytes.len()));
        }
        // A text of two bytes becomes an annotation with a string: nothing else grows more.
        let limit = 64 * bytes.len() as u64 + 4096;
        let memory = largest_memory(&bytes);
        assert!(memory <= limit, "round {round}: {memory} bytes for a file of {}", bytes.len());
    }
}
