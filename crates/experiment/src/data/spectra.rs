//! Checks that matrices from files and arrays are covariances.

use fedspd_eeg::{Covariances, Quality};
use rayon::prelude::*;

use crate::Error;

/// Number of matrices that a thread checks at a time.
const CHUNK: usize = 64;

/// Checks that no matrix is zero or has a negative eigenvalue, up to rounding to single precision.
/// Alignment would stop at such a matrix; without alignment, ReEig would hide it.
///
/// # Errors
/// [`Error::NotCovariance`] for the first such matrix.
pub(crate) fn check_spectra(data: &str, covariances: &Covariances) -> Result<(), Error> {
    let n = covariances.about.channels.len();
    let chunks = covariances.matrices().par_chunks(CHUNK * n * n);
    let qualities: Vec<Vec<Quality>> = chunks.map(|chunk| Quality::of(n, chunk)).collect::<Result<_, _>>()?;
    let trial = |place: usize| covariances.about.name(place / covariances.inputs.len());
    refuse(data, n, qualities.iter().flatten(), trial)
}

/// Does [`check_spectra`] for matrices with known spectra. `trial` names the trial of a matrix.
///
/// # Errors
/// [`Error::NotCovariance`] for the first such matrix.
pub(crate) fn refuse<'a>(
    data: &str,
    n: usize,
    qualities: impl IntoIterator<Item = &'a Quality>,
    trial: impl Fn(usize) -> String,
) -> Result<(), Error> {
    let rounding = n as f64 * f64::from(f32::EPSILON);
    let wrong =
        |quality: &Quality| !(quality.largest > 0.0 && quality.smallest >= -rounding * quality.largest);
    match qualities.into_iter().enumerate().find(|(_, quality)| wrong(quality)) {
        Some((place, &Quality { smallest, largest, .. })) => {
            Err(Error::NotCovariance { data: data.to_owned(), trial: trial(place), smallest, largest })
        }
        None => Ok(()),
    }
}
