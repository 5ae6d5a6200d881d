//! Allocation tests: a training step after the first allocates nothing.
#![allow(clippy::unwrap_used)] // test helpers may panic, as tests do

use fedspd_manifold::RetractionKind;
use fedspd_nn::{
    AdamSettings, Dropout, EegNet, EegNetConfig, Model, Optimiser, OptimiserConfig, Purpose, Seed, SpdNet,
    SpdNetConfig, SyntheticEeg, SyntheticTask, Trainer,
};

fn allocations(work: impl FnOnce()) -> u64 {
    allocation_counter::measure(work).count_total
}

#[test]
fn a_training_step_allocates_nothing() {
    let adam = AdamSettings::default();
    let (retraction, weight_decay) = (RetractionKind::Polar, 0.0);
    let optimisers = [
        OptimiserConfig::Adam { adam, retraction, rebase_every: Some(2) },
        OptimiserConfig::Adam { adam, retraction: RetractionKind::Qr, rebase_every: None },
        OptimiserConfig::RiemannianAdam { adam, retraction },
        OptimiserConfig::RiemannianSgd { momentum: 0.9, weight_decay, retraction },
        OptimiserConfig::Landing { attraction: 1.0, safe_distance: 0.5, momentum: 0.9, weight_decay },
    ];
    let configs = [
        SpdNetConfig::new(vec![16], 4),
        SpdNetConfig::new(vec![16, 8], 4),
        SpdNetConfig::new(vec![16, 8, 5], 4).inputs(3).dropout(0.3),
    ];
    for config in configs {
        let net = SpdNet::<f64>::new(config.clone()).unwrap();
        let task = SyntheticTask::new(16, 4).inputs(config.inputs).trials(100);
        let examples = net.prepare(task.client(Seed(0), 0).unwrap()).unwrap();
        let batch: Vec<usize> = (0..64).collect();
        let dropout = Some(Dropout { stream: Seed(0).stream(Purpose::Dropout), seen: 0 });
        for optimiser in optimisers {
            let mut parameters = net.initial(Seed(0)).unwrap();
            let mut optimiser = Optimiser::new(optimiser, &parameters).unwrap();
            let mut workspace = net.workspace(1).unwrap();
            let mut gradient = vec![0.0; parameters.values().len()];
            let mut step = |batch: &[usize]| {
                net.loss_and_gradient(&parameters, &examples, batch, dropout, &mut workspace, &mut gradient)
                    .unwrap();
                optimiser.step(&mut parameters, &gradient, 1e-3).unwrap();
            };
            step(&batch);
            // Warm-up: full batches, small ones, a single trial.
            assert_eq!(
                allocations(|| [64, 64, 7, 1].map(|n| step(&batch[..n])).into_iter().collect()),
                0,
                "{config:?}"
            );
        }
    }
}

#[test]
fn an_epoch_allocates_nothing_after_the_first() {
    let net = SpdNet::<f64>::new(SpdNetConfig::new(vec![16, 8], 4)).unwrap();
    let examples = net.prepare(SyntheticTask::new(16, 4).trials(150).client(Seed(0), 0).unwrap()).unwrap();
    let mut parameters = net.initial(Seed(0)).unwrap();
    let mut optimiser = Optimiser::new(OptimiserConfig::default(), &parameters).unwrap();
    let mut trainer = Trainer::new(&net, 64, 1).unwrap();
    let trials: Vec<usize> = (0..150).collect();
    let stream = Seed(0).stream(Purpose::Shuffle);
    let mut epoch = |n| {
        trainer.epoch(&mut parameters, &mut optimiser, 1e-3, &examples, &trials, stream.epoch(n)).unwrap();
    };
    epoch(0);
    assert_eq!(allocations(|| epoch(1)), 0);
}

#[test]
fn prediction_of_a_batch_allocates_nothing_after_the_first() {
    let net = SpdNet::<f32>::new(SpdNetConfig::new(vec![16, 8], 4)).unwrap();
    let examples = net.prepare(SyntheticTask::new(16, 4).trials(64).client(Seed(0), 0).unwrap()).unwrap();
    let parameters = net.initial(Seed(0)).unwrap();
    let (mut workspace, mut out) = (net.workspace(1).unwrap(), vec![0.0; 256]);
    let batch: Vec<usize> = (0..64).collect();
    let mut ask = || net.logits(&parameters, &examples, &batch, &mut workspace, &mut out).unwrap();
    ask();
    assert_eq!(allocations(ask), 0);
}

/// Full batches, small ones, a single trial, then evaluation of all trials, on one thread and on
/// two (only the calling thread is counted).
#[test]
fn a_training_step_of_eegnet_and_evaluation_allocate_nothing() {
    let net = EegNet::<f32>::new(EegNetConfig::new(6, 130, 64.0, 3)).unwrap();
    let examples =
        net.prepare(SyntheticEeg::new(6, 130, 64.0, 3).trials(100).client(Seed(0), 0).unwrap()).unwrap();
    let all: Vec<usize> = (0..100).collect();
    let dropout = Some(Dropout { stream: Seed(0).stream(Purpose::Dropout), seen: 0 });
    for threads in [1, 2] {
        let mut parameters = net.initial(Seed(0)).unwrap();
        let mut optimiser = Optimiser::new(OptimiserConfig::default(), &parameters).unwrap();
        let mut workspace = net.workspace(threads).unwrap();
        let (mut gradient, mut logits) = (vec![0.0; parameters.values().len()], vec![0.0; 300]);
        let mut work = |size: usize| {
            let batch = &all[..size];
            net.loss_and_gradient(&parameters, &examples, batch, dropout, &mut workspace, &mut gradient)
                .unwrap();
            optimiser.step(&mut parameters, &gradient, 1e-3).unwrap();
            parameters.take_statistics(&gradient).unwrap();
            for batch in [&all[..], batch] {
                let logits = &mut logits[..batch.len() * 3];
                net.logits(&parameters, &examples, batch, &mut workspace, logits).unwrap();
            }
        };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let count = pool.install(|| {
            work(64);
            allocations(|| [64, 16, 7, 1, 64].into_iter().for_each(&mut work))
        });
        assert_eq!(count, 0, "{threads} threads");
    }
}

#[test]
fn an_epoch_of_eegnet_allocates_nothing_after_the_first() {
    let net = EegNet::<f32>::new(EegNetConfig::new(6, 130, 64.0, 3)).unwrap();
    let examples =
        net.prepare(SyntheticEeg::new(6, 130, 64.0, 3).trials(40).client(Seed(0), 0).unwrap()).unwrap();
    let all: Vec<usize> = (0..40).collect();
    let mut parameters = net.initial(Seed(0)).unwrap();
    let mut trainer = Trainer::new(&net, 16, 1).unwrap();
    let mut optimiser = Optimiser::new(OptimiserConfig::default(), &parameters).unwrap();
    let stream = Seed(0).stream(Purpose::Shuffle);
    let mut epoch = |number: u32| {
        let stream = stream.epoch(number);
        trainer.epoch(&mut parameters, &mut optimiser, 1e-3, &examples, &all, stream).unwrap();
    };
    epoch(0);
    assert_eq!(allocations(|| epoch(1)), 0);
}
