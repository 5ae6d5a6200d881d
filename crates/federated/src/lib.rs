//! Federated training: Algorithm 1 of the FedSPDnet paper, generic over what the parameters say about themselves.
//!
//! | what | where |
//! |---|---|
//! | messages: named parts | [`Message`], [`Part`], [`Parts`] |
//! | methods: what a client sends, what the server makes of it | [`method`], [`MethodConfig`] |
//! | averages of Stiefel matrices | [`Aggregation`], [`Aggregator`] |
//! | the server: plan a round, take replies, close it | [`Server`], [`ServerConfig`], [`RoundReport`] |
//! | who takes part | [`participants`] |
//! | a client | [`Client`], [`Worker`], [`ClientState`] |
//! | all of it in one process, on any number of threads | [`Federation`] |
//!
//! Nothing here knows which network it trains: geometry says how a tensor is averaged, scope says whether it is sent at all.
//! The server is a state machine without input or output. Whoever drives it, in whatever order replies come in, the result is the same
//! bytes: replies are summed in the order of the clients, in `f64`.

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

pub use aggregate::{Aggregation, Aggregator, Fault, LayerReport, aggregator};
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
