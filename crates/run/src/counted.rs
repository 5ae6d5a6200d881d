//! Counts with their nouns.

/// Returns a count with its noun: `1 subject`, `2 subjects`.
pub fn counted(count: impl std::fmt::Display, noun: &str) -> String {
    let count = count.to_string();
    let plural = match noun.strip_suffix('y') {
        _ if count == "1" => return format!("1 {noun}"),
        Some(stem) => format!("{stem}ies"),
        None if noun.ends_with('s') => format!("{noun}es"),
        None => format!("{noun}s"),
    };
    format!("{count} {plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_agree_with_their_nouns() {
        assert_eq!([0, 1, 2].map(|count| counted(count, "trial")), ["0 trials", "1 trial", "2 trials"]);
        assert_eq!([1, 2].map(|count| counted(count, "entry")), ["1 entry", "2 entries"]);
        assert_eq!([1, 2].map(|count| counted(count, "class")), ["1 class", "2 classes"]);
    }
}
