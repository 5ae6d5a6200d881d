//! Errors of the crate, with the client and the measured numbers.

use thiserror::Error;

use crate::aggregate::Fault;
use crate::server::Dropped;

/// Reason why federated training refused its input or stopped.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// An error of a network or an optimiser.
    #[error(transparent)]
    Network(#[from] fedspd_nn::Error),
    /// A parameter cannot be averaged.
    #[error("cannot average `{parameter}`: {source}")]
    Average {
        /// Name of the parameter.
        parameter: String,
        /// The error of the geometry.
        source: fedspd_manifold::Error,
    },
    /// A setting is out of range.
    #[error("`{field}` is {value}; it must be {expected}")]
    Config {
        /// The setting.
        field: &'static str,
        /// Its value.
        value: String,
        /// The allowed values.
        expected: String,
    },
    /// A client failed, and failures stop the run.
    #[error("{client} failed in round {}: {reason}", round + 1)]
    Client {
        /// Name of the client.
        client: String,
        /// The round, counted from 0.
        round: u32,
        /// Reason for the failure.
        reason: String,
        /// Fault of its reply, if it sent one.
        fault: Option<Fault>,
    },
    /// A reply came from a client that was not asked, or came twice.
    #[error("unexpected reply from {client} in round {}: {fault}", round + 1)]
    Reply {
        /// Name of the client, or its index if there is no such client.
        client: String,
        /// The round, counted from 0.
        round: u32,
        /// Reason why the reply is unexpected.
        fault: &'static str,
    },
    /// Too few replies count to close the round.
    #[error("round {}: {counted} of {asked} replies accepted, {quorum} needed{}", round + 1, listed(dropped))]
    Quorum {
        /// The round, counted from 0.
        round: u32,
        /// Number of replies that count.
        counted: usize,
        /// Number of clients asked.
        asked: usize,
        /// Number of replies needed.
        quorum: usize,
        /// Clients that do not count, with reasons.
        dropped: Vec<Dropped>,
    },
    /// The methods of the server were called in the wrong order.
    #[error("the server cannot {asked}: {fault}")]
    Order {
        /// The requested action.
        asked: &'static str,
        /// Reason why the action is impossible now.
        fault: &'static str,
    },
    /// A stored state belongs to another federation.
    #[error("wrong number of {what} in the stored state: found {found}, expected {expected}")]
    State {
        /// The quantity that differs.
        what: &'static str,
        /// Expected number.
        expected: usize,
        /// Stored number.
        found: usize,
    },
}

impl Error {
    /// Returns a suggestion for the user, if there is one.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Network(error) => error.hint(),
            Self::Client { fault: Some(Fault::OffManifold { .. }), .. } => Some(
                "use a local optimiser that keeps the columns orthonormal, such as `adam`, or skip failed clients with `on_client_failure = \"skip\"`"
                    .into(),
            ),
            Self::Client { .. } => Some(
                "lower the learning rate, check the client's data, or skip failed clients with `on_client_failure = \"skip\"`".into(),
            ),
            Self::Quorum { .. } => Some("check these clients or lower the quorum; the run resumes from its last closed round".into()),
            Self::Average { .. } => Some("use `proj-avg` or `rl-avg`, whose averages always exist".into()),
            _ => None,
        }
    }
}

/// Lists clients that do not count, with reasons.
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
