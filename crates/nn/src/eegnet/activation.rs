//! What follows a normalisation: its affine map, ELU, the mean of neighbours, dropout; and the way back.

use fedspd_manifold::Real;
use fedspd_manifold::simd::{Kernel, Lanes, Simd, elementary};

use super::norm::Pulls;

/// `out[s] = mask[s] mean over the pool of ELU(scale x + offset)`, where `x` and what ELU gives (kept for the way back) are `[time][rows]`. Without a mask
/// nothing is dropped.
pub(super) struct Activate<'a, T> {
    pub(super) rows: usize,
    pub(super) pool: usize,
    pub(super) scale: &'a [T],
    pub(super) offset: &'a [T],
    pub(super) input: &'a [T],
    pub(super) mask: Option<&'a [T]>,
    pub(super) activated: &'a mut [T],
    pub(super) out: &'a mut [T],
}

impl<T: Real> Activate<'_, T> {
    pub(super) fn run_on(self, simd: Simd) {
        simd.run(self);
    }
}

impl<T: Real> Kernel<T> for Activate<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Lanes<Scalar = T>>(self) {
        let (rows, block) = (self.rows, self.rows * self.pool);
        let share = V::Part::splat(T::ONE / T::from_f64(self.pool as f64));
        for first in (0..rows).step_by(V::Part::WIDTH) {
            let (scale, offset) = (V::Part::load(&self.scale[first..]), V::Part::load(&self.offset[first..]));
            for (place, out) in self.out.chunks_exact_mut(rows).enumerate() {
                let mut sum = V::Part::zero();
                for t in 0..self.pool {
                    let at = place * block + t * rows + first;
                    let activated = elu(V::Part::load(&self.input[at..]).mul_add(scale, offset));
                    activated.store(&mut self.activated[at..]);
                    sum = sum + activated;
                }
                let mut mean = sum * share;
                if let Some(mask) = self.mask {
                    mean = mean * V::Part::load(&mask[place * rows + first..]);
                }
                mean.store(&mut out[first..]);
            }
        }
    }
}

/// `x` if positive, otherwise `exp(x) - 1`.
#[inline(always)]
fn elu<V: Lanes>(x: V) -> V {
    let negative = elementary::exp(x.min(V::zero())) - V::one();
    V::select(V::zero().lt(x), x, negative)
}

/// The way back: `activated` is replaced by the gradient with respect to the normalised input, given that with respect to the output; the sums of it that
/// the normalisation needs are taken on the way. Samples that no mean covers have no gradient.
pub(super) struct PullBack<'a, T> {
    pub(super) rows: usize,
    pub(super) pool: usize,
    pub(super) means: &'a [T],
    pub(super) input: &'a [T],
    pub(super) mask: Option<&'a [T]>,
    pub(super) gradient: &'a [T],
    pub(super) activated: &'a mut [T],
    pub(super) pulls: &'a mut Pulls<T>,
}

impl<T: Real> PullBack<'_, T> {
    pub(super) fn run_on(self, simd: Simd) {
        simd.run(self);
    }
}

impl<T: Real> Kernel<T> for PullBack<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Lanes<Scalar = T>>(self) {
        let (rows, block) = (self.rows, self.rows * self.pool);
        let covered = self.gradient.len() * self.pool;
        self.activated[covered..].fill(T::ZERO);
        let share = V::Part::splat(T::ONE / T::from_f64(self.pool as f64));
        for first in (0..rows).step_by(V::Part::WIDTH) {
            let mean = V::Part::load(&self.means[first..]);
            let (mut sum, mut product) = (V::Part::zero(), V::Part::zero());
            for (place, gradient) in self.gradient.chunks_exact(rows).enumerate() {
                let mut outer = V::Part::load(&gradient[first..]) * share;
                if let Some(mask) = self.mask {
                    outer = outer * V::Part::load(&mask[place * rows + first..]);
                }
                for t in 0..self.pool {
                    let at = place * block + t * rows + first;
                    let activated = V::Part::load(&self.activated[at..]);
                    // ELU' is 1 above zero and exp(x) = ELU + 1 below.
                    let slope = activated.min(V::Part::zero()) + V::Part::one();
                    let inner = outer * slope;
                    inner.store(&mut self.activated[at..]);
                    sum = sum + inner;
                    product = inner.mul_add(V::Part::load(&self.input[at..]) - mean, product);
                }
            }
            sum.store(&mut self.pulls.sums[first..]);
            product.store(&mut self.pulls.products[first..]);
        }
    }
}

/// `out = a g + b x + c` with coefficients for each row.
pub(super) struct Affine<'a, T> {
    pub(super) rows: usize,
    pub(super) coefficients: [&'a [T]; 3],
    pub(super) gradient: &'a [T],
    pub(super) input: &'a [T],
    pub(super) out: &'a mut [T],
}

impl<T: Real> Affine<'_, T> {
    pub(super) fn run_on(self, simd: Simd) {
        simd.run(self);
    }
}

impl<T: Real> Kernel<T> for Affine<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Lanes<Scalar = T>>(self) {
        let rows = self.rows;
        for first in (0..rows).step_by(V::Part::WIDTH) {
            let [a, b, c] = self.coefficients;
            let (a, b, c) =
                (V::Part::load(&a[first..]), V::Part::load(&b[first..]), V::Part::load(&c[first..]));
            let samples = self.gradient.chunks_exact(rows).zip(self.input.chunks_exact(rows));
            for ((g, x), out) in samples.zip(self.out.chunks_exact_mut(rows)) {
                let x = V::Part::load(&x[first..]);
                a.mul_add(V::Part::load(&g[first..]), b.mul_add(x, c)).store(&mut out[first..]);
            }
        }
    }
}
