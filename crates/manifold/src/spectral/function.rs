//! Spectral functions: a function of the eigenvalues, its domain and its divided differences.

use crate::simd::{
    Lanes,
    elementary::{constant, exp, log, log_divided_difference, sinhc},
};
use crate::{Error, Real};

/// A function `f` of one number, applied to the eigenvalues of a symmetric matrix: `F(A) = U diag(f(l)) U^T`.
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
    /// `max(l, floor)` (`ReEig`); any symmetric matrix. The derivative at `l = floor` is taken as 0.
    Clamp {
        /// The smallest eigenvalue of the result.
        floor: T,
    },
    /// `log max(l, floor)`: `LogEig` after `ReEig` in one decomposition; any symmetric matrix.
    LogClamp {
        /// The smallest eigenvalue of which a logarithm is taken; positive.
        floor: T,
    },
}

impl<T: Real> SpectralFunction<T> {
    /// Its name in messages.
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

    /// Whether the function asks for positive eigenvalues.
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

    /// What the divided differences of this function are made of, besides the eigenvalue itself: its logarithm or its
    /// value. Computed once per eigenvalue, used in every pair.
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

    /// `f(l)`, given what [`SpectralFunction::prepare`] made of `l`.
    #[inline(always)]
    pub(super) fn value<V: Lanes<Scalar = T>>(&self, prepared: V) -> V {
        match *self {
            Self::Log | Self::LogClamp { .. } | Self::Exp | Self::Sqrt | Self::Clamp { .. } => prepared,
            Self::InverseSqrt => V::one() / prepared,
            Self::Power(p) => exp(V::splat(p) * prepared),
        }
    }

    /// The divided difference `(f(a) - f(b))/(a - b)`, and `f'(a)` where `a = b`: an entry of the Loewner matrix.
    ///
    /// Accurate for any gap: each form is either free of cancellation or used only where none occurs
    /// (`algorithms.md`, 2.3 and 2.4; Higham, "Functions of Matrices", section 3.2).
    /// `pa` and `pb` are what [`SpectralFunction::prepare`] made of `a` and `b`.
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
            // With L = log(a/b): (a^p - b^p)/(a - b) = p (ab)^((p-1)/2) sinh(pL/2)/(pL/2) sqrt(ab) L/(a - b), where the last factor is
            // of the order of 1 whatever the scale.
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
                // The slope of the logarithm at a tiny floor may overflow where nothing of it is used.
                V::select(clamp.eq(V::zero()), V::zero(), slope * clamp)
            }
        }
    }
}

/// `near` up to a distance of 1, the plain quotient beyond, where it does not cancel.
#[inline(always)]
fn quotient_unless_near<V: Lanes>(distance: V, near: V, rise: V, gap: V) -> V {
    let far = V::one().lt(distance);
    V::select(far, rise / V::select(far, gap, V::one()), near)
}

/// `(max(a, floor) - max(b, floor))/(a - b)` for `a >= b`: 1 above the floor, 0 below, the share of the gap above it across.
#[inline(always)]
fn clamp_divided_difference<V: Lanes>(a: V, b: V, floor: V) -> V {
    let across = b.le(floor) & floor.lt(a);
    if !V::any(across) {
        // Mostly no eigenvalue is below the floor, and the division is saved.
        return V::select(floor.lt(b), V::one(), V::zero());
    }
    let share = (a - floor) / V::select(across, a - b, V::one());
    V::select(floor.lt(b), V::one(), V::select(across, share, V::zero()))
}
