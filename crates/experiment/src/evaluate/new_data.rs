//! Data for a trained model: recordings, definitions, prepared files. Recordings are prepared
//! exactly as the model says.

use std::path::{Path, PathBuf};

use fedspd_eeg::dataset::{EventTable, Ids, Pattern, Selection, definition};
use fedspd_eeg::fetch::{Environment, Locations};
use fedspd_eeg::filter::Band;
use fedspd_eeg::prepare::{Features, Plan, PlanOptions, Progress};
use fedspd_eeg::store::load as load_npz;
use fedspd_eeg::{
    About, Branch, ContentKind, Definition, Difference, Estimator, IIR, Origin, Preparation, Recipe,
    natural_order, sample,
};

use crate::Error;
use crate::config::Source;
use crate::data::{Conformed, Content, PARTLY_KNOWN, beside, conform, differ};

/// Where new data come from.
#[derive(Clone, Debug)]
pub struct NewData {
    /// A file or folder of EDF recordings, a definition (.toml), prepared data (.npz), `sample`, or
    /// the name of a built-in dataset.
    pub name: String,
    /// The folder with the recordings of a definition or a built-in dataset.
    pub root: Option<PathBuf>,
    /// The chosen subjects; all if absent.
    pub subjects: Option<Selection>,
}

impl NewData {
    /// Takes all subjects of some data.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), root: None, subjects: None }
    }
}

/// Data as the model reads them, before alignment.
pub(super) struct Gathered {
    pub(super) content: Content,
    /// The onset of each trial in its recording, in seconds; empty if unknown.
    pub(super) onsets: Vec<f64>,
    /// Whether the labels are known.
    pub(super) labelled: bool,
    pub(super) notes: Vec<String>,
}

/// Reads data for a model. `model` names the model in messages.
pub(super) fn gather(
    data: &NewData,
    wanted: &Preparation,
    model: &str,
    progress: &impl Progress,
) -> Result<Gathered, Error> {
    let path = Path::new(&data.name);
    let mut gathered = match Source::of_name(&data.name) {
        Some(Source::Npz(path)) => {
            let loaded = load_npz(&path)?;
            let notes = loaded.notes.iter().map(|note| format!("{}: {note}", data.name)).collect();
            Gathered { notes, ..unplanned(Content::from(loaded.content)) }
        }
        Some(Source::Sample) => unplanned(Content::Covariances(sample::sample()?)),
        Some(Source::Registry(_) | Source::Definition(_)) => {
            let given = definition(&data.name)?;
            let recipe = Recipe::of(&given);
            let wished = wishes(wanted, Some(&recipe), &data.name, model)?;
            let changed = Definition {
                sfreq: wished.sfreq,
                interval: wished.interval,
                band: wished.features.bands[0],
                ..given
            };
            let changed = Definition { channels: Some(wanted.channels.clone()), ..changed }.checked(path)?;
            let beside = beside(path);
            let locations = Locations::new(data.root.as_deref().or(beside), &Environment::from_env());
            let roots = changed.roots(&locations);
            let options = PlanOptions { subjects: data.subjects.clone(), resample: true };
            planned(&Plan::new(changed, &roots, &options)?, &wished, wanted.content, true, progress)?
        }
        _ if is_recording(path) || path.is_dir() => recordings(data, path, wanted, model, progress)?,
        _ => return Err(Error::UnknownData { name: data.name.clone() }),
    };
    if let Some(subjects) = data.subjects.as_ref() {
        gathered = chosen(gathered, subjects)?;
    }
    conformed(gathered, wanted, model, &data.name)
}

/// Takes data in memory for a model.
pub(super) fn given(
    content: Content,
    wanted: &Preparation,
    model: &str,
    name: &str,
) -> Result<Gathered, Error> {
    conformed(unplanned(content), wanted, model, name)
}

/// Converts data to the preparation of a model, up to alignment.
fn conformed(
    mut gathered: Gathered,
    wanted: &Preparation,
    model: &str,
    name: &str,
) -> Result<Gathered, Error> {
    if !gathered.content.preparation().making.is_known() {
        gathered.notes.push(format!("{name}: {PARTLY_KNOWN}"));
    }
    let Conformed { content, trials, notes } = conform(gathered.content, wanted, model, name)?;
    gathered.notes.extend(notes);
    let onsets = of_trials(&gathered.onsets, &trials);
    Ok(Gathered { content, onsets, ..gathered })
}

fn unplanned(content: Content) -> Gathered {
    Gathered { content, onsets: Vec::new(), labelled: true, notes: Vec::new() }
}

/// The settings by which recordings are read.
struct Wishes {
    sfreq: f64,
    interval: [f64; 2],
    features: Features,
}

