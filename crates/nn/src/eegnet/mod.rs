//! EEGNet: temporal, spatial and separable convolutions with batch normalisation, and a linear head (Lawhern et al. 2018).
//!
//! ```text
//! temporal   1 x Kt, F1 filters, same padding      BN1
//! spatial    all channels, D for each filter       BN2, ELU, mean of p1, dropout
//! separable  1 x Ks each, then F1 D -> F2          BN3, ELU, mean of p2, dropout
//! head       linear
//! ```
//!
//! The first block is never computed as written. Up to the batch statistics it is linear, so space is mixed first (channels to `F1 D` rows) and
//! these rows are convolved; BN1's statistics, of a tensor that is never formed, follow from lag statistics of the data alone (`lags`). With `h` a temporal
//! filter, `w` a spatial one, `mu` and `v` the mean and variance of `h * x` over the batch, `gamma`, `beta` and `e` BN1's scale, shift and epsilon:
//!
//! ```text
//! w . BN1(h * x) = a (h * (w . x)) + b (w . 1)      a = gamma / sqrt(v + e)      b = beta - a mu
//! ```
//!
//! BN2 takes the constant out and sees the variance of `h * (w . x)` times `a^2`. So BN1 gets gradient through `a` alone: the loss depends on it by BN2's
//! epsilon, and `a` on `h` by `v`, a quadratic form of `h`. Forward and backward are algebraically exact, batch statistics included.
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
