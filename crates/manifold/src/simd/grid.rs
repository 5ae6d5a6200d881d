//! Several rows, accessed a column at a time.
//!
//! A kernel that walks along `R` rows at once would check the bounds of every entry: as many instructions as the arithmetic. Here one check covers
//! a column.

/// `R` rows of a matrix, to read.
#[derive(Clone, Copy)]
pub(crate) struct Rows<'a, T, const R: usize> {
    entries: &'a [T],
    stride: usize,
    length: usize,
}

impl<'a, T: Copy, const R: usize> Rows<'a, T, R> {
    /// Rows that begin every `stride` entries and have `length` of them.
    ///
    /// # Panics
    /// If there are fewer entries.
    #[inline(always)]
    pub(crate) fn new(entries: &'a [T], stride: usize, length: usize) -> Self {
        check::<R>(entries.len(), stride, length);
        Self { entries, stride, length }
    }

    /// Entry `i` of every row.
    ///
    /// # Panics
    /// If the rows are shorter.
    #[inline(always)]
    pub(crate) fn column(&self, i: usize) -> [T; R] {
        assert!(i < self.length);
        let mut column = [self.entries[0]; R];
        for (r, entry) in column.iter_mut().enumerate() {
            // SAFETY: `i` is less than the length of a row, and `new` has checked that the last of `R` rows ends within the entries.
            *entry = unsafe { *self.entries.get_unchecked(r * self.stride + i) };
        }
        column
    }
}

/// `R` rows of a matrix, to read and write.
pub(crate) struct RowsMut<'a, T, const R: usize> {
    entries: &'a mut [T],
    stride: usize,
    length: usize,
}

impl<'a, T: Copy, const R: usize> RowsMut<'a, T, R> {
    /// As [`Rows::new`].
    ///
    /// # Panics
    /// If there are fewer entries.
    #[inline(always)]
    pub(crate) fn new(entries: &'a mut [T], stride: usize, length: usize) -> Self {
        check::<R>(entries.len(), stride, length);
        Self { entries, stride, length }
    }

    /// Entry `i` of every row.
    ///
    /// # Panics
    /// If the rows are shorter.
    #[inline(always)]
    pub(crate) fn column(&self, i: usize) -> [T; R] {
        Rows { entries: self.entries, stride: self.stride, length: self.length }.column(i)
    }

    /// Sets entry `i` of every row.
    ///
    /// # Panics
    /// If the rows are shorter.
    #[inline(always)]
    pub(crate) fn set_column(&mut self, i: usize, column: [T; R]) {
        assert!(i < self.length);
        for (r, entry) in column.into_iter().enumerate() {
            // SAFETY: as for `Rows::column`.
            unsafe { *self.entries.get_unchecked_mut(r * self.stride + i) = entry };
        }
    }
}

#[inline(always)]
fn check<const R: usize>(entries: usize, stride: usize, length: usize) {
    const { assert!(R > 0) };
    let end = (R - 1).checked_mul(stride).and_then(|last| last.checked_add(length));
    assert!(end.is_some_and(|end| end <= entries) && entries > 0);
}
