//! Matrix transposition by tiles in registers.

use crate::simd::Lanes;

/// Writes the transpose of a matrix. Its rows start every `stride` entries, those of the result
/// every `target_stride` entries.
#[inline(always)]
pub(crate) fn transpose<P: Lanes>(
    (rows, columns): (usize, usize),
    (source, stride): (&[P::Scalar], usize),
    (target, target_stride): (&mut [P::Scalar], usize),
) {
    let width = P::WIDTH;
    if rows < width || columns < width || width == 1 {
        for j in 0..columns {
            for i in 0..rows {
                target[j * target_stride + i] = source[i * stride + j];
            }
        }
        return;
    }
    // The last tiles may overlap the previous ones. Shared entries are written twice with the same
    // value.
    for i in (0..rows).step_by(width).map(|i| i.min(rows - width)) {
        for j in (0..columns).step_by(width).map(|j| j.min(columns - width)) {
            let from = (&source[i * stride + j..], stride);
            let to = (&mut target[j * target_stride + i..], target_stride);
            match width {
                2 => tile::<P, 2>(from, to),
                4 => tile::<P, 4>(from, to),
                8 => tile::<P, 8>(from, to),
                _ => tile::<P, 16>(from, to),
            }
        }
    }
}

/// Transposes a tile of `W x W`, where `W` is the width of a vector.
#[inline(always)]
fn tile<P: Lanes, const W: usize>(
    (source, stride): (&[P::Scalar], usize),
    (target, target_stride): (&mut [P::Scalar], usize),
) {
    let mut tile = [P::zero(); W];
    for r in 0..W {
        tile[r] = P::load(&source[r * stride..]);
    }
    // Swap the off-diagonal blocks of `distance x distance`, from the smallest to the largest.
    let mut distance = 1;
    while distance < W {
        for r in 0..W {
            if r & distance == 0 {
                (tile[r], tile[r + distance]) = tile[r].exchange(tile[r + distance], distance);
            }
        }
        distance *= 2;
    }
    for r in 0..W {
        tile[r].store(&mut target[r * target_stride..]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Real;
    use crate::simd::{Kernel, Simd};

    struct Transpose<'a, T> {
        shape: (usize, usize),
        source: (&'a [T], usize),
        target: (&'a mut [T], usize),
    }

    impl<T: Real> Kernel<T> for Transpose<'_, T> {
        type Output = ();
        #[inline(always)]
        fn run<V: Lanes<Scalar = T>>(self) {
            transpose::<V::Vector>(self.shape, self.source, self.target);
        }
    }

    fn check<T: Real>(simd: Simd, (rows, columns): (usize, usize)) {
        let (stride, target_stride) = (columns + 2, rows + 3);
        let source: Vec<T> = (0..rows * stride).map(|i| T::from_f64(i as f64)).collect();
        let mut target = vec![T::from_f64(-1.0); columns * target_stride];
        let (from, to) = ((&source[..], stride), (&mut target[..], target_stride));
        simd.run(Transpose { shape: (rows, columns), source: from, target: to });
        for (place, &entry) in target.iter().enumerate() {
            let (j, i) = (place / target_stride, place % target_stride);
            let expected = if i < rows { (i * stride + j) as f64 } else { -1.0 };
            assert_eq!(entry.to_f64(), expected, "{rows} x {columns} on {}", simd.name());
        }
    }

    #[test]
    fn tiles_and_what_is_left_of_them_are_transposed_on_every_path() {
        for simd in Simd::available() {
            for shape in [(1, 1), (2, 5), (7, 9), (8, 8), (16, 3), (3, 16), (19, 26), (16, 17), (33, 16)] {
                check::<f64>(simd, shape);
                check::<f32>(simd, shape);
            }
        }
    }
}
