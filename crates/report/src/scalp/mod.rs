//! The scalp: where electrodes are, what is between them, and how it is drawn.

mod contour;
pub mod montage;
mod spline;
mod topography;

pub use topography::Topography;
pub(crate) use topography::key;
