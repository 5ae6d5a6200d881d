//! The trials of an experiment: loading, selection, alignment.

pub(crate) mod align;
mod asked;
mod conform;
mod copies;
mod preparation;
mod spectra;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use fedspd_eeg::dataset::{Definition, Selection, definition};
use fedspd_eeg::fetch::{Environment, Locations};
use fedspd_eeg::filter::Band;
use fedspd_eeg::prepare::{Features, Plan, PlanOptions, Progress, files};
use fedspd_eeg::store::{Prepared, load as load_npz};
use fedspd_eeg::{
    About, Branch, ContentKind, Covariances, MICROVOLTS, Making, Origin, Preparation, SQUARE_MICROVOLTS,
    Trials, sample,
};
use fedspd_nn::{Input, InputShape, RawTrials, Seed, SpdTrials, SyntheticEeg, SyntheticTask};
use fedspd_run::ExcludedSubject;
use sha2::{Digest, Sha256};

pub(crate) use self::asked::check_asked;
use self::asked::preparation_of;
pub(crate) use self::conform::{Conformed, conform};
pub use self::copies::Copies;
pub(crate) use self::preparation::{OLDER, PARTLY_KNOWN, differ, read_stored, same, stored};
pub(crate) use self::spectra::{check_spectra, refuse};
use crate::Error;
use crate::config::{Config, Generated, ModelKind, Source};
use crate::error::hexadecimal;

/// The trials of an experiment, before any split.
pub struct Dataset {
    /// Its name in results.
    pub name: String,
    /// The trials.
    pub content: Content,
    /// Subjects that were left out, and why.
    pub excluded: Vec<ExcludedSubject>,
    /// Warnings about the data: defaults and conversions of the loader.
    pub notes: Vec<String>,
    /// Trials that two subjects have in common. They are not searched in data in memory.
    pub copies: Copies,
    /// The preparation that the data must have, of `data.like`.
    pub(crate) like: Option<Like>,
}

/// A file or run folder, and its preparation.
pub(crate) struct Like {
    pub(crate) path: PathBuf,
    pub(crate) preparation: Preparation,
}

/// The numbers of trials: covariances or samples.
pub enum Content {
    /// Covariance matrices.
    Covariances(Covariances),
    /// Samples.
    Trials(Trials),
}

impl Content {
    /// Returns classes, channels and origins.
    pub fn about(&self) -> &About {
        match self {
            Self::Covariances(covariances) => &covariances.about,
            Self::Trials(trials) => &trials.about,
        }
    }

    /// Returns how the trials were prepared.
    pub fn preparation(&self) -> Preparation {
        let kind = match self {
            Self::Covariances(_) => ContentKind::Covariances,
            Self::Trials(_) => ContentKind::Trials,
        };
        Preparation::of(kind, self.about())
    }

    /// Returns the shape of the trials, for which networks are built.
    pub(crate) fn shape(&self) -> InputShape {
        let about = self.about();
        let (inputs, samples) = match self {
            Self::Covariances(covariances) => (covariances.inputs.len(), 0),
            Self::Trials(trials) => (1, trials.length()),
        };
        let (channels, classes) = (about.channels.len(), about.classes.len());
        InputShape { channels, inputs, samples, sfreq: about.sfreq, classes }
    }

    /// Returns some trials, with new metadata.
    pub(crate) fn only(&self, trials: &[usize], about: About) -> Result<Self, Error> {
        Ok(match self {
            Self::Covariances(covariances) => {
                let inputs = covariances.inputs.clone();
                let all = trials.iter().flat_map(|&trial| (0..inputs.len()).map(move |input| (trial, input)));
                let numbers = all.flat_map(|(trial, input)| covariances.matrix(trial, input)).copied();
                Self::Covariances(Covariances::new(about, inputs.clone(), numbers.collect())?)
            }
            Self::Trials(all) => {
                let numbers = trials.iter().flat_map(|&trial| all.trial(trial)).copied().collect();
                Self::Trials(Trials::new(about, all.length(), numbers)?)
            }
        })
    }

