//! Table of the quality of each covariance, for spreadsheets and programs.

use std::fmt::Write;
use std::io::ErrorKind;
use std::path::Path;

use fedspd_eeg::{About, Origin, Quality};

use crate::failure::Failure;

/// Checks the folder before the work, because [`write`] would fail only after it.
pub(super) fn check_folder(path: &Path) -> Result<(), Failure> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let refused = match std::fs::metadata(folder) {
        Ok(found) if found.is_dir() && path.is_dir() => ErrorKind::IsADirectory.into(),
        Ok(found) if found.is_dir() => return Ok(()),
        Ok(_) => ErrorKind::NotADirectory.into(),
        Err(source) => source,
    };
    Err(fedspd_eeg::Error::File { path: path.to_owned(), source: refused }.into())
}

/// Writes a row for every covariance, in the order of the file: trial by trial, input by input.
pub(super) fn write(
    path: &Path,
    about: &About,
    inputs: &[String],
    qualities: &[Quality],
) -> Result<(), Failure> {
    let mut text = String::from(
        "trial,subject,session,run,class,input,finite,rank,channels,smallest,largest,condition\n",
    );
    for (trial, (origin, own)) in about.origins.iter().zip(qualities.chunks(inputs.len())).enumerate() {
        let Origin { label, subject, session, run } = origin;
        let words = [subject, session, run, &about.classes[*label]].map(|word| cell(word)).join(",");
        for (input, quality) in inputs.iter().zip(own) {
            let Quality { rank, smallest, largest } = quality;
            let (input, channels) = (cell(input), about.channels.len());
            let (finite, condition) = (quality.is_finite(), quality.condition());
            // Writing to a text cannot fail.
            let _ = writeln!(
                text,
                "{trial},{words},{input},{finite},{rank},{channels},{smallest:e},{largest:e},{condition:e}"
            );
        }
    }
    fedspd_run::atomic::write(path, text.as_bytes()).map_err(|error| match error {
        // As for data files: a wrong folder is the user's fault, a full disk the machine's.
        fedspd_run::Error::File { path, source } => fedspd_eeg::Error::File { path, source }.into(),
        other => fedspd_experiment::Error::from(other).into(),
    })
}

/// Formats a CSV cell, in quotes if it needs them.
fn cell(word: &str) -> String {
    if word.contains([',', '"', '\n', '\r']) {
        return format!("\"{}\"", word.replace('"', "\"\""));
    }
    word.to_owned()
}
