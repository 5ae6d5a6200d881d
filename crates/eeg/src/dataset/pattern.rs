//! Patterns of file paths.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::natural_order::NaturallyOrdered;

/// A path with placeholders for subject, session and run. `{subject}`, `{session}` and `{run}`
/// stand for letters and digits, `{subject:3}` for a number with leading zeros to three digits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Pattern {
    text: String,
    parts: Vec<Segment>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Segment {
    Text(String),
    Place { name: Place, width: Option<usize> },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Subject,
    Session,
    Run,
}

/// The ids of a recording, from its path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ids {
    /// The subject.
    pub subject: String,
    /// The session; `0` if the pattern has no such placeholder.
    pub session: String,
    /// The run; `0` if the pattern has no such placeholder.
    pub run: String,
}

impl TryFrom<String> for Pattern {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut rest = text.as_str();
        while let Some((before, after)) = rest.split_once('{') {
            if !before.is_empty() {
                parts.push(Segment::Text(before.into()));
            }
            let (place, after) = after.split_once('}').ok_or("`files` has a `{` without its `}`")?;
            let (name, width) = match place.split_once(':') {
                None => (place, None),
                Some((name, width)) => (name, Some(width)),
            };
            let name = match name {
                "subject" => Place::Subject,
                "session" => Place::Session,
                "run" => Place::Run,
                other => {
                    return Err(format!(
                        "`files` has the unknown placeholder {{{other}}}; known are subject, session and run"
                    ));
                }
            };
            let width = match width.map(str::parse::<usize>) {
                None => None,
                Some(Ok(width @ 1..=9)) => Some(width),
                Some(_) => return Err(format!("`files` has {{{place}}}; a width is a digit from 1 to 9")),
            };
            parts.push(Segment::Place { name, width });
            rest = after;
        }
        if !rest.is_empty() {
            parts.push(Segment::Text(rest.into()));
        }
        let pattern = Self { text, parts };
        if !pattern.has(Place::Subject) {
            return Err("`files` must have the placeholder {subject}".into());
        }
        if Path::new(&pattern.text).components().any(|part| !matches!(part, std::path::Component::Normal(_)))
        {
            return Err("`files` must be a path below the root".into());
        }
        Ok(pattern)
    }
}

impl From<Pattern> for String {
    fn from(pattern: Pattern) -> Self {
        pattern.text
    }
}

impl std::fmt::Display for Pattern {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

impl Pattern {
    fn has(&self, wanted: Place) -> bool {
        self.parts.iter().any(|part| matches!(part, Segment::Place { name, .. } if *name == wanted))
    }

    /// Whether the pattern has a placeholder for runs.
    pub(crate) fn has_run(&self) -> bool {
        self.has(Place::Run)
    }

    /// Whether the pattern has a placeholder for sessions.
    pub(crate) fn has_session(&self) -> bool {
        self.has(Place::Session)
    }

    /// The path of a recording, relative to the root.
    pub fn path(&self, ids: &Ids) -> PathBuf {
        let write = |part: &Segment| match part {
            Segment::Text(text) => text.clone(),
            Segment::Place { name, width } => {
                let id = ids.get(*name);
                format!("{id:0>width$}", width = width.unwrap_or(0))
            }
        };
        self.parts.iter().map(write).collect::<String>().into()
    }

    /// Returns the ids in a path relative to the root, if it matches this pattern.
    pub fn ids(&self, path: &str) -> Option<Ids> {
        let mut found = [None, None, None];
        matches(&self.parts, path, &mut found).then(|| {
            let [subject, session, run] = found.map(|id| id.unwrap_or_else(|| "0".into()));
            Ids { subject, session, run }
        })
    }

    /// Finds all files under a root that match this pattern, sorted by their ids (numbers by
    /// value).
    ///
    /// # Errors
    /// If a folder cannot be read.
    pub fn find(&self, root: &Path) -> std::io::Result<Vec<Ids>> {
        let depth = Path::new(&self.text).components().count();
        let mut found = Vec::new();
        let mut folders = vec![(root.to_owned(), String::new(), 1)];
        while let Some((folder, prefix, level)) = folders.pop() {
            for entry in std::fs::read_dir(&folder)? {
                let entry = entry?;
                let Ok(name) = entry.file_name().into_string() else { continue };
                let path = format!("{prefix}{name}");
                if level == depth {
                    found.extend(self.ids(&path).filter(|_| entry.path().is_file()));
                } else if entry.path().is_dir() {
                    folders.push((entry.path(), format!("{path}/"), level + 1));
                }
            }
        }
        found.sort_by(|a, b| a.natural().cmp(&b.natural()));
        found.dedup();
        Ok(found)
    }
}

impl Ids {
    fn natural(&self) -> [NaturallyOrdered<'_>; 3] {
        [&self.subject, &self.session, &self.run].map(|id| NaturallyOrdered(id))
    }

