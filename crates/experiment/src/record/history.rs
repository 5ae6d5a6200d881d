//! The rounds of a seed: events, warnings and scores.

use fedspd_run::{Event, Round};

use super::checkpoint::PastRound;
use super::recorder::Recorder;
use crate::evaluate::Score;
use crate::{Error, Observer, RoundProgress};

/// The rounds of a seed so far.
pub(crate) struct History {
    pub(crate) seed: u64,
    /// How many there are at most.
    pub(crate) rounds: u32,
    pub(crate) past: Vec<PastRound>,
}

impl History {
    /// How many rounds are over.
    pub(crate) fn done(&self) -> u32 {
        self.past.len() as u32
    }

    /// Lets the log go on from here. Rounds after the checkpoint run again.
    pub(crate) fn open(&self, recorder: &mut Recorder) -> Result<(), Error> {
        let (seed, round) = (self.seed, self.done());
        recorder.truncate_after(seed, round)?;
        if round > 0 {
            recorder.event(&Event::Resumed { seed, round })?;
        }
        Ok(())
    }

    /// Records a round and its warnings. The caller tells the observer once the round is stored.
    pub(crate) fn write(
        &mut self,
        event: Round,
        scores: Vec<Score>,
        mut recorder: Option<&mut Recorder>,
        observer: &mut (dyn Observer + Send),
    ) -> Result<RoundProgress, Error> {
        let round = event.round;
        // Where there is no polar factor of the mean there is no distance from it either.
        for layer in event.layers.iter().filter(|layer| event.fallback && layer.proj_rl_distance.is_nan()) {
            let text = format!(
                "round {round}: the mean of `{}` has lost its rank (consensus {:.1e}); rl-avg stepped in",
                layer.name, layer.consensus
            );
            warn(recorder.as_deref_mut(), observer, &text)?;
        }
        for dropped in &event.dropped {
            let text = format!("round {round}: {} does not count: {}", dropped.client, dropped.reason);
            warn(recorder.as_deref_mut(), observer, &text)?;
        }
        if event.participants.len() == event.dropped.len() {
            let text = format!("round {round}: nobody counts; the model stays");
            warn(recorder.as_deref_mut(), observer, &text)?;
        }
        let progress = RoundProgress {
            seed: self.seed,
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

/// Whether the model is tested, or validated, after a round: also after the first one, as in the
/// paper's figure, and after the last.
pub(crate) fn is_due(round: u32, last: bool, every: usize) -> bool {
    last || round == 1 || round.is_multiple_of(every as u32)
}

/// Warns the observer, and the log of the run.
pub(crate) fn warn(
    recorder: Option<&mut Recorder>,
    observer: &mut (dyn Observer + Send),
    text: &str,
) -> Result<(), Error> {
    observer.warning(text);
    recorder.map_or(Ok(()), |recorder| recorder.event(&Event::Warning { text: text.to_owned() }))
}
