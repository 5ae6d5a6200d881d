//! Mutations of text: numbers, lines, and values between delimiters.

use std::ops::Range;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// Numbers at the limits of types and formats, and values of other types.
const VALUES: [&[u8]; 28] = [
    b"0",
    b"1",
    b"-1",
    b"2",
    b"3",
    b"255",
    b"65536",
    b"2147483648",
    b"4294967295",
    b"9007199254740993",
    b"9223372036854775807",
    b"18446744073709551615",
    b"1e308",
    b"-1e308",
    b"1e-320",
    b"1e999",
    b"0.1",
    b"nan",
    b"-inf",
    b"null",
    b"true",
    b"[]",
    b"{}",
    b"[[0, 1], [1, 0]]",
    b"\"\"",
    b"\"1-3\"",
    "\"\u{e9}\u{1f9e0}\"".as_bytes(),
    b"\"../../x\"",
];
/// Bytes that end a value in JSON, TOML and CSV.
const DELIMITERS: &[u8] = b",:=[]{}\n\r\t\" ";
/// The longest value that is looked for around a place.
const LONGEST: usize = 200;

/// Changes text at a place.
pub(crate) fn once(rng: &mut ChaCha8Rng, input: &mut Vec<u8>, other: &[u8], place: usize) {
    match rng.random_range(0..6) {
        0 | 1 => drop(input.splice(around(input, place, DELIMITERS), value(rng))),
        2 => drop(input.drain(line(input, place))),
        3 => {
            let copy = input[line(input, place)].to_vec();
            let to = line(input, rng.random_range(0..input.len())).start;
            input.splice(to..to, copy);
        }
        // A value of another line, or of another input.
        4 => {
            let from = rng.random_range(0..input.len());
            let copy = input[around(input, from, DELIMITERS)].to_vec();
            input.splice(around(input, place, DELIMITERS), copy);
        }
        _ => {
            if !other.is_empty() {
                let copy = other[line(other, rng.random_range(0..other.len()))].to_vec();
                let to = line(input, place).start;
                input.splice(to..to, copy);
            }
        }
    }
}

fn value(rng: &mut ChaCha8Rng) -> Vec<u8> {
    VALUES[rng.random_range(0..VALUES.len())].to_vec()
}

/// The range around a place without any of these bytes.
fn around(input: &[u8], place: usize, ends: &[u8]) -> Range<usize> {
    let is_end = |byte: &u8| ends.contains(byte);
    let before = input[..place].iter().rev().take(LONGEST).take_while(|byte| !is_end(byte)).count();
    let after = input[place..].iter().take(LONGEST).take_while(|byte| !is_end(byte)).count();
    place - before..place + after
}

/// The line at a place, with its end.
fn line(input: &[u8], place: usize) -> Range<usize> {
    let start = input[..place].iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
    let end =
        input[place..].iter().position(|&byte| byte == b'\n').map_or(input.len(), |end| place + end + 1);
    start..end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_and_lines_are_found() {
        let text = b"a = 12\nb = [3, 45]\n";
        assert_eq!(&text[around(text, 5, DELIMITERS)], b"12");
        assert_eq!(&text[around(text, 16, DELIMITERS)], b"45");
        assert_eq!(&text[line(text, 3)], b"a = 12\n");
        assert_eq!(&text[line(text, 6)], b"a = 12\n");
        assert_eq!(&text[line(text, 7)], b"b = [3, 45]\n");
    }
}
