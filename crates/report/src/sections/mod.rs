//! What a report says, part by part.

mod clients;
mod cost;
mod course;
mod federation;
mod input;
mod mistakes;
mod names;
pub(crate) mod network;
mod participation;
mod plane;
mod result;
pub(crate) mod setup;

use crate::Run;
use crate::chart::{Figure, Point, Series};
use crate::run::Course;
use crate::table::Table;

/// A part of a report.
#[derive(Clone, Debug)]
pub(crate) struct Section {
    pub(crate) slug: &'static str,
    pub(crate) title: &'static str,
    pub(crate) parts: Vec<Part>,
}

/// What a section is made of.
#[derive(Clone, Debug)]
pub(crate) enum Part {
    /// A paragraph.
    Text(String),
    /// A list that must not be overlooked.
    Cautions(Vec<String>),
    /// A figure.
    Figure(Figure),
    /// A table.
    Table(Table),
    /// A table that is for programs and papers, not for the page.
    File(Table),
    /// What only some want to see.
    Details {
        /// What it is.
        title: String,
        /// Lines that stay as they are.
        lines: String,
    },
}

/// Everything there is to say about runs that have been told apart.
pub(crate) fn all(runs: &[Run], name_subjects: bool) -> Vec<Section> {
    let sections = vec![
        result::section(runs),
        course::section(runs),
        mistakes::section(runs),
        clients::section(runs),
        federation::section(runs),
        network::section(runs),
        setup::section(runs, name_subjects),
    ];
    sections.into_iter().filter(|section| !section.parts.is_empty()).collect()
}

/// A course as a curve, in percent if asked for.
pub(crate) fn curve(name: &str, style: usize, course: &Course, factor: f64) -> Series {
    let point = |(round, summary): &(f64, fedspd_run::Summary)| {
        Point::new(*round, factor * summary.mean).within(factor * summary.std)
    };
    Series { name: name.to_owned(), style, behind: false, points: course.iter().map(point).collect() }
}

/// How deviations are told in captions.
fn over_seeds(runs: &[Run]) -> String {
    let seeds: Vec<usize> = runs.iter().map(Run::seeds_done).collect();
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
