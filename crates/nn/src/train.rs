//! Training epochs and evaluation: the loops over batches.

use fedspd_manifold::Real;
use fedspd_manifold::simd::Simd;

use crate::loss::{cross_entropy, softmax};
use crate::model::{Dropout, Model, first_largest};
use crate::optim::Optimiser;
use crate::params::ParamSet;
use crate::seed::{Purpose, Stream, shuffle};
use crate::{Error, check};

/// The largest loss of a batch. Logarithms of double-precision probabilities end near 745; a loss
/// beyond this limit comes from weights that have exploded, though they are still finite.
pub const LARGEST_LOSS: f64 = 1e6;

/// Trains and evaluates a network, with its working memory. A step allocates nothing after the
/// largest batch.
pub struct Trainer<'a, T: Real, M: Model<T>> {
    model: &'a M,
    workspace: M::Workspace,
    batch_size: usize,
    gradient: Vec<T>,
    order: Vec<usize>,
}

/// Result of an evaluation.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation {
    /// The mean cross-entropy.
    pub loss: f64,
    /// The most probable class of each trial.
    pub predictions: Vec<usize>,
    /// The probability of each class, trial after trial.
    pub probabilities: Vec<f64>,
    /// The share of trials with a correct prediction.
    pub accuracy: f64,
}

impl<'a, T: Real, M: Model<T>> Trainer<'a, T, M> {
    /// Creates a trainer with batches of `batch_size` trials, on up to `threads` threads of the
    /// current rayon pool.
    ///
    /// # Errors
    /// [`Error::Config`] if the batch size or the number of threads is zero.
    pub fn new(model: &'a M, batch_size: usize, threads: usize) -> Result<Self, Error> {
        check("batch_size", batch_size, batch_size > 0, || "at least 1".into())?;
        let gradient = vec![T::ZERO; model.layout().size()];
        Ok(Self { model, workspace: model.workspace(threads)?, batch_size, gradient, order: Vec::new() })
    }

    /// Checks for data that cannot be trained on, such as data in the wrong unit. Returns a warning
    /// if something is suspicious. Call it before the first epoch.
    ///
    /// # Errors
    /// As [`Model::check_before_training`].
    pub fn check(
        &mut self,
        parameters: &ParamSet<T>,
        examples: &M::Examples,
        trials: &[usize],
    ) -> Result<Option<String>, Error> {
        self.model.check_before_training(parameters, examples, trials, &mut self.workspace)
    }

    /// Trains one epoch over the given trials, in an order drawn from the stream. The last batch
    /// may be smaller. Returns the mean loss of the trials, each measured when its batch is
    /// processed.
    ///
    /// It uses the stream's round, client and epoch, and ignores its purpose.
    ///
    /// # Errors
    /// As [`Model::loss_and_gradient`] and [`Optimiser::step`]; [`Error::Diverged`] for a loss above
    /// one million.
    pub fn epoch(
        &mut self,
        parameters: &mut ParamSet<T>,
        optimiser: &mut Optimiser<T>,
        learning_rate: f64,
        examples: &M::Examples,
        trials: &[usize],
        stream: Stream,
    ) -> Result<f64, Error> {
        self.corrected_epoch(parameters, optimiser, learning_rate, examples, trials, stream, |_, _| Ok(()))
    }

