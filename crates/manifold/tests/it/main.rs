//! The properties of `algorithms.md` section 8 that concern geometry, the eigensolver's sweep, and golden values.
//!
//! Each test names the properties it shows.
#![allow(clippy::unwrap_used)] // helpers of tests may panic as tests do

mod averages;
mod bits;
mod dispatch;
mod eigensolver;
mod errors;
mod product;
mod spd;
mod spectral;
mod stiefel;
mod support;
mod tape;
mod vectorisation;
