//! Numbers as they travel: little-endian, in the precision of the model.

use fedspd_manifold::Real;

pub(super) fn to_bytes<T: Real>(numbers: &[T]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(size_of_val(numbers));
    for number in numbers {
        match size_of::<T>() {
            4 => bytes.extend((number.to_f64() as f32).to_le_bytes()),
            _ => bytes.extend(number.to_f64().to_le_bytes()),
        }
    }
    bytes
}

/// The numbers, or in words why these are none.
pub(super) fn from_bytes<T: Real>(bytes: &[u8]) -> Result<Vec<T>, String> {
    let fault = || format!("it sent {} bytes, which are no whole numbers of {}", bytes.len(), size_of::<T>());
    let number = |bytes: &[u8]| match *bytes {
        [a, b, c, d] => f32::from_le_bytes([a, b, c, d]).into(),
        [a, b, c, d, e, f, g, h] => f64::from_le_bytes([a, b, c, d, e, f, g, h]),
        _ => f64::NAN,
    };
    let chunks = bytes.chunks_exact(size_of::<T>());
    if !chunks.remainder().is_empty() {
        return Err(fault());
    }
    Ok(chunks.map(|chunk| T::from_f64(number(chunk))).collect())
}