    /// Trains one epoch with a correction of the gradient before each step, such as a proximal term
    /// or a control variate. `correct` receives the parameters and the gradient of the batch.
    ///
    /// # Errors
    /// As [`Trainer::epoch`], and errors of the correction.
    #[allow(clippy::too_many_arguments)] // the arguments of an epoch and one more
    pub fn corrected_epoch(
        &mut self,
        parameters: &mut ParamSet<T>,
        optimiser: &mut Optimiser<T>,
        learning_rate: f64,
        examples: &M::Examples,
        trials: &[usize],
        stream: Stream,
        mut correct: impl FnMut(&ParamSet<T>, &mut [T]) -> Result<(), Error>,
    ) -> Result<f64, Error> {
        check("trials", trials.len(), !trials.is_empty(), || "one or more".into())?;
        self.order.clear();
        self.order.extend_from_slice(trials);
        shuffle(&mut stream.purpose(Purpose::Shuffle).item(0), &mut self.order);
        let mut dropout = Dropout { stream: stream.purpose(Purpose::Dropout), seen: 0 };
        let mut sum = 0.0;
        for batch in self.order.chunks(self.batch_size) {
            let (model, workspace) = (self.model, &mut self.workspace);
            let drop = Some(dropout);
            let loss =
                model.loss_and_gradient(parameters, examples, batch, drop, workspace, &mut self.gradient)?;
            if !(loss.to_f64() <= LARGEST_LOSS) {
                return Err(Error::Diverged { what: "the loss of a batch", value: loss.to_f64() });
            }
            correct(parameters, &mut self.gradient)?;
            optimiser.step(parameters, &self.gradient, learning_rate)?;
            parameters.take_statistics(&self.gradient)?;
            sum += loss.to_f64() * batch.len() as f64;
            dropout.seen += batch.len() as u64;
        }
        Ok(sum / trials.len() as f64)
    }

    /// Computes loss, predictions and probabilities for the given trials.
    ///
    /// # Errors
    /// As [`Model::logits`].
    pub fn evaluate(
        &mut self,
        parameters: &ParamSet<T>,
        examples: &M::Examples,
        trials: &[usize],
    ) -> Result<Evaluation, Error> {
        let logits = self.logits(parameters, examples, trials)?;
        self.score(examples, trials, logits)
    }

    /// Evaluates several groups of trials with the same parameters. Each group gets the same result
    /// as alone. Together they fill the lanes, and the parameters are read once.
    ///
    /// # Errors
    /// As [`Trainer::evaluate`].
    pub fn evaluate_groups(
        &mut self,
        parameters: &ParamSet<T>,
        examples: &M::Examples,
        groups: &[&[usize]],
    ) -> Result<Vec<Evaluation>, Error> {
        let logits = self.logits(parameters, examples, &groups.concat())?;
        let mut rest = &logits[..];
        let each = groups.iter().map(|trials| {
            let own;
            (own, rest) = rest.split_at(trials.len() * self.model.classes());
            self.score(examples, trials, own.to_vec())
        });
        each.collect()
    }

    fn logits(
        &mut self,
        parameters: &ParamSet<T>,
        examples: &M::Examples,
        trials: &[usize],
    ) -> Result<Vec<T>, Error> {
        let mut logits = vec![T::ZERO; trials.len() * self.model.classes()];
        self.model.logits(parameters, examples, trials, &mut self.workspace, &mut logits)?;
        Ok(logits)
    }

    /// Computes loss, predictions and probabilities from logits.
    fn score(
        &self,
        examples: &M::Examples,
        trials: &[usize],
        mut logits: Vec<T>,
    ) -> Result<Evaluation, Error> {
        let classes = self.model.classes();
        let predictions: Vec<usize> = logits.chunks_exact(classes).map(first_largest).collect();
        let mut losses = vec![T::ZERO; trials.len()];
        let labels = self.model.labels(examples);
        let each = trials.iter().map(|&trial| labels[trial]);
        let (simd, mut probabilities) = (Simd::detect()?, logits.clone());
        softmax(simd, classes, &mut probabilities);
        cross_entropy(simd, classes, &mut logits, each.clone(), T::ONE, &mut losses);
        let correct = predictions.iter().zip(each).filter(|(prediction, label)| *prediction == label).count();
        Ok(Evaluation {
            loss: losses.iter().map(|loss| loss.to_f64()).sum::<f64>() / trials.len() as f64,
            predictions,
            probabilities: T::widen(&probabilities).into_owned(),
            accuracy: correct as f64 / trials.len() as f64,
        })
    }
}
