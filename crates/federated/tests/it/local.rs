//! Local training of clients.

use fedspd_federated::{LocalEpochs, LocalWork, MethodConfig, ServerConfig};
use fedspd_manifold::{RetractionKind, Stiefel};
use fedspd_nn::schedule::{Mode, Schedule, ScheduleConfig};
use fedspd_nn::{
    AdamSettings, Model, Optimiser, OptimiserConfig, Purpose, Seed, SpdNetConfig, SyntheticTask, Trainer,
};

use crate::support::{Clients, adam, fast, gap};

/// A federation of one client is centralised training, bit for bit. The client trains one epoch a
/// round with carried moments, and the schedule takes one step per epoch.
#[test]
fn one_client_is_centralised_training() {
    let clients =
        Clients::new(SyntheticTask::new(6, 3).trials(60).strength(0.2), SpdNetConfig::new(vec![6, 4], 3), 1);
    let schedule = ScheduleConfig::Plateau { mode: Mode::Min, factor: 0.5, patience: 1 };
    let config = ServerConfig { work: LocalWork::same(1), schedule, ..fast() };
    let mut federation = clients.federation(config, LocalEpochs { carry_state: true, ..adam() });
    let mut workers = clients.workers(1);

    let shard = &clients.shards[0];
    let mut trainer = Trainer::new(&clients.net, 16, 1).unwrap();
    let mut parameters = clients.net.initial(Seed(0)).unwrap();
    // Batches of 16: the base of the trivialisation moves after each epoch.
    let steps = shard.train.len().div_ceil(16) as u64;
    let (adam, retraction) = (AdamSettings::default(), RetractionKind::Polar);
    let config = OptimiserConfig::Adam { adam, retraction, rebase_every: Some(steps) };
    let mut optimiser = Optimiser::new(config, &parameters).unwrap();
    let mut schedule = Schedule::new(schedule, 1e-2).unwrap();
    let mut rates = std::collections::BTreeSet::new();
    for round in 0..60 {
        let found = federation.round(&mut workers, true).unwrap();
        let stream = Seed(0).stream(Purpose::Shuffle).round(round);
        rates.insert(schedule.learning_rate().to_bits());
        let rate = schedule.learning_rate();
        let loss = trainer
            .epoch(&mut parameters, &mut optimiser, rate, &clients.examples, &shard.train, stream)
            .unwrap();
        let validation = trainer.evaluate(&parameters, &clients.examples, &shard.validation).unwrap().loss;
        schedule.step(validation);
        assert_eq!(found.report.train_loss, Some(loss));
        assert_eq!((found.report.learning_rate, found.validation_loss), (rate, validation));
        assert_eq!(federation.server().parameters(), &parameters, "round {round}");
    }
    assert!(rates.len() > 1, "the schedule was tried too");
}

/// One full-batch gradient step of each client is one gradient step on their mean loss, up to the
/// square of the rate.
#[test]
fn a_small_step_of_all_is_a_step_on_the_mean_loss() {
    let clients = Clients::small();
    let descent = OptimiserConfig::RiemannianSgd {
        momentum: 0.0,
        weight_decay: 0.0,
        retraction: RetractionKind::Polar,
    };
    let start = clients.net.initial(Seed(0)).unwrap();
    let mut mean = vec![0.0; start.values().len()];
    let (mut workspace, mut gradient) = (clients.net.workspace(1).unwrap(), mean.clone());
    for shard in &clients.shards {
        clients
            .net
            .loss_and_gradient(&start, &clients.examples, &shard.train, None, &mut workspace, &mut gradient)
            .unwrap();
        mean.iter_mut().zip(&gradient).for_each(|(mean, g)| *mean += g / 4.0);
    }
    let gaps: Vec<f64> = [1e-2, 5e-3, 2.5e-3]
        .into_iter()
        .map(|learning_rate| {
            let config = ServerConfig { learning_rate, work: LocalWork::same(1), ..fast() };
            let mut federation = clients.federation(config, LocalEpochs::new(descent));
            let mut workers = vec![fedspd_federated::Worker::new(&clients.net, 1000, 1).unwrap()];
            federation.round(&mut workers, true).unwrap();
            let mut expected = start.clone();
            Optimiser::new(descent, &start).unwrap().step(&mut expected, &mean, learning_rate).unwrap();
            gap(federation.server().parameters().values(), expected.values())
        })
        .collect();
    for pair in gaps.windows(2) {
        // On the manifold the second order cancels too, because the average is accurate to that
        // order.
        assert!(pair[0] / pair[1] > 3.9, "{gaps:?}");
    }
}

