//! How many numbers an array of a given shape has.

/// More dimensions than this are no array of data; NumPy's own limit was 32 for decades.
pub(crate) const MOST_DIMENSIONS: usize = 32;

/// The product of the dimensions, or none if it cannot be counted. An array with a dimension of 0 is empty, however long the others.
pub(crate) fn count(shape: &[usize]) -> Option<usize> {
    if shape.contains(&0) {
        return Some(0);
    }
    shape.iter().try_fold(1_usize, |product, &length| product.checked_mul(length))
}