    fn get(&self, place: Place) -> &str {
        match place {
            Place::Subject => &self.subject,
            Place::Session => &self.session,
            Place::Run => &self.run,
        }
    }
}

/// Matches parts against a path. A repeated placeholder must match the same id.
fn matches(parts: &[Segment], path: &str, found: &mut [Option<String>; 3]) -> bool {
    let Some((part, later)) = parts.split_first() else { return path.is_empty() };
    match part {
        Segment::Text(text) => {
            path.strip_prefix(text.as_str()).is_some_and(|rest| matches(later, rest, found))
        }
        Segment::Place { name, width } => {
            let letters = path.bytes().take_while(u8::is_ascii_alphanumeric).count();
            let lengths = match width {
                Some(width) => {
                    let digits = path.bytes().take(letters).take_while(u8::is_ascii_digit).count();
                    (*width..=digits).rev()
                }
                None => (1..=letters).rev(),
            };
            for length in lengths {
                let text = &path[..length];
                // A padded number has leading zeros only up to its width.
                if width.is_some_and(|width| length > width && text.starts_with('0')) {
                    continue;
                }
                let id = if width.is_some() {
                    let trimmed = text.trim_start_matches('0');
                    if trimmed.is_empty() { "0" } else { trimmed }
                } else {
                    text
                };
                let place = *name as usize;
                let before = found[place].clone();
                if before.as_deref().is_some_and(|before| before != id) {
                    continue;
                }
                found[place] = Some(id.to_owned());
                if matches(later, &path[length..], found) {
                    return true;
                }
                found[place] = before;
            }
            false
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(text: &str) -> Pattern {
        Pattern::try_from(text.to_owned()).unwrap()
    }

    fn ids(subject: &str, session: &str, run: &str) -> Ids {
        Ids { subject: subject.into(), session: session.into(), run: run.into() }
    }

    #[test]
    fn paths_and_ids_are_inverse() {
        for (text, ids, path) in [
            ("S{subject:3}/S{subject:3}R{run:2}.edf", ids("7", "0", "14"), "S007/S007R14.edf"),
            ("S{subject:3}.edf", ids("1234", "0", "0"), "S1234.edf"),
            (
                "sub-{subject}/ses-{session}/eeg/sub-{subject}_ses-{session}_task-mi_run-{run}_eeg.bdf",
                ids("ab1", "2", "01"),
                "sub-ab1/ses-2/eeg/sub-ab1_ses-2_task-mi_run-01_eeg.bdf",
            ),
        ] {
            let pattern = pattern(text);
            assert_eq!(pattern.path(&ids), Path::new(path));
            assert_eq!(pattern.ids(path), Some(ids));
        }
    }

    #[test]
    fn other_paths_do_not_match() {
        let pattern = pattern("S{subject:3}/S{subject:3}R{run:2}.edf");
        for path in [
            "S007/S008R04.edf",
            "S007/S007R4.edf",
            "S07/S07R04.edf",
            "S007/S007R04.edf.event",
            "",
            "S0007/S0007R04.edf",
        ] {
            assert_eq!(pattern.ids(path), None, "{path}");
        }
    }

    /// `1` and `01` are equal as numbers, but not as ids.
    #[test]
    fn what_belongs_to_one_subject_stays_together() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["1_3", "01_2", "1_1", "01_4", "10_1", "b_1", "2_1", "01_04", "a_1"] {
            std::fs::write(folder.path().join(format!("{name}.edf")), "").unwrap();
        }
        let found = pattern("{subject}_{run}.edf").find(folder.path()).unwrap();
        let names: Vec<String> = found.iter().map(|ids| format!("{}_{}", ids.subject, ids.run)).collect();
        assert_eq!(names, ["01_2", "01_04", "01_4", "1_1", "1_3", "2_1", "10_1", "a_1", "b_1"]);
    }

    #[test]
    fn bad_patterns_are_refused_with_their_fault() {
        for (text, message) in [
            ("S{subject", "`files` has a `{` without its `}`"),
            ("S{sub}.edf", "`files` has the unknown placeholder {sub}; known are subject, session and run"),
            ("S{subject:x}.edf", "`files` has {subject:x}; a width is a digit from 1 to 9"),
            ("S{run}.edf", "`files` must have the placeholder {subject}"),
            ("../S{subject}.edf", "`files` must be a path below the root"),
        ] {
            assert_eq!(Pattern::try_from(text.to_owned()).unwrap_err(), message);
        }
    }
}
