//! The end of a zip archive, which says where the list of entries is.
//!
//! It is checked before the zip reader sees it, because that one reserves memory by it and looks for another end if this one is wrong.
//! Nothing but an archive from the first byte to the last, without a comment, is accepted: NumPy writes nothing else.

use std::io::{Read, Seek, SeekFrom};

use super::NpzFault;
use crate::number::little_endian;
use crate::trouble::Trouble;

/// The sizes of the end, of the pointer to the end of a large archive, and of that.
const END: u64 = 22;
const LOCATOR: u64 = 20;
const LARGE_END: u64 = 56;
/// The smallest entry of the list.
const SMALLEST_ENTRY: u64 = 46;

/// Where the list is declared to be.
struct Declared {
    entries: u64,
    size: u64,
    place: u64,
    /// Where it must end.
    end: u64,
}

/// Checks the end, and says how long the file is.
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
    let large = entries == u16::MAX.into() || size == u32::MAX.into() || place == u32::MAX.into();
    if large && let Some(declared) = declared_large(reader, end)? {
        return Ok(Some(declared));
    }
    Ok(Some(Declared { entries, size, place, end }))
}

/// The end of an archive that is too large for the plain one; none if there is none.
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
