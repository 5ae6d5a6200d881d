//! Adam (Kingma and Ba 2015) with the semantics of `torch.optim.Adam`.

use fedspd_manifold::Real;
use fedspd_manifold::simd::{Kernel, Lanes, Simd};
use serde::{Deserialize, Serialize};

use super::{Memory, Rule, append};
use crate::Error;

/// The settings of Adam, with torch's names and defaults.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AdamSettings {
    /// Decay rates of the two moments.
    pub betas: (f64, f64),
    /// Added to the root of the second moment.
    pub epsilon: f64,
    /// Added to the gradient, times the parameter; Euclidean parameters only.
    pub weight_decay: f64,
}

impl Default for AdamSettings {
    fn default() -> Self {
        Self { betas: (0.9, 0.999), epsilon: 1e-8, weight_decay: 0.0 }
    }
}

/// Powers of the betas, for the bias correction of moments that start at zero.
#[derive(Clone, Copy)]
pub(super) struct Correction {
    powers: (f64, f64),
}

impl Correction {
    pub(super) fn new() -> Self {
        Self { powers: (1.0, 1.0) }
    }

    /// Advances by one step. Returns `1 - beta^t` for both betas.
    pub(super) fn advance(&mut self, settings: &AdamSettings) -> (f64, f64) {
        self.powers.0 *= settings.betas.0;
        self.powers.1 *= settings.betas.1;
        (1.0 - self.powers.0, 1.0 - self.powers.1)
    }

    pub(super) fn powers(self) -> [f64; 2] {
        [self.powers.0, self.powers.1]
    }

    pub(super) fn recalled(memory: &mut Memory<'_>) -> Result<Self, Error> {
        Ok(Self { powers: (memory.number()?, memory.number()?) })
    }
}

/// Adam on plain numbers.
pub(super) struct Adam<T> {
    settings: AdamSettings,
    simd: Simd,
    correction: Correction,
    pub(super) first: Vec<T>,
    second: Vec<T>,
}

impl<T: Real> Adam<T> {
    pub(super) fn new(settings: AdamSettings, size: usize) -> Result<Self, Error> {
        let (simd, correction) = (Simd::detect()?, Correction::new());
        Ok(Self { settings, simd, correction, first: vec![T::ZERO; size], second: vec![T::ZERO; size] })
    }
}

impl<T: Real> Rule<T> for Adam<T> {
    fn step(&mut self, values: &mut [T], gradient: &[T], learning_rate: f64) -> Result<(), Error> {
        let (correction1, correction2) = self.correction.advance(&self.settings);
        self.simd.run(Update {
            keep: T::from_f64(self.settings.betas.1),
            // As in torch, subtract before rounding to the precision of the parameters.
            take: (T::from_f64(1.0 - self.settings.betas.0), T::from_f64(1.0 - self.settings.betas.1)),
            step: T::from_f64(learning_rate / correction1),
            root_correction: T::from_f64(correction2.sqrt()),
            epsilon: T::from_f64(self.settings.epsilon),
            weight_decay: T::from_f64(self.settings.weight_decay),
            first: &mut self.first,
            second: &mut self.second,
            gradient,
            values,
        });
        Ok(())
    }

    fn restart(&mut self, _: &[T]) -> Result<(), Error> {
        self.correction = Correction::new();
        self.first.fill(T::ZERO);
        self.second.fill(T::ZERO);
        Ok(())
    }

    fn remember(&self, memory: &mut Vec<f64>) {
        memory.extend(self.correction.powers());
        append(memory, &self.first);
        append(memory, &self.second);
    }

    fn recall(&mut self, _: &[T], memory: &mut Memory<'_>) -> Result<(), Error> {
        self.correction = Correction::recalled(memory)?;
        memory.numbers(&mut self.first)?;
        memory.numbers(&mut self.second)
    }
}

struct Update<'a, T> {
    keep: T,
    take: (T, T),
    step: T,
    root_correction: T,
    epsilon: T,
    weight_decay: T,
    first: &'a mut [T],
    second: &'a mut [T],
    gradient: &'a [T],
    values: &'a mut [T],
}

impl<T: Real> Kernel<T> for Update<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Lanes<Scalar = T>>(self) {
        let moments = self.first.iter_mut().zip(self.second);
        for ((value, &gradient), (first, second)) in self.values.iter_mut().zip(self.gradient).zip(moments) {
            let gradient = gradient + self.weight_decay * *value;
            *first = *first + (gradient - *first) * self.take.0;
            *second = *second * self.keep + gradient * gradient * self.take.1;
            let denominator = second.sqrt() / self.root_correction + self.epsilon;
            *value -= self.step * (*first / denominator);
        }
    }
}
