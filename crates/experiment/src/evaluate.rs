//! A saved model on other data.

use std::path::{Path, PathBuf};

use fedspd_eeg::store::{Prepared, load};
use fedspd_eeg::{About, Alignment};
use fedspd_manifold::{Real, SpdMetric};
use fedspd_nn::file::{self, Manifest, Network};
use fedspd_nn::{EegNet, Evaluation, Model, ParamSet, RawTrials, SpdNet, SpdTrials, Trainer};
use fedspd_run::{Confusion, ConfusionFault, RunFolder};

use crate::Error;
use crate::config::{AlignKind, Mode};
use crate::experiment::{Z_SCORE, calibrate};
use crate::runner::saved_config;
use crate::spectra::check_spectra;

/// What a model made of data.
pub struct ModelScores {
    /// The names of the classes.
    pub classes: Vec<String>,
    /// All trials together.
    pub confusion: Confusion,
    /// The mean cross-entropy.
    pub loss: f64,
    /// Each subject.
    pub subjects: Vec<(String, Confusion)>,
    /// Whether statistics were taken from the data, as a network with local batch normalisation needs.
    pub calibrated: bool,
}

/// Tries a model on an `.npz` of covariances or trials. If asked for, each subject is aligned on all its trials first, without labels.
///
/// # Errors
/// Faults of either file; [`Error::Foreign`] if they do not go together, [`Error::Alignment`] if the network does not see what is to be aligned.
pub fn evaluate_model(model: &Path, data: &Path, align: AlignKind) -> Result<ModelScores, Error> {
    let (manifest, parameters) = file::load::<f64>(model)?;
    let fits = |about: &About| {
        let facts = [
            ("classes", &manifest.classes, &about.classes),
            ("channels", &manifest.channels, &about.channels),
        ];
        facts.into_iter().find(|(_, expected, found)| expected != found).map_or(
            Ok(()),
            |(what, expected, found)| {
                let (expected, found) = (format!("{expected:?}"), format!("{found:?}"));
                Err(Error::Foreign { path: model.to_owned(), what, expected, found })
            },
        )
    };
    match (&manifest.network, load(data)?) {
        (Network::SpdNet(config), Prepared::Covariances(mut covariances)) => {
            fits(&covariances.about)?;
            check_spectra(&data.display().to_string(), &covariances)?;
            match align {
                AlignKind::None => {}
                AlignKind::Riemannian => covariances.recentre(SpdMetric::AffineInvariant)?,
                AlignKind::LogEuclidean => covariances.recentre(SpdMetric::LogEuclidean)?,
                AlignKind::Euclidean => {
                    return Err(Error::Alignment { align: "euclidean", of: "raw trials", model: "SPDnet" });
                }
            }
            same_treatment(model, &manifest, &covariances.about)?;
            let (about, inputs) = (covariances.about.clone(), covariances.inputs.len());
            let net = SpdNet::<f64>::new(config.clone())?;
            let matrices = covariances.into_matrices();
            let trials =
                SpdTrials::new(about.channels.len(), inputs, about.classes.len(), matrices, about.labels())?;
            let examples = net.prepare(trials)?;
            scores(&net, &examples, &about, false, |_| Ok(parameters.clone()))
        }
        (Network::EegNet(config), Prepared::Trials(mut trials)) => {
            fits(&trials.about)?;
            let unfit = |align| Err(Error::Alignment { align, of: "covariances", model: "EEGNet" });
            match align {
                AlignKind::None => {}
                AlignKind::Euclidean => trials.align()?,
                AlignKind::Riemannian => return unfit("riemannian"),
                AlignKind::LogEuclidean => return unfit("log-euclidean"),
            }
            if manifest.treatment.iter().any(|name| name == Z_SCORE) && !trials.about.making.z_score {
                trials.z_score()?;
            }
            same_treatment(model, &manifest, &trials.about)?;
            let net = EegNet::<f64>::new(config.clone())?;
            let about = &trials.about;
            let numbers: Vec<f64> =
                (0..trials.len()).flat_map(|trial| trials.trial(trial)).copied().collect();
            let raw = RawTrials::new(
                about.channels.len(),
                trials.length(),
                about.classes.len(),
                numbers,
                about.labels(),
            )?;
            let examples = net.prepare(raw)?;
            scores(&net, &examples, about, true, |own| {
                let mut parameters = parameters.clone();
                calibrate(&net, &examples, &mut parameters, own)?;
                Ok(parameters)
            })
        }
        (Network::SpdNet(_), Prepared::Trials(_)) => {
            Err(unsuitable(data, "trials with all their samples", "SPDnet"))
        }
        (_, Prepared::Covariances(_)) => Err(unsuitable(data, "covariances", "EEGNet")),
        (_, Prepared::Trials(_)) => Err(unsuitable(data, "trials", "this network")),
    }
}

/// The model of a run with one seed.
///
/// # Errors
/// Faults of the folder; [`Error::NoModel`] with the reason why there is no model, or not the one.
pub fn model_of_run(folder: &Path) -> Result<PathBuf, Error> {
    let folder = RunFolder::open(folder)?;
    let seeds = fedspd_run::Manifest::read(&folder.manifest())?.seeds;
    let none = |reason: String| Err(Error::NoModel { path: folder.root().to_owned(), reason });
    if saved_config(&folder)?.mode == Mode::Local {
        return none("clients that train alone have no common model".into());
    }
    let [seed] = seeds[..] else {
        return none(format!("it has {} seeds; name one of the files in its folder models", seeds.len()));
    };
    let model = folder.model(seed);
    if !model.is_file() {
        return none("the run is not done; go on with it first".into());
    }
    Ok(model)
}

fn unsuitable(data: &Path, kind: &'static str, model: &'static str) -> Error {
    Error::Unsuitable { data: data.display().to_string(), kind, model }
}

/// Recentred data have no unit, and a network that learnt from them cannot read others.
/// Data that were treated in another way are other data, whatever their unit: aligned trials and z-scores both have none.
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
        return foreign("what was done to the trials", &shown(&expected), &shown(&found));
    }
    Ok(())
}

/// The scores of each subject, with the parameters for its trials, and of all.
fn scores<T: Real, M: Model<T>>(
    model: &M,
    examples: &M::Examples,
    about: &About,
    calibrated: bool,
    parameters: impl Fn(&[usize]) -> Result<ParamSet<T>, Error>,
) -> Result<ModelScores, Error> {
    let mut trainer = Trainer::new(model, 64, 1)?;
    let mut all = Confusion::new(about.classes.len());
    let (mut subjects, mut loss) = (Vec::new(), 0.0);
    for subject in about.subjects() {
        let own = about.trials_of(subject);
        let evaluation = trainer.evaluate(&parameters(&own)?, examples, &own)?;
        let confusion = confusion(about, &own, &evaluation)?;
        all.merge(&confusion)?;
        loss += evaluation.loss * own.len() as f64 / about.origins.len() as f64;
        subjects.push((subject.to_owned(), confusion));
    }
    Ok(ModelScores { classes: about.classes.clone(), confusion: all, loss, subjects, calibrated })
}

fn confusion(about: &About, trials: &[usize], evaluation: &Evaluation) -> Result<Confusion, ConfusionFault> {
    let mut confusion = Confusion::new(about.classes.len());
    for (&trial, &predicted) in trials.iter().zip(&evaluation.predictions) {
        confusion.add(about.origins[trial].label, predicted)?;
    }
    Ok(confusion)
}
