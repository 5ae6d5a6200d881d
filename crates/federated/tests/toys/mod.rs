//! Custom methods, one file each, as an outside developer would write them.
//!
//! `fedspd-experiment` includes them with its feature `toys`, for tests over Flower. Releases do
//! not include them.

mod control;
mod two_exchanges;

pub(crate) use control::control;
pub(crate) use two_exchanges::two_exchanges;
