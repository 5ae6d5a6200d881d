//! Scalp maps: electrode positions, interpolation and drawing.

mod contour;
pub mod montage;
mod spline;
mod topography;

pub use topography::Topography;
pub(crate) use topography::key;
