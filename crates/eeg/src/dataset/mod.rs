//! Datasets: the content of their files, and the cutting of trials. Built-in and user-defined
//! datasets are both a [`Definition`] in TOML.

mod definition;
mod files;
mod id;
mod keys;
mod pattern;
mod registry;
mod selection;

pub use definition::{Archive, Definition, EventTable, Excluded, Format, MatLayout, Source};
pub use keys::UnknownKey;
pub use pattern::{Ids, Pattern};
pub use registry::{built_in, definition};
pub use selection::Selection;
