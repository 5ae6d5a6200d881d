//! Custom methods: one with more parts, and one with several exchanges.

use fedspd_federated::{Error, Federation, Message, Method, OnFailure, Part, Server, ServerConfig};
use fedspd_nn::{Model, Seed, SpdNet};

use crate::support::{Clients, adam, fast};
use crate::toys::{control, two_exchanges};

type Running<'a> = Federation<'a, f64, SpdNet<f64>>;

/// Checks that an uninterrupted run and one resumed in every round give the same bytes, on any
/// number of threads.
fn same_when_resumed<'a>(clients: &'a Clients, new: impl Fn() -> Running<'a>, rounds: u32) {
    let mut straight = new();
    let mut stored = straight.state();
    for round in 0..rounds {
        straight.round(&mut clients.workers(1), true).unwrap();
        let mut resumed = new();
        resumed.restore(&stored.0, &stored.1).unwrap();
        resumed.round(&mut clients.workers(3), true).unwrap();
        stored = resumed.state();
        assert_eq!(stored, straight.state(), "round {round}");
    }
}

fn server(clients: &Clients, config: ServerConfig, method: Method<f64>) -> Server<f64> {
    let initial = clients.net.initial(Seed(0)).unwrap();
    Server::new(config, clients.members(), initial, method.server, Seed(0)).unwrap()
}

#[test]
fn control_variates_travel_both_ways() {
    let clients = Clients::small();
    let new = || clients.federation_by(fast(), control(adam(), &clients.scopes()));
    let mut federation = new();
    let mut common = 0.0;
    for round in 0..3 {
        let report = federation.round(&mut clients.workers(2), true).unwrap().report;
        // All clients have the same variate, so the common one equals theirs.
        common += f64::from(round) + 1.0;
        assert_eq!(report.metrics["control"], common);
        assert_eq!((report.bytes_up, report.bytes_down), (4 * 76 * 8, 4 * 76 * 8));
    }
    assert_eq!(federation.server().parameters().values(), clients.train(fast(), adam(), 3, 1));
    assert!(federation.state().1.iter().all(|state| state.memory == [common]));
    same_when_resumed(&clients, new, 4);
}

#[test]
fn a_round_of_two_exchanges_is_one_round() {
    let clients = Clients::small();
    let config = ServerConfig { participation: 0.5, ..fast() };
    let new = || clients.federation_by(config.clone(), two_exchanges(adam(), &clients.scopes()));
    let mut federation = new();
    let plain: Vec<_> = {
        let mut plain = clients.federation(config.clone(), adam());
        let mut workers = clients.workers(1);
        (0..3).map(|_| plain.round(&mut workers, true).unwrap().report).collect()
    };
    for (round, plain) in (0..3).zip(plain) {
        let report = federation.round(&mut clients.workers(2), true).unwrap().report;
        assert_eq!((report.round, &report.participants), (round, &plain.participants));
        assert_eq!((report.bytes_up, report.bytes_down), (2 * (75 + 1) * 8, 2 * (75 + 76) * 8));
        assert!(report.train_loss.is_some() && report.layers.len() == 1);
        assert_eq!(federation.server().plan().unwrap().exchange.number, 0);
    }
    same_when_resumed(&clients, new, 4);
}

/// A client fails if a part is missing or unknown. The error names the client.
#[test]
fn wrong_parts_are_refused_with_the_name_of_the_client() {
    let clients = Clients::small();
    let method = || control(adam(), &clients.scopes());
    let mut new = server(&clients, fast(), method());
    let complete = |server: &Server<f64>| {
        let mut reply = server.scopes().message(server.parameters());
        reply.push(Part::real("control.change", &[1], &[1.0]));
        reply
    };
    let sound = complete(&new);
    new.submit(0, Ok(sound.clone())).unwrap();
    let renamed = |name: &str| {
        let mut parts = sound.clone().into_parts();
        parts.last_mut().unwrap().name = name.into();
        Message::new(parts)
    };
    let dropped = {
        let mut parts = sound.clone().into_parts();
        parts.pop();
        Message::new(parts)
    };
    for (reply, said) in [
        (dropped, "it sent no `control.change`"),
        (renamed("change"), "it sent `change`, which is not part of the message"),
    ] {
        let mut server = server(&clients, fast(), method());
        server.submit(0, Ok(sound.clone())).unwrap();
        let error = server.submit(1, Ok(reply)).unwrap_err();
        assert_eq!(error.to_string(), format!("client 2 failed in round 1: {said}"));
    }
}

/// A client that fails in one exchange is not asked in the next. An exchange without replies undoes
/// its round.
#[test]
fn a_failure_lasts_for_the_round() {
    let clients = Clients::small();
    let skip = ServerConfig { on_client_failure: OnFailure::Skip, ..fast() };
    let mut server = server(&clients, skip, two_exchanges(adam(), &clients.scopes()));
    let begun = server.state();
    let size = || Message::new(vec![Part::ring("size", &[1], vec![7])]);
    server.submit(0, Ok(size())).unwrap();
    server.submit(2, Ok(size())).unwrap();
    assert!(server.close().unwrap().is_none());
    let plan = server.plan().unwrap();
    assert_eq!((plan.clients, plan.exchange.number), (&[0, 2][..], 1));
    let named: Vec<&str> = server.dropped().iter().map(|dropped| &*dropped.name).collect();
    assert_eq!(named, ["client 2", "client 4"]);
    let late = server.submit(1, Ok(size())).unwrap_err().to_string();
    assert_eq!(late, "unexpected reply from client 2 in round 1: it was not asked to take part");
    assert!(matches!(server.restore(&begun), Err(Error::Order { .. })));
    let report = server.close().unwrap().unwrap();
    assert!(report.is_empty() && report.dropped.len() == 4 && report.layers.is_empty());
    server.advance(1.0).unwrap();
    assert_eq!(server.state().parameters, begun.parameters);
    let next = server.plan().unwrap();
    assert_eq!((next.exchange.round, next.exchange.number, next.clients), (1, 0, &[0, 1, 2, 3][..]));
}
