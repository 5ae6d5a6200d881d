//! Clients that fail, and replies that cannot be averaged.

use fedspd_federated::{
    Aggregation, Error, Fault, Message, MethodConfig, Numbers, OnFailure, Part, Server, ServerConfig,
};
use fedspd_nn::OptimiserConfig;

use crate::support::{Clients, adam, fast, fedavg, gap};

/// The parameters of the server as a reply, with changed parts.
#[allow(clippy::unnecessary_wraps)] // the type that the server takes
fn reply(server: &Server<f64>, change: impl FnOnce(&mut Vec<Part>)) -> Result<Message, String> {
    let mut parts = crate::support::reply(server.scopes(), server.parameters(), 1.0).into_parts();
    change(&mut parts);
    Ok(Message::new(parts))
}

/// The numbers of the part with that name.
fn of<'a>(parts: &'a mut [Part], name: &str) -> &'a mut Vec<f64> {
    match &mut parts.iter_mut().find(|part| part.name == name).unwrap().numbers {
        Numbers::F64(values) => values,
        other => panic!("{other:?}"),
    }
}

/// The Stiefel weights.
fn weights(parts: &mut [Part]) -> &mut Vec<f64> {
    of(parts, "block0.weight")
}

type Change = fn(&mut Vec<Part>);

#[test]
fn bad_replies_stop_the_run_or_are_counted() {
    let clients = Clients::small();
    let cases: [(Change, &str); 12] = [
        (|m| weights(m)[3] = f64::NAN, "it sent NaN in `block0.weight`"),
        (|m| of(m, "head.bias")[2] = f64::INFINITY, "it sent inf in `head.bias`"),
        (|m| weights(m)[0] += 1e-3, "it sent weights off the Stiefel manifold: |W^T W - I| = "),
        (
            |m| weights(m)[0] = 1e200,
            "it sent weights off the Stiefel manifold: |W^T W - I| = inf in `block0.weight` (limit 1e-8)",
        ),
        (|m| drop(m.remove(0)), "it sent no `block0.weight`"),
        (|m| m[0].name = "block1.weight".into(), "it sent `block1.weight`, which is not part of the message"),
        (|m| m.push(m[0].clone()), "it sent `block0.weight` twice"),
        (
            |m| m.push(Part::real("control", &[], &[1.0])),
            "it sent `control`, which is not part of the message",
        ),
        (
            |m| m[0].shape = vec![4, 6],
            "it sent `block0.weight` with shape [4, 6] and type f64 where shape [6, 4] and type f64 were expected",
        ),
        (|m| weights(m).truncate(5), "it sent `block0.weight` with 5 numbers where 24 were expected"),
        (
            |m| m[0] = Part::real("block0.weight", &[6, 4], &[0.0_f32; 24]),
            "it sent `block0.weight` with shape [6, 4] and type f32 where shape [6, 4] and type f64 were expected",
        ),
        (
            |m| m[0] = Part::ring("block0.weight", &[6, 4], vec![0; 24]),
            "it sent `block0.weight` with shape [6, 4] and type u64 where shape [6, 4] and type f64 were expected",
        ),
    ];
    for (change, expected) in cases {
        let mut server = clients.server(fast());
        let bad = reply(&server, change);
        server.submit(0, reply(&server, |_| {})).unwrap();
        // Client 4 fails too, but the error names client 2, because it comes first.
        server.submit(3, Err("it lost its disk".into())).unwrap();
        server.submit(1, bad.clone()).unwrap_err();

        let mut server = clients.server(ServerConfig { on_client_failure: OnFailure::Skip, ..fast() });
        server.submit(1, bad).unwrap();
        server.submit(3, Err("it lost its disk".into())).unwrap();
        server.submit(0, reply(&server, |_| {})).unwrap();
        let before = server.parameters().clone();
        let report = server.close().unwrap().unwrap();
        let dropped: Vec<(&str, &str)> = report.dropped.iter().map(|d| (&*d.name, &*d.reason)).collect();
        assert_eq!(dropped[1..], [("client 3", "it did not reply"), ("client 4", "it lost its disk")]);
        assert!(dropped[0].0 == "client 2" && dropped[0].1.starts_with(expected), "{:?}", dropped[0]);
        // One reply counts: the mean is that reply, which equals the parameters sent.
        assert_eq!(server.parameters(), &before);
        assert!(!report.is_empty());
    }
}

