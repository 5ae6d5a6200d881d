//! Times SPDnet on one thread and prints one JSON object per line:
//! `{"case": ..., "nanoseconds": ...}`, and at the end the peak memory of this process,
//! `{"kilobytes": ...}`.
//!
//! `peers/compare.py` runs this beside the Python libraries. An argument selects the cases whose
//! name contains it.
#![allow(clippy::print_stdout)] // its output is its purpose

use std::hint::black_box;
use std::time::Duration;

use fedspd_bench::{median_nanoseconds, peak_kilobytes};
use fedspd_manifold::simd::Simd;
use fedspd_manifold::{
    Left, SpectralFunction, SpectralTape, Triangle, multiply_add, multiply_symmetric,
    multiply_transposed_and_fetch,
};
use fedspd_nn::{
    Error, Examples, Model, Optimiser, OptimiserConfig, Seed, SpdNet, SpdNetConfig, SpdTrials, SyntheticTask,
};

const BATCH: usize = 64;
const BUDGET: Duration = Duration::from_millis(500);

fn main() -> Result<(), Error> {
    let simd = Simd::detect()?;
    println!(r#"{{"simd": "{}"}}"#, simd.name());
    for (channels, dimension, classes) in [(64, 18, 4), (60, 22, 7)] {
        network::<f64>("f64", channels, dimension, classes)?;
        network::<f32>("f32", channels, dimension, classes)?;
    }
    parts(simd)?;
    if let Some(kilobytes) = peak_kilobytes() {
        println!(r#"{{"kilobytes": {kilobytes}}}"#);
    }
    Ok(())
}

fn network<T: fedspd_manifold::Real>(
    precision: &str,
    channels: usize,
    dimension: usize,
    classes: usize,
) -> Result<(), Error>
where
    SpdNet<T>: Model<T, Trials = SpdTrials<T>, Examples = Examples<T>>,
{
    let shape = format!("{precision} {channels}->{dimension}");
    let net = SpdNet::<T>::new(SpdNetConfig::new(vec![channels, dimension], classes).threshold(1e-2))?;
    let task = SyntheticTask::new(channels, classes).trials(BATCH);
    let examples = net.prepare(task.client(Seed(0), 0)?)?;
    let batch: Vec<usize> = (0..BATCH).collect();
    let mut parameters = net.initial(Seed(0))?;
    let mut workspace = net.workspace(1)?;
    let mut gradient = vec![T::ZERO; parameters.values().len()];
    let mut logits = vec![T::ZERO; BATCH * classes];

    time(&format!("inference of one trial {shape}"), || {
        let batch = black_box(&batch[..1]);
        net.logits(&parameters, &examples, batch, &mut workspace, &mut logits[..classes])
    })?;
    time(&format!("inference of 64 trials {shape}"), || {
        net.logits(&parameters, &examples, black_box(&batch), &mut workspace, &mut logits)
    })?;
    let mut optimiser = Optimiser::new(OptimiserConfig::default(), &parameters)?;
    time(&format!("training step {shape}"), || {
        net.loss_and_gradient(&parameters, &examples, &batch, None, &mut workspace, &mut gradient)?;
        optimiser.step(&mut parameters, &gradient, 1e-3)
    })
}

/// What a training step at 64->18 is made of, each part alone, for a batch of 64.
fn parts(simd: Simd) -> Result<(), Error> {
    let (p, k) = (64, 18);
    let matrices = SyntheticTask::new(p, 4).trials(BATCH).client::<f64>(Seed(0), 0)?;
    let small = SyntheticTask::new(k, 4).trials(BATCH).client::<f64>(Seed(0), 0)?;
    let (x, s) = (matrices.matrices(), small.matrices());
    let net = SpdNet::<f64>::new(SpdNetConfig::new(vec![p, k], 4))?;
    let mut parameters = net.initial(Seed(0))?;
    let w = parameters.values()[..p * k].to_vec();
    let (mut y, mut square, mut sum) = (vec![0.0; p * k], vec![0.0; k * k], vec![0.0; p * k]);
    let part = |name: &str| format!("part of a step: {name}");
    time(&part("Y^T = W^T X"), || {
        for x in black_box(x).chunks_exact(p * p) {
            multiply_transposed_and_fetch(simd, (k, p, p), &w, x, &mut y, &[]);
        }
        Ok(())
    })?;
    time(&part("S = Y^T W"), || {
        for _ in 0..BATCH {
            let (left, triangle) = (Left::Plain, Triangle::Upper);
            multiply_symmetric(simd, left, triangle, (k, p), black_box(&y), &w, &mut square);
        }
        Ok(())
    })?;
    time(&part("dW^T += G Y^T"), || {
        sum.fill(0.0);
        for g in black_box(s).chunks_exact(k * k) {
            multiply_add(simd, Left::Plain, (k, k, p), g, &y, &mut sum);
        }
        Ok(())
    })?;
    let mut tape = SpectralTape::with_simd(k, simd)?;
    let (lanes, function) = (tape.lanes(), SpectralFunction::LogClamp { floor: 1e-2 });
    time(&part("log of clamp"), || {
        for chunk in black_box(s).chunks(lanes * k * k) {
            tape.begin(chunk.len() / (k * k))?;
            for (place, matrix) in chunk.chunks_exact(k * k).enumerate() {
                tape.put(place, matrix)?;
            }
            tape.apply(function)?;
        }
        Ok(())
    })?;
    time(&part("its gradient"), || {
        for _ in 0..BATCH / lanes {
            for place in 0..lanes {
                tape.put_gradient(place, black_box(&s[..k * k]))?;
            }
            tape.pull_back()?;
        }
        Ok(())
    })?;
    let mut optimiser = Optimiser::new(OptimiserConfig::default(), &parameters)?;
    let gradient = vec![1e-3; parameters.values().len()];
    let start = parameters.clone();
    let mut steps = 0_u32;
    time(&part("Adam and its retraction"), || {
        // As many steps as a client of the paper takes in a round, and its new start.
        if steps.is_multiple_of(6) {
            parameters = start.clone();
            optimiser.restart(&parameters)?;
        }
        steps += 1;
        optimiser.step(&mut parameters, black_box(&gradient), 1e-3)
    })
}

/// Repeats a computation for a while and prints the median time of one.
fn time(case: &str, compute: impl FnMut() -> Result<(), Error>) -> Result<(), Error> {
    if !case.contains(&std::env::args().nth(1).unwrap_or_default()) {
        return Ok(());
    }
    let nanoseconds = median_nanoseconds(BUDGET, compute)?;
    println!(r#"{{"case": "{case}", "nanoseconds": {nanoseconds}}}"#);
    Ok(())
}