    /// Checks that the network reads such data and that matrices are covariances.
    pub(crate) fn check(&self, name: &str, model: ModelKind) -> Result<(), Error> {
        let unsuitable = |kind| Error::Unsuitable { data: name.to_owned(), kind, model };
        match (self, model.reads()) {
            (Self::Covariances(covariances), Input::Covariances) => check_spectra(name, covariances),
            (Self::Trials(_), Input::Samples) => Ok(()),
            (Self::Covariances(_), Input::Samples) => Err(unsuitable("covariances")),
            (Self::Trials(_), Input::Covariances) => Err(unsuitable("raw trials")),
        }
    }
}

impl From<Prepared> for Content {
    fn from(prepared: Prepared) -> Self {
        match prepared {
            Prepared::Covariances(covariances) => Self::Covariances(covariances),
            Prepared::Trials(trials) => Self::Trials(trials),
        }
    }
}

impl Dataset {
    /// Creates a dataset of trials in memory, for a network.
    ///
    /// # Errors
    /// [`Error::Unsuitable`] if the network does not read such trials; [`Error::NotCovariance`] for
    /// matrices that are not covariances.
    pub fn given(name: &str, content: Content, model: ModelKind) -> Result<Self, Error> {
        content.check(name, model)?;
        Ok(Self {
            name: name.to_owned(),
            content,
            excluded: Vec::new(),
            notes: Vec::new(),
            copies: Copies::default(),
            like: None,
        })
    }

    /// Returns classes, channels and origins.
    pub fn about(&self) -> &About {
        self.content.about()
    }

    /// Returns the SHA-256 of all numbers, labels and names. It does not depend on their file.
    pub fn sha256(&self) -> String {
        let mut hash = Sha256::new();
        let about = self.about();
        let names = [&about.classes, &about.channels].into_iter().flatten();
        let ids = about.origins.iter().flat_map(|origin| [&origin.subject, &origin.session, &origin.run]);
        for text in names.chain(ids).chain([&about.unit]) {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text);
        }
        about.origins.iter().for_each(|origin| hash.update((origin.label as u64).to_le_bytes()));
        let mut add = |numbers: &[f64]| {
            let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
            hash.update(bytes);
        };
        match &self.content {
            Content::Covariances(covariances) => covariances.matrices().chunks(1 << 16).for_each(add),
            Content::Trials(trials) => (0..trials.len()).for_each(|trial| add(trials.trial(trial))),
        }
        hexadecimal(&hash.finalize())
    }
}

/// Loads or generates the trials of a configuration.
///
/// # Errors
/// Faults in reading and preparing; [`Error::Unsuitable`] if the network does not read such data.
pub fn load(config: &Config, progress: &impl Progress) -> Result<Dataset, Error> {
    let source = config.data.source()?;
    let name = dataset_name(config, &source);
    let model = config.model.kind;
    let raw = model.reads() == Input::Samples;
    let mut notes = Vec::new();
    let (content, mut excluded) = match source {
        Source::Sample if raw => {
            return Err(Error::Unsuitable { data: name, kind: "covariances", model });
        }
        Source::Sample => (Content::Covariances(sample::sample()?), Vec::new()),
        Source::Generated => (generated(&config.data.generated, raw)?, Vec::new()),
        Source::Npz(path) => {
            let loaded = load_npz(&path)?;
            notes.extend(loaded.notes.iter().map(|note| format!("{}: {note}", path.display())));
            let content = Content::from(loaded.content);
            content.check(&name, model)?;
            let preparation = content.preparation();
            check_asked(config, &preparation, &name)?;
            if !preparation.making.is_known() {
                notes.push(format!("{}: {PARTLY_KNOWN}", path.display()));
            }
            (content, Vec::new())
        }
        Source::Registry(_) | Source::Definition(_) => recordings(config, raw, progress)?,
    };
    let mut content = select(config, content, &mut excluded)?;
    let like = match &config.data.like {
        None => None,
        Some(path) => Some(Like { path: path.clone(), preparation: preparation_of(path)? }),
    };
    if let Some(Like { path, preparation }) = &like {
        let conformed = conform(content, preparation, &path.display().to_string(), &name)?;
        content = conformed.content;
        notes.extend(conformed.notes);
    }
    let copies = Copies::find(&content);
    notes.extend(copies.warning());
    Ok(Dataset { name, content, excluded, notes, copies, like })
}

