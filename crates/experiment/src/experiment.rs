//! An experiment that is ready to run: its configuration, its data, and for each seed who has what.

use fedspd_eeg::Alignment;
use fedspd_eeg::prepare::Progress;
use fedspd_federated::Wire;
use fedspd_manifold::Real;
use fedspd_nn::file::Manifest;
use fedspd_nn::{EegExamples, EegNet, EegNetConfig, Examples, Model, ParamSet, RawTrials, SpdNet, SpdTrials};

use crate::config::{AlignFit, AlignKind, Config, Mode, ModelKind, Precision};
use crate::data::{Content, Dataset, load};
use crate::design::Design;
use crate::portrait::Sitting;
use crate::results::table;
use crate::seed_run::{SeedRun, Setting};
use crate::store::Store;
use crate::{Ended, Error, Observer, align, network};
use fedspd_run::ResultTable;

/// The name of z-scores among the treatments of a model file.
pub(crate) const Z_SCORE: &str = "z-score";

/// An SPDnet with the trials as it reads them.
pub(crate) struct SpdData<T> {
    pub(crate) net: SpdNet<T>,
    pub(crate) examples: Examples<T>,
    pub(crate) unit: String,
    sitting: Option<Sitting>,
}

/// An experiment that is ready to run.
pub struct Experiment {
    /// What is asked for.
    pub config: Config,
    /// On what.
    pub dataset: Dataset,
}

impl Experiment {
    /// Loads the data of a configuration.
    ///
    /// # Errors
    /// As [`load`].
    pub fn new(config: Config, progress: &impl Progress) -> Result<Self, Error> {
        config.check()?;
        let dataset = load(&config, progress)?;
        Self { config, dataset }.consistent()
    }

    /// An experiment on trials that are there already; where the configuration says they come from does not matter.
    ///
    /// # Errors
    /// Faults of the configuration, and those of [`Dataset::given`].
    pub fn on(config: Config, name: &str, content: Content) -> Result<Self, Error> {
        config.check()?;
        let dataset = Dataset::given(name, content, config.model.kind)?;
        Self { config, dataset }.consistent()
    }

    /// The same data with another configuration, which must ask for the same data.
    pub(crate) fn with(self, config: Config) -> Result<Self, Error> {
        config.check()?;
        Self { config, dataset: self.dataset }.consistent()
    }

    fn consistent(self) -> Result<Self, Error> {
        let Self { config, dataset } = self;
        if let (Some(done), true) = (dataset.about().making.align, config.align.kind != AlignKind::None) {
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
        Ok(Self { config, dataset })
    }

    /// [`Config::hash`].
    pub fn config_hash(&self) -> String {
        self.config.hash()
    }

    /// The threads of a run.
    pub fn threads(&self) -> usize {
        match self.config.run.threads {
            0 => std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            threads => threads,
        }
    }

    /// The rounds of each seed, at most.
    pub fn rounds(&self) -> u32 {
        network::rounds(&self.config)
    }

    /// What is done to trials before the network gets them, in order, by names that a model file keeps.
    pub(crate) fn treatment(&self) -> Vec<String> {
        let making = &self.dataset.about().making;
        let align = match self.config.align.kind {
            AlignKind::None => making.align,
            AlignKind::Riemannian => Some(Alignment::Riemannian),
            AlignKind::LogEuclidean => Some(Alignment::LogEuclidean),
            AlignKind::Euclidean => Some(Alignment::Euclidean),
        };
        let z_score =
            making.z_score || (self.config.model.kind == ModelKind::Eegnet && self.config.model.z_score);
        let names = align.map(Alignment::name).into_iter().chain(z_score.then_some(Z_SCORE));
        names.map(str::to_owned).collect()
    }

    /// How alignment is fitted, in words; none if there is none. What came aligned was fitted on all trials.
    pub fn alignment(&self) -> &'static str {
        match self.dataset.about().making.align {
            Some(Alignment::Riemannian) => return "riemannian-all",
            Some(Alignment::LogEuclidean) => return "log-euclidean-all",
            Some(Alignment::Euclidean) => return "euclidean-all",
            None => {}
        }
        match (self.config.align.kind, self.config.align.fit) {
            (AlignKind::None, _) => "none",
            (AlignKind::Riemannian, AlignFit::Train) => "riemannian",
            (AlignKind::Riemannian, AlignFit::All) => "riemannian-all",
            (AlignKind::LogEuclidean, AlignFit::Train) => "log-euclidean",
            (AlignKind::LogEuclidean, AlignFit::All) => "log-euclidean-all",
            (AlignKind::Euclidean, AlignFit::Train) => "euclidean",
            (AlignKind::Euclidean, AlignFit::All) => "euclidean-all",
        }
    }

