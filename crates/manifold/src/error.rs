//! Errors of the crate, with the measured numbers.

use thiserror::Error;

/// Reason why an operation refused its input or did not finish.
///
/// Indices count from zero; `matrix` is the index in the batch.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum Error {
    /// A dimension or a batch is empty.
    #[error("{what} must be at least 1, found 0")]
    Zero {
        /// The quantity that is zero.
        what: &'static str,
    },
    /// A Stiefel matrix cannot have more columns than rows.
    #[error("a matrix with orthonormal columns cannot have more columns ({columns}) than rows ({rows})")]
    MoreColumnsThanRows {
        /// Requested rows.
        rows: usize,
        /// Requested columns.
        columns: usize,
    },
    /// The shape of a matrix is wrong.
    #[error("{what} is {} x {} where {} x {} was expected", found.0, found.1, expected.0, expected.1)]
    Shape {
        /// The argument.
        what: &'static str,
        /// Expected rows and columns.
        expected: (usize, usize),
        /// Actual rows and columns.
        found: (usize, usize),
    },
    /// The length of a slice does not match its shape.
    #[error("{what} has {found} numbers where {expected} were expected")]
    Length {
        /// The argument.
        what: &'static str,
        /// Expected length.
        expected: usize,
        /// Actual length.
        found: usize,
    },
    /// A batch is not a whole number of matrices.
    #[error("{found} numbers are not a whole number of {n} x {n} matrices")]
    NotABatch {
        /// The size of one matrix.
        n: usize,
        /// The length of the slice.
        found: usize,
    },
    /// An entry is NaN or infinite.
    #[error("entry ({row}, {column}) of matrix {matrix} is {value}")]
    NotFinite {
        /// Index of the matrix in the batch.
        matrix: usize,
        /// The row of the first such entry.
        row: usize,
        /// Its column.
        column: usize,
        /// The entry.
        value: f64,
    },
    /// A matrix that must be symmetric is not.
    #[error(
        "matrix {matrix} is not symmetric: entries ({row}, {column}) and ({column}, {row}) differ by {difference:e} \
         (tolerance {tolerance:e})"
    )]
    NotSymmetric {
        /// Index of the matrix in the batch.
        matrix: usize,
        /// The row of the worst pair.
        row: usize,
        /// Its column.
        column: usize,
        /// The absolute difference of the pair.
        difference: f64,
        /// The largest difference accepted for this matrix.
        tolerance: f64,
    },
    /// A matrix that must be positive definite has a zero or negative eigenvalue.
    #[error("matrix {matrix} is not positive definite: its smallest eigenvalue is {smallest_eigenvalue:e}")]
    NotPositiveDefinite {
        /// Index of the matrix in the batch.
        matrix: usize,
        /// Its smallest eigenvalue.
        smallest_eigenvalue: f64,
    },
    /// A spectral function is not finite at an eigenvalue.
    #[error("{operation} of matrix {matrix} overflows: its largest eigenvalue is {largest_eigenvalue:e}")]
    Overflow {
        /// The function.
        operation: &'static str,
        /// Index of the matrix in the batch.
        matrix: usize,
        /// The eigenvalue at which the function overflows.
        largest_eigenvalue: f64,
    },
    /// A result is too large for the floating-point type.
    #[error("{operation} of matrix {matrix} is too large for the floating-point type")]
    TooLarge {
        /// The operation.
        operation: &'static str,
        /// Index of the matrix in the batch.
        matrix: usize,
    },
    /// A derivative was requested without a successful decomposition.
    #[error("there is no decomposition to differentiate: `factor` or `retract` must succeed first")]
    NotFactored,
    /// The eigenvalues of a matrix did not converge.
    #[error("the eigenvalues of matrix {matrix} did not converge in {sweeps} sweeps")]
    EigenvaluesNotConverged {
        /// Index of the matrix in the batch.
        matrix: usize,
        /// The limit on the number of sweeps.
        sweeps: usize,
    },
    /// A factorisation or an average needs full rank.
    #[error(
        "{operation} needs full column rank: the smallest singular value is {smallest:e}, the largest {largest:e}"
    )]
    RankDeficient {
        /// The operation.
        operation: &'static str,
        /// The smallest singular value (or pivot).
        smallest: f64,
        /// The largest singular value (or pivot).
        largest: f64,
    },
    /// Two points are too far apart for an inverse retraction or a logarithm.
    #[error("{operation} does not exist or did not converge: the points are {distance:.3} apart")]
    TooFarApart {
        /// The operation.
        operation: &'static str,
        /// The Frobenius distance between the points.
        distance: f64,
    },
    /// An iteration reached its limit.
    #[error("{operation} did not converge in {iterations} iterations: residual {residual:e}")]
    NotConverged {
        /// The operation.
        operation: &'static str,
        /// The limit on the number of iterations.
        iterations: usize,
        /// The residual after the last iteration.
        residual: f64,
    },
    /// A weight is negative or not finite.
    #[error("weight {index} is {value}; weights must be finite and not negative")]
    Weight {
        /// Index of the weight.
        index: usize,
        /// Its value.
        value: f64,
    },
    /// The weights add up to zero.
    #[error("all {count} weights are zero")]
    NoWeight {
        /// The number of weights.
        count: usize,
    },
    /// A number is outside its allowed range.
    #[error("{what} is {value}; it must be {expected}")]
    OutOfRange {
        /// The argument.
        what: &'static str,
        /// Its value.
        value: f64,
        /// The allowed range, in words.
        expected: &'static str,
    },
    /// The requested instruction set does not exist, or this machine lacks it.
    #[error("instruction set `{name}` is not available on this machine")]
    SimdUnavailable {
        /// The requested name.
        name: String,
    },
}

/// Checks that the sum of the weights is finite.
pub(crate) fn check_total(total: f64) -> Result<(), Error> {
    let expected = "finite";
    if total.is_finite() {
        Ok(())
    } else {
        Err(Error::OutOfRange { what: "the sum of the weights", value: total, expected })
    }
}

/// Checks the length of an argument.
pub(crate) fn check_length(what: &'static str, found: usize, expected: usize) -> Result<(), Error> {
    if found == expected { Ok(()) } else { Err(Error::Length { what, expected, found }) }
}
