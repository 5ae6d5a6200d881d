//! Access to several rows, one column at a time.
//!
//! A kernel that reads `R` rows at once would check the bounds of every entry. These checks would
//! need as many instructions as the arithmetic. Here one check covers a column.

/// `R` rows of a matrix, read-only.
#[derive(Clone, Copy)]
pub(crate) struct Rows<'a, T, const R: usize> {
    entries: &'a [T],
    stride: usize,
    length: usize,
}

impl<'a, T: Copy, const R: usize> Rows<'a, T, R> {
    /// Creates a view of rows of `length` entries that start every `stride` entries.
    ///
    /// # Panics
    /// If there are too few entries.
    #[inline(always)]
    pub(crate) fn new(entries: &'a [T], stride: usize, length: usize) -> Self {
        check::<R>(entries.len(), stride, length);
        Self { entries, stride, length }
    }

    /// Returns entry `i` of every row.
    ///
    /// # Panics
    /// If `i` is not less than the length of a row.
    #[inline(always)]
    pub(crate) fn column(&self, i: usize) -> [T; R] {
        assert!(i < self.length);
        let mut column = [self.entries[0]; R];
        for (r, entry) in column.iter_mut().enumerate() {
            // SAFETY: `i` is less than the length of a row, and `new` checked that the last of the
            // `R` rows ends within the entries.
            *entry = unsafe { *self.entries.get_unchecked(r * self.stride + i) };
        }
        column
    }
}

/// `R` rows of a matrix, mutable.
pub(crate) struct RowsMut<'a, T, const R: usize> {
    entries: &'a mut [T],
    stride: usize,
    length: usize,
}

impl<'a, T: Copy, const R: usize> RowsMut<'a, T, R> {
    /// Creates a view as [`Rows::new`] does.
    ///
    /// # Panics
    /// If there are too few entries.
    #[inline(always)]
    pub(crate) fn new(entries: &'a mut [T], stride: usize, length: usize) -> Self {
        check::<R>(entries.len(), stride, length);
        Self { entries, stride, length }
    }

    /// Returns entry `i` of every row.
    ///
    /// # Panics
    /// If `i` is not less than the length of a row.
    #[inline(always)]
    pub(crate) fn column(&self, i: usize) -> [T; R] {
        Rows { entries: self.entries, stride: self.stride, length: self.length }.column(i)
    }

    /// Sets entry `i` of every row.
    ///
    /// # Panics
    /// If `i` is not less than the length of a row.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_read_and_written_in_their_rows_alone() {
        // Two rows of three entries with a stride of four. The last row has no padding.
        let mut entries: Vec<usize> = (0..7).collect();
        let rows = Rows::<_, 2>::new(&entries, 4, 3);
        assert_eq!([0, 1, 2].map(|i| rows.column(i)), [[0, 4], [1, 5], [2, 6]]);
        let mut rows = RowsMut::<_, 2>::new(&mut entries, 4, 3);
        rows.set_column(1, [10, 50]);
        assert_eq!(rows.column(1), [10, 50]);
        assert_eq!(entries, [0, 10, 2, 3, 4, 50, 6]);
    }

    #[test]
    fn what_is_not_there_is_refused() {
        let read = |entries: usize, stride: usize, i: usize| {
            let access = move || Rows::<_, 2>::new(&vec![0; entries], stride, 3).column(i);
            std::panic::catch_unwind(access).is_ok()
        };
        assert!(read(7, 4, 2));
        assert!(!read(6, 4, 0), "the last row is too short");
        assert!(!read(7, 4, 3), "the column is beyond the rows");
        assert!(!read(7, usize::MAX, 0), "the end of the last row overflows");
        assert!(!read(0, 0, 0), "there are no entries");
        let write = || RowsMut::<_, 2>::new(&mut [0; 7], 4, 3).set_column(3, [0; 2]);
        assert!(std::panic::catch_unwind(write).is_err());
    }
}
