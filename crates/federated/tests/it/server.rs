//! Direct calls of the server.

use fedspd_federated::{Aggregation, Error, Member, Message, Server, ServerConfig, Weighting};
use fedspd_nn::{Model, Purpose, Seed, shuffle};

use crate::support::{Clients, adam, fast, fedavg, gap, reply};

/// Replies of four clients with different parameters.
fn replies(clients: &Clients) -> Vec<Message> {
    let mut federation = clients.federation(fast(), adam());
    let mut workers = clients.workers(1);
    (0..4)
        .map(|client| {
            federation.round(&mut workers, true).unwrap();
            reply(&clients.scopes(), federation.server().parameters(), f64::from(client))
        })
        .collect()
}

#[test]
fn the_order_of_replies_does_not_matter() {
    let clients = Clients::small();
    let replies = replies(&clients);
    for aggregation in Aggregation::ALL {
        for weighting in [Weighting::Uniform, Weighting::ByTrials] {
            let run = |item: u64| {
                let mut server = clients.server(ServerConfig { aggregation, weighting, ..fast() });
                for round in 0..3 {
                    assert_eq!(server.plan().unwrap().exchange.round, round);
                    let mut order = server.plan().unwrap().clients.to_vec();
                    if item > 0 {
                        let stream = Seed(1).stream(Purpose::Shuffle).round(round);
                        shuffle(&mut stream.item(item), &mut order);
                    }
                    for client in order {
                        server.submit(client, Ok(replies[client].clone())).unwrap();
                    }
                    let report = server.close().unwrap().unwrap();
                    assert_eq!(report.train_loss, Some(1.5));
                    server.advance(1.0).unwrap();
                }
                server.state()
            };
            for item in 1..6 {
                assert_eq!(run(0), run(item), "{aggregation:?}");
            }
        }
    }
}

/// Weighted by trials, a client with twice the trials counts twice.
#[test]
fn weights_are_uniform_or_by_trials() {
    let clients = Clients::small();
    let all = replies(&clients);
    let mean = |weighting, replies: [(usize, usize); 4]| {
        let config = ServerConfig { weighting, ..fast() };
        let member = |(_, trials)| Member { name: String::new(), trials };
        let (members, method) = (replies.map(member).to_vec(), fedavg(&config, &clients.scopes()).server);
        let initial = clients.net.initial(Seed(0)).unwrap();
        let mut server = Server::new(config, members, initial, method, Seed(0)).unwrap();
        for (client, (reply, _)) in replies.into_iter().enumerate() {
            server.submit(client, Ok(all[reply].clone())).unwrap();
        }
        server.close().unwrap();
        server.parameters().values().to_vec()
    };
    let twice = mean(Weighting::Uniform, [(0, 5), (0, 1), (1, 7), (2, 9)]);
    let weighted = mean(Weighting::ByTrials, [(0, 10), (1, 5), (2, 3), (2, 2)]);
    assert!(gap(&twice, &weighted) < 1e-14);
    let uniform = mean(Weighting::Uniform, [(0, 10), (1, 5), (2, 3), (2, 2)]);
    assert!(gap(&uniform, &weighted) > 1e-4);
}

#[test]
fn steps_out_of_order_are_refused() {
    let clients = Clients::small();
    let mut server = clients.server(fast());
    let update = replies(&clients)[0].clone();
    assert!(matches!(server.advance(1.0), Err(Error::Order { asked: "advance", .. })));
    let unknown = server.submit(9, Ok(update.clone())).unwrap_err();
    assert_eq!(
        unknown.to_string(),
        "unexpected reply from client number 9 in round 1: it was not asked to take part"
    );
    server.submit(2, Ok(update.clone())).unwrap();
    let twice = server.submit(2, Ok(update.clone())).unwrap_err();
    assert_eq!(twice.to_string(), "unexpected reply from client 3 in round 1: it has already replied");
    for client in [0, 1, 3] {
        server.submit(client, Ok(update.clone())).unwrap();
    }
    server.close().unwrap();
    assert!(matches!(server.close(), Err(Error::Order { asked: "close a round", .. })));
    assert!(matches!(server.plan(), Err(Error::Order { asked: "plan", .. })));
    assert!(matches!(server.submit(0, Ok(update)), Err(Error::Order { .. })));
    server.advance(1.0).unwrap();
    assert_eq!(server.plan().unwrap().exchange.round, 1);
}

/// The server cannot undo averaged replies, so it restores no state once a reply is averaged. It
/// forgets replies that only wait.
#[test]
fn a_state_is_not_restored_over_half_an_average() {
    let clients = Clients::small();
    let mut server = clients.server(fast());
    let update = replies(&clients)[0].clone();
    let begun = server.state();
    server.submit(2, Ok(update.clone())).unwrap();
    server.restore(&begun).unwrap();
    server.submit(2, Ok(update.clone())).unwrap();
    server.submit(0, Ok(update)).unwrap();
    let error = server.restore(&begun).unwrap_err();
    assert!(matches!(error, Error::Order { asked: "restore a stored state", .. }), "{error}");
}

/// From a stored state the server repeats an interrupted round, with the same result.
#[test]
fn a_stored_state_is_all_there_is() {
    let clients = Clients::small();
    let config =
        ServerConfig { aggregation: Aggregation::RlAvg, server_momentum: 0.5, participation: 0.5, ..fast() };
    let mut straight = clients.server(config.clone());
    let all = replies(&clients);
    let play = |server: &mut Server<f64>| {
        for client in server.plan().unwrap().clients.to_vec() {
            server.submit(client, Ok(all[(client + server.round() as usize) % 4].clone())).unwrap();
        }
        server.close().unwrap();
        server.advance(f64::from(server.round())).unwrap();
    };
    let mut stored = postcard::to_allocvec(&straight.state()).unwrap();
    for _ in 0..30 {
        play(&mut straight);
        let mut resumed = clients.server(config.clone());
        resumed.restore(&postcard::from_bytes(&stored).unwrap()).unwrap();
        assert_eq!(postcard::to_allocvec(&resumed.state()).unwrap(), stored);
        play(&mut resumed);
        stored = postcard::to_allocvec(&resumed.state()).unwrap();
        assert_eq!(resumed.state(), straight.state());
        // The stored state does not include half a round.
        let first = resumed.plan().unwrap().clients[0];
        resumed.submit(first, Ok(all[0].clone())).unwrap();
        assert_eq!(postcard::to_allocvec(&resumed.state()).unwrap(), stored);
    }
    let other = Clients::new(
        fedspd_nn::SyntheticTask::new(5, 2).trials(40),
        fedspd_nn::SpdNetConfig::new(vec![5, 2], 2),
        2,
    );
    let error = other.server(fast()).restore(&straight.state()).unwrap_err();
    assert!(error.to_string().contains("wrong number of parameters"), "{error}");
}

/// On the server, with patience 20, 21 rounds without improvement halve the rate once.
#[test]
fn patience_plus_one_rounds_without_improvement_halve_the_rate_once() {
    let clients = Clients::small();
    let mut server = clients.server(ServerConfig::default());
    let update = replies(&clients)[0].clone();
    let mut rates = Vec::new();
    for _ in 0..23 {
        rates.push(server.plan().unwrap().learning_rate);
        for client in 0..4 {
            server.submit(client, Ok(update.clone())).unwrap();
        }
        server.close().unwrap();
        server.advance(1.0).unwrap();
    }
    // The first round sets the best; 21 more do not improve on it.
    assert_eq!(rates[..22], [1e-3; 22]);
    assert_eq!(rates[22], 5e-4);
}