    /// Who has what, with a seed.
    ///
    /// # Errors
    /// As [`Design::new`].
    pub fn design(&self, seed: u64) -> Result<Design, Error> {
        Design::new(&self.config, self.dataset.about(), seed)
    }

    /// Which numbers of a model travel, and which stay with their client.
    pub(crate) fn wire(&self) -> Result<Wire, Error> {
        Ok(Wire::new(match &self.dataset.content {
            Content::Covariances(covariances) => {
                SpdNet::<f64>::new(self.spdnet(covariances))?.layout().clone()
            }
            Content::Trials(trials) => EegNet::<f32>::new(self.eegnet(trials))?.layout().clone(),
        }))
    }

    /// The numbers of a model: trained ones, shared ones, and ones that stay with their client.
    ///
    /// # Errors
    /// [`Error::Network`] if there is no such network.
    pub fn parameter_counts(&self) -> Result<(usize, usize, usize), Error> {
        let wire = self.wire()?;
        let trained = |parameter: &&fedspd_nn::Parameter| parameter.role == fedspd_nn::Role::Trained;
        let trained =
            wire.layout().parameters().iter().filter(trained).map(|parameter| parameter.size()).sum();
        Ok((trained, wire.shared_size(), wire.local_size()))
    }

    fn spdnet(&self, covariances: &fedspd_eeg::Covariances) -> fedspd_nn::SpdNetConfig {
        let about = &covariances.about;
        network::spdnet(&self.config, about.channels.len(), covariances.inputs.len(), about.classes.len())
    }

    fn eegnet(&self, trials: &fedspd_eeg::Trials) -> EegNetConfig {
        let about = &trials.about;
        network::eegnet(&self.config, about.channels.len(), trials.length(), about.sfreq, about.classes.len())
    }

    /// Trains with one seed, from its checkpoint if the store has one.
    pub(crate) fn run_seed(
        &self,
        seed: u64,
        store: Option<&mut Store>,
        observer: &mut (dyn Observer + Send),
    ) -> Result<(SeedRun, Ended), Error> {
        let precision = self.config.model.resolved_precision();
        match (&self.dataset.content, precision) {
            (Content::Covariances(_), Precision::F64) => self.run_spdnet::<f64>(seed, store, observer),
            (Content::Covariances(_), Precision::F32) => self.run_spdnet::<f32>(seed, store, observer),
            (Content::Trials(_), Precision::F64) => self.run_eegnet::<f64>(seed, store, observer),
            (Content::Trials(_), Precision::F32) => self.run_eegnet::<f32>(seed, store, observer),
        }
    }

    fn run_spdnet<T: Real>(
        &self,
        seed: u64,
        store: Option<&mut Store>,
        observer: &mut (dyn Observer + Send),
    ) -> Result<(SeedRun, Ended), Error>
    where
        SpdNet<T>: Model<T, Trials = SpdTrials<T>, Examples = Examples<T>>,
    {
        let design = self.design(seed)?;
        // A portrait needs a folder to hang in, and one model to draw.
        let portrayed = store.is_some() && self.config.mode != Mode::Local;
        let SpdData { net, examples, unit, sitting } = self.spd_examples::<T>(&design, portrayed)?;
        let about = self.dataset.about();
        let manifest =
            Manifest::spdnet(net.config().clone(), &unit, about.classes.clone(), about.channels.clone())?
                .treated(self.treatment());
        let setting = Setting {
            experiment: self,
            model: &net,
            examples: &examples,
            manifest,
            calibrate: &|_: &mut ParamSet<T>, _: &[usize]| Ok(()),
            portrait: &|parameters| {
                let draw = |sitting: &Sitting| sitting.portrait(net.config(), parameters);
                Ok(sitting.as_ref().map(draw).transpose()?)
            },
        };
        setting.run(seed, &design, store, observer)
    }

    /// The network, and the aligned trials as it reads them, with their unit; and, if asked for, those that its portrait is drawn from.
    pub(crate) fn spd_examples<T: Real>(&self, design: &Design, portrayed: bool) -> Result<SpdData<T>, Error>
    where
        SpdNet<T>: Model<T, Trials = SpdTrials<T>, Examples = Examples<T>>,
    {
        let Content::Covariances(covariances) = &self.dataset.content else { return Err(Error::Nothing) };
        let subjects = align::subjects(&self.config.align, &covariances.about, design);
        let aligned = align::covariances(self.config.align.kind, subjects, covariances)?;
        let sit = || Sitting::new(covariances, &aligned, &design.pooled().train);
        let sitting = portrayed.then(sit).transpose()?;
        let aligned = aligned.covariances;
        let (about, inputs) = (aligned.about.clone(), aligned.inputs.len());
        let net = SpdNet::<T>::new(self.spdnet(covariances))?;
        let matrices: Vec<T> = aligned.into_matrices().into_iter().map(T::from_f64).collect();
        let trials =
            SpdTrials::new(about.channels.len(), inputs, about.classes.len(), matrices, about.labels())?;
        let examples = net.prepare(trials)?;
        Ok(SpdData { net, examples, unit: about.unit, sitting })
    }

