//! Conversion of data to a given preparation, where the conversion is exact. Every conversion has a
//! note; every other difference is an error.

use fedspd_eeg::{Covariances, Difference, Estimator, Origin, Preparation, Trials};

use super::{Content, differ};
use crate::Error;

/// Data in the order and form of a preparation, and notes about conversions.
pub(crate) struct Conformed {
    pub(crate) content: Content,
    /// The indices of its trials among the given ones.
    pub(crate) trials: Vec<usize>,
    pub(crate) notes: Vec<String>,
}

/// Converts data to a preparation, up to alignment and z-scores, which follow:
///
/// - it reorders channels and classes by name, and drops channels and classes that are not wanted;
/// - it estimates covariances of trials.
///
/// `other` names what asks for the preparation, `data` the data.
///
/// # Errors
/// [`Error::Preparation`] for the first difference that remains.
pub(crate) fn conform(
    content: Content,
    wanted: &Preparation,
    other: &str,
    data: &str,
) -> Result<Conformed, Error> {
    let mut notes = Vec::new();
    let content = reorder_channels(content, wanted, other, data, &mut notes)?;
    let (content, trials) = rename_labels(content, wanted, other, data, &mut notes)?;
    let content = estimate(content, wanted, other, data, &mut notes)?;
    let found = content.preparation();
    super::same(&before_alignment(wanted, &found), other, &found, data)?;
    let fits = |preparation: &Preparation| preparation.making.branches.first().and_then(|first| first.fit);
    if let (Some(own), Some(theirs)) = (fits(&found), fits(wanted))
        && own != theirs
    {
        notes.push(format!("{data} is aligned on {own} of each subject, {other} on {theirs}"));
    }
    Ok(Conformed { content, trials, notes })
}

/// Returns the wanted preparation without the steps that follow: alignment and z-scores of data
/// that do not have them yet.
fn before_alignment(wanted: &Preparation, found: &Preparation) -> Preparation {
    let mut before = wanted.clone();
    let (align, scale) = (found.making.alignment().is_none(), !found.making.z_score());
    for branch in &mut before.making.branches {
        let pending = align && branch.alignment.is_some() || scale && branch.z_score;
        if align {
            branch.alignment = None;
        }
        // Where the alignment was fitted is a note, because new subjects have no training trials.
        branch.fit = None;
        branch.z_score &= !scale;
        if pending {
            before.unit.clone_from(&found.unit);
        }
    }
    before
}

fn reorder_channels(
    content: Content,
    wanted: &Preparation,
    other: &str,
    data: &str,
    notes: &mut Vec<String>,
) -> Result<Content, Error> {
    let found = &content.about().channels;
    if *found == wanted.channels {
        return Ok(content);
    }
    let places: Vec<Option<usize>> =
        wanted.channels.iter().map(|name| found.iter().position(|other| other == name)).collect();
    let Some(places) = places.into_iter().collect::<Option<Vec<usize>>>() else {
        let missing = wanted.channels.iter().filter(|name| !found.contains(name)).cloned();
        return Err(Error::MissingChannels {
            data: data.to_owned(),
            other: other.to_owned(),
            missing: missing.collect(),
            there: found.clone(),
        });
    };
    let dropped = found.len() - places.len();
    if dropped > 0 && content.about().making.alignment().is_some() {
        let (expected, found) = (wanted.channels.len().to_string(), found.len().to_string());
        return Err(differ(Difference { field: "number of channels".into(), expected, found }, other, data));
    }
    let shrunk = content.about().making.estimator().filter(|estimator| *estimator != "sample");
    if let (true, Content::Covariances(_), Some(estimator)) = (dropped > 0, &content, shrunk) {
        let (data, estimator) = (data.to_owned(), estimator.to_owned());
        return Err(Error::ShrunkChannels { data, other: other.to_owned(), estimator, dropped });
    }
    notes.push(match dropped {
        0 => format!("{data}: channels are reordered by name"),
        1 => format!("{data}: channels are ordered by name; 1 channel is dropped"),
        _ => format!("{data}: channels are ordered by name; {dropped} channels are dropped"),
    });
    let mut about = content.about().clone();
    about.channels.clone_from(&wanted.channels);
    let before = content.about().channels.len();
    Ok(match content {
        Content::Covariances(covariances) => {
            let mut matrices = Vec::with_capacity(covariances.matrices().len());
            for matrix in covariances.matrices().chunks_exact(before * before) {
                for &row in &places {
                    matrices.extend(places.iter().map(|&column| matrix[row * before + column]));
                }
            }
            Content::Covariances(Covariances::new(about, covariances.inputs.clone(), matrices)?)
        }
        Content::Trials(trials) => {
            let samples = (0..trials.len()).flat_map(|trial| trials.trial(trial).chunks_exact(before));
            let samples = samples.flat_map(|sample| places.iter().map(|&channel| sample[channel])).collect();
            Content::Trials(Trials::new(about, trials.length(), samples)?)
        }
    })
}

