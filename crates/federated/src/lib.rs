//! Federated training: Algorithm 1 of the FedSPDnet paper, for parameters of any geometry and scope.
//!
//! | what | where |
//! |---|---|
//! | messages: named parts | [`Message`], [`Part`], [`Parts`] |
//! | methods, a client's and a server's half each | [`method`], [`MethodConfig`] |
//! | averages of Stiefel matrices | [`Aggregation`], [`Aggregator`] |
//! | the server: plan a round, take replies, close it | [`Server`], [`ServerConfig`], [`RoundReport`] |
//! | the clients that take part in a round | [`participants`] |
//! | a client | [`Client`], [`Worker`], [`ClientState`] |
//! | all of it in one process, on any number of threads | [`Federation`] |
//!
//! Nothing here knows which network it trains: the geometry of a tensor decides how it is averaged, its
//! scope whether it is sent at all. The server is a state machine without input or output. It sums
//! replies in the order of the clients, in `f64`, so that the bytes of the result do not depend on who
//! drives it or in which order replies arrive.

mod aggregate;
mod client;
mod error;
mod in_order;
mod in_process;
mod message;
pub mod method;
mod sampling;
mod server;
mod wire;

pub use aggregate::{Aggregated, Aggregation, Aggregator, Fault, aggregator};
pub use client::{Client, ClientState, Correction, LocalTraining, Order, Task, Training, Worker};
pub use error::Error;
pub use in_order::in_order;
pub use in_process::{Federation, Round, Shard, mean_loss};
pub use message::{Kind, LOSS, Message, Numbers, Part, PartSpec, Parts};
pub use method::{
    ClientMethod, Exchange, LocalEpochs, Merged, Method, MethodConfig, MethodName, ServerMethod,
};
pub use sampling::participants;
pub use server::{
    Dropped, LocalWork, Member, OnFailure, RoundPlan, RoundReport, Server, ServerConfig, ServerState,
    Weighting,
};
pub use wire::Wire;
