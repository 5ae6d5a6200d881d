//! The QR factor with positive diagonal, with its differential and adjoint.

use super::{
    Stiefel,
    polar::{extremes, power_of_two_scale},
};
use crate::dense::{Left, multiply};
use crate::error::check_length;
use crate::simd::{Kernel, Lanes, Simd};
use crate::{Error, Real, tolerance};

/// The decomposition `A = Q R` of tall matrices, with scratch memory. `R` is upper triangular and
/// **positive on the diagonal**, which makes it unique. Without this convention the signs of
/// columns are arbitrary, and averages are meaningless.
pub struct Qr<T: Real> {
    stiefel: Stiefel<T>,
    q: Vec<T>,
    r: Vec<T>,
    r_inverse: Vec<T>,
    /// Whether there is a decomposition to differentiate.
    factored: bool,
    tall: Vec<T>,
    small: [Vec<T>; 2],
}

impl<T: Real> Qr<T> {
    /// Creates a workspace for `p x k` matrices on the instruction set of [`Simd::detect`].
    ///
    /// # Errors
    /// As [`Stiefel::new`].
    pub fn new(p: usize, k: usize) -> Result<Self, Error> {
        Self::with_simd(p, k, Simd::detect()?)
    }

    /// Creates a workspace on a given instruction set.
    ///
    /// # Errors
    /// As [`Stiefel::with_simd`].
    pub fn with_simd(p: usize, k: usize, simd: Simd) -> Result<Self, Error> {
        let small = || vec![T::ZERO; k * k];
        Ok(Self {
            stiefel: Stiefel::with_simd(p, k, simd)?,
            q: vec![T::ZERO; p * k],
            r: small(),
            r_inverse: small(),
            factored: false,
            tall: vec![T::ZERO; p * k],
            small: [small(), small()],
        })
    }

    /// Decomposes `A`.
    ///
    /// # Errors
    /// [`Error::Length`], [`Error::NotFinite`], and [`Error::RankDeficient`] where the factor is
    /// not unique.
    pub fn factor(&mut self, a: &[T]) -> Result<(), Error> {
        self.factored = false;
        self.stiefel.check("the matrix", 0, a)?;
        let k = self.stiefel.k;
        let scale = power_of_two_scale(a);
        for (q, &a) in self.q.iter_mut().zip(a) {
            *q = a * scale;
        }
        orthonormalise(self.stiefel.simd, k, &mut self.q, &mut self.r, &mut self.small[0], T::ZERO);
        for i in 0..k {
            self.small[0][i] = self.r[i * k + i];
        }
        let (smallest, largest) = extremes(&self.small[0][..k]);
        if !(smallest > tolerance::rank_deficient::<T>() * largest) {
            return Err(Error::RankDeficient {
                operation: "the QR factor",
                smallest: (smallest / scale).to_f64(),
                largest: (largest / scale).to_f64(),
            });
        }
        for entry in &mut self.r {
            *entry /= scale;
        }
        invert_upper(k, &self.r, &mut self.r_inverse);
        self.factored = true;
        Ok(())
    }

    /// Returns the orthonormal factor `Q` of the last decomposition, row-major `p x k`.
    pub fn q(&self) -> &[T] {
        &self.q
    }

    /// Returns the triangular factor `R` of the last decomposition, row-major `k x k`.
    pub fn r(&self) -> &[T] {
        &self.r
    }

    /// Computes the derivative of the factor at the last `A` in direction `Z`:
    ///
    /// ```text
    /// D qf(A)[Z] = Q (L - L^T) + (I - Q Q^T) Z R^-1,    L = strictly lower part of Q^T Z R^-1
    /// ```
    ///
    /// # Errors
    /// [`Error::NotFactored`]; [`Error::Length`] if a slice is not `p x k`, [`Error::NotFinite`].
    pub fn differential(&mut self, z: &[T], out: &mut [T]) -> Result<(), Error> {
        let (p, k, simd) = (self.stiefel.p, self.stiefel.k, self.stiefel.simd);
        if !self.factored {
            return Err(Error::NotFactored);
        }
        self.stiefel.check("the direction", 0, z)?;
        check_length("the output", out.len(), p * k)?;
        let [inner, factor] = &mut self.small;
        multiply(simd, Left::Plain, (p, k, k), z, &self.r_inverse, &mut self.tall);
        multiply(simd, Left::Transposed, (k, p, k), &self.q, &self.tall, inner);
        // Q (L - L^T) + Y - Q inner = Y + Q (L - L^T - inner)
        for i in 0..k {
            for j in 0..k {
                let rotation = if i > j { inner[i * k + j] } else { -inner[j * k + i] };
                factor[i * k + j] = if i == j { T::ZERO } else { rotation } - inner[i * k + j];
            }
        }
        multiply(simd, Left::Plain, (p, k, k), &self.q, factor, out);
        for (out, &y) in out.iter_mut().zip(&self.tall) {
            *out += y;
        }
        self.stiefel.check_result("the derivative of the QR factor", out)
    }

