//! The polar factor, with its differential and adjoint.

use super::Stiefel;
use crate::dense::{Left, Matrix, multiply, one_sided_jacobi};
use crate::error::check_length;
use crate::simd::Simd;
use crate::{Error, Real, SymmetricEigen, tolerance};

/// The polar decomposition `A = Q H` of tall matrices, with scratch memory. `Q = uf(A)` is the
/// nearest matrix to `A` with orthonormal columns, and `H = (A^T A)^(1/2)`.
///
/// The eigendecomposition `A^T A = V diag(s^2) V^T` gives `Q = A V diag(1/s) V^T`, but squares the
/// condition number. Below `s_min/s_max =` [`tolerance::GRAM_ROUTE`] the singular value
/// decomposition of `A` is used.
pub struct Polar<T: Real> {
    stiefel: Stiefel<T>,
    eigen: SymmetricEigen<T>,
    /// `A`, scaled by a power of two.
    scaled: Vec<T>,
    q: Vec<T>,
    /// Singular values: ascending if from the Gram matrix, otherwise unsorted.
    singular_values: Vec<T>,
    /// Right singular vectors, as the columns of a row-major matrix; near the manifold, `I - H`.
    v: Vec<T>,
    inverse_h: Vec<T>,
    /// The decomposition to differentiate.
    factored: Factored<T>,
    /// Three `k x k` matrices.
    small: [Vec<T>; 3],
}

/// The stored decomposition of the last matrix.
#[derive(Clone, Copy)]
enum Factored<T> {
    /// No decomposition that can be differentiated.
    No,
    /// Singular values and right singular vectors.
    BySingularValues,
    /// `H` by Newton-Schulz, and the norm of `I - H`.
    NearManifold(T),
}

