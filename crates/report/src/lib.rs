//! From run folders to a report: one HTML file with figures, tables and what must be known with them, and the same as SVG, CSV and LaTeX.
//!
//! A report reads the files of [`fedspd_run`] and nothing else: no model, no data, no network. It can be drawn years after the run, and the same folders give the same bytes.
//! Clients have numbers, and no subject is named unless it is asked for.
//!
//! | step | where |
//! |---|---|
//! | a folder becomes a [`Run`] | `run` |
//! | runs are told apart by what differs | `label` |
//! | what is said, part by part | `sections` |
//! | the paper's numbers beside ours | `paper` |
//! | one setting, several values | `swept` |
//! | figures | [`chart`], [`scalp`] |
//! | tables | [`Table`] |
//! | which of several runs is better | [`compare`] |
//! | files | [`Report`] |

pub mod chart;
pub mod compare;
mod error;
mod label;
mod latex;
mod page;
mod paper;
mod report;
mod run;
pub mod scalp;
mod sections;
mod swept;
mod table;
mod words;

pub use error::Error;
pub use paper::CellRun;
pub use report::{Format, Report};
pub use run::{Course, Run};
pub use swept::SweepRun;
pub use table::{Best, Cell, Table};