    /// Applies the adjoint of [`Qr::differential`]:
    ///
    /// ```text
    /// G -> [Q strictly-lower(Q^T G - G^T Q) + (I - Q Q^T) G] R^-T
    /// ```
    ///
    /// # Errors
    /// [`Error::NotFactored`]; [`Error::Length`] if a slice is not `p x k`, [`Error::NotFinite`].
    pub fn adjoint(&mut self, g: &[T], out: &mut [T]) -> Result<(), Error> {
        let (p, k, simd) = (self.stiefel.p, self.stiefel.k, self.stiefel.simd);
        if !self.factored {
            return Err(Error::NotFactored);
        }
        self.stiefel.check("the gradient", 0, g)?;
        check_length("the output", out.len(), p * k)?;
        let [inner, factor] = &mut self.small;
        multiply(simd, Left::Transposed, (k, p, k), &self.q, g, inner);
        for i in 0..k {
            for j in 0..k {
                let lower = if i > j { inner[i * k + j] - inner[j * k + i] } else { T::ZERO };
                factor[i * k + j] = lower - inner[i * k + j];
            }
        }
        multiply(simd, Left::Plain, (p, k, k), &self.q, factor, &mut self.tall);
        for (tall, &g) in self.tall.iter_mut().zip(g) {
            *tall += g;
        }
        for i in 0..k {
            for j in 0..k {
                factor[j * k + i] = self.r_inverse[i * k + j];
            }
        }
        multiply(simd, Left::Plain, (p, k, k), &self.tall, factor, out);
        self.stiefel.check_result("the derivative of the QR factor", out)
    }
}

/// Computes the inverse of an upper triangular matrix.
fn invert_upper<T: Real>(k: usize, r: &[T], out: &mut [T]) {
    out.fill(T::ZERO);
    for j in 0..k {
        out[j * k + j] = T::ONE / r[j * k + j];
        for i in (0..j).rev() {
            let sum: T = (i + 1..=j).map(|m| r[i * k + m] * out[m * k + j]).sum();
            out[i * k + j] = -(sum / r[i * k + i]);
        }
    }
}

/// Replaces `q` (row-major, `k` columns) by its orthonormal factor and writes `R`. It runs modified
/// Gram-Schmidt twice. The second pass restores orthogonality to rounding for any condition number
/// ("twice is enough", Giraud, Langou and Rozloznik 2005).
///
/// A column becomes zero, with a zero row in `R`, if its norm is at most `floor` once it is
/// orthogonal to the earlier columns. `scratch` is `k x k`.
pub(super) fn orthonormalise<T: Real>(
    simd: Simd,
    k: usize,
    q: &mut [T],
    r: &mut [T],
    scratch: &mut [T],
    floor: T,
) {
    simd.run(GramSchmidt { k, q, r, floor });
    simd.run(GramSchmidt { k, q, r: scratch, floor: T::HALF });
    // R = scratch * R, both upper triangular. Row i needs only rows i.. of the old R, so the update
    // runs in place from the top.
    for i in 0..k {
        for j in (i..k).rev() {
            let sum: T = (i..=j).map(|m| scratch[i * k + m] * r[m * k + j]).sum();
            r[i * k + j] = sum;
        }
    }
}

struct GramSchmidt<'a, T> {
    k: usize,
    q: &'a mut [T],
    r: &'a mut [T],
    floor: T,
}

impl<T: Real> Kernel<T> for GramSchmidt<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Lanes<Scalar = T>>(self) {
        let Self { k, q, r, floor } = self;
        r.fill(T::ZERO);
        for j in 0..k {
            let mut square = T::ZERO;
            for row in q.chunks_exact(k) {
                square = row[j].mul_add(row[j], square);
            }
            let norm = square.sqrt();
            let keep = norm > floor;
            let scale = if keep { T::ONE / norm } else { T::ZERO };
            let r_row = &mut r[j * k..(j + 1) * k];
            r_row[j] = if keep { norm } else { T::ZERO };
            for row in q.chunks_exact_mut(k) {
                row[j] *= scale;
                let head = row[j];
                for i in j + 1..k {
                    r_row[i] = head.mul_add(row[i], r_row[i]);
                }
            }
            for row in q.chunks_exact_mut(k) {
                let head = -row[j];
                for i in j + 1..k {
                    row[i] = head.mul_add(r_row[i], row[i]);
                }
            }
        }
    }
}
