//! Evaluation of a saved model on other data.

use std::path::{Path, PathBuf};

use fedspd_eeg::store::load;
use fedspd_eeg::{About, Alignment};
use fedspd_manifold::{Real, SpdMetric};
use fedspd_nn::file::{self, Manifest};
use fedspd_nn::{Architecture, InputShape, ParamSet, Trainer};
use fedspd_run::{Confusion, RunFolder};

use super::scores::confusion;
use crate::Error;
use crate::config::{AlignKind, Mode};
use crate::data::Content;
use crate::record::saved_config;
use crate::train::{Visitor, Z_SCORE, with_saved_network};

/// The scores of a model on data.
pub struct ModelScores {
    /// The names of the classes.
    pub classes: Vec<String>,
    /// The confusion matrix of all trials.
    pub confusion: Confusion,
    /// The mean cross-entropy.
    pub loss: f64,
    /// The confusion matrix of each subject.
    pub subjects: Vec<(String, Confusion)>,
    /// Whether statistics were fitted to the data, as a network with local batch normalisation
    /// needs.
    pub calibrated: bool,
    /// Defaults and conversions of the loader.
    pub notes: Vec<String>,
}

/// Evaluates a model on an `.npz` of covariances or trials. `align` aligns each subject on all its
/// trials first, without labels.
///
/// # Errors
/// Faults of either file; [`Error::Foreign`] if they do not match; [`Error::Alignment`] if the
/// network does not read the data that the alignment changes.
pub fn evaluate_model(model: &Path, data: &Path, align: AlignKind) -> Result<ModelScores, Error> {
    let (manifest, parameters) = file::load::<f64>(model)?;
    let loaded = load(data)?;
    let mut content = Content::from(loaded.content);
    same_names(model, &manifest, content.about())?;
    let kind = manifest.network.kind();
    content.check(&data.display().to_string(), kind)?;
    let unfit = |align, of| Err(Error::Alignment { align, of, model: kind });
    match (&mut content, align) {
        (_, AlignKind::None) => {}
        (Content::Covariances(covariances), AlignKind::Riemannian) => {
            covariances.recentre(SpdMetric::AffineInvariant)?;
        }
        (Content::Covariances(covariances), AlignKind::LogEuclidean) => {
            covariances.recentre(SpdMetric::LogEuclidean)?;
        }
        (Content::Covariances(_), AlignKind::Euclidean) => return unfit("euclidean", "raw trials"),
        (Content::Trials(trials), AlignKind::Euclidean) => trials.align()?,
        (Content::Trials(_), AlignKind::Riemannian) => return unfit("riemannian", "covariances"),
        (Content::Trials(_), AlignKind::LogEuclidean) => return unfit("log-euclidean", "covariances"),
    }
    if let Content::Trials(trials) = &mut content
        && manifest.treatment.iter().any(|name| name == Z_SCORE)
        && !trials.about.making.z_score
    {
        trials.z_score()?;
    }
    same_treatment(model, &manifest, content.about())?;
    let notes = loaded.notes.iter().map(|note| format!("{}: {note}", data.display())).collect();
    let scores = Scores { content, parameters, calibrated: kind.has_statistics(), notes };
    with_saved_network(&manifest.network, scores)
}

/// Returns the model of a run with one seed.
///
/// # Errors
/// Faults of the folder; [`Error::NoModel`] with the reason if there is not exactly one model.
pub fn model_of_run(folder: &Path) -> Result<PathBuf, Error> {
    let folder = RunFolder::open(folder)?;
    let seeds = fedspd_run::Manifest::read(&folder.manifest())?.seeds;
    let none = |reason: String| Err(Error::NoModel { path: folder.root().to_owned(), reason });
    if saved_config(&folder)?.mode == Mode::Local {
        return none("clients that train alone have no common model".into());
    }
    let [seed] = seeds[..] else {
        return none(format!("it has {} seeds; name one of the files in its folder `models`", seeds.len()));
    };
    let model = folder.model(seed);
    if !model.is_file() {
        return none("the run is not done; resume it first".into());
    }
    Ok(model)
}

/// Checks that classes and channels of model and data are the same.
fn same_names(model: &Path, manifest: &Manifest, about: &About) -> Result<(), Error> {
    let facts =
        [("classes", &manifest.classes, &about.classes), ("channels", &manifest.channels, &about.channels)];
    facts.into_iter().find(|(_, expected, found)| expected != found).map_or(
        Ok(()),
        |(what, expected, found)| {
            let (expected, found) = (format!("{expected:?}"), format!("{found:?}"));
            Err(Error::Foreign { path: model.to_owned(), what, expected, found })
        },
    )
}

/// Checks that the data were treated like the training data. The unit alone is not enough, because
/// aligned trials and z-scores are both dimensionless.
fn same_treatment(model: &Path, manifest: &Manifest, about: &About) -> Result<(), Error> {
    let foreign = |what, expected: &str, found: &str| {
        let (expected, found) = (expected.to_owned(), found.to_owned());
        Err(Error::Foreign { path: model.to_owned(), what, expected, found })
    };
    if manifest.unit != about.unit {
        return foreign("the unit", &manifest.unit, &about.unit);
    }
    let names =
        about.making.align.map(Alignment::name).into_iter().chain(about.making.z_score.then_some(Z_SCORE));
    let found: Vec<&str> = names.collect();
    if manifest.treatment != found {
        let shown = |names: &[&str]| if names.is_empty() { "none".to_owned() } else { names.join(", then ") };
        let expected: Vec<&str> = manifest.treatment.iter().map(String::as_str).collect();
        return foreign("the treatment", &shown(&expected), &shown(&found));
    }
    Ok(())
}

/// Computes the scores of all trials and of each subject. Each subject has statistics of its own.
struct Scores {
    content: Content,
    parameters: ParamSet<f64>,
    calibrated: bool,
    notes: Vec<String>,
}

impl Visitor for Scores {
    type Output = ModelScores;

    fn visit<T: Real, N: Architecture<T>>(self, network: N) -> Result<ModelScores, Error> {
        let (shape, about) = (self.content.shape(), self.content.about().clone());
        let numbers = self.content.into_numbers();
        let labels = about.labels();
        let trials = N::trials(&shape, numbers.into_iter().map(T::from_f64).collect(), labels.clone())?;
        let (examples, parameters) = (network.prepare(trials)?, self.parameters.cast::<T>());
        let mut trainer = Trainer::new(&network, 64, 1)?;
        let InputShape { classes, .. } = shape;
        let (mut all, mut subjects, mut loss) = (Confusion::new(classes), Vec::new(), 0.0);
        for subject in about.subjects() {
            let own = about.trials_of(subject);
            let mut parameters = parameters.clone();
            network.calibrate(&mut parameters, &examples, &own)?;
            let evaluation = trainer.evaluate(&parameters, &examples, &own)?;
            let confusion = confusion(classes, &labels, &own, &evaluation)?;
            all.merge(&confusion)?;
            loss += evaluation.loss * own.len() as f64 / about.origins.len() as f64;
            subjects.push((subject.to_owned(), confusion));
        }
        let Self { calibrated, notes, .. } = self;
        Ok(ModelScores { classes: about.classes.clone(), confusion: all, loss, subjects, calibrated, notes })
    }
}
