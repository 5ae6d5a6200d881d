//! `fedspd eval`: evaluation of a trained model on other data.

use std::io::Write;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use fedspd_experiment::config::AlignKind;
use fedspd_experiment::{evaluate_model, model_of_run};
use serde_json::json;

use super::data::{Format, write_json};
use crate::failure::Failure;
use crate::table::Table;
use crate::warning::warn;

/// Arguments of `fedspd eval`.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Model: a .safetensors file, or a run folder with one seed.
    model: PathBuf,
    /// Covariances or trials: an .npz file as written by `fedspd data prepare`.
    #[arg(long)]
    data: PathBuf,
    /// Align each subject on all its trials first, without labels.
    #[arg(long, value_enum, default_value_t = Align::None)]
    align: Align,
    /// Format of the printed result.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Align {
    /// No alignment.
    None,
    /// By the affine-invariant mean of the subject's covariances.
    Riemannian,
    /// By the log-Euclidean mean of the subject's covariances.
    LogEuclidean,
    /// By the mean of `X X^T`, for trials.
    Euclidean,
}

pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<(), Failure> {
    let align = match arguments.align {
        Align::None => AlignKind::None,
        Align::Riemannian => AlignKind::Riemannian,
        Align::LogEuclidean => AlignKind::LogEuclidean,
        Align::Euclidean => AlignKind::Euclidean,
    };
    let scores = evaluate_model(&model(&arguments.model)?, &arguments.data, align)?;
    warn(&scores.notes);
    let all = &scores.confusion;
    if arguments.format == Format::Json {
        let subjects = scores.subjects.iter().map(|(subject, confusion)| {
            json!({ "subject": subject, "trials": confusion.total(), "macro_f1": confusion.macro_f1(), "accuracy": confusion.accuracy() })
        });
        return write_json(
            out,
            &json!({
                "trials": all.total(), "macro_f1": all.macro_f1(), "accuracy": all.accuracy(), "kappa": all.kappa(), "loss": scores.loss,
                "classes": scores.classes, "confusion": all.counts(), "calibrated": scores.calibrated, "subjects": subjects.collect::<Vec<_>>(),
                "notes": scores.notes,
            }),
        );
    }
    let percent = |score: f64| format!("{:.1}", 100.0 * score);
    let mut table = Table::new(1, &["subject", "trials", "macro-F1", "accuracy"]);
    for (subject, confusion) in &scores.subjects {
        let trials = confusion.total().to_string();
        table.row(vec![
            subject.clone(),
            trials,
            percent(confusion.macro_f1()),
            percent(confusion.accuracy()),
        ]);
    }
    table.row(vec!["all".into(), all.total().to_string(), percent(all.macro_f1()), percent(all.accuracy())]);
    table.write(out)?;
    if scores.calibrated {
        writeln!(
            out,
            "\nThe statistics of batch normalisation come from all trials of each subject, without labels."
        )?;
    }
    Ok(())
}

/// Returns the path of a model; for a run folder, that of its only model.
fn model(path: &std::path::Path) -> Result<PathBuf, Failure> {
    Ok(if path.is_dir() { model_of_run(path)? } else { path.to_owned() })
}
