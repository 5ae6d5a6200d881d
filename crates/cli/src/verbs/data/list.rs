//! `fedspd data list`: the built-in datasets.

use std::io::Write;

use clap::Args;
use fedspd_eeg::dataset::built_in;
use serde_json::json;

use super::{Format, write_json};
use crate::failure::Failure;
use crate::table::Table;

/// Arguments of `fedspd data list`.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Format of the printed list.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<(), Failure> {
    let datasets = built_in()?;
    if arguments.format == Format::Json {
        let facts = |d: &fedspd_eeg::Definition| {
            json!({
                "name": d.name, "title": d.title, "licence": d.licence, "citations": d.citations,
                "subjects": d.subjects.as_ref().map_or(0, |subjects| subjects.ids().len()),
                "excluded": d.excluded, "classes": d.classes(), "channels": d.channels, "sfreq": d.sfreq,
                "interval": d.interval, "samples": d.trial_length(d.sfreq), "band": d.band,
                "checksums": if d.has_checksums() { "published" } else { "of the first download" },
            })
        };
        return write_json(out, &datasets.iter().map(facts).collect());
    }
    let mut table =
        Table::new(2, &["name", "licence", "subjects", "left out", "channels", "classes", "Hz", "samples"]);
    for dataset in &datasets {
        table.row(vec![
            dataset.name.clone(),
            dataset.licence.clone(),
            dataset.subjects.as_ref().map_or(0, |subjects| subjects.ids().len()).to_string(),
            dataset.excluded.len().to_string(),
            dataset.channels.as_ref().map_or(0, Vec::len).to_string(),
            dataset.classes().len().to_string(),
            dataset.sfreq.to_string(),
            dataset.trial_length(dataset.sfreq).to_string(),
        ]);
    }
    table.write(out)?;
    for dataset in &datasets {
        writeln!(out, "\n{}: {}", dataset.name, dataset.title)?;
        for excluded in &dataset.excluded {
            writeln!(out, "  without subject {}: {}", excluded.subject, excluded.reason)?;
        }
        if !dataset.has_checksums() {
            writeln!(
                out,
                "  no checksums are published: the first download is trusted, and recorded to detect later changes"
            )?;
        }
        for citation in &dataset.citations {
            writeln!(out, "  cite {citation}")?;
        }
    }
    Ok(())
}
