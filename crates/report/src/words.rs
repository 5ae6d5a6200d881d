//! Numbers and lists as text.

use fedspd_run::Summary;
pub(crate) use fedspd_run::counted as count;

/// Formats a share of clients: `full`, `half` or a percentage.
pub(crate) fn share(share: f64) -> String {
    match share {
        1.0 => "full".into(),
        0.5 => "half".into(),
        share => format!("{}%", digits(100.0 * share)),
    }
}

/// Formats a number with three significant digits, without trailing zeros. Keeps all digits before
/// the decimal point.
pub(crate) fn digits(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return if value == 0.0 { "0".into() } else { "–".into() };
    }
    if !(1e-3..1e6).contains(&value.abs()) {
        return format!("{value:.1e}");
    }
    let decimals = (2.0 - value.abs().log10().floor()).clamp(0.0, 5.0) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').into() } else { text }
}

/// Formats mean and standard deviation in percent.
pub(crate) fn percent(summary: &Summary) -> String {
    let Summary { mean, std, .. } = *summary;
    if mean.is_nan() {
        "–".into()
    } else if std.is_nan() {
        format!("{:.1}", 100.0 * mean)
    } else {
        format!("{:.1} ± {:.1}", 100.0 * mean, 100.0 * std)
    }
}

/// Formats a number of bytes with a decimal unit.
pub(crate) fn bytes(bytes: f64) -> String {
    match bytes {
        b if b < 1e3 => format!("{b:.0} B"),
        b if b < 1e6 => format!("{} kB", digits(b / 1e3)),
        b if b < 1e9 => format!("{} MB", digits(b / 1e6)),
        b => format!("{} GB", digits(b / 1e9)),
    }
}

/// Formats a duration.
pub(crate) fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 120.0 => format!("{s:.1} s"),
        s if s < 7200.0 => format!("{:.1} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

/// Joins words: `a, b and c`.
pub(crate) fn list(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [word] => word.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// Formats the name of a class: `left_hand` becomes `left hand`.
pub(crate) fn class(name: &str) -> String {
    name.replace('_', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_as_many_digits_as_count() {
        let shown = [0.01, 0.0, 1.0, 12.34, 123.4, 99_999.0, 2e-9, f64::NAN].map(digits);
        assert_eq!(shown, ["0.01", "0", "1", "12.3", "123", "99999", "2.0e-9", "–"]);
        assert_eq!([512.0, 196_160.0, 29.4e6, 3e9].map(bytes), ["512 B", "196 kB", "29.4 MB", "3 GB"]);
        assert_eq!([15.4, 300.0, 9000.0].map(duration), ["15.4 s", "5.0 min", "2.5 h"]);
        assert_eq!([1.0, 0.5, 0.3, 1.0 / 3.0].map(share), ["full", "half", "30%", "33.3%"]);
    }

    #[test]
    fn a_deviation_of_one_seed_is_not_shown() {
        assert_eq!(percent(&Summary { mean: 0.3184, std: 0.0251, count: 3 }), "31.8 ± 2.5");
        assert_eq!(percent(&Summary { mean: 0.3184, std: f64::NAN, count: 1 }), "31.8");
        assert_eq!(list(&["a", "b", "c"].map(String::from)), "a, b and c");
    }
}
