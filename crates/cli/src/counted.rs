//! Counts with their nouns.

/// Returns a count with its noun: `1 subject`, `2 subjects`.
pub(crate) fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_agree_with_their_nouns() {
        assert_eq!([0, 1, 2].map(|count| counted(count, "trial")), ["0 trials", "1 trial", "2 trials"]);
    }
}
