//! Model files: saved models load unchanged, and anything else is a clear error.

use std::path::{Path, PathBuf};

use fedspd_manifold::Vectorisation;
use fedspd_nn::file::{Fault, Manifest, Network, encode, is_single, load};
use fedspd_nn::{Error, Model, ParamSet, Seed, SpdNet, SpdNetConfig};

fn save<T: fedspd_manifold::Real>(
    path: &Path,
    manifest: &Manifest,
    parameters: &ParamSet<T>,
) -> Result<(), Error> {
    let bytes = encode(path, manifest, parameters)?;
    std::fs::write(path, bytes).map_err(|source| Error::File { path: path.to_owned(), source })
}

fn names(prefix: &str, count: usize) -> Vec<String> {
    (0..count).map(|i| format!("{prefix}{i}")).collect()
}

fn model() -> (Manifest, ParamSet<f64>) {
    let config = SpdNetConfig::new(vec![6, 4], 3).inputs(2).head(Vectorisation::IsometricVech).dropout(0.25);
    let parameters = SpdNet::<f64>::new(config.clone()).unwrap().initial(Seed(1)).unwrap();
    (Manifest::new(Network::SpdNet(config), "uV", names("class", 3), names("C", 6)).unwrap(), parameters)
}

fn saved() -> (tempfile::TempDir, PathBuf, Vec<u8>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    let (manifest, parameters) = model();
    save(&path, &manifest, &parameters).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    (folder, path, bytes)
}

fn fault(path: &PathBuf, bytes: &[u8]) -> Fault {
    std::fs::write(path, bytes).unwrap();
    match load::<f64>(path).unwrap_err() {
        Error::Model { fault, .. } => fault,
        other => panic!("{other}"),
    }
}

#[test]
fn what_was_saved_comes_back() {
    let (folder, path, bytes) = saved();
    let (manifest, parameters) = model();
    let (found_manifest, found) = load::<f64>(&path).unwrap();
    assert_eq!((found_manifest, found.values()), (manifest.clone(), parameters.values()));
    // The same model gives the same file.
    save(&path, &manifest, &parameters).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
    // No other file is left in the folder.
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);

    let narrow: ParamSet<f32> = parameters.cast();
    save(&path, &manifest, &narrow).unwrap();
    assert!(std::fs::metadata(&path).unwrap().len() < bytes.len() as u64);
    assert_eq!(load::<f32>(&path).unwrap().1.values(), narrow.values());
    assert_eq!(load::<f64>(&path).unwrap().1.values(), narrow.cast::<f64>().values());
}

#[test]
fn cut_off_files_are_refused_at_any_length() {
    let (_folder, path, bytes) = saved();
    for length in (0..bytes.len()).step_by(97).chain([7, 8, 9, bytes.len() - 1]) {
        let fault = fault(&path, &bytes[..length]);
        assert!(matches!(fault, Fault::NotSafetensors { .. }), "{length}: {fault}");
    }
    let error = load::<f64>(&path).unwrap_err();
    assert!(error.to_string().contains("model.safetensors: not a complete safetensors file"), "{error}");
    assert!(error.hint().unwrap().contains("copy it again"));
}

/// A change of any byte is detected.
#[test]
fn damaged_files_are_refused_at_any_byte() {
    let (_folder, path, bytes) = saved();
    let header = 8 + u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let padding = bytes[..header].iter().rev().take_while(|byte| **byte == b' ').count();
    for place in (0..bytes.len()).filter(|place| !(header - padding..header).contains(place)) {
        let mut changed = bytes.clone();
        changed[place] ^= 1;
        std::fs::write(&path, &changed).unwrap();
        match load::<f64>(&path) {
            Err(Error::Model { .. }) => {}
            Err(other) => panic!("byte {place}: {other}"),
            // A changed letter of fedspd's key may turn the file into that of another program, but
            // never into a model.
            Ok(_) => panic!("byte {place} of {} (header {header}) was not noticed", bytes.len()),
        }
    }
    let mut changed = bytes;
    *changed.last_mut().unwrap() ^= 1;
    assert!(matches!(fault(&path, &changed), Fault::Checksum { .. }));
}

