//! The header of an array: the Python dictionary that NumPy writes. No other Python syntax is read.

use std::io::Read;

use super::NpzFault;
use super::dtype::Dtype;
use crate::number::little_endian;
use crate::shape::MOST_DIMENSIONS;
use crate::trouble::Trouble;

const MAGIC: &[u8; 6] = b"\x93NUMPY";
/// NumPy's own limit (`numpy.lib.format._MAX_HEADER_SIZE`).
const LONGEST: u64 = 10_000;
/// Values begin at a multiple of this number of bytes, so that they can be memory-mapped.
const ALIGNMENT: usize = 64;

/// Type, order and shape of an array.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Header {
    pub(super) dtype: Dtype,
    /// Whether the first index runs fastest.
    pub(super) fortran: bool,
    pub(super) shape: Vec<usize>,
}

/// Reads the header of the array `name`. Returns it with its length in bytes.
pub(super) fn read(mut from: impl Read, name: &str) -> Result<(Header, u64), Trouble<NpzFault>> {
    let mut bytes = Vec::new();
    // An entry that ends here is not an array. A damaged stream raises its own error.
    let mut more = |bytes: &mut Vec<u8>, length: u64| -> Result<(), Trouble<NpzFault>> {
        bytes.clear();
        from.by_ref().take(length).read_to_end(bytes)?;
        let whole = bytes.len() as u64 == length;
        if whole { Ok(()) } else { Err(NpzFault::NotNpy { name: name.to_owned() }.into()) }
    };
    more(&mut bytes, 8)?;
    let [.., major, minor] = bytes[..] else { return Err(NpzFault::NotNpy { name: name.to_owned() }.into()) };
    if !bytes.starts_with(MAGIC) {
        return Err(NpzFault::NotNpy { name: name.to_owned() }.into());
    }
    let digits = match (major, minor) {
        (1, 0) => 2,
        (2 | 3, 0) => 4,
        _ => return Err(NpzFault::Version { name: name.to_owned(), major, minor }.into()),
    };
    more(&mut bytes, digits)?;
    let length = little_endian(&bytes);
    if length > LONGEST {
        return Err(NpzFault::LongHeader { name: name.to_owned(), length, most: LONGEST }.into());
    }
    more(&mut bytes, length)?;
    Ok((parse(&bytes, name)?, 8 + digits + length))
}

/// Encodes the header, in version 1.0.
pub(super) fn write(header: &Header) -> Vec<u8> {
    let shape = match &header.shape[..] {
        [length] => format!("({length},)"),
        shape => format!("({})", shape.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")),
    };
    let order = if header.fortran { "True" } else { "False" };
    let mut text = format!("{{'descr': '{}', 'fortran_order': {order}, 'shape': {shape}, }}", header.dtype);
    let before = MAGIC.len() + 4;
    let length = (before + text.len() + 1).next_multiple_of(ALIGNMENT) - before;
    text.extend(std::iter::repeat_n(' ', length - text.len() - 1));
    text.push('\n');
    let mut bytes = MAGIC.to_vec();
    bytes.extend([1, 0]);
    // At most 32 dimensions of at most 20 digits each: the text is far below 65536 bytes.
    bytes.extend((length as u16).to_le_bytes());
    bytes.extend(text.as_bytes());
    bytes
}

fn parse(text: &[u8], name: &str) -> Result<Header, NpzFault> {
    let mut text = Text { bytes: text, place: 0, name };
    let (mut dtype, mut fortran, mut shape) = (None, None, None);
    text.take(b'{', "a dictionary")?;
    while !text.takes(b'}') {
        let key = text.string("a key")?;
        text.take(b':', "`:`")?;
        let known = match key {
            "descr" => dtype.replace(text.dtype()?).is_none(),
            "fortran_order" => fortran.replace(text.boolean()?).is_none(),
            "shape" => shape.replace(text.tuple()?).is_none(),
            _ => return Err(text.key(key, "which is not one of NumPy's")),
        };
        if !known {
            return Err(text.key(key, "twice"));
        }
        if !text.takes(b',') {
            text.take(b'}', "`,` or `}`")?;
            break;
        }
    }
    text.end()?;
    let missing = |key| NpzFault::NoKey { name: name.to_owned(), key };
    Ok(Header {
        dtype: dtype.ok_or_else(|| missing("descr"))?,
        fortran: fortran.ok_or_else(|| missing("fortran_order"))?,
        shape: shape.ok_or_else(|| missing("shape"))?,
    })
}

/// The text of a header with a reading position.
struct Text<'a> {
    bytes: &'a [u8],
    place: usize,
    /// The name of the array.
    name: &'a str,
}

