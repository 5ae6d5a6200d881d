//! CSV fields and records (RFC 4180), with lines that end in a line feed.

use thiserror::Error;

/// Faults in a line of a table.
#[derive(Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum CsvFault {
    /// The first line does not name the columns.
    #[error("the columns are `{found}` where `{expected}` were expected")]
    Header {
        /// The columns found.
        found: String,
        /// The columns expected.
        expected: String,
    },
    /// Too many fields or too few.
    #[error("{found} fields where {expected} were expected")]
    Fields {
        /// The number found.
        found: usize,
        /// The number expected.
        expected: usize,
    },
    /// A field is not a number.
    #[error("`{column}` is `{found}`, not a number")]
    Number {
        /// The column.
        column: &'static str,
        /// The text found.
        found: String,
    },
    /// A quote within a field, or text after the quote that ends one.
    #[error("a quote that neither begins nor ends a field")]
    StrayQuote,
    /// The file ends within a field.
    #[error("a quoted field that does not end")]
    OpenQuote,
    /// The bytes are not UTF-8.
    #[error("not UTF-8 at byte {byte} of the file")]
    NotText {
        /// The first invalid byte.
        byte: usize,
    },
}

/// Appends a field, in quotes if it needs them.
pub(crate) fn push_field(line: &mut String, field: &str) {
    if field.contains([',', '"', '\n', '\r']) {
        line.push('"');
        line.push_str(&field.replace('"', "\"\""));
        line.push('"');
    } else {
        line.push_str(field);
    }
}

/// Returns a field of a CSV file, in quotes if it needs them.
pub fn csv_field(field: &str) -> String {
    let mut line = String::with_capacity(field.len());
    push_field(&mut line, field);
    line
}

/// A record and the line where it begins, counted from 1.
pub(crate) struct Record {
    pub(crate) line: usize,
    pub(crate) fields: Vec<String>,
}

/// Returns the records of a file, or a fault with its line. Lines may also end in CR LF, because
/// spreadsheets write them so.
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

/// Returns the first field and the rest, which begins with a comma or a line end, or is empty.
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
