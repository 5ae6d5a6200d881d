//! Fields and records of RFC 4180, with lines that end in a line feed.

use thiserror::Error;

/// What is wrong with a line of a table.
#[derive(Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum CsvFault {
    /// The first line does not name the columns.
    #[error("the columns are `{found}` where `{expected}` were expected")]
    Header {
        /// What there is.
        found: String,
        /// What should be there.
        expected: String,
    },
    /// Too many fields or too few.
    #[error("{found} fields where {expected} were expected")]
    Fields {
        /// How many there are.
        found: usize,
        /// How many there should be.
        expected: usize,
    },
    /// A field is no number.
    #[error("`{column}` is `{found}`, not a number")]
    Number {
        /// Of which column.
        column: &'static str,
        /// What there is.
        found: String,
    },
    /// A quote within a field, or text after the quote that ends one.
    #[error("a quote that neither begins nor ends a field")]
    StrayQuote,
    /// The file ends within a field.
    #[error("a quoted field that does not end")]
    OpenQuote,
    /// The bytes are no text.
    #[error("not UTF-8 from byte {byte} of the file on")]
    NotText {
        /// The first byte that is not.
        byte: usize,
    },
}

/// Appends a field, in quotes where it needs them.
pub(crate) fn push_field(line: &mut String, field: &str) {
    if field.contains([',', '"', '\n', '\r']) {
        line.push('"');
        line.push_str(&field.replace('"', "\"\""));
        line.push('"');
    } else {
        line.push_str(field);
    }
}

/// A record and the line where it begins, counted from 1.
pub(crate) struct Record {
    pub(crate) line: usize,
    pub(crate) fields: Vec<String>,
}

/// The records of a file, or the line of a fault and the fault. Lines may end in CR LF too, as tables that went through a spreadsheet do.
pub(crate) fn records(text: &str) -> Result<Vec<Record>, (usize, CsvFault)> {
    let mut records = Vec::new();
    let mut rest = text;
    let mut line = 1;
    while !rest.is_empty() {
        let first = line;
        let mut fields = Vec::new();
        loop {
            let (field, after) = take_field(rest).map_err(|fault| (first, fault))?;
            line += field.matches('\n').count();
            fields.push(field);
            if let Some(next) = after.strip_prefix(',') {
                rest = next;
            } else {
                rest = after.strip_prefix("\r\n").or_else(|| after.strip_prefix('\n')).unwrap_or(after);
                line += 1;
                break;
            }
        }
        records.push(Record { line: first, fields });
    }
    Ok(records)
}

/// The first field, and what follows it: a comma, the end of a line, or nothing.
fn take_field(text: &str) -> Result<(String, &str), CsvFault> {
    let Some(mut rest) = text.strip_prefix('"') else {
        let end = text.find([',', '\n']).unwrap_or(text.len());
        // A carriage return belongs to the end of the line.
        let end = if text[end..].starts_with('\n') && text[..end].ends_with('\r') { end - 1 } else { end };
        let field = &text[..end];
        return if field.contains('"') {
            Err(CsvFault::StrayQuote)
        } else {
            Ok((field.to_owned(), &text[end..]))
        };
    };
    let mut field = String::new();
    loop {
        let end = rest.find('"').ok_or(CsvFault::OpenQuote)?;
        field.push_str(&rest[..end]);
        rest = &rest[end + 1..];
        if let Some(next) = rest.strip_prefix('"') {
            field.push('"');
            rest = next;
        } else if rest.is_empty() || rest.starts_with([',', '\n']) || rest.starts_with("\r\n") {
            return Ok((field, rest));
        } else {
            return Err(CsvFault::StrayQuote);
        }
    }
}
