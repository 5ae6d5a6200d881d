//! Segments of a recording that are filtered separately.

use std::ops::Range;

use crate::Annotation;

/// First words of annotations that mark an interruption: recordings were joined, or acquisition
/// paused.
const INTERRUPTIONS: [&str; 2] = ["edge", "bad_acq_skip"];

/// Whether an annotation marks an interruption, by MNE's rule (`skip_by_annotation` of
/// `raw.filter`).
pub(crate) fn is_interruption(text: &str) -> bool {
    let begins = |start: &str| text.get(..start.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(start));
    INTERRUPTIONS.into_iter().any(begins)
}

/// Returns the segments between interruptions of a recording. A filter must not ring from one
/// segment into the next. Samples inside an interruption belong to no segment and stay unfiltered.
pub(crate) fn segments(annotations: &[Annotation], samples: usize, sfreq: f64) -> Vec<Range<usize>> {
    let at = |seconds: f64| ((seconds * sfreq).round_ties_even().max(0.0) as usize).min(samples);
    let mut pauses: Vec<[usize; 2]> = annotations
        .iter()
        .filter(|annotation| is_interruption(&annotation.text))
        .map(|annotation| [annotation.onset, annotation.onset + annotation.duration].map(at))
        .collect();
    pauses.sort_unstable();
    let (mut segments, mut start) = (Vec::with_capacity(pauses.len() + 1), 0);
    for [first, end] in pauses {
        // An interruption that begins inside another one only prolongs it.
        if first > start {
            segments.push(start..first);
        }
        start = start.max(end);
    }
    if start < samples {
        segments.push(start..samples);
    }
    segments
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Start and end of each segment.
    fn cut(annotations: &[(f64, f64, &str)]) -> Vec<(usize, usize)> {
        let note =
            |&(onset, duration, text): &(f64, f64, &str)| Annotation { onset, duration, text: text.into() };
        let pieces = segments(&annotations.iter().map(note).collect::<Vec<_>>(), 100, 10.0);
        pieces.into_iter().map(|piece| (piece.start, piece.end)).collect()
    }

    #[test]
    fn interruptions_split_whatever_their_case_and_length() {
        assert_eq!(cut(&[]), [(0, 100)]);
        assert_eq!(cut(&[(2.0, 0.0, "T1"), (3.0, 1.0, "BAD_move"), (4.0, 1.0, "bad_acq")]), [(0, 100)]);
        assert_eq!(
            cut(&[(2.0, 0.0, "EDGE boundary"), (5.0, 1.0, "bad_ACQ_skip")]),
            [(0, 20), (20, 50), (60, 100)]
        );
        // Overlapping, nested, adjacent, at the ends and beyond them.
        assert_eq!(cut(&[(2.0, 2.0, "edge"), (3.0, 2.0, "edge"), (3.5, 0.0, "edge")]), [(0, 20), (50, 100)]);
        assert_eq!(cut(&[(2.0, 1.0, "edge"), (3.0, 1.0, "edge")]), [(0, 20), (40, 100)]);
        assert_eq!(cut(&[(-1.0, 2.0, "edge"), (9.0, 5.0, "edge"), (10.0, 0.0, "edge")]), [(10, 90)]);
        assert_eq!(cut(&[(0.0, 0.0, "edge"), (2.05, 0.0, "edge")]), [(0, 20), (20, 100)]);
    }
}
