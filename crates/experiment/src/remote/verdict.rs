//! What a model made of a site's trials, as the parts of a message.

use fedspd_federated::{Fault, Kind, Message, Numbers, Part, PartSpec};
use fedspd_run::Confusion;

use super::introduction::{Counts, fits};

/// Logarithms of probabilities of doubles end near 745; a diverging network may come to some thousands.
const LARGEST_LOSS: f64 = 1e6;

/// The splits that a site may report on.
const SPLITS: [&str; 2] = ["validation", "test"];

/// What a model made of the trials of one split.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Verdict {
    /// The mean cross-entropy.
    pub(super) loss: f64,
    /// The confusion matrix.
    pub(super) confusion: Confusion,
}

/// What a model made of a site's trials; nothing where it has none, or was not asked.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Verdicts {
    pub(super) validation: Option<Verdict>,
    pub(super) test: Option<Verdict>,
}

impl Verdicts {
    /// The parts of a message with verdicts on trials of that many classes.
    fn specs(classes: usize) -> Vec<PartSpec> {
        let of_split = |split: &&str| {
            [
                PartSpec::new(loss_of(split), &[], Kind::F64).optional(),
                PartSpec::new(confusion_of(split), &[classes, classes], Kind::U64).optional(),
            ]
        };
        SPLITS.iter().flat_map(of_split).collect()
    }

    /// As a message.
    pub(super) fn message(&self) -> Message {
        let mut message = Message::default();
        for (split, verdict) in SPLITS.iter().zip([&self.validation, &self.test]) {
            if let Some(Verdict { loss, confusion }) = verdict {
                let (classes, counts) = (confusion.support().len(), confusion.counts().to_vec());
                message.push(Part::real(loss_of(split), &[], &[*loss]));
                message.push(Part::ring(confusion_of(split), &[classes, classes], counts));
            }
        }
        message
    }

    /// Reads a message, and checks it against the trials that the site announced.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub(super) fn read(message: &Message, announced: &Counts) -> Result<Self, String> {
        message.check(&Self::specs(announced.train.len())).map_err(|fault| fault.to_string())?;
        let [validation, test] = [("validation", &announced.validation), ("test", &announced.test)];
        Ok(Self { validation: verdict(message, validation)?, test: verdict(message, test)? })
    }
}

fn verdict(message: &Message, (split, announced): (&str, &Vec<usize>)) -> Result<Option<Verdict>, String> {
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
            "it has {announced:?} trials of the classes, and sent the confusion matrix {counts:?}"
        ));
    }
    Ok(Some(Verdict { loss, confusion }))
}

/// Checks a mean cross-entropy: it is never negative, and one that is beyond all measure is not to
/// drown those of the others.
pub(super) fn check_loss(loss: f64) -> Result<(), String> {
    if (0.0..=LARGEST_LOSS).contains(&loss) { Ok(()) } else { Err(format!("its loss is {loss}")) }
}

fn loss_of(split: &str) -> String {
    format!("{split}.loss")
}

fn confusion_of(split: &str) -> String {
    format!("{split}.confusion")
}
