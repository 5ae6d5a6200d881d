//! A comparison as tables and a figure.

use fedspd_run::{Summary, summary};

use super::{Comparison, DRAWS, LEVEL, Pair, Paired};
use crate::chart::{Axis, Figure, Reference, Row, Rows};
use crate::sections::{Block, Section};
use crate::words::count;
use crate::{Best, Cell, Report, Table};

/// All pairs of runs, paired by seed or by client.
pub struct Over<'a> {
    /// The unit of pairing: `seed` or `client`.
    pub unit: &'static str,
    /// The number of units.
    pub count: usize,
    /// The pairs of runs.
    pub pairs: Vec<(&'a Pair, &'a Paired)>,
}

impl Over<'_> {
    /// Returns a heading such as `over 10 seeds`.
    pub fn heading(&self) -> String {
        format!("over {}", count(self.count, self.unit))
    }
}

impl Comparison {
    /// Returns the name of a pair, such as `a − b`.
    pub fn name(&self, pair: &Pair) -> String {
        format!("{} − {}", self.runs[pair.first].name, self.runs[pair.second].name)
    }

    /// Returns the comparisons over seeds, and over clients if there are any.
    pub fn over(&self) -> Vec<Over<'_>> {
        let seeds = self.pairs.iter().map(|pair| (pair, &pair.over_seeds)).collect();
        let mut over = vec![Over { unit: "seed", count: self.seeds.len(), pairs: seeds }];
        if let Some(count) = self.clients {
            let pairs = self.pairs.iter().filter_map(|pair| Some((pair, pair.over_clients.as_ref()?)));
            over.push(Over { unit: "client", count, pairs: pairs.collect() });
        }
        over
    }

    /// Makes the table of the scores of every run.
    pub fn scores(&self) -> Table {
        let head = ["run", "seeds", "macro-F1, mean of seeds", "macro-F1, mean of clients"];
        let rows = self.runs.iter().map(|run| {
            let (seeds, clients) = (percent(&run.by_seed), percent(&run.by_client));
            vec![Cell::word(&*run.name), Cell::Number(self.seeds.len().to_string()), seeds, clients]
        });
        Table {
            slug: "compare-scores".into(),
            caption: "Test macro-F1 in percent: mean and standard deviation over seeds, and over clients (each averaged over seeds)".into(),
            head: head.map(str::to_owned).to_vec(),
            rows: rows.collect(),
            best: Best::InColumn,
        }
    }

    /// Makes the table of all pairs of runs with tests and effect sizes.
    pub fn table(&self) -> Table {
        let head = [
            "runs",
            "paired",
            "mean difference",
            "95% interval",
            "median",
            "dz",
            "rank-biserial",
            "p",
            "p, Holm",
        ];
        let rows = self.over().into_iter().flat_map(|over| {
            let row = |(pair, paired): &(&Pair, &Paired)| {
                let numbers = paired.shown().map(Cell::Number);
                [Cell::word(self.name(pair)), Cell::word(over.heading())].into_iter().chain(numbers).collect()
            };
            over.pairs.iter().map(row).collect::<Vec<Vec<Cell>>>()
        });
        Table {
            slug: "compare".into(),
            caption: "Paired differences of test macro-F1, in percentage points; two-sided Wilcoxon signed-rank tests, Holm's correction over all pairs of runs".into(),
            head: head.map(str::to_owned).to_vec(),
            rows: rows.collect(),
            best: Best::Nowhere,
        }
    }

    /// Makes the table of all differences, for other programs.
    pub fn differences(&self) -> Table {
        let rows = self.over().into_iter().flat_map(|over| {
            let unit = over.unit;
            // Clients are numbered: their names may be those of people.
            let number = |place: usize| if unit == "seed" { self.seeds[place] } else { place as u64 + 1 };
            let rows = over.pairs.iter().flat_map(|(pair, paired)| {
                paired.differences.iter().enumerate().map(|(place, difference)| {
                    vec![
                        Cell::word(&*self.runs[pair.first].name),
                        Cell::word(&*self.runs[pair.second].name),
                        Cell::word(unit),
                        Cell::Number(number(place).to_string()),
                        Cell::Number(difference.to_string()),
                    ]
                })
            });
            rows.collect::<Vec<_>>()
        });
        Table {
            slug: "compare-differences".into(),
            caption: "Differences of test macro-F1, the first run's minus the second's".into(),
            head: ["first", "second", "paired by", "number", "difference"].map(str::to_owned).to_vec(),
            rows: rows.collect(),
            best: Best::Nowhere,
        }
    }

    /// Draws the differences with their means and intervals.
    pub fn figure(&self) -> Figure {
        let over = self.over();
        let panels = over.iter().map(|over| {
            let rows: Vec<Row> =
                over.pairs.iter().map(|(pair, paired)| row(self.name(pair), paired)).collect();
            let x = Axis::new("difference of test macro-F1, points");
            let reference = Some(Reference { name: "no difference".into(), y: 0.0 });
            Rows { heading: &over.heading(), x, reference }.draw(&rows)
        });
        let said = over.iter().flat_map(|over| {
            over.pairs.iter().map(|(pair, paired)| {
                let [mean, interval, ..] = paired.shown();
                format!("{} {}: {mean} points, interval {interval}", self.name(pair), over.heading())
            })
        });
        Figure {
            slug: "compare".into(),
            title: "Differences between runs".into(),
            description: said.collect::<Vec<_>>().join("; ") + ".",
            caption: format!(
                "Small dots are the paired differences (first run minus second). The large dot is their mean; the line is its {}% interval from {DRAWS} bootstrap draws of pairs. At the end of a row: p of \
                 Wilcoxon's signed-rank test after Holm's correction.",
                100.0 * LEVEL
            ),
            columns: 1,
            panels: panels.collect(),
        }
    }

    /// Builds a report on the comparison: a page, the figure and the tables.
    pub fn report(&self) -> Report {
        let parts = vec![
            Block::Cautions(self.cautions.clone()),
            Block::Table(self.scores()),
            Block::Figure(self.figure()),
            Block::Table(self.table()),
            Block::File(self.differences()),
        ];
        Report {
            title: format!("Comparison of {} runs", self.runs.len()),
            about: self.runs.iter().map(|run| run.name.as_str()).collect::<Vec<_>>().join(" · "),
            sections: vec![Section { slug: "comparison", title: "Comparison", parts }],
        }
    }
}

