//! An experiment that is ready to run: its configuration and its data.

use std::borrow::Cow;

use fedspd_eeg::prepare::Progress;
use fedspd_eeg::{AlignmentFit, NO_UNIT, Preparation};
use fedspd_federated::ParameterScopes;
use fedspd_manifold::Real;
use fedspd_nn::file::{Manifest as ModelManifest, Network};
use fedspd_nn::{Architecture, Input};
use fedspd_run::{Stage, Unit, counted};

use super::network::{Visitor, with_network};
use super::settings;
use crate::Error;
use crate::config::{AlignFit, AlignKind, Config, Mode};
use crate::data::align::{self, AlignedTrials, References};
use crate::data::{Content, Dataset, Like, load, same, stored};
use crate::evaluate::InterpretationData;
use crate::split::{Design, fold_count};

/// The numbers of all trials, one trial after the other, aligned and scaled.
pub(crate) struct Inputs<T> {
    pub(crate) numbers: Vec<T>,
    /// The unit of the numbers.
    pub(crate) unit: String,
    /// The references of the subjects that clients train on.
    pub(crate) references: References,
    /// Covariances for the interpretation of a network, if requested.
    pub(crate) interpretation: Option<InterpretationData>,
}

/// An experiment that is ready to run.
pub struct Experiment {
    /// The configuration.
    pub config: Config,
    /// The data.
    pub dataset: Dataset,
}

impl Experiment {
    /// Loads the data of a configuration.
    ///
    /// # Errors
    /// As [`load`].
    pub fn new(config: Config, progress: &impl Progress) -> Result<Self, Error> {
        config.check()?;
        let dataset = in_pool(threads(&config), || load(&config, progress))?;
        Self { config, dataset }.consistent()
    }

    /// Creates an experiment on trials in memory. It ignores `data.name` of the configuration.
    ///
    /// # Errors
    /// Faults of the configuration, and those of [`Dataset::given`].
    pub fn on(config: Config, name: &str, content: Content) -> Result<Self, Error> {
        config.check()?;
        let dataset = Dataset::given(name, content, config.model.kind)?;
        Self { config, dataset }.consistent()
    }

    /// Replaces the configuration. The new one must select the same data.
    pub(crate) fn with(self, config: Config) -> Result<Self, Error> {
        config.check()?;
        Self { config, dataset: self.dataset }.consistent()
    }

    fn consistent(self) -> Result<Self, Error> {
        let Self { config, dataset } = self;
        if let (Some(done), true) = (dataset.about().making.alignment(), config.align.kind != AlignKind::None)
        {
            return Err(Error::AlignedAlready { data: dataset.name, align: done.name() });
        }
        if let (Content::Covariances(covariances), Some(&first)) =
            (&dataset.content, config.model.dims.first())
        {
            let channels = covariances.about.channels.len();
            if first > channels {
                return Err(Error::Wider { first, data: dataset.name, channels });
            }
        }
        let experiment = Self { config, dataset };
        if let Some(Like { path, preparation }) = &experiment.dataset.like {
            let (path, name) = (path.display().to_string(), &experiment.dataset.name);
            same(preparation, &path, &experiment.preparation(), name)?;
        }
        Ok(experiment)
    }

    /// Returns [`Config::hash`].
    pub fn config_hash(&self) -> String {
        self.config.hash()
    }

    /// Returns the number of threads of a run.
    pub fn threads(&self) -> usize {
        threads(&self.config)
    }

    /// Returns the largest number of rounds of each unit.
    pub fn rounds(&self) -> u32 {
        settings::rounds(&self.config)
    }

    /// Returns the largest number of rounds of the whole run.
    ///
    /// # Errors
    /// As [`Experiment::units`].
    pub fn all_rounds(&self) -> Result<usize, Error> {
        Ok(self.units()?.len() * self.rounds() as usize)
    }

    /// Returns how trials become the input of the network.
    pub fn preparation(&self) -> Preparation {
        let mut preparation = self.dataset.content.preparation();
        if let Some(alignment) = self.config.align.kind.alignment() {
            preparation.making.align(alignment);
            preparation.making.fitted_on(match self.config.align.fit {
                AlignFit::Train => AlignmentFit::Train,
                AlignFit::All => AlignmentFit::All,
            });
            NO_UNIT.clone_into(&mut preparation.unit);
        }
        if self.config.model.kind.reads() == Input::Samples && self.config.model.z_score {
            preparation.making.scale();
            NO_UNIT.clone_into(&mut preparation.unit);
        }
        preparation
    }

    /// Returns the name of the alignment in results. Data that are already aligned were fitted on
    /// all trials.
    pub fn alignment(&self) -> String {
        let (align, before) = (&self.config.align, self.dataset.about().making.alignment());
        let on_all = before.is_some() || align.fit == AlignFit::All;
        match before.or(align.kind.alignment()) {
            None => "none".to_owned(),
            Some(kind) => format!("{kind}{}", if on_all { "-all" } else { "" }),
        }
    }

    /// Returns the clients of a seed and a fold with their trials.
    ///
    /// # Errors
    /// As [`Design::new`].
    pub fn design(&self, unit: impl Into<Unit>) -> Result<Design, Error> {
        let Unit { seed, fold, .. } = unit.into();
        Design::new(&self.config, self.dataset.about(), seed, fold)
    }

    /// Returns the number of folds that a run trains one after the other; none if it trains one
    /// model for each seed.
    ///
    /// # Errors
    /// As [`fold_count`].
    pub fn folds(&self) -> Result<Option<usize>, Error> {
        if self.config.split.fold.is_some() {
            return Ok(None);
        }
        fold_count(&self.config, self.dataset.about())
    }

