//! Preparation of matrices for a decomposition: check, symmetrise and scale.

use super::chunk::{Shape, on_lanes_in_use};
use crate::simd::{Array, Buffer, Kernel, Lanes, elementary::constant};
use crate::transpose::transpose;
use crate::{Real, tolerance};

/// Available entries of the matrices.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Given {
    /// All of them; their symmetry is checked.
    Everything,
    /// Those on and below the diagonal; for a matrix in rows, also their mirror images.
    LowerTriangle,
}

/// Checks that all matrices are finite and symmetric and averages the triangles. It scales each
/// matrix exactly, by a power of two, so that its largest entry lies in `[1, 2)`. It leaves the
/// inverse scale in the first two rows of scratch, as two factors, because it may exceed the range
/// of the type. It pads a matrix in rows.
pub struct Prepare<'a, T: Real> {
    pub(super) shape: Shape,
    pub(super) given: Given,
    pub(super) vectors: &'a mut Buffer<T>,
    pub(super) values: &'a mut Buffer<T>,
    pub(super) scratch: &'a mut Buffer<T>,
}

on_lanes_in_use!(Prepare, bool);

impl<T: Real> Prepare<'_, T> {
    /// Runs with lanes `V` across matrices and lanes `P` along rows.
    #[inline(always)]
    fn work<V: Lanes<Scalar = T>, P: Lanes<Scalar = T>>(self) -> bool {
        let Shape { n, width, .. } = self.shape;
        let unscale = &mut self.values.numbers_mut()[n * width..(n + 2) * width];
        if self.shape.in_lanes() {
            let parts = self.vectors.vectors::<V::Vector>()[..V::VECTORS * n * n].chunks_exact_mut(n * n);
            for (part, a) in parts.enumerate() {
                let Some(scale) = prepare_in_lanes(n, self.given, a) else { return false };
                scale.inverse[0].store(&mut unscale[part * V::Vector::WIDTH..]);
                scale.inverse[1].store(&mut unscale[width + part * V::Vector::WIDTH..]);
            }
            return true;
        }
        let (numbers, scratch) = (self.vectors.numbers_mut(), self.scratch.numbers_mut());
        let scale = prepare_rows::<P>(n, self.given, numbers, scratch);
        let fine = scale.is_some();
        if let Some(scale) = scale {
            [unscale[0], unscale[1]] = scale.inverse.map(|Array([factor])| factor);
        }
        fine
    }
}

/// A power of two in two factors, and its inverse.
struct Scale<V> {
    factors: [V; 2],
    inverse: [V; 2],
}

impl<V: Lanes> Scale<V> {
    /// Returns the scale that brings a number into `[1, 2)`.
    #[inline(always)]
    fn of(largest: V) -> Self {
        let largest = V::select(largest.eq(V::zero()), V::one(), largest);
        let subnormal = largest.lt(V::splat(V::Scalar::MIN_POSITIVE));
        let shift = constant::<V>(f64::from(V::Scalar::MANTISSA_BITS + 2));
        let normal = V::select(subnormal, largest * shift.exp2_of_integer(), largest);
        let bias = constant::<V>(f64::from(1 - V::Scalar::EXPONENTS.0));
        let exponent = normal.biased_exponent() - bias - V::select(subnormal, shift, V::zero());
        let round = V::splat(V::Scalar::ROUND_TO_INTEGER);
        let half = exponent.mul_add(constant(0.5), round) - round;
        Self {
            factors: [(-half).exp2_of_integer(), (half - exponent).exp2_of_integer()],
            inverse: [half.exp2_of_integer(), (exponent - half).exp2_of_integer()],
        }
    }
}

/// Statistics of the entries of matrices.
struct Look<V> {
    largest: V,
    asymmetry: V,
    /// Sum of entries times zero: zero if all are finite, otherwise NaN.
    not_finite: V,
}

impl<V: Lanes> Look<V> {
    #[inline(always)]
    fn new() -> Self {
        Self { largest: V::zero(), asymmetry: V::zero(), not_finite: V::zero() }
    }