impl Paired {
    /// Formats the statistics: mean, interval and median in points, dz, rank-biserial, p and
    /// corrected p.
    pub fn shown(&self) -> [String; 7] {
        let points = |value: f64| format!("{:+.1}", 100.0 * value);
        let optional = |value: Option<f64>| value.map_or("–".into(), |value| format!("{value:+.2}"));
        let interval =
            self.interval.map_or("–".into(), |[low, high]| format!("{} to {}", points(low), points(high)));
        [
            points(self.mean),
            interval,
            points(self.median),
            optional(self.cohen_dz),
            optional(self.rank_biserial),
            probability(self.wilcoxon.p),
            probability(self.p_holm),
        ]
    }
}

fn row(name: String, paired: &Paired) -> Row {
    let points = |value: f64| 100.0 * value;
    Row {
        name,
        style: 0,
        dots: paired.differences.iter().copied().map(points).collect(),
        centre: Some(points(paired.mean)),
        interval: paired.interval.map(|[low, high]| (points(low), points(high))),
        note: format!("p = {}", probability(paired.p_holm)),
    }
}

/// Formats a p-value with three decimals, or with two significant digits below 0.001.
fn probability(p: f64) -> String {
    if p >= 0.001 { format!("{p:.3}") } else { format!("{p:.1e}") }
}

fn percent(values: &[f64]) -> Cell {
    let Summary { mean, std, .. } = summary(values);
    Cell::Score { mean: 100.0 * mean, std: 100.0 * std }
}
