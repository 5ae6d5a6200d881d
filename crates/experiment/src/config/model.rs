//! `[model]`: the network.

pub use fedspd_nn::{FedBn, ModelKind, ModelSettings, Precision};

use super::conflict::Conflict;

/// Checks that sizes never increase.
pub(crate) fn check(model: &ModelSettings) -> Result<(), Conflict> {
    let dims = &model.dims;
    let Some(index) = dims.windows(2).position(|pair| pair[0] < pair[1]) else { return Ok(()) };
    let found = format!("`model.dims` increases from {} to {}", dims[index], dims[index + 1]);
    let at = (index + 1).to_string();
    let rule = "sizes must never increase: a BiMap with orthonormal columns cannot widen";
    Err(Conflict::new(&["model", "dims", &at], found, rule))
}
