//! Messages for Python: parts with a name, a shape, a NumPy type and bytes.

use fedspd_federated::{Kind, Message, Numbers, Part};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error::Error;

/// A part from Python: name, shape, NumPy type name, little-endian bytes.
pub(super) type Given = (String, Vec<usize>, String, Vec<u8>);
/// A part for Python.
pub(super) type Made<'py> = (String, Vec<usize>, &'static str, Bound<'py, PyBytes>);

/// Returns the parts of a message for Python.
pub(super) fn made<'py>(python: Python<'py>, message: &Message) -> Vec<Made<'py>> {
    let part = |part: &Part| {
        let bytes: Vec<u8> = match &part.numbers {
            Numbers::F32(values) => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
            Numbers::F64(values) => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
            Numbers::U64(values) => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
        };
        let kind = dtype(part.numbers.kind());
        (part.name.clone(), part.shape.clone(), kind, PyBytes::new(python, &bytes))
    };
    message.parts().iter().map(part).collect()
}

/// Returns a message of parts from Python. The receiver checks that they fit the exchange.
pub(super) fn given(parts: Vec<Given>) -> PyResult<Message> {
    let part = |(name, shape, kind, bytes): Given| {
        let numbers = match &*kind {
            "<f4" => numbers(&bytes, f32::from_le_bytes).map(Numbers::F32),
            "<f8" => numbers(&bytes, f64::from_le_bytes).map(Numbers::F64),
            "<u8" => numbers(&bytes, u64::from_le_bytes).map(Numbers::U64),
            _ => None,
        };
        let unfit = || Error::new_err(format!("invalid part `{name}`: {} bytes of type {kind}", bytes.len()));
        Ok(Part { numbers: numbers.ok_or_else(unfit)?, name, shape })
    };
    Ok(Message::new(parts.into_iter().map(part).collect::<PyResult<_>>()?))
}

/// Reads numbers of `N` bytes each; `None` if bytes are left over.
fn numbers<const N: usize, T>(bytes: &[u8], number: fn([u8; N]) -> T) -> Option<Vec<T>> {
    let (chunks, rest) = bytes.as_chunks::<N>();
    rest.is_empty().then(|| chunks.iter().map(|&chunk| number(chunk)).collect())
}

/// Returns NumPy's name of a type.
fn dtype(kind: Kind) -> &'static str {
    match kind {
        Kind::F32 => "<f4",
        Kind::F64 => "<f8",
        Kind::U64 => "<u8",
    }
}
