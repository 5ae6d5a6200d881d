//! Failures of commands: messages, hints and exit codes.

use std::fmt;
use std::io::Write;

use fedspd_manifold::simd::{SIMD_VARIABLE, Simd};
use serde_json::{Value, json};

use crate::printable::printable_lines;

/// Reason why a command did not finish.
#[derive(Debug)]
pub(crate) enum Failure {
    /// A matrix is invalid, or an environment variable asks for something impossible.
    Geometry(fedspd_manifold::Error),
    /// A fault of a network, its training or a model file.
    Network(fedspd_nn::Error),
    /// A fault of recordings, their preparation, or downloads.
    Data(Box<fedspd_eeg::Error>),
    /// An experiment could not be set up or continued.
    Experiment(Box<fedspd_experiment::Error>),
    /// Runs could not be compared.
    Compare(Box<fedspd_report::compare::Error>),
    /// Runs could not be read, or their report not written.
    Report(Box<fedspd_report::Error>),
    /// A run was interrupted after this round; `resume` is the command to continue it.
    Interrupted { round: u32, resume: String },
    /// A preparation was interrupted.
    Stopped,
    /// A download was interrupted; `resume` is the command to continue it.
    DownloadInterrupted { resume: String },
    /// Files differ from their checksums, or are missing.
    WrongFiles { wrong: usize, missing: usize },
    /// Options that do not go together.
    Usage(String),
    /// The command line is invalid, or asks for help.
    Unparsed(clap::Error),
    /// Standard output could not be written.
    Output(std::io::Error),
    /// The reader closed standard output, as in `fedspd demo | head`. This is not an error.
    OutputClosed,
}

impl Failure {
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::OutputClosed => 0,
            Self::Data(error) if error.is_environment() => 2,
            Self::Experiment(error) if error.is_environment() => 2,
            Self::Report(error) if error.is_environment() => 2,
            Self::Output(_) => 2,
            Self::Geometry(_)
            | Self::Network(_)
            | Self::Data(_)
            | Self::Experiment(_)
            | Self::WrongFiles { .. }
            | Self::Compare(_)
            | Self::Report(_)
            | Self::Usage(_)
            | Self::Unparsed(_) => 1,
            // 128 plus the number of SIGINT, as in shells.
            Self::Interrupted { .. } | Self::Stopped | Self::DownloadInterrupted { .. } => 130,
        }
    }

    /// Returns the kind of failure for programs. These words are stable.
    fn kind(&self) -> &'static str {
        match self {
            Self::Geometry(_) => "geometry",
            Self::Network(_) => "network",
            Self::Data(_) => "data",
            Self::Experiment(_) => "experiment",
            Self::Compare(_) => "compare",
            Self::Report(_) => "report",
            Self::Interrupted { .. } | Self::Stopped | Self::DownloadInterrupted { .. } => "interrupted",
            Self::WrongFiles { .. } => "wrong-files",
            Self::Usage(_) | Self::Unparsed(_) => "usage",
            Self::Output(_) | Self::OutputClosed => "output",
        }
    }

    /// Writes the failure to standard error: as text, or as JSON on one line.
    pub(crate) fn tell(&self, json: bool) {
        let _ = if json {
            writeln!(std::io::stderr(), "{}", self.json())
        } else {
            write!(std::io::stderr(), "{}", printable_lines(&self.to_string()))
        };
    }

    /// Returns the failure as JSON.
    fn json(&self) -> Value {
        json!({ "error": self.message(), "hint": self.hint(), "kind": self.kind(), "exit_code": self.exit_code() })
    }

    /// Returns a hint for the user, if there is one.
    fn hint(&self) -> Option<String> {
        match self {
            Self::Geometry(fedspd_manifold::Error::SimdUnavailable { .. }) => {
                let names: Vec<_> = Simd::available().map(Simd::name).collect();
                Some(format!("unset {SIMD_VARIABLE}, or set it to one of: {}", names.join(", ")))
            }
            Self::Network(error) => error.hint(),
            Self::Data(error) => error.hint(),
            Self::Experiment(error) => error.hint(),
            Self::Compare(error) => error.hint(),
            Self::Report(error) => error.hint(),
            Self::Stopped => Some("nothing was written; run it again from the beginning".into()),
            Self::WrongFiles { .. } => Some("delete wrong files and run `fedspd data fetch`".into()),
            Self::Unparsed(error) => Some(paragraphs(error).skip(1).collect::<Vec<_>>().join("; ")),
            _ => None,
        }
    }

    /// Returns the message, in one sentence.
    fn message(&self) -> String {
        match self {
            Self::Geometry(error) => error.to_string(),
            Self::Network(error) => error.to_string(),
            Self::Data(error) => error.to_string(),
            Self::Experiment(error) => error.to_string(),
            Self::Compare(error) => error.to_string(),
            Self::Report(error) => error.to_string(),
            Self::Interrupted { round, resume } => {
                format!("interrupted after round {round}; resume with `{resume}`")
            }
            Self::Stopped => "interrupted".into(),
            Self::DownloadInterrupted { resume } => format!("interrupted; resume with `{resume}`"),
            Self::WrongFiles { wrong, missing } => {
                format!("files do not match their checksums: {wrong} wrong, {missing} missing")
            }
            Self::Usage(fault) => fault.clone(),
            Self::Unparsed(error) => paragraphs(error).next().unwrap_or_default(),
            Self::Output(error) => format!("standard output could not be written: {error}"),
            Self::OutputClosed => String::new(),
        }
    }
}

