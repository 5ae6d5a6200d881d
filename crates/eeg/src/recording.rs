//! A continuous recording.

/// A continuous recording with its annotations.
#[derive(Clone, Debug, PartialEq)]
pub struct Recording {
    /// Samples per second.
    pub sfreq: f64,
    /// The names of the channels.
    pub channels: Vec<String>,
    /// Samples in microvolts, sample by sample with all channels side by side.
    pub samples: Vec<f64>,
    /// Annotations by onset, then by duration.
    pub annotations: Vec<Annotation>,
}

/// An annotation of a recording.
#[derive(Clone, Debug, PartialEq)]
pub struct Annotation {
    /// Onset in seconds after the first sample.
    pub onset: f64,
    /// Duration in seconds; 0 if not given.
    pub duration: f64,
    /// The text.
    pub text: String,
}

impl Annotation {
    /// Compares as MNE does: by onset, then by duration. A stable sort keeps the order of the file
    /// for equal ones.
    pub(crate) fn order(&self, other: &Self) -> std::cmp::Ordering {
        self.onset.total_cmp(&other.onset).then(self.duration.total_cmp(&other.duration))
    }
}

impl Recording {
    /// The number of samples of each channel.
    pub fn len(&self) -> usize {
        self.samples.len() / self.channels.len().max(1)
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.samples.is_empty()
    }
}
