//! Federated training on a synthetic task, compared with training of each client alone.

use fedspd_federated::{Federation, LocalEpochs, LocalWork, Member, MethodConfig, Server, ServerConfig};
use fedspd_nn::{Model, Seed, SpdNetConfig, SyntheticTask};

use crate::support::{Clients, adam, fast};

fn accuracy(evaluations: &[Option<fedspd_nn::Evaluation>]) -> f64 {
    evaluations.iter().map(|evaluation| evaluation.as_ref().unwrap().accuracy).sum::<f64>()
        / evaluations.len() as f64
}

/// Clients share a discriminative subspace, each with its own mixing matrix. Together they beat
/// training alone, and chance.
#[test]
fn together_they_learn_more_than_alone() {
    let task = SyntheticTask::new(12, 3).trials(30).strength(0.35).shift(0.3);
    let clients = Clients::new(task, SpdNetConfig::new(vec![12, 6], 3), 10);
    let mut workers = clients.workers(2);
    let mut federation = clients.federation(fast(), adam());
    for _ in 0..40 {
        federation.round(&mut workers, true).unwrap();
    }
    let together = accuracy(&federation.evaluate(&mut workers, |shard| &shard.test).unwrap());

    // Alone: the same loop for each client by itself, with as many epochs.
    let mut alone = 0.0;
    for client in 0..10 {
        let config = ServerConfig { work: LocalWork::same(1), ..fast() };
        let shards = &clients.shards[client..=client];
        let members = vec![Member { name: "alone".into(), trials: shards[0].train.len() }];
        let local = LocalEpochs { carry_state: true, ..adam() };
        let method = MethodConfig::FedAvg.build(local, &config, &clients.scopes()).unwrap();
        let initial = clients.net.initial(Seed(0)).unwrap();
        let server = Server::new(config, members, initial, method.server, Seed(0)).unwrap();
        let numbers = vec![client as u32];
        let mut single =
            Federation::new(&clients.examples, shards, numbers, method.client, server, Seed(0)).unwrap();
        for _ in 0..80 {
            single.round(&mut workers, true).unwrap();
        }
        alone += accuracy(&single.evaluate(&mut workers, |shard| &shard.test).unwrap()) / 10.0;
    }
    assert!(together > alone + 0.05 && together > 0.6, "together {together}, alone {alone}");
}
