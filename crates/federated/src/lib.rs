//! Federated training: Algorithm 1 of the FedSPDnet paper, for parameters of any geometry and
//! scope.
//!
//! | topic | items |
//! |---|---|
//! | messages: named parts | [`Message`], [`Part`], [`Parts`] |
//! | methods, each with a client half and a server half | [`method`], [`MethodConfig`] |
//! | averages of Stiefel matrices | [`Aggregation`], [`Aggregator`] |
//! | the server: plans and closes rounds | [`Server`], [`ServerConfig`], [`RoundReport`] |
//! | sampling of the clients of a round | [`participants`] |
//! | a client | [`Client`], [`Worker`], [`ClientState`] |
//! | a federation in one process, on any number of threads | [`Federation`] |
//!
//! The crate works with any network. The geometry of a tensor decides how it is averaged; its scope
//! decides whether it is sent.
//!
//! The server is a state machine without input or output. It sums replies in the order of the
//! clients, in `f64`. So the bytes of the result depend neither on the caller nor on the order of
//! arrival.

mod aggregate;
mod client;
mod error;
mod in_order;
mod in_process;
mod message;
pub mod method;
mod sampling;
mod scopes;
mod server;

pub use aggregate::{Aggregated, Aggregation, Aggregator, Fault, aggregator};
pub use client::{Client, ClientState, Correction, LocalTraining, Task, Training, Worker};
pub use error::Error;
pub use in_order::in_order;
pub use in_process::{Federation, Round, Shard, mean_loss};
pub use message::{Kind, LOSS, Message, Numbers, Part, PartSpec, Parts};
pub use method::{
    ClientMethod, Exchange, LocalEpochs, Merged, Method, MethodConfig, MethodName, ServerMethod,
};
pub use sampling::participants;
pub use scopes::ParameterScopes;
pub use server::{
    Dropped, LocalWork, Member, OnFailure, RoundPlan, RoundReport, Server, ServerConfig, ServerState,
    Weighting,
};
