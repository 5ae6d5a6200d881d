//! Tensors aligned to cache lines.

use std::ops::{Deref, DerefMut};

use fedspd_manifold::Real;
use fedspd_manifold::simd::Buffer;

/// Numbers aligned to a cache line. The rows of a tensor have sixteen numbers, so no vector of a
/// row crosses a line. A load across two lines would cost two.
#[derive(Clone)]
pub(super) struct Aligned<T> {
    buffer: Buffer<T>,
    len: usize,
}

impl<T: Real> Aligned<T> {
    pub(super) fn zeros(len: usize) -> Self {
        Self { buffer: Buffer::new(len, 1), len }
    }
}

impl<T: Real> Deref for Aligned<T> {
    type Target = [T];
    #[inline]
    fn deref(&self) -> &[T] {
        &self.buffer.numbers()[..self.len]
    }
}

impl<T: Real> DerefMut for Aligned<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.buffer.numbers_mut()[..self.len]
    }
}
