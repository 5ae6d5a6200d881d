//! Results of a run as a tidy table: one number per row.

use std::fs;
use std::path::Path;
use std::str::FromStr;

use crate::csv::{self, CsvFault, Record};
use crate::{Error, Unit, atomic};

/// The columns, in their order. Tables of runs with several folds have one more: [`FOLD`].
pub const COLUMNS: [&str; 12] = [
    "dataset",
    "model",
    "mode",
    "aggregation",
    "participation",
    "align",
    "seed",
    "round",
    "client",
    "split",
    "metric",
    "value",
];

/// The column of the fold, after the seed.
pub const FOLD: &str = "fold";

/// One number, with all that identifies it.
#[derive(Clone, Debug, PartialEq)]
pub struct ResultRow {
    /// The dataset.
    pub dataset: String,
    /// The kind of network.
    pub model: String,
    /// `federated`, `centralised` or `local`.
    pub mode: String,
    /// The averaging method of the Stiefel parameters.
    pub aggregation: String,
    /// The share of the clients that take part in a round; 1 if training is not federated, because
    /// all data then take part.
    pub participation: f64,
    /// How subjects are aligned.
    pub align: String,
    /// The seed.
    pub seed: u64,
    /// The test fold, counted from 0. None for the scores of all folds together, and if the run has
    /// one fold only.
    pub fold: Option<usize>,
    /// The round, counted from 1.
    pub round: u32,
    /// A client's name, or `pooled`, `mean` or `worst`.
    pub client: String,
    /// The scored trials, such as `test`; `model` for numbers of the model itself.
    pub split: String,
    /// The metric.
    pub metric: String,
    /// The number; NaN if there is none.
    pub value: f64,
}

impl ResultRow {
    /// The unit of the row.
    pub fn unit(&self) -> Unit {
        Unit { seed: self.seed, fold: self.fold, stage: None }
    }
}

/// Rows in the order in which they were added.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResultTable {
    /// The rows.
    pub rows: Vec<ResultRow>,
}

impl ResultTable {
    /// Formats the table as CSV: the names of the columns, then one line per row. Numbers have the
    /// fewest digits that restore them bit for bit; NaN is an empty field. Without folds there is
    /// no column for them.
    pub fn to_csv(&self) -> String {
        let folded = self.rows.iter().any(|row| row.fold.is_some());
        let mut text = columns(folded).join(",");
        text.push('\n');
        for row in &self.rows {
            let mut fields = vec![
                row.dataset.clone(),
                row.model.clone(),
                row.mode.clone(),
                row.aggregation.clone(),
                number(row.participation),
                row.align.clone(),
                row.seed.to_string(),
                row.round.to_string(),
                row.client.clone(),
                row.split.clone(),
                row.metric.clone(),
                number(row.value),
            ];
            if folded {
                fields.insert(FOLD_PLACE, row.fold.map_or(String::new(), |fold| fold.to_string()));
            }
            for (place, field) in fields.iter().enumerate() {
                if place > 0 {
                    text.push(',');
                }
                csv::push_field(&mut text, field);
            }
            text.push('\n');
        }
        text
    }

    /// Returns the values of a metric for all folds together, in row order. A metric that each seed
    /// has once gives one value per seed.
    pub fn values(&self, client: &str, split: &str, metric: &str) -> Vec<f64> {
        self.select(client, split, metric, false)
    }

    /// Returns the values of a metric for single folds, in row order; none without folds.
    pub fn values_of_folds(&self, client: &str, split: &str, metric: &str) -> Vec<f64> {
        self.select(client, split, metric, true)
    }

    fn select(&self, client: &str, split: &str, metric: &str, of_fold: bool) -> Vec<f64> {
        let wanted = |row: &&ResultRow| {
            row.fold.is_some() == of_fold
                && row.client == client
                && row.split == split
                && row.metric == metric
        };
        self.rows.iter().filter(wanted).map(|row| row.value).collect()
    }

    /// Writes the table atomically.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        atomic::write(path, self.to_csv().as_bytes())
    }

    /// Reads a file that [`write`](Self::write) wrote.
    ///
    /// # Errors
    /// When the file cannot be read, or has other columns or an invalid field.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let bytes = fs::read(path).map_err(Error::file(path))?;
        parse(&bytes).map_err(|(line, fault)| Error::Csv { path: path.to_owned(), line, fault })
    }
}

/// The index of the column of the fold.
const FOLD_PLACE: usize = 7;

/// Returns the columns of a table with or without folds.
fn columns(folded: bool) -> Vec<&'static str> {
    let mut columns = COLUMNS.to_vec();
    if folded {
        columns.insert(FOLD_PLACE, FOLD);
    }
    columns
}

fn number(value: f64) -> String {
    if value.is_nan() { String::new() } else { value.to_string() }
}

fn parse(bytes: &[u8]) -> Result<ResultTable, (usize, CsvFault)> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let byte = error.valid_up_to();
        let line = bytes[..byte].split(|&byte| byte == b'\n').count();
        (line, CsvFault::NotText { byte })
    })?;
    let mut records = csv::records(text)?.into_iter();
    let header = records.next().map_or(Vec::new(), |record| record.fields);
    let folded = header == columns(true);
    if !folded && header != COLUMNS {
        return Err((1, CsvFault::Header { found: header.join(","), expected: COLUMNS.join(",") }));
    }
    let rows = records.map(|Record { line, fields }| row(fields, folded).map_err(|fault| (line, fault)));
    Ok(ResultTable { rows: rows.collect::<Result<_, _>>()? })
}

fn row(mut fields: Vec<String>, folded: bool) -> Result<ResultRow, CsvFault> {
    let (found, expected) = (fields.len(), columns(folded).len());
    if found != expected {
        return Err(CsvFault::Fields { found, expected });
    }
    let fold = if folded { fields.remove(FOLD_PLACE) } else { String::new() };
    let [dataset, model, mode, aggregation, participation, align, seed, round, client, split, metric, value] =
        <[String; 12]>::try_from(fields).map_err(|_| CsvFault::Fields { found, expected })?;
    Ok(ResultRow {
        participation: float("participation", participation)?,
        seed: parsed("seed", seed)?,
        fold: if fold.is_empty() { None } else { Some(parsed(FOLD, fold)?) },
        round: parsed("round", round)?,
        value: float("value", value)?,
        dataset,
        model,
        mode,
        aggregation,
        align,
        client,
        split,
        metric,
    })
}

fn float(column: &'static str, field: String) -> Result<f64, CsvFault> {
    if field.is_empty() { Ok(f64::NAN) } else { parsed(column, field) }
}

fn parsed<T: FromStr>(column: &'static str, field: String) -> Result<T, CsvFault> {
    field.parse().map_err(|_| CsvFault::Number { column, found: field })
}
