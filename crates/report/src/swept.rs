//! Reports on sweeps: one setting with several values.

use std::path::PathBuf;

use fedspd_run::{Summary, validation_f1};

use crate::chart::{Axis, Figure, Lines, Point, Series};
use crate::same_trials::unranked;
use crate::sections::{Block, Section, network, setup};
use crate::table::{Best, Cell, Table};
use crate::words::count;
use crate::{Error, LoadedRun, Report};

/// A run of a sweep.
#[derive(Clone, Debug)]
pub struct SweepRun {
    /// The value of the setting.
    pub value: String,
    /// The run folder.
    pub folder: PathBuf,
}

impl Report {
    /// Builds a report on a sweep over a setting. `chosen` is the index of the value chosen on
    /// validation trials.
    ///
    /// # Errors
    /// When there is no run, or one cannot be read.
    pub fn sweep(key: &str, sweep: &[SweepRun], chosen: Option<usize>) -> Result<Self, Error> {
        let mut runs = sweep.iter().map(|run| LoadedRun::read(&run.folder)).collect::<Result<Vec<_>, _>>()?;
        for (run, SweepRun { value, .. }) in runs.iter_mut().zip(sweep) {
            run.label = format!("{key}={value}");
        }
        let first = runs.first().ok_or(Error::NoRuns)?;
        let (name, seeds) = (first.manifest.name.clone(), first.seeds_done());
        let mut parts = Vec::new();
        if let Some(place) = chosen {
            parts.push(Block::Text(format!(
                "Chosen: `{key}={}`, the first value with the highest F1 on validation trials. The choice never uses test trials; their scores are for information only.",
                sweep[place].value
            )));
        }
        parts.extend(figure(key, sweep, &runs).map(Block::Figure));
        parts.push(Block::Table(table(key, sweep, &runs)));
        let interpreted = [runs[chosen.unwrap_or(0)].clone()];
        let sections = vec![
            Section { slug: "sweep", title: "Scores by value", parts },
            network::section(&interpreted),
            setup::section(&runs, false),
        ];
        let about = format!("{} of {key}; seeds per value: {seeds}.", count(sweep.len(), "value"));
        Ok(Self::made_of(format!("{name}: {key}"), about, sections))
    }
}

/// Plots F1 over the values; none if a value is not a number.
fn figure(key: &str, sweep: &[SweepRun], runs: &[LoadedRun]) -> Option<Figure> {
    let bare = |run: &SweepRun| run.value.trim_matches(['[', ']']).parse::<f64>().ok();
    let values = sweep.iter().map(bare).collect::<Option<Vec<f64>>>()?;
    let series = |name: &str, style: usize, of: &dyn Fn(&LoadedRun) -> Summary| {
        let mut points: Vec<Point> = values
            .iter()
            .zip(runs)
            .map(|(&value, run)| {
                let score = of(run);
                Point::new(value, 100.0 * score.mean).within(100.0 * score.std)
            })
            .collect();
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        Series { name: name.into(), style, behind: false, points }
    };
    let curves = [
        series("validation", 0, &|run| validation_f1(&run.results)),
        series("test", 1, &|run| run.headline().macro_f1),
    ];
    Some(Figure {
        slug: "sweep".into(),
        title: format!("F1 by {key}"),
        description: format!("Macro-F1 on validation and on test trials for each value of {key}."),
        caption: "Macro-F1 of the final models; bands are ±1 standard deviation over seeds. The choice uses validation trials only.".into(),
        columns: 1,
        panels: vec![
            Lines { heading: "", x: Axis::new(key), y: Axis::new("F1, %"), references: &[] }.draw(&curves),
        ],
    })
}

fn table(key: &str, sweep: &[SweepRun], runs: &[LoadedRun]) -> Table {
    let cell = |score: Summary| Cell::Score { mean: 100.0 * score.mean, std: 100.0 * score.std };
    let clamped = |run: &LoadedRun| {
        let inputs = run.interpretation.as_ref().map(|(_, interpretation)| &interpretation.inputs);
        let share = |inputs: &Vec<fedspd_run::InputInterpretation>| {
            100.0 * inputs.iter().map(|input| input.clamped).sum::<f64>() / inputs.len().max(1) as f64
        };
        inputs.map_or(Cell::word("–"), |inputs| Cell::Number(format!("{:.1}%", share(inputs))))
    };
    let row = |(value, run): (&SweepRun, &LoadedRun)| {
        vec![
            Cell::word(&value.value),
            cell(validation_f1(&run.results)),
            cell(run.headline().macro_f1),
            Cell::Number(run.manifest.parameters.to_string()),
            clamped(run),
        ]
    };
    Table {
        slug: "sweep".into(),
        caption: "Macro-F1 in percent (mean ± standard deviation over seeds), number of parameters, and share of eigenvalues below eps after the BiMaps.".into(),
        head: [key, "validation F1", "test F1", "parameters", "below eps"].map(String::from).into(),
        rows: sweep.iter().zip(runs).map(row).collect(),
        best: if unranked(runs).is_none() { Best::InTheColumn(1) } else { Best::Nowhere },
    }
}
