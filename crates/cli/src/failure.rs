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
    /// Standard output could not be written.
    Output(std::io::Error),
    /// The reader of standard output has gone, as in `fedspd demo | head`: nothing is wrong.
    OutputClosed,
}

impl Failure {
    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Self::OutputClosed => ExitCode::SUCCESS,
            Self::Geometry(_) | Self::Network(_) => ExitCode::from(1),
            Self::Output(_) => ExitCode::from(2),
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
            _ => None,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Geometry(error) => writeln!(f, "error: {error}")?,
            Self::Network(error) => writeln!(f, "error: {error}")?,
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

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        if error.kind() == std::io::ErrorKind::BrokenPipe { Self::OutputClosed } else { Self::Output(error) }
    }
}
