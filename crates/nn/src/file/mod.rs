//! Model files: safetensors with a manifest. Other tools can open them.
//!
//! The metadata entry `fedspd` holds `{"format", "version", "sha256", "manifest"}`. The checksum
//! covers the manifest and all tensors, so a file that loads has not changed since it was saved.

mod fault;
mod manifest;
mod model;

pub use fault::Fault;
pub use manifest::{Manifest, Network};
pub use model::{Stored, StoredParameters, decode, encode, is_single, load, load_stored};
