//! Why a verb failed, as a person reads it.

use std::fmt;
use std::io::Write;

use fedspd_manifold::simd::{SIMD_VARIABLE, Simd};
use serde_json::{Value, json};

use crate::printable::printable_lines;

/// Why a verb did not finish.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The input or the environment variables ask for something that cannot be done.
    Geometry(fedspd_manifold::Error),
    /// A network, its training or a model file.
    Network(fedspd_nn::Error),
    /// Recordings, their preparation, or downloads.
    Data(Box<fedspd_eeg::Error>),
    /// An experiment could not be set up or could not go on.
    Experiment(Box<fedspd_experiment::Error>),
    /// Runs that cannot be compared.
    Compare(Box<fedspd_report::compare::Error>),
    /// Runs could not be read, or their report not written.
    Report(Box<fedspd_report::Error>),
    /// A run was interrupted after this round: what to type to go on with it.
    Interrupted { round: u32, resume: String },
    /// A preparation was interrupted.
    Stopped,
    /// A download was interrupted: what to type to go on with it.
    Left { resume: String },
    /// Files that are not what was published.
    WrongFiles { wrong: usize, missing: usize },
    /// Options that do not go together.
    Usage(String),
    /// Words that make no command, or ask for help.
    Unparsed(clap::Error),
    /// Standard output could not be written.
    Output(std::io::Error),
    /// The reader of standard output has gone, as in `fedspd demo | head`: nothing is wrong.
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
            // 128 and the number of SIGINT, as shells have it.
            Self::Interrupted { .. } | Self::Stopped | Self::Left { .. } => 130,
        }
    }

    /// What kind of failure it is, for programs: these words do not change.
    fn kind(&self) -> &'static str {
        match self {
            Self::Geometry(_) => "geometry",
            Self::Network(_) => "network",
            Self::Data(_) => "data",
            Self::Experiment(_) => "experiment",
            Self::Compare(_) => "compare",
            Self::Report(_) => "report",
            Self::Interrupted { .. } | Self::Stopped | Self::Left { .. } => "interrupted",
            Self::WrongFiles { .. } => "wrong-files",
            Self::Usage(_) | Self::Unparsed(_) => "usage",
            Self::Output(_) | Self::OutputClosed => "output",
        }
    }

    /// Says it on standard error: to a person, or on one line to a program.
    pub(crate) fn tell(&self, json: bool) {
        let _ = if json {
            writeln!(std::io::stderr(), "{}", self.json())
        } else {
            write!(std::io::stderr(), "{}", printable_lines(&self.to_string()))
        };
    }

    /// The failure as a program reads it.
    fn json(&self) -> Value {
        json!({ "error": self.message(), "hint": self.hint(), "kind": self.kind(), "exit_code": self.exit_code() })
    }

    /// What the user can do about it.
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

    /// What happened, in one sentence.
    fn message(&self) -> String {
        match self {
            Self::Geometry(error) => error.to_string(),
            Self::Network(error) => error.to_string(),
            Self::Data(error) => error.to_string(),
            Self::Experiment(error) => error.to_string(),
            Self::Compare(error) => error.to_string(),
            Self::Report(error) => error.to_string(),
            Self::Interrupted { round, resume } => {
                format!("interrupted after round {round}; go on with `{resume}`")
            }
            Self::Stopped => "interrupted".into(),
            Self::Left { resume } => format!("interrupted; go on with `{resume}`"),
            Self::WrongFiles { wrong, missing } => {
                format!("{wrong} files are not what was published, {missing} are missing")
            }
            Self::Usage(fault) => fault.clone(),
            Self::Unparsed(error) => paragraphs(error).next().unwrap_or_default(),
            Self::Output(error) => format!("standard output could not be written: {error}"),
            Self::OutputClosed => String::new(),
        }
    }
}

/// The paragraphs of what is wrong with a command, each on one line: the fault, a tip, how it is used.
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
            // Somebody wanted it so.
            Self::Interrupted { .. } | Self::Stopped | Self::Left { .. } => {
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
        // Whichever layer meets a fault of the geometry first, the user reads the same.
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