/// Gives labels the order of the wanted classes. Trials of other classes are dropped. Returns the
/// indices of the trials that remain.
fn rename_labels(
    content: Content,
    wanted: &Preparation,
    other: &str,
    data: &str,
    notes: &mut Vec<String>,
) -> Result<(Content, Vec<usize>), Error> {
    let mut about = content.about().clone();
    let all = (0..about.origins.len()).collect();
    if about.classes == wanted.classes {
        return Ok((content, all));
    }
    let found = std::mem::replace(&mut about.classes, wanted.classes.clone());
    let places: Vec<Option<usize>> =
        found.iter().map(|name| wanted.classes.iter().position(|other| other == name)).collect();
    let missing = |own: &[String], other: &[String]| -> Vec<String> {
        own.iter().filter(|name| !other.contains(name)).cloned().collect()
    };
    let (unknown, absent) = (missing(&found, &wanted.classes), missing(&wanted.classes, &found));
    let origins = about.origins.into_iter().enumerate();
    let kept = origins
        .filter_map(|(trial, origin)| places[origin.label].map(|label| (trial, Origin { label, ..origin })));
    let (trials, origins): (Vec<usize>, Vec<Origin>) = kept.unzip();
    about.origins = origins;
    if trials.is_empty() {
        let (expected, found) = (wanted.classes.join(", "), found.join(", "));
        return Err(differ(Difference { field: "classes".into(), expected, found }, other, data));
    }
    if !unknown.is_empty() {
        let dropped = content.about().origins.len() - trials.len();
        let noun = if dropped == 1 { "trial" } else { "trials" };
        notes.push(format!(
            "{data}: {dropped} {noun} of {} dropped, which {other} does not know",
            unknown.join(", ")
        ));
    }
    if !absent.is_empty() {
        notes.push(format!("{data} has no trials of {}", absent.join(", ")));
    }
    if unknown.is_empty() && absent.is_empty() {
        notes.push(format!("{data}: classes are reordered by name"));
    }
    Ok((content.only(&trials, about)?, trials))
}

/// Estimates covariances of trials, if covariances are wanted.
fn estimate(
    content: Content,
    wanted: &Preparation,
    other: &str,
    data: &str,
    notes: &mut Vec<String>,
) -> Result<Content, Error> {
    let Content::Trials(trials) = content else { return Ok(content) };
    let branches = &wanted.making.branches;
    let estimator = branches.first().and_then(|branch| branch.estimator.as_ref());
    let (fedspd_eeg::ContentKind::Covariances, Some(estimator)) = (wanted.content, estimator) else {
        return Ok(Content::Trials(trials));
    };
    let estimator: Estimator = estimator.parse()?;
    let interval = trials.about.making.branches.first().and_then(|branch| branch.window);
    let windows: Vec<[f64; 2]> = branches.iter().filter_map(|branch| branch.window).collect();
    let whole = matches!(windows[..], [] | [_]) && windows.first().copied() == interval;
    let bands = wanted.making.bands();
    if let ([first, second, ..], Some(found)) = (&bands[..], trials.about.making.bands().first()) {
        let (expected, found) = (format!("{first} and {second}"), found.clone());
        return Err(differ(Difference { field: "bands".into(), expected, found }, other, data));
    }
    let covariances = trials.covariances(if whole { &[] } else { &windows }, estimator)?;
    notes.push(format!("{data} holds trials: their covariances are estimated ({estimator})"));
    Ok(Content::Covariances(covariances))
}