    /// Returns the units of a run in their order: seeds, their folds, and the stages of each.
    ///
    /// # Errors
    /// As [`fold_count`].
    pub fn units(&self) -> Result<Vec<Unit>, Error> {
        let folds: Vec<Option<usize>> =
            self.folds()?.map_or(vec![None], |folds| (0..folds).map(Some).collect());
        let stages: &[_] =
            if self.config.split.refit { &[Some(Stage::Choose), Some(Stage::Fit)] } else { &[None] };
        let mut units = Vec::new();
        for &seed in self.config.run.seeds.as_slice() {
            for &fold in &folds {
                units.extend(stages.iter().map(|&stage| Unit { seed, fold, stage }));
            }
        }
        Ok(units)
    }

    /// Passes the network of this experiment to a visitor.
    pub(crate) fn with_network<V: Visitor>(&self, visitor: V) -> Result<V::Output, Error> {
        with_network(&self.config.model, &self.dataset.content.shape(), visitor)
    }

    /// Returns the shared and the local parameters of the model.
    pub(crate) fn scopes(&self) -> Result<ParameterScopes, Error> {
        self.with_network(ScopesOf)
    }

    /// Counts the parameters of a model: trained, shared and local ones.
    ///
    /// # Errors
    /// [`Error::Network`] if the network cannot be built.
    pub fn parameter_counts(&self) -> Result<(usize, usize, usize), Error> {
        let scopes = self.scopes()?;
        Ok((scopes.layout().trained_size(), scopes.shared_size(), scopes.local_size()))
    }

    /// Prepares the trials for a network.
    pub(crate) fn examples<T: Real, N: Architecture<T>>(
        &self,
        network: &N,
        numbers: Vec<T>,
    ) -> Result<N::Examples, Error> {
        let trials = N::trials(&self.dataset.content.shape(), numbers, self.dataset.about().labels())?;
        Ok(network.prepare(trials)?)
    }

    /// Aligns and scales the trials of a seed.
    pub(crate) fn inputs<T: Real>(&self, design: &Design, interpreted: bool) -> Result<Inputs<T>, Error> {
        let (align, about) = (&self.config.align, self.dataset.about());
        let subjects = align::subjects(align, about, design);
        match &self.dataset.content {
            Content::Covariances(covariances) => {
                let aligned = align::covariances(align.kind, subjects, covariances)?;
                let interpretation =
                    || InterpretationData::new(covariances, &aligned, &design.pooled().train);
                let interpretation = interpreted.then(interpretation).transpose()?;
                let (unit, references) = (aligned.covariances.about.unit.clone(), aligned.trained);
                let numbers = match aligned.covariances {
                    Cow::Borrowed(given) => given.matrices().iter().map(|&x| T::from_f64(x)).collect(),
                    Cow::Owned(aligned) => aligned.into_matrices().into_iter().map(T::from_f64).collect(),
                };
                Ok(Inputs { numbers, unit, references, interpretation })
            }
            Content::Trials(trials) => {
                let z_score = self.config.model.z_score;
                let AlignedTrials { numbers, unit, trained } =
                    align::trials::<T>(align.kind, z_score, &subjects, trials)?;
                Ok(Inputs { numbers, unit, references: trained, interpretation: None })
            }
        }
    }

    /// Returns the manifest of a model file with the network of this experiment.
    pub(crate) fn model_manifest(&self, network: Network, unit: &str) -> Result<ModelManifest, Error> {
        let about = self.dataset.about();
        let manifest = ModelManifest::new(network, unit, about.classes.clone(), about.channels.clone())?;
        Ok(manifest.prepared(stored(&self.preparation())?))
    }

    /// Whether an alignment was fitted on test trials.
    pub(crate) fn is_transductive(&self) -> bool {
        let align = &self.config.align;
        let here = align.kind != AlignKind::None && align.fit == AlignFit::All;
        here || self.dataset.about().making.alignment().is_some()
    }

    /// Describes the treatment of held-out subjects before scoring. Returns none without such
    /// subjects.
    pub fn held_out_note(&self) -> Option<String> {
        let split = &self.config.split;
        if split.held_out_subjects.is_none() && !split.kind.holds_out_people() {
            return None;
        }
        if self.config.mode == Mode::Local && split.held_out_subjects.is_some() {
            return Some("not scored: clients that train alone have no common model".into());
        }
        let (trials, scored) = match self.config.calibration() {
            Some(first) => {
                (format!("the first {} of each subject", counted(first, "trial")), "; scored on the others")
            }
            None => ("all trials of each subject".to_owned(), ""),
        };
        let mut done = Vec::new();
        if self.config.align.kind != AlignKind::None {
            done.push("alignment");
        }
        if self.config.model.kind.has_statistics() {
            done.push("batch-normalisation statistics");
        }
        if done.is_empty() {
            return Some("no alignment and no calibration".into());
        }
        Some(format!("{} fitted on {trials}, without labels{scored}", done.join(" and ")))
    }
}

/// Returns the number of threads of a run or of a site.
pub(crate) fn threads(config: &Config) -> usize {
    match config.run.threads {
        0 => std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
        threads => threads,
    }
}

/// Runs work in a pool of this many threads.
pub(crate) fn in_pool<R: Send>(
    threads: usize,
    work: impl FnOnce() -> Result<R, Error> + Send,
) -> Result<R, Error> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map_err(|error| Error::Threads { threads, reason: error.to_string() })?.install(work)
}

/// Finds the shared and the local parameters of a network.
struct ScopesOf;

impl Visitor for ScopesOf {
    type Output = ParameterScopes;

    fn visit<T: Real, N: Architecture<T>>(self, network: N) -> Result<ParameterScopes, Error> {
        Ok(ParameterScopes::new(network.layout().clone()))
    }
}
