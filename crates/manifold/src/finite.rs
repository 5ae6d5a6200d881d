//! Checks over slices: all numbers are finite; two slices are equal.

use crate::simd::{Kernel, Lanes, Simd};
use crate::{Error, Real};

/// Checks that matrix number `index`, with `columns` columns, has no NaN or infinite entry.
pub(crate) fn check_finite<T: Real>(
    simd: Simd,
    index: usize,
    columns: usize,
    matrix: &[T],
) -> Result<(), Error> {
    match first_not_finite(simd, matrix) {
        None => Ok(()),
        Some(place) => Err(Error::NotFinite {
            matrix: index,
            row: place / columns,
            column: place % columns,
            value: matrix[place].to_f64(),
        }),
    }
}

/// Returns the index of the first number that is NaN or infinite.
pub fn first_not_finite<T: Real>(simd: Simd, numbers: &[T]) -> Option<usize> {
    if simd.run(AllFinite { matrix: numbers }) {
        return None;
    }
    numbers.iter().position(|x| !x.is_finite())
}

/// Returns whether two slices hold the same numbers. NaN equals nothing.
pub fn same_numbers<T: Real>(simd: Simd, a: &[T], b: &[T]) -> bool {
    a.len() == b.len() && simd.run(Same { a, b })
}

struct Same<'a, T> {
    a: &'a [T],
    b: &'a [T],
}

impl<T: Real> Kernel<T> for Same<'_, T> {
    type Output = bool;

    #[inline(always)]
    fn run<V: Lanes<Scalar = T>>(self) -> bool {
        let (mut a, mut b) = (self.a.chunks_exact(V::WIDTH), self.b.chunks_exact(V::WIDTH));
        let mut differ = !V::load_partial(a.remainder()).eq(V::load_partial(b.remainder()));
        for (a, b) in (&mut a).zip(&mut b) {
            differ = differ | !V::load(a).eq(V::load(b));
        }
        !V::any(differ)
    }
}

/// Checks that all entries are finite. Zero times a finite number is zero; zero times NaN or
/// infinity is NaN.
struct AllFinite<'a, T> {
    matrix: &'a [T],
}

impl<T: Real> Kernel<T> for AllFinite<'_, T> {
    type Output = bool;

    #[inline(always)]
    fn run<V: Lanes<Scalar = T>>(self) -> bool {
        let mut sum = V::zero();
        let mut vectors = self.matrix.chunks_exact(V::WIDTH);
        for vector in &mut vectors {
            sum = V::load(vector).mul_add(V::zero(), sum);
        }
        sum = V::load_partial(vectors.remainder()).mul_add(V::zero(), sum);
        !V::any(!sum.eq(V::zero()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_number_among_many_is_found_on_every_path() {
        for simd in Simd::available() {
            for length in [0, 1, 7, 8, 33, 70] {
                let numbers: Vec<f64> = (0..length).map(f64::from).collect();
                assert_eq!(first_not_finite(simd, &numbers), None);
                assert!(same_numbers(simd, &numbers, &numbers));
                assert!(!same_numbers(simd, &numbers, &[&numbers[..], &[0.0]].concat()));
                for place in 0..numbers.len() {
                    let mut next = numbers.clone();
                    next[place] = next[place].next_up();
                    assert!(!same_numbers(simd, &numbers, &next));
                    for other in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                        let mut changed = numbers.clone();
                        changed[place] = other;
                        assert_eq!(first_not_finite(simd, &changed), Some(place));
                        assert!(!same_numbers(simd, &numbers, &changed));
                        assert_eq!(same_numbers(simd, &changed, &changed), !other.is_nan());
                    }
                }
            }
        }
    }
}
