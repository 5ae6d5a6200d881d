//! A writer of zip archives, including invalid ones.

use std::io::Write;

use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};

#[derive(Clone)]
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    pub(crate) flags: u16,
    pub(crate) method: u16,
    pub(crate) checksum: u32,
    pub(crate) compressed: u32,
    pub(crate) size: u32,
    pub(crate) content: Vec<u8>,
}

pub(crate) fn stored(name: &'static str, content: &[u8]) -> Entry {
    let mut crc = Crc::new();
    crc.update(content);
    let size = content.len() as u32;
    Entry {
        name,
        flags: 0,
        method: 0,
        checksum: crc.sum(),
        compressed: size,
        size,
        content: content.to_vec(),
    }
}

pub(crate) fn deflated(name: &'static str, content: &[u8]) -> Entry {
    let plain = stored(name, content);
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(content).unwrap();
    let content = encoder.finish().unwrap();
    Entry { method: 8, compressed: content.len() as u32, content, ..plain }
}

/// The common fields of the local header and the list of entries.
fn shared(entry: &Entry) -> Vec<u8> {
    let mut bytes = Vec::new();
    for field in [20, entry.flags, entry.method, 0, 0x21] {
        bytes.extend(field.to_le_bytes());
    }
    for field in [entry.checksum, entry.compressed, entry.size] {
        bytes.extend(field.to_le_bytes());
    }
    bytes.extend((entry.name.len() as u16).to_le_bytes());
    bytes.extend([0, 0]);
    bytes
}

pub(crate) fn archive(entries: &[Entry]) -> Vec<u8> {
    let (mut bytes, mut list) = (Vec::new(), Vec::new());
    for entry in entries {
        list.extend(b"PK\x01\x02\x14\x00");
        list.extend(shared(entry));
        list.extend([0; 10]);
        list.extend((bytes.len() as u32).to_le_bytes());
        list.extend(entry.name.as_bytes());
        bytes.extend(b"PK\x03\x04");
        bytes.extend(shared(entry));
        bytes.extend(entry.name.as_bytes());
        bytes.extend(&entry.content);
    }
    let place = bytes.len() as u32;
    bytes.extend(&list);
    bytes.extend(b"PK\x05\x06\0\0\0\0");
    bytes.extend((entries.len() as u16).to_le_bytes());
    bytes.extend((entries.len() as u16).to_le_bytes());
    bytes.extend((list.len() as u32).to_le_bytes());
    bytes.extend(place.to_le_bytes());
    bytes.extend([0, 0]);
    bytes
}

/// An array in version 1.0 of the format, with any header.
pub(crate) fn npy(header: &str, values: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(values);
    bytes
}

/// The header that NumPy writes, without padding.
pub(crate) fn header(descr: &str, shape: &str) -> String {
    format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}")
}