/// Returns the name of the data in results.
pub(crate) fn dataset_name(config: &Config, source: &Source) -> String {
    match source {
        Source::Definition(path) | Source::Npz(path) => path
            .file_stem()
            .map_or_else(|| config.data.name.clone(), |stem| stem.to_string_lossy().into_owned()),
        _ => config.data.name.clone(),
    }
}

/// Returns the source files of the trials; none for embedded and synthetic data.
pub(crate) fn source_files(config: &Config) -> Result<Vec<PathBuf>, Error> {
    match config.data.source()? {
        Source::Sample | Source::Generated => Ok(Vec::new()),
        Source::Npz(path) => Ok(vec![path]),
        Source::Registry(_) => recording_files(config),
        Source::Definition(path) => Ok([vec![path], recording_files(config)?].concat()),
    }
}

fn recording_files(config: &Config) -> Result<Vec<PathBuf>, Error> {
    let (definition, roots, options) = located(config)?;
    Ok(files(&definition, &roots, &options)?)
}

/// Returns the definition of a dataset with the changes of a configuration, and the folders of its
/// files.
fn located(config: &Config) -> Result<(Definition, Vec<PathBuf>, PlanOptions), Error> {
    let data = &config.data;
    let mut definition = definition(&data.name)?;
    if let Some(interval) = data.window {
        definition.interval = interval;
    }
    if let Some(band) = data.band {
        definition.band = Band::from(band);
    }
    let beside = beside(Path::new(&data.name));
    let locations = Locations::new(data.root.as_deref().or(beside), &Environment::from_env());
    let roots = definition.roots(&locations);
    let options = PlanOptions { subjects: data.subjects.clone(), resample: data.resample };
    Ok((definition, roots, options))
}

/// Returns the folder of a definition. The files of a custom dataset are usually there.
pub(crate) fn beside(definition: &Path) -> Option<&Path> {
    let folder = definition.extension().and_then(|_| definition.parent())?;
    Some(if folder.as_os_str().is_empty() { Path::new(".") } else { folder })
}

fn recordings(
    config: &Config,
    raw: bool,
    progress: &impl Progress,
) -> Result<(Content, Vec<ExcludedSubject>), Error> {
    let (definition, roots, options) = located(config)?;
    let plan = Plan::new(definition, &roots, &options)?;
    let band = plan.definition().band;
    let content = if raw {
        Content::Trials(plan.all_trials(band, progress)?)
    } else {
        let bands = match &config.covariance.bands[..] {
            [] => vec![band],
            bands => bands.iter().copied().map(Band::from).collect(),
        };
        let (windows, estimator) =
            (config.covariance.windows.clone(), config.covariance.resolved_estimator());
        let features = Features { bands, windows, estimator };
        Content::Covariances(plan.covariances(&features, None, progress)?.0)
    };
    let excluded = plan.left_out.iter().map(|left_out| {
        let measured =
            left_out.measured_sfreq.map_or(String::new(), |sfreq| format!(" (measured: {sfreq} Hz)"));
        ExcludedSubject {
            subject: left_out.subject.clone(),
            reason: format!("{}{measured}", left_out.reason),
        }
    });
    Ok((content, excluded.collect()))
}

