//! Progress of a run, as text or JSON.

use clap::Args;
use fedspd_experiment::{Observer, RoundProgress};
use serde_json::json;

use crate::interrupt;
use crate::progress::{Bar, Shown};

/// Options for the display of a run.
#[derive(Args)]
pub(crate) struct Display {
    /// Display of progress.
    #[arg(long, value_enum, default_value_t = Shown::Auto)]
    progress: Shown,
    /// Hide progress and warnings.
    #[arg(short, long, conflicts_with = "verbose")]
    quiet: bool,
    /// Show a line for every round.
    #[arg(short, long)]
    verbose: bool,
}

impl Display {
    pub(crate) fn shown(&self) -> Shown {
        if self.quiet { Shown::Off } else { self.progress }
    }

    /// Makes a display for this number of rounds.
    pub(crate) fn rounds(&self, rounds: usize) -> Rounds {
        let bar = Bar::new(self.shown(), rounds, "rounds");
        Rounds { bar, verbose: self.verbose, quiet: self.quiet }
    }
}

/// Display of rounds.
pub(crate) struct Rounds {
    pub(crate) bar: Bar,
    verbose: bool,
    quiet: bool,
}

impl Observer for Rounds {
    fn round(&mut self, progress: &RoundProgress) {
        let RoundProgress { unit, round, rounds, clients, learning_rate, validation_f1, test_f1 } = *progress;
        let percent =
            |score: Option<f64>| score.map_or("–".to_owned(), |score| format!("{:.1}", 100.0 * score));
        let text = format!(
            "{unit}, round {round} of {rounds}, {clients} client{}, validation F1 {}",
            if clients == 1 { "" } else { "s" },
            percent(validation_f1)
        );
        if self.verbose {
            self.bar
                .note(&format!("{text}, test F1 {}, learning rate {learning_rate:.2e}", percent(test_f1)));
        }
        self.bar.message(text.clone());
        self.bar.advance_with(&text, &json!({
            "seed": unit.seed, "fold": unit.fold, "stage": unit.stage, "round": round, "rounds": rounds, "clients": clients, "learning_rate": learning_rate,
            "validation_f1": validation_f1, "test_f1": test_f1,
        }));
    }

    fn warning(&mut self, text: &str) {
        if !self.quiet {
            self.bar.warning(text);
        }
    }

    fn interrupted(&self) -> bool {
        interrupt::asked()
    }
}