/// Returns the settings of a preparation.
fn wishes(wanted: &Preparation, recipe: Option<&Recipe>, data: &str, model: &str) -> Result<Wishes, Error> {
    let unknown =
        |field: &str| Error::UnknownPreparation { model: model.to_owned(), field: field.to_owned() };
    let sfreq = wanted.sfreq.ok_or_else(|| unknown("sampling rate"))?;
    let branches = &wanted.making.branches;
    let Some(first) = branches.first() else { return Err(unknown("band")) };
    let mut bands: Vec<Band> = Vec::new();
    let mut windows: Vec<[f64; 2]> = Vec::new();
    for branch in branches {
        let band = branch.band.ok_or_else(|| unknown("band"))?;
        let window = branch.window.ok_or_else(|| unknown("window"))?;
        if let Some(filter) = branch.filter.as_ref().filter(|filter| *filter != IIR) {
            let (expected, found) = (filter.clone(), IIR.to_owned());
            return Err(differ(Difference { field: "filter".into(), expected, found }, model, data));
        }
        if !bands.contains(&band) {
            bands.push(band);
        }
        if !windows.contains(&window) {
            windows.push(window);
        }
    }
    if bands.len() * windows.len() != branches.len() {
        return Err(unknown("order of bands and windows"));
    }
    let estimator = match (&first.estimator, wanted.content) {
        (Some(estimator), _) => estimator.parse()?,
        (None, ContentKind::Trials) => Estimator::default(),
        (None, ContentKind::Covariances) => return Err(unknown("estimator")),
    };
    let interval = interval(&windows, first, sfreq, recipe);
    // A window over the whole trial is no window: it includes the last sample.
    if windows == [interval] {
        windows.clear();
    }
    Ok(Wishes { sfreq, interval, features: Features { bands, windows, estimator } })
}

/// Returns the interval of a trial that contains all windows.
fn interval(windows: &[[f64; 2]], first: &Branch, sfreq: f64, recipe: Option<&Recipe>) -> [f64; 2] {
    let start = windows.iter().fold(f64::INFINITY, |start, window| start.min(window[0]));
    let end = windows.iter().fold(f64::NEG_INFINITY, |end, window| end.max(window[1]));
    if let [window] = windows {
        // With both ends, the window is the whole trial.
        let between = ((window[1] - window[0]) * sfreq).round_ties_even() as usize;
        if first.samples.and_then(|samples| samples.checked_sub(1)) == Some(between) {
            return *window;
        }
    }
    match recipe {
        Some(recipe) if recipe.interval[0] <= start && end <= recipe.interval[1] => recipe.interval,
        // One second more, so that no window is the whole trial.
        _ => [start, end + 1.0],
    }
}

/// Prepares the trials of a plan.
fn planned(
    plan: &Plan,
    wishes: &Wishes,
    content: ContentKind,
    labelled: bool,
    progress: &impl Progress,
) -> Result<Gathered, Error> {
    let content = match content {
        ContentKind::Covariances => {
            Content::Covariances(plan.covariances(&wishes.features, None, progress)?.0)
        }
        ContentKind::Trials => Content::Trials(plan.all_trials(wishes.features.bands[0], progress)?),
    };
    let mut notes = Vec::new();
    for (subject, sfreq) in plan.resampled() {
        notes.push(format!("subject {subject} is resampled from {sfreq} Hz to {} Hz", wishes.sfreq));
    }
    for left_out in &plan.left_out {
        notes.push(format!("subject {} is left out: {}", left_out.subject, left_out.reason));
    }
    Ok(Gathered { content, onsets: plan.onsets(), labelled, notes })
}

