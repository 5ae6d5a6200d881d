//! Tests of readers, filters, trials, covariances and alignment: golden values of MNE, SciPy,
//! scikit-learn and pyRiemann, mathematical properties, and every message for bad input.
#![allow(clippy::unwrap_used)] // helpers of tests may panic as tests do

mod alignment;
mod covariance;
mod edf;
mod faulty;
mod fetch;
mod files;
mod filter;
mod foreign_arrays;
mod golden_edf;
mod inspect;
mod locations;
mod mat;
mod npz;
mod physionet;
mod pipeline;
mod real;
mod sample;
mod store;
mod support;
