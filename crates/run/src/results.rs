//! What came out of a run, as a tidy table: one number a row.

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

/// One number, and everything that says which.
#[derive(Clone, Debug, PartialEq)]
pub struct ResultRow {
    /// The dataset.
    pub dataset: String,
    /// The kind of network.
    pub model: String,
    /// `federated`, `centralised` or `local`.
    pub mode: String,
    /// The average of the Stiefel parameters.
    pub aggregation: String,
    /// The share of the clients that take part in a round; 1 where nothing is federated, since all data take part then.
    pub participation: f64,
    /// How subjects are aligned.
    pub align: String,
    /// The seed.
    pub seed: u64,
    /// The round, counted from 1.
    pub round: u32,
    /// A client's name, or `pooled`, `mean` or `worst`.
    pub client: String,
    /// Which trials.
    pub split: String,
    /// What was measured.
    pub metric: String,
    /// The number; NaN where there is none.
    pub value: f64,
}

/// Rows in the order in which they were added.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResultTable {
    /// The rows.
    pub rows: Vec<ResultRow>,
}

impl ResultTable {
    /// The table as CSV: the columns' names, then a line a row. Numbers have the fewest digits that give them back, bit for bit; NaN is an
    /// empty field.
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

    /// The values of a metric, in the order of their rows: of a metric that a seed has once, one for each seed.
    pub fn values(&self, client: &str, split: &str, metric: &str) -> Vec<f64> {
        let wanted = |row: &&ResultRow| row.client == client && row.split == split && row.metric == metric;
        self.rows.iter().filter(wanted).map(|row| row.value).collect()
    }

    /// Writes the table as a whole.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        atomic::write(path, self.to_csv().as_bytes())
    }

    /// Reads what [`write`](Self::write) has written.
    ///
    /// # Errors
    /// When the file cannot be read, has other columns, or a field that is not what its column says.
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
