//! Files of the run folder, which runs write and reports read.
//!
//! | file | type |
//! |---|---|
//! | the folder itself | [`RunFolder`] |
//! | `.lock` | [`FolderLock`] |
//! | `manifest.json` | [`Manifest`] |
//! | `events.jsonl` | [`Event`], [`EventLog`] |
//! | `results.csv` | [`ResultRow`], [`ResultTable`]; its scores come from a [`Confusion`] |
//! | `summary.json`, when all seeds are done | [`Headline`]: mean and deviation over seeds |
//! | `shards.json` | [`Shards`] |
//! | `interpretation/seed-N.json` | [`Interpretation`] |
//!
//! A run trains one [`Unit`] after the other: a seed, or one fold of a seed.
//!
//! The crate has types and files only. It neither trains nor knows models, so that reports can be
//! made years later. [`atomic::write`] writes whole files. The event log grows line by line;
//! [`EventLog`] repairs it after a kill.

pub mod atomic;
mod confusion;
mod count;
mod counted;
mod csv;
mod error;
mod event;
mod event_log;
mod folder;
mod headline;
mod interpretation;
mod json;
mod lock;
mod manifest;
mod number;
mod results;
mod resume_command;
mod shards;
mod trial_facts;
mod unit;

pub use confusion::{Confusion, ConfusionFault};
pub use counted::counted;
pub use csv::{CsvFault, csv_field};
pub use error::{Error, disk_hint};
pub use event::{DroppedClient, Event, LayerReport, Metric, Round};
pub use event_log::EventLog;

pub use folder::{Engine, RunFolder};
pub use headline::{Headline, Summary, headline, summary, validation_f1};
pub use interpretation::{InputInterpretation, Interpretation, Pattern, Plane, Spectrum};
pub use lock::FolderLock;
pub use manifest::{ExcludedSubject, Manifest, SCHEMA_VERSION, Status};
pub use results::{COLUMNS, FOLD, ResultRow, ResultTable};
pub use resume_command::{how_to_resume, resume_command, shell_word};
pub use shards::{HeldOutShard, SeedShards, Shard, Shards};
pub use trial_facts::TrialFacts;
pub use unit::{Stage, Unit};
