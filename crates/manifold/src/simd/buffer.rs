//! Aligned scratch memory, viewed as vectors.

use super::lanes::Lanes;
use crate::Real;

/// One or two cache lines: wide enough for a hardware vector and aligned for all of them.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line<T>([T; LINE]);

const LINE: usize = 16;

/// Scratch memory of a kernel, allocated once and aligned for every vector type.
#[derive(Clone)]
pub struct Buffer<T> {
    lines: Vec<Line<T>>,
}

impl<T: Real> Buffer<T> {
    /// Allocates `n` vectors of `lanes` lanes, filled with zeros.
    pub fn new(n: usize, lanes: usize) -> Self {
        Self { lines: vec![Line([T::ZERO; LINE]); (n * lanes).div_ceil(LINE)] }
    }

    /// Returns the memory as vectors.
    #[inline(always)]
    pub fn vectors<V: Lanes<Scalar = T>>(&mut self) -> &mut [V] {
        const { assert!(align_of::<V>() <= 64 && size_of::<V>() == V::WIDTH * size_of::<T>()) };
        let numbers = self.lines.len() * LINE;
        // SAFETY: `Lanes` is sealed, and every implementation is `WIDTH` contiguous numbers with no
        // invalid bit pattern and no padding (the assertion above checks size and alignment). A
        // line is aligned to 64 bytes. The vectors cover at most the numbers of the lines, which
        // are initialised and mutably borrowed for the lifetime of the result.
        unsafe { std::slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast::<V>(), numbers / V::WIDTH) }
    }

    /// Returns the memory as numbers: lane `l` of vector `i` is number `i * WIDTH + l`.
    #[inline(always)]
    pub fn numbers(&self) -> &[T] {
        const { assert!(size_of::<Line<T>>() == LINE * size_of::<T>()) };
        // SAFETY: a line is `LINE` numbers without padding, as the assertion checks.
        unsafe { std::slice::from_raw_parts(self.lines.as_ptr().cast::<T>(), self.lines.len() * LINE) }
    }

    /// Returns the memory as mutable numbers.
    #[inline(always)]
    pub fn numbers_mut(&mut self) -> &mut [T] {
        // SAFETY: as for `numbers`; the lines are mutably borrowed for the lifetime of the result.
        unsafe {
            std::slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast::<T>(), self.lines.len() * LINE)
        }
    }
}
