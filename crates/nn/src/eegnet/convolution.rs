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

/// Outputs computed together where the window stays in registers: it, as many sums and a weight fit
/// 32 of them.
const WINDOW: usize = 12;

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
            while V::REGISTERS >= 32 && P == 1 && place + WINDOW <= count {
                self.turning::<V>(place);
                place += WINDOW;
            }
            while place + N <= count {
                self.several::<V, N, P, LANES>(0, place);
                place += N;
            }
            // What is left of a gradient with respect to few taps: four chains still overlap, one
            // does not.
            while N > 4 && place + 4 <= count {
                self.several::<V, 4, P, LANES>(0, place);
                place += 4;
            }
        }
        while place < count {
            self.several::<V, 1, P, 0>(first, place);
            place += 1;
        }
    }

    /// [`WINDOW`] outputs from `place` on, with the window in registers: each sample is loaded
    /// once, not once for every output. Then the multiply-adds set the pace (two a cycle), not the
    /// loads.
    #[inline(always)]
    fn turning<V: Lanes<Scalar = T>>(&mut self, place: usize) {
        let mut sums = [V::zero(); WINDOW];
        if self.add {
            for i in 0..WINDOW {
                sums[i] = V::load(&self.out[(place + i) * LANES..]);
            }
        }
        let mut window = [V::zero(); WINDOW];
        let input = &self.input[place * LANES..];
        for i in 0..WINDOW {
            window[i] = V::load(&input[i * LANES..]);
        }
        // After as many taps as the window is long, every sample is back in its register. The last
        // turn would load beyond the input.
        let turns = (self.weights.len() / LANES - 1) / WINDOW;
        let (turning, rest) = self.weights.split_at(turns * WINDOW * LANES);
        let coming = input[WINDOW * LANES..].chunks_exact(WINDOW * LANES);
        for (weights, coming) in turning.chunks_exact(WINDOW * LANES).zip(coming) {
            // Written out, because registers have no index: in a loop the window would live in
            // memory.
            macro_rules! taps {
                ($($tap:literal)*) => {$(
                    let weight = V::load(&weights[$tap * LANES..($tap + 1) * LANES]);
                    for i in 0..WINDOW {
                        sums[i] = weight.mul_add(window[(i + $tap) % WINDOW], sums[i]);
                    }
                    window[$tap] = V::load(&coming[$tap * LANES..($tap + 1) * LANES]);
                )*};
            }
            taps!(0 1 2 3 4 5 6 7 8 9 10 11);
        }
        for (tap, weight) in rest.chunks_exact(LANES).enumerate() {
            let samples = &input[(turns * WINDOW + tap) * LANES..][..WINDOW * LANES];
            let weight = V::load(weight);
            for i in 0..WINDOW {
                sums[i] = weight.mul_add(V::load(&samples[i * LANES..(i + 1) * LANES]), sums[i]);
            }
        }
        for i in 0..WINDOW {
            sums[i].store(&mut self.out[(place + i) * LANES..]);
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
