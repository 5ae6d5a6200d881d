//! Whether matrices that come from elsewhere are covariances.

use fedspd_eeg::{Covariances, Quality};
use rayon::prelude::*;

use crate::Error;

/// Matrices that are looked at by a thread at a time.
const CHUNK: usize = 64;

/// Checks that no matrix is zero or has a negative eigenvalue, beyond what rounding to single precision leaves of a zero. An alignment would stop at such a
/// matrix; without one, the floor of eigenvalues would hide it.
///
/// # Errors
/// [`Error::NotCovariance`] for the first that is none.
pub(crate) fn check_spectra(data: &str, covariances: &Covariances) -> Result<(), Error> {
    let n = covariances.about.channels.len();
    let chunks = covariances.matrices().par_chunks(CHUNK * n * n);
    let qualities: Vec<Vec<Quality>> = chunks.map(|chunk| Quality::of(n, chunk)).collect::<Result<_, _>>()?;
    let rounding = n as f64 * f64::from(f32::EPSILON);
    let wrong =
        |quality: &Quality| !(quality.largest > 0.0 && quality.smallest >= -rounding * quality.largest);
    let Some((place, quality)) = qualities.iter().flatten().enumerate().find(|(_, quality)| wrong(quality))
    else {
        return Ok(());
    };
    Err(Error::NotCovariance {
        data: data.to_owned(),
        trial: covariances.about.name(place / covariances.inputs.len()),
        smallest: quality.smallest,
        largest: quality.largest,
    })
}
