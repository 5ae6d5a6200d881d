//! Methods of one's own, one file each, as a stranger would write them.
//!
//! `fedspd-experiment` builds them in with its feature `toys`, for tests over Flower. The product has
//! no such methods.

mod control;
mod two_exchanges;

pub(crate) use control::control;
pub(crate) use two_exchanges::two_exchanges;
