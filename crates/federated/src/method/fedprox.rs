//! `fedprox`: `fedavg` with a proximal term around the received model (Li et al. 2020).
//!
//! The term is `mu/2 |theta - theta_t|^2`, with the chordal distance on Stiefel parameters. Its
//! Riemannian gradient there is `-mu P_W(W_t)`, because `P_W(W) = 0`. The term leaves out local
//! parameters, because the server does not know them.

use fedspd_manifold::Real;
use fedspd_nn::{Error as NetworkError, ParamSet, Role, Scope};

use super::fedavg::{parts, trained};
use super::{ClientMethod, LocalEpochs};
use crate::client::{LocalTraining, Task};
use crate::{Message, ParameterScopes, Parts};

/// The client half: local epochs with the proximal term.
pub struct Client {
    scopes: ParameterScopes,
    local: LocalEpochs,
    mu: f64,
}

impl Client {
    /// Creates the client half.
    pub fn new(scopes: &ParameterScopes, local: LocalEpochs, mu: f64) -> Self {
        Self { scopes: scopes.clone(), local, mu }
    }

    /// Adds the gradient of the proximal term, `mu (theta - theta_t)`. Optimisers project it.
    fn pull<T: Real>(&self, start: &ParamSet<T>, parameters: &ParamSet<T>, gradient: &mut [T]) {
        let mu = T::from_f64(self.mu);
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

impl<T: Real> ClientMethod<T> for Client {
    fn parts(&self, _: u32) -> Parts {
        parts::<T>(&self.scopes)
    }

    fn reply(
        &self,
        task: &Task<'_, T>,
        memory: &mut Vec<f64>,
        training: &mut dyn LocalTraining<T>,
    ) -> Result<Message, NetworkError> {
        let loss = self.local.run(task, memory, training, &mut |parameters, gradient| {
            self.pull(task.start, parameters, gradient);
            Ok(())
        })?;
        Ok(trained(&self.scopes, training, loss))
    }
}
