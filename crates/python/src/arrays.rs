//! Conversion between NumPy arrays and slices.
//!
//! Contiguous arrays are read in place. Results are handed over without a copy.

use fedspd_manifold::{Error, Real};
use numpy::{Element, IntoPyArray, PyArrayDescrMethods, PyArrayDyn, PyArrayMethods, PyReadonlyArrayDyn};
use numpy::{PyUntypedArray, PyUntypedArrayMethods, dtype};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::error::{of_pair, of_stack};

/// A floating-point type of both the core and NumPy.
pub(crate) trait Number: Real + Element {}
impl<T: Real + Element> Number for T {}

/// An array argument, `f64` or `f32`. Only a non-contiguous array is copied.
pub(crate) enum Array<'py> {
    F64(Typed<'py, f64>),
    F32(Typed<'py, f32>),
}

/// The memory of a contiguous array.
pub(crate) struct Typed<'py, T: Element> {
    memory: PyReadonlyArrayDyn<'py, T>,
}

impl<'py> FromPyObject<'_, 'py> for Array<'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let Ok(array) = object.cast::<PyUntypedArray>() else {
            let found = object.get_type().name()?;
            return Err(PyTypeError::new_err(format!("expected a NumPy array, found {found}")));
        };
        let (python, kind) = (array.py(), array.dtype());
        let array = if array.is_c_contiguous() {
            array.to_owned().into_any()
        } else {
            python.import("numpy")?.call_method1("ascontiguousarray", (array,))?
        };
        if kind.is_equiv_to(&dtype::<f64>(python)) {
            Ok(Self::F64(Typed { memory: array.cast::<PyArrayDyn<f64>>()?.try_readonly()? }))
        } else if kind.is_equiv_to(&dtype::<f32>(python)) {
            Ok(Self::F32(Typed { memory: array.cast::<PyArrayDyn<f32>>()?.try_readonly()? }))
        } else {
            Err(PyTypeError::new_err(format!("expected an array of float64 or float32, found {kind}")))
        }
    }
}

impl<T: Number> Typed<'_, T> {
    /// Returns the lengths of all axes.
    pub(crate) fn shape(&self) -> &[usize] {
        self.memory.shape()
    }

    /// Returns all numbers, row by row.
    pub(crate) fn numbers(&self) -> PyResult<&[T]> {
        self.memory.as_slice().map_err(|fault| PyValueError::new_err(fault.to_string()))
    }

    /// Returns the array as a stack of matrices.
    pub(crate) fn stack(&self) -> PyResult<Stack<'_, T>> {
        let [leading @ .., rows, columns] = self.shape() else {
            return Err(self.unlike("shape (..., rows, columns)"));
        };
        if rows * columns == 0 {
            return Err(self.unlike("matrices with at least one row and one column"));
        }
        Ok(Stack { leading, rows: *rows, columns: *columns, numbers: self.numbers()? })
    }

    /// Returns the array as a stack with one leading axis, as averages need it.
    pub(crate) fn list(&self, expected: &str) -> PyResult<Stack<'_, T>> {
        if self.shape().len() == 3 { self.stack() } else { Err(self.unlike(expected)) }
    }

    /// Returns the array as one matrix.
    pub(crate) fn single(&self, expected: &str) -> PyResult<Stack<'_, T>> {
        if self.shape().len() == 2 { self.stack() } else { Err(self.unlike(expected)) }
    }

    fn unlike(&self, expected: &str) -> PyErr {
        PyValueError::new_err(format!("expected {expected}, found {}", written(self.shape())))
    }
}

/// A stack of matrices: an array of shape `(..., rows, columns)`.
#[derive(Clone, Copy)]
pub(crate) struct Stack<'a, T> {
    pub(crate) leading: &'a [usize],
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) numbers: &'a [T],
}

impl<'a, T: Number> Stack<'a, T> {
    /// Returns the number of matrices.
    pub(crate) fn count(self) -> usize {
        self.numbers.len() / (self.rows * self.columns)
    }

