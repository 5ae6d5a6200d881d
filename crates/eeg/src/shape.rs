//! The number of values in an array of a given shape.

/// The largest number of dimensions. NumPy's own limit was 32 for decades.
pub(crate) const MOST_DIMENSIONS: usize = 32;

/// The product of the dimensions, or `None` on overflow. An array with a dimension of 0 is empty,
/// however large the others are.
pub(crate) fn count(shape: &[usize]) -> Option<usize> {
    if shape.contains(&0) {
        return Some(0);
    }
    shape.iter().try_fold(1_usize, |product, &length| product.checked_mul(length))
}
