//! From run folders to a report.

pub mod chart;
mod latex;
mod table;

pub use table::{Best, Cell, Table};