/// Generates synthetic data. Subjects are the clients of a synthetic task.
fn generated(settings: &Generated, raw: bool) -> Result<Content, Error> {
    let Generated { subjects, trials, channels, classes, samples, sfreq, strength, shift } = *settings;
    let names = |what: &str, count: usize| (1..=count).map(|i| format!("{what} {i}")).collect();
    let synthetic = Branch {
        filter: Some("none: synthetic data".into()),
        window: Some([0.0, samples as f64 / sfreq]),
        ..Branch::default()
    };
    let mut about = About {
        classes: names("class", classes),
        channels: names("channel", channels),
        sfreq,
        unit: if raw { MICROVOLTS } else { SQUARE_MICROVOLTS }.to_owned(),
        origins: Vec::with_capacity(subjects * trials),
        making: Making { branches: vec![synthetic], ..Making::default() },
    };
    let mut numbers = Vec::new();
    for subject in 0..subjects as u32 {
        let labels: Vec<usize> = if raw {
            let mut task = SyntheticEeg::new(channels, samples, sfreq, classes).trials(trials);
            task = shift.map_or(task, |shift| task.shift(shift));
            let made: RawTrials<f64> = task.client(Seed(0), subject)?;
            (0..made.len()).for_each(|trial| numbers.extend_from_slice(made.trial(trial)));
            made.labels().to_vec()
        } else {
            let mut task = SyntheticTask::new(channels, classes).trials(trials);
            task = strength.map_or(task, |strength| task.strength(strength));
            task = shift.map_or(task, |shift| task.shift(shift));
            let made: SpdTrials<f64> = task.client(Seed(0), subject)?;
            numbers.extend_from_slice(made.matrices());
            made.labels().to_vec()
        };
        let id = (subject + 1).to_string();
        let origin = |label| Origin { label, subject: id.clone(), session: "1".into(), run: "1".into() };
        about.origins.extend(labels.into_iter().map(origin));
    }
    Ok(if raw {
        Content::Trials(Trials::new(about, samples, numbers)?)
    } else {
        Content::Covariances(Covariances::new(about, vec!["generated".into()], numbers)?)
    })
}

/// Selects subjects and classes.
fn select(config: &Config, content: Content, excluded: &mut Vec<ExcludedSubject>) -> Result<Content, Error> {
    let data = &config.data;
    let about = content.about();
    let there: HashSet<&str> = about.subjects().into_iter().collect();
    for (key, selection) in [("data.subjects", &data.subjects), ("data.exclude", &data.exclude)] {
        let left_out = |id: &str| excluded.iter().any(|excluded| excluded.subject == id);
        let unknown = selection.iter().flat_map(Selection::ids);
        let mut unknown = unknown.filter(|id| !there.contains(id.as_str()) && !left_out(id));
        if let Some(subject) = unknown.next() {
            let known = about.subjects().into_iter().map(str::to_owned).collect();
            return Err(Error::UnknownSubject { key, subject: subject.clone(), known });
        }
    }
    let classes = match &data.classes {
        None => about.classes.clone(),
        Some(classes) => {
            if let Some(unknown) = classes.iter().find(|class| !about.classes.contains(class)) {
                return Err(Error::UnknownClass { class: unknown.clone(), known: about.classes.clone() });
            }
            classes.clone()
        }
    };
    let asked =
        |subject: &String| data.subjects.as_ref().is_none_or(|selection| selection.ids().contains(subject));
    let refused =
        |subject: &String| data.exclude.as_ref().is_some_and(|selection| selection.ids().contains(subject));
    let keep: Vec<(usize, usize)> = about
        .origins
        .iter()
        .enumerate()
        .filter(|(_, origin)| asked(&origin.subject) && !refused(&origin.subject))
        .filter_map(|(trial, origin)| {
            let label = classes.iter().position(|class| *class == about.classes[origin.label])?;
            Some((trial, label))
        })
        .collect();
    for subject in about.subjects() {
        if refused(&subject.to_owned()) {
            let reason = "excluded by `data.exclude`".to_owned();
            excluded.push(ExcludedSubject { subject: subject.to_owned(), reason });
        }
    }
    if keep.is_empty() {
        return Err(Error::Nothing);
    }
    if keep.len() == about.origins.len() && classes == about.classes {
        return Ok(content);
    }
    let origins =
        keep.iter().map(|&(trial, label)| Origin { label, ..about.origins[trial].clone() }).collect();
    let about = About { classes, origins, ..about.clone() };
    content.only(&keep.into_iter().map(|(trial, _)| trial).collect::<Vec<_>>(), about)
}
