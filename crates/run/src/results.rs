//! Results of a run as a tidy table: one number per row.

use std::fs;
use std::path::Path;
use std::str::FromStr;

use crate::csv::{self, CsvFault, Record};
use crate::{Error, atomic};

/// The columns, in their order.
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

/// Rows in the order in which they were added.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResultTable {
    /// The rows.
    pub rows: Vec<ResultRow>,
}

impl ResultTable {
    /// Formats the table as CSV: the names of the columns, then one line per row. Numbers have the
    /// fewest digits that restore them bit for bit; NaN is an empty field.
    pub fn to_csv(&self) -> String {
        let mut text = COLUMNS.join(",");
        text.push('\n');
        for row in &self.rows {
            let fields: [&str; 12] = [
                &row.dataset,
                &row.model,
                &row.mode,
                &row.aggregation,
                &number(row.participation),
                &row.align,
                &row.seed.to_string(),
                &row.round.to_string(),
                &row.client,
                &row.split,
                &row.metric,
                &number(row.value),
            ];
            for (place, field) in fields.into_iter().enumerate() {
                if place > 0 {
                    text.push(',');
                }
                csv::push_field(&mut text, field);
            }
            text.push('\n');
        }
        text
    }

    /// Returns the values of a metric, in row order. A metric that each seed has once gives one
    /// value per seed.
    pub fn values(&self, client: &str, split: &str, metric: &str) -> Vec<f64> {
        let wanted = |row: &&ResultRow| row.client == client && row.split == split && row.metric == metric;
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
    if header != COLUMNS {
        return Err((1, CsvFault::Header { found: header.join(","), expected: COLUMNS.join(",") }));
    }
    let rows = records.map(|Record { line, fields }| row(fields).map_err(|fault| (line, fault)));
    Ok(ResultTable { rows: rows.collect::<Result<_, _>>()? })
}

fn row(fields: Vec<String>) -> Result<ResultRow, CsvFault> {
    let [dataset, model, mode, aggregation, participation, align, seed, round, client, split, metric, value] =
        <[String; 12]>::try_from(fields)
            .map_err(|fields| CsvFault::Fields { found: fields.len(), expected: COLUMNS.len() })?;
    Ok(ResultRow {
        participation: float("participation", participation)?,
        seed: parsed("seed", seed)?,
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
