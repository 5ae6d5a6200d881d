//! Suggestions for misspelt words.

/// Returns the candidate most similar to a word, if one is similar enough.
///
/// Up to a third of the letters may differ; two swapped neighbours count once. A word of three
/// letters or more may also be the beginning of a candidate.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let plain = |text: &str| text.to_lowercase().replace(['_', '-', ' '], "");
    let word = plain(word);
    candidates
        .into_iter()
        .filter_map(|candidate| {
            let other = plain(candidate);
            let distance = strsim::damerau_levenshtein(&word, &other);
            let longest = word.chars().count().max(other.chars().count());
            let begins = word.len() >= 3 && other.starts_with(&word);
            (distance <= (longest / 3).max(1) && distance < longest || begins)
                .then_some((distance, candidate))
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_recognised_and_strangers_are_not() {
        let choices = ["proj-avg", "rl-avg", "euclidean", "lr"];
        for (word, meant) in [
            ("ProjAvg", Some("proj-avg")),
            ("proj_avg", Some("proj-avg")),
            ("porj-avg", Some("proj-avg")),
            ("euclid", Some("euclidean")),
            ("rl", Some("lr")),
            ("l", Some("lr")),
            ("fedavgm", None),
            ("x", None),
        ] {
            assert_eq!(nearest(word, choices), meant, "{word}");
        }
    }
}
