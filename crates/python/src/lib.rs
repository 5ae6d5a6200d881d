//! The Rust half of the Python package: `fedspd._core`.
//!
//! The public package is in `python/fedspd`. This crate converts arrays to slices and faults to
//! exceptions, and releases the interpreter while Rust works.
// Arguments from Python arrive by value.
#![allow(clippy::needless_pass_by_value)]

mod arrays;
mod averages;
mod choice;
mod error;
mod flower;
mod labels;
mod model;
mod sample;
mod spd;
mod spectral;
mod stiefel;
mod watch;

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs the `fedspd` command and returns its exit code. The first word is the program's name.
#[pyfunction]
fn command(python: Python<'_>, words: Vec<OsString>) -> u8 {
    python.detach(|| fedspd::command(words))
}

#[pymodule]
mod _core {
    #[pymodule_export]
    use super::averages::{consensus, karcher_mean, proj_avg, qr_avg, r_barycenter, ret_avg, rl_avg};
    #[pymodule_export]
    use super::command;
    #[pymodule_export]
    use super::error::{ConvergenceError, Error, NotPositiveDefiniteError};
    #[pymodule_export]
    use super::flower::{Coordinator, Site, approve, introduced, one_line, policy, resolve, review, study};
    #[pymodule_export]
    use super::labels::distinct_names;
    #[pymodule_export]
    use super::model::{Model, Stream, model_of_run, train};
    #[pymodule_export]
    use super::sample::load_sample;
    #[pymodule_export]
    use super::spd::{distance_logeuclid, distance_riemannian, exp_map, geodesic, log_map};
    #[pymodule_export]
    use super::spd::{mean_logeuclid, mean_riemannian, whiten};
    #[pymodule_export]
    use super::spectral::{eigh, expm, invsqrtm, isometric_vech, logm, powm, reeig, sqrtm, vec, vech};
    #[pymodule_export]
    use super::stiefel::{
        feasibility_error, inverse_retract, lift, polar, qr_factor, random_stiefel, retract,
    };
    #[pymodule_export]
    use super::stiefel::{stiefel_exp, stiefel_log, tangent_project, transport};

    #[pymodule_export]
    #[allow(non_upper_case_globals)] // Python's name for it
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
