//! Builds reports from run folders: an HTML page with figures, tables and caveats, and the same
//! figures and tables as SVG, CSV and LaTeX files.
//!
//! A report reads only the files of [`fedspd_run`]: no model, no data, no network access. It can be
//! made years after the run, and the same folders give the same bytes. Clients appear as numbers.
//! Subjects are named only on request.
//!
//! | step | where |
//! |---|---|
//! | reading a folder into a [`LoadedRun`] | `run` |
//! | labels that distinguish runs | [`Label`], [`read_runs`] |
//! | settings that may name someone | `privacy` |
//! | runs tested on the same trials | `same_trials` |
//! | sections of the page | `sections` |
//! | published numbers next to ours | `paper` |
//! | sweeps over a setting | `swept` |
//! | figures | [`chart`], [`scalp`] |
//! | tables | [`Table`] |
//! | statistical comparison of runs | [`compare`] |
//! | output files | [`Report`] |

pub mod chart;
pub mod compare;
mod error;
mod label;
mod latex;
mod page;
mod paper;
mod privacy;
mod report;
mod run;
mod same_trials;
pub mod scalp;
mod sections;
mod swept;
mod table;
mod words;

pub use error::Error;
pub use label::{Label, distinct_names, read_runs};
pub use paper::CellRun;
pub use report::{Format, Report};
pub use run::{Curve, LoadedRun};
pub use swept::SweepRun;
pub use table::{Best, Cell, Table};
