//! [`Model`]: the interface of a network for training, evaluation and federated methods.

use std::sync::Arc;

use fedspd_manifold::Real;
use fedspd_manifold::simd::Simd;

use crate::loss::softmax;
use crate::params::{Layout, ParamSet};
use crate::seed::{Seed, Stream};
use crate::{Error, check};

/// The random stream of a batch: that of its epoch, from the position of the batch.
#[derive(Clone, Copy, Debug)]
pub struct Dropout {
    /// The stream of the epoch.
    pub stream: Stream,
    /// The number of trials of the epoch before this batch.
    pub seen: u64,
}

/// A network. It holds no parameters and no memory: callers pass both to its methods.
pub trait Model<T: Real>: Sync {
    /// Labelled trials before preparation.
    type Trials;
    /// Labelled trials, prepared for the network.
    type Examples: Send + Sync;
    /// Working memory of its passes.
    type Workspace: Send;

    /// Names, shapes and properties of its parameters.
    fn layout(&self) -> &Arc<Layout>;

    /// The number of classes.
    fn classes(&self) -> usize;

    /// Prepares trials for training. Does the work that depends only on the trials, once.
    ///
    /// # Errors
    /// [`Error::Mismatch`] if the trials do not have the network's shape or classes.
    fn prepare(&self, trials: Self::Trials) -> Result<Self::Examples, Error>;

    /// The class of each trial.
    fn labels<'e>(&self, examples: &'e Self::Examples) -> &'e [usize];

    /// Checks trials and parameters for faults that would make training futile, such as a wrong
    /// unit. Returns a warning if something is suspicious.
    ///
    /// # Errors
    /// Faults such as [`Error::AllClamped`].
    fn check_before_training(
        &self,
        parameters: &ParamSet<T>,
        examples: &Self::Examples,
        trials: &[usize],
        workspace: &mut Self::Workspace,
    ) -> Result<Option<String>, Error>;

    /// Draws the initial values of the parameters.
    ///
    /// # Errors
    /// [`Error::Geometry`] if a draw fails.
    fn initial(&self, seed: Seed) -> Result<ParamSet<T>, Error>;

    /// Allocates memory for passes on up to `threads` threads of the current rayon pool. Results do
    /// not depend on their number. With several threads, call from within the pool
    /// (`ThreadPool::install`): entering it from outside queues a job, which may allocate.
    ///
    /// # Errors
    /// [`Error::Config`] for 0 threads.
    fn workspace(&self, threads: usize) -> Result<Self::Workspace, Error>;

    /// Computes the mean cross-entropy of a batch as in training, and its gradient in the layout of
    /// the parameters. Entries of statistics hold their updated values, not derivatives
    /// ([`ParamSet::take_statistics`]).
    ///
    /// # Errors
    /// [`Error::Config`] for an empty batch or an unknown trial. [`Error::ForeignParameters`] and
    /// [`Error::Mismatch`] for parameters or examples of another network. [`Error::Diverged`] if a
    /// parameter or a loss is not finite.
    fn loss_and_gradient(
        &self,
        parameters: &ParamSet<T>,
        examples: &Self::Examples,
        batch: &[usize],
        dropout: Option<Dropout>,
        workspace: &mut Self::Workspace,
        gradient: &mut [T],
    ) -> Result<T, Error>;

    /// Computes the loss of each trial of a batch and its gradient, one trial after the other.
    /// Gradients are not divided by the number of trials.
    ///
    /// # Errors
    /// As [`Model::loss_and_gradient`]; [`Error::Coupled`] if the loss of a trial depends on other
    /// trials of its batch, as with batch normalisation.
    #[allow(clippy::too_many_arguments)] // those of `loss_and_gradient` and one more output
    fn gradient_of_each(
        &self,
        _parameters: &ParamSet<T>,
        _examples: &Self::Examples,
        _batch: &[usize],
        _dropout: Option<Dropout>,
        _workspace: &mut Self::Workspace,
        _losses: &mut [T],
        _gradients: &mut [T],
    ) -> Result<(), Error> {
        Err(Error::Coupled)
    }

    /// Fits the statistics among the parameters to trials of a new subject, without labels. Does
    /// nothing in a network without statistics.
    ///
    /// # Errors
    /// As [`Model::loss_and_gradient`].
    fn calibrate(
        &self,
        _parameters: &mut ParamSet<T>,
        _examples: &Self::Examples,
        _trials: &[usize],
    ) -> Result<(), Error> {
        Ok(())
    }

    /// Computes the logits of a batch, row by row, with the statistics among the parameters (not
    /// with those of the batch).
    ///
    /// # Errors
    /// As [`Model::loss_and_gradient`].
    fn logits(
        &self,
        parameters: &ParamSet<T>,
        examples: &Self::Examples,
        batch: &[usize],
        workspace: &mut Self::Workspace,
        logits: &mut [T],
    ) -> Result<(), Error>;

    /// Computes the class probabilities of a batch, row by row.
    ///
    /// # Errors
    /// As [`Model::loss_and_gradient`].
    fn probabilities(
        &self,
        parameters: &ParamSet<T>,
        examples: &Self::Examples,
        batch: &[usize],
        workspace: &mut Self::Workspace,
        probabilities: &mut [T],
    ) -> Result<(), Error> {
        self.logits(parameters, examples, batch, workspace, probabilities)?;
        softmax(Simd::detect()?, self.classes(), probabilities);
        Ok(())
    }

    /// Returns the most probable class of each trial of a batch; the first of equals.
    ///
    /// # Errors
    /// As [`Model::loss_and_gradient`].
    fn predict(
        &self,
        parameters: &ParamSet<T>,
        examples: &Self::Examples,
        batch: &[usize],
        workspace: &mut Self::Workspace,
    ) -> Result<Vec<usize>, Error> {
        let mut logits = vec![T::ZERO; batch.len() * self.classes()];
        self.logits(parameters, examples, batch, workspace, &mut logits)?;
        Ok(logits.chunks_exact(self.classes()).map(first_largest).collect())
    }
}

