//! Epochs: trials cut from a recording, and the reasons for dropped events.

use crate::dataset::Ids;
use crate::{Annotation, Definition};

/// A trial in a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Epoch {
    /// Its first sample.
    pub start: usize,
    /// Its class.
    pub label: usize,
}

/// An event without a trial.
#[derive(Clone, Debug, PartialEq)]
pub struct Dropped {
    /// The subject.
    pub subject: String,
    /// The session.
    pub session: String,
    /// The run.
    pub run: String,
    /// Seconds after the first sample.
    pub onset: f64,
    /// The annotation.
    pub text: String,
    /// The reason.
    pub reason: DropReason,
}

/// The reason for dropping an event, by the rules of MNE's `Epochs`.
#[derive(Clone, Debug, PartialEq)]
pub enum DropReason {
    /// The trial reaches beyond the recording.
    OutsideRecording {
        /// Start and end of the trial, in seconds after the first sample.
        span: [f64; 2],
        /// The length of the recording in seconds.
        recorded: f64,
    },
    /// An earlier event is at the same sample.
    Repeated,
    /// The trial overlaps with an annotation whose text begins with `bad`.
    Bad {
        /// The text of that annotation.
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

/// Whether an annotation marks a bad signal, by MNE's rule.
pub(crate) fn is_bad(text: &str) -> bool {
    text.get(..3).is_some_and(|start| start.eq_ignore_ascii_case("bad"))
}

/// Returns the trials of a recording by onset, and the dropped events.
///
/// An event is at the sample nearest its onset (half to even, as NumPy rounds). Its trial includes
/// both ends of the interval.
pub(crate) fn epochs(
    definition: &Definition,
    classes: &[String],
    ids: &Ids,
    (samples, sfreq): (usize, f64),
    annotations: &[Annotation],
) -> (Vec<Epoch>, Vec<Dropped>) {
    let at = |seconds: f64| (seconds * sfreq).round_ties_even();
    let (first, length) = (at(definition.interval[0]), definition.trial_length(sfreq));
    let bad: Vec<&Annotation> = annotations.iter().filter(|annotation| is_bad(&annotation.text)).collect();
    let (mut epochs, mut dropped) = (Vec::new(), Vec::new());
    let mut events: Vec<(&Annotation, usize)> = annotations
        .iter()
        .filter_map(|annotation| {
            let class = definition.class_of(&ids.run, &annotation.text)?;
            let label = classes.iter().position(|name| name == class)?;
            Some((annotation, label))
        })
        .collect();
    events.sort_by(|a, b| a.0.order(b.0));
    let mut last = f64::NEG_INFINITY;
    for (annotation, label) in events {
        let sample = at(annotation.onset);
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
                subject: ids.subject.clone(),
                session: ids.session.clone(),
                run: ids.run.clone(),
                onset: annotation.onset,
                text: annotation.text.clone(),
                reason,
            }),
        }
    }
    (epochs, dropped)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn definition() -> Definition {
        let text = "name = \"mine\"\nformat = \"edf\"\nfiles = \"S{subject}.edf\"\nsfreq = 10\ninterval = [0, 1]\nband = [1, 3]\nevents = [{ classes = { T1 = \"one\", T2 = \"two\" } }]\n";
        Definition::parse(std::path::Path::new("mine.toml"), text).unwrap()
    }

    /// Returns the starts of trials and the drop reasons, for 100 samples at 10 Hz.
    fn cut(annotations: &[(f64, f64, &str)]) -> (Vec<usize>, Vec<DropReason>) {
        let (epochs, dropped) = events(annotations);
        (
            epochs.iter().map(|epoch| epoch.start).collect(),
            dropped.into_iter().map(|drop| drop.reason).collect(),
        )
    }

    fn events(annotations: &[(f64, f64, &str)]) -> (Vec<Epoch>, Vec<Dropped>) {
        let note =
            |&(onset, duration, text): &(f64, f64, &str)| Annotation { onset, duration, text: text.into() };
        let annotations: Vec<Annotation> = annotations.iter().map(note).collect();
        let (definition, classes) = (definition(), ["one".to_owned(), "two".to_owned()]);
        let ids = Ids { subject: "1".into(), session: "b".into(), run: "0".into() };
        epochs(&definition, &classes, &ids, (100, 10.0), &annotations)
    }

    #[test]
    fn events_are_at_the_nearest_sample_half_to_even() {
        assert_eq!(
            cut(&[(0.25, 0.0, "T1"), (0.35, 0.0, "T1"), (0.46, 0.0, "T2"), (1.0, 0.0, "T3")]).0,
            [2, 4, 5]
        );
    }

    #[test]
    fn the_last_trial_may_end_with_the_recording() {
        // Eleven samples: 89 to 99 are inside the recording, 90 to 100 are not.
        let (starts, reasons) = cut(&[(8.9, 0.0, "T1"), (9.0, 0.0, "T1")]);
        assert_eq!(starts, [89]);
        assert_eq!(reasons, [DropReason::OutsideRecording { span: [9.0, 10.0], recorded: 10.0 }]);
    }

    #[test]
    fn of_events_at_one_sample_the_first_counts() {
        let (starts, reasons) = cut(&[(2.0, 0.0, "T1"), (2.0, 0.0, "T2"), (4.0, 0.0, "T2")]);
        assert_eq!((starts, reasons), (vec![20, 40], vec![DropReason::Repeated]));
    }

    /// MNE sorts annotations by onset and then by duration, so the shorter of two at one time comes
    /// first.
    #[test]
    fn of_events_at_one_time_the_shortest_counts() {
        let (epochs, dropped) =
            events(&[(2.0, 3.0, "T1"), (2.0, 1.0, "T2"), (1.0, 5.0, "T2"), (2.0, 1.0, "T1")]);
        assert_eq!(epochs, [Epoch { start: 10, label: 1 }, Epoch { start: 20, label: 1 }]);
        let dropped: Vec<(&str, &str)> = dropped.iter().map(|d| (&*d.text, &*d.session)).collect();
        assert_eq!(dropped, [("T1", "b"), ("T1", "b")]);
    }

    /// As in MNE, a bad annotation must overlap with the trial; touching is not enough.
    #[test]
    fn trials_that_overlap_with_something_bad_are_dropped() {
        let bad = |onset, duration| cut(&[(2.0, 0.0, "T1"), (onset, duration, "BAD_move")]);
        let reason = || vec![DropReason::Bad { text: "BAD_move".into() }];
        assert_eq!(bad(2.5, 0.1), (vec![], reason()));
        assert_eq!(bad(1.0, 1.05), (vec![], reason()));
        assert_eq!(bad(3.05, 4.0), (vec![], reason()));
        assert_eq!(bad(1.0, 1.0), (vec![20], vec![]));
        assert_eq!(bad(3.1, 4.0), (vec![20], vec![]));
        assert_eq!(cut(&[(2.0, 0.0, "T1"), (2.5, 0.1, "badly")]).1.len(), 1);
        assert_eq!(cut(&[(2.0, 0.0, "T1"), (2.5, 0.1, "ba")]).0, [20]);
    }
}
