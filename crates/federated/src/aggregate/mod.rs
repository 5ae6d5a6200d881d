//! Aggregation of the replies of a round.
//!
//! | aggregation | Stiefel parameters | needs |
//! |---|---|---|
//! | `proj-avg` | polar factor of the mean | the sum |
//! | `rl-avg` | retraction of the mean of the liftings at the previous point | the sum |
//! | `qr-avg` | QR factor of the mean | the sum |
//! | `euclidean` | the mean, which leaves the manifold | the sum |
//! | `ret-avg` | retraction of the mean inverse retraction at the previous point | each reply when it arrives, then only a sum |
//! | `karcher` | the point with the smallest sum of squared geodesic distances | all replies |
//!
//! Euclidean parameters always take the plain mean, SPD parameters the log-Euclidean mean.

mod from_sum;
mod karcher;
mod momentum;
mod ret;
mod sums;

use fedspd_manifold::Real;
use fedspd_nn::{Geometry, ParamSet};
use fedspd_run::LayerReport;
use serde::{Deserialize, Serialize};
use thiserror::Error as ThisError;

use crate::error::check;
use crate::method::expect_numbers;
use crate::{Error, Message, ParameterScopes};
use momentum::Momentum;

/// Aggregation of Stiefel matrices. Euclidean parameters are always averaged arithmetically.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Aggregation {
    /// Polar factor of the mean, the paper's ProjAvg.
    #[default]
    ProjAvg,
    /// Retraction of the mean of the liftings, the paper's RLAvg.
    RlAvg,
    /// Retraction of the mean of the inverse retractions.
    RetAvg,
    /// QR factor of the mean.
    QrAvg,
    /// Riemannian centre of mass for the embedded metric.
    Karcher,
    /// Arithmetic mean, which is not on the manifold. For comparison only.
    Euclidean,
}

impl Aggregation {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::ProjAvg, Self::RlAvg, Self::RetAvg, Self::QrAvg, Self::Karcher, Self::Euclidean];

    /// Its name in settings.
    pub fn name(self) -> &'static str {
        match self {
            Self::ProjAvg => "proj-avg",
            Self::RlAvg => "rl-avg",
            Self::RetAvg => "ret-avg",
            Self::QrAvg => "qr-avg",
            Self::Karcher => "karcher",
            Self::Euclidean => "euclidean",
        }
    }

    /// Number of values of each reply kept until the round is closed; 0 if a sum suffices.
    pub fn kept_numbers(self, scopes: &ParameterScopes) -> usize {
        if self != Self::Karcher {
            return 0;
        }
        let kept = |parameter: &fedspd_nn::Parameter| match parameter.geometry {
            Geometry::Stiefel => parameter.size(),
            Geometry::Euclidean | Geometry::Spd => 0,
        };
        scopes.parameters().map(kept).sum()
    }
}

/// Computes the next parameters from the replies, which come in the order of the clients.
///
/// It reads the parts of shared parameters. The method reads the others.
pub trait Aggregator<T: Real>: Send + Sync {
    /// Checks a reply before it counts.
    ///
    /// # Errors
    /// The fault of the reply.
    fn check(&mut self, reply: &Message) -> Result<(), Fault>;

    /// Adds a checked reply.
    ///
    /// # Errors
    /// [`Error::Average`] for a weight or a reply that cannot be averaged.
    fn add(&mut self, weight: f64, previous: &ParamSet<T>, reply: &Message) -> Result<(), Error>;

    /// Writes the shared parameters and clears the sums for the next round.
    ///
    /// # Errors
    /// [`Error::Average`] if the average does not exist.
    fn finish(&mut self, parameters: &mut ParamSet<T>) -> Result<Aggregated, Error>;

    /// Its memory between rounds.
    fn memory(&self) -> Vec<f64> {
        Vec::new()
    }

    /// Restores its memory.
    ///
    /// # Errors
    /// [`Error::State`] if the memory has the wrong size.
    fn recall(&mut self, memory: &[f64]) -> Result<(), Error> {
        expect_numbers(memory, 0)
    }
}

