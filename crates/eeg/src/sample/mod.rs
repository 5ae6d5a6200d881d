//! The embedded sample: covariances of ten subjects of `PhysionetMI`, so that everything runs
//! without a download.
//!
//! They equal the output of `fedspd data prepare physionet-mi --subjects 1-10` up to 1e-6 relative.
//! They are packed as `f32` Cholesky factors, which keep the small eigenvalues that `f32`
//! covariances would lose. This command creates the file from the recordings:
//! `cargo run --release -p fedspd-eeg --example pack_sample -- ROOT`.
//!
//! The data are derived from the EEG Motor Movement/Imagery Dataset 1.0.0 on `PhysioNet`
//! (doi:10.13026/C28G6P), which is available under the Open Data Commons Attribution License v1.0.
//! Print [`attribution`] beside results.

mod codec;

pub use codec::{decode, encode};

use crate::dataset::definition;
use crate::{Covariances, Error};

const PACKED: &[u8] = include_bytes!("physionet-mi-s001-s010.bin");

/// Returns the covariances of the sample.
///
/// # Errors
/// None, unless the file in the source is damaged, which a test excludes.
pub fn sample() -> Result<Covariances, Error> {
    decode(&definition("physionet-mi")?, PACKED)
}

/// Source and licence of the sample.
pub fn attribution() -> &'static str {
    "EEG Motor Movement/Imagery Dataset 1.0.0 (Schalk et al. 2004, doi:10.13026/C28G6P), PhysioNet (Goldberger et al. 2000), \
     under the Open Data Commons Attribution License v1.0 (ODC-By 1.0)"
}