#[test]
fn foreign_and_future_files_are_refused() {
    let (_folder, path, bytes) = saved();
    let text = br#"{"x":{"dtype":"F64","shape":[1],"data_offsets":[0,8]}}"#;
    let foreign = [&(text.len() as u64).to_le_bytes()[..], text, &1.0_f64.to_le_bytes()].concat();
    assert_eq!(fault(&path, &foreign), Fault::Foreign);
    assert!(matches!(fault(&path, b"PK\x03\x04 something else"), Fault::NotSafetensors { .. }));

    let place = bytes.windows(12).position(|w| w == br#"\"version\":"#).unwrap() + 12;
    let mut future = bytes;
    future[place] = b'9';
    let fault = fault(&path, &future);
    assert_eq!(fault, Fault::Future { found: 9, newest: 2 });
    assert_eq!(load::<f64>(&path).unwrap_err().hint().unwrap(), "install a newer fedspd");
}

#[test]
fn missing_files_and_folders_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("no/model.safetensors");
    let error = load::<f64>(&path).unwrap_err();
    assert!(error.to_string().contains("no/model.safetensors: "), "{error}");
    assert!(load::<f64>(folder.path()).is_err());
}

#[test]
fn manifests_that_do_not_fit_are_refused() {
    let (manifest, parameters) = model();
    let config = SpdNetConfig::new(vec![6, 4], 3).inputs(2);
    let make = |unit: &str, classes, channels| {
        Manifest::new(Network::SpdNet(config.clone()), unit, names("k", classes), names("c", channels))
            .unwrap_err()
            .to_string()
    };
    assert_eq!(make("uV", 2, 6), "`classes` is 2; it must be 3 names");
    assert_eq!(make("uV", 3, 5), "`channels` is 5; it must be 6 names");
    assert!(make("", 3, 6).contains("`unit`"));
    // Parameters of another network.
    let other = SpdNet::<f64>::new(config).unwrap().initial(Seed(0)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    assert!(save(&folder.path().join("m"), &manifest, &other).is_err());
    // Columns that are not orthonormal, or not finite, are not saved.
    let start = parameters.values()[0];
    for (value, text) in [(start + 2e-3, "away from its manifold"), (f64::NAN, "is NaN at index 0")] {
        let mut broken = parameters.clone();
        broken.values_mut()[0] = value;
        let path = folder.path().join("broken");
        let error = save(&path, &manifest, &broken).unwrap_err().to_string();
        assert!(error.contains("input0.block0.weight") && error.contains(text), "{error}");
        assert!(!path.exists());
    }
    // An `f32` model can be loaded, saved and loaded again in `f64`.
    let path = folder.path().join("narrow");
    save(&path, &manifest, &parameters.cast::<f32>()).unwrap();
    let (_, wide) = load::<f64>(&path).unwrap();
    save(&path, &manifest, &wide).unwrap();
    assert_eq!(load::<f64>(&path).unwrap().1, wide);
}

/// Numbers of the manifest are restored bit for bit. A number that `f32` cannot hold is an error,
/// not infinity.
#[test]
fn numbers_come_back_exactly_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    for threshold in [1_536.081_492_140_129_7, 0.089_778_719_213_416_83, 1e-300 / 3.0, 0.1 + 0.2] {
        let config = SpdNetConfig::new(vec![3], 2).threshold(threshold);
        let mut parameters = SpdNet::<f64>::new(config.clone()).unwrap().initial(Seed(0)).unwrap();
        let manifest = Manifest::new(Network::SpdNet(config), "1", names("k", 2), names("c", 3)).unwrap();
        save(&path, &manifest, &parameters).unwrap();
        assert_eq!(load::<f64>(&path).unwrap().0, manifest);
        parameters.values_mut()[4] = 1e39;
        save(&path, &manifest, &parameters).unwrap();
        assert!(load::<f64>(&path).is_ok());
        assert!(load::<f32>(&path).unwrap_err().to_string().contains("for the requested precision"));
    }
}