/// Returns the paragraphs of a parser error, each on one line: fault, tip, usage.
fn paragraphs(error: &clap::Error) -> impl Iterator<Item = String> {
    let text = error.to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text).to_owned();
    let one_line = |paragraph: &str| paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
    text.split("\n\n").map(one_line).collect::<Vec<_>>().into_iter()
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutputClosed => {}
            Self::Unparsed(error) => return error.fmt(f),
            // The user asked for it, so it is not an error.
            Self::Interrupted { .. } | Self::Stopped | Self::DownloadInterrupted { .. } => {
                writeln!(f, "{}", self.message())?;
            }
            _ => writeln!(f, "error: {}", self.message())?,
        }
        self.hint().map_or(Ok(()), |hint| writeln!(f, "\nhint: {hint}"))
    }
}

impl From<fedspd_manifold::Error> for Failure {
    fn from(error: fedspd_manifold::Error) -> Self {
        Self::Geometry(error)
    }
}

impl From<fedspd_nn::Error> for Failure {
    fn from(error: fedspd_nn::Error) -> Self {
        // Geometry errors read the same, whichever layer finds them.
        match error {
            fedspd_nn::Error::Geometry(error) => Self::Geometry(error),
            other => Self::Network(other),
        }
    }
}

impl From<fedspd_eeg::Error> for Failure {
    fn from(error: fedspd_eeg::Error) -> Self {
        match error {
            fedspd_eeg::Error::Geometry(error) => Self::Geometry(error),
            fedspd_eeg::Error::Interrupted => Self::Stopped,
            other => Self::Data(Box::new(other)),
        }
    }
}

impl From<fedspd_experiment::Error> for Failure {
    fn from(error: fedspd_experiment::Error) -> Self {
        use fedspd_experiment::Error;
        match error {
            Error::Data(error) => Self::from(*error),
            Error::Network(error) => Self::from(error),
            other => Self::Experiment(Box::new(other)),
        }
    }
}

impl From<fedspd_run::Error> for Failure {
    fn from(error: fedspd_run::Error) -> Self {
        Self::from(fedspd_experiment::Error::from(error))
    }
}

impl From<fedspd_report::Error> for Failure {
    fn from(error: fedspd_report::Error) -> Self {
        Self::Report(Box::new(error))
    }
}

impl From<fedspd_report::compare::Error> for Failure {
    fn from(error: fedspd_report::compare::Error) -> Self {
        match error {
            fedspd_report::compare::Error::Report(error) => Self::from(error),
            other => Self::Compare(Box::new(other)),
        }
    }
}

impl From<fedspd_experiment::config::ConfigError> for Failure {
    fn from(error: fedspd_experiment::config::ConfigError) -> Self {
        Self::from(fedspd_experiment::Error::from(error))
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        if error.kind() == std::io::ErrorKind::BrokenPipe { Self::OutputClosed } else { Self::Output(error) }
    }
}
