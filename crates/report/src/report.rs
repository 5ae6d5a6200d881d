//! Reports: from runs to files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use fedspd_run::atomic;

use crate::page::page;
use crate::sections::{self, Block, Section};
use crate::words::count;
use crate::{Error, LoadedRun, Table, read_runs};

/// An output format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// The HTML page.
    Html,
    /// Figures as separate files.
    Svg,
    /// Tables for programs.
    Csv,
    /// Tables for papers.
    Latex,
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 4] = [Self::Html, Self::Svg, Self::Csv, Self::Latex];
}

/// A report, ready to be written.
#[derive(Clone, Debug)]
pub struct Report {
    pub(crate) title: String,
    pub(crate) about: String,
    pub(crate) sections: Vec<Section>,
}

impl Report {
    /// Builds a report on run folders. Names subjects only if `name_subjects` is set.
    ///
    /// # Errors
    /// When no folder is given, or one cannot be read.
    pub fn new(folders: &[impl AsRef<Path>], name_subjects: bool) -> Result<Self, Error> {
        Self::of(&read_runs(folders, &[])?, name_subjects)
    }

    /// Builds a report on runs that were read and labelled before.
    ///
    /// # Errors
    /// When no run is given.
    pub fn of(runs: &[LoadedRun], name_subjects: bool) -> Result<Self, Error> {
        let first = runs.first().ok_or(Error::NoRuns)?;
        let dataset = &first.manifest.dataset;
        let (title, about) = if let [run] = runs {
            let about = format!(
                "{}, {} on {dataset}: {}, {}.",
                run.network(),
                run.label,
                count(run.clients(), "client"),
                count(run.seeds_done(), "seed")
            );
            (format!("Report: {}", run.manifest.name), about)
        } else {
            let same = runs.iter().all(|run| run.manifest.dataset == *dataset);
            let on = if same { format!(" on {dataset}") } else { String::new() };
            (
                format!("Report: {} runs{on}", runs.len()),
                runs.iter().map(|run| run.label.as_str()).collect::<Vec<_>>().join(" · "),
            )
        };
        Ok(Self { title, about, sections: sections::all(runs, name_subjects) })
    }

    /// Builds a report from finished sections.
    pub(crate) fn made_of(title: String, about: String, sections: Vec<Section>) -> Self {
        Self { title, about, sections }
    }

    /// Returns the table with this slug as plain text; empty if there is none.
    pub fn text(&self, slug: &str) -> String {
        let parts = self.sections.iter().flat_map(|section| &section.parts);
        let tables = parts.filter_map(|part| if let Block::Table(table) = part { Some(table) } else { None });
        tables.filter(|table| table.slug == slug).map(Table::text).collect()
    }

    /// Returns the HTML page.
    pub fn html(&self) -> String {
        page(&self.title, &self.about, &self.sections)
    }

    /// Returns every file by its path in the report folder.
    pub fn files(&self, formats: &[Format]) -> BTreeMap<String, String> {
        let mut files = BTreeMap::new();
        if formats.contains(&Format::Html) {
            files.insert("report.html".to_owned(), self.html());
        }
        for part in self.sections.iter().flat_map(|section| &section.parts) {
            match part {
                Block::Figure(figure) if formats.contains(&Format::Svg) => {
                    files.insert(format!("figures/{}.svg", figure.slug), figure.svg());
                }
                Block::Table(table) | Block::File(table) => {
                    if formats.contains(&Format::Csv) {
                        files.insert(format!("tables/{}.csv", table.slug), table.csv());
                    }
                    // The facts are sentences, which do not suit a table in a paper.
                    if formats.contains(&Format::Latex)
                        && table.rows.len() <= LONGEST
                        && !table.slug.starts_with("facts")
                    {
                        files.insert(format!("tables/{}.tex", table.slug), table.latex());
                    }
                }
                _ => {}
            }
        }
        files
    }

    /// Writes the files. Returns the path of the page, or of the folder if no page was requested.
    ///
    /// # Errors
    /// When a file cannot be written; files written before it are complete.
    pub fn write(&self, folder: &Path, formats: &[Format]) -> Result<PathBuf, Error> {
        for (name, text) in self.files(formats) {
            let path = folder.join(name);
            if let Some(parent) = path.parent() {
                atomic::create_folder(parent)?;
            }
            atomic::write(&path, text.as_bytes())?;
        }
        Ok(if formats.contains(&Format::Html) { folder.join("report.html") } else { folder.to_owned() })
    }
}

/// Largest number of rows of a LaTeX table, which is split into pages. Longer ones are for programs.
const LONGEST: usize = 120;
