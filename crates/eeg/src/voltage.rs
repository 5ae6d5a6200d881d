//! Units of voltage, as recordings and definitions spell them.

/// How many microvolts a unit has; nothing for what is no voltage, or none that is known here.
pub(crate) fn microvolts_per(unit: &str) -> Option<f64> {
    Some(match unit.strip_suffix(['V', 'v'])? {
        "" => 1e6,
        "m" => 1e3,
        // The letter, the micro sign, the Greek letter, and the micro sign as it looks where a program took Latin-1 for something else.
        "u" | "\u{b5}" | "\u{3bc}" | "\u{fffd}" => 1.0,
        "n" => 1e-3,
        _ => return None,
    })
}
