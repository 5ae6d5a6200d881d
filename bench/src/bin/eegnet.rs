//! Times EEGNet and prints one JSON object per line: `{"case": ..., "nanoseconds": ...}`, and at
//! the end the peak memory of this process, `{"kilobytes": ...}`.
//!
//! `peers/eegnet.py` runs this beside torch and braindecode. The argument is the number of threads.
#![allow(clippy::print_stdout)] // its output is its purpose

use std::hint::black_box;
use std::time::Duration;

use fedspd_bench::{median_nanoseconds, peak_kilobytes};
use fedspd_manifold::simd::Simd;
use fedspd_nn::{
    Dropout, EegNet, EegNetConfig, Error, Model, Optimiser, OptimiserConfig, Purpose, RawTrials, Seed,
    SyntheticEeg,
};

const BATCH: usize = 64;
const BUDGET: Duration = Duration::from_secs(1);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let threads = std::env::args().nth(1).map_or(Ok(1), |threads| threads.parse())?;
    println!(r#"{{"simd": "{}"}}"#, Simd::detect()?.name());
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    pool.install(|| {
        network(64, 480, 160.0, 4, threads)?;
        network(60, 800, 200.0, 7, threads)
    })?;
    if let Some(kilobytes) = peak_kilobytes() {
        println!(r#"{{"kilobytes": {kilobytes}}}"#);
    }
    Ok(())
}

fn network(channels: usize, samples: usize, sfreq: f64, classes: usize, threads: usize) -> Result<(), Error> {
    let net = EegNet::<f32>::new(EegNetConfig::new(channels, samples, sfreq, classes))?;
    let trials: RawTrials<f32> =
        SyntheticEeg::new(channels, samples, sfreq, classes).trials(BATCH).client(Seed(0), 0)?;
    let shape = format!("{channels}x{samples}");
    // Once for each trial, before its first epoch. Evaluation needs none of it: trials for use are
    // taken as they are.
    time(&format!("preparing 64 trials for training {shape}"), || net.prepare(trials.clone()).map(drop))?;
    let examples = net.prepare(trials)?;
    let batch: Vec<usize> = (0..BATCH).collect();
    let mut parameters = net.initial(Seed(0))?;
    let mut workspace = net.workspace(threads)?;
    let mut gradient = vec![0.0; parameters.values().len()];
    let mut logits = vec![0.0; BATCH * classes];

    time(&format!("inference of one trial {shape}"), || {
        net.logits(&parameters, &examples, black_box(&batch[..1]), &mut workspace, &mut logits[..classes])
    })?;
    time(&format!("inference of 64 trials {shape}"), || {
        net.logits(&parameters, &examples, black_box(&batch), &mut workspace, &mut logits)
    })?;
    let mut optimiser = Optimiser::new(OptimiserConfig::default(), &parameters)?;
    let mut dropout = Dropout { stream: Seed(0).stream(Purpose::Dropout), seen: 0 };
    time(&format!("training step {shape}"), || {
        net.loss_and_gradient(&parameters, &examples, &batch, Some(dropout), &mut workspace, &mut gradient)?;
        optimiser.step(&mut parameters, &gradient, 1e-3)?;
        dropout.seen += BATCH as u64;
        parameters.take_statistics(&gradient)
    })
}

/// Repeats a computation for a while and prints the median time of one.
fn time(case: &str, compute: impl FnMut() -> Result<(), Error>) -> Result<(), Error> {
    let nanoseconds = median_nanoseconds(BUDGET, compute)?;
    println!(r#"{{"case": "{case}", "nanoseconds": {nanoseconds}}}"#);
    Ok(())
}
