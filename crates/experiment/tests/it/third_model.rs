//! A custom network: softmax regression on the log-variances of the channels.
//!
//! It implements [`Model`] and [`Architecture`] and then trains through the same runs as SPDnet and
//! EEGNet. To build it in, one moves this file to a folder of `fedspd-nn`, with a variant of
//! `ModelKind` and of `file::Network` there. Outside of `fedspd-nn` one place has to change:
//!
//! 1. an arm in `dispatch` of `crates/experiment/src/train/network.rs`.

use std::sync::Arc;

use fedspd_experiment::{Ended, Resumable, headline, run, run_network};
use fedspd_nn::file::Network;
use fedspd_nn::{
    Architecture, Dropout, Error, Input, InputShape, Layout, Model, ModelSettings, ParamSet, Purpose, Seed,
    Tensor,
};
use rand::RngExt;

use crate::modes::TASK;
use crate::runs::experiment;

struct LogVariance {
    channels: usize,
    classes: usize,
    layout: Arc<Layout>,
}

/// The log-variances of trials, and their labels.
struct Features {
    rows: Vec<Vec<f64>>,
    labels: Vec<usize>,
}

impl LogVariance {
    fn logits_of(&self, parameters: &ParamSet<f64>, row: &[f64]) -> Vec<f64> {
        let (weights, biases) = parameters.values().split_at(self.classes * self.channels);
        let logit = |(weights, bias): (&[f64], &f64)| {
            bias + weights.iter().zip(row).map(|(weight, x)| weight * x).sum::<f64>()
        };
        weights.chunks_exact(self.channels).zip(biases).map(logit).collect()
    }
}

impl Model<f64> for LogVariance {
    type Trials = Features;
    type Examples = Features;
    type Workspace = ();

    fn layout(&self) -> &Arc<Layout> {
        &self.layout
    }

    fn classes(&self) -> usize {
        self.classes
    }

    fn prepare(&self, trials: Features) -> Result<Features, Error> {
        Ok(trials)
    }

    fn labels<'e>(&self, examples: &'e Features) -> &'e [usize] {
        &examples.labels
    }

    fn check_before_training(
        &self,
        _: &ParamSet<f64>,
        _: &Features,
        _: &[usize],
        (): &mut (),
    ) -> Result<Option<String>, Error> {
        Ok(None)
    }

    fn initial(&self, seed: Seed) -> Result<ParamSet<f64>, Error> {
        let mut rng = seed.stream(Purpose::Initialisation).item(0);
        let values = (0..self.layout.size()).map(|_| rng.random::<f64>() * 0.1).collect();
        ParamSet::new(self.layout.clone(), values)
    }

    fn workspace(&self, _: usize) -> Result<(), Error> {
        Ok(())
    }

    fn loss_and_gradient(
        &self,
        parameters: &ParamSet<f64>,
        examples: &Features,
        batch: &[usize],
        _: Option<Dropout>,
        (): &mut (),
        gradient: &mut [f64],
    ) -> Result<f64, Error> {
        gradient.fill(0.0);
        let (weights, biases) = gradient.split_at_mut(self.classes * self.channels);
        let mut loss = 0.0;
        for &trial in batch {
            let (row, label) = (&examples.rows[trial], examples.labels[trial]);
            let exponentials: Vec<f64> = self.logits_of(parameters, row).into_iter().map(f64::exp).collect();
            let sum: f64 = exponentials.iter().sum();
            loss -= (exponentials[label] / sum).ln() / batch.len() as f64;
            for (class, exponential) in exponentials.iter().enumerate() {
                let error = (exponential / sum - f64::from(u8::from(class == label))) / batch.len() as f64;
                biases[class] += error;
                let weights = &mut weights[class * self.channels..][..self.channels];
                weights.iter_mut().zip(row).for_each(|(weight, x)| *weight += error * x);
            }
        }
        Ok(loss)
    }

    fn logits(
        &self,
        parameters: &ParamSet<f64>,
        examples: &Features,
        batch: &[usize],
        (): &mut (),
        logits: &mut [f64],
    ) -> Result<(), Error> {
        let rows = batch.iter().flat_map(|&trial| self.logits_of(parameters, &examples.rows[trial]));
        logits.iter_mut().zip(rows).for_each(|(logit, value)| *logit = value);
        Ok(())
    }
}

impl Architecture<f64> for LogVariance {
    const READS: Input = Input::Covariances;

    fn build(_: &ModelSettings, shape: &InputShape) -> Result<Self, Error> {
        let InputShape { channels, classes, .. } = *shape;
        let tensors = vec![
            Tensor::euclidean("head.weight", &[classes, channels]),
            Tensor::euclidean("head.bias", &[classes]),
        ];
        Ok(Self { channels, classes, layout: Arc::new(Layout::new(tensors)?) })
    }

    fn restore(_: &Network) -> Result<Option<Self>, Error> {
        Ok(None)
    }

    fn describe(&self) -> Network {
        unreachable!("clients that train alone save no common model, and `Network` has no variant for it")
    }

    fn trials(shape: &InputShape, numbers: Vec<f64>, labels: Vec<usize>) -> Result<Features, Error> {
        let n = shape.channels;
        let row = |matrix: &[f64]| (0..n).map(|i| matrix[i * n + i].ln()).collect();
        Ok(Features { rows: numbers.chunks_exact(n * n).map(row).collect(), labels })
    }
}

fn network() -> LogVariance {
    let shape = InputShape { channels: 8, inputs: 1, samples: 0, sfreq: 160.0, classes: 3 };
    LogVariance::build(&ModelSettings::default(), &shape).unwrap()
}

#[test]
fn it_trains_in_a_run_folder_on_any_number_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    let mut all = Vec::new();
    for threads in [1, 3] {
        let threads = format!("run.threads={threads}");
        let experiment = experiment(TASK, &["mode=local", "align.kind=riemannian", &threads]);
        let path = folder.path().join(&threads);
        let (results, ended) = run_network(&experiment, network(), "mine", &path, &mut ()).unwrap();
        assert_eq!(ended, Ended::Finished);
        // Chance is 1/3.
        assert!(headline(&results).macro_f1.mean > 0.42, "{}", headline(&results).macro_f1.mean);
        all.push(std::fs::read(path.join("results.csv")).unwrap());
    }
    assert_eq!(all[0], all[1]);
}

/// The folder is an ordinary one: a second run is refused, and a resumed one has nothing left to
/// do.
#[test]
fn its_folder_is_an_ordinary_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let experiment = experiment(TASK, &["mode=local", "train.epochs=2"]);
    run_network(&experiment, network(), "mine", &path, &mut ()).unwrap();
    assert!(run(&experiment, "mine", &path, &mut ()).is_err());
    let mut resumed = Resumable::open(&path, |_| (), &()).unwrap();
    assert_eq!(resumed.rounds_left().unwrap(), 0);
}

/// By default, a network offers no gradients of single trials, and calibration changes nothing.
#[test]
fn gradients_of_trials_are_optional() {
    let network = network();
    let features = Features { rows: vec![vec![0.0; 8]], labels: vec![0] };
    let mut parameters = network.initial(Seed(0)).unwrap();
    let before = parameters.clone();
    let each =
        network.gradient_of_each(&parameters, &features, &[0], None, &mut (), &mut [0.0], &mut [0.0; 27]);
    assert!(matches!(each, Err(Error::Coupled)));
    network.calibrate(&mut parameters, &features, &[0]).unwrap();
    assert_eq!(parameters, before);
}
