//! The two floating-point types and their constants.

use std::borrow::Cow;
use std::fmt::{Debug, Display, LowerExp};
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

use crate::compiled::Compiled;
use crate::simd::Dispatch;

/// `f32` or `f64`.
pub trait Real:
    Copy
    + Debug
    + Display
    + LowerExp
    + Default
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
    + DivAssign
    + Sum
    + Send
    + Sync
    + 'static
    + Dispatch
    + Compiled
{
    /// 0
    const ZERO: Self;
    /// 1
    const ONE: Self;
    /// 1/2
    const HALF: Self;
    /// 2
    const TWO: Self;
    /// The distance from 1 to the next larger number.
    const EPSILON: Self;
    /// The smallest positive normal number.
    const MIN_POSITIVE: Self;
    /// The largest finite number.
    const MAX: Self;
    /// High part of `log 2`, rounded to fewer digits so that its product with any exponent is
    /// exact.
    const LN_2_HIGH: Self;
    /// Low part of `log 2`: the remainder.
    const LN_2_LOW: Self;
    /// `log2 e`
    const LOG2_E: Self;
    /// The number of bits of the fraction.
    const MANTISSA_BITS: i32;
    /// Adding and subtracting this number rounds to the nearest integer (ties to even).
    const ROUND_TO_INTEGER: Self;
    /// The exponents of the smallest and the largest normal number.
    const EXPONENTS: (i32, i32);
    /// Number of terms after which the Taylor series in `exp` (|x| <= 0.35) is exact to rounding.
    const EXP_TERMS: usize;
    /// Number of terms after which the series of `atanh(z)/z` in `z^2 <= 0.04` is exact to
    /// rounding.
    const ATANH_TERMS: usize;

    /// Rounds to the nearest number of this type.
    fn from_f64(value: f64) -> Self;
    /// Converts numbers to `f64`, without rounding.
    fn widen(numbers: &[Self]) -> Cow<'_, [f64]>;
    /// Converts to `f64`, without rounding.
    fn to_f64(self) -> f64;
    /// Computes `self * b + c` with one rounding.
    fn mul_add(self, b: Self, c: Self) -> Self;
    /// Returns the square root.
    fn sqrt(self) -> Self;
    /// Returns the absolute value.
    fn abs(self) -> Self;
    /// Returns the magnitude of `self` with the sign of `sign`.
    fn copysign(self, sign: Self) -> Self;
    /// Returns whether the number is neither infinite nor NaN.
    fn is_finite(self) -> bool;
    /// Returns the biased binary exponent of a positive normal number.
    fn biased_exponent(self) -> Self;
    /// Scales a positive normal number by a power of two into `[1, 2)`.
    fn significand(self) -> Self;
    /// Returns two to the power of an integer-valued number within [`Real::EXPONENTS`].
    fn exp2_of_integer(self) -> Self;
}

macro_rules! real {
    (
        $float:ident, $bits:ty, $mantissa_bits:literal,
        ln2: ($ln2_high:expr, $ln2_low:expr), widen: $widen:expr, exp_terms: $exp_terms:literal, atanh_terms: $atanh_terms:literal
    ) => {
        impl Real for $float {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const HALF: Self = 0.5;
            const TWO: Self = 2.0;
            const EPSILON: Self = Self::EPSILON;
            const MIN_POSITIVE: Self = Self::MIN_POSITIVE;
            const MAX: Self = Self::MAX;
            const LN_2_HIGH: Self = $ln2_high;
            const LN_2_LOW: Self = $ln2_low;
            const LOG2_E: Self = std::$float::consts::LOG2_E;
            const MANTISSA_BITS: i32 = $mantissa_bits;
            const ROUND_TO_INTEGER: Self = 1.5 * ((1u64 << $mantissa_bits) as Self);
            const EXPONENTS: (i32, i32) = (Self::MIN_EXP - 1, Self::MAX_EXP - 1);
            const EXP_TERMS: usize = $exp_terms;
            const ATANH_TERMS: usize = $atanh_terms;

            #[inline(always)]
            fn from_f64(value: f64) -> Self {
                value as Self
            }
            #[inline(always)]
            fn widen(numbers: &[Self]) -> Cow<'_, [f64]> {
                $widen(numbers)
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                f64::from(self)
            }
            #[inline(always)]
            fn mul_add(self, b: Self, c: Self) -> Self {
                <$float>::mul_add(self, b, c)
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                <$float>::sqrt(self)
            }
            #[inline(always)]
            fn abs(self) -> Self {
                <$float>::abs(self)
            }
            #[inline(always)]
            fn copysign(self, sign: Self) -> Self {
                <$float>::copysign(self, sign)
            }
            #[inline(always)]
            fn is_finite(self) -> bool {
                <$float>::is_finite(self)
            }
            #[inline(always)]
            fn biased_exponent(self) -> Self {
                (self.to_bits() >> $mantissa_bits) as Self
            }
            #[inline(always)]
            fn significand(self) -> Self {
                const ONE: $bits = (1.0 as $float).to_bits();
                Self::from_bits(self.to_bits() & ((1 << $mantissa_bits) - 1) | ONE)
            }
            #[inline(always)]
            fn exp2_of_integer(self) -> Self {
                Self::from_bits(((self as i32 - Self::EXPONENTS.0 + 1) as $bits) << $mantissa_bits)
            }
        }
    };
}

// log 2 = high + low: high keeps the leading 32 (12) bits.
real!(f64, u64, 52, ln2: (0.693_147_180_369_123_8, 1.908_214_929_270_587_7e-10), widen: Cow::Borrowed, exp_terms: 13, atanh_terms: 13);
real!(f32, u32, 23, ln2: (355.0 / 512.0, -2.121_944_4e-4), widen: |x: &[f32]| x.iter().map(|&x| f64::from(x)).collect(), exp_terms: 7, atanh_terms: 6);
