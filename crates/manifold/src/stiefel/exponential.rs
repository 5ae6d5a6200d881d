//! The Riemannian exponential and logarithm, for reference. Training does not use them.

use super::{Stiefel, qr::orthonormalise};
use crate::{Error, Matrix, Real};

/// A metric on the Stiefel manifold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StiefelMetric {
    /// `tr(X^T Y)`, inherited from the space of all matrices. The paper uses this one.
    Embedded,
    /// `tr(X^T (I - W W^T / 2) Y)`, inherited from the orthogonal group.
    Canonical,
}

/// Iteration limit of the logarithm. Up to a distance of about 2, each iteration gains at least one
/// digit.
const LOG_ITERATIONS: usize = 500;

/// Longest accepted tangent vector. Each squaring of the matrix exponential loses a bit: beyond
/// this length no digits would be left in `f32`.
const LONGEST_TANGENT: f64 = 1e6;

impl<T: Real> Stiefel<T> {
    /// Computes the end of the geodesic from `W` with velocity `X`, after unit time.
    ///
    /// With `A = W^T X` and the QR decomposition `(I - W W^T) X = Q R`, and `e` the matrix
    /// exponential,
    ///
    /// ```text
    /// embedded:   [M; N] = e^[[2A, -R^T], [R, 0]] [I; 0] e^-A        Exp = W M + Q N
    /// canonical:  [M; N] = e^[[ A, -R^T], [R, 0]] [I; 0]
    /// ```
    ///
    /// (Zimmermann and Hueper, "Computing the Riemannian logarithm on the Stiefel manifold", SIAM
    /// J. Matrix Anal. Appl. 43, 2022).
    ///
    /// # Errors
    /// [`Error::Shape`], [`Error::NotFinite`]; [`Error::OutOfRange`] for a tangent vector longer
    /// than 1e6.
    pub fn exp(&self, metric: StiefelMetric, w: &Matrix<T>, x: &Matrix<T>) -> Result<Matrix<T>, Error> {
        self.check_matrix("the base point", 0, w)?;
        self.check_matrix("the tangent vector", 1, x)?;
        let norm = x.norm().to_f64();
        if norm > LONGEST_TANGENT {
            let (what, expected) = ("the norm of the tangent vector", "at most 1e6");
            return Err(Error::OutOfRange { what, value: norm, expected });
        }
        let (k, simd) = (self.k, self.simd);
        let a = w.transposed_times(simd, x);
        let a = Matrix::from_fn(k, k, |i, j| (a[(i, j)] - a[(j, i)]) * T::HALF);
        let mut q = x.zip(&w.times(simd, &w.transposed_times(simd, x)), |x, along| x - along);
        let (mut r, mut scratch) = (Matrix::zeros(k, k), vec![T::ZERO; k * k]);
        let floor = T::EPSILON * T::from_f64(16.0) * x.norm();
        orthonormalise(simd, k, q.as_mut_slice(), r.as_mut_slice(), &mut scratch, floor);

        let scale = T::from_f64(if metric == StiefelMetric::Embedded { 2.0 } else { 1.0 });
        let generator = Matrix::from_fn(2 * k, 2 * k, |i, j| match (i.checked_sub(k), j.checked_sub(k)) {
            (None, None) => scale * a[(i, j)],
            (None, Some(j)) => -r[(j, i)],
            (Some(i), None) => r[(i, j)],
            (Some(_), Some(_)) => T::ZERO,
        });
        let rotation = self.matrix_exponential(&generator);
        let mut m = Matrix::from_fn(k, k, |i, j| rotation[(i, j)]);
        let mut n = Matrix::from_fn(k, k, |i, j| rotation[(k + i, j)]);
        if metric == StiefelMetric::Embedded {
            let back = self.matrix_exponential(&a.map(|x| -x));
            m = m.times(simd, &back);
            n = n.times(simd, &back);
        }
        Ok(w.times(simd, &m).zip(&q.times(simd, &n), |a, b| a + b))
    }

    /// Computes the initial velocity of the geodesic from `W` to `Y` by shooting:
    /// `X <- X + P_W(Y - Exp_W(X))`.
    ///
    /// For either metric, the differential of the exponential at zero is the identity. The
    /// iteration therefore contracts unless the points are too far apart.
    ///
    /// # Errors
    /// [`Error::Shape`], [`Error::NotFinite`]; [`Error::TooFarApart`] if the iteration does not
    /// converge.
    pub fn log(&mut self, metric: StiefelMetric, w: &Matrix<T>, y: &Matrix<T>) -> Result<Matrix<T>, Error> {
        self.check_matrix("the base point", 0, w)?;
        self.check_matrix("the target point", 1, y)?;
        let rounding = T::EPSILON * T::from_f64(8.0 * (self.k as f64).sqrt());
        let mut x = Matrix::zeros(self.p, self.k);
        let mut gap = Matrix::zeros(self.p, self.k);
        let mut last = T::MAX;
        for _ in 0..LOG_ITERATIONS {
            let reached = self.exp(metric, w, &x)?;
            let missing = y.zip(&reached, |y, reached| y - reached);
            self.project(w.as_slice(), missing.as_slice(), gap.as_mut_slice())?;
            let (step, distance) = (gap.norm(), missing.norm());
            x = x.zip(&gap, |x, gap| x + gap);
            // Converged, or at the level of rounding, where steps stop shrinking.
            if step <= rounding || (step <= rounding * T::from_f64(64.0) && step >= last) {
                if distance <= rounding * T::from_f64(1e3) {
                    return Ok(x);
                }
                break;
            }
            if !(step <= T::from_f64(1e3)) {
                break;
            }
            last = step;
        }
        let distance = y.zip(w, |y, w| y - w).norm().to_f64();
        Err(Error::TooFarApart { operation: "the Stiefel logarithm", distance })
    }

    /// Computes `e^A` by scaling and squaring of the Taylor series.
    fn matrix_exponential(&self, a: &Matrix<T>) -> Matrix<T> {
        const TERMS: usize = 14;
        let mut squarings = 0;
        let mut scale = 1.0;
        while a.norm().to_f64() * scale > 0.5 {
            scale *= 0.5;
            squarings += 1;
        }
        let scaled = a.map(|x| x * T::from_f64(scale));
        let identity = Matrix::identity(a.rows());
        let mut sum = identity.clone();
        for k in (1..=TERMS).rev() {
            let factor = T::from_f64(1.0 / k as f64);
            sum = identity.zip(&scaled.times(self.simd, &sum), |one, x| one + x * factor);
        }
        for _ in 0..squarings {
            sum = sum.times(self.simd, &sum);
        }
        sum
    }
}
