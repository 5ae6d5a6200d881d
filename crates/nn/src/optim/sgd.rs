//! Gradient descent with momentum, with the semantics of `torch.optim.SGD`.

use fedspd_manifold::Real;

use super::Rule;
use crate::Error;

pub(super) struct Sgd<T> {
    momentum: T,
    weight_decay: T,
    velocity: Vec<T>,
}

impl<T: Real> Sgd<T> {
    pub(super) fn new(momentum: f64, weight_decay: f64, size: usize) -> Self {
        let (momentum, weight_decay) = (T::from_f64(momentum), T::from_f64(weight_decay));
        Self { momentum, weight_decay, velocity: vec![T::ZERO; size] }
    }
}

impl<T: Real> Rule<T> for Sgd<T> {
    fn step(&mut self, values: &mut [T], gradient: &[T], learning_rate: f64) -> Result<(), Error> {
        let rate = T::from_f64(learning_rate);
        for ((value, &gradient), velocity) in values.iter_mut().zip(gradient).zip(&mut self.velocity) {
            *velocity = self.momentum * *velocity + (gradient + self.weight_decay * *value);
            *value -= rate * *velocity;
        }
        Ok(())
    }

    fn velocity(&self) -> &[T] {
        &self.velocity
    }

    fn velocity_mut(&mut self) -> &mut [T] {
        &mut self.velocity
    }
}
