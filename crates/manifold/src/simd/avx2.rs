//! Vectors of 256 bits: AVX2 with FMA.

#[allow(clippy::wildcard_imports)] // some forty intrinsics
use std::arch::x86_64::*;
use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Sub};

use super::{lanes::Lanes, sealed::Sealed};
use crate::Real;

/// Four `f64`.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(super) struct F64x4(__m256d);

/// Eight `f32`.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(super) struct F32x8(__m256);

/// A mask. The sign bit of each lane is its truth value, as comparisons return it and blends expect
/// it.
#[derive(Clone, Copy)]
pub(super) struct Mask<V>(V);

/// Calls an intrinsic.
macro_rules! intrinsic {
    ($call:expr) => {
        // SAFETY: values of this module's types exist only on machines with AVX2 and FMA (see
        // `simd`).
        unsafe { $call }
    };
}

macro_rules! vector {
    (
        $name:ident, $scalar:ident, $raw:ident, $width:literal,
        add: $add:ident, sub: $sub:ident, mul: $mul:ident, div: $div:ident, xor: $xor:ident, and: $and:ident, or: $or:ident,
        andnot: $andnot:ident, set1: $set1:ident, loadu: $loadu:ident, storeu: $storeu:ident, fmadd: $fmadd:ident,
        fnmadd: $fnmadd:ident, sqrt: $sqrt:ident, cmp: $cmp:ident, blendv: $blendv:ident, movemask: $movemask:ident,
        exponent: $exponent:expr, exp2: $exp2:expr, exchange: $exchange:ident
    ) => {
        impl Sealed for $name {}

        arithmetic!($name, Add::add = $add, Sub::sub = $sub, Mul::mul = $mul, Div::div = $div);

        impl Neg for $name {
            type Output = Self;
            #[inline(always)]
            fn neg(self) -> Self {
                Self(intrinsic!($xor(self.0, $set1(-0.0))))
            }
        }
        impl BitAnd for Mask<$raw> {
            type Output = Self;
            #[inline(always)]
            fn bitand(self, other: Self) -> Self {
                Self(intrinsic!($and(self.0, other.0)))
            }
        }
        impl BitOr for Mask<$raw> {
            type Output = Self;
            #[inline(always)]
            fn bitor(self, other: Self) -> Self {
                Self(intrinsic!($or(self.0, other.0)))
            }
        }
        impl Not for Mask<$raw> {
            type Output = Self;
            #[inline(always)]
            fn not(self) -> Self {
                Self(intrinsic!($xor(self.0, $set1(-0.0))))
            }
        }

        impl Lanes for $name {
            type Scalar = $scalar;
            type Mask = Mask<$raw>;
            type Vector = Self;
            const WIDTH: usize = $width;
            const REGISTERS: usize = 16;

            #[inline(always)]
            fn splat(value: $scalar) -> Self {
                Self(intrinsic!($set1(value)))
            }
            #[inline(always)]
            fn load(source: &[$scalar]) -> Self {
                let source = &source[..$width];
                // SAFETY: AVX2 as everywhere here; the slice holds a full vector, and the load
                // needs no alignment.
                Self(unsafe { $loadu(source.as_ptr()) })
            }
            #[inline(always)]
            fn store(self, target: &mut [$scalar]) {
                let target = &mut target[..$width];
                // SAFETY: as for `load`.
                unsafe { $storeu(target.as_mut_ptr(), self.0) }
            }
            #[inline(always)]
            fn prefetch(source: &[$scalar]) {
                intrinsic!(_mm_prefetch::<_MM_HINT_T0>(source.as_ptr().cast()));
            }
            #[inline(always)]
            fn part(self, _: usize) -> Self {
                self
            }
            #[inline(always)]
            fn exchange(self, other: Self, distance: usize) -> (Self, Self) {
                let (first, second) = $exchange(self.0, other.0, distance);
                (Self(first), Self(second))
            }
            #[inline(always)]
            fn mul_add(self, b: Self, c: Self) -> Self {
                Self(intrinsic!($fmadd(self.0, b.0, c.0)))
            }
            #[inline(always)]
            fn neg_mul_add(self, b: Self, c: Self) -> Self {
                Self(intrinsic!($fnmadd(self.0, b.0, c.0)))
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                Self(intrinsic!($sqrt(self.0)))
            }
            #[inline(always)]
            fn abs(self) -> Self {
                Self(intrinsic!($andnot($set1(-0.0), self.0)))
            }
            #[inline(always)]
            fn copysign(self, sign: Self) -> Self {
                Self(intrinsic!($or($andnot($set1(-0.0), self.0), $and($set1(-0.0), sign.0))))
            }
            #[inline(always)]
            fn lt(self, other: Self) -> Self::Mask {
                Mask(intrinsic!($cmp::<_CMP_LT_OQ>(self.0, other.0)))
            }
            #[inline(always)]
            fn le(self, other: Self) -> Self::Mask {
                Mask(intrinsic!($cmp::<_CMP_LE_OQ>(self.0, other.0)))
            }
            #[inline(always)]
            fn eq(self, other: Self) -> Self::Mask {
                Mask(intrinsic!($cmp::<_CMP_EQ_OQ>(self.0, other.0)))
            }
            #[inline(always)]
            fn select(mask: Self::Mask, yes: Self, no: Self) -> Self {
                Self(intrinsic!($blendv(no.0, yes.0, mask.0)))
            }
            #[inline(always)]
            fn any(mask: Self::Mask) -> bool {
                intrinsic!($movemask(mask.0)) != 0
            }
            #[inline(always)]
            fn biased_exponent(self) -> Self {
                Self(intrinsic!($exponent(self.0)))
            }
            #[inline(always)]
            fn significand(self) -> Self {
                let fraction = $scalar::from_bits($scalar::MIN_POSITIVE.to_bits() - 1);
                Self(intrinsic!($or($and(self.0, $set1(fraction)), $set1(1.0))))
            }
            #[inline(always)]
            fn exp2_of_integer(self) -> Self {
                Self(intrinsic!($exp2(self.0)))
            }
        }
    };
}

