//! What can go wrong, with the numbers.

use thiserror::Error;

/// Why an operation refused its input or could not finish.
///
/// Indices count from zero; `matrix` is the place in the batch.
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
        /// Rows asked for.
        rows: usize,
        /// Columns asked for.
        columns: usize,
    },
    /// A matrix does not have the shape it must have.
    #[error("{what} is {} x {} where {} x {} was expected", found.0, found.1, expected.0, expected.1)]
    Shape {
        /// The argument.
        what: &'static str,
        /// Rows and columns that fit.
        expected: (usize, usize),
        /// Rows and columns it has.
        found: (usize, usize),
    },
    /// A slice does not have the length its shape asks for.
    #[error("{what} has {found} numbers where {expected} were expected")]
    Length {
        /// The argument.
        what: &'static str,
        /// The length that fits the shape.
        expected: usize,
        /// The length it has.
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
        /// Which matrix of the batch.
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
         (at most {tolerance:e} is taken for rounding)"
    )]
    NotSymmetric {
        /// Which matrix of the batch.
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
    /// A matrix that must be positive definite has an eigenvalue that is not positive.
    #[error("matrix {matrix} is not positive definite: its smallest eigenvalue is {smallest_eigenvalue:e}")]
    NotPositiveDefinite {
        /// Which matrix of the batch.
        matrix: usize,
        /// Its smallest eigenvalue.
        smallest_eigenvalue: f64,
    },
    /// A spectral function is not finite at an eigenvalue.
    #[error("{operation} of matrix {matrix} overflows: its largest eigenvalue is {largest_eigenvalue:e}")]
    Overflow {
        /// The function.
        operation: &'static str,
        /// Which matrix of the batch.
        matrix: usize,
        /// The eigenvalue at which the function overflows.
        largest_eigenvalue: f64,
    },
    /// A result is too large for the floating-point type.
    #[error("{operation} of matrix {matrix} is too large for the floating-point type")]
    TooLarge {
        /// What was asked for.
        operation: &'static str,
        /// Which matrix of the batch.
        matrix: usize,
    },
    /// A derivative was asked for before a matrix was decomposed, or after that failed.
    #[error("there is no decomposition to differentiate: `factor` or `retract` must succeed first")]
    NotFactored,
    /// The eigenvalues of a matrix did not converge.
    #[error("the eigenvalues of matrix {matrix} did not converge in {sweeps} sweeps")]
    EigenvaluesNotConverged {
        /// Which matrix of the batch.
        matrix: usize,
        /// The cap.
        sweeps: usize,
    },
    /// A factorisation or an average needs full rank.
    #[error(
        "{operation} needs full column rank: the smallest singular value is {smallest:e}, the largest {largest:e}"
    )]
    RankDeficient {
        /// What was asked for.
        operation: &'static str,
        /// The smallest singular value (or pivot).
        smallest: f64,
        /// The largest singular value (or pivot).
        largest: f64,
    },
    /// Two points are too far apart for an inverse retraction or a logarithm.
    #[error("{operation} does not exist or did not converge: the points are {distance:.3} apart")]
    TooFarApart {
        /// What was asked for.
        operation: &'static str,
        /// The Frobenius distance of the points.
        distance: f64,
    },
    /// An iteration reached its cap.
    #[error("{operation} did not converge in {iterations} iterations: residual {residual:e}")]
    NotConverged {
        /// What was asked for.
        operation: &'static str,
        /// The cap.
        iterations: usize,
        /// What is left.
        residual: f64,
    },
    /// A weight is negative or not finite.
    #[error("weight {index} is {value}; weights must be finite and not negative")]
    Weight {
        /// Which weight.
        index: usize,
        /// Its value.
        value: f64,
    },
    /// The weights add up to zero.
    #[error("all {count} weights are zero")]
    NoWeight {
        /// How many there are.
        count: usize,
    },
    /// A number is outside of the range it must lie in.
    #[error("{what} is {value}; it must be {expected}")]
    OutOfRange {
        /// The argument.
        what: &'static str,
        /// Its value.
        value: f64,
        /// The range, in words.
        expected: &'static str,
    },
    /// The instruction set asked for does not exist or this machine lacks it.
    #[error("instruction set `{name}` is not available on this machine")]
    SimdUnavailable {
        /// The name asked for.
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
