//! The vector trait, and the pair of vectors.

use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Sub};

use super::sealed::Sealed;
use crate::Real;

/// A vector with one number per lane. Every arithmetic method acts on each lane alone and performs one IEEE operation.
pub trait Lanes:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + Sealed
{
    /// The number in a lane.
    type Scalar: Real;
    /// One truth value per lane.
    type Mask: Copy + BitAnd<Output = Self::Mask> + BitOr<Output = Self::Mask> + Not<Output = Self::Mask>;
    /// One hardware vector of this one: half of a pair, or the vector itself. For kernels whose lanes run along a matrix, where
    /// shorter vectors waste less at the edge.
    type Part: Lanes<Scalar = Self::Scalar, Part = Self::Part>;
    /// The number of lanes.
    const WIDTH: usize;
    /// How many hardware vectors make up one of these.
    const PARTS: usize = Self::WIDTH / Self::Part::WIDTH;
    /// How many hardware vectors the machine holds in registers.
    const REGISTERS: usize;

    /// The same number in every lane.
    fn splat(value: Self::Scalar) -> Self;
    /// The first `WIDTH` numbers of a slice.
    ///
    /// # Panics
    /// If the slice is shorter.
    fn load(source: &[Self::Scalar]) -> Self;
    /// Writes the lanes to the first `WIDTH` places of a slice.
    ///
    /// # Panics
    /// If the slice is shorter.
    fn store(self, target: &mut [Self::Scalar]);

    /// Asks for the cache line where a slice begins. Changes no value; a hint of hardware vectors
    /// ([`Lanes::Part`]) where the machine has such an instruction.
    #[inline(always)]
    fn prefetch(_source: &[Self::Scalar]) {}

    /// Hardware vector number `index` of this one.
    fn part(self, index: usize) -> Self::Part;

    /// `self * b + c` with one rounding.
    fn mul_add(self, b: Self, c: Self) -> Self;
    /// `c - self * b` with one rounding.
    fn neg_mul_add(self, b: Self, c: Self) -> Self;
    /// The square root.
    fn sqrt(self) -> Self;
    /// The absolute value.
    fn abs(self) -> Self;
    /// The magnitude of `self` with the sign of `sign`.
    fn copysign(self, sign: Self) -> Self;

    /// `self < other`, false for a NaN.
    fn lt(self, other: Self) -> Self::Mask;
    /// `self <= other`, false for a NaN.
    fn le(self, other: Self) -> Self::Mask;
    /// `self == other`, false for a NaN.
    fn eq(self, other: Self) -> Self::Mask;
    /// `yes` where the mask is true, else `no`.
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;
    /// Whether the mask is true in any lane.
    fn any(mask: Self::Mask) -> bool;

    /// The biased binary exponent of a positive normal number, as a number.
    fn biased_exponent(self) -> Self;
    /// A positive normal number scaled by a power of two into `[1, 2)`.
    fn significand(self) -> Self;
    /// Two to the power of an integer-valued number between the exponents of the smallest and the largest normal number.
    fn exp2_of_integer(self) -> Self;

    /// One step of a transposition: of every two neighbouring groups of `distance` lanes, the
    /// second of `self` and the first of `other` change places. `distance` is a power of two.
    #[inline(always)]
    fn exchange(self, other: Self, distance: usize) -> (Self, Self) {
        let (mut a, mut b) = ([Self::Scalar::ZERO; MAX_WIDTH], [Self::Scalar::ZERO; MAX_WIDTH]);
        self.store(&mut a);
        other.store(&mut b);
        for lane in (0..Self::WIDTH).filter(|lane| lane & distance == 0) {
            std::mem::swap(&mut a[lane + distance], &mut b[lane]);
        }
        (Self::load(&a), Self::load(&b))
    }

    /// Zero in every lane.
    #[inline(always)]
    fn zero() -> Self {
        Self::splat(Self::Scalar::ZERO)
    }
    /// One in every lane.
    #[inline(always)]
    fn one() -> Self {
        Self::splat(Self::Scalar::ONE)
    }
    /// The larger number; `other` if `self` is a NaN.
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        Self::select(other.lt(self), self, other)
    }
    /// The smaller number; `other` if `self` is a NaN.
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        Self::select(self.lt(other), self, other)
    }
    /// The smallest number of any lane.
    #[inline(always)]
    fn smallest(self) -> Self::Scalar {
        self.fold(|a, b| if b < a { b } else { a })
    }
    /// The largest number of any lane.
    #[inline(always)]
    fn largest(self) -> Self::Scalar {
        self.fold(|a, b| if a < b { b } else { a })
    }
    /// Folds the lanes from the first to the last.
    #[inline(always)]
    fn fold(self, f: impl Fn(Self::Scalar, Self::Scalar) -> Self::Scalar) -> Self::Scalar {
        let mut lanes = [Self::Scalar::ZERO; MAX_WIDTH];
        self.store(&mut lanes);
        lanes[1..Self::WIDTH].iter().fold(lanes[0], |a, &b| f(a, b))
    }
    /// The first numbers of a slice that may be shorter than `WIDTH`; the other lanes are zero.
    #[inline(always)]
    fn load_partial(source: &[Self::Scalar]) -> Self {
        let mut padded = [Self::Scalar::ZERO; MAX_WIDTH];
        padded[..source.len()].copy_from_slice(source);
        Self::load(&padded)
    }
    /// Writes as many lanes as the slice has places.
    #[inline(always)]
    fn store_partial(self, target: &mut [Self::Scalar]) {
        let mut padded = [Self::Scalar::ZERO; MAX_WIDTH];
        self.store(&mut padded);
        target.copy_from_slice(&padded[..target.len()]);
    }
}

