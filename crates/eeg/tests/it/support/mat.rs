//! A writer of MAT-files: little-endian elements by the format, without checks.

use std::io::Write;

use flate2::Compression;
use flate2::write::ZlibEncoder;

pub(crate) fn header() -> Vec<u8> {
    let mut bytes = b"MATLAB 5.0 MAT-file".to_vec();
    bytes.resize(124, b' ');
    bytes.extend([0, 1, b'I', b'M']);
    bytes
}

pub(crate) fn file(elements: &[Vec<u8>]) -> Vec<u8> {
    [header(), elements.concat()].concat()
}

pub(crate) fn tagged(kind: u32, size: u32, content: &[u8]) -> Vec<u8> {
    [&kind.to_le_bytes()[..], &size.to_le_bytes(), content].concat()
}

pub(crate) fn element(kind: u32, content: &[u8]) -> Vec<u8> {
    let mut bytes = tagged(kind, content.len() as u32, content);
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    bytes
}

pub(crate) fn flags(class: u32) -> Vec<u8> {
    element(6, &[class.to_le_bytes(), [0; 4]].concat())
}

pub(crate) fn dims(dims: &[i32]) -> Vec<u8> {
    element(5, &dims.iter().flat_map(|length| length.to_le_bytes()).collect::<Vec<_>>())
}

pub(crate) fn name(name: &str) -> Vec<u8> {
    element(1, name.as_bytes())
}

pub(crate) fn doubles(values: &[f64]) -> Vec<u8> {
    element(9, &values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<_>>())
}

pub(crate) fn matrix(parts: &[Vec<u8>]) -> Vec<u8> {
    element(14, &parts.concat())
}

pub(crate) fn vector(label: &str, values: &[f64]) -> Vec<u8> {
    matrix(&[flags(6), dims(&[1, i32::try_from(values.len()).unwrap()]), name(label), doubles(values)])
}

pub(crate) fn deflate(content: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn compressed(content: &[u8]) -> Vec<u8> {
    let content = deflate(content);
    tagged(15, content.len() as u32, &content)
}
