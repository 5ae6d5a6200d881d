//! Products of dense matrices, with lanes along the columns.

use std::ops::Range;

use super::Matrix;
use crate::Real;
use crate::simd::{Array, Kernel, Lanes, Rows, Simd};

/// Form of the left factor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// `A`
    Plain,
    /// `A^T`
    Transposed,
}

/// Part of `C` to write, and whether to add to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    /// `C = A B`
    Replace,
    /// `C += A B`
    Add,
    /// `C = A B` on and below the diagonal. Entries above it are unspecified.
    LowerTriangle,
    /// `C = A B` on and above the diagonal. Entries below it are unspecified.
    UpperTriangle,
}

/// Computes `C = A B` or `C = A^T B` for row-major matrices. `C` is `rows x columns`; the sum runs
/// over `inner`.
///
/// Every entry of `C` is one chain of multiply-adds in the order of the inner index, for any vector
/// width.
///
/// # Panics
/// If a slice is shorter than its shape says.
pub fn multiply<T: Real>(
    simd: Simd,
    left: Left,
    shape: (usize, usize, usize),
    a: &[T],
    b: &[T],
    c: &mut [T],
) {
    product(simd, left, Target::Replace, shape, a, b, c, &[]);
}

/// Computes `C = A^T B` as [`multiply`] does, and prefetches `next`, which the caller needs soon.
///
/// A covariance of 64 channels takes 1 to 2 µs to load from memory, as long as its product takes.
/// Loading one during the product of another hides this time.
///
/// # Panics
/// If a slice is shorter than its shape says.
pub fn multiply_transposed_and_fetch<T: Real>(
    simd: Simd,
    shape: (usize, usize, usize),
    a: &[T],
    b: &[T],
    c: &mut [T],
    next: &[T],
) {
    product(simd, Left::Transposed, Target::Replace, shape, a, b, c, next);
}

/// Computes `C += A B` or `C += A^T B`: the chain of [`multiply`], started at the entry of `C`.
///
/// # Panics
/// If a slice is shorter than its shape says.
pub fn multiply_add<T: Real>(
    simd: Simd,
    left: Left,
    shape: (usize, usize, usize),
    a: &[T],
    b: &[T],
    c: &mut [T],
) {
    product(simd, left, Target::Add, shape, a, b, c, &[]);
}

/// One half of a symmetric matrix, diagonal included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Triangle {
    /// On and below the diagonal.
    Lower,
    /// On and above the diagonal.
    Upper,
}

/// Computes a product known to be symmetric, as [`multiply`] does, but only one triangle. Entries
/// of the other triangle are unspecified.
///
/// # Panics
/// If a slice is shorter than its shape says.
pub fn multiply_symmetric<T: Real>(
    simd: Simd,
    left: Left,
    triangle: Triangle,
    (n, inner): (usize, usize),
    a: &[T],
    b: &[T],
    c: &mut [T],
) {
    let target = match triangle {
        Triangle::Lower => Target::LowerTriangle,
        Triangle::Upper => Target::UpperTriangle,
    };
    product(simd, left, target, (n, inner, n), a, b, c, &[]);
}

#[allow(clippy::too_many_arguments)] // the common entry point of all kinds of products
fn product<T: Real>(
    simd: Simd,
    left: Left,
    target: Target,
    (rows, inner, columns): (usize, usize, usize),
    a: &[T],
    b: &[T],
    c: &mut [T],
    next: &[T],
) {
    let (a, b, c) = (&a[..rows * inner], &b[..inner * columns], &mut c[..rows * columns]);
    match left {
        Left::Plain => T::product(simd, Product::<T, false> { target, rows, inner, columns, a, b, c, next }),
        Left::Transposed => {
            T::transposed_product(simd, Product::<T, true> { target, rows, inner, columns, a, b, c, next });
        }
    }
}

/// Kernel of a product.
pub struct Product<'a, T, const TRANSPOSED: bool> {
    target: Target,
    rows: usize,
    inner: usize,
    columns: usize,
    a: &'a [T],
    b: &'a [T],
    c: &'a mut [T],
    /// Memory that a transposed product prefetches: the part still to fetch.
    next: &'a [T],
}

impl<T: Real, const TRANSPOSED: bool> Kernel<T> for Product<'_, T, TRANSPOSED> {
    type Output = ();

    #[inline(always)]
    fn run<V: Lanes<Scalar = T>>(mut self) {
        if self.columns == 1 {
            return self.narrow::<Array<T, 1>>();
        }
        if self.columns < V::Vector::WIDTH {
            return self.narrow::<V::Vector>();
        }
        let vectors = self.columns.div_ceil(V::Vector::WIDTH);
        if self.target == Target::UpperTriangle {
            // Rows have no entries left of the diagonal. A block of rows therefore starts at its
            // diagonal vector.
            for from in 0..vectors {
                let rows = from * V::Vector::WIDTH..self.rows.min((from + 1) * V::Vector::WIDTH);
                self.panels::<V::Vector>(rows, from..vectors);
            }
        } else {
            self.panels::<V::Vector>(0..self.rows, 0..vectors);
        }
    }
}

