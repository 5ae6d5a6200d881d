//! Complete training runs.

use fedspd_nn::{
    Dropout, Model, Optimiser, OptimiserConfig, Purpose, Seed, SpdNet, SpdNetConfig, SpdTrials,
    SyntheticTask, Trainer, shuffle,
};

/// Trains on every second run of all classes. Returns the accuracy on the other trials, and
/// `|W^T W - I|`.
fn learn(config: SpdNetConfig, optimiser: OptimiserConfig, rate: f64, epochs: u32) -> (f64, f64) {
    let net = SpdNet::<f64>::new(config).unwrap();
    let config = net.config();
    let task = SyntheticTask::new(config.dimensions[0], config.classes).inputs(config.inputs).trials(400);
    let examples = net.prepare(task.client(Seed(0), 0).unwrap()).unwrap();
    // Labels alternate, so a run of `classes` trials has one of each class.
    let (train, test): (Vec<usize>, Vec<usize>) =
        (0..400).partition(|i| (i / config.classes).is_multiple_of(2));
    let mut parameters = net.initial(Seed(0)).unwrap();
    let mut optimiser = Optimiser::new(optimiser, &parameters).unwrap();
    let mut trainer = Trainer::new(&net, 64, 1).unwrap();
    let stream = Seed(0).stream(Purpose::Shuffle);
    for epoch in 0..epochs {
        trainer.epoch(&mut parameters, &mut optimiser, rate, &examples, &train, stream.epoch(epoch)).unwrap();
    }
    optimiser.finish(&mut parameters).unwrap();
    let labels: Vec<usize> = test.iter().map(|&trial| examples.labels()[trial]).collect();
    let evaluation = trainer.evaluate(&parameters, &examples, &test).unwrap();
    let correct = evaluation.predictions.iter().zip(&labels).filter(|(a, b)| a == b).count();
    assert_eq!(evaluation.accuracy, correct as f64 / labels.len() as f64);
    (evaluation.accuracy, parameters.feasibility_error().unwrap())
}

#[test]
fn networks_of_any_depth_learn() {
    for (dimensions, inputs) in [(vec![12], 1), (vec![12, 6], 1), (vec![12, 8, 5], 1), (vec![12, 6], 3)] {
        let config = SpdNetConfig::new(dimensions.clone(), 3).inputs(inputs);
        let (accuracy, infeasibility) = learn(config, OptimiserConfig::default(), 1e-2, 40);
        assert!(accuracy > 0.8, "{dimensions:?}: {accuracy}");
        assert!(infeasibility < 1e-12);
    }
}

#[test]
fn every_optimiser_learns() {
    let (retraction, weight_decay) = (fedspd_manifold::RetractionKind::Polar, 0.0);
    let configs = [
        (OptimiserConfig::RiemannianAdam { adam: fedspd_nn::AdamSettings::default(), retraction }, 1e-2),
        (OptimiserConfig::RiemannianSgd { momentum: 0.9, weight_decay, retraction }, 1e-2),
        (OptimiserConfig::Landing { attraction: 1.0, safe_distance: 0.5, momentum: 0.9, weight_decay }, 1e-2),
    ];
    for (config, rate) in configs {
        let (accuracy, infeasibility) = learn(SpdNetConfig::new(vec![12, 6], 3), config, rate, 40);
        assert!(accuracy > 0.8 && infeasibility < 1e-12, "{config:?}: {accuracy} {infeasibility}");
    }
}

/// The last batch is kept: an epoch over 65 trials takes two steps, and the mean loss counts every
/// trial once.
#[test]
fn the_last_batch_is_kept() {
    let net = SpdNet::<f64>::new(SpdNetConfig::new(vec![4, 2], 2)).unwrap();
    let examples = net.prepare(SyntheticTask::new(4, 2).trials(65).client(Seed(0), 0).unwrap()).unwrap();
    let mut parameters = net.initial(Seed(0)).unwrap();
    let all: Vec<usize> = (0..65).collect();
    let mut trainer = Trainer::new(&net, 64, 1).unwrap();
    let mut optimiser = Optimiser::new(OptimiserConfig::default(), &parameters).unwrap();
    let before = trainer.evaluate(&parameters, &examples, &all).unwrap().loss;
    // With a learning rate of zero the loss of the epoch is the loss of all trials.
    let stream = Seed(0).stream(Purpose::Shuffle);
    let loss = trainer.epoch(&mut parameters, &mut optimiser, 0.0, &examples, &all, stream).unwrap();
    assert!((loss - before).abs() < 1e-14);
    assert!(trainer.epoch(&mut parameters, &mut optimiser, 0.1, &examples, &[], stream).is_err());
}