    fn run_eegnet<T: Real>(
        &self,
        seed: u64,
        store: Option<&mut Store>,
        observer: &mut (dyn Observer + Send),
    ) -> Result<(SeedRun, Ended), Error>
    where
        EegNet<T>: Model<T, Trials = RawTrials<T>, Examples = EegExamples<T>>,
    {
        let design = self.design(seed)?;
        let (net, examples, unit) = self.eeg_examples::<T>(&design)?;
        let about = self.dataset.about();
        let manifest =
            Manifest::eegnet(net.config().clone(), &unit, about.classes.clone(), about.channels.clone())?
                .treated(self.treatment());
        let calibrate =
            |parameters: &mut ParamSet<T>, trials: &[usize]| calibrate(&net, &examples, parameters, trials);
        let setting = Setting {
            experiment: self,
            model: &net,
            examples: &examples,
            manifest,
            calibrate: &calibrate,
            portrait: &|_| Ok(None),
        };
        setting.run(seed, &design, store, observer)
    }

    /// The network, and the aligned and scaled trials as it reads them, with their unit.
    pub(crate) fn eeg_examples<T: Real>(
        &self,
        design: &Design,
    ) -> Result<(EegNet<T>, EegExamples<T>, String), Error>
    where
        EegNet<T>: Model<T, Trials = RawTrials<T>, Examples = EegExamples<T>>,
    {
        let Content::Trials(trials) = &self.dataset.content else { return Err(Error::Nothing) };
        let subjects = align::subjects(&self.config.align, &trials.about, design);
        let (numbers, unit) =
            align::trials::<T>(self.config.align.kind, self.config.model.z_score, &subjects, trials)?;
        let (about, net) = (&trials.about, EegNet::<T>::new(self.eegnet(trials))?);
        let (channels, classes) = (about.channels.len(), about.classes.len());
        let raw = RawTrials::new(channels, trials.length(), classes, numbers, about.labels())?;
        let examples = net.prepare(raw)?;
        Ok((net, examples, unit))
    }

    /// Whether a reference was fitted on trials that are tested on.
    pub(crate) fn is_transductive(&self) -> bool {
        let align = &self.config.align;
        let here = align.kind != AlignKind::None && align.fit == AlignFit::All;
        here || self.dataset.about().making.align.is_some()
    }

    /// How subjects that nobody trains on are treated before they are scored, in words; nothing if there are none.
    pub fn held_out_note(&self) -> Option<String> {
        self.config.split.held_out_subjects.as_ref()?;
        if self.config.mode == Mode::Local {
            return Some("not scored: clients that train alone have no common model".into());
        }
        let (trials, scored) = match self.config.calibration() {
            Some(first) => (format!("the first {first} of its own trials"), "; scored on the others"),
            None => ("all of its own trials".to_owned(), ""),
        };
        let mut done = Vec::new();
        if self.config.align.kind != AlignKind::None {
            done.push("aligned");
        }
        if self.config.model.kind == ModelKind::Eegnet {
            done.push("batch-normalisation statistics taken");
        }
        if done.is_empty() {
            return Some("each as it is".into());
        }
        Some(format!("each {} on {trials}, without labels{scored}", done.join(" and ")))
    }

    /// The rows of some seeds.
    pub(crate) fn table(&self, seeds: &[(u64, SeedRun)]) -> ResultTable {
        table(&self.config, &self.dataset.name, self.alignment(), seeds)
    }
}

/// Takes the statistics of batch normalisation from one pass over some trials, without their labels: those of one batch that holds them all.
pub(crate) fn calibrate<T: Real>(
    net: &EegNet<T>,
    examples: &EegExamples<T>,
    parameters: &mut ParamSet<T>,
    trials: &[usize],
) -> Result<(), Error>
where
    EegNet<T>: Model<T, Examples = EegExamples<T>>,
{
    // With a momentum of one, the running statistics after a batch are those of the batch.
    let mut config = net.config().clone();
    config.batch_norm.momentum = 1.0;
    let net = EegNet::<T>::new(config)?;
    let mut gradient = vec![T::ZERO; parameters.values().len()];
    net.loss_and_gradient(parameters, examples, trials, None, &mut net.workspace(1)?, &mut gradient)?;
    Ok(parameters.take_statistics(&gradient)?)
}
