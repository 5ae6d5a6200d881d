//! Runs in, files out.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use fedspd_run::atomic;

use crate::page::page;
use crate::sections::{self, Part, Section};
use crate::words::count;
use crate::{Error, Run, Table, label};

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// The page.
    Html,
    /// Figures by themselves.
    Svg,
    /// Tables for programs.
    Csv,
    /// Tables for papers.
    Latex,
}

impl Format {
    /// Everything.
    pub const ALL: [Self; 4] = [Self::Html, Self::Svg, Self::Csv, Self::Latex];
}

/// A report that has not been written yet.
#[derive(Clone, Debug)]
pub struct Report {
    pub(crate) title: String,
    pub(crate) about: String,
    pub(crate) sections: Vec<Section>,
}

impl Report {
    /// On these run folders. Subjects are named only if asked for.
    ///
    /// # Errors
    /// When there is none, or one cannot be read.
    pub fn new(folders: &[impl AsRef<Path>], name_subjects: bool) -> Result<Self, Error> {
        let runs = folders.iter().map(|folder| Run::read(folder.as_ref())).collect::<Result<_, _>>()?;
        Self::of(runs, name_subjects)
    }

    /// On runs that have been read.
    ///
    /// # Errors
    /// When there is none.
    pub fn of(mut runs: Vec<Run>, name_subjects: bool) -> Result<Self, Error> {
        label::tell_apart(&mut runs);
        let first = runs.first().ok_or(Error::NoRuns)?;
        let dataset = &first.manifest.dataset;
        let (title, about) = if let [run] = &runs[..] {
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
        Ok(Self { title, about, sections: sections::all(&runs, name_subjects) })
    }

    /// Of parts that were made elsewhere.
    pub(crate) fn made_of(title: String, about: String, sections: Vec<Section>) -> Self {
        Self { title, about, sections }
    }

    /// A table by its slug as lines of plain text; nothing if there is none.
    pub fn text(&self, slug: &str) -> String {
        let parts = self.sections.iter().flat_map(|section| &section.parts);
        let tables = parts.filter_map(|part| if let Part::Table(table) = part { Some(table) } else { None });
        tables.filter(|table| table.slug == slug).map(Table::text).collect()
    }

    /// The page.
    pub fn html(&self) -> String {
        page(&self.title, &self.about, &self.sections)
    }

    /// Every file by its path in the folder of the report.
    pub fn files(&self, formats: &[Format]) -> BTreeMap<String, String> {
        let mut files = BTreeMap::new();
        if formats.contains(&Format::Html) {
            files.insert("report.html".to_owned(), self.html());
        }
        for part in self.sections.iter().flat_map(|section| &section.parts) {
            match part {
                Part::Figure(figure) if formats.contains(&Format::Svg) => {
                    files.insert(format!("figures/{}.svg", figure.slug), figure.svg());
                }
                Part::Table(table) | Part::File(table) => {
                    if formats.contains(&Format::Csv) {
                        files.insert(format!("tables/{}.csv", table.slug), table.csv());
                    }
                    // What is told in whole sentences is no table of a paper.
                    if formats.contains(&Format::Latex)
                        && table.rows.len() <= LONGEST
                        && table.slug != "facts"
                    {
                        files.insert(format!("tables/{}.tex", table.slug), table.latex());
                    }
                }
                _ => {}
            }
        }
        files
    }

    /// Writes the files and gives the path of the page, or of the folder if no page was asked for.
    ///
    /// # Errors
    /// When the system refuses; files that were written before are whole.
    pub fn write(&self, folder: &Path, formats: &[Format]) -> Result<PathBuf, Error> {
        for (name, text) in self.files(formats) {
            let path = folder.join(name);
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent)
                    .map_err(|source| fedspd_run::Error::File { path: parent.to_owned(), source })?;
            }
            atomic::write(&path, text.as_bytes())?;
        }
        Ok(if formats.contains(&Format::Html) { folder.join("report.html") } else { folder.to_owned() })
    }
}

/// A table of a paper fits on a page.
const LONGEST: usize = 60;