/// Returns a file with fedspd's metadata and these tensors.
fn crafted(metadata: &str, tensors: &str, data: &[u8]) -> Vec<u8> {
    let header =
        format!(r#"{{"__metadata__":{{"fedspd":{}}}{tensors}}}"#, serde_json::to_string(metadata).unwrap());
    [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), data].concat()
}

#[test]
fn crafted_files_are_refused() {
    let (_folder, path, bytes) = saved();
    // A later version with a changed envelope is still reported as a later version.
    let future = crafted(r#"{"format":"fedspd-model","version":3,"something":"else"}"#, "", &[]);
    assert_eq!(fault(&path, &future), Fault::Future { found: 3, newest: 2 });
    assert_eq!(fault(&path, &crafted(r#"{"format":"other","version":1}"#, "", &[])), Fault::Foreign);
    assert_eq!(fault(&path, &crafted("no json", "", &[])), Fault::Foreign);
    // A network of unreasonable size is refused before its layout is built.
    let dimensions = vec!["1"; 2000].join(",");
    let network = format!(
        r#"{{"kind":"spdnet","dimensions":[{dimensions}],"inputs":1024,"classes":2,"threshold":1.0,"head":"vec","dropout":0.0}}"#
    );
    let manifest =
        format!(r#"{{"network":{network},"unit":"uV","classes":["a","b"],"channels":["c"],"fedspd":"0"}}"#);
    let envelope = format!(r#"{{"format":"fedspd-model","version":1,"sha256":"","manifest":{manifest}}}"#);
    assert!(matches!(fault(&path, &crafted(&envelope, "", &[])), Fault::Manifest { .. }));
    // An extra tensor.
    let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let header = std::str::from_utf8(&bytes[8..8 + length]).unwrap().trim_end();
    let end = bytes.len() - 8 - length;
    let header = header.strip_suffix('}').unwrap().to_owned()
        + &format!(r#","extra":{{"dtype":"F64","shape":[1],"data_offsets":[{end},{}]}}}}"#, end + 8);
    let more =
        [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &bytes[8 + length..], &[0; 8]].concat();
    assert!(matches!(fault(&path, &more), Fault::Parameter { name, .. } if name == "extra"));
}

/// The start of alignment is stored exactly, in both precisions of the parameters, and checked.
#[test]
fn the_mean_of_the_population_is_stored() {
    let (_folder, path, _) = saved();
    let (manifest, parameters) = model();
    let eye = |scale: f64| (0..36).map(move |i| if i % 7 == 0 { scale / 3.0 } else { 0.0 });
    let population: Vec<f64> = eye(1.0).chain(eye(2.0)).collect();
    let starting = manifest.clone().starting_at(Some(population.clone()));
    save(&path, &starting, &parameters).unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    assert!(!is_single(&bytes));
    let (found, same) = load::<f64>(&path).unwrap();
    assert_eq!((found.population, same.values()), (Some(population.clone()), parameters.values()));
    save(&path, &starting, &parameters.cast::<f32>()).unwrap();
    assert!(is_single(&std::fs::read(&path).unwrap()));
    assert_eq!(load::<f32>(&path).unwrap().0.population, Some(population.clone()));
    // The checksum covers it.
    let place = bytes.windows(8).position(|window| window == (1.0_f64 / 3.0).to_le_bytes()).unwrap();
    bytes[place] ^= 1;
    assert!(matches!(fault(&path, &bytes), Fault::Checksum { .. }));
    let wrong = |numbers: Vec<f64>| {
        encode(&path, &manifest.clone().starting_at(Some(numbers)), &parameters).unwrap_err().to_string()
    };
    let mut negative = population.clone();
    negative[0] = -1.0;
    let said = wrong(negative);
    assert!(said.contains("population") && said.contains("has a wrong matrix: "), "{said}");
    let said = wrong(population[..36].to_vec());
    assert!(said.contains("population"), "{said}");
}
