//! Saving and loading of models.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use fedspd_manifold::{IterationLimits, Real, Spd, SpdMetric};
use safetensors::{Dtype, SafeTensors, serialize, tensor::TensorView};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use super::Fault;
use super::manifest::{Manifest, Network};
use crate::Error;
use crate::params::{LARGEST_INFEASIBILITY, Layout, ParamSet, Parameter};

/// The key of fedspd's entry in the metadata.
const KEY: &str = "fedspd";
const FORMAT: &str = "fedspd-model";
/// The version that this program writes, and the newest that it can load.
const VERSION: u64 = 2;
/// The tensor of [`Manifest::population`], always in double precision.
const POPULATION: &str = "population";

/// The common start of every version of the format.
#[derive(Deserialize)]
struct Kind {
    format: String,
    version: u64,
}

#[derive(Serialize, Deserialize)]
struct Envelope<'a> {
    format: String,
    version: u64,
    sha256: String,
    /// The manifest as text, because the checksum covers it.
    #[serde(borrow)]
    manifest: &'a RawValue,
}

/// Returns the bytes of a model file. The path appears only in messages.
///
/// # Errors
/// [`Error::Config`] or [`Error::Model`] if manifest and parameters do not match or could not be
/// loaded again.
pub fn encode<T: Real>(path: &Path, manifest: &Manifest, parameters: &ParamSet<T>) -> Result<Vec<u8>, Error> {
    manifest.check()?;
    let at = |fault| Error::Model { path: path.to_owned(), fault };
    if **parameters.layout() != layout(manifest)? {
        let problem = "or another one does not belong to the network in the manifest".to_owned();
        let name = parameters.layout().parameters().first().map_or(String::new(), |p| p.name.clone());
        return Err(at(Fault::Parameter { name, problem }));
    }
    for (parameter, values) in parameters.iter() {
        check_values(parameter, &T::widen(values)).map_err(at)?;
    }
    let population = manifest.population.as_deref();
    if let Some(population) = population {
        check_population(&manifest.network, population).map_err(at)?;
    }
    let population: Option<Vec<u8>> =
        population.map(|numbers| numbers.iter().flat_map(|number| number.to_le_bytes()).collect());
    let (dtype, width) = if T::MANTISSA_BITS > 32 { (Dtype::F64, 8) } else { (Dtype::F32, 4) };
    let mut bytes = Vec::with_capacity(parameters.values().len() * width);
    for &value in parameters.values() {
        match dtype {
            Dtype::F64 => bytes.extend(value.to_f64().to_le_bytes()),
            _ => bytes.extend((value.to_f64() as f32).to_le_bytes()),
        }
    }
    let unreadable = |error: &dyn std::fmt::Display| at(Fault::Manifest { reason: error.to_string() });
    let text = serde_json::to_string(manifest).map_err(|error| unreadable(&error))?;
    let tensors = parameters.layout().parameters().iter().map(|parameter| {
        let range = parameter.range();
        let data = &bytes[range.start * width..range.end * width];
        let view = TensorView::new(dtype, parameter.shape.clone(), data);
        view.map(|view| (parameter.name.as_str(), view)).map_err(|error| unreadable(&error))
    });
    let mut tensors = tensors.collect::<Result<Vec<_>, _>>()?;
    if let Some(population) = &population {
        let view = TensorView::new(Dtype::F64, manifest.network.references().to_vec(), population);
        tensors.push((POPULATION, view.map_err(|error| unreadable(&error))?));
    }
    let manifest = RawValue::from_string(text).map_err(|error| unreadable(&error))?;
    let sha256 = checksum(&manifest, tensors.iter().map(|(name, view)| (*name, view.data())));
    let envelope = Envelope { format: FORMAT.to_owned(), version: VERSION, sha256, manifest: &manifest };
    let metadata = serde_json::to_string(&envelope).map_err(|error| unreadable(&error))?;
    serialize(tensors, Some(HashMap::from([(KEY.to_owned(), metadata)]))).map_err(|error| unreadable(&error))
}

/// Loads a model in the requested floating-point type.
///
/// # Errors
/// [`Error::File`] if the file cannot be read. [`Error::Model`] if it is truncated, damaged, from
/// another program or of a later version. [`Error::Model`] also if its parameters do not match its
/// network, are not finite or lack orthonormal columns.
pub fn load<T: Real>(path: &Path) -> Result<(Manifest, ParamSet<T>), Error> {
    decode(path, &content(path)?)
}

