//! Names, in lists and in messages.

/// What is shown of many: a file may have thousands.
const SHOWN: usize = 8;

/// The first name that is there twice.
pub(crate) fn first_twice(names: &[String]) -> Option<&String> {
    let mut seen = std::collections::HashSet::new();
    names.iter().find(|name| !seen.insert(*name))
}

/// Names in a sentence.
pub(crate) fn list(names: &[String]) -> String {
    if names.is_empty() {
        return "nothing at all".to_owned();
    }
    let shown = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
