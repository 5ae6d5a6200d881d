//! Model files: safetensors with a manifest, which any tool of the field can open.
//!
//! The metadata entry `fedspd` holds `{"format", "version", "sha256", "manifest"}`; the checksum covers the manifest and all tensors, so a
//! file that loads is the file that was saved.

mod atomic;
mod fault;
mod manifest;
mod model;

pub use fault::Fault;
pub use manifest::{Manifest, Network};
pub use model::{Stored, StoredParameters, decode, encode, load, load_stored, save};
