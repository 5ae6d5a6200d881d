//! Differences between two preparations.

use super::{Branch, Preparation};

/// A fact about an input in words, if it is known.
type Fact = fn(&Branch) -> Option<String>;

/// A field in which two preparations differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The field, such as `band`; with several inputs per trial, `band of input 2`.
    pub field: String,
    /// The expected value.
    pub expected: String,
    /// The value found.
    pub found: String,
}

impl Preparation {
    /// Returns every field in which other data differ from this preparation. A field that one side
    /// does not know is not compared.
    pub fn differences(&self, found: &Self) -> Vec<Difference> {
        let mut all = Differences(Vec::new());
        all.add("kind", self.content.name(), found.content.name());
        all.names("classes", &self.classes, &found.classes);
        all.names("channels", &self.channels, &found.channels);
        let rate = |preparation: &Self| preparation.sfreq.map(|sfreq| format!("{sfreq} Hz"));
        all.known("sampling rate", rate(self).as_ref(), rate(found).as_ref());
        all.known("reference", self.making.reference.as_ref(), found.making.reference.as_ref());
        let (own, other) = (&self.making.branches, &found.making.branches);
        if own.is_empty() || other.is_empty() {
            all.add("unit", &self.unit, &found.unit);
            return all.0;
        }
        all.add("inputs per trial", &own.len().to_string(), &other.len().to_string());
        for (place, (own, other)) in own.iter().zip(other).enumerate() {
            let several = self.making.branches.len() > 1;
            let field = |name: &str| {
                if several { format!("{name} of input {}", place + 1) } else { name.to_owned() }
            };
            let facts: [(&str, Fact); 6] = [
                ("band", Branch::band_name),
                ("filter", |branch| branch.filter.clone()),
                ("window", Branch::window_name),
                ("samples", |branch| branch.samples.map(|samples| samples.to_string())),
                ("centring", |branch| branch.centred.map(|yes| centring(yes).to_owned())),
                ("estimator", |branch| branch.estimator.clone()),
            ];
            for (name, text) in facts {
                all.known(&field(name), text(own).as_ref(), text(other).as_ref());
            }
            let alignment = |branch: &Branch| branch.alignment.map_or("none", super::Alignment::name);
            all.add(&field("alignment"), alignment(own), alignment(other));
            let fit = |branch: &Branch| branch.fit.map(|fit| fit.to_string());
            all.known(&field("alignment fit"), fit(own).as_ref(), fit(other).as_ref());
            all.add(&field("z-score"), yes_or_no(own.z_score), yes_or_no(other.z_score));
        }
        // Alignment and z-scores change the unit, and name the cause better.
        if all.0.is_empty() {
            all.add("unit", &self.unit, &found.unit);
        }
        all.0
    }
}

fn centring(centred: bool) -> &'static str {
    if centred { "channel means removed" } else { "none" }
}

fn yes_or_no(yes: bool) -> &'static str {
    if yes { "yes" } else { "no" }
}

struct Differences(Vec<Difference>);

impl Differences {
    fn add(&mut self, field: &str, expected: &str, found: &str) {
        if expected != found {
            let (field, expected, found) = (field.to_owned(), expected.to_owned(), found.to_owned());
            self.0.push(Difference { field, expected, found });
        }
    }

    fn known(&mut self, field: &str, expected: Option<&String>, found: Option<&String>) {
        if let (Some(expected), Some(found)) = (expected, found) {
            self.add(field, expected, found);
        }
    }

    /// Compares lists of names. It shows only the names that differ.
    fn names(&mut self, field: &str, expected: &[String], found: &[String]) {
        if expected == found {
            return;
        }
        let only = |own: &[String], other: &[String]| -> Vec<String> {
            own.iter().filter(|name| !other.contains(name)).cloned().collect()
        };
        let (missing, extra) = (only(expected, found), only(found, expected));
        if missing.is_empty() && extra.is_empty() {
            let place = expected.iter().zip(found).position(|(own, other)| own != other).unwrap_or(0);
            let at = |names: &[String]| {
                format!("`{}` at place {}", names.get(place).map_or("", |name| name), place + 1)
            };
            return self.add(&format!("order of {field}"), &at(expected), &at(found));
        }
        let shown = |names: &[String], all: usize| match names {
            [] => format!("{all} names, none of them missing"),
            names => names.join(", "),
        };
        self.add(field, &shown(&missing, expected.len()), &shown(&extra, found.len()));
    }
}
