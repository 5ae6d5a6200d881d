//! The effect of each aggregation on a federation.

use fedspd_federated::{Aggregation, Error, LocalEpochs, Member, OnFailure, Server, ServerConfig, Weighting};
use fedspd_manifold::average::ret_avg;
use fedspd_manifold::{Matrix, Real, Retraction, RetractionKind, Stiefel};
use fedspd_nn::{Examples, Model, ParamSet, Seed, SpdNet, SpdTrials};

use crate::support::{Clients, adam, fast, fedavg, gap};

/// Local epochs that start on the manifold, even if the average has left it.
fn solver(aggregation: Aggregation) -> LocalEpochs {
    LocalEpochs { land_first: aggregation == Aggregation::Euclidean, ..adam() }
}

/// The distance of the weights from the manifold after 150 rounds.
fn distance<T: Real>(clients: &Clients<T>, aggregation: Aggregation) -> f64
where
    SpdNet<T>: Model<T, Trials = SpdTrials<T>, Examples = Examples<T>>,
{
    let config = ServerConfig { aggregation, ..fast() };
    let values = clients.train(config, solver(aggregation), 150, 2);
    ParamSet::new(clients.net.layout().clone(), values).unwrap().feasibility_error().unwrap()
}

/// After 150 rounds the weights are on the manifold with every average except the plain mean, which
/// leaves it measurably.
#[test]
fn only_the_plain_mean_leaves_the_manifold() {
    let (double, single) = (Clients::small(), Clients::<f32>::of_small_task());
    for aggregation in Aggregation::ALL {
        let distances = (distance(&double, aggregation), distance(&single, aggregation));
        if aggregation == Aggregation::Euclidean {
            assert!(distances.0 > 1e-4 && distances.1 > 1e-4, "{distances:?}");
        } else {
            assert!(distances.0 < 1e-12 && distances.1 < 1e-5, "{aggregation:?}: {distances:?}");
        }
    }
}

/// The running sum gives the same average as all replies at once. The server refuses a reply that
/// is too far away when it comes.
#[test]
fn ret_avg_is_its_formula() {
    let clients = Clients::small();
    let config = ServerConfig {
        aggregation: Aggregation::RetAvg,
        weighting: Weighting::ByTrials,
        on_client_failure: OnFailure::Skip,
        ..fast()
    };
    let members = clients.members().into_iter().enumerate();
    let members: Vec<_> =
        members.map(|(client, member)| Member { trials: 3 + 2 * client, ..member }).collect();
    let server = || {
        let (method, initial) =
            (fedavg(&config, &clients.scopes()).server, clients.net.initial(Seed(0)).unwrap());
        Server::new(config.clone(), members.clone(), initial, method, Seed(0)).unwrap()
    };
    let mut server = server();
    let start = server.parameters().get("block0.weight").unwrap().to_vec();
    let mut federation = clients.federation(fast(), adam());
    let mut workers = clients.workers(1);
    let (mut points, mut weights, mut sent) = (Vec::new(), Vec::new(), Vec::new());
    for client in 0..4 {
        federation.round(&mut workers, true).unwrap();
        let parameters = federation.server().parameters();
        points.push(Matrix::from_rows(6, 4, parameters.get("block0.weight").unwrap().to_vec()).unwrap());
        weights.push((3 + 2 * client) as f64);
        sent.push(server.scopes().message(parameters));
        server.submit(client, Ok(sent[client].clone())).unwrap();
    }
    server.close().unwrap();
    let base = Matrix::from_rows(6, 4, start.clone()).unwrap();
    let expected = ret_avg(RetractionKind::Polar, &base, &points, Some(&weights)).unwrap();
    let found = server.parameters().get("block0.weight").unwrap();
    assert!(gap(found, expected.point.as_slice()) < 1e-14);
    // The next round begins with empty sums: one reply is the average, bit for bit.
    server.advance(1.0).unwrap();
    server.submit(2, Ok(sent[0].clone())).unwrap();
    server.close().unwrap();
    assert_eq!(server.parameters().get("block0.weight").unwrap(), points[0].as_slice());

    let mut server = clients.server(config);
    let mut opposite = server.parameters().clone();
    opposite.values_mut()[..24].iter_mut().for_each(|w| *w = -*w);
    let reply = server.scopes().message(&opposite);
    let refused = server.submit(0, Ok(reply)).unwrap_err();
    assert!(matches!(refused, Error::Average { .. }), "{refused}");
}

