//! Archives that are damaged or have false declarations.

use std::fs;

use super::walk;
use crate::support::arrays::{damaged, golden};
use crate::support::npz::{Entry, archive, deflated, header, npy, stored};

#[test]
#[allow(clippy::too_many_lines)] // a table
fn every_bad_archive_has_its_message() {
    let plain = npy(&header("<f8", "(2,)"), &[0; 16]);
    let good = archive(&[stored("x.npy", &plain)]);
    let end = good.len() - 22;
    let with = |place: usize, bytes: &[u8]| {
        let mut file = good.clone();
        file[place..place + bytes.len()].copy_from_slice(bytes);
        file
    };
    let entry = stored("x.npy", &plain);
    let packed = deflated("x.npy", &plain);
    let half = packed.content.len() / 2;
    let cut = Entry { content: packed.content[..half].to_vec(), compressed: half as u32, ..packed.clone() };
    let list = end - good[..end].windows(4).position(|bytes| bytes == b"PK\x01\x02").unwrap();
    let place = end - list;
    let moved = format!(
        "damaged: 1 entries in {list} bytes at byte {place} are declared, but the list ends at byte {}",
        end + 1
    );
    let many = format!(
        "damaged: 2 entries in {list} bytes at byte {place} are declared, but the list ends at byte {end}"
    );
    let rows: Vec<(&str, Vec<u8>, &str)> = vec![
        ("nothing", vec![], "the file is empty"),
        ("text", b"subject,label\n".repeat(20), "not an archive of NumPy arrays (.npz)"),
        ("one byte", b"P".to_vec(), "not an archive of NumPy arrays (.npz)"),
        ("an array", plain.clone(), "a single array (.npy), not an archive of arrays (.npz)"),
        ("cut off in the array", good[..60].to_vec(), "incomplete or damaged archive: it has no end record"),
        (
            "cut off in the end",
            good[..end + 9].to_vec(),
            "incomplete or damaged archive: it has no end record",
        ),
        ("cut off by one", good[..end + 21].to_vec(), "incomplete or damaged archive: it has no end record"),
        (
            "something behind",
            [&good[..], b"x"].concat(),
            "incomplete or damaged archive: it has no end record",
        ),
        ("something before", [b"x", &good[..]].concat(), &moved),
        ("more entries than there can be", with(end + 8, &[2, 0, 2, 0]), &many),
        ("list damaged", with(place, b"XX"), "the list of its entries is damaged (no CDFH found)"),
        (
            "two volumes",
            with(end + 4, &[1]),
            "the list of its entries is damaged (multi-disk ZIP files are not supported)",
        ),
        ("local header damaged", with(0, b"XX"), "`x` is damaged (invalid local file header)"),
        ("the same name twice", archive(&[entry.clone(), entry.clone()]), "two arrays have the same name"),
        (
            "a name that is not text",
            with(end - 5, &[0xff]),
            "the list of its entries is damaged (a name that is not UTF-8)",
        ),
        ("encrypted", archive(&[Entry { flags: 1, ..entry.clone() }]), "`x` is encrypted"),
        (
            "bzip2",
            archive(&[Entry { method: 12, ..entry.clone() }]),
            "`x` is compressed by method Bzip2; only stored and deflated arrays are read",
        ),
        (
            "larger than the file",
            archive(&[Entry { compressed: 1 << 30, size: 1 << 30, ..entry.clone() }]),
            "`x` declares 1073741824 bytes in a file of 191",
        ),
        (
            "two sizes",
            archive(&[Entry { size: 1 << 30, ..entry.clone() }]),
            "`x` is stored in 83 bytes, but declares 1073741824",
        ),
        (
            "shorter than declared",
            archive(&[Entry { size: 80, compressed: 80, ..entry.clone() }]),
            "`x` of type '<f8' with shape [2] needs 16 bytes and has 13",
        ),
        ("checksum", with(110, &[1]), "`x` is damaged (invalid checksum)"),
        (
            "not deflated",
            archive(&[Entry { content: vec![0xff; 40], compressed: 40, ..packed.clone() }]),
            "`x` is damaged (corrupt deflate stream)",
        ),
        ("stream cut off", archive(&[cut]), "`x` is damaged (it ends early)"),
        (
            "stream longer than declared",
            archive(&[Entry { size: 70, ..packed.clone() }]),
            "`x` of type '<f8' with shape [2] needs 16 bytes and has 3",
        ),
    ];
    for (what, bytes, message) in rows {
        let error = walk(&bytes).expect_err(what).to_string();
        assert_eq!(error, format!("x.npz: {message}"), "{what}");
    }
}

#[test]
fn bombs_are_refused_and_the_numbers_said() {
    let zeros = vec![0; 5 << 20];
    let entry = deflated("x.npy", &npy(&header("|u1", "(5242880,)"), &zeros));
    let (size, compressed) = (entry.size, entry.compressed);
    let error = walk(&archive(&[entry])).unwrap_err();
    let expected = format!(
        "x.npz: `x` declares {size} bytes in {compressed} compressed ones; at most 4194304 are accepted \
         (1032 times as many up to 4194304, 200 times beyond)"
    );
    assert_eq!(error.to_string(), expected);
    let hint = "the compression ratio is implausible for EEG; if the file is correct, save it uncompressed with \
                `numpy.savez`";
    assert_eq!(error.hint().unwrap(), hint);
}

#[test]
fn damaged_files_never_panic() {
    for name in ["types.npz", "types_compressed.npz", "versions.npz", "refused.npz"] {
        let bytes = fs::read(golden(name)).unwrap();
        for end in 0..bytes.len() {
            assert!(walk(&bytes[..end]).is_err());
        }
        for seed in 0..2000 {
            // Odd seeds cut the file, which is detected at once.
            let _ = walk(&damaged(&bytes, 2 * seed));
        }
    }
}

#[test]
fn lying_headers_allocate_little() {
    let large_end = |entries: u64| {
        // A large archive whose end record declares a missing list.
        let mut bytes = vec![0; 4096];
        bytes.extend(b"PK\x06\x06");
        bytes.extend(44_u64.to_le_bytes());
        bytes.extend([0; 12]);
        for field in [entries, entries, u64::MAX / 2, 0] {
            bytes.extend(field.to_le_bytes());
        }
        bytes.extend(b"PK\x06\x07\0\0\0\0");
        bytes.extend(4096_u64.to_le_bytes());
        bytes.extend([1, 0, 0, 0]);
        bytes.extend(b"PK\x05\x06\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\0\0");
        bytes
    };
    let text = npy(&header("<U1000000000", "(1,)"), &[0; 100]);
    let lies = [
        large_end(4000),
        large_end(u64::MAX / 46),
        archive(&[stored("x.npy", &npy(&header("<f8", "(1073741824,)"), &[0; 16]))]),
        archive(&[stored("x.npy", &npy(&header("<f8", "(0, 9999999999999)"), &[0; 16]))]),
        archive(&[stored("x.npy", &text)]),
        archive(&[Entry { size: u32::MAX, ..deflated("x.npy", &text) }]),
        archive(&[Entry { size: 60_000, ..deflated("x.npy", &npy(&header("|S59917", "(1,)"), &[0; 100])) }]),
    ];
    for lie in lies {
        let info = allocation_counter::measure(|| assert!(walk(&lie).is_err()));
        // Window and tables of the inflater, and a buffer.
        assert!(info.bytes_max < 256 << 10, "{} bytes", info.bytes_max);
    }
}
