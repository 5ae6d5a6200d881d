//! What can be wrong with a model file.

use thiserror::Error;

/// Why a file is not a model that this version can load.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum Fault {
    /// It is not a whole safetensors file.
    #[error("not a complete safetensors file ({reason})")]
    NotSafetensors {
        /// What the reader said.
        reason: String,
    },
    /// It is a safetensors file of someone else.
    #[error("a safetensors file, but not one of fedspd's models")]
    Foreign,
    /// It was written by a later version.
    #[error("written in version {found} of the model format; this program knows up to {newest}")]
    Future {
        /// The file's version.
        found: u64,
        /// The newest version that can be loaded.
        newest: u64,
    },
    /// Its content has changed since it was saved.
    #[error("damaged: the checksum of its content is {found}, not {expected}")]
    Checksum {
        /// What was saved, abbreviated.
        expected: String,
        /// What is there, abbreviated.
        found: String,
    },
    /// The manifest cannot be understood.
    #[error("its manifest cannot be read: {reason}")]
    Manifest {
        /// What the reader said.
        reason: String,
    },
    /// Parameters and network do not fit together.
    #[error("parameter `{name}` {problem}")]
    Parameter {
        /// Which parameter.
        name: String,
        /// What is wrong with it.
        problem: String,
    },
}

impl Fault {
    /// What the user can do about it.
    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            Self::NotSafetensors { .. } | Self::Checksum { .. } => Some(
                "the file was cut off or changed on the way: copy it again from where it was made".into(),
            ),
            Self::Future { .. } => Some("install a newer fedspd".into()),
            _ => None,
        }
    }
}
