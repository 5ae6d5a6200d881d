//! Riemannian gradient descent with momentum, which a projection carries to each new point.

use fedspd_manifold::{Real, Retraction, RetractionKind, Stiefel};

use super::Rule;
use crate::Error;

pub(super) struct RiemannianSgd<T: Real> {
    momentum: T,
    stiefel: Stiefel<T>,
    retraction: Retraction<T>,
    velocity: Vec<T>,
    /// The gradient, the transported velocity, the next point.
    scratch: [Vec<T>; 3],
}

impl<T: Real> RiemannianSgd<T> {
    pub(super) fn new(momentum: f64, kind: RetractionKind, p: usize, k: usize) -> Result<Self, Error> {
        let zeros = || vec![T::ZERO; p * k];
        Ok(Self {
            momentum: T::from_f64(momentum),
            stiefel: Stiefel::new(p, k)?,
            retraction: Retraction::new(kind, p, k)?,
            velocity: zeros(),
            scratch: [zeros(), zeros(), zeros()],
        })
    }
}

impl<T: Real> Rule<T> for RiemannianSgd<T> {
    /// Takes one step: `m <- momentum P_W(m) + P_W(G)`, `W <- R_W(-rate m)`.
    fn step(&mut self, values: &mut [T], gradient: &[T], learning_rate: f64) -> Result<(), Error> {
        let [riemannian, transported, next] = &mut self.scratch;
        self.stiefel.project(values, gradient, riemannian)?;
        self.stiefel.transport(values, &self.velocity, transported)?;
        let rate = T::from_f64(learning_rate);
        for ((velocity, transported), &gradient) in
            self.velocity.iter_mut().zip(transported.iter_mut()).zip(riemannian.iter())
        {
            *velocity = self.momentum * *transported + gradient;
            *transported = -(rate * *velocity);
        }
        self.retraction.retract_once(values, transported, next)?;
        values.copy_from_slice(next);
        Ok(())
    }

    fn velocity(&self) -> &[T] {
        &self.velocity
    }

    fn velocity_mut(&mut self) -> &mut [T] {
        &mut self.velocity
    }
}
