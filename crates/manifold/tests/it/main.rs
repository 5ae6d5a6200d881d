//! Tests of geometric properties, of the eigensolver on many matrices, and of golden values.
//!
//! Each test names the property that it checks.
#![allow(clippy::unwrap_used)] // test helpers may panic, as tests do

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
