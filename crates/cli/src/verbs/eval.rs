//! `fedspd eval`: scores of a trained model on other data.

use std::io::Write;

use clap::Args;
use fedspd_experiment::ModelScores;
use fedspd_report::compare::bootstrap;
use fedspd_run::{Confusion, counted};
use serde_json::json;

use super::data::{Format, write_json};
use super::predict::ModelAndData;
use crate::failure::Failure;
use crate::table::Table;

/// Fewest subjects for an interval over subjects. With fewer, the interval is over trials.
const FEWEST_SUBJECTS: usize = 5;

/// Arguments of `fedspd eval`.
#[derive(Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    chosen: ModelAndData,
    /// Format of the printed result.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<(), Failure> {
    let predictions = arguments.chosen.predictions()?;
    let scores = ModelScores::new(&predictions)?;
    let (all, interval) = (&scores.confusion, interval(&scores));
    let classes = &predictions.classes;
    let chance = 1.0 / classes.len() as f64;
    if arguments.format == Format::Json {
        let subjects = scores.subjects.iter().map(|(subject, confusion)| {
            json!({ "subject": subject, "trials": confusion.total(), "macro_f1": confusion.macro_f1_of_present(), "accuracy": confusion.accuracy() })
        });
        return write_json(
            out,
            &json!({
                "trials": all.total(), "macro_f1": all.macro_f1(), "interval": interval.map(|(ends, _)| ends), "chance": chance,
                "accuracy": all.accuracy(), "kappa": all.kappa(), "loss": scores.loss, "classes": classes,
                "f1": all.f1_per_class(), "confusion": all.counts(), "calibrated": predictions.calibrated,
                "align": arguments.chosen.mode(), "notes": predictions.notes, "subjects": subjects.collect::<Vec<_>>(),
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
            percent(confusion.macro_f1_of_present()),
            percent(confusion.accuracy()),
        ]);
    }
    table.row(vec!["all".into(), all.total().to_string(), percent(all.macro_f1()), percent(all.accuracy())]);
    table.write(out)?;
    writeln!(out)?;
    if let Some(([low, high], over)) = interval {
        let (low, high) = (percent(low), percent(high));
        writeln!(out, "Macro-F1 of all trials: 95% interval {low} to {high}, by bootstrap over {over}.")?;
    }
    writeln!(out, "Guessing among {} gives {}.\n", counted(classes.len(), "class"), percent(chance))?;
    write_classes(classes, all, out)?;
    let support = all.support();
    let absent: Vec<&str> =
        classes.iter().zip(&support).filter(|(_, count)| **count == 0).map(|(class, _)| &**class).collect();
    if !absent.is_empty() {
        writeln!(
            out,
            "\nThere is no trial of {}. All trials together count all classes; a subject counts those that it has.",
            absent.join(", ")
        )?;
    }
    writeln!(out, "\n{}", arguments.chosen.explained(&predictions))?;
    Ok(())
}

/// Prints the F1 of each class and the confusion matrix.
fn write_classes(classes: &[String], all: &Confusion, out: &mut impl Write) -> Result<(), Failure> {
    let mut head = vec!["true class", "F1"];
    head.extend(classes.iter().map(String::as_str));
    let mut table = Table::new(1, &head);
    for (class, (f1, row)) in
        classes.iter().zip(all.f1_per_class().iter().zip(all.counts().chunks(classes.len())))
    {
        let mut cells = vec![class.clone(), format!("{:.1}", 100.0 * f1)];
        cells.extend(row.iter().map(u64::to_string));
        table.row(cells);
    }
    writeln!(out, "Trials by true class (rows) and predicted class (columns):\n")?;
    Ok(table.write(out)?)
}

/// Returns the bootstrap interval of the macro-F1 of all trials, and what was drawn.
fn interval(scores: &ModelScores) -> Option<([f64; 2], &'static str)> {
    let classes = scores.confusion.classes();
    let pooled = |counts: &mut dyn Iterator<Item = &[u64]>| {
        let mut sum = vec![0; classes * classes];
        for counts in counts {
            sum.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
        Confusion::of(classes, &sum).map_or(f64::NAN, |confusion| confusion.macro_f1())
    };
    let subjects: Vec<&[u64]> = scores.subjects.iter().map(|(_, confusion)| confusion.counts()).collect();
    if subjects.len() >= FEWEST_SUBJECTS {
        let drawn = |places: &[usize]| pooled(&mut places.iter().map(|&place| subjects[place]));
        return Some((bootstrap(subjects.len(), drawn)?, "subjects"));
    }
    // Each trial is one cell of the confusion matrix.
    let cells = scores.confusion.counts().iter().enumerate();
    let trials: Vec<usize> = cells.flat_map(|(cell, &count)| vec![cell; count as usize]).collect();
    let drawn = |places: &[usize]| {
        let mut sum = vec![0; classes * classes];
        for &place in places {
            sum[trials[place]] += 1;
        }
        pooled(&mut std::iter::once(&sum[..]))
    };
    Some((bootstrap(trials.len(), drawn)?, "trials"))
}