/// The fault of a message.
#[derive(Clone, Debug, PartialEq, ThisError)]
#[non_exhaustive]
pub enum Fault {
    /// A part is missing.
    #[error("it sent no `{part}`")]
    MissingPart {
        /// Its name.
        part: String,
    },
    /// A part is not declared.
    #[error("it sent `{part}`, which is not part of the message")]
    UnknownPart {
        /// Its name.
        part: String,
    },
    /// Two parts have the same name.
    #[error("it sent `{part}` twice")]
    PartTwice {
        /// Their name.
        part: String,
    },
    /// A part has the wrong shape or type.
    #[error("it sent `{part}` with {difference}")]
    PartShape {
        /// Its name.
        part: String,
        /// The received and the expected shape, type or size.
        difference: String,
    },
    /// A number is not finite.
    #[error("it sent {value} in `{parameter}`")]
    NotFinite {
        /// Name of the parameter.
        parameter: String,
        /// The value.
        value: f64,
    },
    /// Columns are not orthonormal.
    #[error(
        "it sent weights off the Stiefel manifold: |W^T W - I| = {distance:.1e} in `{parameter}` (limit {limit:.0e})"
    )]
    OffManifold {
        /// Name of the parameter.
        parameter: String,
        /// `|W^T W - I|`
        distance: f64,
        /// The largest accepted distance.
        limit: f64,
    },
    /// A matrix is not symmetric positive definite.
    #[error("it sent `{parameter}`, which is not symmetric positive definite: {fault}")]
    NotSpd {
        /// Name of the parameter.
        parameter: String,
        /// The problem.
        fault: String,
    },
}

/// The outcome of an average.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Aggregated {
    /// One report for each shared Stiefel parameter. Missing numbers are NaN: drifts if the server
    /// sees only sums, and the distance from `proj-avg` if that average does not exist.
    pub layers: Vec<LayerReport>,
    /// Whether `rl-avg` replaced an average because the mean lost its rank.
    pub fallback: bool,
}

/// Creates the aggregator for the parameters of a model.
///
/// `server_momentum` is the share of the last server step that is kept; `server_lr` scales the
/// server step. Both need `rl-avg`, whose mean is a tangent vector.
///
/// # Errors
/// [`Error::Config`] for settings that are out of range or exclude each other.
pub fn aggregator<T: Real>(
    aggregation: Aggregation,
    server_momentum: f64,
    server_lr: f64,
    scopes: &ParameterScopes,
) -> Result<Box<dyn Aggregator<T>>, Error> {
    let share = (0.0..1.0).contains(&server_momentum);
    check("server_momentum", server_momentum, share, || "at least 0 and less than 1".into())?;
    let positive = server_lr > 0.0 && server_lr.is_finite();
    check("server_lr", server_lr, positive, || "positive and finite".into())?;
    let plain = server_momentum == 0.0 && server_lr == 1.0;
    check("server_momentum", server_momentum, plain || aggregation == Aggregation::RlAvg, || {
        format!("0 and `server_lr` 1 with {}; only rl-avg supports other values", aggregation.name())
    })?;
    let sums = sums::Sums::new(scopes)?;
    Ok(match aggregation {
        Aggregation::RetAvg => Box::new(ret::RetAvg::new(sums)?),
        Aggregation::Karcher => Box::new(karcher::Karcher::new(sums)),
        Aggregation::RlAvg if !plain => Box::new(Momentum::new(server_momentum, server_lr, sums)),
        Aggregation::ProjAvg => Box::new(from_sum::FromSum::new(from_sum::Rule::Proj, sums)),
        Aggregation::RlAvg => Box::new(from_sum::FromSum::new(from_sum::Rule::Rl, sums)),
        Aggregation::QrAvg => Box::new(from_sum::FromSum::new(from_sum::Rule::Qr, sums)),
        Aggregation::Euclidean => Box::new(from_sum::FromSum::new(from_sum::Rule::Euclidean, sums)),
    })
}
