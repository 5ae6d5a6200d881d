//! Convolutions over time of many rows at once. Each row has its own taps; rows are in lanes.

use fedspd_manifold::Real;
use fedspd_manifold::simd::{Kernel, Lanes, Simd};

use super::shape::LANES;

/// Computes `out[t] = sum_k taps[k] input[t + k]` for `[time][rows]` tensors. `input` has
/// `taps - 1` more samples than `out`.
pub(super) fn convolve<T: Real>(simd: Simd, rows: usize, taps: &[T], input: &[T], out: &mut [T]) {
    simd.run(Sliding { rows, weights: taps, input, out, add: false });
}

/// Computes `out[k] += sum_t signal[t] input[t + k]`: the gradient with respect to the taps.
pub(super) fn correlate<T: Real>(simd: Simd, rows: usize, signal: &[T], input: &[T], out: &mut [T]) {
    simd.run(Sliding { rows, weights: signal, input, out, add: true });
}

/// Number of outputs computed together with the window in registers. The window, as many sums and
/// one weight fit in 32 registers.
const WINDOW: usize = 12;

/// Sums of products along a window that slides over the input: the common form of both functions.
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
        // Twelve sums at a time hide the latency of the multiply-add and fit in sixteen registers.
        for first in (0..self.rows).step_by(LANES) {
            match LANES / V::Vector::WIDTH {
                1 => self.slide::<V::Vector, 12, 1>(first),
                2 => self.slide::<V::Vector, 6, 2>(first),
                4 => self.slide::<V::Vector, 3, 4>(first),
                _ => self.slide::<V::Vector, 1, 8>(first),
            }
        }
    }
}

impl<T: Real> Sliding<'_, T> {
    /// Processes one group of rows, held by `P` vectors, from row `first`; `N` outputs at a time.
    #[inline(always)]
    fn slide<V: Lanes<Scalar = T>, const N: usize, const P: usize>(&mut self, first: usize) {
        let count = self.out.len() / self.rows;
        let mut place = 0;
        // The usual network has one group. With a known distance between samples, no access needs a
        // bounds check.
        if self.rows == LANES {
            while V::REGISTERS >= 32 && P == 1 && place + WINDOW <= count {
                self.turning::<V>(place);
                place += WINDOW;
            }
            while place + N <= count {
                self.several::<V, N, P, LANES>(0, place);
                place += N;
            }
            // The remainder of a gradient with respect to few taps: four chains still overlap, one
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

    /// Computes [`WINDOW`] outputs from `place`, with the window in registers. Each sample is
    /// loaded once, and not once per output. The multiply-adds (two per cycle) then limit the
    /// speed, not the loads.
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
            // Unrolled, because registers have no index: in a loop the window would live in memory.
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

    /// Computes `N` outputs from `place`. `ROWS` is the distance between samples if known,
    /// otherwise 0.
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
