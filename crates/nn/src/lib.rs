//! `SPDnet` and EEGNet, and their training: exact gradients, optimisers that stay on their
//! manifold, and the same bytes on any number of threads.
//!
//! | task | item |
//! |---|---|
//! | parameters with geometry, role and scope | [`ParamSet`], [`Layout`] |
//! | interface between training and a network | [`Model`] |
//! | the networks | [`SpdNet`], [`SpdNetConfig`], [`SpdTrials`]; [`EegNet`], [`EegNetConfig`], [`RawTrials`] |
//! | optimisers on Euclidean and Stiefel parameters | [`Optimiser`], [`OptimiserConfig`], [`Trivialisation`] |
//! | learning-rate schedules, early stopping | [`schedule`] |
//! | epochs and evaluation | [`Trainer`] |
//! | model files | [`mod@file`] |
//! | random streams | [`Seed`], [`Stream`] |
//! | synthetic labelled data | [`SyntheticTask`], [`SyntheticEeg`] |
//!
//! The central type is the [`ParamSet`]: a model is a set of named tensors, each with geometry,
//! role and scope. Optimisers read geometry and role. The federated engine reads geometry and
//! scope. Code above a [`Model`] does not know which network it trains.
//!
//! No global state, no clock, no global generator: a result is a function of parameters, data and
//! seed.

mod architecture;
mod eegnet;
mod error;
pub mod file;
mod loss;
mod model;
mod optim;
mod params;
pub mod schedule;
mod seed;
mod spdnet;
mod synthetic;
mod train;

pub use architecture::{Architecture, Input, InputShape, ModelKind, ModelSettings, Precision};
pub use eegnet::{BatchNorm, EegExamples, EegNet, EegNetConfig, EegNetWorkspace, FedBn, MaxNorm, RawTrials};
pub use error::Error;
pub use model::{Dropout, Model};
pub use optim::{AdamSettings, Optimiser, OptimiserConfig, Trivialisation, landing_field};
pub use params::{Geometry, Layout, ParamSet, Parameter, Role, Scope, Space, Tensor};
pub use seed::{Purpose, Seed, Stream, shuffle};
pub use spdnet::{ClampReport, Examples, SpdNet, SpdNetConfig, SpdNetWorkspace, SpdTrials};
pub use synthetic::{SyntheticEeg, SyntheticTask};
pub use train::{Evaluation, LARGEST_LOSS, Trainer};

pub(crate) use error::check;