    /// Records an entry and its mirror image. Returns their mean.
    #[inline(always)]
    fn at(&mut self, lower: V, upper: V) -> V {
        self.not_finite = lower.mul_add(V::zero(), upper * V::zero()) + self.not_finite;
        self.largest = lower.abs().max(upper.abs()).max(self.largest);
        self.asymmetry = (lower - upper).abs().max(self.asymmetry);
        // Half of a subnormal number may not be representable.
        let mean = lower.mul_add(constant(0.5), upper * constant(0.5));
        V::select(lower.eq(upper), lower, mean)
    }

    /// Returns whether all entries are finite and symmetric up to rounding.
    #[inline(always)]
    fn is_fine(&self) -> bool {
        let allowed = self.largest * V::splat(V::Scalar::from_f64(tolerance::SYMMETRY) * V::Scalar::EPSILON);
        !V::any(!self.asymmetry.le(allowed)) && !V::any(!self.not_finite.eq(V::zero()))
    }
}

#[inline(always)]
fn prepare_in_lanes<V: Lanes>(n: usize, given: Given, a: &mut [V]) -> Option<Scale<V>> {
    let mut look = Look::new();
    for i in 0..n {
        for j in 0..=i {
            let lower = a[i * n + j];
            let upper = if given == Given::Everything { a[j * n + i] } else { lower };
            a[i * n + j] = look.at(lower, upper);
        }
    }
    if !look.is_fine() {
        return None;
    }
    let scale = Scale::of(look.largest);
    for i in 0..n {
        for entry in &mut a[i * n..=i * n + i] {
            *entry = *entry * scale.factors[0] * scale.factors[1];
        }
    }
    Some(scale)
}

#[inline(always)]
fn prepare_rows<P: Lanes>(
    n: usize,
    given: Given,
    a: &mut [P::Scalar],
    scratch: &mut [P::Scalar],
) -> Option<Scale<Array<P::Scalar, 1>>> {
    let stride = n.next_multiple_of(P::WIDTH);
    if given == Given::LowerTriangle && !a[..n * n].iter().all(|entry| entry.is_finite()) {
        // Check before anything moves, so that the caller finds the entry in its position.
        return None;
    }
    let (mirrored, rest) = scratch.split_at_mut(n * stride);
    let indices = &mut rest[..stride];
    for (i, index) in indices.iter_mut().enumerate() {
        *index = P::Scalar::from_f64(i as f64);
    }
    if given == Given::Everything {
        transpose::<P>((n, n), (&*a, n), (&mut *mirrored, stride));
    }
    // From the last row, so that no row is overwritten before it moves.
    for i in (0..n).rev() {
        a.copy_within(i * n..(i + 1) * n, i * stride);
        a[i * stride + n..(i + 1) * stride].fill(P::Scalar::ZERO);
        mirrored[i * stride + n..(i + 1) * stride].fill(P::Scalar::ZERO);
    }
    let mut look = Look::<P>::new();
    for i in 0..n {
        let diagonal = P::splat(P::Scalar::from_f64(i as f64));
        for j in (0..stride).step_by(P::WIDTH) {
            let place = i * stride + j;
            let entry = P::load(&a[place..]);
            if given == Given::Everything {
                // If the mean is subnormal, its rounding depends on which of the two is the lower
                // one.
                let (image, is_lower) = (P::load(&mirrored[place..]), P::load(&indices[j..]).le(diagonal));
                let lower = P::select(is_lower, entry, image);
                look.at(lower, P::select(is_lower, image, entry)).store(&mut a[place..]);
            } else {
                look.at(entry, entry);
            }
        }
    }
    if !look.is_fine() {
        return None;
    }
    let scale = Scale::of(Array([look.largest.largest()]));
    let [first, second] = [0, 1].map(|i| P::splat(scale.factors[i].0[0]));
    for j in (0..n * stride).step_by(P::WIDTH) {
        (P::load(&a[j..]) * first * second).store(&mut a[j..]);
    }
    Some(scale)
}
