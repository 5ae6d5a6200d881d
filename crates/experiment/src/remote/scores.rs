//! The scores of a model on a site's trials, as the parts of a message.

use fedspd_federated::{Fault, Kind, Message, Numbers, Part, PartSpec};
use fedspd_nn::LARGEST_LOSS;
use fedspd_run::Confusion;

use super::introduction::{Counts, fits};

/// The splits that a site may score.
const SPLITS: [&str; 2] = ["validation", "test"];

/// The scores of a model on the trials of one split.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SplitScores {
    /// The mean cross-entropy.
    pub(super) loss: f64,
    /// The confusion matrix.
    pub(super) confusion: Confusion,
}

/// The scores of a model on a site's trials; none for a split without trials or a split that was
/// not requested.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct SiteScores {
    pub(super) validation: Option<SplitScores>,
    pub(super) test: Option<SplitScores>,
}

impl SiteScores {
    /// Returns the parts of a message with scores for this many classes.
    fn specs(classes: usize) -> Vec<PartSpec> {
        let of_split = |split: &&str| {
            [
                PartSpec::new(loss_of(split), &[], Kind::F64).optional(),
                PartSpec::new(confusion_of(split), &[classes, classes], Kind::U64).optional(),
            ]
        };
        SPLITS.iter().flat_map(of_split).collect()
    }

    /// Returns the scores as a message.
    pub(super) fn message(&self) -> Message {
        let mut message = Message::default();
        for (split, scores) in SPLITS.iter().zip([&self.validation, &self.test]) {
            if let Some(SplitScores { loss, confusion }) = scores {
                let (classes, counts) = (confusion.support().len(), confusion.counts().to_vec());
                message.push(Part::real(loss_of(split), &[], &[*loss]));
                message.push(Part::ring(confusion_of(split), &[classes, classes], counts));
            }
        }
        message
    }

    /// Reads a message and checks it against the announced trials of the site. Scores of a
    /// requested split must be there, unless the site has no such trials.
    ///
    /// # Errors
    /// A description of the fault.
    pub(super) fn read(
        message: &Message,
        announced: &Counts,
        validated: bool,
        tested: bool,
    ) -> Result<Self, String> {
        message.check(&Self::specs(announced.train.len())).map_err(|fault| fault.to_string())?;
        let split = |split: &str, announced: &[usize], requested: bool| {
            let scores = split_scores(message, split, announced)?;
            if requested && scores.is_none() && announced.iter().any(|&trials| trials > 0) {
                return Err(Fault::MissingPart { part: loss_of(split) }.to_string());
            }
            Ok(scores)
        };
        Ok(Self {
            validation: split("validation", &announced.validation, validated)?,
            test: split("test", &announced.test, tested)?,
        })
    }
}

fn split_scores(message: &Message, split: &str, announced: &[usize]) -> Result<Option<SplitScores>, String> {
    let (loss, confusion) = (message.number(&loss_of(split)), message.get(&confusion_of(split)));
    let (loss, counts) = match (loss, confusion) {
        (None, None) => return Ok(None),
        (Some(loss), Some(Numbers::U64(counts))) => (loss, counts),
        (None, _) => return Err(Fault::MissingPart { part: loss_of(split) }.to_string()),
        _ => return Err(Fault::MissingPart { part: confusion_of(split) }.to_string()),
    };
    check_loss(loss)?;
    let confusion = Confusion::of(announced.len(), counts).map_err(|error| error.to_string())?;
    if !fits(&confusion, announced) {
        return Err(format!(
            "its confusion matrix {counts:?} does not match its numbers of trials {announced:?}"
        ));
    }
    Ok(Some(SplitScores { loss, confusion }))
}

/// Checks a mean cross-entropy. It is never negative, and a huge one would hide those of other
/// sites.
pub(super) fn check_loss(loss: f64) -> Result<(), String> {
    if (0.0..=LARGEST_LOSS).contains(&loss) {
        Ok(())
    } else {
        Err(format!("its loss is {loss}; it must be between 0 and {LARGEST_LOSS}"))
    }
}

fn loss_of(split: &str) -> String {
    format!("{split}.loss")
}

fn confusion_of(split: &str) -> String {
    format!("{split}.confusion")
}