/// A model as stored: the parameters in their own floating-point type, and the bytes of the file.
pub struct Stored {
    /// The manifest of the file.
    pub manifest: Manifest,
    /// The parameters.
    pub parameters: StoredParameters,
    /// The whole file, already checked.
    pub bytes: Vec<u8>,
}

/// Parameters in the floating-point type of their file.
#[derive(Clone, Debug, PartialEq)]
pub enum StoredParameters {
    /// Single precision.
    F32(ParamSet<f32>),
    /// Double precision.
    F64(ParamSet<f64>),
}

/// Loads a model as stored, to pass it to other programs bit for bit.
///
/// # Errors
/// Those of [`load`].
pub fn load_stored(path: &Path) -> Result<Stored, Error> {
    let bytes = content(path)?;
    let (manifest, wide) = decode::<f64>(path, &bytes)?;
    let single = is_single(&bytes);
    let parameters = if single { StoredParameters::F32(wide.cast()) } else { StoredParameters::F64(wide) };
    Ok(Stored { manifest, parameters, bytes })
}

/// Whether all parameters in the bytes of a model file have single precision.
pub fn is_single(bytes: &[u8]) -> bool {
    SafeTensors::deserialize(bytes).is_ok_and(|tensors| {
        tensors.iter().all(|(name, view)| name == POPULATION || view.dtype() == Dtype::F32)
    })
}

fn content(path: &Path) -> Result<Vec<u8>, Error> {
    fs::read(path).map_err(|source| Error::File { path: path.to_owned(), source })
}

/// Reads a model from the bytes of a file, in the requested floating-point type. The path appears
/// only in messages.
///
/// # Errors
/// [`Error::Model`] as [`load`].
pub fn decode<T: Real>(path: &Path, bytes: &[u8]) -> Result<(Manifest, ParamSet<T>), Error> {
    let at = |fault| Error::Model { path: path.to_owned(), fault };
    let unsafe_tensors =
        |error: &dyn std::fmt::Display| at(Fault::NotSafetensors { reason: error.to_string() });
    let tensors = SafeTensors::deserialize(bytes).map_err(|error| unsafe_tensors(&error))?;
    let (_, header) = SafeTensors::read_metadata(bytes).map_err(|error| unsafe_tensors(&error))?;
    let metadata = header.metadata().as_ref().and_then(|entries| entries.get(KEY));
    let metadata = metadata.ok_or_else(|| at(Fault::Foreign))?;
    let unreadable = |error: &dyn std::fmt::Display| at(Fault::Manifest { reason: error.to_string() });
    let kind: Kind = serde_json::from_str(metadata).map_err(|_| at(Fault::Foreign))?;
    if kind.format != FORMAT {
        return Err(at(Fault::Foreign));
    }
    if kind.version == 0 {
        return Err(unreadable(&"there is no version 0"));
    }
    if kind.version > VERSION {
        return Err(at(Fault::Future { found: kind.version, newest: VERSION }));
    }
    let envelope: Envelope<'_> = serde_json::from_str(metadata).map_err(|error| unreadable(&error))?;
    let mut manifest: Manifest =
        serde_json::from_str(envelope.manifest.get()).map_err(|error| unreadable(&error))?;
    manifest.check().map_err(|error| unreadable(&error))?;
    let layout = Arc::new(layout(&manifest)?);
    let names = layout.parameters().iter().map(|parameter| parameter.name.as_str());
    let names = names.chain(tensors.tensor(POPULATION).is_ok().then_some(POPULATION));
    let data = names.map(|name| (name, tensors.tensor(name).map_or(&[][..], |view| view.data())));
    let found = checksum(envelope.manifest, data);
    if found != envelope.sha256 {
        return Err(at(Fault::Checksum { expected: envelope.sha256, found }));
    }
    let parameters = read(&tensors, layout).map_err(at)?;
    manifest.population = read_population(&tensors, &manifest.network).map_err(at)?;
    Ok((manifest, parameters))
}

/// Returns the layout of the network that a manifest describes.
fn layout(manifest: &Manifest) -> Result<Layout, Error> {
    match &manifest.network {
        Network::SpdNet(config) => config.layout(),
        Network::EegNet(config) => config.layout(),
    }
}

