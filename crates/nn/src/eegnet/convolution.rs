//! Convolutions over time of many rows at once, each row with taps of its own, the rows in lanes.

use fedspd_manifold::Real;
use fedspd_manifold::simd::{Kernel, Lanes, Simd};

use super::shape::LANES;

/// `out[t] = sum_k taps[k] input[t + k]` for `[time][rows]` tensors; `input` has `taps - 1` more samples than `out`.
pub(super) fn convolve<T: Real>(simd: Simd, rows: usize, taps: &[T], input: &[T], out: &mut [T]) {
    simd.run(Sliding { rows, weights: taps, input, out, add: false });
}

/// `out[k] += sum_t signal[t] input[t + k]`: the gradient with respect to the taps.
pub(super) fn correlate<T: Real>(simd: Simd, rows: usize, signal: &[T], input: &[T], out: &mut [T]) {
    simd.run(Sliding { rows, weights: signal, input, out, add: true });
}

/// Both are sums of products along a window that slides over the input.
struct Sliding<'a, T> {
    rows: usize,
    weights: &'a [T],
    input: &'a [T],
    out: &'a mut [T],
    add: bool,
}

impl<T: Real> Kernel<T> for Sliding<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Lanes<Scalar = T>>(mut self) {
        // Twelve sums at a time: enough to hide the latency of the multiply-add, few enough for sixteen registers.
        for first in (0..self.rows).step_by(LANES) {
            match LANES / V::Part::WIDTH {
                1 => self.slide::<V::Part, 12, 1>(first),
                2 => self.slide::<V::Part, 6, 2>(first),
                4 => self.slide::<V::Part, 3, 4>(first),
                _ => self.slide::<V::Part, 1, 8>(first),
            }
        }
    }
}

impl<T: Real> Sliding<'_, T> {
    /// The rows of one group, which `P` vectors hold, from row `first` on; `N` outputs at a time.
    #[inline(always)]
    fn slide<V: Lanes<Scalar = T>, const N: usize, const P: usize>(&mut self, first: usize) {
        let count = self.out.len() / self.rows;
        let mut place = 0;
        // The usual network has one group: with the distance between samples known, no access needs a check.
        if self.rows == LANES {
            while place + N <= count {
                self.several::<V, N, P, LANES>(0, place);
                place += N;
            }
        }
        while place < count {
            self.several::<V, 1, P, 0>(first, place);
            place += 1;
        }
    }

    /// `N` outputs from `place` on. `ROWS` is the distance between samples if it is known, otherwise 0.
    #[inline(always)]
    fn several<V: Lanes<Scalar = T>, const N: usize, const P: usize, const ROWS: usize>(
        &mut self,
        first: usize,
        place: usize,
    ) {
        let rows = if ROWS > 0 { ROWS } else { self.rows };
        let mut sums = [[V::zero(); P]; N];
        if self.add {
            for i in 0..N {
                for p in 0..P {
                    sums[i][p] = V::load(&self.out[(place + i) * rows + first + p * V::WIDTH..]);
                }
            }
        }
        let (weights, mut start) = (self.weights.chunks_exact(rows), place * rows + first);
        for weight in weights {
            let weight = &weight[first..first + LANES];
            let window = &self.input[start..start + (N - 1) * rows + LANES];
            for p in 0..P {
                let weight = V::load(&weight[p * V::WIDTH..]);
                for i in 0..N {
                    sums[i][p] = weight.mul_add(V::load(&window[i * rows + p * V::WIDTH..]), sums[i][p]);
                }
            }
            start += rows;
        }
        for i in 0..N {
            for p in 0..P {
                sums[i][p].store(&mut self.out[(place + i) * rows + first + p * V::WIDTH..]);
            }
        }
    }
}
