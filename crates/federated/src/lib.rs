//! Federated training: Algorithm 1 of the FedSPDnet paper, generic over what the parameters say about themselves.
//!
//! | what | where |
//! |---|---|
//! | the server: plan a round, take replies, close it | [`Server`], [`ServerConfig`], [`RoundReport`] |
//! | who takes part | [`participants`] |
//! | how replies become the next parameters | [`Aggregator`], [`Aggregation`] |
//! | what a client does between receiving and sending | [`Part`], [`LocalSolver`], [`LocalEpochs`] |
//! | all of it in one process, on any number of threads | [`Federation`], [`Desk`] |
//!
//! Nothing here knows which network it trains: geometry says how a tensor is averaged, scope says whether it is sent at all.
//! The server is a state machine without input or output. Whoever drives it, in whatever order replies come in, the result is the same
//! bytes: replies are summed in the order of the clients, in `f64`.

mod aggregate;
mod client;
mod error;
mod in_order;
mod in_process;
mod sampling;
mod server;
mod wire;

pub use aggregate::{Aggregation, Aggregator, Fault, LayerReport, Merged, Sender, aggregator};
pub use client::{ClientState, Desk, LocalEpochs, LocalSolver, Order, Part, Task, Trained};
pub use error::Error;
pub use in_order::in_order;
pub use in_process::{Federation, Round, Shard, mean_loss};
pub use sampling::participants;
pub use server::{
    Dropped, LocalWork, Member, OnFailure, RoundPlan, RoundReport, Server, ServerConfig, ServerState, Update,
    Weighting,
};
pub use wire::Wire;