impl<'a> Text<'a> {
    /// The next character that is not white space.
    fn peek(&mut self) -> Option<u8> {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.bytes.get(self.place) {
            self.place += 1;
        }
        self.bytes.get(self.place).copied()
    }

    /// Consumes a character if it is next.
    fn takes(&mut self, wanted: u8) -> bool {
        let there = self.peek() == Some(wanted);
        self.place += usize::from(there);
        there
    }

    fn take(&mut self, wanted: u8, expected: &'static str) -> Result<(), NpzFault> {
        if self.takes(wanted) { Ok(()) } else { Err(self.fault(expected)) }
    }

    fn end(&mut self) -> Result<(), NpzFault> {
        if self.peek().is_none() { Ok(()) } else { Err(self.fault("the end")) }
    }

    /// Reads a string without escapes; NumPy writes none.
    fn string(&mut self, expected: &'static str) -> Result<&'a str, NpzFault> {
        let Some(quote @ (b'\'' | b'"')) = self.peek() else { return Err(self.fault(expected)) };
        let rest = &self.bytes[self.place + 1..];
        let length = rest.iter().position(|&byte| byte == quote).unwrap_or(rest.len());
        let content = &rest[..length];
        let plain = content.iter().all(|byte| matches!(byte, b' '..=b'~') && *byte != b'\\');
        match str::from_utf8(content) {
            Ok(content) if plain && length < rest.len() => {
                self.place += length + 2;
                Ok(content)
            }
            _ => Err(self.fault(expected)),
        }
    }

    fn dtype(&mut self) -> Result<Dtype, NpzFault> {
        let name = self.name.to_owned();
        if self.peek() == Some(b'[') {
            return Err(NpzFault::Records { name });
        }
        let text = self.string("the type of the values")?;
        match Dtype::parse(text) {
            Some(dtype) => Ok(dtype),
            None if text.trim_start_matches(['|', '<', '>', '=']).starts_with('O') => {
                Err(NpzFault::Objects { name })
            }
            None => Err(NpzFault::Type { name, dtype: text.to_owned() }),
        }
    }

    fn boolean(&mut self) -> Result<bool, NpzFault> {
        self.peek();
        for (word, value) in [(&b"True"[..], true), (b"False", false)] {
            if self.bytes[self.place..].starts_with(word) {
                self.place += word.len();
                return Ok(value);
            }
        }
        Err(self.fault("`True` or `False`"))
    }

    fn tuple(&mut self) -> Result<Vec<usize>, NpzFault> {
        self.take(b'(', "a tuple")?;
        let mut lengths = Vec::new();
        while !self.takes(b')') {
            if lengths.len() == MOST_DIMENSIONS {
                return Err(NpzFault::Dimensions { name: self.name.to_owned(), most: MOST_DIMENSIONS });
            }
            lengths.push(self.length()?);
            if !self.takes(b',') {
                // `(3)` is a number in Python, not a tuple.
                if lengths.len() == 1 {
                    return Err(self.fault("`,`"));
                }
                self.take(b')', "`,` or `)`")?;
                break;
            }
        }
        Ok(lengths)
    }

    fn length(&mut self) -> Result<usize, NpzFault> {
        self.peek();
        let digits = self.bytes[self.place..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let text = str::from_utf8(&self.bytes[self.place..self.place + digits]).unwrap_or_default();
        let Ok(length) = text.parse() else { return Err(self.fault("a length")) };
        self.place += digits;
        Ok(length)
    }

    fn fault(&self, expected: &'static str) -> NpzFault {
        NpzFault::Header { name: self.name.to_owned(), expected, place: self.place }
    }

    fn key(&self, key: &str, problem: &'static str) -> NpzFault {
        NpzFault::Key { name: self.name.to_owned(), key: key.to_owned(), problem }
    }
}