impl<T: Real, const TRANSPOSED: bool> Product<'_, T, TRANSPOSED> {
    /// Computes some rows in panels. A panel is a few vectors of columns; all panels have nearly
    /// the same width. Fewer panels mean fewer reads of A. The last vector may overlap the previous
    /// one. Both are in the same panel, so shared entries get the same value twice.
    ///
    /// The number of rows per block meets two conditions. The sums hide the latency of the
    /// multiply-add (four cycles, two a cycle: eight sums). With the vectors of B and a factor of
    /// A, they fit in the registers.
    #[inline(always)]
    fn panels<V: Lanes<Scalar = T>>(&mut self, rows: Range<usize>, vectors: Range<usize>) {
        let widest = if V::REGISTERS >= 32 { 4 } else { 6 };
        let panels = vectors.len().div_ceil(widest);
        for panel in 0..panels {
            let place = |panel: usize| vectors.start + panel * vectors.len() / panels;
            let (from, to) = (place(panel), place(panel + 1));
            let mut rows = rows.clone();
            if self.target == Target::LowerTriangle {
                // Rows above the panel's first column have no entries of the lower triangle in it.
                rows.start = from * V::WIDTH;
            }
            match (to - from, V::REGISTERS >= 32) {
                // The number of general registers for row addresses limits the rows. A transposed A
                // needs only one address.
                (1, true) if TRANSPOSED => self.panel::<V, 16, 1>(rows, from),
                (1, true) => self.panel::<V, 12, 1>(rows, from),
                (2, true) => self.panel::<V, 8, 2>(rows, from),
                (3, true) => self.panel::<V, 8, 3>(rows, from),
                (_, true) => self.panel::<V, 6, 4>(rows, from),
                (1, false) => self.panel::<V, 8, 1>(rows, from),
                (2, false) => self.panel::<V, 4, 2>(rows, from),
                (3, false) => self.panel::<V, 3, 3>(rows, from),
                (4, false) => self.panel::<V, 2, 4>(rows, from),
                (5, false) => self.panel::<V, 2, 5>(rows, from),
                (_, false) => self.panel::<V, 2, 6>(rows, from),
            }
        }
    }

    /// Computes `N` vectors of columns from vector `from`, `R` rows at a time.
    #[inline(always)]
    fn panel<V: Lanes<Scalar = T>, const R: usize, const N: usize>(
        &mut self,
        rows: Range<usize>,
        from: usize,
    ) {
        let mut first = rows.start;
        while first + R <= rows.end {
            self.block::<V, R, N>(first, from);
            first += R;
        }
        while R > 4 && first + 4 <= rows.end {
            self.block::<V, 4, N>(first, from);
            first += 4;
        }
        while first + 2 <= rows.end {
            self.block::<V, 2, N>(first, from);
            first += 2;
        }
        if first < rows.end {
            self.block::<V, 1, N>(first, from);
        }
    }

    /// Computes `N` vectors of columns from vector `from`, for `R` rows.
    #[inline(always)]
    fn block<V: Lanes<Scalar = T>, const R: usize, const N: usize>(&mut self, first: usize, from: usize) {
        let columns = self.columns;
        let start: [usize; N] = std::array::from_fn(|v| ((from + v) * V::WIDTH).min(columns - V::WIDTH));
        let mut sum = [[V::zero(); N]; R];
        if self.target == Target::Add {
            for r in 0..R {
                for v in 0..N {
                    sum[r][v] = V::load(&self.c[(first + r) * columns + start[v]..]);
                }
            }
        }
        // One range of a row holds all its vectors, so one bounds check is enough.
        let (begin, last) = (start[0], start[N - 1] - start[0]);
        let panel = begin..begin + last + V::WIDTH;
        if last == (N - 1) * V::WIDTH {
            self.accumulate(first, &mut sum, |row, v| {
                V::load(&row[panel.clone()][..N * V::WIDTH][v * V::WIDTH..])
            });
        } else {
            // The last vector starts less than one width after the previous one.
            self.accumulate(first, &mut sum, |row, v| {
                V::load(&row[panel.clone()][if v + 1 < N { v * V::WIDTH } else { last }..])
            });
        }
        for r in 0..R {
            for v in 0..N {
                sum[r][v].store(&mut self.c[(first + r) * columns + start[v]..]);
            }
        }
    }

    /// Computes a product with fewer columns than a vector has lanes.
    #[inline(always)]
    fn narrow<V: Lanes<Scalar = T>>(&mut self) {
        let mut first = 0;
        while first + 8 <= self.rows {
            self.narrow_rows::<V, 8>(first);
            first += 8;
        }
        while first + 4 <= self.rows {
            self.narrow_rows::<V, 4>(first);
            first += 4;
        }
        while first < self.rows {
            self.narrow_rows::<V, 1>(first);
            first += 1;
        }
    }

    /// Computes `R` rows of a narrow product.
    #[inline(always)]
    fn narrow_rows<V: Lanes<Scalar = T>, const R: usize>(&mut self, first: usize) {
        let columns = self.columns;
        let mut sum = [[V::zero()]; R];
        if self.target == Target::Add {
            for r in 0..R {
                sum[r] = [V::load_partial(&self.c[(first + r) * columns..][..columns])];
            }
        }
        self.accumulate(first, &mut sum, |row, _| V::load_partial(row));
        for r in 0..R {
            sum[r][0].store_partial(&mut self.c[(first + r) * columns..][..columns]);
        }
    }

    /// Adds `sum_k a(first + r, k) b(k)`. `load` reads a vector of a panel from row `k` of `B`.
    #[inline(always)]
    fn accumulate<V: Lanes<Scalar = T>, const R: usize, const N: usize>(
        &mut self,
        first: usize,
        sum: &mut [[V; N]; R],
        load: impl Fn(&[T], usize) -> V,
    ) {
        let b = self.b.chunks_exact(self.columns);
        if TRANSPOSED {
            for (column, row) in self.a.chunks_exact(self.rows).zip(b) {
                self.fetch::<V>();
                let column = &column[first..first + R];
                add_row(sum, |r| column[r], |v| load(row, v));
            }
        } else {
            let rows = Rows::<T, R>::new(&self.a[first * self.inner..], self.inner, self.inner);
            for (k, row) in b.enumerate().take(self.inner) {
                let column = rows.column(k);
                add_row(sum, |r| column[r], |v| load(row, v));
            }
        }
    }
}

