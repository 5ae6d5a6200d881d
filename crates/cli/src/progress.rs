//! Progress on standard error.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicUsize, Ordering};

use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressStyle};

use crate::interrupt;

/// Display of progress.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Shown {
    /// A bar on a terminal, lines elsewhere.
    Auto,
    /// A line for every tenth of the work.
    Plain,
    /// A line of JSON for every step.
    Json,
    /// No progress, only warnings.
    Off,
}

/// Counter of finished items. If the total is unknown (0), only a bar on a terminal shows the
/// count.
pub(crate) struct Bar {
    what: &'static str,
    total: usize,
    done: AtomicUsize,
    kind: Kind,
}

enum Kind {
    Terminal(ProgressBar),
    Lines(std::time::Instant),
    Json(std::time::Instant),
    Off,
}

impl Bar {
    pub(crate) fn new(shown: Shown, total: usize, what: &'static str) -> Self {
        let kind = match shown {
            Shown::Off => Kind::Off,
            Shown::Auto if std::io::stderr().is_terminal() => {
                let bar = ProgressBar::new(total as u64);
                let template = "{bar:30} {pos}/{len} {wide_msg} {elapsed}, {eta} left";
                if let Ok(style) = ProgressStyle::with_template(template) {
                    bar.set_style(style);
                }
                Kind::Terminal(bar)
            }
            Shown::Auto | Shown::Plain => Kind::Lines(std::time::Instant::now()),
            Shown::Json => Kind::Json(std::time::Instant::now()),
        };
        Self { what, total, done: AtomicUsize::new(0), kind }
    }

    /// Counts one more item.
    pub(crate) fn advance(&self) {
        self.advance_with("", &serde_json::json!({}));
    }

    /// Counts one more item, with a text for people and facts for programs.
    pub(crate) fn advance_with(&self, text: &str, facts: &serde_json::Value) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        match &self.kind {
            Kind::Terminal(bar) => bar.inc(1),
            Kind::Lines(start) => {
                // At every tenth of the work.
                let tenths = |done: usize| (done * 10).checked_div(self.total);
                if tenths(done) > tenths(done - 1) {
                    let seconds = start.elapsed().as_secs_f64();
                    let left = seconds / done as f64 * self.total.saturating_sub(done) as f64;
                    let more = if text.is_empty() { String::new() } else { format!(": {text}") };
                    self.line(&format!(
                        "{done} of {} {} in {seconds:.0} s, {left:.0} s left{more}",
                        self.total, self.what
                    ));
                }
            }
            Kind::Json(start) => {
                let seconds = start.elapsed().as_secs_f64();
                let mut line = serde_json::json!({ "done": done, "of": self.total, "what": self.what, "seconds": seconds });
                if let (Some(line), Some(facts)) = (line.as_object_mut(), facts.as_object()) {
                    line.extend(facts.clone());
                }
                self.line(&line.to_string());
            }
            Kind::Off => {}
        }
    }

    /// Shows the current activity, on a bar only.
    pub(crate) fn message(&self, text: String) {
        if let Kind::Terminal(bar) = &self.kind {
            bar.set_message(text);
        }
    }

    /// Prints a line that stays on the screen.
    pub(crate) fn note(&self, text: &str) {
        match &self.kind {
            Kind::Terminal(bar) => bar.println(text),
            Kind::Lines(_) => self.line(text),
            Kind::Json(_) => self.line(&serde_json::json!({ "note": text }).to_string()),
            Kind::Off => {}
        }
    }

    /// Prints a warning, even if progress is off.
    pub(crate) fn warning(&self, text: &str) {
        match &self.kind {
            Kind::Off => self.line(&format!("warning: {text}")),
            _ => self.note(&format!("warning: {text}")),
        }
    }

    pub(crate) fn finish(&self) {
        if let Kind::Terminal(bar) = &self.kind {
            bar.finish_and_clear();
        }
    }

    #[allow(clippy::unused_self)] // only a bar may write to standard error
    fn line(&self, text: &str) {
        use std::io::Write;
        let _ = writeln!(std::io::stderr(), "{text}");
    }
}

impl fedspd_eeg::prepare::Progress for Bar {
    fn file_done(&self) {
        self.advance();
    }

    fn interrupted(&self) -> bool {
        interrupt::asked()
    }
}
