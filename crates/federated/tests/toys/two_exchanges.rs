//! A method with two exchanges a round. Clients first send the size of their parameters, the sum of
//! the absolute values. They then train with the sum of all sizes.
//!
//! It stands for `RFedSVRG`, whose first exchange is a gradient. The parts of the two exchanges
//! differ. Client and server keep memory between them.

use fedspd_federated::{
    Aggregation, ClientMethod, Error, Fault, Kind, LocalEpochs, LocalTraining, Merged, Message, Method,
    ParameterScopes, Part, PartSpec, Parts, ServerMethod, Task, aggregator, method::fedavg,
};
use fedspd_manifold::Real;
use fedspd_nn::ParamSet;

const SIZE: &str = "size";
const SUM: &str = "sizes";

/// Both halves.
pub(crate) fn two_exchanges<T: Real>(local: LocalEpochs, scopes: &ParameterScopes) -> Method<T> {
    let average = aggregator(Aggregation::RlAvg, 0.0, 1.0, scopes).unwrap();
    let client = Client { plain: fedavg::Client::new(scopes, local), scopes: scopes.clone() };
    let server = Server { plain: fedavg::Server::new(scopes, average), scopes: scopes.clone(), sum: 0 };
    Method { client: Box::new(client), server: Box::new(server) }
}

fn parts<T: Real>(scopes: &ParameterScopes, exchange: u32, mut plain: Parts) -> Parts {
    if exchange == 0 {
        return Parts { down: scopes.specs::<T>(), up: vec![PartSpec::new(SIZE, &[1], Kind::U64)] };
    }
    plain.down.push(PartSpec::new(SUM, &[1], Kind::U64));
    plain
}

struct Client {
    plain: fedavg::Client,
    scopes: ParameterScopes,
}

impl<T: Real> ClientMethod<T> for Client {
    fn parts(&self, exchange: u32) -> Parts {
        parts::<T>(&self.scopes, exchange, ClientMethod::<T>::parts(&self.plain, exchange))
    }

    fn reply(
        &self,
        task: &Task<'_, T>,
        memory: &mut Vec<f64>,
        training: &mut dyn LocalTraining<T>,
    ) -> Result<Message, fedspd_nn::Error> {
        if task.exchange.number == 0 {
            let size = task.start.values().iter().map(|value| value.to_f64().abs()).sum::<f64>() * 1e6;
            *memory = vec![size.round()];
            return Ok(Message::new(vec![Part::ring(SIZE, &[1], vec![size.round() as u64])]));
        }
        let sum = ring(task.message, SUM) as f64;
        // The client's own size, as it sent it in the first exchange.
        let share = memory[0] / sum;
        assert!(share > 0.0 && share <= 1.0, "{share}");
        let slower = Task { learning_rate: task.learning_rate * share, ..*task };
        self.plain.reply(&slower, &mut Vec::new(), training)
    }
}

struct Server<T: Real> {
    plain: fedavg::Server<T>,
    scopes: ParameterScopes,
    sum: u64,
}

impl<T: Real> ServerMethod<T> for Server<T> {
    fn parts(&self, exchange: u32) -> Parts {
        parts::<T>(&self.scopes, exchange, self.plain.parts(exchange))
    }

    fn down(&self, exchange: u32, parameters: &ParamSet<T>) -> Message {
        let mut message = self.plain.down(exchange, parameters);
        if exchange == 1 {
            message.push(Part::ring(SUM, &[1], vec![self.sum]));
        }
        message
    }

    fn check(&mut self, exchange: u32, reply: &Message) -> Result<(), Fault> {
        if exchange == 0 { Ok(()) } else { self.plain.check(exchange, reply) }
    }

    fn add(
        &mut self,
        exchange: u32,
        client: usize,
        weight: f64,
        parameters: &ParamSet<T>,
        reply: &Message,
    ) -> Result<(), Error> {
        if exchange == 0 {
            self.sum = self.sum.wrapping_add(ring(reply, SIZE));
            return Ok(());
        }
        self.plain.add(exchange, client, weight, parameters, reply)
    }

    fn finish(&mut self, exchange: u32, parameters: &mut ParamSet<T>) -> Result<Merged, Error> {
        if exchange == 0 {
            return Ok(Merged { another: true, ..Merged::default() });
        }
        self.sum = 0;
        self.plain.finish(exchange, parameters)
    }

    fn recall(&mut self, _: &[f64]) -> Result<(), Error> {
        self.sum = 0;
        Ok(())
    }
}

fn ring(message: &Message, name: &str) -> u64 {
    match message.get(name) {
        Some(fedspd_federated::Numbers::U64(values)) => values[0],
        other => panic!("{other:?}"),
    }
}