impl<T: Real> Polar<T> {
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
            eigen: SymmetricEigen::with_simd(k, simd)?,
            scaled: vec![T::ZERO; p * k],
            q: vec![T::ZERO; p * k],
            singular_values: vec![T::ZERO; k],
            v: small(),
            inverse_h: small(),
            factored: Factored::No,
            small: [small(), small(), small()],
        })
    }

    /// Decomposes `A`.
    ///
    /// # Errors
    /// [`Error::Length`], [`Error::NotFinite`], and [`Error::RankDeficient`] where the factor is
    /// not unique.
    pub fn factor(&mut self, a: &[T]) -> Result<(), Error> {
        self.factored = Factored::No;
        self.stiefel.check("the matrix", 0, a)?;
        let (p, k, simd) = (self.stiefel.p, self.stiefel.k, self.stiefel.simd);
        let scale = power_of_two_scale(a);
        for (scaled, &a) in self.scaled.iter_mut().zip(a) {
            *scaled = a * scale;
        }
        let [gram, temporary, _] = &mut self.small;
        multiply(simd, Left::Transposed, (k, p, k), &self.scaled, &self.scaled, gram);
        self.eigen.decompose(gram, &mut self.singular_values, &mut self.v)?;
        for value in &mut self.singular_values {
            *value = if *value > T::ZERO { value.sqrt() } else { T::ZERO };
        }
        let (smallest, largest) = extremes(&self.singular_values);
        if smallest > T::from_f64(tolerance::GRAM_ROUTE) * largest {
            let (v, s) = (&self.v, &self.singular_values);
            // H^-1 = (V diag(1/s)) V^T, symmetric
            for i in 0..k {
                for j in 0..k {
                    temporary[i * k + j] = v[j * k + i];
                    gram[i * k + j] = v[i * k + j] / s[j];
                }
            }
            multiply(simd, Left::Plain, (k, k, k), gram, temporary, &mut self.inverse_h);
            multiply(simd, Left::Plain, (p, k, k), &self.scaled, &self.inverse_h, &mut self.q);
        } else {
            self.factor_by_svd(scale)?;
        }
        for value in &mut self.singular_values {
            *value /= scale;
        }
        for entry in &mut self.inverse_h {
            *entry *= scale;
        }
        self.factored = Factored::BySingularValues;
        Ok(())
    }

    /// Decomposes `scaled` (`A` times `scale`) by its singular values.
    fn factor_by_svd(&mut self, scale: T) -> Result<(), Error> {
        let (p, k, simd) = (self.stiefel.p, self.stiefel.k, self.stiefel.simd);
        let svd = one_sided_jacobi(simd, &Matrix::from_rows(p, k, self.scaled.clone())?)?;
        self.singular_values.copy_from_slice(&svd.values);
        let (smallest, largest) = extremes(&self.singular_values);
        if !(smallest > tolerance::rank_deficient::<T>() * largest) {
            return Err(Error::RankDeficient {
                operation: "the polar factor",
                smallest: (smallest / scale).to_f64(),
                largest: (largest / scale).to_f64(),
            });
        }
        self.v.copy_from_slice(svd.v.as_slice());
        let v_transposed = svd.v.transpose();
        self.q.copy_from_slice(svd.u.times(simd, &v_transposed).as_slice());
        let scaled = Matrix::from_fn(k, k, |i, j| svd.v[(i, j)] / svd.values[j]);
        self.inverse_h.copy_from_slice(scaled.times(simd, &v_transposed).as_slice());
        Ok(())
    }

    /// Writes only the factor `uf(A)`, without the data for its derivative. It is the fastest way
    /// for matrices near the manifold. It discards the last decomposition.
    ///
    /// If `A^T A` is near the identity, the Newton-Schulz iteration `Z <- Z (3 I - Z A^T A Z)/2`
    /// computes its inverse square root in a few products. Other matrices are decomposed.
    ///
    /// # Errors
    /// As [`Polar::factor`].
    pub fn project(&mut self, a: &[T], out: &mut [T]) -> Result<(), Error> {
        self.factored = Factored::No;
        self.stiefel.check("the matrix", 0, a)?;
        let (p, k, simd) = (self.stiefel.p, self.stiefel.k, self.stiefel.simd);
        check_length("the output", out.len(), p * k)?;
        multiply(simd, Left::Transposed, (k, p, k), a, a, &mut self.small[0]);
        if self.newton_schulz() {
            multiply(simd, Left::Plain, (p, k, k), a, &self.inverse_h, out);
        } else {
            self.factor(a)?;
            out.copy_from_slice(&self.q);
        }
        Ok(())
    }

    /// Decomposes `A` as [`Polar::factor`] does, for differentiation. It is faster near the
    /// manifold, where it computes no singular values.
    ///
    /// A client's steps in a round end near the manifold. At 64 x 18 a decomposition would take a
    /// third more time. Far from the manifold, one Gram matrix is computed without use.
    ///
    /// # Errors
    /// As [`Polar::factor`].
    pub(super) fn factor_to_differentiate(&mut self, a: &[T]) -> Result<(), Error> {
        self.factored = Factored::No;
        self.stiefel.check("the matrix", 0, a)?;
        let (p, k, simd) = (self.stiefel.p, self.stiefel.k, self.stiefel.simd);
        multiply(simd, Left::Transposed, (k, p, k), a, a, &mut self.small[0]);
        if self.gram_is_near_identity() && self.newton_schulz() {
            // H = A^T A H^-1, symmetric but for rounding
            let [gram, h, _] = &mut self.small;
            multiply(simd, Left::Plain, (k, k, k), gram, &self.inverse_h, h);
            for i in 0..k {
                for j in 0..k {
                    let mean = (h[i * k + j] + h[j * k + i]) * T::HALF;
                    self.v[i * k + j] = if i == j { T::ONE } else { T::ZERO } - mean;
                }
            }
            let distance = plain_norm(&self.v);
            if distance < T::from_f64(tolerance::NEAR_MANIFOLD) {
                multiply(simd, Left::Plain, (p, k, k), a, &self.inverse_h, &mut self.q);
                self.factored = Factored::NearManifold(distance);
                return Ok(());
            }
        }
        self.factor(a)
    }

    /// Returns whether `H` may be near the identity, given `H^2` in the first scratch matrix:
    /// `|H^2 - I|` is about twice `|H - I|`.
    fn gram_is_near_identity(&mut self) -> bool {
        let (k, [gram, difference, _]) = (self.stiefel.k, &mut self.small);
        difference.copy_from_slice(gram);
        for i in 0..k {
            difference[i * k + i] -= T::ONE;
        }
        plain_norm(difference) < T::from_f64(3.0 * tolerance::NEAR_MANIFOLD)
    }

    /// Writes the inverse square root of the first scratch matrix to `inverse_h` if that matrix is
    /// near the identity. Returns whether it did.
    ///
    /// With `e = |I - Z G Z|`, a step leaves less than `e^2`. The step from below `sqrt(epsilon)`
    /// is therefore the last.
    fn newton_schulz(&mut self) -> bool {
        let (k, simd) = (self.stiefel.k, self.stiefel.simd);
        let [gram, product, residual] = &mut self.small;
        let z = &mut self.inverse_h;
        let three_halves = T::from_f64(1.5);
        let correct = |matrix: &mut [T]| {
            for (place, entry) in matrix.iter_mut().enumerate() {
                *entry = if place % (k + 1) == 0 { three_halves } else { T::ZERO } - *entry * T::HALF;
            }
        };
        // The first step, from Z = I, needs no product.
        z.copy_from_slice(gram);
        correct(z);
        let mut last = T::from_f64(tolerance::NEWTON_SCHULZ);
        loop {
            multiply(simd, Left::Plain, (k, k, k), z, gram, product);
            multiply(simd, Left::Plain, (k, k, k), product, z, residual);
            for i in 0..k {
                residual[i * k + i] -= T::ONE;
            }
            let error = plain_norm(residual);
            if !(error < last) {
                return false;
            }
            for i in 0..k {
                residual[i * k + i] += T::ONE;
            }
            correct(residual);
            multiply(simd, Left::Plain, (k, k, k), z, residual, product);
            std::mem::swap(z, product);
            if error * error <= T::EPSILON {
                return true;
            }
            last = error;
        }
    }

    /// Returns the orthonormal factor `Q` of the last decomposition, row-major `p x k`.
    pub fn q(&self) -> &[T] {
        &self.q
    }

    /// Computes the smallest singular value of a matrix of any rank. It avoids a decomposition if
    /// the Gram matrix keeps enough digits. It discards the last decomposition.
    ///
    /// # Errors
    /// [`Error::Length`] or [`Error::NotFinite`].
    pub fn smallest_singular_value_of(&mut self, a: &[T]) -> Result<T, Error> {
        self.factored = Factored::No;
        self.stiefel.check("the matrix", 0, a)?;
        let (p, k, simd) = (self.stiefel.p, self.stiefel.k, self.stiefel.simd);
        multiply(simd, Left::Transposed, (k, p, k), a, a, &mut self.small[0]);
        let gram_is_finite = self.small[0].iter().all(|x| x.is_finite());
        if gram_is_finite {
            self.eigen.eigenvalues(&self.small[0], &mut self.singular_values)?;
            let (smallest, largest) = (self.singular_values[0], self.singular_values[k - 1]);
            let gram_route = T::from_f64(tolerance::GRAM_ROUTE);
            if smallest > gram_route * gram_route * largest {
                return Ok(smallest.sqrt());
            }
        }
        match self.factor(a) {
            Ok(()) => Ok(extremes(&self.singular_values).0),
            Err(Error::RankDeficient { smallest, .. }) => Ok(T::from_f64(smallest)),
            Err(error) => Err(error),
        }
    }

    /// Returns the smallest and the largest singular value of the last `A`.
    pub fn singular_value_range(&self) -> (T, T) {
        extremes(&self.singular_values)
    }

    /// Computes the derivative of the factor at the last `A` in direction `Z`. The derivative is
    /// self-adjoint, because `uf` is the gradient of the nuclear norm:
    ///
    /// ```text
    /// D uf(A)[Z] = Q O + (I - Q Q^T) Z H^-1,    H O + O H = Q^T Z - Z^T Q,
    /// ```
    ///
    /// The Lyapunov equation is solved in the eigenbasis of `H`, or near the manifold by iteration.
    ///
    /// # Errors
    /// [`Error::NotFactored`]; [`Error::Length`] if a slice is not `p x k`, [`Error::NotFinite`].
    pub fn differential(&mut self, z: &[T], out: &mut [T]) -> Result<(), Error> {
        let (p, k, simd) = (self.stiefel.p, self.stiefel.k, self.stiefel.simd);
        let factored = self.factored;
        if let Factored::No = factored {
            return Err(Error::NotFactored);
        }
        self.stiefel.check("the direction", 0, z)?;
        check_length("the output", out.len(), p * k)?;
        let inner = &mut self.small[0];
        multiply(simd, Left::Transposed, (k, p, k), &self.q, z, inner);
        // scaled (no longer needed) = (Z - Q Q^T Z) H^-1, then out = Q O + scaled
        multiply(simd, Left::Plain, (p, k, k), &self.q, inner, out);
        for (out, &z) in out.iter_mut().zip(z) {
            *out = z - *out;
        }
        multiply(simd, Left::Plain, (p, k, k), out, &self.inverse_h, &mut self.scaled);
        match factored {
            Factored::NearManifold(distance) => self.lyapunov_by_iteration(distance),
            _ => self.lyapunov_in_eigenbasis(),
        }
        multiply(simd, Left::Plain, (p, k, k), &self.q, &self.small[0], out);
        for (out, &normal) in out.iter_mut().zip(&self.scaled) {
            *out += normal;
        }
        self.stiefel.check_result("the derivative of the polar factor", out)
    }

    /// Replaces the first scratch matrix `S` by the solution of `H O + O H = S - S^T`.
    fn lyapunov_in_eigenbasis(&mut self) {
        let (k, simd) = (self.stiefel.k, self.stiefel.simd);
        let [inner, first, second] = &mut self.small;
        skew_part(k, inner, first, T::ONE);
        // O = V ((V^T S V)_ij / (s_i + s_j)) V^T
        multiply(simd, Left::Transposed, (k, k, k), &self.v, first, second);
        multiply(simd, Left::Plain, (k, k, k), second, &self.v, first);
        for i in 0..k {
            for j in 0..k {
                first[i * k + j] /= self.singular_values[i] + self.singular_values[j];
            }
        }
        multiply(simd, Left::Plain, (k, k, k), &self.v, first, second);
        for i in 0..k {
            for j in 0..k {
                first[j * k + i] = self.v[i * k + j];
            }
        }
        multiply(simd, Left::Plain, (k, k, k), second, first, inner);
    }

    /// Solves the same equation near the manifold. With `E = I - H` it reads
    /// `O = (S - S^T + E O + O E)/2`. Each iteration shrinks the error by `|E|`. `O` is skew and
    /// `E` symmetric, so `O E` is `-(E O)^T`.
    fn lyapunov_by_iteration(&mut self, distance: T) {
        let (k, simd) = (self.stiefel.k, self.stiefel.simd);
        let [solution, constant, product] = &mut self.small;
        skew_part(k, solution, constant, T::HALF);
        solution.copy_from_slice(constant);
        let mut error = distance;
        while error > T::EPSILON {
            multiply(simd, Left::Plain, (k, k, k), &self.v, solution, product);
            skew_part(k, product, solution, T::HALF);
            for (solution, &constant) in solution.iter_mut().zip(&*constant) {
                *solution += constant;
            }
            error *= distance;
        }
    }
}

