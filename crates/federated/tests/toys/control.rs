//! `fedavg` with a control variate: one more part down, one more part up.
//!
//! The server sends a common number. A client computes its own number from it and the round, and
//! sends the change.

use fedspd_federated::{
    Aggregation, ClientMethod, Error, Fault, Kind, LocalEpochs, LocalTraining, Merged, Message, Method,
    ParameterScopes, Part, PartSpec, Parts, ServerMethod, Task, aggregator, method::fedavg,
};
use fedspd_manifold::Real;
use fedspd_nn::ParamSet;

const COMMON: &str = "control";
const CHANGE: &str = "control.change";

/// Both halves.
pub(crate) fn control<T: Real>(local: LocalEpochs, scopes: &ParameterScopes) -> Method<T> {
    let average = aggregator(Aggregation::ProjAvg, 0.0, 1.0, scopes).unwrap();
    let server =
        Server { plain: fedavg::Server::new(scopes, average), replies: 0, common: 0.0, changes: 0.0 };
    Method { client: Box::new(Client(fedavg::Client::new(scopes, local))), server: Box::new(server) }
}

fn with_control(mut parts: Parts) -> Parts {
    parts.down.push(PartSpec::new(COMMON, &[], Kind::F64));
    parts.up.push(PartSpec::new(CHANGE, &[1], Kind::F64));
    parts
}

struct Client(fedavg::Client);

impl<T: Real> ClientMethod<T> for Client {
    fn parts(&self, exchange: u32) -> Parts {
        with_control(ClientMethod::<T>::parts(&self.0, exchange))
    }

    fn reply(
        &self,
        task: &Task<'_, T>,
        memory: &mut Vec<f64>,
        training: &mut dyn LocalTraining<T>,
    ) -> Result<Message, fedspd_nn::Error> {
        let mut reply = self.0.reply(task, &mut Vec::new(), training)?;
        let own = memory.first().copied().unwrap_or(0.0);
        let next = task.message.number(COMMON).unwrap() + f64::from(task.exchange.round) + 1.0;
        *memory = vec![next];
        reply.push(Part::real(CHANGE, &[1], &[next - own]));
        Ok(reply)
    }
}

struct Server<T: Real> {
    plain: fedavg::Server<T>,
    replies: usize,
    common: f64,
    changes: f64,
}

impl<T: Real> ServerMethod<T> for Server<T> {
    fn parts(&self, exchange: u32) -> Parts {
        with_control(self.plain.parts(exchange))
    }

    fn down(&self, exchange: u32, parameters: &ParamSet<T>) -> Message {
        let mut message = self.plain.down(exchange, parameters);
        message.push(Part::real(COMMON, &[], &[self.common]));
        message
    }

    fn check(&mut self, exchange: u32, reply: &Message) -> Result<(), Fault> {
        self.plain.check(exchange, reply)
    }

    fn add(
        &mut self,
        exchange: u32,
        client: usize,
        weight: f64,
        parameters: &ParamSet<T>,
        reply: &Message,
    ) -> Result<(), Error> {
        self.replies += 1;
        self.changes += reply.number(CHANGE).unwrap();
        self.plain.add(exchange, client, weight, parameters, reply)
    }

    fn finish(&mut self, exchange: u32, parameters: &mut ParamSet<T>) -> Result<Merged, Error> {
        let replies = std::mem::take(&mut self.replies) as f64;
        self.common += std::mem::take(&mut self.changes) / replies;
        let mut merged = self.plain.finish(exchange, parameters)?;
        merged.metrics.insert("control".into(), self.common);
        Ok(merged)
    }

    fn memory(&self) -> Vec<f64> {
        vec![self.common]
    }

    fn recall(&mut self, memory: &[f64]) -> Result<(), Error> {
        (self.common, self.changes, self.replies) = (memory[0], 0.0, 0);
        Ok(())
    }
}
