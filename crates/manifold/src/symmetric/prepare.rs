//! What comes before a decomposition: matrices are checked, made symmetric and scaled.

use super::chunk::{Shape, on_lanes_in_use};
use crate::simd::{Array, Buffer, Kernel, Lanes, elementary::constant};
use crate::transpose::transpose;
use crate::{Real, tolerance};

/// Which entries of the matrices are there.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Given {
    /// All of them, to be checked for symmetry.
    Everything,
    /// Those on and below the diagonal; of a matrix in rows, their mirror images too.
    LowerTriangle,
}

/// Checks that all matrices are finite and symmetric, averages the triangles, and scales each
/// matrix by a power of two (exactly) so that its largest entry lies in `[1, 2)`. The inverse of
/// the scale is left in the first two rows of scratch, as two factors because it may exceed the
/// range of the type. A matrix in rows is padded.
pub struct Prepare<'a, T: Real> {
    pub(super) shape: Shape,
    pub(super) given: Given,
    pub(super) vectors: &'a mut Buffer<T>,
    pub(super) values: &'a mut Buffer<T>,
    pub(super) scratch: &'a mut Buffer<T>,
}

on_lanes_in_use!(Prepare, bool);

impl<T: Real> Prepare<'_, T> {
    /// With lanes `V` across matrices and lanes `P` along rows.
    #[inline(always)]
    fn work<V: Lanes<Scalar = T>, P: Lanes<Scalar = T>>(self) -> bool {
        let Shape { n, width, .. } = self.shape;
        let unscale = &mut self.values.numbers_mut()[n * width..(n + 2) * width];
        if self.shape.in_lanes() {
            let parts = self.vectors.vectors::<V::Part>()[..V::PARTS * n * n].chunks_exact_mut(n * n);
            for (part, a) in parts.enumerate() {
                let Some(scale) = prepare_in_lanes(n, self.given, a) else { return false };
                scale.inverse[0].store(&mut unscale[part * V::Part::WIDTH..]);
                scale.inverse[1].store(&mut unscale[width + part * V::Part::WIDTH..]);
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
    /// What brings a number into `[1, 2)`.
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

/// What a look at the entries of matrices finds.
struct Look<V> {
    largest: V,
    asymmetry: V,
    /// Zero times a number is zero, times NaN or infinity it is NaN: this sum tells.
    not_finite: V,
}

impl<V: Lanes> Look<V> {
    #[inline(always)]
    fn new() -> Self {
        Self { largest: V::zero(), asymmetry: V::zero(), not_finite: V::zero() }
    }

    /// Looks at an entry and its mirror image; returns their mean.
    #[inline(always)]
    fn at(&mut self, lower: V, upper: V) -> V {
        self.not_finite = lower.mul_add(V::zero(), upper * V::zero()) + self.not_finite;
        self.largest = lower.abs().max(upper.abs()).max(self.largest);
        self.asymmetry = (lower - upper).abs().max(self.asymmetry);
        // Half of a subnormal number may not be representable.
        let mean = lower.mul_add(constant(0.5), upper * constant(0.5));
        V::select(lower.eq(upper), lower, mean)
    }

    /// Whether all entries are finite and symmetric up to rounding.
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
        // Before anything moves, so that the caller finds it in its place.
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
    // From the last row on, so that none is overwritten before it moved.
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
                // Which of the two is the lower one decides how their mean is rounded if it is
                // subnormal.
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
