//! EEGNet: temporal, spatial and separable convolutions with batch normalisation, and a linear head
//! (Lawhern et al. 2018).
//!
//! ```text
//! temporal   1 x Kt, F1 filters, same padding      BN1
//! spatial    all channels, D for each filter       BN2, ELU, mean of p1, dropout
//! separable  1 x Ks each, then F1 D -> F2          BN3, ELU, mean of p2, dropout
//! head       linear
//! ```
//!
//! The first block is computed in another order. Up to the batch statistics it is linear, so the
//! spatial mixing comes first (channels to `F1 D` rows), and the convolution acts on these rows.
//! The statistics of BN1 belong to a tensor that is never formed; they follow from lag statistics
//! of the data (`lags`). Let `h` be a temporal filter, `w` a spatial one, and `mu` and `v` the mean
//! and variance of `h * x` over the batch. With `gamma`, `beta` and `e` the scale, shift and
//! epsilon of BN1:
//!
//! ```text
//! w . BN1(h * x) = a (h * (w . x)) + b (w . 1)      a = gamma / sqrt(v + e)      b = beta - a mu
//! ```
//!
//! BN2 removes the constant and uses the variance of `h * (w . x)` times `a^2`. BN1 therefore gets
//! gradient only through `a`. The loss depends on `a` through the epsilon of BN2. `a` depends on
//! `h` through `v`, a quadratic form of `h`. Forward and backward passes are algebraically exact,
//! batch statistics included.
//!
//! Tensors are `[time][rows]` with the rows in lanes.

mod activation;
mod aligned;
mod config;
mod convolution;
mod examples;
mod lags;
mod network;
mod norm;
mod passes;
mod shape;
mod slot;
mod weights;
mod workspace;

pub use config::{BatchNorm, EegNetConfig, FedBn, MaxNorm};
pub use examples::{EegExamples, RawTrials};
pub use network::EegNet;
pub use workspace::EegNetWorkspace;
