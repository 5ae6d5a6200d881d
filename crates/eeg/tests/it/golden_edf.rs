//! Agreement with MNE (`golden/edf`).

use std::path::PathBuf;

use fedspd_eeg::Annotation;
use fedspd_eeg::read::EdfFile;

fn path(name: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "../../golden/edf", name].iter().collect()
}

fn check(file: &str, name: &str) {
    let mut file = EdfFile::open(&path(file)).unwrap();
    let signals: Vec<usize> = file.header().sampled().collect();
    let found = file.recording(&signals).unwrap();

    let text = std::fs::read_to_string(path(&format!("{name}.json"))).unwrap();
    let expected: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(Some(found.sfreq), expected["sfreq"].as_f64());
    let channels: Vec<&str> =
        expected["channels"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    assert_eq!(found.channels, channels);

    let bytes = std::fs::read(path(&format!("{name}_samples.npy"))).unwrap();
    let samples: Vec<f64> = npyz::NpyFile::new(&bytes[..]).unwrap().into_vec().unwrap();
    assert_eq!(found.samples.len(), samples.len());
    for (place, (found, expected)) in found.samples.iter().zip(&samples).enumerate() {
        assert!((found - expected).abs() <= 1e-12 * expected.abs(), "{place}: {found}, MNE has {expected}");
    }

    let annotations = expected["annotations"].as_array().unwrap().iter().map(|row| Annotation {
        onset: row[0].as_f64().unwrap(),
        duration: row[1].as_f64().unwrap(),
        text: row[2].as_str().unwrap().to_owned(),
    });
    let annotations: Vec<Annotation> = annotations.collect();
    assert_eq!(found.annotations.len(), annotations.len());
    for (found, expected) in found.annotations.iter().zip(&annotations) {
        assert!((found.onset - expected.onset).abs() < 1e-12, "{found:?}, MNE has {expected:?}");
        assert_eq!((found.duration, &found.text), (expected.duration, &expected.text));
    }
}

#[test]
fn edf_plus_reads_as_in_mne() {
    check("small.edf", "edf");
}

#[test]
fn bdf_plus_reads_as_in_mne() {
    check("small.bdf", "bdf");
}
