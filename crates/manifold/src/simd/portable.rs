//! Portable vectors: an array of numbers.

use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Sub};

use super::{lanes::Lanes, sealed::Sealed};
use crate::Real;

/// `N` numbers, processed one by one unless the compiler vectorises the loop.
///
/// `Array<T, 1>` is a scalar: lane kernels give it the same bits as any lane of a vector.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Array<T, const N: usize>(pub [T; N]);

/// The mask of an [`Array`].
#[derive(Clone, Copy)]
pub struct ArrayMask<const N: usize>([bool; N]);

impl<T: Real, const N: usize> Array<T, N> {
    #[inline(always)]
    fn zip(self, other: Self, f: impl Fn(T, T) -> T) -> Self {
        Self(std::array::from_fn(|i| f(self.0[i], other.0[i])))
    }
    #[inline(always)]
    fn compare(self, other: Self, f: impl Fn(T, T) -> bool) -> ArrayMask<N> {
        ArrayMask(std::array::from_fn(|i| f(self.0[i], other.0[i])))
    }
    #[inline(always)]
    fn map(self, f: impl Fn(T) -> T) -> Self {
        Self(self.0.map(f))
    }
}

macro_rules! elementwise {
    ($($trait:ident::$method:ident),*) => {$(
        impl<T: Real, const N: usize> $trait for Array<T, N> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                self.zip(other, T::$method)
            }
        }
    )*};
}
elementwise!(Add::add, Sub::sub, Mul::mul, Div::div);

impl<T: Real, const N: usize> Neg for Array<T, N> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        self.map(T::neg)
    }
}
impl<const N: usize> BitAnd for ArrayMask<N> {
    type Output = Self;
    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i] & other.0[i]))
    }
}
impl<const N: usize> BitOr for ArrayMask<N> {
    type Output = Self;
    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i] | other.0[i]))
    }
}
impl<const N: usize> Not for ArrayMask<N> {
    type Output = Self;
    #[inline(always)]
    fn not(self) -> Self {
        Self(self.0.map(bool::not))
    }
}

impl<T, const N: usize> Sealed for Array<T, N> {}

impl<T: Real, const N: usize> Lanes for Array<T, N> {
    type Scalar = T;
    type Mask = ArrayMask<N>;
    type Vector = Self;
    const WIDTH: usize = N;
    const REGISTERS: usize = 16;

    #[inline(always)]
    fn splat(value: T) -> Self {
        Self([value; N])
    }
    #[inline(always)]
    fn load(source: &[T]) -> Self {
        Self(std::array::from_fn(|i| source[i]))
    }
    #[inline(always)]
    fn store(self, target: &mut [T]) {
        target[..N].copy_from_slice(&self.0);
    }
    #[inline(always)]
    fn part(self, _: usize) -> Self {
        self
    }
    #[inline(always)]
    fn mul_add(self, b: Self, c: Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i].mul_add(b.0[i], c.0[i])))
    }
    #[inline(always)]
    fn neg_mul_add(self, b: Self, c: Self) -> Self {
        Self(std::array::from_fn(|i| (-self.0[i]).mul_add(b.0[i], c.0[i])))
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        self.map(T::sqrt)
    }
    #[inline(always)]
    fn abs(self) -> Self {
        self.map(T::abs)
    }
    #[inline(always)]
    fn copysign(self, sign: Self) -> Self {
        self.zip(sign, T::copysign)
    }
    #[inline(always)]
    fn lt(self, other: Self) -> Self::Mask {
        self.compare(other, |a, b| a < b)
    }
    #[inline(always)]
    fn le(self, other: Self) -> Self::Mask {
        self.compare(other, |a, b| a <= b)
    }
    #[inline(always)]
    fn eq(self, other: Self) -> Self::Mask {
        self.compare(other, |a, b| a == b)
    }
    #[inline(always)]
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self {
        Self(std::array::from_fn(|i| if mask.0[i] { yes.0[i] } else { no.0[i] }))
    }
    #[inline(always)]
    fn any(mask: Self::Mask) -> bool {
        mask.0.iter().any(|&lane| lane)
    }
    #[inline(always)]
    fn biased_exponent(self) -> Self {
        self.map(T::biased_exponent)
    }
    #[inline(always)]
    fn significand(self) -> Self {
        self.map(T::significand)
    }
    #[inline(always)]
    fn exp2_of_integer(self) -> Self {
        self.map(T::exp2_of_integer)
    }
}
