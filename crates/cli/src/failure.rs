//! Why a verb failed, as a person reads it.

use std::fmt;
use std::process::ExitCode;

use fedspd_manifold::simd::{SIMD_VARIABLE, Simd};

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
    /// It was interrupted; a run with a folder after this round, and what to type to go on with it.
    Interrupted { at: Option<(u32, String)> },
    /// Files that are not what was published.
    WrongFiles { wrong: usize, missing: usize },
    /// Options that do not go together.
    Usage(String),
    /// Standard output could not be written.
    Output(std::io::Error),
    /// The reader of standard output has gone, as in `fedspd demo | head`: nothing is wrong.
    OutputClosed,
}

impl Failure {
    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Self::OutputClosed => ExitCode::SUCCESS,
            Self::Geometry(_)
            | Self::Network(_)
            | Self::Data(_)
            | Self::WrongFiles { .. }
            | Self::Compare(_)
            | Self::Usage(_) => ExitCode::from(1),
            Self::Experiment(error) => ExitCode::from(if error.is_environment() { 2 } else { 1 }),
            Self::Report(error) => ExitCode::from(if error.is_environment() { 2 } else { 1 }),
            Self::Output(_) => ExitCode::from(2),
            // 128 and the number of SIGINT, as shells have it.
            Self::Interrupted { .. } => ExitCode::from(130),
        }
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
            Self::WrongFiles { .. } => Some("delete wrong files and run `fedspd data fetch`".into()),
            _ => None,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Geometry(error) => writeln!(f, "error: {error}")?,
            Self::Network(error) => writeln!(f, "error: {error}")?,
            Self::Data(error) => writeln!(f, "error: {error}")?,
            Self::Experiment(error) => writeln!(f, "error: {error}")?,
            Self::Compare(error) => writeln!(f, "error: {error}")?,
            Self::Report(error) => writeln!(f, "error: {error}")?,
            Self::Interrupted { at: Some((round, resume)) } => {
                writeln!(f, "interrupted after round {round}; go on with `{resume}`")?;
            }
            Self::Interrupted { at: None } => writeln!(f, "interrupted; nothing was kept")?,
            Self::WrongFiles { wrong, missing } => {
                writeln!(f, "error: {wrong} files are not what was published, {missing} are missing")?;
            }
            Self::Usage(fault) => writeln!(f, "error: {fault}")?,
            Self::Output(error) => writeln!(f, "error: standard output could not be written: {error}")?,
            Self::OutputClosed => {}
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
