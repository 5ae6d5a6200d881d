//! Mutations of inputs.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use crate::text;

/// The largest number of mutations at once.
const MOST: usize = 6;
/// The longest range that is moved, cut or filled.
const LONGEST: usize = 64;
/// Bytes with a meaning for readers.
const BYTES: [u8; 12] = [0, 1, 0x14, 0x15, b' ', b'-', b'0', b'9', 0x7f, 0x80, 0xfe, 0xff];

/// Returns a random input with a few mutations.
pub(crate) fn damage(rng: &mut ChaCha8Rng, inputs: &[Vec<u8>], tokens: &[&[u8]], largest: usize) -> Vec<u8> {
    let mut input = inputs[rng.random_range(0..inputs.len())].clone();
    for _ in 0..rng.random_range(1..=MOST) {
        let other = &inputs[rng.random_range(0..inputs.len())];
        once(rng, &mut input, other, tokens);
    }
    input.truncate(largest);
    input
}

fn once(rng: &mut ChaCha8Rng, input: &mut Vec<u8>, other: &[u8], tokens: &[&[u8]]) {
    if input.is_empty() {
        input.extend(other);
        return;
    }
    let place = rng.random_range(0..input.len());
    let length = rng.random_range(1..=LONGEST).min(input.len() - place);
    match rng.random_range(0..18) {
        0 => input[place] ^= 1 << rng.random_range(0..8),
        1 => input[place] = rng.random(),
        2 => input[place] = BYTES[rng.random_range(0..BYTES.len())],
        // A digit more or less.
        3 => input[place] = input[place].wrapping_add(if rng.random() { 1 } else { 255 }),
        // Headers and tables have fields of four and eight bytes: a token at an aligned place often
        // fills one.
        4 | 5 if !tokens.is_empty() => {
            let token = tokens[rng.random_range(0..tokens.len())];
            let first = if rng.random() { place & !3 } else { place };
            for (byte, new) in input[first..].iter_mut().zip(token) {
                *byte = *new;
            }
        }
        6 => input.truncate(place),
        7 => drop(input.drain(place..place + length)),
        8 => {
            let copy = input[place..place + length].to_vec();
            let to = rng.random_range(0..=input.len());
            input.splice(to..to, copy);
        }
        9 => input[place..place + length].fill(BYTES[rng.random_range(0..BYTES.len())]),
        // The end of another input, or a range of it at the same place.
        10 => {
            input.truncate(place);
            input.extend(other.get(place..).unwrap_or_default());
        }
        11 => {
            let stretch = other.get(place..).unwrap_or_default();
            for (byte, new) in input[place..place + length].iter_mut().zip(stretch) {
                *byte = *new;
            }
        }
        _ => text::once(rng, input, other, place),
    }
}
