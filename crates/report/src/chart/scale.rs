//! Scales: from numbers to positions, with ticks at round numbers.

/// Scale of an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    low: f64,
    high: f64,
    log: bool,
}

/// A tick of an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    /// Its value.
    pub value: f64,
    /// Its label.
    pub label: String,
}

impl Scale {
    /// Makes a linear scale from exactly `low` to exactly `high`.
    pub fn linear(low: f64, high: f64) -> Self {
        let (low, high) = if low.is_finite() && high.is_finite() { (low, high) } else { (0.0, 1.0) };
        // A single number is in the middle of its axis.
        if high > low {
            Self { low, high, log: false }
        } else {
            // Half a unit is less than the rounding of a huge number.
            let half = (1e-9 * low.abs()).max(0.5);
            Self { low: low - half, high: low + half, log: false }
        }
    }

    /// Makes a logarithmic scale; numbers that are not positive have no position.
    pub fn log(low: f64, high: f64) -> Self {
        let (low, high) =
            if low > 0.0 && low.is_finite() && high.is_finite() { (low, high) } else { (1.0, 10.0) };
        let (low, high) = (low.log10(), high.log10());
        if high - low > 1e-9 {
            Self { low, high, log: true }
        } else {
            Self { low: low - 0.5, high: high + 0.5, log: true }
        }
    }

    /// Makes a scale that covers all finite numbers. The ends of a linear scale are round.
    pub fn around(values: impl IntoIterator<Item = f64>, log: bool) -> Self {
        let finite = values.into_iter().filter(|value| value.is_finite() && (!log || *value > 0.0));
        let (low, high) =
            finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
        if log {
            return if low <= high { Self::log(low / 1.15, high * 1.15) } else { Self::log(1.0, 10.0) };
        }
        let scale = Self::linear(low, high);
        let step = step(scale.high - scale.low, 5);
        Self::linear((scale.low / step + 1e-9).floor() * step, (scale.high / step - 1e-9).ceil() * step)
    }

    /// Returns its ends.
    pub fn ends(&self) -> (f64, f64) {
        if self.log { (10_f64.powf(self.low), 10_f64.powf(self.high)) } else { (self.low, self.high) }
    }

    /// Returns the position of a number as a share of the axis; none if it is off the axis.
    pub fn place(&self, value: f64) -> Option<f64> {
        let value = if self.log { value.log10() } else { value };
        let place = (value - self.low) / (self.high - self.low);
        (-1e-9..=1.0 + 1e-9).contains(&place).then_some(place)
    }

    /// Returns about this many ticks at round numbers.
    pub fn ticks(&self, about: usize) -> Vec<Tick> {
        if self.log { self.log_ticks(about) } else { self.linear_ticks(about) }
    }

    fn linear_ticks(&self, about: usize) -> Vec<Tick> {
        let step = step(self.high - self.low, about);
        let decimals = (-step.log10().floor()).max(0.0) as usize;
        let first = (self.low / step - 1e-9).ceil();
        let last = (self.high / step + 1e-9).floor();
        let count = (last - first) as usize;
        let tick = |place: usize| {
            let value = (first + place as f64) * step;
            // Minus zero is zero.
            let value = if value.abs() < step * 1e-6 { 0.0 } else { value };
            let plain = format!("{value:.decimals$}").replace('-', "−");
            // The short form, if it still distinguishes the ticks.
            let tiny = step < 1e-4 && self.high.abs().max(self.low.abs()) < 100.0 * step;
            let label = if value.abs() >= 1e5 || tiny { short(value) } else { plain };
            Tick { value, label }
        };
        (0..=count).map(tick).collect()
    }

    fn log_ticks(&self, about: usize) -> Vec<Tick> {
        let (first, last) = ((self.low - 1e-9).ceil() as i32, (self.high + 1e-9).floor() as i32);
        let decades = last - first + 1;
        if decades >= 3 {
            let stride = (1..=decades)
                .find(|stride| (decades / stride).unsigned_abs() as usize <= about.max(2))
                .unwrap_or(1);
            let powers = (first..=last).filter(|power| power.rem_euclid(stride) == 0);
            return powers
                .map(|power| Tick { value: 10_f64.powi(power), label: power_of_ten(power) })
                .collect();
        }
        // Within few decades: 1, 2 and 5 times a power.
        let powers = first - 1..=last;
        let values = powers.flat_map(|power| [1.0, 2.0, 5.0].map(|factor| (factor, power)));
        let ticks = values.map(|(factor, power)| {
            let value = factor * 10_f64.powi(power);
            Tick { value, label: short(value) }
        });
        let ticks: Vec<Tick> = ticks.filter(|tick| self.place(tick.value).is_some()).collect();
        // A range of a few percent has at most one such number: use linear ticks there.
        let (low, high) = self.ends();
        if ticks.len() < 2 { Self::linear(low, high).linear_ticks(about) } else { ticks }
    }
}

