//! Logarithm, exponential and related functions, in lanes.
//!
//! The platform's functions give different bits on different machines. These use IEEE operations
//! only. Tests show errors of at most two units in the last place.

use super::lanes::Lanes;
use crate::Real;

/// Returns `x` in every lane.
#[inline(always)]
pub fn constant<V: Lanes>(x: f64) -> V {
    V::splat(V::Scalar::from_f64(x))
}

/// Computes the natural logarithm of a positive finite number, subnormal numbers included.
///
/// `x = 2^e (1 + f)` with `1 + f` in `[1/sqrt 2, sqrt 2)`. With `s = f / (2 + f)`,
/// `log(1 + f) = 2 atanh(s) = f - (f^2/2 - s (f^2/2 + r))`, `r = 2 (s^2/3 + s^4/5 + ...)`. In this
/// form the leading term is exact.
#[inline(always)]
pub fn log<V: Lanes>(x: V) -> V {
    let subnormal = x.lt(V::splat(V::Scalar::MIN_POSITIVE));
    let shift = V::Scalar::MANTISSA_BITS + 2;
    let x = V::select(subnormal, x * constant((1_u64 << shift) as f64), x);
    let bias = 1 - V::Scalar::EXPONENTS.0;
    let exponent = x.biased_exponent()
        - V::select(subnormal, constant(f64::from(bias + shift)), constant(f64::from(bias)));
    let significand = x.significand();

    let large = constant::<V>(std::f64::consts::SQRT_2).le(significand);
    let exponent = V::select(large, exponent + V::one(), exponent);
    let f = V::select(large, significand * constant(0.5), significand) - V::one();

    let s = f / (f + constant(2.0));
    let z = s * s;
    let half_square = f * f * constant(0.5);
    let r = z * constant(2.0) * atanh_tail(z);
    let low = exponent * V::splat(V::Scalar::LN_2_LOW);
    let tail = s.mul_add(half_square + r, low);
    exponent.mul_add(V::splat(V::Scalar::LN_2_HIGH), f - (half_square - tail))
}

/// Computes `(atanh(s)/s - 1)/s^2 = 1/3 + z/5 + z^2/7 + ...` for `z = s^2 <= 0.04`.
#[inline(always)]
fn atanh_tail<V: Lanes>(z: V) -> V {
    let mut sum = V::zero();
    for k in (1..=V::Scalar::ATANH_TERMS).rev() {
        sum = sum.mul_add(z, constant(1.0 / (2 * k + 1) as f64));
    }
    sum
}

/// Computes the exponential. It overflows to infinity and underflows to zero.
///
/// `x = n log 2 + r` with `|r| <= log(2)/2`, and a Taylor series in `r`. The power of two is
/// applied in two halves, so that results near the ends of the range are representable.
#[inline(always)]
pub fn exp<V: Lanes>(x: V) -> V {
    let (smallest, largest) = V::Scalar::EXPONENTS;
    // Beyond these bounds the result is 0 or infinite. Within them all powers of two are
    // representable.
    let bound = |exponent: i32| constant::<V>(f64::from(exponent) * std::f64::consts::LN_2);
    let x = x.max(bound(2 * smallest + 2)).min(bound(2 * largest - 2));

    let round = V::splat(V::Scalar::ROUND_TO_INTEGER);
    let n = (x.mul_add(V::splat(V::Scalar::LOG2_E), round)) - round;
    let r = n.neg_mul_add(V::splat(V::Scalar::LN_2_LOW), n.neg_mul_add(V::splat(V::Scalar::LN_2_HIGH), x));
    let mut sum = V::zero();
    let mut factorial = factorial(V::Scalar::EXP_TERMS);
    for k in (1..=V::Scalar::EXP_TERMS).rev() {
        sum = sum.mul_add(r, constant(1.0 / factorial));
        factorial /= k as f64;
    }
    let sum = sum.mul_add(r, V::one());

    let half = (n.mul_add(constant(0.5), round)) - round;
    sum * half.exp2_of_integer() * (n - half).exp2_of_integer()
}

#[inline(always)]
fn factorial(n: usize) -> f64 {
    let mut product = 1.0;
    for k in 2..=n {
        product *= k as f64;
    }
    product
}

/// Computes `(log a - log b)/(a - b)` for `a >= b > 0`, and `1/a` for `a = b`, to full relative
/// accuracy.
///
/// With `z = (a - b)/(a + b)`, `log(a/b) = 2 atanh(z)`. Up to `a/b = sqrt 2` the result is
/// `(2/(a + b)) atanh(z)/z`, without cancellation or division by the gap. Up to `a/b = 3` the same
/// series is used with `a/2` for `a`. Beyond that, the difference of the logarithms, which the
/// caller provides, does not cancel.
#[inline(always)]
pub(crate) fn log_divided_difference<V: Lanes>(a: V, b: V, log_a: V, log_b: V) -> V {
    let half = constant::<V>(0.5);
    let half_gap = (a - b) * half;
    let mean = a.mul_add(half, b * half);
    let far = (mean * half).lt(half_gap);
    let apart = (mean * constant(Z_OF_SQRT_2)).lt(half_gap);

    let halved = V::select(apart, a * half, a);
    let mean = halved.mul_add(half, b * half);
    let z = ((halved - b) * half) / mean;
    let square = z * z;
    let series = square.mul_add(atanh_tail(square), V::one());

    let log_ratio = (z + z).mul_add(series, constant(std::f64::consts::LN_2));
    let log_ratio = V::select(far, log_a - log_b, log_ratio);
    // One division serves both cases.
    V::select(apart, log_ratio, series) / V::select(apart, a - b, mean)
}

