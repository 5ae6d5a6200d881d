//! What comes next fits: a method of one's own with a control variate, which the server hands out, clients change, and their changes come back.

use std::sync::{Arc, Mutex};

use fedspd_federated::{
    Aggregation, Aggregator, Desk, Error, Fault, Federation, LocalEpochs, LocalSolver, Merged, Sender,
    Server, Task, Trained, Wire, aggregator,
};
use fedspd_nn::{Model, ParamSet, Seed, SpdNet};

use crate::support::{Clients, adam, fast};

/// Averages as another does, and adds up one number more of each message.
struct WithVariate {
    plain: Box<dyn Aggregator<f64>>,
    common: Vec<f64>,
    changes: f64,
    seen: Arc<Mutex<Vec<usize>>>,
    senders: Mutex<Vec<Sender>>,
}

impl Aggregator<f64> for WithVariate {
    fn attachment(&self) -> &[f64] {
        &self.common
    }

    fn message(
        &self,
        wire: &Wire,
        sender: Sender,
        start: &ParamSet<f64>,
        trained: &ParamSet<f64>,
        extra: &[f64],
    ) -> Result<Vec<f64>, Error> {
        self.senders.lock().unwrap().push(sender);
        self.plain.message(wire, sender, start, trained, extra)
    }

    fn check(&mut self, message: &[f64]) -> Result<(), Fault> {
        self.plain.check(&message[..message.len() - 1])
    }

    fn add(
        &mut self,
        client: usize,
        weight: f64,
        previous: &ParamSet<f64>,
        message: &[f64],
    ) -> Result<(), Error> {
        let (parameters, change) = message.split_at(message.len() - 1);
        self.seen.lock().unwrap().push(client);
        self.changes += change[0];
        self.plain.add(client, weight, previous, parameters)
    }

    fn finish(&mut self, parameters: &mut ParamSet<f64>) -> Result<Merged, Error> {
        // Every client sent its message as itself, in the round that it was for.
        let round = self.seen.lock().unwrap().len() as u32 / 4 - 1;
        let expected: Vec<Sender> = (0..4).map(|client| Sender { client, round }).collect();
        assert_eq!(std::mem::take(&mut *self.senders.lock().unwrap()), expected);
        self.common[0] += std::mem::take(&mut self.changes) / 4.0;
        self.plain.finish(parameters)
    }

    fn memory(&self) -> Vec<f64> {
        self.common.clone()
    }

    fn recall(&mut self, memory: &[f64]) -> Result<(), Error> {
        self.common.copy_from_slice(memory);
        Ok(())
    }
}

/// Trains as another does; its own variate follows the common one and the round.
struct Variate(LocalEpochs);

impl LocalSolver<f64, SpdNet<f64>> for Variate {
    fn train(
        &self,
        task: &Task<'_, f64, SpdNet<f64>>,
        memory: &mut Vec<f64>,
        desk: &mut Desk<'_, f64, SpdNet<f64>>,
    ) -> Result<Trained<f64>, fedspd_nn::Error> {
        let trained = self.0.train(task, &mut Vec::new(), desk)?;
        let own = memory.first().copied().unwrap_or(0.0);
        let next = task.attachment[0] + f64::from(task.round) + 1.0;
        *memory = vec![next];
        Ok(Trained { extra: vec![next - own], ..trained })
    }
}

#[test]
fn control_variates_travel_both_ways() {
    let clients = Clients::small();
    let parameters = clients.net.initial(Seed(0)).unwrap();
    let wire = Wire::new(parameters.layout().clone());
    let seen = Arc::new(Mutex::new(Vec::new()));
    let method = WithVariate {
        plain: aggregator(Aggregation::ProjAvg, 0.0, 1.0, &wire).unwrap(),
        common: vec![0.0],
        changes: 0.0,
        seen: Arc::clone(&seen),
        senders: Mutex::new(Vec::new()),
    };
    let server =
        Server::with_aggregator(fast(), clients.members(), parameters, Seed(0), Box::new(method)).unwrap();
    let numbers = vec![0, 1, 2, 3];
    let mut federation =
        Federation::new(&clients.examples, &clients.shards, numbers, Variate(adam()), server, Seed(0))
            .unwrap();
    let mut desks = clients.desks(2);
    let mut common = 0.0;
    for round in 0..3 {
        let report = federation.round(&mut desks, true).unwrap().report;
        // All clients have the same variate, so the common one is theirs.
        common += f64::from(round) + 1.0;
        assert_eq!(federation.server().aggregator().attachment(), [common]);
        assert_eq!((report.bytes_up, report.bytes_down), (4 * 76 * 8, 4 * 76 * 8));
    }
    assert_eq!(*seen.lock().unwrap(), [0, 1, 2, 3].repeat(3));
    assert_eq!(federation.server().parameters().values(), clients.train(fast(), adam(), 3, 1));
    // Both ends remember.
    let (server, states) = federation.state();
    assert!(states.iter().all(|state| state.memory == [common]));
    federation.restore(&server, &states).unwrap();
    assert_eq!(federation.server().aggregator().attachment(), [common]);
}
