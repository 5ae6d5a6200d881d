//! Details that may identify someone. Reports show counts and reasons, and names only on request.

use std::collections::BTreeMap;

use crate::LoadedRun;
use crate::privacy::{NAMING, may_name};
use crate::table::{Best, Cell, Table};
use crate::words::count;

/// Describes the excluded subjects: their number by reason, with names only on request.
pub(super) fn excluded(run: &LoadedRun, name_subjects: bool, several: bool) -> Option<String> {
    if run.manifest.excluded.is_empty() {
        return None;
    }
    let mut reasons: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for excluded in &run.manifest.excluded {
        let reason = if name_subjects {
            excluded.reason.clone()
        } else {
            nameless(&excluded.reason, &excluded.subject)
        };
        reasons.entry(reason).or_default().push(excluded.subject.clone());
    }
    let each = reasons.iter().map(|(reason, subjects)| {
        let who = if name_subjects { format!(" ({})", subjects.join(", ")) } else { String::new() };
        format!("{}{who}: {reason}", subjects.len())
    });
    let whose = if several { format!(" from “{}”", run.label) } else { String::new() };
    let total = count(run.manifest.excluded.len(), "subject");
    Some(format!("Excluded{whose}: {total}. {}.", each.collect::<Vec<_>>().join("; ")))
}

/// Removes the subject's name from a reason. A name without letters is removed only where it is a
/// whole word.
fn nameless(reason: &str, subject: &str) -> String {
    if subject.chars().any(char::is_alphabetic) {
        return reason.replace(subject, "…");
    }
    let word = |word: &str| {
        let bare = word.trim_matches(|letter: char| !letter.is_alphanumeric());
        if !subject.is_empty() && bare == subject { "…".to_owned() } else { word.to_owned() }
    };
    reason.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

/// Lists the subjects of each client, for reports that name subjects.
pub(super) fn subjects_of_clients(run: &LoadedRun) -> Option<Table> {
    let seed = run.shards.seeds.first()?;
    let clients = seed.clients.iter().enumerate().map(|(place, client)| {
        vec![
            Cell::Number((place + 1).to_string()),
            Cell::word(&client.name),
            Cell::Word(client.subjects.join(", ")),
        ]
    });
    let held_out = seed
        .held_out
        .iter()
        .map(|held_out| vec![Cell::Word("–".into()), Cell::word("held out"), Cell::word(&held_out.subject)]);
    Some(Table {
        slug: "subjects".into(),
        caption: format!("Subjects of the clients of “{}”, seed {}.", run.label, seed.seed),
        head: ["client", "name", "subjects"].map(String::from).into(),
        rows: clients.chain(held_out).collect(),
        best: Best::Nowhere,
    })
}

/// Returns the resolved configuration. Replaces values that may name someone, unless
/// `name_subjects` is set.
pub(super) fn configuration(run: &LoadedRun, name_subjects: bool) -> String {
    let mut config = run.config.clone();
    if !name_subjects {
        for (table, key) in NAMING.iter().chain(&["data.name"]).filter_map(|key| key.split_once('.')) {
            let value = config.get_mut(table).and_then(|table| table.get_mut(key));
            if let Some(value) = value
                && may_name(&format!("{table}.{key}"), value)
            {
                *value = toml::Value::String("not shown".into());
            }
        }
    }
    toml::to_string(&config).unwrap_or_default()
}