/// Single precision has a larger limit, because its rounding exceeds the limit of double precision.
#[test]
fn the_limit_is_that_of_the_precision() {
    let clients = Clients::<f32>::of_small_task();
    let submit = |change: f32| {
        let mut server = clients.server(fast());
        // Longer columns: |W^T W - I| is about 2 change sqrt(4).
        let mut parameters = server.parameters().clone();
        parameters.values_mut()[..24].iter_mut().for_each(|w| *w *= 1.0 + change);
        let reply = server.scopes().message(&parameters);
        server.submit(0, Ok(reply))
    };
    submit(1e-5).unwrap();
    let refused = submit(1e-4).unwrap_err().to_string();
    assert!(refused.contains("|W^T W - I| = 4.0e-4") && refused.contains("(limit 1e-4)"), "{refused}");
}

#[test]
fn the_first_failure_in_the_order_of_clients_is_named() {
    let clients = Clients::small();
    let mut server = clients.server(fast());
    server.submit(2, Err("late".into())).unwrap();
    server.submit(0, reply(&server, |_| {})).unwrap();
    let error = server.submit(1, reply(&server, |m| weights(m)[0] += 1e-3)).unwrap_err();
    assert!(error.to_string().starts_with("client 2 failed in round 1: it sent weights off"), "{error}");
    assert!(matches!(&error, Error::Client { fault: Some(Fault::OffManifold { .. }), .. }));
    assert!(error.hint().unwrap().contains("on_client_failure"));
    let mut server = clients.server(fast());
    let error = server.close().unwrap_err();
    assert_eq!(error.to_string(), "client 1 failed in round 1: it did not reply");
}

#[test]
fn a_round_without_replies_keeps_the_model() {
    let clients = Clients::small();
    let mut server = clients.server(ServerConfig { on_client_failure: OnFailure::Skip, ..fast() });
    let before = server.parameters().clone();
    let report = server.close().unwrap().unwrap();
    assert!(report.is_empty() && report.layers.is_empty() && report.train_loss.is_none());
    assert_eq!((report.dropped.len(), report.bytes_up), (4, 0));
    assert_eq!(report.bytes_down, 4 * 75 * 8);
    assert_eq!(server.parameters(), &before);
    server.advance(f64::NAN).unwrap();
    assert_eq!(server.plan().unwrap().exchange.round, 1);
}

/// With too few replies the round stays open. The error names every client that does not count.
#[test]
fn a_round_needs_its_quorum() {
    let clients = Clients::small();
    let config = ServerConfig { on_client_failure: OnFailure::Skip, quorum: 3, ..fast() };
    let mut server = clients.server(config.clone());
    server.submit(0, reply(&server, |_| {})).unwrap();
    server.submit(1, reply(&server, |_| {})).unwrap();
    server.submit(3, Err("its disk is full".into())).unwrap();
    let before = server.state();
    let error = server.close().unwrap_err();
    let said =
        "round 1: 2 of 4 replies accepted, 3 needed; client 3: it did not reply; client 4: its disk is full";
    assert_eq!(error.to_string(), said);
    assert!(error.hint().unwrap().contains("quorum"));
    assert_eq!(server.state(), before);
    let mut server = clients.server(config);
    for client in [0, 1, 3] {
        server.submit(client, reply(&server, |_| {})).unwrap();
    }
    assert_eq!(server.close().unwrap().unwrap().dropped.len(), 1);
}