/// Computes SHA-256 of the manifest's text and of the name and bytes of each tensor.
fn checksum<'a>(manifest: &RawValue, tensors: impl Iterator<Item = (&'a str, &'a [u8])>) -> String {
    let mut hash = Sha256::new();
    let mut add = |bytes: &[u8]| {
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    add(manifest.get().as_bytes());
    for (name, data) in tensors {
        add(name.as_bytes());
        add(data);
    }
    hash.finalize().iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Checks that the values of a parameter are finite, with orthonormal columns where required.
fn check_values(parameter: &Parameter, values: &[f64]) -> Result<(), Fault> {
    let fault = |problem: String| Fault::Parameter { name: parameter.name.clone(), problem };
    if let Some(place) = values.iter().position(|value| !value.is_finite()) {
        return Err(fault(format!("is {} at index {place}", values[place])));
    }
    let error = parameter.feasibility_error(values).map_err(|error| fault(error.to_string()))?;
    if error > LARGEST_INFEASIBILITY {
        return Err(fault(format!("is {error:.1e} away from its manifold")));
    }
    Ok(())
}

/// Checks that references of alignment are positive definite.
fn check_population(network: &Network, population: &[f64]) -> Result<(), Fault> {
    let [inputs, n, _] = network.references();
    let fault = |problem: String| Fault::Parameter { name: POPULATION.into(), problem };
    if population.len() != inputs * n * n {
        return Err(fault(format!(
            "has {} numbers where {inputs} x {n} x {n} were expected",
            population.len()
        )));
    }
    // Only positive definite matrices have a mean.
    let mean = Spd::new(n)
        .and_then(|mut spd| spd.mean(SpdMetric::LogEuclidean, population, None, IterationLimits::default()));
    mean.map(drop).map_err(|error| fault(format!("has a wrong matrix: {error}")))
}

fn read_population(tensors: &SafeTensors<'_>, network: &Network) -> Result<Option<Vec<f64>>, Fault> {
    let Ok(view) = tensors.tensor(POPULATION) else { return Ok(None) };
    let fault = |problem: String| Fault::Parameter { name: POPULATION.into(), problem };
    check_shape(&view, &network.references()).map_err(fault)?;
    if view.dtype() != Dtype::F64 {
        return Err(fault(format!("is of type {:?} where F64 was expected", view.dtype())));
    }
    let population: Vec<f64> = doubles(&view).collect();
    check_population(network, &population)?;
    Ok(Some(population))
}

/// Returns the numbers of a tensor in double precision.
fn doubles<'a>(view: &TensorView<'a>) -> impl Iterator<Item = f64> + use<'a> {
    view.data().as_chunks().0.iter().map(|&bytes| f64::from_le_bytes(bytes))
}

fn check_shape(view: &TensorView<'_>, expected: &[usize]) -> Result<(), String> {
    if view.shape() == expected {
        return Ok(());
    }
    Err(format!("has shape {:?} where {expected:?} was expected", view.shape()))
}

fn read<T: Real>(tensors: &SafeTensors<'_>, layout: Arc<Layout>) -> Result<ParamSet<T>, Fault> {
    let known: HashSet<&str> = layout.parameters().iter().map(|parameter| parameter.name.as_str()).collect();
    let belongs = |name: &str| name == POPULATION || known.contains(name);
    if let Some(extra) = tensors.names().into_iter().find(|name| !belongs(name)) {
        return Err(Fault::Parameter {
            name: extra.to_owned(),
            problem: "does not belong to the network".into(),
        });
    }
    let mut values = Vec::new();
    for parameter in layout.parameters() {
        let fault = |problem: String| Fault::Parameter { name: parameter.name.clone(), problem };
        let view = tensors.tensor(&parameter.name).map_err(|_| fault("is missing".into()))?;
        check_shape(&view, &parameter.shape).map_err(fault)?;
        let numbers: Vec<f64> = match view.dtype() {
            Dtype::F64 => doubles(&view).collect(),
            Dtype::F32 => {
                let numbers = view.data().as_chunks().0.iter();
                numbers.map(|&bytes| f64::from(f32::from_le_bytes(bytes))).collect()
            }
            other => return Err(fault(format!("is of type {other:?} where F64 or F32 was expected"))),
        };
        check_values(parameter, &numbers)?;
        let first = values.len();
        values.extend(numbers.into_iter().map(T::from_f64));
        if let Some(place) = values[first..].iter().position(|value| !value.is_finite()) {
            return Err(fault(format!("is too large for the requested precision at index {place}")));
        }
    }
    ParamSet::new(layout, values)
        .map_err(|error| Fault::Parameter { name: String::new(), problem: error.to_string() })
}
