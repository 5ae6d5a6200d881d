//! Inverse retractions: the tangent vector from one point to another.

use super::{Retraction, RetractionKind};
use crate::dense::{Left, Matrix, frobenius_norm, inverse, multiply, solve};
use crate::error::check_length;
use crate::simd::Simd;
use crate::{Error, Real, SymmetricEigen};

/// Limit on the Newton steps of the matrix sign iteration. It converges quadratically in about
/// eight steps.
const SIGN_ITERATIONS: usize = 60;

impl<T: Real> Retraction<T> {
    /// Computes the tangent vector `X` at `W` with `R_W(X) = Y`.
    ///
    /// Polar: `X = Y S - W`, where the symmetric `S > 0` solves `M S + S M^T = 2 I`, `M = W^T Y`.
    /// QR: `X = Y R - W`, where the upper triangular `R` solves `M R + R^T M^T = 2 I`.
    ///
    /// # Errors
    /// [`Error::Length`], [`Error::NotFinite`]; [`Error::TooFarApart`] if there is no such vector.
    pub fn inverse(&mut self, w: &[T], y: &[T], out: &mut [T]) -> Result<(), Error> {
        self.stiefel.check("the base point", 0, w)?;
        self.stiefel.check("the target point", 1, y)?;
        check_length("the output", out.len(), w.len())?;
        let (p, k, simd) = (self.stiefel.p, self.stiefel.k, self.stiefel.simd);
        if w == y {
            out.fill(T::ZERO);
            return Ok(());
        }
        let mut m = Matrix::zeros(k, k);
        multiply(simd, Left::Transposed, (k, p, k), w, y, m.as_mut_slice());
        let (factor, operation) = match self.kind() {
            RetractionKind::Polar => (symmetric_factor(simd, &m), "the inverse polar retraction"),
            RetractionKind::Qr => (triangular_factor(simd, &m), "the inverse QR retraction"),
        };
        let Some(factor) = factor else {
            let difference: Vec<T> = w.iter().zip(y).map(|(&w, &y)| y - w).collect();
            return Err(Error::TooFarApart { operation, distance: frobenius_norm(&difference).to_f64() });
        };
        multiply(simd, Left::Plain, (p, k, k), y, factor.as_slice(), out);
        for (out, &w) in out.iter_mut().zip(w) {
            *out -= w;
        }
        Ok(())
    }
}

/// Computes the symmetric positive definite solution of `M S + S M^T = 2 I`.
fn symmetric_factor<T: Real>(simd: Simd, m: &Matrix<T>) -> Option<Matrix<T>> {
    let k = m.rows();
    let two = Matrix::identity(k).map(|x| x + x);
    let mut s = lyapunov(simd, m, &two)?;
    // One step of iterative refinement.
    let product = m.times(simd, &s);
    let residual = Matrix::from_fn(k, k, |i, j| two[(i, j)] - product[(i, j)] - product[(j, i)]);
    s = s.zip(&lyapunov(simd, m, &residual)?, |s, correction| s + correction);

    let (mut values, mut vectors) = (vec![T::ZERO; k], vec![T::ZERO; k * k]);
    SymmetricEigen::with_simd(k, simd).ok()?.decompose(s.as_slice(), &mut values, &mut vectors).ok()?;
    (values[0] > T::ZERO).then_some(s)
}

/// Computes the symmetric solution of `M S + S M^T = C` by Newton's iteration for the matrix sign
/// function (Roberts 1980): `M <- (M + M^-1)/2`, `C <- (C + M^-1 C M^-T)/2`. Each step preserves
/// the solution. `M` converges to the identity if all its eigenvalues have positive real parts;
/// otherwise the result is `None`.
fn lyapunov<T: Real>(simd: Simd, m: &Matrix<T>, c: &Matrix<T>) -> Option<Matrix<T>> {
    let k = m.rows();
    let identity = Matrix::identity(k);
    let (mut m, mut c) = (m.clone(), c.clone());
    for _ in 0..SIGN_ITERATIONS {
        let inverse = Matrix::from_rows(k, k, inverse(simd, k, m.clone().as_mut_slice())?).ok()?;
        let transformed = inverse.times(simd, &c).times(simd, &inverse.transpose());
        let next = m.zip(&inverse, |a, b| (a + b) * T::HALF);
        c = Matrix::from_fn(k, k, |i, j| {
            (c[(i, j)] + c[(j, i)] + transformed[(i, j)] + transformed[(j, i)]) * T::from_f64(0.25)
        });
        let step = next.zip(&m, |a, b| a - b).norm();
        m = next;
        if !step.is_finite() {
            return None;
        }
        let rounding = T::EPSILON * T::from_f64(8.0 * k as f64);
        if step <= rounding {
            let is_identity = m.zip(&identity, |a, b| a - b).norm() <= rounding;
            return is_identity.then(|| c.map(|x| x * T::HALF));
        }
    }
    None
}

/// Computes the upper triangular solution, with positive diagonal, of `M R + R^T M^T = 2 I`, column
/// by column. Column `i` of `R` solves a system with the leading block of `M`. The right-hand side
/// has 1 in entry `i`. Its earlier entries are the negatives of products with the finished columns.
fn triangular_factor<T: Real>(simd: Simd, m: &Matrix<T>) -> Option<Matrix<T>> {
    let k = m.rows();
    let mut r = Matrix::zeros(k, k);
    for i in 0..k {
        let size = i + 1;
        let mut block: Vec<T> = (0..size * size).map(|place| m[(place / size, place % size)]).collect();
        let mut column: Vec<T> =
            (0..i).map(|j| -(0..=j).map(|l| m[(i, l)] * r[(l, j)]).sum::<T>()).chain([T::ONE]).collect();
        if !solve(simd, size, &mut block, 1, &mut column) {
            return None;
        }
        for (row, &value) in column.iter().enumerate() {
            r[(row, i)] = value;
        }
        if !(r[(i, i)] > T::ZERO) {
            return None;
        }
    }
    Some(r)
}
