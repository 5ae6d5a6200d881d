//! The rounds of a unit: events, warnings and scores.

use fedspd_run::{Event, Round, Unit};

use super::checkpoint::PastRound;
use super::recorder::Recorder;
use crate::evaluate::Score;
use crate::{Error, Observer, RoundProgress};

/// The rounds of a unit so far.
pub(crate) struct History {
    pub(crate) unit: Unit,
    /// The largest number of rounds.
    pub(crate) rounds: u32,
    pub(crate) past: Vec<PastRound>,
}

impl History {
    /// Returns the number of completed rounds.
    pub(crate) fn done(&self) -> u32 {
        self.past.len() as u32
    }

    /// Prepares the log for the next round. Rounds after the checkpoint run again.
    pub(crate) fn open(&self, recorder: &mut Recorder) -> Result<(), Error> {
        let (unit, round) = (self.unit, self.done());
        recorder.rewind()?;
        if round > 0 {
            recorder.event(&Event::Resumed { unit, round })?;
        }
        Ok(())
    }

    /// Records a round and its warnings. The caller notifies the observer once the round is stored.
    pub(crate) fn write(
        &mut self,
        event: Round,
        scores: Vec<Score>,
        mut recorder: Option<&mut Recorder>,
        observer: &mut (dyn Observer + Send),
    ) -> Result<RoundProgress, Error> {
        let round = event.round;
        // Without a polar factor of the mean, the distance from it is NaN.
        for layer in event.layers.iter().filter(|layer| event.fallback && layer.proj_rl_distance.is_nan()) {
            let text = format!(
                "round {round}: the mean of `{}` has lost its rank (consensus {:.1e}); rl-avg was used instead",
                layer.name, layer.consensus
            );
            warn(recorder.as_deref_mut(), observer, &text)?;
        }
        for dropped in &event.dropped {
            let text = format!("round {round}: {} does not count: {}", dropped.client, dropped.reason);
            warn(recorder.as_deref_mut(), observer, &text)?;
        }
        if event.participants.len() == event.dropped.len() {
            let text = format!("round {round}: no reply counts; the model stays the same");
            warn(recorder.as_deref_mut(), observer, &text)?;
        }
        let progress = RoundProgress {
            unit: self.unit,
            round,
            rounds: self.rounds,
            clients: event.participants.len(),
            learning_rate: event.learning_rate,
            validation_f1: event.validation_f1,
            test_f1: event.test_f1,
        };
        self.past.push(PastRound { round, scores });
        if let Some(recorder) = recorder {
            recorder.event(&Event::Round(event))?;
        }
        Ok(progress)
    }
}

/// Whether the model is tested or validated after a round. The first round, as in the paper's
/// figure, and the last are always due.
pub(crate) fn is_due(round: u32, last: bool, every: usize) -> bool {
    last || round == 1 || round.is_multiple_of(every as u32)
}

/// Sends a warning to the observer and to the log of the run.
pub(crate) fn warn(
    recorder: Option<&mut Recorder>,
    observer: &mut (dyn Observer + Send),
    text: &str,
) -> Result<(), Error> {
    observer.warning(text);
    recorder.map_or(Ok(()), |recorder| recorder.event(&Event::Warning { text: text.to_owned() }))
}
