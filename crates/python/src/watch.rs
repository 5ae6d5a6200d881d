//! A Python logger that watches training, and Ctrl-C.

use fedspd_experiment::{Observer, RoundProgress};
use pyo3::prelude::*;

/// Tells a logger how training goes. What the logger or a signal raises ends training.
pub(crate) struct Watch {
    logger: Py<PyAny>,
    raised: Option<PyErr>,
}

impl Watch {
    pub(crate) fn new(logger: Py<PyAny>) -> Self {
        Self { logger, raised: None }
    }

    /// What was raised while training.
    pub(crate) fn fault(&mut self) -> PyResult<()> {
        self.raised.take().map_or(Ok(()), Err)
    }

    fn tell(&mut self, level: &str, text: &str) {
        let told = Python::attach(|python| {
            self.logger.call_method1(python, level, ("%s", text))?;
            python.check_signals()
        });
        if let Err(raised) = told {
            self.raised.get_or_insert(raised);
        }
    }
}

impl Observer for Watch {
    fn round(&mut self, progress: &RoundProgress) {
        let RoundProgress { round, rounds, clients, learning_rate, .. } = progress;
        let score = match progress.validation_f1 {
            Some(score) => format!(", validation F1 {:.1}", 100.0 * score),
            None => String::new(),
        };
        let clients = if *clients == 1 { "1 client".into() } else { format!("{clients} clients") };
        self.tell(
            "debug",
            &format!("round {round} of {rounds}: {clients}, learning rate {learning_rate:e}{score}"),
        );
    }

    fn warning(&mut self, text: &str) {
        self.tell("warning", text);
    }

    fn interrupted(&self) -> bool {
        self.raised.is_some()
    }
}
