//! The one place that matches the kind and the precision of a network.

use fedspd_manifold::Real;
use fedspd_nn::file::Network;
use fedspd_nn::{Architecture, EegNet, InputShape, ModelKind, ModelSettings, Precision, SpdNet};

use crate::Error;

/// Work on a network of any kind and precision.
pub(crate) trait Visitor {
    /// The result of the work.
    type Output;

    fn visit<T: Real, N: Architecture<T>>(self, network: N) -> Result<Self::Output, Error>;
}

/// Builds the network of settings for data of a shape, and passes it to the visitor.
pub(crate) fn with_network<V: Visitor>(
    settings: &ModelSettings,
    shape: &InputShape,
    visitor: V,
) -> Result<V::Output, Error> {
    let source = Source::Settings(settings, shape);
    dispatch(settings.kind, settings.resolved_precision(), &source, visitor)
}

/// Builds the network of a model file, and passes it to the visitor.
pub(crate) fn with_saved_network<V: Visitor>(
    network: &Network,
    precision: Precision,
    visitor: V,
) -> Result<V::Output, Error> {
    dispatch(network.kind(), precision, &Source::File(network), visitor)
}

/// Matches kind and precision. A new network gets an arm here.
fn dispatch<V: Visitor>(
    kind: ModelKind,
    precision: Precision,
    source: &Source<'_>,
    visitor: V,
) -> Result<V::Output, Error> {
    match kind {
        ModelKind::Spdnet => build::<SpdNet<f64>, SpdNet<f32>, V>(precision, source, visitor),
        ModelKind::Eegnet => build::<EegNet<f64>, EegNet<f32>, V>(precision, source, visitor),
    }
}

enum Source<'a> {
    Settings(&'a ModelSettings, &'a InputShape),
    File(&'a Network),
}

impl Source<'_> {
    fn network<T: Real, N: Architecture<T>>(&self) -> Result<N, Error> {
        match self {
            Self::Settings(settings, shape) => Ok(N::build(settings, shape)?),
            Self::File(network) => N::restore(network)?.ok_or(Error::Nothing),
        }
    }
}

fn build<D: Architecture<f64>, S: Architecture<f32>, V: Visitor>(
    precision: Precision,
    source: &Source<'_>,
    visitor: V,
) -> Result<V::Output, Error> {
    match precision {
        Precision::F64 => visitor.visit::<f64, D>(source.network()?),
        Precision::F32 => visitor.visit::<f32, S>(source.network()?),
    }
}
