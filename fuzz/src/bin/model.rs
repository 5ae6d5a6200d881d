//! Fuzz target: model files, their predictions and their export.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use fedspd_experiment::{Calibration, Error, Experiment, NewData, Predictor, fit};
use fedspd_fuzz::{Memory, Target, runs, words};
use safetensors::SafeTensors;
use serde_json::Value;

use fedspd_nn::file::{Fault, decode, encode, load_stored};

/// Recordings for a model.
const DEFINITION: &str = r#"
    name = "mine"
    format = "edf"
    files = "{subject}.edf"
    sfreq = 32
    unit = "uV"
    interval = [0, 0.5]
    band = [1, 9]
    events = [{ classes = { T1 = "one", blink = "two", "look left" = "two", left = "one" } }]
"#;

/// The key of the metadata in a safetensors file, and that of our entry in it.
const METADATA: &str = "__metadata__";
const KEY: &str = "fedspd";

fn main() -> ExitCode {
    fedspd_fuzz::main(target())
}

fn target() -> Result<Target, Box<dyn std::error::Error>> {
    let changes: [&[&str]; 3] = [
        &[],
        &["model.dims=[]", "model.head=vech"],
        &["model.kind=eegnet", "data.generated.samples=64", "data.generated.sfreq=64"],
    ];
    let folder = tempfile::tempdir()?;
    let definition = folder.path().join("mine.toml");
    fs::write(&definition, DEFINITION)?;
    for subject in 1..=8 {
        let recording = include_bytes!("../../../golden/edf/small.edf");
        fs::write(folder.path().join(format!("{subject}.edf")), recording)?;
    }
    // This model stores how its recordings were prepared.
    let name = format!("data.name={}", definition.display());
    let prepared: &[&str] =
        &[&name, "federated.subjects_per_client=4", "align={kind='riemannian', fit='all'}"];
    let mut seeds = Vec::new();
    for changes in changes.into_iter().chain([prepared]) {
        let seed = fit(&Experiment::new(runs::config(changes)?, &())?, &mut ())?.unwrap_or_default();
        seeds.extend([parts(&seed)?, seed]);
    }
    Ok(Target {
        name: "model",
        seeds,
        tokens: &[
            b"\"F64\"",
            b"\"F32\"",
            b"\"BF16\"",
            b"[0,0]",
            b"[4294967296,4294967296]",
            b"[18446744073709551615]",
            b"\"spdnet\"",
            b"\"eegnet\"",
            b"\xff\xff\xff\xff\xff\xff\xff\x7f",
            b"\0\0\0\0\0\0\xf0\x7f",
            b"\0\0\0\0\0\0\xf8\xff",
        ],
        read: Box::new(move |bytes| match use_model(folder.path(), bytes) {
            Err(Error::Network(error)) => words(&error),
            Err(error) => words(&error),
            Ok(()) => "ok".into(),
        }),
        // The parameters, their copies in both precisions, and the header as JSON values. A network
        // has buffers for a batch of trials.
        memory: Memory { fixed: 16 << 20, per_byte: 4096 },
    })
}

fn use_model(folder: &Path, bytes: &[u8]) -> Result<(), Error> {
    let path = &folder.join("model.safetensors");
    let bytes = sealed(path, &assembled(bytes));
    decode::<f32>(path, &bytes).map(drop).or_else(|error| match error {
        // Some numbers are too large for single precision.
        fedspd_nn::Error::Model { fault: Fault::Parameter { .. }, .. } => Ok(()),
        other => Err(other),
    })?;
    let predictor = Predictor::new("the model", &bytes).inspect_err(|error| drop(error.hint()))?;
    let encoded = encode(path, predictor.manifest(), predictor.parameters())?;
    let (manifest, parameters) = decode::<f64>(path, &encoded)?;
    assert!(manifest == *predictor.manifest() && parameters == *predictor.parameters(), "changed by saving");
    if fs::write(path, &bytes).is_ok() {
        load_stored(path)?;
    }
    let shape = predictor.manifest().network.trial_shape();
    let numbers: usize = shape.iter().product();
    let side = shape.last().copied().unwrap_or(1);
    // A diagonal matrix, or samples that differ.
    let number = |at: usize| if at.is_multiple_of(side + 1) { 1.0 + (at % 7) as f64 } else { 0.0 };
    let predicted = predictor
        .probabilities(2, |trials| (0..trials.len() * numbers).map(|at| number(at % numbers)).collect())?;
    assert_eq!(predicted.len(), 2 * predictor.manifest().classes.len());
    // The recording is prepared as the model says.
    let recording = NewData::new(folder.join("1.edf").display().to_string());
    for calibration in [Calibration::Online, Calibration::All] {
        match predictor.predict(&recording, calibration, &()) {
            Ok(_) | Err(Error::NotAligned { .. }) => {}
            Err(error) => {
                drop(error.hint());
                return Err(error);
            }
        }
    }
    Ok(())
}

/// Returns the parts of a model file: manifest, description of the tensors, and data. Their damage
/// keeps the lengths in the file right.
fn parts(file: &[u8]) -> Result<Vec<u8>, Box<dyn std::error::Error>> {
    let (size, metadata) = SafeTensors::read_metadata(file)?;
    let text = metadata.metadata().as_ref().and_then(|entries| entries.get(KEY)).ok_or("no manifest")?;
    let envelope: Value = serde_json::from_str(text)?;
    let mut header: Value = serde_json::from_slice(&file[8..8 + size])?;
    header.as_object_mut().and_then(|header| header.remove(METADATA)).ok_or("no metadata")?;
    let texts = format!("{}\n{header}\n", envelope["manifest"]);
    Ok([texts.as_bytes(), &file[8 + size..]].concat())
}

/// Returns the model file of some parts; other inputs are model files.
fn assembled(input: &[u8]) -> Vec<u8> {
    let parts: Vec<&[u8]> = input.splitn(3, |&byte| byte == b'\n').collect();
    let [manifest, tensors, data] = parts[..] else { return input.to_vec() };
    let Some(tensors) = tensors.strip_prefix(b"{") else { return input.to_vec() };
    let (manifest, tensors) = (String::from_utf8_lossy(manifest), String::from_utf8_lossy(tensors));
    let sum = "0".repeat(64);
    let envelope =
        format!(r#"{{"format":"fedspd-model","version":1,"sha256":"{sum}","manifest":{manifest}}}"#);
    let header = format!("{{{:?}:{{{KEY:?}:{}}},{tensors}", METADATA, Value::from(envelope));
    [&(header.len() as u64).to_le_bytes(), header.as_bytes(), data].concat()
}

/// Replaces the checksum by that of the content, so that damaged content is read too.
fn sealed(path: &Path, bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    if let Err(fedspd_nn::Error::Model { fault: Fault::Checksum { expected, found }, .. }) =
        decode::<f64>(path, &bytes)
        && expected.len() == found.len()
        && let Some(place) = bytes.windows(found.len()).position(|window| window == expected.as_bytes())
    {
        bytes[place..place + found.len()].copy_from_slice(found.as_bytes());
    }
    bytes
}
