//! What can go wrong, with the client and the numbers.

use thiserror::Error;

use crate::aggregate::Fault;
use crate::server::Dropped;

/// Why federated training refused its input or could not go on.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// A fault of a network or an optimiser.
    #[error(transparent)]
    Network(#[from] fedspd_nn::Error),
    /// A fault of the geometry, in the average of one parameter.
    #[error("the average of `{parameter}`: {source}")]
    Average {
        /// Which parameter.
        parameter: String,
        /// What is wrong.
        source: fedspd_manifold::Error,
    },
    /// A setting is out of range.
    #[error("`{field}` is {value}; it must be {expected}")]
    Config {
        /// The setting.
        field: &'static str,
        /// Its value.
        value: String,
        /// What it may be.
        expected: String,
    },
    /// A client could not do its part, and the run is to stop then.
    #[error("{client} failed in round {}: {reason}", round + 1)]
    Client {
        /// The name of the client.
        client: String,
        /// The round, counted from 0.
        round: u32,
        /// What happened.
        reason: String,
        /// What was wrong with its reply, if it sent one.
        fault: Option<Fault>,
    },
    /// A reply came from a client that was not asked, or came twice.
    #[error("a reply of {client} in round {}, which {fault}", round + 1)]
    Reply {
        /// The name of the client, or its number if there is none such.
        client: String,
        /// The round, counted from 0.
        round: u32,
        /// Why it is not expected.
        fault: &'static str,
    },
    /// Too few replies count for the round to be closed.
    #[error("round {}: {counted} of {asked} replies count, {quorum} are needed{}", round + 1, listed(dropped))]
    Quorum {
        /// The round, counted from 0.
        round: u32,
        /// How many count.
        counted: usize,
        /// How many clients were asked.
        asked: usize,
        /// How many are needed.
        quorum: usize,
        /// Who does not count, and why.
        dropped: Vec<Dropped>,
    },
    /// The methods of the server were called in the wrong order.
    #[error("the server was asked to {asked}, but {fault}")]
    Order {
        /// What it was asked for.
        asked: &'static str,
        /// Why that cannot be now.
        fault: &'static str,
    },
    /// A stored state is not of this federation.
    #[error("the stored state has {found} {what} where {expected} were expected")]
    State {
        /// What does not fit.
        what: &'static str,
        /// How many there are here.
        expected: usize,
        /// How many were stored.
        found: usize,
    },
}

impl Error {
    /// What the user can do about it, if there is something to say.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Network(error) => error.hint(),
            Self::Client { fault: Some(Fault::OffManifold { .. }), .. } => Some(
                "its local optimiser must keep the columns orthonormal, as `adam` does; or leave such clients out with `on_client_failure = \"skip\"`"
                    .into(),
            ),
            Self::Client { .. } => Some(
                "lower the learning rate, look at the client's data, or leave such clients out with `on_client_failure = \"skip\"`".into(),
            ),
            Self::Quorum { .. } => Some("see to these clients, or ask for a smaller quorum; the run goes on from its last round".into()),
            Self::Average { .. } => Some("`proj-avg` and `rl-avg` always have an answer".into()),
            _ => None,
        }
    }
}

/// Who does not count, and why.
fn listed(dropped: &[Dropped]) -> String {
    let listed: Vec<String> =
        dropped.iter().map(|dropped| format!("; {}: {}", dropped.name, dropped.reason)).collect();
    listed.concat()
}

/// Checks a setting.
pub(crate) fn check(
    field: &'static str,
    value: impl std::fmt::Debug,
    holds: bool,
    expected: impl FnOnce() -> String,
) -> Result<(), Error> {
    if holds {
        return Ok(());
    }
    Err(Error::Config { field, value: format!("{value:?}"), expected: expected() })
}
