//! `fedspd data inspect`: summary of one file.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use fedspd_eeg::read::{FileKind, MatFile};
use fedspd_eeg::store::{Loaded, Prepared, load};
use fedspd_eeg::{ChannelLook, Inspection, QualitySummary};
use fedspd_run::counted;
use serde_json::{Value, json};

use super::{Format, quality_json, with_making, write_json};
use crate::failure::Failure;
use crate::printable::printable;
use crate::table::Table;

/// Arguments of `fedspd data inspect`.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Recording (EDF, BDF), MATLAB file, or prepared data (.npz).
    file: PathBuf,
    /// Format of the printed summary.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<(), Failure> {
    let (path, json) = (&*arguments.file, arguments.format == Format::Json);
    match FileKind::of(path)? {
        FileKind::Npz => prepared(path, json, out),
        FileKind::Mat => matlab(path, json, out),
        FileKind::Recording => {
            let look = Inspection::of(path)?;
            if json {
                let value = serde_json::to_value(&look).unwrap_or_default();
                return write_json(out, &value);
            }
            recording(path, &look, out)
        }
    }
}

fn recording(path: &Path, look: &Inspection, out: &mut impl Write) -> Result<(), Failure> {
    writeln!(
        out,
        "{}: {}, {:.3} s, {}",
        path.display(),
        look.format,
        look.seconds,
        counted(look.channels.len(), "channel")
    )?;
    for gap in &look.gaps {
        writeln!(out, "  {gap}")?;
    }
    if let Some((rank, channels)) = look.rank {
        let judgement = if rank < channels { ": covariances will be singular" } else { "" };
        writeln!(out, "  rank {rank} of {}{judgement}", counted(channels, "channel"))?;
    }
    let notes: Vec<String> =
        look.annotations.iter().map(|(text, count)| format!("{text:?} {count}x")).collect();
    writeln!(out, "  annotations: {}\n", if notes.is_empty() { "none".into() } else { notes.join(", ") })?;
    let mut table = Table::new(1, &["channel", "Hz", "lowest", "highest", "deviation", "unit", ""]);
    let number = |value: Option<f64>| value.map_or("?".into(), |value| format!("{value:.1}"));
    for channel in &look.channels {
        let ChannelLook { name, sfreq, shown_in, lowest, highest, deviation, flat, fault, .. } = channel;
        table.row(vec![
            name.clone(),
            sfreq.to_string(),
            number(*lowest),
            number(*highest),
            number(*deviation),
            shown_in.clone(),
            fault.clone().unwrap_or_else(|| if *flat { "flat".into() } else { String::new() }),
        ]);
    }
    Ok(table.write(out)?)
}

fn matlab(path: &Path, json: bool, out: &mut impl Write) -> Result<(), Failure> {
    let mut file = MatFile::open(path)?;
    let mut variables = Vec::new();
    while let Some(variable) = file.next_variable()? {
        let (name, class) = (variable.name().to_owned(), variable.class().to_string());
        variables.push((name, class, variable.dims().to_vec()));
    }
    if json {
        let facts = |(name, class, shape): &(String, String, Vec<usize>)| json!({ "name": name, "class": class, "shape": shape });
        return write_json(
            out,
            &json!({ "format": "mat", "variables": variables.iter().map(facts).collect::<Value>() }),
        );
    }
    writeln!(out, "{}: MATLAB level 5, {}\n", path.display(), counted(variables.len(), "variable"))?;
    let mut table = Table::new(2, &["variable", "class", "shape"]);
    for (name, class, shape) in variables {
        let shape: Vec<String> = shape.iter().map(usize::to_string).collect();
        table.row(vec![name, class, shape.join(" x ")]);
    }
    Ok(table.write(out)?)
}

fn prepared(path: &Path, json: bool, out: &mut impl Write) -> Result<(), Failure> {
    let Loaded { content, notes } = load(path)?;
    let notes: Vec<String> = notes.iter().map(ToString::to_string).collect();
    let (about, kind, shape, quality) = match &content {
        Prepared::Trials(trials) => {
            (&trials.about, "trial", format!("{} each", counted(trials.length(), "sample")), None)
        }
        Prepared::Covariances(covariances) => {
            let quality = QualitySummary::of(&covariances.quality()?);
            (&covariances.about, "covariance", covariances.inputs.join("; "), quality)
        }
    };
    let counts = about.class_counts();
    if json {
        let facts = json!({
            "format": "npz", "kind": format!("{kind}s"), "trials": about.origins.len(), "subjects": about.subjects(), "channels": about.channels,
            "classes": about.classes, "counts": counts, "sfreq": about.sfreq, "unit": about.unit, "of": shape,
            "quality": quality.map(quality_json), "notes": notes,
        });
        return write_json(out, &with_making(facts, &about.making));
    }
    writeln!(
        out,
        "{}: {} ({}) of {}, {}, {} Hz, unit {}",
        path.display(),
        counted(about.origins.len(), kind),
        printable(&shape),
        counted(about.subjects().len(), "subject"),
        counted(about.channels.len(), "channel"),
        about.sfreq,
        about.unit
    )?;
    for (class, count) in about.classes.iter().zip(counts) {
        writeln!(out, "  {count:>6} {}", printable(class))?;
    }
    if let Some(estimator) = about.making.estimator() {
        writeln!(out, "  estimator {}", printable(estimator))?;
    }
    if let Some(align) = about.making.alignment() {
        writeln!(out, "  aligned subject by subject ({align})")?;
    }
    if about.making.z_score() {
        writeln!(out, "  every channel of every trial scaled to mean 0 and standard deviation 1")?;
    }
    for note in notes {
        writeln!(out, "  note: {}", printable(&note))?;
    }
    if let Some(quality) = quality {
        let channels = about.channels.len();
        writeln!(
            out,
            "  lowest rank {} of {channels}, smallest eigenvalue {:.3e}, largest condition number {:.3e}",
            quality.rank, quality.smallest, quality.condition
        )?;
    }
    Ok(())
}
