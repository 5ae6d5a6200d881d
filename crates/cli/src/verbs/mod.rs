//! One file per verb.

pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod data;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod eval;
pub(crate) mod export;
pub(crate) mod flower;
pub(crate) mod man;
pub(crate) mod new;
pub(crate) mod predict;
pub(crate) mod report;
pub(crate) mod reproduce;
pub(crate) mod resume;
pub(crate) mod run;
pub(crate) mod sweep;