/// Prepares recordings without a definition, by the rules that the model keeps.
fn recordings(
    data: &NewData,
    path: &Path,
    wanted: &Preparation,
    model: &str,
    progress: &impl Progress,
) -> Result<Gathered, Error> {
    let Some(recipe) = &wanted.making.recipe else {
        return Err(Error::NoRecipe { model: model.to_owned(), data: data.name.clone() });
    };
    let wished = wishes(wanted, Some(recipe), &data.name, model)?;
    let mut definition = recipe.definition(wanted, wished.sfreq, wished.features.bands[0])?;
    let built_in = recipe.built_in()?;
    definition.interval = wished.interval;
    let files = if path.is_dir() { recordings_below(path)? } else { vec![path.to_owned()] };
    if files.is_empty() {
        return Err(Error::UnknownData { name: data.name.clone() });
    }
    let mut named = true;
    let mut found = Vec::new();
    for file in files {
        let ids = built_in.as_ref().and_then(|known| ids(&known.files, &file)).unwrap_or_else(|| {
            named = false;
            let subject = file.file_stem().map_or("?".into(), |stem| stem.to_string_lossy().into_owned());
            Ids { subject, session: "0".into(), run: "0".into() }
        });
        found.push((ids, file));
    }
    if let Some(subjects) = &data.subjects {
        let mut known: Vec<String> = found.iter().map(|(ids, _)| ids.subject.clone()).collect();
        known.dedup();
        if let Some(unknown) = subjects.ids().iter().find(|id| !known.contains(id)) {
            return Err(Error::UnknownSubject { key: "--subjects", subject: unknown.clone(), known });
        }
        found.retain(|(ids, _)| subjects.ids().contains(&ids.subject));
    }
    // Means depend on the order of trials, in their last bits. It is therefore that of training.
    let runs = built_in.as_ref().and_then(|known| known.runs.as_deref()).unwrap_or_default();
    let place = |run: &String| runs.iter().position(|known| known == run);
    found.sort_by(|(a, _), (b, _)| {
        natural_order(&a.subject, &b.subject)
            .then_with(|| natural_order(&a.session, &b.session))
            .then_with(|| place(&a.run).cmp(&place(&b.run)))
            .then_with(|| natural_order(&a.run, &b.run))
    });
    // Without the run, the class of an annotation may be unknown, but not that it begins a trial.
    let by_run = recipe.events.iter().any(|table| table.runs.is_some());
    let labelled = named || !by_run;
    if !labelled {
        let classes = recipe.events.iter().flat_map(|table| table.classes.clone()).collect();
        definition.events = vec![EventTable { runs: None, classes }];
    }
    let plan = Plan::of_files(definition.checked(path)?, &found, true)?;
    let mut gathered = planned(&plan, &wished, wanted.content, labelled, progress)?;
    if !labelled {
        let about = gathered.content.about();
        let origins = about.origins.iter().map(|origin| Origin { label: 0, ..origin.clone() }).collect();
        let about = About { classes: wanted.classes.clone(), origins, ..about.clone() };
        let all: Vec<usize> = (0..about.origins.len()).collect();
        gathered.content = gathered.content.only(&all, about)?;
        gathered.notes.push(format!(
            "{}: classes depend on the run, which the file names do not tell, so the true classes are unknown",
            data.name
        ));
    }
    Ok(gathered)
}

/// Returns the ids in the path of a file: from its last parts, or from its name alone.
fn ids(pattern: &Pattern, file: &Path) -> Option<Ids> {
    let text = pattern.to_string();
    let depth = Path::new(&text).components().count();
    let parts: Vec<_> = file.components().map(|part| part.as_os_str().to_string_lossy()).collect();
    let last = parts[parts.len().saturating_sub(depth)..].join("/");
    pattern.ids(&last).or_else(|| {
        let name = text.rsplit('/').next()?.to_owned();
        Pattern::try_from(name).ok()?.ids(parts.last()?)
    })
}

/// Finds all EDF and BDF files in a folder and the folders below it, by name.
fn recordings_below(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let (mut folders, mut found) = (vec![folder.to_owned()], Vec::new());
    while let Some(folder) = folders.pop() {
        let unreadable = |source| fedspd_run::Error::File { path: folder.clone(), source };
        for entry in std::fs::read_dir(&folder).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            let (kind, path) = (entry.file_type().map_err(unreadable)?, entry.path());
            // Links to folders are not followed, because they may lead back.
            if kind.is_dir() {
                folders.push(path);
            } else if is_recording(&path) {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Keeps the trials of some subjects.
fn chosen(gathered: Gathered, subjects: &Selection) -> Result<Gathered, Error> {
    let about = gathered.content.about();
    if let Some(unknown) = subjects.ids().iter().find(|id| !about.subjects().contains(&id.as_str())) {
        let known = about.subjects().into_iter().map(str::to_owned).collect();
        return Err(Error::UnknownSubject { key: "--subjects", subject: unknown.clone(), known });
    }
    let keep = |trial: &usize| subjects.ids().contains(&about.origins[*trial].subject);
    let trials: Vec<usize> = (0..about.origins.len()).filter(keep).collect();
    let origins = trials.iter().map(|&trial| about.origins[trial].clone()).collect();
    let content = gathered.content.only(&trials, About { origins, ..about.clone() })?;
    Ok(Gathered { content, onsets: of_trials(&gathered.onsets, &trials), ..gathered })
}

/// Returns the onsets of some trials, if onsets are known.
fn of_trials(onsets: &[f64], trials: &[usize]) -> Vec<f64> {
    if onsets.is_empty() { Vec::new() } else { trials.iter().map(|&trial| onsets[trial]).collect() }
}

/// Whether the name of a file is that of an EDF or BDF recording.
fn is_recording(path: &Path) -> bool {
    path.extension().is_some_and(|end| ["edf", "bdf"].iter().any(|known| end.eq_ignore_ascii_case(known)))
}
