//! Vectors of 512 bits: AVX-512F.

#[allow(clippy::wildcard_imports)] // some forty intrinsics
use std::arch::x86_64::*;
use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Sub};

use super::{lanes::Lanes, sealed::Sealed};
use crate::Real;

/// Eight `f64`.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(super) struct F64x8(__m512d);

/// Sixteen `f32`.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(super) struct F32x16(__m512);

/// One bit per lane.
#[derive(Clone, Copy)]
pub(super) struct Mask<M>(M);

impl<M: BitAnd<Output = M>> BitAnd for Mask<M> {
    type Output = Self;
    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}
impl<M: BitOr<Output = M>> BitOr for Mask<M> {
    type Output = Self;
    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}
impl<M: Not<Output = M>> Not for Mask<M> {
    type Output = Self;
    #[inline(always)]
    fn not(self) -> Self {
        Self(!self.0)
    }
}

/// Calls an intrinsic.
macro_rules! intrinsic {
    ($call:expr) => {
        // SAFETY: values of this module's types exist only on machines with AVX-512F (see `simd`).
        unsafe { $call }
    };
}

/// Returns a mask of the first `count` of `width` lanes.
#[inline(always)]
fn first_lanes(count: usize, width: usize) -> u32 {
    (1 << count.min(width)) - 1
}

