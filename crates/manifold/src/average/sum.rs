//! The weighted sum of points: the input of the linear averages.

use crate::error::{check_length, check_total};
use crate::finite::check_finite;
use crate::simd::{Kernel, Lanes, Simd};
use crate::{Error, Matrix, Real, Stiefel};

/// A running weighted sum of `p x k` matrices, in `f64`. It is the only input of
/// [`super::proj_avg`], [`super::rl_avg`] and [`super::qr_avg`], whatever the number of points.
///
/// ```
/// # fn main() -> Result<(), fedspd_manifold::Error> {
/// use fedspd_manifold::average::{StiefelSum, proj_avg};
///
/// let mut sum = StiefelSum::new(2, 1)?;
/// sum.add(1.0, &[1.0, 0.0])?;
/// sum.add(1.0, &[0.0, 1.0])?;
/// let average = proj_avg(&sum)?;
/// assert!((average.point[(0, 0)] - 0.5_f64.sqrt()).abs() < 1e-15);
/// assert!((average.smallest_singular_value - 0.5_f64.sqrt()).abs() < 1e-15);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct StiefelSum {
    p: usize,
    k: usize,
    simd: Simd,
    /// A single matrix is stored without its weight. The weight is multiplied in when a second
    /// matrix arrives.
    sum: Vec<f64>,
    /// Buffer for the next sum, so that a refused matrix leaves the current sum unchanged.
    next: Vec<f64>,
    added: usize,
    count: usize,
    total: f64,
}

impl StiefelSum {
    /// Creates an empty sum of `p x k` matrices on the instruction set of [`Simd::detect`].
    ///
    /// # Errors
    /// As [`Stiefel::new`].
    pub fn new(p: usize, k: usize) -> Result<Self, Error> {
        Self::with_simd(p, k, Simd::detect()?)
    }

    /// Creates an empty sum on a given instruction set.
    ///
    /// # Errors
    /// As [`Stiefel::with_simd`].
    pub fn with_simd(p: usize, k: usize, simd: Simd) -> Result<Self, Error> {
        Stiefel::<f64>::with_simd(p, k, simd)?;
        Ok(Self { p, k, simd, sum: vec![0.0; p * k], next: vec![0.0; p * k], added: 0, count: 0, total: 0.0 })
    }

    /// Adds a matrix with a weight. A refused matrix leaves the sum unchanged.
    ///
    /// # Errors
    /// [`Error::Weight`], [`Error::OutOfRange`] if the weights overflow, [`Error::Length`],
    /// [`Error::NotFinite`]. The index in the error is the number of earlier successful calls.
    pub fn add<T: Real>(&mut self, weight: f64, matrix: &[T]) -> Result<(), Error> {
        let index = self.added;
        if !(weight >= 0.0 && weight.is_finite()) {
            return Err(Error::Weight { index, value: weight });
        }
        check_total(self.total + weight)?;
        check_length("the matrix", matrix.len(), self.p * self.k)?;
        let matrix: &[f64] = &T::widen(matrix);
        let finite = if self.count == 0 {
            self.next.copy_from_slice(matrix);
            false // not known yet
        } else {
            let scale = if self.count == 1 { self.total } else { 1.0 };
            self.simd.run(Accumulate { scale, weight, matrix, sum: &self.sum, next: &mut self.next })
        };
        if !finite {
            check_finite(self.simd, index, self.k, matrix)?;
        }
        self.added += 1;
        if weight == 0.0 {
            return Ok(());
        }
        std::mem::swap(&mut self.sum, &mut self.next);
        self.count += 1;
        self.total += weight;
        Ok(())
    }

    /// Returns the number of matrices with a positive weight.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns the number of rows and columns.
    pub fn shape(&self) -> (usize, usize) {
        (self.p, self.k)
    }

    /// Returns the sum of the weights.
    ///
    /// # Errors
    /// [`Error::Zero`] for an empty sum, [`Error::NoWeight`] if all weights are zero.
    pub fn total_weight(&self) -> Result<f64, Error> {
        match (self.added, self.count) {
            (0, _) => Err(Error::Zero { what: "the number of points" }),
            (_, 0) => Err(Error::NoWeight { count: self.added }),
            _ => Ok(self.total),
        }
    }

    /// Returns the mean matrix `sum w_i W_i / sum w_i`, which in general is not on the manifold.
    /// The mean of a single matrix is that matrix.
    ///
    /// # Errors
    /// As [`StiefelSum::total_weight`].
    pub fn mean(&self) -> Result<Matrix<f64>, Error> {
        let total = self.total_weight()?;
        let total = if self.count == 1 { 1.0 } else { total };
        Matrix::from_rows(self.p, self.k, self.sum.iter().map(|x| x / total).collect())
    }

    pub(super) fn simd(&self) -> Simd {
        self.simd
    }
}

/// Computes `next <- scale sum + weight matrix`. Returns whether the matrix is finite.
struct Accumulate<'a> {
    scale: f64,
    weight: f64,
    matrix: &'a [f64],
    sum: &'a [f64],
    next: &'a mut [f64],
}

impl Kernel<f64> for Accumulate<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<V: Lanes<Scalar = f64>>(self) -> bool {
        let (scale, weight) = (V::splat(self.scale), V::splat(self.weight));
        // Zero times a finite number is zero; zero times NaN or infinity is NaN.
        let mut not_finite = V::zero();
        let mut matrix = self.matrix.chunks_exact(V::WIDTH);
        let mut sum = self.sum.chunks_exact(V::WIDTH);
        let mut next = self.next.chunks_exact_mut(V::WIDTH);
        for ((matrix, sum), next) in (&mut matrix).zip(&mut sum).zip(&mut next) {
            let entries = V::load(matrix);
            not_finite = entries.mul_add(V::zero(), not_finite);
            weight.mul_add(entries, V::load(sum) * scale).store(next);
        }
        let entries = V::load_partial(matrix.remainder());
        not_finite = entries.mul_add(V::zero(), not_finite);
        let last = weight.mul_add(entries, V::load_partial(sum.remainder()) * scale);
        last.store_partial(next.into_remainder());
        !V::any(!not_finite.eq(V::zero()))
    }
}
