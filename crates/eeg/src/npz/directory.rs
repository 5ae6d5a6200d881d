//! The end record of a zip archive, which locates the list of entries.
//!
//! It is checked first, because the zip reader allocates memory by it and searches for another end
//! record if this one is wrong. The archive must span the whole file and have no comment: NumPy
//! writes nothing else.

use std::io::{Read, Seek, SeekFrom};

use super::NpzFault;
use crate::number::little_endian;
use crate::trouble::Trouble;

/// The sizes of the end record, of the locator of the zip64 end record, and of the zip64 end
/// record.
const END: u64 = 22;
const LOCATOR: u64 = 20;
const LARGE_END: u64 = 56;
/// The size of the smallest entry in the list.
const SMALLEST_ENTRY: u64 = 46;

/// The declared position of the list.
struct Declared {
    entries: u64,
    size: u64,
    place: u64,
    /// The byte at which it must end.
    end: u64,
}

/// Checks the end record, and returns the length of the file.
pub(super) fn check(mut reader: impl Read + Seek) -> Result<u64, Trouble<NpzFault>> {
    let mut beginning = Vec::with_capacity(6);
    reader.rewind()?;
    reader.by_ref().take(6).read_to_end(&mut beginning)?;
    let length = reader.seek(SeekFrom::End(0))?;
    let otherwise = match &beginning[..] {
        [] => NpzFault::Empty,
        b"\x93NUMPY" => NpzFault::SingleArray,
        [b'P', b'K', 3, 4, ..] => NpzFault::Torn,
        _ => NpzFault::NotZip,
    };
    let Some(declared) = declared(&mut reader, length)? else { return Err(otherwise.into()) };
    let Declared { entries, size, place, end } = declared;
    if place.checked_add(size) != Some(end) || entries > size / SMALLEST_ENTRY {
        return Err(NpzFault::Directory { entries, size, place, end }.into());
    }
    Ok(length)
}

fn declared(reader: &mut (impl Read + Seek), length: u64) -> Result<Option<Declared>, Trouble<NpzFault>> {
    let Some(end) = length.checked_sub(END) else { return Ok(None) };
    let mut bytes = [0; END as usize];
    reader.seek(SeekFrom::Start(end))?;
    reader.read_exact(&mut bytes)?;
    if !bytes.starts_with(b"PK\x05\x06") || !bytes.ends_with(&[0, 0]) {
        return Ok(None);
    }
    let (entries, size, place) =
        (little_endian(&bytes[10..12]), little_endian(&bytes[12..16]), little_endian(&bytes[16..20]));
    let large = entries == u64::from(u16::MAX) || size == u64::from(u32::MAX) || place == u64::from(u32::MAX);
    if large && let Some(declared) = declared_large(reader, end)? {
        return Ok(Some(declared));
    }
    Ok(Some(Declared { entries, size, place, end }))
}

/// The zip64 end record of a large archive; `None` if there is none.
fn declared_large(reader: &mut (impl Read + Seek), end: u64) -> Result<Option<Declared>, Trouble<NpzFault>> {
    let Some(locator) = end.checked_sub(LOCATOR) else { return Ok(None) };
    let mut bytes = [0; LOCATOR as usize];
    reader.seek(SeekFrom::Start(locator))?;
    reader.read_exact(&mut bytes)?;
    if !bytes.starts_with(b"PK\x06\x07") {
        return Ok(None);
    }
    let large_end = little_endian(&bytes[8..16]);
    if large_end.checked_add(LARGE_END) != Some(locator) {
        return Err(NpzFault::Torn.into());
    }
    let mut bytes = [0; LARGE_END as usize];
    reader.seek(SeekFrom::Start(large_end))?;
    reader.read_exact(&mut bytes)?;
    if !bytes.starts_with(b"PK\x06\x06") {
        return Err(NpzFault::Torn.into());
    }
    let (entries, size, place) =
        (little_endian(&bytes[32..40]), little_endian(&bytes[40..48]), little_endian(&bytes[48..56]));
    Ok(Some(Declared { entries, size, place, end: large_end }))
}
