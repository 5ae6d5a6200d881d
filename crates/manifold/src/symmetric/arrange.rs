//! Copies of symmetric matrices into lanes and out of them.

use super::chunk::Shape;
use crate::dense::Triangle;
use crate::simd::{Kernel, Lanes};
use crate::transpose::transpose;
use crate::{Real, simd::Simd};

/// Entries of a matrix to move, and their layout outside the lanes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// All of a row-major matrix.
    Full,
    /// One triangle of a row-major matrix.
    Half(Triangle),
    /// The lower triangle, row by row.
    Packed,
}

/// Entries that are contiguous outside the lanes.
struct Strip {
    /// Offset of the first entry in its matrix, outside.
    outside: usize,
    /// Index of the first entry in a full matrix, and the step to the index of the next one.
    entry: usize,
    step: usize,
    length: usize,
}

impl Form {
    /// Returns the number of strips.
    #[inline(always)]
    fn strips(self, n: usize) -> usize {
        if self == Self::Full { 1 } else { n }
    }

    /// Returns strip number `i`. In lanes a half is always the lower triangle.
    #[inline(always)]
    fn strip(self, n: usize, i: usize) -> Strip {
        match self {
            Self::Full => Strip { outside: 0, entry: 0, step: 1, length: n * n },
            Self::Half(Triangle::Lower) => Strip { outside: i * n, entry: i * n, step: 1, length: i + 1 },
            Self::Half(Triangle::Upper) => {
                Strip { outside: i * n + i, entry: i * n + i, step: n, length: n - i }
            }
            Self::Packed => Strip { outside: i * (i + 1) / 2, entry: i * n, step: 1, length: i + 1 },
        }
    }
}

/// Moves matrices into or out of lanes, starting at lane `first`. Outside, a matrix starts every
/// `stride` numbers.
pub struct Arrange<'a, T> {
    shape: Shape,
    form: Form,
    first: usize,
    count: usize,
    stride: usize,
    way: Way<'a, T>,
}

enum Way<'a, T> {
    In { outside: &'a [T], lanes: &'a mut [T] },
    Out { lanes: &'a [T], outside: &'a mut [T] },
}

impl<T: Real> Kernel<T> for Arrange<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Lanes<Scalar = T>>(self) {
        let Self { shape, form, first, count, stride, mut way } = self;
        let (n, part) = (shape.n, shape.lane(0).1);
        let mut done = 0;
        while done < count {
            let lane = first + done;
            let rows = (part - lane % part).min(count - done);
            let base = shape.place(0, lane);
            for i in 0..form.strips(n) {
                let Strip { outside: place, entry, step, length } = form.strip(n, i);
                let (here, there) = (done * stride + place, base + entry * part);
                let distance = step * part;
                match &mut way {
                    Way::In { outside, lanes } => {
                        let (from, to) = ((&outside[here..], stride), (&mut lanes[there..], distance));
                        transpose::<V::Vector>((rows, length), from, to);
                    }
                    Way::Out { lanes, outside } => {
                        let (from, to) = ((&lanes[there..], distance), (&mut outside[here..], stride));
                        transpose::<V::Vector>((length, rows), from, to);
                    }
                }
            }
            done += rows;
        }
        if let (Way::In { lanes, .. }, false, true) = (way, shape.in_lanes(), form != Form::Full) {
            // A matrix in rows needs both triangles.
            crate::dense::mirror(n, lanes);
        }
    }
}

/// Copies matrices into lanes, starting at lane `first`.
pub(crate) fn put<T: Real>(
    simd: Simd,
    (shape, form): (Shape, Form),
    (first, count): (usize, usize),
    (outside, stride): (&[T], usize),
    lanes: &mut [T],
) {
    T::arrange(simd, Arrange { shape, form, first, count, stride, way: Way::In { outside, lanes } });
}

/// Copies matrices out of lanes, starting at lane `first`.
pub(crate) fn take<T: Real>(
    simd: Simd,
    (shape, form): (Shape, Form),
    (first, count): (usize, usize),
    lanes: &[T],
    (outside, stride): (&mut [T], usize),
) {
    T::arrange(simd, Arrange { shape, form, first, count, stride, way: Way::Out { lanes, outside } });
}