/// `(sqrt 2 - 1)/(sqrt 2 + 1)`: the `z` of two numbers with ratio `sqrt 2`.
const Z_OF_SQRT_2: f64 = 0.171_572_875_253_809_9;

/// Computes `sinh(x)/x` for `|x| <= 1` by its Taylor series.
#[inline(always)]
pub(crate) fn sinhc<V: Lanes>(x: V) -> V {
    let z = x * x;
    let mut sum = V::zero();
    for k in (1..=9_u32).rev() {
        sum = sum.mul_add(z, V::one()) * constant(1.0 / f64::from(2 * k * (2 * k + 1)));
    }
    sum.mul_add(z, V::one())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::Array;

    fn scalar<T: Real>(f: impl Fn(Array<T, 1>) -> Array<T, 1>, x: T) -> T {
        f(Array([x])).0[0]
    }

    /// Returns the distance between two numbers, in units in the last place of the second.
    fn ulps<T: Real>(found: T, expected: f64) -> f64 {
        let exponent = expected.abs().log2().floor().max(f64::from(T::EXPONENTS.0));
        (found.to_f64() - expected).abs() / (exponent.exp2() * T::EPSILON.to_f64())
    }

    /// Returns numbers of all magnitudes, with many near 1.
    fn samples() -> impl Iterator<Item = f64> {
        let near_one = (-300..300)
            .map(|i| 1.0 + f64::from(i) * 1e-3)
            .chain((1..52).map(|i| 1.0 + (-f64::from(i)).exp2()));
        let wide =
            (-1070..1023_i32).map(|i| f64::from(i).exp2() * (1.0 + f64::from(i.rem_euclid(97)) / 97.0));
        near_one.chain(wide).filter(|&x| x > 0.0)
    }

    #[test]
    fn log_is_accurate_from_subnormal_to_largest() {
        for x in samples() {
            assert!(ulps(scalar(log, x), x.ln()) <= 2.0, "{x:e}");
            let narrow = x as f32;
            if narrow > 0.0 && narrow.is_finite() && narrow != 1.0 {
                assert!(ulps(scalar(log, narrow), f64::from(narrow).ln()) <= 2.0, "{narrow:e}");
            }
        }
        assert_eq!(scalar(log, 1.0_f64).to_bits(), 0);
        assert!(ulps(scalar(log, f64::MAX), f64::MAX.ln()) <= 2.0);
        assert!(ulps(scalar(log, 5e-324_f64), 5e-324_f64.ln()) <= 2.0);
        assert!(ulps(scalar(log, f32::from_bits(1)), f64::from(f32::from_bits(1)).ln()) <= 2.0);
    }

    #[test]
    fn exp_is_accurate_overflows_to_infinity_and_underflows_to_zero() {
        for i in -7450..7097 {
            let x = f64::from(i) * 0.1 + 1e-3;
            assert!(ulps(scalar(exp, x), x.exp()) <= 2.0, "{x}");
            let narrow = x as f32;
            if (-100.0..88.7).contains(&narrow) {
                assert!(ulps(scalar(exp, narrow), f64::from(narrow).exp()) <= 2.0, "{narrow}");
            }
        }
        assert_eq!(scalar(exp, 0.0_f64), 1.0);
        for huge in [710.0, 1e4, f64::MAX, f64::INFINITY] {
            assert_eq!(scalar(exp, huge), f64::INFINITY);
            assert_eq!(scalar(exp, -huge * 1.1), 0.0);
            assert_eq!(scalar(exp, huge as f32), f32::INFINITY);
            assert_eq!(scalar(exp, -huge as f32), 0.0);
        }
    }

    #[test]
    fn sinhc_is_accurate() {
        for i in 1..=1000 {
            let x = f64::from(i) * 1e-3;
            assert!((scalar(sinhc, x) / (x.sinh() / x) - 1.0).abs() < 4e-16, "{x}");
        }
        assert_eq!(scalar(sinhc, 0.0_f64), 1.0);
    }

    #[test]
    fn lanes_do_not_influence_each_other() {
        let numbers = [1e-310_f64, 0.3, 1.0, 7e200];
        for (lane, x) in numbers.into_iter().enumerate() {
            assert_eq!(log(Array(numbers)).0[lane].to_bits(), scalar(log, x).to_bits());
            assert_eq!(exp(Array(numbers)).0[lane].to_bits(), scalar(exp, x).to_bits());
        }
    }
}
