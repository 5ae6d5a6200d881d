//! Datasets: what their files hold and how trials are cut from them. A built-in dataset and a user's own are the same thing, a
//! [`Definition`] in TOML.

mod definition;
mod files;
mod pattern;
mod registry;
mod selection;

pub use definition::{Archive, Definition, EventTable, Excluded, Format, MatLayout, Source};
pub(crate) use pattern::natural;
pub use pattern::{Ids, Pattern};
pub use registry::{built_in, definition};
pub use selection::Selection;