/// The averages are close to each other if the clients are. The layer report measures how close.
#[test]
fn a_round_is_diagnosed() {
    let clients = Clients::small();
    let after = |aggregation| {
        let mut federation = clients.federation(ServerConfig { aggregation, ..fast() }, adam());
        let round = federation.round(&mut clients.workers(1), true).unwrap();
        (federation.server().parameters().get("block0.weight").unwrap().to_vec(), round.report)
    };
    let (proj, report) = after(Aggregation::ProjAvg);
    let (rl, _) = after(Aggregation::RlAvg);
    let layer = &report.layers[0];
    assert_eq!((report.layers.len(), &*layer.name), (1, "block0.weight"));
    let (drift_mean, drift_max) = (layer.drift_mean, layer.drift_max);
    assert!((layer.proj_rl_distance - gap(&proj, &rl)).abs() < 1e-15);
    assert!(gap(&proj, &rl) > 1e-10 && gap(&proj, &rl) < drift_max.powi(3));
    assert!(drift_mean > 0.0 && drift_mean <= drift_max);
    assert!(layer.consensus < 1.0 && layer.consensus > 1.0 - drift_max);
    assert!(!report.fallback);
    assert_eq!((report.bytes_up, report.bytes_down), (4 * 75 * 8, 4 * 75 * 8));
    for aggregation in [Aggregation::RetAvg, Aggregation::QrAvg, Aggregation::Karcher, Aggregation::Euclidean]
    {
        assert!(gap(&after(aggregation).0, &proj) < drift_max.powi(2), "{aggregation:?}");
    }
}

/// The aggregation changes neither the clients asked, nor the order of trials, nor the start of the
/// first round.
#[test]
fn the_aggregation_changes_nothing_else() {
    let clients = Clients::small();
    let first = |aggregation| {
        let config = ServerConfig { aggregation, participation: 0.5, ..fast() };
        let mut federation = clients.federation(config, solver(aggregation));
        let mut workers = clients.workers(1);
        let mut asked = Vec::new();
        let reports: Vec<_> = (0..5)
            .map(|_| {
                let report = federation.round(&mut workers, true).unwrap().report;
                asked.push(report.participants.clone());
                report
            })
            .collect();
        (asked, reports[0].train_loss.unwrap().to_bits(), reports[0].layers[0].drift_max.to_bits())
    };
    let expected = first(Aggregation::ProjAvg);
    assert!(expected.0.iter().any(|asked| *asked != expected.0[0]));
    for aggregation in Aggregation::ALL {
        assert_eq!(first(aggregation), expected);
    }
}

/// `m <- b P_W(m) + P_W(A)`, `W <- uf(W + rate m)`, by hand.
#[test]
fn momentum_is_its_formula() {
    let clients = Clients::small();
    let (momentum, rate) = (0.7, 0.5);
    let config = ServerConfig {
        aggregation: Aggregation::RlAvg,
        server_momentum: momentum,
        server_lr: rate,
        ..fast()
    };
    let mut server = clients.server(config);
    let mut federation = clients.federation(fast(), adam());
    let mut workers = clients.workers(1);
    let (mut w, mut b) = (
        server.parameters().get("block0.weight").unwrap().to_vec(),
        server.parameters().get("head.bias").unwrap().to_vec(),
    );
    let (mut m, mut v) = (vec![0.0; 24], vec![0.0; 3]);
    let mut stiefel = Stiefel::<f64>::new(6, 4).unwrap();
    for _ in 0..3 {
        federation.round(&mut workers, true).unwrap();
        let target = federation.server().parameters();
        for client in 0..4 {
            let reply = server.scopes().message(target);
            server.submit(client, Ok(reply)).unwrap();
        }
        server.close().unwrap();
        server.advance(0.0).unwrap();
        let (mut carried, mut lifted) = (vec![0.0; 24], vec![0.0; 24]);
        stiefel.project(&w, &m, &mut carried).unwrap();
        stiefel.project(&w, target.get("block0.weight").unwrap(), &mut lifted).unwrap();
        m = carried.iter().zip(&lifted).map(|(m, x)| momentum * m + x).collect();
        let step: Vec<f64> = m.iter().map(|m| rate * m).collect();
        let start = w.clone();
        Retraction::new(RetractionKind::Polar, 6, 4).unwrap().retract(&start, &step, &mut w).unwrap();
        for ((b, v), t) in b.iter_mut().zip(&mut v).zip(target.get("head.bias").unwrap()) {
            *v = momentum * *v + (t - *b);
            *b += rate * *v;
        }
        assert!(gap(server.parameters().get("block0.weight").unwrap(), &w) < 1e-14);
        assert!(gap(server.parameters().get("head.bias").unwrap(), &b) < 1e-14);
    }
}
