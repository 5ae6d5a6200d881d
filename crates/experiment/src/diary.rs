//! What is said of each round, whoever played it: to the log, to whoever watches, and to the results.

use fedspd_run::{Event, Round};

use crate::checkpoint::Past;
use crate::scores::Score;
use crate::store::Store;
use crate::{Error, Observer, RoundProgress};

/// The rounds of a seed so far.
pub(crate) struct Diary {
    pub(crate) seed: u64,
    /// How many there are at most.
    pub(crate) rounds: u32,
    pub(crate) history: Vec<Past>,
}

impl Diary {
    /// How many rounds are over.
    pub(crate) fn done(&self) -> u32 {
        self.history.len() as u32
    }

    /// The log goes on from here: what it has of later rounds will be played again.
    pub(crate) fn open(&self, store: &mut Store) -> Result<(), Error> {
        let (seed, round) = (self.seed, self.done());
        store.go_on_from(seed, round)?;
        if round > 0 {
            store.event(&Event::Resumed { seed, round })?;
        }
        Ok(())
    }

    /// Writes a round down, with the warnings that belong to it. Whoever watches is told when it is stored.
    pub(crate) fn write(
        &mut self,
        event: Round,
        scores: Vec<Score>,
        mut store: Option<&mut Store>,
        observer: &mut (dyn Observer + Send),
    ) -> Result<RoundProgress, Error> {
        let round = event.round;
        // Where there is no polar factor of the mean there is no distance from it either.
        for layer in event.layers.iter().filter(|layer| event.fallback && layer.proj_rl_distance.is_nan()) {
            let text = format!(
                "round {round}: the mean of `{}` has lost its rank (consensus {:.1e}); rl-avg stepped in",
                layer.name, layer.consensus
            );
            warn(store.as_deref_mut(), observer, &text)?;
        }
        for dropped in &event.dropped {
            let text = format!("round {round}: {} does not count: {}", dropped.client, dropped.reason);
            warn(store.as_deref_mut(), observer, &text)?;
        }
        if event.participants.len() == event.dropped.len() {
            let text = format!("round {round}: nobody counts; the model stays");
            warn(store.as_deref_mut(), observer, &text)?;
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
        self.history.push(Past { round, scores });
        if let Some(store) = store {
            store.event(&Event::Round(event))?;
        }
        Ok(progress)
    }
}

/// Whether the model is tested, or validated, after a round: the first too, as in the paper's figure, and the last.
pub(crate) fn is_due(round: u32, last: bool, every: usize) -> bool {
    last || round == 1 || round.is_multiple_of(every as u32)
}

/// Tells whoever watches, and the log.
pub(crate) fn warn(
    store: Option<&mut Store>,
    observer: &mut (dyn Observer + Send),
    text: &str,
) -> Result<(), Error> {
    observer.warning(text);
    store.map_or(Ok(()), |store| store.event(&Event::Warning { text: text.to_owned() }))
}