/// Computes the Frobenius norm for comparison with a threshold. A square that overflows makes it
/// infinite, and one that underflows does not matter. It uses eight parallel sums.
fn plain_norm<T: Real>(entries: &[T]) -> T {
    let mut sums = [T::ZERO; 8];
    for entries in entries.chunks(sums.len()) {
        for (sum, &entry) in sums.iter_mut().zip(entries) {
            *sum += entry * entry;
        }
    }
    sums.into_iter().sum::<T>().sqrt()
}

/// Computes `factor (S - S^T)`.
fn skew_part<T: Real>(k: usize, s: &[T], out: &mut [T], factor: T) {
    for i in 0..k {
        for j in 0..k {
            out[i * k + j] = (s[i * k + j] - s[j * k + i]) * factor;
        }
    }
}

/// Returns the smallest and the largest of at least one number.
pub(super) fn extremes<T: Real>(values: &[T]) -> (T, T) {
    values.iter().fold((values[0], values[0]), |(smallest, largest), &value| {
        (if value < smallest { value } else { smallest }, if value > largest { value } else { largest })
    })
}

/// Returns a power of two that scales the largest entry to about 1, so that squares neither
/// overflow nor underflow.
pub(super) fn power_of_two_scale<T: Real>(entries: &[T]) -> T {
    let largest =
        entries.iter().fold(T::ZERO, |largest, x| if x.abs() > largest { x.abs() } else { largest });
    if largest == T::ZERO {
        return T::ONE;
    }
    if largest < T::MIN_POSITIVE {
        return T::from_f64(f64::from(-T::EXPONENTS.0)).exp2_of_integer();
    }
    let exponent = largest.biased_exponent().to_f64() + f64::from(T::EXPONENTS.0 - 1);
    T::from_f64((-exponent).max(f64::from(T::EXPONENTS.0))).exp2_of_integer()
}
