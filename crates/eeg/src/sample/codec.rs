//! Compact storage of covariances: `f32` Cholesky factors, bytes sorted by significance, deflated.
//!
//! In `f32`, a covariance with condition number 1e5 loses its small eigenvalues to rounding. Its
//! factor has condition number 300 and does not.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;

use crate::about::SQUARE_MICROVOLTS;
use crate::covariance::mirror;
use crate::prepare::Features;
use crate::{About, Covariances, Definition, Error, Origin};

/// Packs covariances with one input each. Everything in the definition is left out.
///
/// # Errors
/// [`Error::Packed`] if there are several inputs, a matrix is not positive definite, or an id has a
/// blank.
pub fn encode(covariances: &Covariances) -> Result<Vec<u8>, Error> {
    let (n, trials) = (covariances.about.channels.len(), covariances.len());
    if covariances.inputs.len() != 1 {
        return Err(Error::Packed { fault: "several matrices per trial cannot be packed" });
    }
    let mut text = String::new();
    for Origin { label, subject, session, run } in &covariances.about.origins {
        if [subject, session, run].iter().any(|id| id.is_empty() || id.contains(char::is_whitespace)) {
            return Err(Error::Packed { fault: "an id is empty or has a blank" });
        }
        text.extend([&*label.to_string(), " ", subject, " ", session, " ", run, "\n"]);
    }
    let mut numbers = Vec::with_capacity(trials * n * (n + 1) / 2);
    for trial in 0..trials {
        let factor = cholesky(n, covariances.matrix(trial, 0))
            .ok_or(Error::Packed { fault: "a matrix is not positive definite" })?;
        for i in 0..n {
            numbers.extend(factor[i * n..=i * n + i].iter().map(|&entry| entry as f32));
        }
    }
    // All most significant bytes, then all second ones, and so on: the exponents are similar and
    // deflate well.
    let bytes: Vec<[u8; 4]> = numbers.iter().map(|number| number.to_le_bytes()).collect();
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    let write = |encoder: &mut DeflateEncoder<Vec<u8>>| {
        encoder.write_all(&(text.len() as u32).to_le_bytes())?;
        encoder.write_all(text.as_bytes())?;
        for significance in (0..4).rev() {
            encoder.write_all(&bytes.iter().map(|bytes| bytes[significance]).collect::<Vec<u8>>())?;
        }
        Ok::<(), std::io::Error>(())
    };
    write(&mut encoder).and_then(|()| encoder.finish()).map_err(|_| Error::Packed { fault: "no memory" })
}

/// Unpacks covariances of the trials of a dataset.
///
/// # Errors
/// [`Error::Packed`] for bytes that [`encode`] did not write.
pub fn decode(definition: &Definition, packed: &[u8]) -> Result<Covariances, Error> {
    let fault = |fault| Error::Packed { fault };
    let channels = definition.channels.clone().ok_or(fault("the dataset lists no channels"))?;
    let mut bytes = Vec::new();
    DeflateDecoder::new(packed).read_to_end(&mut bytes).map_err(|_| fault("damaged"))?;
    let (length, rest) = bytes.split_first_chunk::<4>().ok_or(fault("cut off"))?;
    let length = u32::from_le_bytes(*length) as usize;
    let (text, numbers) = rest.split_at_checked(length).ok_or(fault("cut off"))?;
    let text = std::str::from_utf8(text).map_err(|_| fault("damaged"))?;
    let origin = |line: &str| {
        let mut words = line.split(' ');
        let label = words.next()?.parse().ok()?;
        let mut id = || words.next().map(str::to_owned);
        Some(Origin { label, subject: id()?, session: id()?, run: id()? })
    };
    let origins: Option<Vec<Origin>> = text.lines().map(origin).collect();
    let origins = origins.ok_or(fault("damaged"))?;
    let (n, trials) = (channels.len(), origins.len());
    let triangle = n * (n + 1) / 2;
    if numbers.len() != trials * triangle * 4 {
        return Err(fault("cut off"));
    }
    let count = trials * triangle;
    let number = |place: usize| {
        let byte = |significance: usize| numbers[(3 - significance) * count + place];
        f64::from(f32::from_le_bytes([byte(0), byte(1), byte(2), byte(3)]))
    };
    let mut matrices = vec![0.0; trials * n * n];
    let mut factor = vec![0.0; n * n];
    for (trial, matrix) in matrices.chunks_exact_mut(n * n).enumerate() {
        let mut place = trial * triangle;
        for i in 0..n {
            for j in 0..=i {
                factor[i * n + j] = number(place);
                place += 1;
            }
        }
        for i in 0..n {
            for j in 0..=i {
                let products = factor[i * n..=i * n + j].iter().zip(&factor[j * n..=j * n + j]);
                matrix[i * n + j] = products.map(|(a, b)| a * b).sum();
            }
        }
        mirror(n, matrix);
    }
    let features = Features::whole_trial(definition.band);
    let about = About {
        classes: definition.classes(),
        channels,
        sfreq: definition.sfreq,
        unit: SQUARE_MICROVOLTS.into(),
        making: features.making(definition)?,
        origins,
    };
    Covariances::new(about, features.names(definition.interval), matrices)
}

/// The lower triangular `L` with `L L^T = A`; `None` if `A` is not positive definite.
fn cholesky(n: usize, a: &[f64]) -> Option<Vec<f64>> {
    let mut l = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..=i {
            let products = (0..j).map(|k| l[i * n + k] * l[j * n + k]);
            let rest = a[i * n + j] - products.sum::<f64>();
            if i == j {
                if !(rest > 0.0) {
                    return None;
                }
                l[i * n + i] = rest.sqrt();
            } else {
                l[i * n + j] = rest / l[j * n + j];
            }
        }
    }
    Some(l)
}
