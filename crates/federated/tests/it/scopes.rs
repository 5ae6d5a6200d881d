//! Local parameters stay with their client.

use fedspd_federated::{
    Federation, LocalEpochs, LocalWork, Member, MethodConfig, ParameterScopes, Server, ServerConfig, Shard,
    Worker,
};
use fedspd_nn::{EegNet, EegNetConfig, FedBn, Model, OptimiserConfig, RawTrials, Scope, Seed, SyntheticEeg};

fn two_clients(fedbn: FedBn) -> (EegNet<f32>, Vec<f32>, Vec<usize>, Vec<Shard>) {
    let mut config = EegNetConfig::new(6, 128, 64.0, 2);
    config.fedbn = fedbn;
    let net = EegNet::new(config).unwrap();
    let (mut samples, mut labels, mut shards) = (Vec::new(), Vec::new(), Vec::new());
    for client in 0..2 {
        let trials: RawTrials<f32> =
            SyntheticEeg::new(6, 128, 64.0, 2).trials(20).client(Seed(0), client).unwrap();
        let start = labels.len();
        (0..20).for_each(|trial| samples.extend_from_slice(trials.trial(trial)));
        labels.extend_from_slice(trials.labels());
        shards.push(Shard {
            train: (start..start + 14).collect(),
            validation: (start + 14..start + 17).collect(),
            test: (start + 17..start + 20).collect(),
        });
    }
    (net, samples, labels, shards)
}

#[test]
fn batch_normalisation_stays_with_its_client() {
    for (fedbn, kept) in [(FedBn::All, 4), (FedBn::Statistics, 2)] {
        let (net, samples, labels, shards) = two_clients(fedbn);
        let examples = net.prepare(RawTrials::new(6, 128, 2, samples, labels).unwrap()).unwrap();
        let members = (0..2).map(|client| Member { name: format!("client {client}"), trials: 14 }).collect();
        let config = ServerConfig { work: LocalWork::same(1), ..ServerConfig::default() };
        let initial = net.initial(Seed(0)).unwrap();
        let local = LocalEpochs::new(OptimiserConfig::default());
        let method =
            MethodConfig::FedAvg.build(local, &config, &ParameterScopes::new(net.layout().clone())).unwrap();
        let server = Server::new(config, members, initial.clone(), method.server, Seed(0)).unwrap();
        let rows = 8 + 16 + 16;
        assert_eq!(server.scopes().local_size(), kept * rows);
        assert_eq!(server.scopes().shared_size() + kept * rows, net.layout().size());
        let local = |name: &str| net.layout().get(name).unwrap().scope == Scope::Local;
        assert!(server.scopes().parameters().all(|parameter| !local(&parameter.name)));

        let mut federation =
            Federation::new(&examples, &shards, vec![0, 1], method.client, server, Seed(0)).unwrap();
        let mut workers = vec![Worker::new(&net, 8, 1).unwrap()];
        let report = federation.round(&mut workers, true).unwrap().report;
        assert_eq!(report.bytes_up, 2 * 4 * federation.server().scopes().shared_size() as u64);
        let (first, second) = (federation.parameters(0), federation.parameters(1));
        for (parameter, values) in first.iter() {
            let differ = values != second.get(&parameter.name).unwrap();
            // The second normalisation removes the shift of the first. So this shift has no
            // gradient and does not move.
            let moves = parameter.name != "norm1.shift";
            assert_eq!(differ, moves && local(&parameter.name), "{}", parameter.name);
            // The server never sees local parameters: it holds their initial values.
            let at_server = federation.server().parameters().get(&parameter.name).unwrap();
            let as_it_began = at_server == initial.get(&parameter.name).unwrap();
            assert_eq!(as_it_began, local(&parameter.name) || !moves, "{}", parameter.name);
        }
        // Each client is evaluated with its own local parameters: those of the other give another
        // loss.
        let by_own = federation.evaluate(&mut workers, |shard| &shard.test).unwrap();
        let by_other = workers[0].trainer.evaluate(&second, &examples, &shards[0].test).unwrap();
        assert_ne!(by_own[0].as_ref().unwrap().loss, by_other.loss);
    }
}

/// A stored state restores the state of clients.
#[test]
fn what_clients_keep_is_part_of_the_stored_state() {
    let (net, samples, labels, shards) = two_clients(FedBn::All);
    let examples = net.prepare(RawTrials::new(6, 128, 2, samples, labels).unwrap()).unwrap();
    let federation = || {
        let members = (0..2).map(|client| Member { name: format!("client {client}"), trials: 14 }).collect();
        let local = LocalEpochs { carry_state: true, ..LocalEpochs::new(OptimiserConfig::default()) };
        let (config, scopes) = (ServerConfig::default(), ParameterScopes::new(net.layout().clone()));
        let method = MethodConfig::FedAvg.build(local, &config, &scopes).unwrap();
        let initial = net.initial(Seed(0)).unwrap();
        let server = Server::new(config, members, initial, method.server, Seed(0)).unwrap();
        Federation::new(&examples, &shards, vec![0, 1], method.client, server, Seed(0)).unwrap()
    };
    let mut workers = vec![Worker::new(&net, 8, 1).unwrap()];
    let mut straight = federation();
    let mut stored = straight.state();
    for _ in 0..3 {
        straight.round(&mut workers, true).unwrap();
        let mut resumed = federation();
        resumed.restore(&stored.0, &stored.1).unwrap();
        resumed.round(&mut workers, true).unwrap();
        stored = resumed.state();
        assert_eq!(stored, straight.state());
        assert_eq!(resumed.parameters(1), straight.parameters(1));
    }
    let mut other = federation();
    assert!(
        other.restore(&stored.0, &stored.1[..1]).unwrap_err().to_string().contains("found 1, expected 2")
    );
    stored.1[1].local.pop();
    assert!(other.restore(&stored.0, &stored.1).is_err());
}
