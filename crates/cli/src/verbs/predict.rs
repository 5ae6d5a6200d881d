//! `fedspd predict`: class probabilities of new trials.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use fedspd_eeg::dataset::Selection;
use fedspd_experiment::{Calibration, NewData, Predictions, Predictor, model_of_run};
use fedspd_run::{atomic, counted};
use serde_json::json;

use super::data::{Format, write_json};
use crate::failure::Failure;
use crate::interrupt;
use crate::progress::{Bar, Shown};
use crate::warning::warn;

/// The trials that a subject is aligned on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Align {
    All,
    Online,
}

/// A model and data for it.
#[derive(Args)]
pub(crate) struct ModelAndData {
    /// Model: a .safetensors file, or a run folder with one model.
    model: PathBuf,
    /// Data: a recording (.edf, .bdf) or a folder of them, a definition (.toml), prepared trials or
    /// covariances (.npz), or a built-in dataset. Recordings are prepared as the model says.
    #[arg(long)]
    data: Option<String>,
    /// Folder with the recordings of a definition or a built-in dataset.
    #[arg(long)]
    root: Option<PathBuf>,
    /// Subjects, such as 1-10,12 (default: all).
    #[arg(long)]
    subjects: Option<Selection>,
    /// Fit the alignment of each subject on its first trials only, and predict the others (default:
    /// all trials for both).
    #[arg(long, value_name = "TRIALS", value_parser = clap::value_parser!(u32).range(1..))]
    calibration: Option<u32>,
    /// Trials for the alignment of each subject: all, or for each trial only those before it and
    /// itself, as when trials arrive one by one.
    #[arg(long, value_enum, default_value_t = Align::All, conflicts_with = "calibration")]
    align: Align,
    /// Display of progress.
    #[arg(long, value_enum, default_value_t = Shown::Auto)]
    progress: Shown,
}

impl ModelAndData {
    /// Predicts the trials. Prints notes to standard error.
    pub(crate) fn predictions(&self) -> Result<Predictions, Failure> {
        let model = model(&self.model)?;
        let Some(data) = &self.data else {
            let text = "no data are given: name a recording, a folder, a definition, a file or a dataset with --data";
            return Err(Failure::Usage(text.into()));
        };
        let predictor = Predictor::load(&model)?;
        let data = NewData { root: self.root.clone(), subjects: self.subjects.clone(), ..NewData::new(data) };
        interrupt::listen("the file", self.progress);
        let bar = Bar::new(self.progress, 0, "files");
        let predictions = predictor.predict(&data, self.calibration(), &bar)?;
        bar.finish();
        warn(&predictions.notes);
        Ok(predictions)
    }

    fn calibration(&self) -> Calibration {
        match (self.calibration, self.align) {
            (Some(first), _) => Calibration::First(first as usize),
            (None, Align::All) => Calibration::All,
            (None, Align::Online) => Calibration::Online,
        }
    }

    /// Returns the name of the alignment mode in JSON.
    pub(crate) fn mode(&self) -> String {
        match self.calibration() {
            Calibration::First(first) => format!("first-{first}"),
            Calibration::All => "all".into(),
            Calibration::Online => "online".into(),
        }
    }

    /// Describes the fit of alignment and statistics.
    pub(crate) fn explained(&self, predictions: &Predictions) -> String {
        let what = match (predictions.alignment, predictions.calibrated) {
            (None, false) => return "The model aligns no subject.".into(),
            (Some(kind), false) => format!("The alignment ({kind}) is"),
            (None, true) => "The statistics of batch normalisation are".into(),
            (Some(kind), true) => {
                format!("The alignment ({kind}) and the statistics of batch normalisation are")
            }
        };
        match self.calibration() {
            Calibration::First(first) => format!(
                "{what} fitted on the first {} of each subject, without labels; only the others count.",
                counted(first, "trial")
            ),
            Calibration::All => format!("{what} fitted on all trials of each subject, without labels."),
            Calibration::Online => format!(
                "{what} fitted online: on the trials of the subject so far, without labels. Do not compare \
                 such scores with those of an alignment on all trials."
            ),
        }
    }
}

/// Arguments of `fedspd predict`.
#[derive(Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    chosen: ModelAndData,
    /// Output file (.csv): one row per trial.
    #[arg(long)]
    out: PathBuf,
    /// Format of the printed summary.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<(), Failure> {
    if arguments.out.extension().is_none_or(|extension| extension != "csv") {
        let path = arguments.out.display();
        return Err(Failure::Usage(format!("--out is {path}; predictions are a .csv file")));
    }
    let predictions = arguments.chosen.predictions()?;
    atomic::write(&arguments.out, predictions.to_csv().as_bytes())?;
    let trials = predictions.trials.len();
    if arguments.format == Format::Json {
        let file = arguments.out.display().to_string();
        return write_json(
            out,
            &json!({ "file": file, "trials": trials, "classes": predictions.classes, "notes": predictions.notes }),
        );
    }
    writeln!(out, "{}: predictions of {}", arguments.out.display(), counted(trials, "trial"))?;
    writeln!(out, "{}", arguments.chosen.explained(&predictions))?;
    Ok(())
}

/// Returns the path of a model; for a run folder, that of its only model.
fn model(path: &Path) -> Result<PathBuf, Failure> {
    if path.extension().is_some_and(|extension| extension == "npz") {
        let path = path.display();
        return Err(Failure::Usage(format!(
            "{path} is not a model: a model is a .safetensors file or a run folder; pass data with --data {path}"
        )));
    }
    Ok(if path.is_dir() { model_of_run(path)? } else { path.to_owned() })
}
