//! Sections of a report.

mod cautions;
mod clients;
mod confusion;
mod cost;
mod federation;
mod input;
mod names;
pub(crate) mod network;
mod participation;
mod plane;
mod result;
mod rounds;
pub(crate) mod setup;

use crate::LoadedRun;
use crate::chart::{Figure, Point, Series};
use crate::run::Curve;
use crate::table::Table;

/// A section of a report.
#[derive(Clone, Debug)]
pub(crate) struct Section {
    pub(crate) slug: &'static str,
    pub(crate) title: &'static str,
    pub(crate) parts: Vec<Block>,
}

/// An element of a section.
#[derive(Clone, Debug)]
pub(crate) enum Block {
    /// A paragraph.
    Text(String),
    /// A list of caveats.
    Cautions(Vec<String>),
    /// A figure.
    Figure(Figure),
    /// A table.
    Table(Table),
    /// A table that is written to files only, not to the page.
    File(Table),
    /// A block that is collapsed at first.
    Details {
        /// Its title.
        title: String,
        /// Its text, with line ends kept.
        lines: String,
    },
}

/// Builds all sections for labelled runs.
pub(crate) fn all(runs: &[LoadedRun], name_subjects: bool) -> Vec<Section> {
    let sections = vec![
        result::section(runs),
        rounds::section(runs),
        confusion::section(runs),
        clients::section(runs),
        federation::section(runs),
        network::section(runs),
        setup::section(runs, name_subjects),
    ];
    sections.into_iter().filter(|section| !section.parts.is_empty()).collect()
}

/// Draws a curve, with values multiplied by `factor`.
pub(crate) fn curve(name: &str, style: usize, values: &Curve, factor: f64) -> Series {
    let point = |(round, summary): &(f64, fedspd_run::Summary)| {
        Point::new(*round, factor * summary.mean).within(factor * summary.std)
    };
    Series { name: name.to_owned(), style, behind: false, points: values.iter().map(point).collect() }
}

/// Describes means and deviations for captions.
fn over_seeds(runs: &[LoadedRun]) -> String {
    let seeds: Vec<usize> = runs.iter().map(LoadedRun::seeds_done).collect();
    if let Some(folds) = runs.iter().map(LoadedRun::folds).max().filter(|&folds| folds > 1) {
        return format!(
            "Lines are means over seeds and their folds (up to {folds}), bands are ±1 standard deviation."
        );
    }
    match (seeds.iter().min(), seeds.iter().max()) {
        (Some(1), Some(1)) => "One seed, so there is no deviation to show.".into(),
        (Some(least), Some(most)) if least == most => {
            format!("Lines are means over {most} seeds, bands are ±1 standard deviation.")
        }
        (Some(least), Some(most)) => {
            format!("Lines are means over seeds ({least} to {most} by run), bands are ±1 standard deviation.")
        }
        _ => String::new(),
    }
}
