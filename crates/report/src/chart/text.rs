//! Text in drawings: escaping, width and spacing.

/// Escapes text for use between tags and in attributes. Removes control characters, which XML
/// forbids.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\t' | '\n' | '\r' => out.push(' '),
            letter if letter.is_control() || matches!(letter, '\u{fffe}' | '\u{ffff}') => {}
            letter => out.push(letter),
        }
    }
    out
}

/// Estimates the width of a text of a size. Follows the widest of the common sans-serif fonts
/// (`DejaVu Sans`), so that text never gets wider.
pub fn width(text: &str, size: f64) -> f64 {
    let of = |letter: char| match letter {
        'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | ';' | '|' | '\'' | '!' | ' ' => 0.34,
        'f' | 't' | 'r' | '(' | ')' | '-' | '/' => 0.42,
        'm' | 'w' | 'M' | 'W' | '%' | '@' | '—' => 0.99,
        letter if letter.is_ascii_lowercase() || letter.is_ascii_digit() => 0.64,
        letter if letter.is_ascii() => 0.78,
        // Full-width scripts.
        letter if letter >= '\u{2e80}' => 1.05,
        _ => 0.84,
    };
    size * text.chars().map(of).sum::<f64>()
}

/// Moves positions apart until neighbours are at least `gap` from each other, within `low` and
/// `high` if they fit there. Keeps their order.
///
/// Neighbours that are too close become a block centred on the mean of its positions. This is the
/// least-squares solution, by pooling, so positions move as little as possible.
pub fn spread(places: &[f64], gap: f64, low: f64, high: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..places.len()).collect();
    order.sort_by(|&a, &b| places[a].total_cmp(&places[b]).then(a.cmp(&b)));
    // Blocks of (sum of wanted starts, count); a member's wanted start is its position minus its
    // offset in the block.
    let mut blocks: Vec<(f64, usize)> = Vec::new();
    let start = |&(sum, count): &(f64, usize)| {
        let room = (high - low - gap * (count - 1) as f64).max(0.0);
        (sum / count as f64).clamp(low, low + room)
    };
    for &place in &order {
        blocks.push((places[place], 1));
        while let [.., before, last] = blocks[..] {
            if start(&before) + gap * before.1 as f64 <= start(&last) + 1e-9 {
                break;
            }
            blocks.pop();
            blocks.pop();
            blocks.push((before.0 + last.0 - gap * (before.1 * last.1) as f64, before.1 + last.1));
        }
    }
    let mut out = vec![0.0; places.len()];
    let mut rank = 0;
    for block in &blocks {
        for step in 0..block.1 {
            out[order[rank]] = start(block) + gap * step as f64;
            rank += 1;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_text_is_markup() {
        assert_eq!(escape("<b a=\"1\">&'\u{7}x\n"), "&lt;b a=&quot;1&quot;&gt;&amp;&#39;x ");
    }

    #[test]
    fn places_that_are_apart_stay_and_others_move_as_little_as_they_must() {
        assert_eq!(spread(&[10.0, 50.0], 10.0, 0.0, 100.0), [10.0, 50.0]);
        assert_eq!(spread(&[52.0, 50.0], 10.0, 0.0, 100.0), [56.0, 46.0]);
        assert_eq!(spread(&[0.0, 0.0, 0.0], 10.0, 0.0, 100.0), [0.0, 10.0, 20.0]);
        assert_eq!(spread(&[99.0, 100.0, 20.0], 10.0, 0.0, 100.0), [90.0, 100.0, 20.0]);
    }

    #[test]
    fn many_places_keep_their_gap_within_the_bounds() {
        let places: Vec<f64> = (0..12).map(|place| f64::from((place * 37) % 50) / 3.0 + 40.0).collect();
        let mut apart = spread(&places, 8.0, 0.0, 100.0);
        apart.sort_by(f64::total_cmp);
        assert!(apart.windows(2).all(|pair| pair[1] - pair[0] > 7.999), "{apart:?}");
        assert!(apart[0] >= 0.0 && apart[11] <= 100.0, "{apart:?}");
    }
}
