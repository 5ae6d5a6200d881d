//! Published numbers: the paper's table, and the coordinates of its figures from its source.

/// A number of the table: test F1 in percent over ten seeds.
pub(super) struct Entry {
    pub(super) parameters: u64,
    pub(super) mean: f64,
    pub(super) std: f64,
}

/// Returns an entry of the table, by dataset, network (`spdnet`, `eegnet`) and setting
/// (`centralised`, `full`, `half`).
pub(super) fn entry(dataset: &str, model: &str, setting: &str) -> Option<Entry> {
    let row =
        rows(include_str!("table.csv")).find(|row| (row[0], row[1], row[3]) == (dataset, model, setting))?;
    Some(Entry { parameters: row[2].parse().ok()?, mean: number(row[4]), std: number(row[5]) })
}

/// Returns a curve of the figures: round, mean and standard deviation of the test F1 in percent.
/// Methods: `eegnet`, `proj-avg` or `rl-avg`.
pub(super) fn curve(dataset: &str, method: &str, participation: f64) -> Vec<(f64, f64, f64)> {
    rows(include_str!("curves.csv"))
        .filter(|row| (row[0], row[1]) == (dataset, method) && number(row[2]) == participation)
        .map(|row| (number(row[3]), number(row[4]), number(row[5]) - number(row[4])))
        .collect()
}

fn rows(text: &str) -> impl Iterator<Item = Vec<&str>> {
    text.lines().skip(1).map(|line| line.split(',').collect())
}

fn number(field: &str) -> f64 {
    field.parse().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_end_at_the_numbers_of_the_table() {
        for dataset in ["weibo2014", "physionet-mi"] {
            for (model, method) in [("eegnet", "eegnet"), ("spdnet", "proj-avg")] {
                for (setting, participation) in [("full", 1.0), ("half", 0.5)] {
                    let (table, curve) =
                        (entry(dataset, model, setting).unwrap(), curve(dataset, method, participation));
                    assert_eq!(curve.len(), 50);
                    let (round, mean, std) = curve[49];
                    assert_eq!(round, 150.0);
                    // Coordinates have two digits, the table one.
                    assert!((mean - table.mean).abs() <= 0.051 && (std - table.std).abs() <= 0.061);
                }
            }
        }
    }

    #[test]
    fn every_number_is_a_number() {
        for row in rows(include_str!("curves.csv")) {
            assert!(row[2..].iter().all(|field| number(field).is_finite()), "{row:?}");
        }
        assert!(entry("weibo2014", "spdnet", "quarter").is_none());
    }
}
