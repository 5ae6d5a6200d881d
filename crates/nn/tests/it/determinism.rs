//! The same parameters, data and seed give the same bytes, for any instruction set, number of
//! threads and batch around a trial.

use fedspd_manifold::simd::Simd;
use fedspd_manifold::{Real, Vectorisation};
use fedspd_nn::{
    Examples, Model, Optimiser, OptimiserConfig, Purpose, Seed, SpdNet, SpdNetConfig, SpdTrials,
    SyntheticTask, Trainer,
};

use crate::support::bits;

/// Trains three epochs over 150 trials, with dropout and two inputs.
fn trained<T: Real>(simd: Simd, threads: usize) -> (Vec<u64>, Vec<u64>)
where
    SpdNet<T>: Model<T, Trials = SpdTrials<T>, Examples = Examples<T>>,
{
    let config = SpdNetConfig::new(vec![10, 6, 4], 3)
        .inputs(2)
        .dropout(0.2)
        .threshold(0.3)
        .head(Vectorisation::IsometricVech);
    let net = SpdNet::<T>::with_simd(config, simd).unwrap();
    let examples =
        net.prepare(SyntheticTask::new(10, 3).inputs(2).trials(150).client(Seed(1), 0).unwrap()).unwrap();
    let mut parameters = net.initial(Seed(1)).unwrap();
    let mut optimiser = Optimiser::new(OptimiserConfig::default(), &parameters).unwrap();
    let mut trainer = Trainer::new(&net, 64, threads).unwrap();
    let trials: Vec<usize> = (0..150).collect();
    let stream = Seed(1).stream(Purpose::Shuffle);
    let mut losses = Vec::new();
    for epoch in 0..3 {
        let stream = stream.epoch(epoch);
        let loss = trainer.epoch(&mut parameters, &mut optimiser, 1e-2, &examples, &trials, stream).unwrap();
        losses.push(loss);
    }
    (bits(parameters.values()), bits(&losses))
}

#[test]
fn threads_and_instruction_sets_change_no_bit() {
    let fastest = Simd::available().next().unwrap();
    let reference = trained::<f64>(fastest, 1);
    let reference32 = trained::<f32>(fastest, 1);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    for threads in [2, 3, 4, 7] {
        assert_eq!(pool.install(|| trained::<f64>(fastest, threads)), reference, "{threads} threads");
    }
    for simd in Simd::available() {
        assert_eq!(trained::<f64>(simd, 1), reference, "{}", simd.name());
        assert_eq!(trained::<f32>(simd, 1), reference32, "{}", simd.name());
    }
}

/// The logits of a trial do not depend on its index, its neighbours or the threads.
#[test]
fn a_trial_has_the_same_logits_in_any_batch() {
    let net = SpdNet::<f64>::new(SpdNetConfig::new(vec![12, 7], 3)).unwrap();
    let examples = net.prepare(SyntheticTask::new(12, 3).trials(70).client(Seed(2), 0).unwrap()).unwrap();
    let parameters = net.initial(Seed(2)).unwrap();
    let ask = |batch: &[usize], threads| {
        let mut out = vec![0.0; batch.len() * 3];
        let mut workspace = net.workspace(threads).unwrap();
        net.logits(&parameters, &examples, batch, &mut workspace, &mut out).unwrap();
        out
    };
    let all: Vec<usize> = (0..70).collect();
    let reference = ask(&all, 1);
    assert_eq!(ask(&all, 3), reference);
    for size in [1, 2, 3, 7, 8, 9, 17] {
        let batch: Vec<usize> = (0..size).map(|i| (i * 31 + 5) % 70).collect();
        let found = ask(&batch, 1);
        for (place, &trial) in batch.iter().enumerate() {
            assert_eq!(found[place * 3..place * 3 + 3], reference[trial * 3..trial * 3 + 3]);
        }
    }
}
