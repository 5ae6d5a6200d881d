//! Result of a run, as text or JSON.

use std::io::Write;
use std::path::Path;

use fedspd_experiment::config::Select;
use fedspd_experiment::{Ended, Experiment, Headline, headline, resume_command};
use fedspd_run::{ResultTable, Summary};
use serde::Serialize;
use serde_json::json;

use crate::failure::Failure;
use crate::table::Table;
use crate::verbs::data::{Format, write_json};

/// The result of a run in JSON: the keys of `summary.json`, with folder and seeds.
#[derive(Serialize)]
struct Outcome<'a> {
    folder: String,
    seeds: &'a [u64],
    #[serde(flatten)]
    headline: Headline,
}

/// Formats mean and standard deviation over seeds in percent; a dash if there is no score.
pub(crate) fn percent(summary: &Summary) -> String {
    let Summary { mean, std, .. } = *summary;
    if mean.is_nan() {
        "–".into()
    } else if std.is_nan() {
        format!("{:.1}", 100.0 * mean)
    } else {
        format!("{:.1} ± {:.1}", 100.0 * mean, 100.0 * std)
    }
}

/// Facts about a run that its result is printed with.
pub(crate) struct Told {
    seeds: Vec<u64>,
    select: Select,
    /// The treatment of held-out subjects.
    held_out: Option<String>,
}

impl Told {
    pub(crate) fn of(experiment: &Experiment) -> Self {
        Self {
            seeds: experiment.config.run.seeds.as_slice().to_vec(),
            select: experiment.config.select(),
            held_out: experiment.held_out_note(),
        }
    }
}

/// Prints the headline of a finished run, or fails with the command to resume it.
pub(crate) fn write(
    told: &Told,
    folder: &Path,
    results: &ResultTable,
    ended: Ended,
    format: Format,
    out: &mut impl Write,
) -> Result<(), Failure> {
    if let Ended::Interrupted { round, .. } = ended {
        return Err(Failure::Interrupted { round, resume: resume_command(folder) });
    }
    let headline = headline(results);
    if format == Format::Json {
        let (folder, seeds) = (folder.display().to_string(), &told.seeds[..]);
        return write_json(out, &json!(Outcome { folder, seeds, headline }));
    }
    let Headline {
        macro_f1,
        mean_client,
        worst_client,
        accuracy,
        kappa,
        held_out,
        feasibility_error,
        single_folds,
    } = headline;
    let pooled = if single_folds.is_some() { " and folds" } else { "" };
    let many = match told.seeds.len() {
        1 => String::new(),
        seeds => format!(", mean ± standard deviation over {seeds} seeds"),
    };
    writeln!(out, "Test trials of all clients{pooled}, in percent{many}:\n")?;
    let mut table = Table::new(1, &["score", "value"]);
    for (name, summary) in [
        ("macro-F1, all trials together", &macro_f1),
        ("macro-F1, mean of clients", &mean_client),
        ("macro-F1, worst client", &worst_client),
        ("accuracy", &accuracy),
        ("Cohen's kappa", &kappa),
    ] {
        table.row(vec![name.into(), percent(summary)]);
    }
    if held_out.count > 0 {
        table.row(vec!["macro-F1, held-out subjects".into(), percent(&held_out)]);
    }
    if let Some(folds) = &single_folds {
        let name = format!("macro-F1 of single folds ({} folds and seeds)", folds.count);
        table.row(vec![name, percent(folds)]);
    }
    if let Some(error) = feasibility_error {
        table.row(vec!["|WᵀW − I|, largest".into(), format!("{error:.1e}")]);
    }
    table.write(out)?;
    writeln!(
        out,
        "\nScored is {}. All trials together count all classes; a client counts those that it has.",
        told.select.title()
    )?;
    if let Some(note) = &told.held_out {
        writeln!(out, "\nHeld-out subjects: {note}.")?;
    }
    writeln!(out, "\nRun folder: {}", folder.display())?;
    Ok(())
}
