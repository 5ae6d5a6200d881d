//! Epochs of mini-batches with an optimiser: the local work of most methods.

use fedspd_manifold::{Polar, Real};
use fedspd_nn::{Error, OptimiserConfig, ParamSet, Space};

use crate::client::{Correction, LocalTraining, Task};

/// Local epochs with an optimiser. It starts anew in every round, or keeps its moments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LocalEpochs {
    /// The optimiser.
    pub optimiser: OptimiserConfig,
    /// Whether its moments are kept for the next round and transported to the tangent space there.
    pub carry_state: bool,
    /// Whether training starts at the polar factors of the received parameters. The plain mean
    /// needs it, because it leaves the manifold.
    pub land_first: bool,
}

impl LocalEpochs {
    /// A fresh optimiser in every round.
    pub fn new(optimiser: OptimiserConfig) -> Self {
        Self { optimiser, carry_state: false, land_first: false }
    }

    /// Trains, and corrects the gradient before each step. Returns the mean loss of the last epoch.
    ///
    /// # Errors
    /// Errors of training.
    pub fn run<T: Real>(
        &self,
        task: &Task<'_, T>,
        memory: &mut Vec<f64>,
        training: &mut dyn LocalTraining<T>,
        correct: &mut Correction<'_, T>,
    ) -> Result<f64, Error> {
        if self.land_first {
            land(training.parameters())?;
        }
        let carried = self.carry_state.then_some(memory);
        training.epochs(self.optimiser, carried, task.epochs, task.learning_rate, correct)
    }
}

/// Replaces Stiefel parameters that have left their manifold by their polar factors.
fn land<T: Real>(parameters: &mut ParamSet<T>) -> Result<(), Error> {
    let layout = parameters.layout().clone();
    let rounding = if T::MANTISSA_BITS > 32 { 1e-12 } else { 1e-5 };
    for parameter in layout.parameters() {
        match parameter.space() {
            // The mean of SPD matrices is SPD.
            Space::Euclidean | Space::Spd { .. } => {}
            Space::Stiefel { p, k } => {
                let values = &mut parameters.values_mut()[parameter.range()];
                let left = T::widen(values).into_owned();
                if parameter.feasibility_error(&left)? > rounding {
                    let mut factor = vec![0.0; left.len()];
                    Polar::new(p, k)?.project(&left, &mut factor)?;
                    values.iter_mut().zip(factor).for_each(|(value, landed)| *value = T::from_f64(landed));
                }
            }
        }
    }
    Ok(())
}