/// Without the proximal term the method is `fedavg`, bit for bit. A larger `mu` keeps the weights
/// closer to the start. The term points to the start.
#[test]
fn a_proximal_term_pulls_to_the_start() {
    let clients = Clients::small();
    let work = LocalWork::same(5);
    let by = |config: ServerConfig, local, mu, rounds: u32| {
        let method = if mu > 0.0 { MethodConfig::FedProx { mu } } else { MethodConfig::FedAvg };
        let method = method.build(local, &config, &clients.scopes()).unwrap();
        let mut federation = clients.federation_by(config, method);
        let mut workers = clients.workers(1);
        (0..rounds).for_each(|_| drop(federation.round(&mut workers, true).unwrap()));
        federation.server().parameters().values().to_vec()
    };
    let after = |mu| by(ServerConfig { work: work.clone(), ..fast() }, adam(), mu, 2);
    assert_eq!(after(0.0), clients.train(ServerConfig { work: work.clone(), ..fast() }, adam(), 2, 1));
    let start = clients.net.initial(Seed(0)).unwrap();
    let moved: Vec<f64> = [0.0, 1.0, 30.0].into_iter().map(|mu| gap(&after(mu), start.values())).collect();
    assert!(moved[0] > moved[1] && moved[1] > moved[2], "{moved:?}");

    // With plain descent and a huge `mu` the weights end close to the start. A huge `mu` stands for
    // a zero learning rate on the data, which is not possible.
    let descent = OptimiserConfig::RiemannianSgd {
        momentum: 0.0,
        weight_decay: 0.0,
        retraction: RetractionKind::Polar,
    };
    let local = LocalEpochs::new(descent);
    let config = |learning_rate| ServerConfig { learning_rate, work: work.clone(), ..fast() };
    let free = gap(&by(config(1e-3), local, 0.0, 1), start.values());
    let held = gap(&by(config(1e-3), local, 500.0, 1), start.values());
    assert!(held < 0.15 * free, "{held} {free}");

    // The descent direction -P_W(mu (W - W_t)) = mu P_W(W_t) leads towards W_t.
    let mut stiefel = Stiefel::<f64>::new(6, 4).unwrap();
    let here = clients.net.initial(Seed(1)).unwrap();
    let (w, target) = (here.get("block0.weight").unwrap(), start.get("block0.weight").unwrap());
    let difference: Vec<f64> = w.iter().zip(target).map(|(w, t)| w - t).collect();
    let (mut riemannian, mut towards) = (vec![0.0; 24], vec![0.0; 24]);
    stiefel.project(w, &difference, &mut riemannian).unwrap();
    stiefel.project(w, target, &mut towards).unwrap();
    let along: f64 = riemannian.iter().zip(&towards).map(|(g, t)| -g * t).sum();
    assert!(along > 0.0 && gap(&riemannian.iter().map(|g| -g).collect::<Vec<_>>(), &towards) < 1e-14);
}

/// A client may train more epochs than the others.
#[test]
fn epochs_may_differ_between_clients() {
    let clients = Clients::small();
    let mut work = LocalWork::same(1);
    let same = clients.train(ServerConfig { work: work.clone(), ..fast() }, adam(), 1, 1);
    work.exceptions.insert("client 3".into(), 4);
    let differ = clients.train(ServerConfig { work, ..fast() }, adam(), 1, 1);
    assert_ne!(same, differ);
    let all = clients.train(ServerConfig { work: LocalWork::same(4), ..fast() }, adam(), 1, 1);
    assert_ne!(all, differ);
}

/// With every optimiser the weights return to the manifold, the loss falls, and the number of
/// threads does not matter. Carried moments change the result, and a stored state restores them.
#[test]
fn every_optimiser_trains_a_federation() {
    let clients = Clients::small();
    let (adam, retraction) = (AdamSettings::default(), RetractionKind::Polar);
    for optimiser in [
        OptimiserConfig::RiemannianAdam { adam, retraction },
        OptimiserConfig::RiemannianSgd { momentum: 0.9, weight_decay: 0.0, retraction },
        OptimiserConfig::Landing { attraction: 1.0, safe_distance: 0.5, momentum: 0.9, weight_decay: 0.0 },
    ] {
        let mut ends = Vec::new();
        for carry_state in [false, true] {
            let solver = LocalEpochs { carry_state, ..LocalEpochs::new(optimiser) };
            let mut federation = clients.federation(fast(), solver);
            let mut workers = clients.workers(2);
            let first = federation.round(&mut workers, true).unwrap().validation_loss;
            for _ in 0..20 {
                federation.round(&mut workers, true).unwrap();
            }
            let (server, states) = federation.state();
            let last = federation.round(&mut workers, true).unwrap().validation_loss;
            assert!(last < 0.9 * first, "{optimiser:?}: {first} {last}");
            let parameters = federation.server().parameters();
            assert!(parameters.feasibility_error().unwrap() < 1e-12, "{optimiser:?}");
            assert_eq!(parameters.values(), clients.train(fast(), solver, 22, 1), "{optimiser:?}");
            let mut resumed = clients.federation(fast(), solver);
            resumed.restore(&server, &states).unwrap();
            resumed.round(&mut workers, true).unwrap();
            assert_eq!(resumed.state(), federation.state());
            ends.push(parameters.values().to_vec());
        }
        assert_ne!(ends[0], ends[1], "{optimiser:?}");
    }
}
