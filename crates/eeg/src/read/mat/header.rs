//! The header of a MAT-file, and detection of similar formats.

use super::MatFault;
use crate::number::ByteOrder;

/// The length of the header: text, an unused offset, the version and the byte order mark.
pub(in crate::read) const LENGTH: usize = 128;
const VERSION: usize = 124;
const ORDER: usize = 126;
const LEVEL_5: u16 = 0x0100;
/// The version of files of version 7.3, which are HDF5 files behind this header.
const LEVEL_7_3: u16 = 0x0200;
const HDF5: &[u8] = b"\x89HDF\r\n\x1a\n";

/// The byte order of a file that begins with these bytes.
pub(super) fn parse(beginning: &[u8]) -> Result<ByteOrder, MatFault> {
    if beginning.is_empty() {
        return Err(MatFault::Empty);
    }
    if beginning.starts_with(HDF5) {
        return Err(MatFault::Hdf5);
    }
    let order = match beginning.get(ORDER..LENGTH) {
        Some(b"IM") => ByteOrder::Little,
        Some(b"MI") => ByteOrder::Big,
        _ if is_level_4(beginning) => return Err(MatFault::Level4),
        None if beginning.starts_with(b"MATLAB") => {
            return Err(MatFault::TornHeader { found: beginning.len() as u64 });
        }
        _ => return Err(MatFault::NotMat),
    };
    let version = match order {
        ByteOrder::Little => u16::from_le_bytes([beginning[VERSION], beginning[VERSION + 1]]),
        ByteOrder::Big => u16::from_be_bytes([beginning[VERSION], beginning[VERSION + 1]]),
    };
    match version {
        LEVEL_5 => Ok(order),
        LEVEL_7_3 => Err(MatFault::Hdf5),
        found => Err(MatFault::Version { found }),
    }
}

/// Whether a file that begins with these bytes is a MATLAB file of any level.
pub(in crate::read) fn is_mat(beginning: &[u8]) -> bool {
    beginning.starts_with(b"MATLAB") || beginning.starts_with(HDF5) || is_level_4(beginning)
}

/// Whether these bytes begin a matrix of level 4. It has five integers: type (`MOPT` in decimal
/// digits), rows, columns, complex flag, and length of the name.
fn is_level_4(beginning: &[u8]) -> bool {
    let Some(&[kind, _, _, complex, name]) = beginning.as_chunks::<4>().0.first_chunk::<5>() else {
        return false;
    };
    [ByteOrder::Little, ByteOrder::Big].into_iter().any(|order| {
        let digits = order.u32(kind);
        let (machine, reserved, precision, matrix) =
            (digits / 1000, digits / 100 % 10, digits / 10 % 10, digits % 10);
        // The length includes a terminating zero, so it is at least 2.
        let plausible = order.u32(complex) <= 1 && (2..=256).contains(&order.u32(name));
        plausible && machine <= 4 && reserved == 0 && precision <= 5 && matrix <= 2
    })
}
