//! Singular value decomposition by one-sided Jacobi rotations.

use super::Matrix;
use crate::simd::{Kernel, Lanes, Simd};
use crate::{Error, Real, tolerance};

/// Decomposition `A = U diag(s) V^T`, with unsorted singular values.
pub(crate) struct Svd<T> {
    /// `p x k`; columns of zero singular values are zero.
    pub(crate) u: Matrix<T>,
    /// `k` singular values.
    pub(crate) values: Vec<T>,
    /// `k x k`.
    pub(crate) v: Matrix<T>,
}

/// Computes the thin decomposition of a tall matrix. It rotates pairs of columns until all are
/// orthogonal (Hestenes 1958).
///
/// It is slower than bidiagonalisation, but accurate to the last digit for columns of any scale,
/// and short.
pub(crate) fn one_sided_jacobi<T: Real>(simd: Simd, a: &Matrix<T>) -> Result<Svd<T>, Error> {
    let (p, k) = (a.rows(), a.columns());
    // Row j holds column j of A, then column j of V.
    let mut rows = Matrix::from_fn(k, p + k, |j, i| match i.checked_sub(p) {
        None => a[(i, j)],
        Some(i) => T::from_f64(f64::from(u8::from(i == j))),
    });
    let residual = simd.run(Rotate { p, rows: &mut rows });
    // The residual at the sweep limit may be the rounding of long sums.
    if residual > T::EPSILON * T::from_f64(p as f64) {
        return Err(Error::NotConverged {
            operation: "the singular value decomposition",
            iterations: tolerance::JACOBI_SWEEPS,
            residual: residual.to_f64(),
        });
    }
    let values: Vec<T> =
        (0..k).map(|j| super::frobenius_norm(&rows.as_slice()[j * (p + k)..][..p])).collect();
    let u =
        Matrix::from_fn(p, k, |i, j| if values[j] > T::ZERO { rows[(j, i)] / values[j] } else { T::ZERO });
    let v = Matrix::from_fn(k, k, |i, j| rows[(j, p + i)]);
    Ok(Svd { u, values, v })
}

/// Rotates all pairs of rows until they are orthogonal. Returns the largest remaining cosine, zero
/// on success.
struct Rotate<'a, T> {
    p: usize,
    rows: &'a mut Matrix<T>,
}

impl<T: Real> Kernel<T> for Rotate<'_, T> {
    type Output = T;

    #[inline(always)]
    fn run<V: Lanes<Scalar = T>>(self) -> T {
        let (k, length) = (self.rows.rows(), self.rows.columns());
        let mut worst = T::ZERO;
        for _ in 0..tolerance::JACOBI_SWEEPS {
            worst = T::ZERO;
            for j in 1..k {
                let (before, row) = self.rows.as_mut_slice().split_at_mut(j * length);
                let y = &mut row[..length];
                for i in 0..j {
                    let x = &mut before[i * length..(i + 1) * length];
                    let cosine = orthogonalise(&mut x[..], y, self.p);
                    if cosine > worst {
                        worst = cosine;
                    }
                }
            }
            if worst == T::ZERO {
                break;
            }
        }
        worst
    }
}

/// Rotates two rows so that their first `p` entries become orthogonal. Returns the cosine of their
/// previous angle, or zero if they were orthogonal to rounding.
#[inline(always)]
fn orthogonalise<T: Real>(x: &mut [T], y: &mut [T], p: usize) -> T {
    let (mut xx, mut yy, mut xy) = (T::ZERO, T::ZERO, T::ZERO);
    for i in 0..p {
        xx = x[i].mul_add(x[i], xx);
        yy = y[i].mul_add(y[i], yy);
        xy = x[i].mul_add(y[i], xy);
    }
    // Each sweep leaves only rounding errors of a dependent column, until its square underflows. It
    // then has no measurable angle.
    let floor = T::MIN_POSITIVE / T::EPSILON;
    if xx <= floor || yy <= floor {
        return T::ZERO;
    }
    let norms = xx.sqrt() * yy.sqrt();
    // A sum of p products has an error of about sqrt(p) roundings.
    if xy.abs() <= T::EPSILON * T::from_f64((p as f64).sqrt()) * norms {
        return T::ZERO;
    }
    let zeta = (yy - xx) / (T::TWO * xy);
    let tangent = T::ONE.copysign(zeta) / (zeta.abs() + zeta.mul_add(zeta, T::ONE).sqrt());
    let c = T::ONE / tangent.mul_add(tangent, T::ONE).sqrt();
    let s = c * tangent;
    for (x, y) in x.iter_mut().zip(y) {
        (*x, *y) = (c.mul_add(*x, -(s * *y)), s.mul_add(*x, c * *y));
    }
    xy.abs() / norms
}
