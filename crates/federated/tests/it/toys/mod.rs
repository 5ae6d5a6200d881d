//! Methods of one's own, one file each, as a stranger would write them.

mod control;
mod two_exchanges;

pub(crate) use control::control;
pub(crate) use two_exchanges::two_exchanges;
