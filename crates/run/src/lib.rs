//! The run folder's vocabulary: what a run writes and a report reads.
//!
//! | file | type |
//! |---|---|
//! | the folder itself | [`RunFolder`] |
//! | `.lock` | [`FolderLock`] |
//! | `manifest.json` | [`Manifest`] |
//! | `events.jsonl` | [`Event`], [`EventLog`] |
//! | `results.csv` | [`ResultRow`], [`ResultTable`]; its scores are those of a [`Confusion`] |
//! | `summary.json`, when all seeds are done | [`Headline`]: mean and deviation over seeds |
//! | `shards.json` | [`Shards`] |
//! | `portraits/seed-N.json` | [`Portrait`] |
//!
//! Types and files only: nothing here trains, and nothing here knows a model, so that a report can be drawn years later. Whole files are
//! written by [`atomic::write`]; the log of events is the one file that grows, and [`EventLog`] mends what a kill leaves of it.

pub mod atomic;
mod confusion;
mod csv;
mod error;
mod event;
mod event_log;
mod folder;
mod headline;
mod json;
mod lock;
mod manifest;
mod number;
mod portrait;
mod results;
mod shards;

pub use confusion::{Confusion, ConfusionFault};
pub use csv::CsvFault;
pub use error::Error;
pub use event::{DroppedClient, Event, LayerReport, Round};
pub use event_log::EventLog;
pub use folder::RunFolder;
pub use headline::{Headline, Summary, headline, summary, validation_f1};
pub use lock::FolderLock;
pub use manifest::{ExcludedSubject, Manifest, SCHEMA_VERSION, Status};
pub use portrait::{InputPortrait, Pattern, Plane, Portrait, Spectrum};
pub use results::{COLUMNS, ResultRow, ResultTable};
pub use shards::{HeldOutShard, SeedShards, Shard, Shards};
