//! A trained model and the preparation of its data.

use std::path::Path;

use fedspd_eeg::prepare::Progress;
use fedspd_eeg::{Alignment, AlignmentFit, Branch, ContentKind, Making, Preparation};
use fedspd_nn::file::{Manifest, decode, is_single};
use fedspd_nn::{Input, ParamSet, Precision};
use fedspd_run::counted;

use super::new_data::{Gathered, NewData, gather, given};
use super::predictions::{Calibration, Predictions, probabilities};
use crate::Error;
use crate::data::{Content, read_stored};

/// The name of z-scores among the treatments of a model file of version 1.
const Z_SCORE: &str = "z-score";

/// A trained model. It predicts in the precision of its training, so that probabilities equal those
/// of the run to the bit.
pub struct Predictor {
    /// Its name in messages.
    name: String,
    manifest: Manifest,
    parameters: ParamSet<f64>,
    precision: Precision,
    preparation: Preparation,
}

impl Predictor {
    /// Loads a model file.
    ///
    /// # Errors
    /// Those of [`fedspd_nn::file::load`]; [`Error::StoredPreparation`].
    pub fn load(path: &Path) -> Result<Self, Error> {
        let bytes =
            std::fs::read(path).map_err(|source| fedspd_nn::Error::File { path: path.to_owned(), source })?;
        Self::read(path, format!("the model {}", path.display()), &bytes)
    }

    /// Reads the bytes of a model file. Messages use the name.
    ///
    /// # Errors
    /// Those of [`fedspd_nn::file::decode`]; [`Error::StoredPreparation`].
    pub fn new(name: &str, bytes: &[u8]) -> Result<Self, Error> {
        Self::read(Path::new(name), name.to_owned(), bytes)
    }

    fn read(path: &Path, name: String, bytes: &[u8]) -> Result<Self, Error> {
        let (manifest, parameters) = decode(path, bytes)?;
        let preparation = match &manifest.preparation {
            Some(stored) => read_stored(stored, path)?,
            None => former_preparation(&manifest),
        };
        check_belongs(&preparation, &manifest)
            .map_err(|reason| Error::StoredPreparation { path: path.to_owned(), reason })?;
        let precision = if is_single(bytes) { Precision::F32 } else { Precision::F64 };
        Ok(Self { name, manifest, parameters, precision, preparation })
    }

    /// Returns the manifest of the model file.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Returns the parameters.
    pub fn parameters(&self) -> &ParamSet<f64> {
        &self.parameters
    }

    /// Returns how the training data were prepared.
    pub fn preparation(&self) -> &Preparation {
        &self.preparation
    }

    /// Its name in messages.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn precision(&self) -> Precision {
        self.precision
    }

    /// Prepares data as the model says, and predicts every trial.
    ///
    /// # Errors
    /// Faults of the data; [`Error::Preparation`] if they cannot be prepared as the model says;
    /// [`Error::Calibration`] for too few trials; [`Error::NotAligned`] and [`Error::AlignedData`] if
    /// nothing can be aligned online.
    pub fn predict(
        &self,
        data: &NewData,
        calibration: Calibration,
        progress: &impl Progress,
    ) -> Result<Predictions, Error> {
        let gathered = gather(data, &self.preparation, &self.name, progress)?;
        self.predict_gathered(gathered, &data.name, calibration)
    }

    /// Predicts every trial of data in memory. Messages use the name of the data.
    ///
    /// # Errors
    /// As [`Predictor::predict`].
    pub fn predict_content(
        &self,
        content: Content,
        name: &str,
        calibration: Calibration,
    ) -> Result<Predictions, Error> {
        let gathered = given(content, &self.preparation, &self.name, name)?;
        self.predict_gathered(gathered, name, calibration)
    }

    fn predict_gathered(
        &self,
        mut gathered: Gathered,
        name: &str,
        calibration: Calibration,
    ) -> Result<Predictions, Error> {
        gathered.content.check(name, self.manifest.network.kind())?;
        if !self.preparation.making.is_known() {
            gathered.notes.push(format!(
                "{} is of an older version or was trained on arrays: it does not say how all its data were \
                 filtered and cut, and what it does not say is not compared",
                self.name
            ));
        }
        match calibration {
            Calibration::All => probabilities(self, gathered, None, true),
            Calibration::First(first) => probabilities(self, gathered, Some(first), true),
            Calibration::Online => self.predict_online(gathered, name),
        }
    }
}

/// Checks that a preparation is one of the network's input.
fn check_belongs(preparation: &Preparation, manifest: &Manifest) -> Result<(), String> {
    let Preparation { content, classes, channels, making, .. } = preparation;
    let reads = content_of(manifest.network.kind().reads());
    let inputs = inputs_of(manifest);
    let branches = making.branches.len();
    if *content != reads {
        return Err(format!("it prepares {}, but the network reads {}", content.name(), reads.name()));
    }
    if classes != &manifest.classes || channels != &manifest.channels {
        return Err("its classes or channels are not those of the network".into());
    }
    if branches > 1 && branches != inputs {
        return Err(format!("it has {}, but the network has {inputs}", counted(branches, "input")));
    }
    let alignment = making.alignment();
    if making.branches.iter().any(|branch| branch.alignment != alignment) {
        return Err("its branches are aligned in different ways".into());
    }
    let euclidean = alignment == Some(Alignment::Euclidean);
    let of_samples = making.branches.iter().any(|branch| branch.z_score) || euclidean;
    let of_matrices = alignment.is_some() && !euclidean;
    match reads {
        ContentKind::Covariances if of_samples => {
            Err("covariances have no z-scores and no Euclidean alignment".into())
        }
        ContentKind::Trials if of_matrices => Err("trials have no alignment of covariances".into()),
        _ => Ok(()),
    }
}

fn content_of(reads: Input) -> ContentKind {
    match reads {
        Input::Covariances => ContentKind::Covariances,
        Input::Samples => ContentKind::Trials,
    }
}

/// Returns the number of matrices or arrays of a trial.
fn inputs_of(manifest: &Manifest) -> usize {
    match (manifest.network.kind().reads(), &manifest.network.trial_shape()[..]) {
        (Input::Covariances, &[inputs, _, _]) => inputs,
        _ => 1,
    }
}

/// Returns the preparation of a model file of version 1, as far as it is known.
fn former_preparation(manifest: &Manifest) -> Preparation {
    let named = |name: &str| manifest.treatment.iter().any(|treatment| treatment == name);
    let alignment = Alignment::ALL.into_iter().find(|alignment| named(alignment.name()));
    let branch = Branch {
        alignment,
        fit: alignment.map(|_| AlignmentFit::Train),
        z_score: named(Z_SCORE),
        ..Branch::default()
    };
    let inputs = inputs_of(manifest);
    Preparation {
        content: content_of(manifest.network.kind().reads()),
        classes: manifest.classes.clone(),
        channels: manifest.channels.clone(),
        sfreq: None,
        unit: manifest.unit.clone(),
        making: Making { branches: vec![branch; inputs], ..Making::default() },
    }
}