    /// Iterates over the matrices.
    pub(crate) fn matrices(self) -> impl Iterator<Item = &'a [T]> {
        self.numbers.chunks_exact(self.rows * self.columns)
    }

    /// Returns the size of square matrices.
    pub(crate) fn size(self) -> PyResult<usize> {
        if self.rows == self.columns {
            return Ok(self.rows);
        }
        let (rows, columns) = (self.rows, self.columns);
        Err(PyValueError::new_err(format!("expected square matrices, found {rows} x {columns}")))
    }

    /// Makes an array from each matrix, with the interpreter released.
    pub(crate) fn map<'py>(
        self,
        python: Python<'py>,
        shape: &[usize],
        mut work: impl FnMut(&[T], &mut [T]) -> Result<(), Error> + Send,
    ) -> PyResult<Bound<'py, PyAny>> {
        let size = shape.iter().product::<usize>();
        let out = python.detach(|| {
            let mut out = vec![T::ZERO; self.count() * size];
            for (place, (matrix, out)) in self.matrices().zip(out.chunks_exact_mut(size)).enumerate() {
                work(matrix, out).map_err(|fault| (place, fault))?;
            }
            Ok(out)
        });
        let out = out.map_err(|(place, fault)| of_stack(fault, place, self.count()))?;
        give(python, out, self.leading, shape)
    }

    /// Makes an array from each pair of matrices. A single matrix is paired with all.
    pub(crate) fn zip<'py>(
        self,
        python: Python<'py>,
        other: Self,
        shape: &[usize],
        mut work: impl FnMut(&[T], &[T], &mut [T]) -> Result<(), Error> + Send,
    ) -> PyResult<Bound<'py, PyAny>> {
        if (self.rows, self.columns) != (other.rows, other.columns) {
            let (here, there) = ((self.rows, self.columns), (other.rows, other.columns));
            let fault = format!(
                "matrices of different shapes: {} x {} and {} x {}",
                here.0, here.1, there.0, there.1
            );
            return Err(PyValueError::new_err(fault));
        }
        let leading = if self.leading.is_empty() { other.leading } else { self.leading };
        if !other.leading.is_empty() && leading != other.leading {
            let fault =
                format!("stacks of different shapes: {} and {}", written(leading), written(other.leading));
            return Err(PyValueError::new_err(fault));
        }
        let (size, count) = (shape.iter().product::<usize>(), leading.iter().product());
        let step = |stack: Self| if stack.leading.is_empty() { 0 } else { self.rows * self.columns };
        let part =
            |stack: Self, place: usize| &stack.numbers[place * step(stack)..][..self.rows * self.columns];
        let out = python.detach(|| {
            let mut out = vec![T::ZERO; count * size];
            for (place, out) in out.chunks_exact_mut(size).enumerate() {
                work(part(self, place), part(other, place), out).map_err(|fault| (place, fault))?;
            }
            Ok(out)
        });
        let out = out.map_err(|(place, fault)| {
            // A `NotFinite` fault does not say which array it is in; other faults do.
            let here =
                |row: usize, column: usize| !part(self, place)[row * self.columns + column].is_finite();
            of_pair(fault, place, count, here)
        })?;
        give(python, out, leading, shape)
    }
}

/// Returns numbers as an array of shape `(*leading, *shape)`.
pub(crate) fn give<'py, T: Number>(
    python: Python<'py>,
    numbers: Vec<T>,
    leading: &[usize],
    shape: &[usize],
) -> PyResult<Bound<'py, PyAny>> {
    let shape: Vec<usize> = leading.iter().chain(shape).copied().collect();
    let array = numbers.into_pyarray(python).reshape(shape)?.into_any();
    // As in NumPy, a single number is a scalar, not an array without axes.
    if array.getattr("ndim")?.extract::<usize>()? == 0 { array.get_item(()) } else { Ok(array) }
}

/// Returns a shape in Python notation.
pub(crate) fn written(shape: &[usize]) -> String {
    let lengths: Vec<String> = shape.iter().map(usize::to_string).collect();
    let comma = if shape.len() == 1 { "," } else { "" };
    format!("({}{comma})", lengths.join(", "))
}

/// The error for two arrays of different types.
pub(crate) fn differing() -> PyErr {
    PyTypeError::new_err("one array is of float64 and another of float32; convert one of them")
}

/// Expands code for `f64` and `f32` arrays. Two arrays must have the same type.
macro_rules! typed {
    ($array:ident => $body:expr) => {
        match &$array {
            $crate::arrays::Array::F64($array) => $body,
            $crate::arrays::Array::F32($array) => $body,
        }
    };
    ($first:ident, $second:ident => $body:expr) => {
        match (&$first, &$second) {
            ($crate::arrays::Array::F64($first), $crate::arrays::Array::F64($second)) => $body,
            ($crate::arrays::Array::F32($first), $crate::arrays::Array::F32($second)) => $body,
            _ => Err($crate::arrays::differing()),
        }
    };
}
pub(crate) use typed;
