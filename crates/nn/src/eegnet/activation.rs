//! Layers after a normalisation: its affine map, ELU, average pooling and dropout, forward and
//! backward.

use fedspd_manifold::Real;
use fedspd_manifold::simd::{Kernel, Lanes, Simd, elementary};

use super::norm::Pulls;

/// Computes `out[s] = mask[s] mean over the pool of ELU(scale x + offset)`. `x` and the output of
/// ELU (kept for the backward pass) are `[time][rows]`. Without a mask nothing is dropped.
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
        let share = V::Vector::splat(T::ONE / T::from_f64(self.pool as f64));
        for first in (0..rows).step_by(V::Vector::WIDTH) {
            let (scale, offset) =
                (V::Vector::load(&self.scale[first..]), V::Vector::load(&self.offset[first..]));
            for (place, out) in self.out.chunks_exact_mut(rows).enumerate() {
                let mut sum = V::Vector::zero();
                for t in 0..self.pool {
                    let at = place * block + t * rows + first;
                    let activated = elu(V::Vector::load(&self.input[at..]).mul_add(scale, offset));
                    activated.store(&mut self.activated[at..]);
                    sum = sum + activated;
                }
                let mut mean = sum * share;
                if let Some(mask) = self.mask {
                    mean = mean * V::Vector::load(&mask[place * rows + first..]);
                }
                mean.store(&mut out[first..]);
            }
        }
    }
}

/// Computes ELU: `x` if positive, otherwise `exp(x) - 1`.
#[inline(always)]
fn elu<V: Lanes>(x: V) -> V {
    let negative = elementary::exp(x.min(V::zero())) - V::one();
    V::select(V::zero().lt(x), x, negative)
}

/// Backward pass: replaces `activated` by the gradient with respect to the normalised input, given
/// the gradient with respect to the output. It also computes the sums that the normalisation needs.
/// Samples outside all pools have zero gradient.
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
        let share = V::Vector::splat(T::ONE / T::from_f64(self.pool as f64));
        for first in (0..rows).step_by(V::Vector::WIDTH) {
            let mean = V::Vector::load(&self.means[first..]);
            let (mut sum, mut product) = (V::Vector::zero(), V::Vector::zero());
            for (place, gradient) in self.gradient.chunks_exact(rows).enumerate() {
                let mut outer = V::Vector::load(&gradient[first..]) * share;
                if let Some(mask) = self.mask {
                    outer = outer * V::Vector::load(&mask[place * rows + first..]);
                }
                for t in 0..self.pool {
                    let at = place * block + t * rows + first;
                    let activated = V::Vector::load(&self.activated[at..]);
                    // ELU' is 1 above zero and exp(x) = ELU + 1 below.
                    let slope = activated.min(V::Vector::zero()) + V::Vector::one();
                    let inner = outer * slope;
                    inner.store(&mut self.activated[at..]);
                    sum = sum + inner;
                    product = inner.mul_add(V::Vector::load(&self.input[at..]) - mean, product);
                }
            }
            sum.store(&mut self.pulls.sums[first..]);
            product.store(&mut self.pulls.products[first..]);
        }
    }
}

/// Computes `out = a g + b x + c` with coefficients for each row.
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
        for first in (0..rows).step_by(V::Vector::WIDTH) {
            let [a, b, c] = self.coefficients;
            let (a, b, c) =
                (V::Vector::load(&a[first..]), V::Vector::load(&b[first..]), V::Vector::load(&c[first..]));
            let samples = self.gradient.chunks_exact(rows).zip(self.input.chunks_exact(rows));
            for ((g, x), out) in samples.zip(self.out.chunks_exact_mut(rows)) {
                let x = V::Vector::load(&x[first..]);
                a.mul_add(V::Vector::load(&g[first..]), b.mul_add(x, c)).store(&mut out[first..]);
            }
        }
    }
}
