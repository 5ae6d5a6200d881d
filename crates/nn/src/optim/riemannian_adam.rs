//! Riemannian Adam with one second moment per matrix (Bécigneul and Ganea 2019).

use fedspd_manifold::{Real, Retraction, RetractionKind, Stiefel};

use super::adam::{AdamSettings, Correction};
use super::{Memory, Rule, append};
use crate::Error;

pub(super) struct RiemannianAdam<T: Real> {
    settings: AdamSettings,
    correction: Correction,
    stiefel: Stiefel<T>,
    retraction: Retraction<T>,
    first: Vec<T>,
    second: T,
    /// The gradient, the transported moment, the next point.
    scratch: [Vec<T>; 3],
}

impl<T: Real> RiemannianAdam<T> {
    pub(super) fn new(
        settings: AdamSettings,
        kind: RetractionKind,
        p: usize,
        k: usize,
    ) -> Result<Self, Error> {
        let zeros = || vec![T::ZERO; p * k];
        Ok(Self {
            settings,
            correction: Correction::new(),
            stiefel: Stiefel::new(p, k)?,
            retraction: Retraction::new(kind, p, k)?,
            first: zeros(),
            second: T::ZERO,
            scratch: [zeros(), zeros(), zeros()],
        })
    }
}

impl<T: Real> Rule<T> for RiemannianAdam<T> {
    /// Takes one step. With `g = P_W(G)`: `m <- b1 P_W(m) + (1 - b1) g`,
    /// `v <- b2 v + (1 - b2) <g, g>`, and a step along the bias-corrected `-m/sqrt(v)`. It is
    /// independent of coordinates: rotating the columns of `W` rotates the step.
    fn step(&mut self, values: &mut [T], gradient: &[T], learning_rate: f64) -> Result<(), Error> {
        let (correction1, correction2) = self.correction.advance(&self.settings);
        let (beta1, beta2) = (T::from_f64(self.settings.betas.0), T::from_f64(self.settings.betas.1));
        let [riemannian, transported, next] = &mut self.scratch;
        self.stiefel.project(values, gradient, riemannian)?;
        self.stiefel.transport(values, &self.first, transported)?;
        let square = riemannian.iter().fold(T::ZERO, |sum, &g| sum + g * g);
        self.second = beta2 * self.second + (T::ONE - beta2) * square;
        let root = (self.second.to_f64() / correction2).sqrt() + self.settings.epsilon;
        let step = T::from_f64(learning_rate / correction1 / root);
        for ((first, transported), &gradient) in
            self.first.iter_mut().zip(transported.iter_mut()).zip(riemannian.iter())
        {
            *first = beta1 * *transported + (T::ONE - beta1) * gradient;
            *transported = -(step * *first);
        }
        self.retraction.retract_once(values, transported, next)?;
        values.copy_from_slice(next);
        Ok(())
    }

    fn restart(&mut self, _: &[T]) -> Result<(), Error> {
        self.correction = Correction::new();
        self.first.fill(T::ZERO);
        self.second = T::ZERO;
        Ok(())
    }

    fn remember(&self, memory: &mut Vec<f64>) {
        memory.extend(self.correction.powers());
        append(memory, &self.first);
        memory.push(self.second.to_f64());
    }

    /// Restores the moments. The next step transports the first one.
    fn recall(&mut self, _: &[T], memory: &mut Memory<'_>) -> Result<(), Error> {
        self.correction = Correction::recalled(memory)?;
        memory.numbers(&mut self.first)?;
        self.second = T::from_f64(memory.number()?);
        Ok(())
    }
}