/// An epoch uses the order from the stream, batches with their offsets for dropout, and one step
/// per batch.
#[test]
fn an_epoch_is_its_steps() {
    let net = SpdNet::<f64>::new(SpdNetConfig::new(vec![6, 4], 2).dropout(0.3)).unwrap();
    let examples = net.prepare(SyntheticTask::new(6, 2).trials(100).client(Seed(0), 0).unwrap()).unwrap();
    let trials: Vec<usize> = (0..100).collect();
    let stream = Seed(4).stream(Purpose::Shuffle).round(1).client(2).epoch(3);
    let start = net.initial(Seed(0)).unwrap();

    let mut whole = start.clone();
    let mut optimiser = Optimiser::new(OptimiserConfig::default(), &whole).unwrap();
    let mut trainer = Trainer::new(&net, 32, 1).unwrap();
    trainer.epoch(&mut whole, &mut optimiser, 1e-2, &examples, &trials, stream).unwrap();

    let mut by_hand = start;
    let mut optimiser = Optimiser::new(OptimiserConfig::default(), &by_hand).unwrap();
    let mut order = trials.clone();
    shuffle(&mut stream.item(0), &mut order);
    assert_ne!(order, trials);
    let (mut workspace, mut gradient) = (net.workspace(1).unwrap(), vec![0.0; by_hand.values().len()]);
    for (index, batch) in order.chunks(32).enumerate() {
        let dropout = Some(Dropout { stream: stream.purpose(Purpose::Dropout), seen: 32 * index as u64 });
        net.loss_and_gradient(&by_hand, &examples, batch, dropout, &mut workspace, &mut gradient).unwrap();
        optimiser.step(&mut by_hand, &gradient, 1e-2).unwrap();
    }
    assert_eq!(whole, by_hand);
}

/// Synthetic data depend on client, strength and shift as documented.
#[test]
fn the_generator_makes_what_it_says() {
    let client = |task: SyntheticTask, client| -> SpdTrials<f64> { task.client(Seed(1), client).unwrap() };
    let task = SyntheticTask::new(6, 3).trials(30);
    let (a, b) = (client(task, 0), client(task, 1));
    assert_ne!(a, b);
    assert_eq!(a, client(task, 0));
    assert_eq!(a.labels()[..6], [0, 1, 2, 0, 1, 2]);
    // The power of a class's directions grows with the strength; at zero the classes do not differ.
    let power = |strength| {
        client(task.strength(strength), 0)
            .matrices()
            .chunks_exact(36)
            .map(|m| (0..6).map(|i| m[i * 7]).sum::<f64>())
            .sum::<f64>()
            / 30.0
    };
    assert!((power(0.0) - 6.0).abs() < 0.3 && power(1.0) > power(0.0) + 1.0, "{} {}", power(0.0), power(1.0));
    let shifted = client(task.shift(1.0), 0);
    assert_ne!(shifted.matrices(), a.matrices());
    for matrix in shifted.matrices().chunks_exact(36) {
        let mut eigen = fedspd_manifold::SymmetricEigen::<f64>::new(6).unwrap();
        let mut values = [0.0; 6];
        eigen.eigenvalues(matrix, &mut values).unwrap();
        assert!(values[0] > 1e-6, "{values:?}");
    }
    assert!(SyntheticTask::new(2, 3).client::<f64>(Seed(0), 0).is_err());
}

/// Weights that explode stop training while they are still finite numbers.
#[test]
fn an_absurd_learning_rate_diverges() {
    let net = SpdNet::<f64>::new(SpdNetConfig::new(vec![8, 4], 3)).unwrap();
    let examples = net.prepare(SyntheticTask::new(8, 3).trials(60).client(Seed(0), 0).unwrap()).unwrap();
    let trials: Vec<usize> = (0..60).collect();
    for rate in [1e12, 1e100, 1e300] {
        let mut parameters = net.initial(Seed(0)).unwrap();
        let mut optimiser = Optimiser::new(OptimiserConfig::default(), &parameters).unwrap();
        let mut trainer = Trainer::new(&net, 16, 1).unwrap();
        let stream = Seed(0).stream(Purpose::Shuffle);
        let result = trainer.epoch(&mut parameters, &mut optimiser, rate, &examples, &trials, stream);
        assert!(matches!(result, Err(fedspd_nn::Error::Diverged { .. })), "{rate}: {result:?}");
    }
}
