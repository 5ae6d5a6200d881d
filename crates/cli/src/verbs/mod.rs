//! One file per verb.

pub(crate) mod data;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod eval;
pub(crate) mod new;
pub(crate) mod resume;
pub(crate) mod run;
