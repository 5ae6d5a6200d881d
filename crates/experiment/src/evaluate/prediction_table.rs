//! Tables of predictions (.csv). Probabilities have the fewest digits that restore them bit for bit.

use std::fmt::Write;

use fedspd_eeg::About;
use fedspd_run::csv_field;

use super::predictions::Predictions;
use super::scores::Predicted;

/// A table with one row for each trial.
struct PredictionTable {
    text: String,
}

impl PredictionTable {
    /// Begins a table with some columns. The predicted class and the probabilities follow them.
    fn new(columns: &[&str], classes: &[String]) -> Self {
        let mut table = Self { text: columns.join(",") };
        table.text.push_str(",class");
        for class in classes {
            table.text.push(',');
            table.text.push_str(&csv_field(&format!("probability:{class}")));
        }
        table.text.push('\n');
        table
    }

    fn row(&mut self, words: &[&str], class: &str, probabilities: &[f64]) {
        for word in words {
            self.text.push_str(&csv_field(word));
            self.text.push(',');
        }
        self.text.push_str(&csv_field(class));
        for probability in probabilities {
            // Writing to a string cannot fail.
            let _ = write!(self.text, ",{probability}");
        }
        self.text.push('\n');
    }
}

impl Predictions {
    /// Returns the table of the predictions.
    pub fn to_csv(&self) -> String {
        let mut table = PredictionTable::new(&["subject", "session", "run", "onset"], &self.classes);
        for trial in &self.trials {
            let onset = trial.onset.map_or(String::new(), |onset| onset.to_string());
            let words = [&trial.subject[..], &trial.session, &trial.run, &onset];
            table.row(&words, &self.classes[trial.class()], &trial.probabilities);
        }
        table.text
    }
}

/// Returns the table of a run's predictions: those of each split, by trial.
pub(crate) fn run_table(about: &About, splits: &[(&str, &Predicted)]) -> String {
    let columns = ["split", "trial", "subject", "session", "run", "true_class"];
    let mut table = PredictionTable::new(&columns, &about.classes);
    for (split, predicted) in splits {
        for (trial, class, probabilities) in predicted.by_trial() {
            let origin = &about.origins[trial];
            let (number, truth) = (trial.to_string(), &about.classes[origin.label]);
            let words = [split, &number[..], &origin.subject, &origin.session, &origin.run, truth];
            table.row(&words, &about.classes[class], probabilities);
        }
    }
    table.text
}
