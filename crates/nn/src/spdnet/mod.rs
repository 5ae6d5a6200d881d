//! SPDnet: blocks of BiMap and `ReEig`, `LogEig`, and a linear head.
//!
//! ```text
//! BiMap   S = W^T X W          W with orthonormal columns
//! ReEig   X' = U max(L, threshold) U^T     where S = U L U^T
//! LogEig  log X'               fused with the last ReEig: one decomposition
//! head    logits = xi v(log X') + beta
//! ```
//!
//! (Huang and Van Gool 2017; the FedSPDnet paper, section 2.) Gradients are exact: eigenvectors are
//! never differentiated. The derivative of a spectral function uses its divided differences at
//! the eigenvalues (Daleckii and Krein).

mod chain;
mod config;
mod examples;
mod guard;
mod head;
mod network;
mod trials;
mod worker;
mod workspace;

pub use config::SpdNetConfig;
pub use examples::Examples;
pub use guard::ClampReport;
pub use network::SpdNet;
pub use trials::SpdTrials;
pub use workspace::SpdNetWorkspace;