impl<T: Real, const TRANSPOSED: bool> Product<'_, T, TRANSPOSED> {
    /// Prefetches the next two cache lines. A product with 16 or more columns thus prefetches a
    /// whole covariance.
    #[inline(always)]
    fn fetch<V: Lanes<Scalar = T>>(&mut self) {
        let line = 64 / size_of::<T>();
        if let Some((lines, rest)) = self.next.split_at_checked(2 * line) {
            V::prefetch(lines);
            V::prefetch(&lines[line..]);
            self.next = rest;
        }
    }
}

/// Computes `sum(r, v) += factor(r) entries(v)`. It uses loops because the closures of
/// `array::from_fn` and `map` are not inlined into kernels.
#[inline(always)]
fn add_row<V: Lanes, const R: usize, const N: usize>(
    sum: &mut [[V; N]; R],
    factor: impl Fn(usize) -> V::Scalar,
    entries: impl Fn(usize) -> V,
) {
    // Keep the smaller set in registers.
    if N <= R {
        let mut vectors = [V::zero(); N];
        for v in 0..N {
            vectors[v] = entries(v);
        }
        for r in 0..R {
            let factor = V::splat(factor(r));
            for v in 0..N {
                sum[r][v] = factor.mul_add(vectors[v], sum[r][v]);
            }
        }
    } else {
        let mut factors = [V::zero(); R];
        for r in 0..R {
            factors[r] = V::splat(factor(r));
        }
        for v in 0..N {
            let entries = entries(v);
            for r in 0..R {
                sum[r][v] = factors[r].mul_add(entries, sum[r][v]);
            }
        }
    }
}

/// Copies the lower triangle of a row-major matrix to the upper one.
#[inline(always)]
pub(crate) fn mirror<T: Copy>(n: usize, matrix: &mut [T]) {
    for i in 0..n {
        for j in 0..i {
            matrix[j * n + i] = matrix[i * n + j];
        }
    }
}

impl<T: Real> Matrix<T> {
    /// Returns `self * other`.
    ///
    /// # Panics
    /// If the inner dimensions differ.
    pub(crate) fn times(&self, simd: Simd, other: &Self) -> Self {
        assert_eq!(self.columns(), other.rows(), "inner dimensions differ");
        let mut out = Self::zeros(self.rows(), other.columns());
        let shape = (self.rows(), self.columns(), other.columns());
        multiply(simd, Left::Plain, shape, self.as_slice(), other.as_slice(), out.as_mut_slice());
        out
    }

    /// Returns `self^T * other`.
    ///
    /// # Panics
    /// If the numbers of rows differ.
    pub(crate) fn transposed_times(&self, simd: Simd, other: &Self) -> Self {
        assert_eq!(self.rows(), other.rows(), "inner dimensions differ");
        let mut out = Self::zeros(self.columns(), other.columns());
        let shape = (self.columns(), self.rows(), other.columns());
        multiply(simd, Left::Transposed, shape, self.as_slice(), other.as_slice(), out.as_mut_slice());
        out
    }
}
