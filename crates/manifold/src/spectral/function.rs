//! Spectral functions: functions of the eigenvalues, with domains and divided differences.

use crate::simd::{
    Lanes,
    elementary::{constant, exp, log, log_divided_difference, sinhc},
};
use crate::{Error, Real};

/// A scalar function `f`, applied to the eigenvalues of a symmetric matrix:
/// `F(A) = U diag(f(l)) U^T`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SpectralFunction<T> {
    /// `log l` (`LogEig`); needs positive definite matrices.
    Log,
    /// `exp l`.
    Exp,
    /// `sqrt l`; needs positive definite matrices.
    Sqrt,
    /// `1/sqrt l`; needs positive definite matrices.
    InverseSqrt,
    /// `l^p`; needs positive definite matrices.
    Power(T),
    /// `max(l, floor)` (`ReEig`); any symmetric matrix. The derivative at `l = floor` is 0.
    Clamp {
        /// The smallest eigenvalue of the result.
        floor: T,
    },
    /// `log max(l, floor)`: `LogEig` after `ReEig` in one decomposition; any symmetric matrix.
    LogClamp {
        /// The smallest eigenvalue passed to the logarithm; positive.
        floor: T,
    },
}

impl<T: Real> SpectralFunction<T> {
    /// Returns the name for messages.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Log => "the logarithm",
            Self::Exp => "the exponential",
            Self::Sqrt => "the square root",
            Self::InverseSqrt => "the inverse square root",
            Self::Power(_) => "the power",
            Self::Clamp { .. } => "the eigenvalue clamp",
            Self::LogClamp { .. } => "the logarithm of the clamp",
        }
    }

    /// Returns whether the function requires positive eigenvalues.
    pub(super) fn needs_positive(&self) -> bool {
        matches!(self, Self::Log | Self::Sqrt | Self::InverseSqrt | Self::Power(_))
    }

    /// Checks the parameter.
    pub(super) fn check(&self) -> Result<(), Error> {
        match *self {
            Self::Power(p) if !p.is_finite() => {
                Err(Error::OutOfRange { what: "the exponent", value: p.to_f64(), expected: "finite" })
            }
            Self::Clamp { floor } if !floor.is_finite() => Err(Error::OutOfRange {
                what: "the eigenvalue floor",
                value: floor.to_f64(),
                expected: "finite",
            }),
            Self::LogClamp { floor } if !(floor > T::ZERO && floor.is_finite()) => Err(Error::OutOfRange {
                what: "the eigenvalue floor",
                value: floor.to_f64(),
                expected: "positive and finite",
            }),
            _ => Ok(()),
        }
    }

    /// Computes the second input of the divided differences besides the eigenvalue: its logarithm
    /// or its value. It is computed once per eigenvalue and used in every pair.
    #[inline(always)]
    pub(super) fn prepare<V: Lanes<Scalar = T>>(&self, l: V) -> V {
        match *self {
            Self::Log | Self::Power(_) => log(l),
            Self::LogClamp { floor } => log(l.max(V::splat(floor))),
            Self::Exp => exp(l),
            Self::Sqrt | Self::InverseSqrt => l.sqrt(),
            Self::Clamp { floor } => l.max(V::splat(floor)),
        }
    }

    /// Returns `f(l)`, given the output of [`SpectralFunction::prepare`] for `l`.
    #[inline(always)]
    pub(super) fn value<V: Lanes<Scalar = T>>(&self, prepared: V) -> V {
        match *self {
            Self::Log | Self::LogClamp { .. } | Self::Exp | Self::Sqrt | Self::Clamp { .. } => prepared,
            Self::InverseSqrt => V::one() / prepared,
            Self::Power(p) => exp(V::splat(p) * prepared),
        }
    }

    /// Computes the divided difference `(f(a) - f(b))/(a - b)`, and `f'(a)` for `a = b`: an entry
    /// of the Loewner matrix.
    ///
    /// It is accurate for any gap: each form is free of cancellation where it is used
    /// (Higham, "Functions of Matrices", section 3.2). `pa` and `pb` are the outputs of
    /// [`SpectralFunction::prepare`] for `a` and `b`.
    #[inline(always)]
    pub(super) fn divided_difference<V: Lanes<Scalar = T>>(&self, a: V, b: V, pa: V, pb: V) -> V {
        // Work with a >= b: divided differences are symmetric.
        let swap = a.lt(b);
        let (a, b) = (V::select(swap, b, a), V::select(swap, a, b));
        let (pa, pb) = (V::select(swap, pb, pa), V::select(swap, pa, pb));
        match *self {
            Self::Log => log_divided_difference(a, b, pa, pb),
            Self::Sqrt => V::one() / (pa + pb),
            Self::InverseSqrt => -(V::one() / (pa * pb * (pa + pb))),
            // (e^a - e^b)/(a - b) = e^((a+b)/2) sinh(x)/x with x = (a - b)/2
            Self::Exp => {
                let half_gap = (a - b) * constant(0.5);
                let near = exp(a.mul_add(constant(0.5), b * constant(0.5))) * sinhc(half_gap.min(V::one()));
                quotient_unless_near(half_gap, near, pa - pb, a - b)
            }
            // With L = log(a/b): (a^p - b^p)/(a - b) = p (ab)^((p-1)/2) sinh(pL/2)/(pL/2) sqrt(ab)
            // L/(a - b). The last factor is of order 1 at any scale.
            Self::Power(p) => {
                let p = V::splat(p);
                let slope = log_divided_difference(a, b, pa, pb);
                let half = p * slope * (a - b) * constant(0.5);
                let middle = exp((p - V::one()) * constant(0.5) * (pa + pb));
                let relative = slope * a.sqrt() * b.sqrt();
                let near = p * middle * sinhc(half.max(-V::one()).min(V::one())) * relative;
                quotient_unless_near(half.abs(), near, exp(p * pa) - exp(p * pb), a - b)
            }
            Self::Clamp { floor } => clamp_divided_difference(a, b, V::splat(floor)),
            Self::LogClamp { floor } => {
                let floor = V::splat(floor);
                let slope = log_divided_difference(a.max(floor), b.max(floor), pa, pb);
                let clamp = clamp_divided_difference(a, b, floor);
                // At a tiny floor the slope of the logarithm may overflow where it is not used.
                V::select(clamp.eq(V::zero()), V::zero(), slope * clamp)
            }
        }
    }
}

/// Returns `near` up to a distance of 1, and the plain quotient beyond it, where nothing cancels.
#[inline(always)]
fn quotient_unless_near<V: Lanes>(distance: V, near: V, rise: V, gap: V) -> V {
    let far = V::one().lt(distance);
    V::select(far, rise / V::select(far, gap, V::one()), near)
}

/// Computes `(max(a, floor) - max(b, floor))/(a - b)` for `a >= b`. It is 1 above the floor and 0
/// below. Across the floor, it is the share of the gap above it.
#[inline(always)]
fn clamp_divided_difference<V: Lanes>(a: V, b: V, floor: V) -> V {
    let across = b.le(floor) & floor.lt(a);
    if !V::any(across) {
        // Usually no eigenvalue is below the floor, so skip the division.
        return V::select(floor.lt(b), V::one(), V::zero());
    }
    let share = (a - floor) / V::select(across, a - b, V::one());
    V::select(floor.lt(b), V::one(), V::select(across, share, V::zero()))
}
