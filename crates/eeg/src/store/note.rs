//! Notes about data that were completed or converted when they were loaded.

use std::fmt;

/// A default or a conversion that the loader applied.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Note {
    /// `X` was converted to microvolts, or to their square.
    Converted {
        /// The unit in the file.
        from: String,
        /// The unit of the loaded data.
        to: &'static str,
    },
    /// `session` or `run` is missing: all trials have the same.
    OneForAll {
        /// The missing array.
        name: &'static str,
    },
    /// `classes` is missing: the sorted labels name the classes.
    ClassesOfLabels {
        /// The classes.
        classes: Vec<String>,
    },
    /// `channels` is missing: channels are numbered.
    NumberedChannels {
        /// Their number.
        channels: usize,
    },
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Converted { from, to } => write!(f, "`X` was converted from {from} to {to}"),
            Self::OneForAll { name } => {
                write!(f, "there is no array `{name}`: all trials count as one {name}")
            }
            Self::ClassesOfLabels { classes } => {
                let classes = crate::names::list(classes);
                write!(f, "there is no array `classes`: the classes are the sorted labels of `y`, {classes}")
            }
            Self::NumberedChannels { channels } => write!(
                f,
                "there is no array `channels`: the channels are numbered from 1 to {channels}, so their order cannot be compared with that of other data"
            ),
        }
    }
}
