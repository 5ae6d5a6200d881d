//! Training progress for a Python logger, and Ctrl-C.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use fedspd_experiment::{Observer, RoundProgress};
use fedspd_run::counted;
use pyo3::prelude::*;

/// The interval between checks for Ctrl-C.
const PATIENCE: Duration = Duration::from_millis(100);

/// Runs work with the interpreter released.
///
/// An exception of the logger or a signal ends the work after the current round; it is raised here.
/// The work runs on another thread, because only the calling thread can check signals.
pub(crate) fn watched<R: Send>(
    python: Python<'_>,
    logger: Py<PyAny>,
    work: impl FnOnce(&mut Watch<'_>) -> R + Send,
) -> PyResult<R> {
    let stop = AtomicBool::new(false);
    let mut watch = Watch { logger, stop: &stop, raised: None };
    let (made, heard) = python.detach(|| {
        std::thread::scope(|scope| {
            let (done, ended) = channel::<()>();
            let (work, watch) = (work, &mut watch);
            let worker = scope.spawn(move || {
                let made = work(watch);
                drop(done);
                made
            });
            let mut heard = Ok(());
            while ended.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                if heard.is_ok() {
                    #[allow(clippy::redundant_closure_for_method_calls)]
                    // the method has one lifetime, the closure any
                    let signal = Python::attach(|python| python.check_signals());
                    heard = signal;
                    stop.fetch_or(heard.is_err(), Ordering::SeqCst);
                }
            }
            (worker.join(), heard)
        })
    });
    heard?;
    watch.raised.map_or(Ok(()), Err)?;
    made.or_else(|panic| std::panic::resume_unwind(panic))
}

/// Reports training progress to a logger.
pub(crate) struct Watch<'a> {
    logger: Py<PyAny>,
    stop: &'a AtomicBool,
    raised: Option<PyErr>,
}

impl Watch<'_> {
    fn tell(&mut self, level: &str, text: &str) {
        if let Err(raised) = Python::attach(|python| self.logger.call_method1(python, level, ("%s", text))) {
            self.raised.get_or_insert(raised);
            self.stop.store(true, Ordering::SeqCst);
        }
    }
}

impl Observer for Watch<'_> {
    fn round(&mut self, progress: &RoundProgress) {
        let RoundProgress { round, rounds, clients, learning_rate, .. } = progress;
        let score = match progress.validation_f1 {
            Some(score) => format!(", validation F1 {:.1}", 100.0 * score),
            None => String::new(),
        };
        let clients = counted(clients, "client");
        let text = format!("round {round} of {rounds}: {clients}, learning rate {learning_rate:e}{score}");
        self.tell("debug", &text);
    }

    fn warning(&mut self, text: &str) {
        self.tell("warning", text);
    }

    fn interrupted(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }
}
