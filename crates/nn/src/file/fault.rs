//! Problems of model files.

use thiserror::Error;

/// Reason why this version cannot load a model file.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum Fault {
    /// The file is not a complete safetensors file.
    #[error("not a complete safetensors file ({reason})")]
    NotSafetensors {
        /// The message of the reader.
        reason: String,
    },
    /// The file is a safetensors file of another program.
    #[error("a safetensors file, but not a fedspd model")]
    Foreign,
    /// A later version wrote the file.
    #[error("model format version {found}; this program reads versions up to {newest}")]
    Future {
        /// The file's version.
        found: u64,
        /// The newest version that can be loaded.
        newest: u64,
    },
    /// The content changed after it was saved.
    #[error("damaged: content checksum {found:.12}, expected {expected:.12}")]
    Checksum {
        /// The saved checksum.
        expected: String,
        /// The actual checksum.
        found: String,
    },
    /// The manifest is invalid.
    #[error("unreadable manifest: {reason}")]
    Manifest {
        /// The message of the reader.
        reason: String,
    },
    /// The parameters do not match the network.
    #[error("parameter `{name}` {problem}")]
    Parameter {
        /// Name of the parameter.
        name: String,
        /// The problem.
        problem: String,
    },
}

impl Fault {
    /// Returns a suggestion for the user.
    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            Self::NotSafetensors { .. } | Self::Checksum { .. } => {
                Some("the copy is incomplete or damaged: copy it again from the original".into())
            }
            Self::Future { .. } => Some("install a newer fedspd".into()),
            _ => None,
        }
    }
}