/// `W` and `-W` cancel: there is no polar factor, and `rl-avg` returns to `W`.
#[test]
fn a_mean_without_rank_falls_back_to_the_liftings() {
    let clients = Clients::small();
    for aggregation in [Aggregation::ProjAvg, Aggregation::QrAvg] {
        let mut server = clients.server(ServerConfig { aggregation, ..fast() });
        let before = server.parameters().clone();
        for client in 0..4 {
            let sign = if client % 2 == 0 { 1.0 } else { -1.0 };
            server
                .submit(client, reply(&server, |m| weights(m).iter_mut().for_each(|w| *w *= sign)))
                .unwrap();
        }
        let report = server.close().unwrap().unwrap();
        let layer = &report.layers[0];
        assert!(report.fallback && layer.proj_rl_distance.is_nan() && layer.consensus < 1e-12);
        let weights =
            |parameters: &fedspd_nn::ParamSet<f64>| parameters.get("block0.weight").unwrap().to_vec();
        assert!(gap(&weights(server.parameters()), &weights(&before)) < 1e-14);
    }
}

/// The error names the first client that diverges. Skipped clients keep their state.
#[test]
fn a_client_that_diverges_is_named() {
    let clients = Clients::small();
    let solver = fedspd_federated::LocalEpochs::new(OptimiserConfig::RiemannianSgd {
        momentum: 0.0,
        weight_decay: 0.0,
        retraction: fedspd_manifold::RetractionKind::Polar,
    });
    let config = ServerConfig { learning_rate: 1e300, ..fast() };
    let error = clients.federation(config.clone(), solver).round(&mut clients.workers(2), true).unwrap_err();
    assert!(error.to_string().starts_with("client 1 failed in round 1: training diverged"), "{error}");
    let config = ServerConfig { on_client_failure: OnFailure::Skip, ..config };
    let mut federation = clients.federation(config, solver);
    let before = federation.state();
    let round = federation.round(&mut clients.workers(2), true).unwrap();
    assert!(round.report.is_empty());
    assert_eq!(federation.state().0.parameters, before.0.parameters);
    assert_eq!(federation.state().1, before.1);
}

#[test]
fn settings_out_of_range_are_named() {
    let clients = Clients::small();
    let new = |config: ServerConfig| {
        let parameters = fedspd_nn::Model::initial(&clients.net, fedspd_nn::Seed(0)).unwrap();
        let method = match MethodConfig::FedAvg.build(adam(), &config, &clients.scopes()) {
            Ok(method) => method.server,
            Err(error) => return error.to_string(),
        };
        let server = Server::<f64>::new(config, clients.members(), parameters, method, fedspd_nn::Seed(0));
        server.err().unwrap().to_string()
    };
    let cases = [
        (
            ServerConfig { participation: 0.0, ..fast() },
            "`participation` is 0.0; it must be above 0, at most 1",
        ),
        (
            ServerConfig { participation: 1.5, ..fast() },
            "`participation` is 1.5; it must be above 0, at most 1",
        ),
        (
            ServerConfig { server_momentum: 1.0, ..fast() },
            "`server_momentum` is 1.0; it must be at least 0 and less than 1",
        ),
        (
            ServerConfig { server_momentum: 0.5, ..fast() },
            "`server_momentum` is 0.5; it must be 0 and `server_lr` 1 with proj-avg; only rl-avg supports other values",
        ),
        (ServerConfig { server_lr: -1.0, ..fast() }, "`server_lr` is -1.0; it must be positive and finite"),
        (
            ServerConfig { learning_rate: 0.0, ..fast() },
            "`learning_rate` is 0.0; it must be positive and finite",
        ),
        (
            ServerConfig { participation: 0.5, quorum: 3, ..fast() },
            "`quorum` is 3; it must be at most 2, the number of clients in a round",
        ),
    ];
    for (config, expected) in cases {
        assert_eq!(new(config), expected);
    }
    let mut config = fast();
    config.work.exceptions.insert("nobody".into(), 3);
    let message = "`epochs_local` is \"nobody\"; it must be a known client, such as client 1, client 2, client 3, client 4";
    assert_eq!(new(config), message);
    let nobody = Server::<f64>::new(
        fast(),
        vec![],
        fedspd_nn::Model::initial(&clients.net, fedspd_nn::Seed(0)).unwrap(),
        fedavg(&fast(), &clients.scopes()).server,
        fedspd_nn::Seed(0),
    );
    assert_eq!(nobody.err().unwrap().to_string(), "`clients` is 0; it must be at least 1");
    let mut workers = clients.workers(1);
    let mut federation = clients.federation(fast(), adam());
    assert!(federation.check(&mut workers).unwrap().is_empty());
}
