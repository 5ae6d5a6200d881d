//! Natural order of names: 2 before 10, `S2` before `S10`.

use std::cmp::Ordering;

/// Compares digits by value and everything else by letters. Names that differ only in leading zeros
/// are ordered by them, so different names are never equal.
pub fn natural_order(a: &str, b: &str) -> Ordering {
    let (mut left, mut right) = (a.as_bytes(), b.as_bytes());
    while let (Some(&first), Some(&second)) = (left.first(), right.first()) {
        if first.is_ascii_digit() && second.is_ascii_digit() {
            let (x, y) = (take_number(&mut left), take_number(&mut right));
            // Without leading zeros the longer number is the larger one; no number is too long.
            match x.len().cmp(&y.len()).then_with(|| x.cmp(y)) {
                Ordering::Equal => {}
                unequal => return unequal,
            }
        } else if first == second {
            (left, right) = (&left[1..], &right[1..]);
        } else {
            return first.cmp(&second);
        }
    }
    left.len().cmp(&right.len()).then_with(|| a.cmp(b))
}

/// A name that compares by [`natural_order`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct NaturallyOrdered<'a>(pub(crate) &'a str);

impl Ord for NaturallyOrdered<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        natural_order(self.0, other.0)
    }
}

impl PartialOrd for NaturallyOrdered<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Takes the digits off the front, and returns them without leading zeros.
fn take_number<'t>(text: &mut &'t [u8]) -> &'t [u8] {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (number, rest) = text.split_at(digits);
    *text = rest;
    let zeros = number.iter().take_while(|&&byte| byte == b'0').count();
    &number[zeros..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_count_by_value() {
        let sorted = [
            "",
            "0",
            "1",
            "2",
            "002b",
            "2c",
            "10",
            "99999999999999999999999",
            "S1",
            "S2-1",
            "S2-10",
            "S010",
            "S10",
            "a",
        ];
        for (i, a) in sorted.iter().enumerate() {
            for (j, b) in sorted.iter().enumerate() {
                assert_eq!(natural_order(a, b), i.cmp(&j), "{a} {b}");
            }
        }
    }
}
