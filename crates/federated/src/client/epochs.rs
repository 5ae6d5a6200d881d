//! Epochs of mini-batches with an optimiser: what a client of the paper does.

use fedspd_manifold::{Polar, Real};
use fedspd_nn::{Error, Model, Optimiser, OptimiserConfig, ParamSet, Role, Scope};

use super::{Desk, LocalSolver, Task, Trained};

/// Some epochs with an optimiser that starts anew in every round, or carries its moments on; with a pull towards the start, if asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LocalEpochs {
    /// Which optimiser.
    pub optimiser: OptimiserConfig,
    /// Whether its moments are carried to the next round, transported to the tangent space there.
    pub carry_state: bool,
    /// `mu` of `FedProx`: adds `mu/2 |theta - theta_t|^2` to the objective, the chordal distance on Stiefel parameters. Its Riemannian gradient there is
    /// `-mu P_W(W_t)`, since `P_W(W) = 0` (`algorithms.md`, 5.2). Parameters that are not shared have nothing to be pulled to.
    pub prox_mu: f64,
    /// Whether the parameters that come in may have left their manifold, as the plain mean does: training starts at their polar factors then.
    pub land_first: bool,
}

impl LocalEpochs {
    /// A fresh optimiser in every round, no pull.
    pub fn new(optimiser: OptimiserConfig) -> Self {
        Self { optimiser, carry_state: false, prox_mu: 0.0, land_first: false }
    }
}

impl<T: Real, M: Model<T>> LocalSolver<T, M> for LocalEpochs {
    fn train(
        &self,
        task: &Task<'_, T, M>,
        memory: &mut Vec<f64>,
        desk: &mut Desk<'_, T, M>,
    ) -> Result<Trained<T>, Error> {
        let Desk { trainer, optimiser, parameters } = desk;
        if self.land_first {
            land(parameters)?;
        }
        let optimiser = match optimiser {
            Some(optimiser) => optimiser,
            none => none.insert(Optimiser::new(self.optimiser, parameters)?),
        };
        if self.carry_state && !memory.is_empty() {
            optimiser.recall(parameters, memory)?;
        } else {
            optimiser.restart(parameters)?;
        }
        let mut loss = f64::NAN;
        for epoch in 0..task.epochs {
            loss = trainer.corrected_epoch(
                parameters,
                optimiser,
                task.learning_rate,
                task.examples,
                task.trials,
                task.stream.epoch(epoch),
                |parameters, gradient| {
                    self.pull(task.start, parameters, gradient);
                    Ok(())
                },
            )?;
        }
        optimiser.finish(parameters)?;
        if self.carry_state {
            *memory = optimiser.memory();
        }
        Ok(Trained { loss, extra: Vec::new() })
    }
}

impl LocalEpochs {
    /// Adds the gradient of the proximal term, `mu (theta - theta_t)`: optimisers project it where they must.
    fn pull<T: Real>(&self, start: &ParamSet<T>, parameters: &ParamSet<T>, gradient: &mut [T]) {
        // Not even a zero is added to an entry without a pull: it could change a sign.
        if self.prox_mu == 0.0 {
            return;
        }
        let mu = T::from_f64(self.prox_mu);
        let pulled = |parameter: &fedspd_nn::Parameter| {
            parameter.scope == Scope::Shared && parameter.role == Role::Trained
        };
        for (parameter, values) in parameters.iter().filter(|(parameter, _)| pulled(parameter)) {
            let start = &start.values()[parameter.range()];
            for ((gradient, &value), &start) in gradient[parameter.range()].iter_mut().zip(values).zip(start)
            {
                *gradient += mu * (value - start);
            }
        }
    }
}

/// Replaces Stiefel parameters that have left their manifold by their polar factors.
fn land<T: Real>(parameters: &mut ParamSet<T>) -> Result<(), Error> {
    let layout = parameters.layout().clone();
    let rounding = if T::MANTISSA_BITS > 32 { 1e-12 } else { 1e-5 };
    for parameter in layout.parameters() {
        let values = &mut parameters.values_mut()[parameter.range()];
        let left = T::widen(values).into_owned();
        if parameter.feasibility_error(&left)? > rounding {
            for (value, landed) in values.iter_mut().zip(polar_factor(&parameter.shape, &left)?) {
                *value = T::from_f64(landed);
            }
        }
    }
    Ok(())
}

fn polar_factor(shape: &[usize], matrix: &[f64]) -> Result<Vec<f64>, Error> {
    let mut factor = vec![0.0; matrix.len()];
    Polar::new(shape[0], shape[1])?.project(matrix, &mut factor)?;
    Ok(factor)
}
