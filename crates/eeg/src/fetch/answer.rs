//! Parsing of response headers.

use std::time::Duration;

use ureq::http::{HeaderMap, header};

/// The value of a header, if it is text.
fn text(headers: &HeaderMap, name: header::HeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok().map(str::trim)
}

/// Whether the body is chunked, so that its end is marked.
pub(super) fn is_chunked(headers: &HeaderMap) -> bool {
    text(headers, header::TRANSFER_ENCODING)
        .is_some_and(|value| value.to_ascii_lowercase().contains("chunked"))
}

/// The entity tag, if it identifies exactly these bytes.
pub(super) fn tag(headers: &HeaderMap) -> Option<String> {
    strong(text(headers, header::ETAG)?)
}

/// A tag that may be sent with `If-Range`. Weak tags (`W/"..."`) mark equivalent bytes, not
/// identical ones.
pub(super) fn strong(tag: &str) -> Option<String> {
    let inner = tag.strip_prefix('"')?.strip_suffix('"')?;
    inner.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'"').then(|| tag.to_owned())
}

/// The wait that the server requests, if given in seconds. Dates are ignored.
pub(super) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    text(headers, header::RETRY_AFTER)?.parse().ok().map(Duration::from_secs)
}

/// The first byte and the total length of a partial response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ContentRange {
    pub(super) first: u64,
    pub(super) total: u64,
}

/// Parses `bytes 5-9/10`, or `bytes 5-9/*` from servers that do not send the total. Requests always
/// ask for the whole rest, so the range ends at the total.
pub(super) fn content_range(headers: &HeaderMap) -> Option<ContentRange> {
    let (range, total) = text(headers, header::CONTENT_RANGE)?.strip_prefix("bytes ")?.split_once('/')?;
    let (first, last) = range.split_once('-')?;
    let (first, last): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
    let end = last.checked_add(1)?;
    let total = if total == "*" { end } else { total.parse().ok()? };
    (first <= last && end <= total).then_some(ContentRange { first, total })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(value: &str) -> Option<(u64, u64)> {
        let headers = [(header::CONTENT_RANGE, value.parse().unwrap())].into_iter().collect();
        content_range(&headers).map(|range| (range.first, range.total))
    }

    #[test]
    fn ranges() {
        assert_eq!(range("bytes 5-9/10"), Some((5, 10)));
        assert_eq!(range("bytes 5-7/10"), Some((5, 10)));
        assert_eq!(range("bytes 5-9/*"), Some((5, 10)));
        for nonsense in [
            "bytes 9-5/10",
            "bytes 5-10/10",
            "bytes */10",
            "bytes 5-9",
            "items 5-9/10",
            "bytes 5-18446744073709551615/*",
            "bytes -5-9/10",
            "",
        ] {
            assert_eq!(range(nonsense), None, "{nonsense}");
        }
    }

    #[test]
    fn weak_tags_are_none() {
        assert_eq!(strong("\"a-1\"").as_deref(), Some("\"a-1\""));
        for other in ["W/\"a\"", "a", "\"", "", "\"a\"b\"", "\"a\r\nHost: x\""] {
            assert_eq!(strong(other), None, "{other}");
        }
    }

    #[test]
    fn waits_are_seconds() {
        let wait = |value: &str| {
            let headers = [(header::RETRY_AFTER, value.parse().unwrap())].into_iter().collect();
            retry_after(&headers)
        };
        assert_eq!(wait("7"), Some(Duration::from_secs(7)));
        assert_eq!(wait("Wed, 21 Oct 2015 07:28:00 GMT"), None);
        assert_eq!(wait("-1"), None);
    }
}
