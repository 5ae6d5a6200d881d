//! Tensors that begin on a cache line.

use std::ops::{Deref, DerefMut};

use fedspd_manifold::Real;
use fedspd_manifold::simd::Buffer;

/// Numbers from the first byte of a cache line on. The rows of a tensor are sixteen numbers, so no
/// vector of a row touches two lines: each such load would cost two.
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