/// 2^52. Writing an integer into the low bits of this number adds it to the number.
const TWO_52: f64 = 4_503_599_627_370_496.0;

vector!(
    F64x4, f64, __m256d, 4,
    add: _mm256_add_pd, sub: _mm256_sub_pd, mul: _mm256_mul_pd, div: _mm256_div_pd, xor: _mm256_xor_pd, and: _mm256_and_pd,
    or: _mm256_or_pd, andnot: _mm256_andnot_pd, set1: _mm256_set1_pd, loadu: _mm256_loadu_pd, storeu: _mm256_storeu_pd,
    fmadd: _mm256_fmadd_pd, fnmadd: _mm256_fnmadd_pd, sqrt: _mm256_sqrt_pd, cmp: _mm256_cmp_pd, blendv: _mm256_blendv_pd,
    movemask: _mm256_movemask_pd,
    exponent: |x| {
        let exponent = _mm256_castsi256_pd(_mm256_srli_epi64::<52>(_mm256_castpd_si256(x)));
        _mm256_sub_pd(_mm256_or_pd(exponent, _mm256_set1_pd(TWO_52)), _mm256_set1_pd(TWO_52))
    },
    exp2: |x| {
        let biased = _mm256_add_pd(x, _mm256_set1_pd(f64::ROUND_TO_INTEGER + 1023.0));
        _mm256_castsi256_pd(_mm256_slli_epi64::<52>(_mm256_castpd_si256(biased)))
    },
    exchange: exchange_f64
);

vector!(
    F32x8, f32, __m256, 8,
    add: _mm256_add_ps, sub: _mm256_sub_ps, mul: _mm256_mul_ps, div: _mm256_div_ps, xor: _mm256_xor_ps, and: _mm256_and_ps,
    or: _mm256_or_ps, andnot: _mm256_andnot_ps, set1: _mm256_set1_ps, loadu: _mm256_loadu_ps, storeu: _mm256_storeu_ps,
    fmadd: _mm256_fmadd_ps, fnmadd: _mm256_fnmadd_ps, sqrt: _mm256_sqrt_ps, cmp: _mm256_cmp_ps, blendv: _mm256_blendv_ps,
    movemask: _mm256_movemask_ps,
    exponent: |x| _mm256_cvtepi32_ps(_mm256_srli_epi32::<23>(_mm256_castps_si256(x))),
    exp2: |x| {
        let biased = _mm256_add_ps(x, _mm256_set1_ps(f32::ROUND_TO_INTEGER + 127.0));
        _mm256_castsi256_ps(_mm256_slli_epi32::<23>(_mm256_castps_si256(biased)))
    },
    exchange: exchange_f32
);

// Functions, because closures cannot be marked inline. They are private: only vectors of this
// module reach them.
#[inline(always)]
fn exchange_f64(a: __m256d, b: __m256d, distance: usize) -> (__m256d, __m256d) {
    match distance {
        1 => intrinsic!((_mm256_unpacklo_pd(a, b), _mm256_unpackhi_pd(a, b))),
        _ => intrinsic!((_mm256_permute2f128_pd::<0x20>(a, b), _mm256_permute2f128_pd::<0x31>(a, b))),
    }
}

#[inline(always)]
fn exchange_f32(a: __m256, b: __m256, distance: usize) -> (__m256, __m256) {
    const ODD: i32 = 0b1010_1010;
    match distance {
        1 => intrinsic!((
            _mm256_blend_ps::<ODD>(a, _mm256_moveldup_ps(b)),
            _mm256_blend_ps::<ODD>(_mm256_movehdup_ps(a), b),
        )),
        2 => intrinsic!({
            let (a, b) = (_mm256_castps_pd(a), _mm256_castps_pd(b));
            (_mm256_castpd_ps(_mm256_unpacklo_pd(a, b)), _mm256_castpd_ps(_mm256_unpackhi_pd(a, b)))
        }),
        _ => intrinsic!((_mm256_permute2f128_ps::<0x20>(a, b), _mm256_permute2f128_ps::<0x31>(a, b))),
    }
}
