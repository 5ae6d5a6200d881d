//! The vector trait, and the pair of vectors.

use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Sub};

use super::sealed::Sealed;
use crate::Real;

/// A vector with one number per lane. Every arithmetic method performs one IEEE operation on each
/// lane separately.
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
    /// The hardware vector type: half of a pair, or the vector itself. Kernels with lanes along a
    /// matrix use it, because shorter vectors waste fewer lanes at the edge.
    type Vector: Lanes<Scalar = Self::Scalar, Vector = Self::Vector>;
    /// The number of lanes.
    const WIDTH: usize;
    /// The number of hardware vectors in one vector.
    const VECTORS: usize = Self::WIDTH / Self::Vector::WIDTH;
    /// The number of hardware vectors that fit in the registers.
    const REGISTERS: usize;

    /// Sets every lane to the same number.
    fn splat(value: Self::Scalar) -> Self;
    /// Loads the first `WIDTH` numbers of a slice.
    ///
    /// # Panics
    /// If the slice is shorter.
    fn load(source: &[Self::Scalar]) -> Self;
    /// Writes the lanes to the first `WIDTH` entries of a slice.
    ///
    /// # Panics
    /// If the slice is shorter.
    fn store(self, target: &mut [Self::Scalar]);

    /// Prefetches the cache line where a slice begins. It changes no value. Hardware vectors
    /// ([`Lanes::Vector`]) implement it where the machine has such an instruction.
    #[inline(always)]
    fn prefetch(_source: &[Self::Scalar]) {}

    /// Returns hardware vector number `index` of this vector.
    fn part(self, index: usize) -> Self::Vector;

    /// Computes `self * b + c` with one rounding.
    fn mul_add(self, b: Self, c: Self) -> Self;
    /// Computes `c - self * b` with one rounding.
    fn neg_mul_add(self, b: Self, c: Self) -> Self;
    /// Returns the square root.
    fn sqrt(self) -> Self;
    /// Returns the absolute value.
    fn abs(self) -> Self;
    /// Returns the magnitude of `self` with the sign of `sign`.
    fn copysign(self, sign: Self) -> Self;

    /// Tests `self < other`; false for NaN.
    fn lt(self, other: Self) -> Self::Mask;
    /// Tests `self <= other`; false for NaN.
    fn le(self, other: Self) -> Self::Mask;
    /// Tests `self == other`; false for NaN.
    fn eq(self, other: Self) -> Self::Mask;
    /// Returns `yes` where the mask is true, otherwise `no`.
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;
    /// Returns whether the mask is true in any lane.
    fn any(mask: Self::Mask) -> bool;

    /// Returns the biased binary exponent of a positive normal number, as a number.
    fn biased_exponent(self) -> Self;
    /// Scales a positive normal number by a power of two into `[1, 2)`.
    fn significand(self) -> Self;
    /// Returns two to the power of an integer-valued number between the exponents of the smallest
    /// and the largest normal number.
    fn exp2_of_integer(self) -> Self;

    /// Performs one step of a transposition. In every two neighbouring groups of `distance` lanes,
    /// it swaps the second group of `self` with the first of `other`. `distance` is a power of two.
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

    /// Returns zero in every lane.
    #[inline(always)]
    fn zero() -> Self {
        Self::splat(Self::Scalar::ZERO)
    }
    /// Returns one in every lane.
    #[inline(always)]
    fn one() -> Self {
        Self::splat(Self::Scalar::ONE)
    }
    /// Returns the larger number; `other` if `self` is NaN.
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        Self::select(other.lt(self), self, other)
    }
    /// Returns the smaller number; `other` if `self` is NaN.
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        Self::select(self.lt(other), self, other)
    }
    /// Returns the smallest number of all lanes.
    #[inline(always)]
    fn smallest(self) -> Self::Scalar {
        self.fold(|a, b| if b < a { b } else { a })
    }
    /// Returns the largest number of all lanes.
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
    /// Loads a slice of at most `WIDTH` numbers; the other lanes are zero.
    #[inline(always)]
    fn load_partial(source: &[Self::Scalar]) -> Self {
        let mut padded = [Self::Scalar::ZERO; MAX_WIDTH];
        padded[..source.len()].copy_from_slice(source);
        Self::load(&padded)
    }
    /// Writes as many lanes as the slice has entries.
    #[inline(always)]
    fn store_partial(self, target: &mut [Self::Scalar]) {
        let mut padded = [Self::Scalar::ZERO; MAX_WIDTH];
        self.store(&mut padded);
        target.copy_from_slice(&padded[..target.len()]);
    }
}

/// Views vectors as numbers: lane `l` of vector `i` is number `i * WIDTH + l`.
#[inline(always)]
pub(crate) fn as_numbers<V: Lanes>(vectors: &[V]) -> &[V::Scalar] {
    const { assert!(size_of::<V>() == V::WIDTH * size_of::<V::Scalar>()) };
    // SAFETY: `Lanes` is sealed, and every implementation is `WIDTH` contiguous numbers without
    // padding, as the assertion checks. The alignment of a vector is at least that of a number.
    unsafe { std::slice::from_raw_parts(vectors.as_ptr().cast::<V::Scalar>(), vectors.len() * V::WIDTH) }
}

/// The width of the widest vector: a pair of AVX-512 vectors of `f32`.
pub(crate) const MAX_WIDTH: usize = 32;

/// Two vectors side by side. Their two independent chains of operations keep the arithmetic units
/// busy while each waits for its last result.
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

impl<V: Lanes<Vector = V>> Lanes for Pair<V> {
    type Scalar = V::Scalar;
    type Mask = PairMask<V::Mask>;
    type Vector = V;
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
