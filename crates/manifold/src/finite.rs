//! The check that nothing is NaN or infinite.

use crate::simd::{Kernel, Lanes, Simd};
use crate::{Error, Real};

/// Checks that no entry of matrix number `index`, of that many columns, is NaN or infinite.
pub(crate) fn check_finite<T: Real>(
    simd: Simd,
    index: usize,
    columns: usize,
    matrix: &[T],
) -> Result<(), Error> {
    if simd.run(AllFinite { matrix }) {
        return Ok(());
    }
    match matrix.iter().position(|x| !x.is_finite()) {
        None => Ok(()),
        Some(place) => Err(Error::NotFinite {
            matrix: index,
            row: place / columns,
            column: place % columns,
            value: matrix[place].to_f64(),
        }),
    }
}

/// Whether all entries are finite: zero times a number is zero, times NaN or infinity it is NaN.
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
