//! Riemannian gradient descent with momentum on SPD matrices, for the affine-invariant metric
//! (Pennec et al. 2006).

use fedspd_manifold::{Left, Real, SpectralFunction, SpectralMap, multiply};

use super::Rule;
use crate::Error;

pub(super) struct SpdSgd<T: Real> {
    momentum: T,
    map: SpectralMap<T>,
    /// A tangent vector at the current point.
    velocity: Vec<T>,
    scratch: Scratch<T>,
}

struct Scratch<T> {
    root: Vec<T>,
    inverse_root: Vec<T>,
    gradient: Vec<T>,
    step: Vec<T>,
    factor: Vec<T>,
    product: Vec<T>,
}

impl<T: Real> SpdSgd<T> {
    pub(super) fn new(momentum: f64, n: usize) -> Result<Self, Error> {
        let zeros = || vec![T::ZERO; n * n];
        Ok(Self {
            momentum: T::from_f64(momentum),
            map: SpectralMap::new(n)?,
            velocity: zeros(),
            scratch: Scratch {
                root: zeros(),
                inverse_root: zeros(),
                gradient: zeros(),
                step: zeros(),
                factor: zeros(),
                product: zeros(),
            },
        })
    }
}

impl<T: Real> Rule<T> for SpdSgd<T> {
    /// Takes one step along a geodesic. With `R = X^1/2`, a tangent vector is `R V R` with a
    /// symmetric `V`; for the gradient `G`, `V = R sym(G) R`. The step is
    /// `V <- momentum V + R sym(G) R`, `S = -rate V`, `X <- R exp(S) R`. Parallel transport along
    /// this geodesic turns the velocity into `R exp(S/2) V exp(S/2) R`.
    fn step(&mut self, values: &mut [T], gradient: &[T], learning_rate: f64) -> Result<(), Error> {
        let Scratch { root, inverse_root, gradient: own, step, factor, product } = &mut self.scratch;
        let (n, rate) = (self.map.n(), T::from_f64(learning_rate));
        self.map.apply(SpectralFunction::Sqrt, values, root)?;
        self.map.apply(SpectralFunction::InverseSqrt, values, inverse_root)?;
        for i in 0..n {
            for j in 0..n {
                factor[i * n + j] = (gradient[i * n + j] + gradient[j * n + i]) * T::HALF;
            }
        }
        sandwich(&self.map, root, factor, product, own);
        sandwich(&self.map, inverse_root, &self.velocity, product, step);
        for ((velocity, gradient), step) in step.iter_mut().zip(own.iter()).zip(factor.iter_mut()) {
            *velocity = self.momentum * *velocity + *gradient;
            *step = -(rate * *velocity) * T::HALF;
        }
        // `step` holds V, `factor` holds S/2.
        self.map.apply(SpectralFunction::Exp, factor, own)?;
        multiply(self.map.simd(), Left::Plain, (n, n, n), root, own, factor);
        outer(&self.map, factor, product, values);
        sandwich(&self.map, own, step, product, inverse_root);
        sandwich(&self.map, root, inverse_root, product, &mut self.velocity);
        Ok(())
    }

    fn velocity(&self) -> &[T] {
        &self.velocity
    }

    fn velocity_mut(&mut self) -> &mut [T] {
        &mut self.velocity
    }
}

/// `B X B` of symmetric matrices, symmetric to the bit.
fn sandwich<T: Real>(map: &SpectralMap<T>, b: &[T], x: &[T], product: &mut [T], out: &mut [T]) {
    let n = map.n();
    multiply(map.simd(), Left::Plain, (n, n, n), b, x, product);
    multiply(map.simd(), Left::Plain, (n, n, n), product, b, out);
    symmetrise(n, out);
}

/// `F F^T`, symmetric to the bit.
fn outer<T: Real>(map: &SpectralMap<T>, factor: &[T], transposed: &mut [T], out: &mut [T]) {
    let n = map.n();
    for i in 0..n {
        for j in 0..n {
            transposed[j * n + i] = factor[i * n + j];
        }
    }
    multiply(map.simd(), Left::Plain, (n, n, n), factor, transposed, out);
    symmetrise(n, out);
}

fn symmetrise<T: Real>(n: usize, matrix: &mut [T]) {
    for i in 0..n {
        for j in 0..i {
            let mean = (matrix[i * n + j] + matrix[j * n + i]) * T::HALF;
            (matrix[i * n + j], matrix[j * n + i]) = (mean, mean);
        }
    }
}
