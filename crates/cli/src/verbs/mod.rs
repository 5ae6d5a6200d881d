//! One file per verb.

pub(crate) mod data;
pub(crate) mod demo;
