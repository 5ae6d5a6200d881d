//! Units of voltage, as spelt in recordings and definitions.

/// The number of microvolts in a unit; `None` for a unit that is not a known voltage.
pub(crate) fn microvolts_per(unit: &str) -> Option<f64> {
    Some(match unit.strip_suffix(['V', 'v'])? {
        "" => 1e6,
        "m" => 1e3,
        // The letter u, the micro sign, the Greek letter mu, and the replacement character of a
        // wrongly decoded micro sign.
        "u" | "\u{b5}" | "\u{3bc}" | "\u{fffd}" => 1.0,
        "n" => 1e-3,
        _ => return None,
    })
}