macro_rules! vector {
    (
        $name:ident, $scalar:ident, $mask:ident, $width:literal,
        add: $add:ident, sub: $sub:ident, mul: $mul:ident, div: $div:ident, set1: $set1:ident, loadu: $loadu:ident,
        storeu: $storeu:ident, maskz_loadu: $maskz_loadu:ident, mask_storeu: $mask_storeu:ident,
        fmadd: $fmadd:ident, fnmadd: $fnmadd:ident, sqrt: $sqrt:ident, abs: $abs:ident, cmp: $cmp:ident,
        blend: $blend:ident, to_bits: $to_bits:ident, from_bits: $from_bits:ident, set1_bits: $set1_bits:ident, integer: $integer:ident,
        choose_bits: $choose_bits:ident, xor_bits: $xor_bits:ident, exponent: $exponent:expr, exp2: $exp2:expr,
        pick: $pick:ident, indices: $indices:ty
    ) => {
        impl Sealed for $name {}

        arithmetic!($name, Add::add = $add, Sub::sub = $sub, Mul::mul = $mul, Div::div = $div);

        impl Neg for $name {
            type Output = Self;
            #[inline(always)]
            fn neg(self) -> Self {
                Self(intrinsic!($from_bits($xor_bits($to_bits(self.0), $to_bits($set1(-0.0))))))
            }
        }

        impl $name {
            /// The source lanes of both results of an exchange, for the distances 1, 2, 4 and 8.
            /// Lanes of the first vector count from 0, those of the second from the width.
            const EXCHANGED: [[[$indices; $width]; 2]; 4] = {
                let mut from = [[[0; $width]; 2]; 4];
                let mut step = 0;
                while step < 4 {
                    let distance = 1 << step;
                    let mut lane = 0;
                    while lane < $width {
                        let second = lane & distance != 0;
                        from[step][0][lane as usize] = if second { $width + lane - distance } else { lane };
                        from[step][1][lane as usize] = if second { $width + lane } else { lane + distance };
                        lane += 1;
                    }
                    step += 1;
                }
                from
            };

            /// Takes the bits of `self` where `which` has ones, and the bits of `other` elsewhere.
            #[inline(always)]
            fn choose_bits(self, which: $integer, other: Self) -> Self {
                /// The truth table of `which ? a : b`.
                const CHOOSE: i32 = 0xCA;
                Self(intrinsic!($from_bits($choose_bits::<CHOOSE>(
                    $set1_bits(which),
                    $to_bits(self.0),
                    $to_bits(other.0)
                ))))
            }
        }

        impl Lanes for $name {
            type Scalar = $scalar;
            type Mask = Mask<$mask>;
            type Vector = Self;
            const WIDTH: usize = $width;
            const REGISTERS: usize = 32;

            #[inline(always)]
            fn splat(value: $scalar) -> Self {
                Self(intrinsic!($set1(value)))
            }
            #[inline(always)]
            fn load(source: &[$scalar]) -> Self {
                let source = &source[..$width];
                // SAFETY: AVX-512F as everywhere here; the slice holds a full vector, and the load
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
            fn load_partial(source: &[$scalar]) -> Self {
                // SAFETY: AVX-512F as everywhere here; the mask excludes the lanes beyond the
                // slice, so they are not read.
                Self(unsafe { $maskz_loadu(first_lanes(source.len(), $width) as $mask, source.as_ptr()) })
            }
            #[inline(always)]
            fn store_partial(self, target: &mut [$scalar]) {
                let mask = first_lanes(target.len(), $width) as $mask;
                // SAFETY: as for `load_partial`.
                unsafe { $mask_storeu(target.as_mut_ptr(), mask, self.0) }
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
                let [first, second] = &$name::EXCHANGED[distance.trailing_zeros() as usize];
                // SAFETY: AVX-512F as everywhere here; each array is a full vector.
                let (first, second) = unsafe {
                    (_mm512_loadu_si512(first.as_ptr().cast()), _mm512_loadu_si512(second.as_ptr().cast()))
                };
                let pick =
                    [intrinsic!($pick(self.0, first, other.0)), intrinsic!($pick(self.0, second, other.0))];
                (Self(pick[0]), Self(pick[1]))
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
                Self(intrinsic!($abs(self.0)))
            }
            #[inline(always)]
            fn copysign(self, sign: Self) -> Self {
                sign.choose_bits((-0.0 as $scalar).to_bits().cast_signed(), self)
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
                Self(intrinsic!($blend(mask.0, no.0, yes.0)))
            }
            #[inline(always)]
            fn any(mask: Self::Mask) -> bool {
                mask.0 != 0
            }
            #[inline(always)]
            fn biased_exponent(self) -> Self {
                Self(intrinsic!($exponent(self.0)))
            }
            #[inline(always)]
            fn significand(self) -> Self {
                let fraction = ($scalar::MIN_POSITIVE.to_bits() - 1).cast_signed();
                self.choose_bits(fraction, Self::splat(1.0))
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
    F64x8, f64, __mmask8, 8,
    add: _mm512_add_pd, sub: _mm512_sub_pd, mul: _mm512_mul_pd, div: _mm512_div_pd, set1: _mm512_set1_pd,
    loadu: _mm512_loadu_pd, storeu: _mm512_storeu_pd,
    maskz_loadu: _mm512_maskz_loadu_pd, mask_storeu: _mm512_mask_storeu_pd, fmadd: _mm512_fmadd_pd, fnmadd: _mm512_fnmadd_pd, sqrt: _mm512_sqrt_pd,
    abs: _mm512_abs_pd, cmp: _mm512_cmp_pd_mask, blend: _mm512_mask_blend_pd, to_bits: _mm512_castpd_si512,
    from_bits: _mm512_castsi512_pd, set1_bits: _mm512_set1_epi64, integer: i64, choose_bits: _mm512_ternarylogic_epi64,
    xor_bits: _mm512_xor_si512,
    exponent: |x| {
        let exponent = _mm512_srli_epi64::<52>(_mm512_castpd_si512(x));
        let sum = _mm512_or_si512(exponent, _mm512_castpd_si512(_mm512_set1_pd(TWO_52)));
        _mm512_sub_pd(_mm512_castsi512_pd(sum), _mm512_set1_pd(TWO_52))
    },
    exp2: |x| {
        let biased = _mm512_add_pd(x, _mm512_set1_pd(f64::ROUND_TO_INTEGER + 1023.0));
        _mm512_castsi512_pd(_mm512_slli_epi64::<52>(_mm512_castpd_si512(biased)))
    },
    pick: _mm512_permutex2var_pd, indices: i64
);

vector!(
    F32x16, f32, __mmask16, 16,
    add: _mm512_add_ps, sub: _mm512_sub_ps, mul: _mm512_mul_ps, div: _mm512_div_ps, set1: _mm512_set1_ps,
    loadu: _mm512_loadu_ps, storeu: _mm512_storeu_ps,
    maskz_loadu: _mm512_maskz_loadu_ps, mask_storeu: _mm512_mask_storeu_ps, fmadd: _mm512_fmadd_ps, fnmadd: _mm512_fnmadd_ps, sqrt: _mm512_sqrt_ps,
    abs: _mm512_abs_ps, cmp: _mm512_cmp_ps_mask, blend: _mm512_mask_blend_ps, to_bits: _mm512_castps_si512,
    from_bits: _mm512_castsi512_ps, set1_bits: _mm512_set1_epi32, integer: i32, choose_bits: _mm512_ternarylogic_epi32,
    xor_bits: _mm512_xor_si512,
    exponent: |x| _mm512_cvtepi32_ps(_mm512_srli_epi32::<23>(_mm512_castps_si512(x))),
    exp2: |x| {
        let biased = _mm512_add_ps(x, _mm512_set1_ps(f32::ROUND_TO_INTEGER + 127.0));
        _mm512_castsi512_ps(_mm512_slli_epi32::<23>(_mm512_castps_si512(biased)))
    },
    pick: _mm512_permutex2var_ps, indices: i32
);