/// Implements [`Model`] for a network with methods of the network and its workspace. `$own` is a
/// macro with the methods that replace defaults of the trait.
///
/// Each precision gets its own implementation. The passes with all their kernels are then compiled
/// here, and not again in every crate that trains a network.
macro_rules! implement_model {
    ($network:ident, $trials:ident, $examples:ident, $workspace:ident, $own:ident: $($real:ty),*) => {$(
        impl Model<$real> for $network<$real> {
            type Trials = $trials<$real>;
            type Examples = $examples<$real>;
            type Workspace = $workspace<$real>;

            fn layout(&self) -> &Arc<Layout> {
                &self.layout
            }

            fn classes(&self) -> usize {
                self.config.classes
            }

            fn prepare(&self, trials: $trials<$real>) -> Result<$examples<$real>, Error> {
                self.examples(trials)
            }

            fn labels<'e>(&self, examples: &'e $examples<$real>) -> &'e [usize] {
                examples.labels()
            }

            fn check_before_training(
                &self,
                parameters: &ParamSet<$real>,
                examples: &$examples<$real>,
                trials: &[usize],
                workspace: &mut $workspace<$real>,
            ) -> Result<Option<String>, Error> {
                self.check_units(parameters, examples, trials, workspace)
            }

            fn initial(&self, seed: Seed) -> Result<ParamSet<$real>, Error> {
                self.first_values(seed)
            }

            fn workspace(&self, threads: usize) -> Result<$workspace<$real>, Error> {
                $workspace::new(&self.config, self.simd, threads, Arc::clone(&self.layout))
            }

            fn loss_and_gradient(
                &self,
                parameters: &ParamSet<$real>,
                examples: &$examples<$real>,
                batch: &[usize],
                dropout: Option<Dropout>,
                workspace: &mut $workspace<$real>,
                gradient: &mut [$real],
            ) -> Result<$real, Error> {
                workspace.loss_and_gradient(parameters, examples, batch, dropout, gradient)
            }

            fn logits(
                &self,
                parameters: &ParamSet<$real>,
                examples: &$examples<$real>,
                batch: &[usize],
                workspace: &mut $workspace<$real>,
                logits: &mut [$real],
            ) -> Result<(), Error> {
                workspace.logits(parameters, examples, batch, logits)
            }

            $own!($real);
        }
    )*};
}

pub(crate) use implement_model;

/// Index of the largest number; the first of equals.
pub(crate) fn first_largest<T: Real>(row: &[T]) -> usize {
    (1..row.len()).fold(0, |best, i| if row[i] > row[best] { i } else { best })
}

/// Checks that a batch is not empty and that its trials exist.
pub(crate) fn check_batch(batch: &[usize], trials: usize) -> Result<(), Error> {
    check("batch size", batch.len(), !batch.is_empty(), || "at least 1".into())?;
    let outside = batch.iter().find(|&&trial| trial >= trials);
    outside.map_or(Ok(()), |trial| check("trial index", trial, false, || format!("below {trials}")))
}

/// Checks that parameters belong to a model.
pub(crate) fn check_parameters<T: Real>(layout: &Arc<Layout>, parameters: &ParamSet<T>) -> Result<(), Error> {
    if Arc::ptr_eq(layout, parameters.layout()) || layout == parameters.layout() {
        return Ok(());
    }
    Err(Error::ForeignParameters { expected: layout.size(), found: parameters.values().len() })
}