/// Returns the smallest round step (1, 2 or 5 times a power of ten) that gives at most this many
/// steps.
fn step(span: f64, about: usize) -> f64 {
    let raw = span / about.max(1) as f64;
    // A span of denormal numbers would give a step of zero.
    let power = 10_f64.powf(raw.max(f64::MIN_POSITIVE).log10().floor());
    let factor = [1.0, 2.0, 5.0].into_iter().find(|factor| factor * power >= raw * (1.0 - 1e-9));
    factor.unwrap_or(10.0) * power
}

/// Formats a number in few characters.
fn short(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 || (1e-3..1e4).contains(&size) {
        let digits = (2.0 - size.max(1e-12).log10().floor()).clamp(0.0, 6.0) as usize;
        let text = format!("{value:.digits$}");
        let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
        return text.replace('-', "−");
    }
    let power = size.log10().floor() as i32;
    let factor = value / 10_f64.powi(power);
    let head = format!("{factor:.1}").trim_end_matches(".0").replace('-', "−");
    if head == "1" { power_of_ten(power) } else { format!("{head}·{}", power_of_ten(power)) }
}

/// Formats a power of ten, such as 10⁻³.
fn power_of_ten(power: i32) -> String {
    let raised = |letter: char| match letter {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        digit => char::from_u32(0x2070 + digit as u32 - '0' as u32).unwrap_or(digit),
    };
    format!("10{}", power.to_string().chars().map(raised).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(scale: Scale, about: usize) -> Vec<String> {
        scale.ticks(about).into_iter().map(|tick| tick.label).collect()
    }

    #[test]
    fn ticks_are_round_numbers() {
        assert_eq!(labels(Scale::linear(0.0, 150.0), 5), ["0", "50", "100", "150"]);
        assert_eq!(labels(Scale::linear(21.3, 48.9), 6), ["25", "30", "35", "40", "45"]);
        assert_eq!(labels(Scale::linear(-0.1, 0.1), 4), ["−0.10", "−0.05", "0.00", "0.05", "0.10"]);
        assert_eq!(
            labels(Scale::linear(0.9990, 1.0), 5),
            ["0.9990", "0.9992", "0.9994", "0.9996", "0.9998", "1.0000"]
        );
        assert_eq!(labels(Scale::linear(0.999_98, 1.0), 2), ["0.99998", "0.99999", "1.00000"]);
        assert_eq!(labels(Scale::linear(0.0, 4e-6), 2), ["0", "2·10⁻⁶", "4·10⁻⁶"]);
        assert_eq!(labels(Scale::log(2e-7, 3e-1), 4), ["10⁻⁶", "10⁻⁴", "10⁻²"]);
        assert_eq!(labels(Scale::log(0.8, 12.0), 6), ["1", "2", "5", "10"]);
        assert_eq!(labels(Scale::log(1.1, 1.9), 4), ["1.2", "1.4", "1.6", "1.8"]);
    }

    #[test]
    fn ends_are_round_and_hold_all_numbers() {
        assert_eq!(Scale::around([23.1, 47.2, f64::NAN], false).ends(), (20.0, 50.0));
        let (low, high) = Scale::around([1e-4, 1e-2, 0.0], true).ends();
        assert!(low < 1e-4 && high > 1e-2);
    }

    #[test]
    fn numbers_without_a_place_have_none() {
        assert_eq!(Scale::log(1e-3, 1.0).place(0.0), None);
        assert_eq!(Scale::linear(0.0, 1.0).place(f64::NAN), None);
        assert_eq!(Scale::linear(0.0, 1.0).place(2.0), None);
        assert_eq!(Scale::linear(0.0, 2.0).place(1.0), Some(0.5));
    }

    #[test]
    fn nothing_to_show_is_still_an_axis() {
        for scale in [Scale::around([], false), Scale::around([f64::NAN], true), Scale::around([3.0], false)]
        {
            assert!(scale.ticks(5).len() >= 2, "{scale:?}");
        }
    }

    #[test]
    fn numbers_beyond_all_reason_have_ticks_too() {
        for value in [1e17, -1e300, 5e-324] {
            assert!(Scale::around([value], false).ticks(5).len() >= 2, "{value}");
        }
        assert!(!Scale::linear(0.0, 5e-324).ticks(5).is_empty());
        assert!(!Scale::linear(-f64::MAX, f64::MAX).ticks(5).is_empty());
    }
}