/// Vectors as numbers: lane `l` of vector `i` is number `i * WIDTH + l`.
#[inline(always)]
pub(crate) fn as_numbers<V: Lanes>(vectors: &[V]) -> &[V::Scalar] {
    const { assert!(size_of::<V>() == V::WIDTH * size_of::<V::Scalar>()) };
    // SAFETY: `Lanes` is sealed and every implementation is `WIDTH` numbers in a row without
    // padding, as the assertion checks; a vector is aligned at least as a number is.
    unsafe { std::slice::from_raw_parts(vectors.as_ptr().cast::<V::Scalar>(), vectors.len() * V::WIDTH) }
}

/// The widest vector: a pair of AVX-512 vectors of `f32`.
pub(crate) const MAX_WIDTH: usize = 32;

/// Two vectors side by side: two independent chains of operations keep the arithmetic units busy while each
/// waits for its own last result.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Pair<V>(V, V);

/// The masks of a pair.
#[derive(Clone, Copy)]
pub(super) struct PairMask<M>(M, M);

macro_rules! lanewise {
    ($($trait:ident::$method:ident),*) => {$(
        impl<V: Lanes> $trait for Pair<V> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                Self(self.0.$method(other.0), self.1.$method(other.1))
            }
        }
    )*};
}
lanewise!(Add::add, Sub::sub, Mul::mul, Div::div);

impl<V: Lanes> Neg for Pair<V> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self(-self.0, -self.1)
    }
}
impl<M: BitAnd<Output = M>> BitAnd for PairMask<M> {
    type Output = Self;
    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0, self.1 & other.1)
    }
}
impl<M: BitOr<Output = M>> BitOr for PairMask<M> {
    type Output = Self;
    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0, self.1 | other.1)
    }
}
impl<M: Not<Output = M>> Not for PairMask<M> {
    type Output = Self;
    #[inline(always)]
    fn not(self) -> Self {
        Self(!self.0, !self.1)
    }
}

impl<V: Lanes> Sealed for Pair<V> {}

impl<V: Lanes<Part = V>> Lanes for Pair<V> {
    type Scalar = V::Scalar;
    type Mask = PairMask<V::Mask>;
    type Part = V;
    const WIDTH: usize = 2 * V::WIDTH;
    const REGISTERS: usize = V::REGISTERS;

    #[inline(always)]
    fn splat(value: V::Scalar) -> Self {
        Self(V::splat(value), V::splat(value))
    }
    #[inline(always)]
    fn load(source: &[V::Scalar]) -> Self {
        Self(V::load(source), V::load(&source[V::WIDTH..]))
    }
    #[inline(always)]
    fn store(self, target: &mut [V::Scalar]) {
        self.0.store(target);
        self.1.store(&mut target[V::WIDTH..]);
    }
    #[inline(always)]
    fn part(self, index: usize) -> V {
        if index == 0 { self.0 } else { self.1 }
    }
    #[inline(always)]
    fn mul_add(self, b: Self, c: Self) -> Self {
        Self(self.0.mul_add(b.0, c.0), self.1.mul_add(b.1, c.1))
    }
    #[inline(always)]
    fn neg_mul_add(self, b: Self, c: Self) -> Self {
        Self(self.0.neg_mul_add(b.0, c.0), self.1.neg_mul_add(b.1, c.1))
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        Self(self.0.sqrt(), self.1.sqrt())
    }
    #[inline(always)]
    fn abs(self) -> Self {
        Self(self.0.abs(), self.1.abs())
    }
    #[inline(always)]
    fn copysign(self, sign: Self) -> Self {
        Self(self.0.copysign(sign.0), self.1.copysign(sign.1))
    }
    #[inline(always)]
    fn lt(self, other: Self) -> Self::Mask {
        PairMask(self.0.lt(other.0), self.1.lt(other.1))
    }
    #[inline(always)]
    fn le(self, other: Self) -> Self::Mask {
        PairMask(self.0.le(other.0), self.1.le(other.1))
    }
    #[inline(always)]
    fn eq(self, other: Self) -> Self::Mask {
        PairMask(self.0.eq(other.0), self.1.eq(other.1))
    }
    #[inline(always)]
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self {
        Self(V::select(mask.0, yes.0, no.0), V::select(mask.1, yes.1, no.1))
    }
    #[inline(always)]
    fn any(mask: Self::Mask) -> bool {
        V::any(mask.0) || V::any(mask.1)
    }
    #[inline(always)]
    fn biased_exponent(self) -> Self {
        Self(self.0.biased_exponent(), self.1.biased_exponent())
    }
    #[inline(always)]
    fn significand(self) -> Self {
        Self(self.0.significand(), self.1.significand())
    }
    #[inline(always)]
    fn exp2_of_integer(self) -> Self {
        Self(self.0.exp2_of_integer(), self.1.exp2_of_integer())
    }
}
