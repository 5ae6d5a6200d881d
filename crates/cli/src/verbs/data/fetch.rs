//! `fedspd data fetch`: download of a dataset.

use std::io::Write;
use std::path::Path;
use std::time::Duration;

use clap::Args;
use fedspd_eeg::dataset::definition;
use fedspd_eeg::fetch::{Fetched, Fetcher, Obstacle, Progress, RemoteFile, Settings};
use serde_json::json;

use super::{Chosen, Format, write_json};
use crate::failure::Failure;
use crate::interrupt;
use crate::progress::{Bar, Shown};

/// Arguments of `fedspd data fetch`.
#[derive(Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    chosen: Chosen,
    /// Use local files only; a missing file is an error.
    #[arg(long)]
    offline: bool,
    /// Display of progress.
    #[arg(long, value_enum, default_value_t = Shown::Auto)]
    progress: Shown,
    /// Format of the printed summary.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<(), Failure> {
    let chosen = &arguments.chosen;
    let definition = definition(&chosen.name)?;
    let files = definition.remote_files(chosen.subjects.as_ref())?.len();
    interrupt::leave(arguments.format == Format::Json);
    let fetcher = Fetcher::new(Settings { offline: arguments.offline, ..Settings::default() });
    let bar = Bar::new(arguments.progress, files, "files");
    let mut watch = Watch { bar, present: 0, downloaded: 0, unpacked: 0, received: 0 };
    definition.fetch(chosen.subjects.as_ref(), &chosen.locations(), &fetcher, &mut watch)?;
    watch.bar.finish();
    if arguments.format == Format::Json {
        let Watch { present, downloaded, unpacked, received, .. } = watch;
        return write_json(
            out,
            &json!({
                "name": definition.name, "files": files, "present": present, "downloaded": downloaded, "unpacked": unpacked,
                "received_bytes": received, "licence": definition.licence, "citations": definition.citations,
            }),
        );
    }
    let Watch { present, downloaded, unpacked, received, .. } = watch;
    let from_archives =
        if unpacked > 0 { format!(", {unpacked} unpacked from archives") } else { String::new() };
    writeln!(
        out,
        "files: {present} already present, {downloaded} downloaded{from_archives} ({:.1} MB received)",
        received as f64 / 1e6
    )?;
    if !definition.licence.is_empty() {
        writeln!(out, "licence: {}; for citations see `fedspd data list`", definition.licence)?;
    }
    Ok(())
}

struct Watch {
    bar: Bar,
    present: usize,
    downloaded: usize,
    unpacked: usize,
    received: u64,
}

impl Progress for Watch {
    fn waiting(&mut self, file: &RemoteFile) {
        self.bar.note(&format!("{}: another process downloads it; waiting", name(&file.path)));
    }

    fn advanced(&mut self, file: &RemoteFile, bytes: u64, total: Option<u64>) {
        let (megabytes, name) = (bytes as f64 / 1e6, name(&file.path));
        let of = total.map_or(String::new(), |total| format!(" of {:.1}", total as f64 / 1e6));
        self.bar.message(format!("{name} {megabytes:.1}{of} MB"));
    }

    fn retrying(&mut self, file: &RemoteFile, obstacle: &Obstacle, wait: Duration) {
        self.bar.note(&format!("{}: {obstacle}; next attempt in {} s", name(&file.path), wait.as_secs()));
    }

    fn next_address(&mut self, file: &RemoteFile, obstacle: &Obstacle) {
        self.bar.note(&format!("{}: {obstacle}; trying a mirror", name(&file.path)));
    }

    fn done(&mut self, _: &RemoteFile, fetched: &Fetched) {
        match *fetched {
            Fetched::Present => self.present += 1,
            Fetched::Downloaded { received } => {
                self.downloaded += 1;
                self.received += received;
            }
            Fetched::Unpacked { received } => {
                self.unpacked += 1;
                self.received += received;
            }
        }
        self.bar.advance();
    }
}

fn name(path: &Path) -> String {
    path.display().to_string()
}
