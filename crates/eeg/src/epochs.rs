//! Which pieces of a recording are trials, and which are not, and why.

use crate::{Annotation, Definition};

/// A trial in a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Epoch {
    /// Its first sample.
    pub start: usize,
    /// Its class.
    pub label: usize,
}

/// An event that gives no trial.
#[derive(Clone, Debug, PartialEq)]
pub struct Dropped {
    /// Whose.
    pub subject: String,
    /// In which run.
    pub run: String,
    /// Seconds after the first sample.
    pub onset: f64,
    /// The annotation.
    pub text: String,
    /// Why.
    pub reason: DropReason,
}

/// Why an event gives no trial; the rules of MNE's `Epochs`.
#[derive(Clone, Debug, PartialEq)]
pub enum DropReason {
    /// The trial would reach beyond the recording.
    OutsideRecording {
        /// Seconds after the first sample at which it would begin and end.
        span: [f64; 2],
        /// The length of the recording in seconds.
        recorded: f64,
    },
    /// An earlier event has the same sample.
    Repeated,
    /// It overlaps with an annotation whose text begins with `bad`.
    Bad {
        /// That annotation.
        text: String,
    },
}

impl std::fmt::Display for DropReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::OutsideRecording { span: [start, end], recorded } => {
                write!(f, "its trial, {start:.3}-{end:.3} s, is not inside the recording of {recorded:.3} s")
            }
            Self::Repeated => f.write_str("another event has the same sample"),
            Self::Bad { text } => write!(f, "it overlaps with the annotation \"{text}\""),
        }
    }
}

/// The trials of a recording of so many samples, by onset, and the events that give none.
///
/// An event is at the sample nearest its onset (half to even, as NumPy rounds); its trial has both ends of the interval.
pub(crate) fn epochs(
    definition: &Definition,
    classes: &[String],
    (subject, run): (&str, &str),
    (samples, sfreq): (usize, f64),
    annotations: &[Annotation],
) -> (Vec<Epoch>, Vec<Dropped>) {
    let at = |seconds: f64| (seconds * sfreq).round_ties_even();
    let (first, length) = (at(definition.interval[0]), definition.trial_length(sfreq));
    let bad: Vec<&Annotation> = annotations
        .iter()
        .filter(|a| a.text.get(..3).is_some_and(|start| start.eq_ignore_ascii_case("bad")))
        .collect();
    let (mut epochs, mut dropped) = (Vec::new(), Vec::new());
    let mut events: Vec<(f64, &Annotation, usize)> = annotations
        .iter()
        .filter_map(|annotation| {
            let class = definition.class_of(run, &annotation.text)?;
            let label = classes.iter().position(|name| name == class)?;
            Some((at(annotation.onset), annotation, label))
        })
        .collect();
    events.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut last = f64::NEG_INFINITY;
    for (sample, annotation, label) in events {
        let start = sample + first;
        let end = start + length as f64;
        let overlaps = |other: &&&Annotation| {
            other.onset * sfreq < end && (other.onset + other.duration) * sfreq > start
        };
        let reason = if sample == last {
            Some(DropReason::Repeated)
        } else if start < 0.0 || end > samples as f64 {
            let span = [start / sfreq, (end - 1.0) / sfreq];
            Some(DropReason::OutsideRecording { span, recorded: samples as f64 / sfreq })
        } else {
            bad.iter().find(overlaps).map(|other| DropReason::Bad { text: other.text.clone() })
        };
        last = sample;
        match reason {
            None => epochs.push(Epoch { start: start as usize, label }),
            Some(reason) => dropped.push(Dropped {
                subject: subject.to_owned(),
                run: run.to_owned(),
                onset: annotation.onset,
                text: annotation.text.clone(),
                reason,
            }),
        }
    }
    (epochs, dropped)
}
