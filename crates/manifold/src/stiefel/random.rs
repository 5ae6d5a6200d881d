//! Uniformly distributed points.

use rand::{Rng, RngExt};

use super::{Qr, Stiefel};
use crate::simd::{Array, elementary::log};
use crate::{Error, Matrix, Real};

impl<T: Real> Stiefel<T> {
    /// Draws a point from the uniform (Haar) distribution: the QR factor, with positive diagonal,
    /// of a Gaussian matrix.
    ///
    /// # Errors
    /// As [`Qr::factor`], except [`Error::RankDeficient`]: a singular sample is drawn again.
    pub fn random(&self, rng: &mut impl Rng) -> Result<Matrix<T>, Error> {
        let mut gaussian = vec![T::ZERO; self.p * self.k];
        let mut qr = Qr::with_simd(self.p, self.k, self.simd)?;
        loop {
            fill_standard_normal(rng, &mut gaussian);
            match qr.factor(&gaussian) {
                // A square matrix is singular to rounding about once in 1e4 draws of f32. Draw
                // again.
                Err(Error::RankDeficient { .. }) => {}
                done => break done?,
            }
        }
        Matrix::from_rows(self.p, self.k, qr.q().to_vec())
    }
}

/// Fills a slice with standard normal numbers (polar method of Marsaglia and Bray, 1964).
///
/// The logarithm is this crate's own, so a seed gives the same numbers on every platform.
pub fn fill_standard_normal<T: Real>(rng: &mut impl Rng, out: &mut [T]) {
    for pair in out.chunks_mut(2) {
        let (x, y, square) = loop {
            let x = rng.random::<f64>().mul_add(2.0, -1.0);
            let y = rng.random::<f64>().mul_add(2.0, -1.0);
            let square = x.mul_add(x, y * y);
            if square > 0.0 && square < 1.0 {
                break (x, y, square);
            }
        };
        let Array([log]) = log(Array([square]));
        let radius = (-2.0 * log / square).sqrt();
        pair[0] = T::from_f64(x * radius);
        if let Some(second) = pair.get_mut(1) {
            *second = T::from_f64(y * radius);
        }
    }
}
