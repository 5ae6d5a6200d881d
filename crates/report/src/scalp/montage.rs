//! Electrode positions: the 10-05 system on a sphere (Oostenveld and Praamstra 2001, "The five
//! percent electrode system").
//!
//! The system is geometric, so positions are computed, not listed. The line from nasion over the
//! vertex to inion is a half circle of 180 degrees; so is the line from ear to ear. A ring lies at
//! 10% of both. Rows run across the head from the ring over the midline to the ring, on the circle
//! through these three points. Electrodes divide them evenly.

use std::f64::consts::PI;

/// A direction from the centre of the head: to the right, to the front, up. Its length is 1.
pub type Direction = [f64; 3];

/// Rows across the head: name at and near the midline, name near the temples, and position on the
/// midline in percent from nasion to inion.
const ROWS: [(&str, &str, f64); 15] = [
    ("AFp", "AFp", 15.0),
    ("AF", "AF", 20.0),
    ("AFF", "AFF", 25.0),
    ("F", "F", 30.0),
    ("FFC", "FFT", 35.0),
    ("FC", "FT", 40.0),
    ("FCC", "FTT", 45.0),
    ("C", "T", 50.0),
    ("CCP", "TTP", 55.0),
    ("CP", "TP", 60.0),
    ("CPP", "TPP", 65.0),
    ("P", "P", 70.0),
    ("PPO", "PPO", 75.0),
    ("PO", "PO", 80.0),
    ("POO", "POO", 85.0),
];

/// Electrodes on the midline outside the rows, with neighbours on a ring. Fields: name, position on
/// the midline in percent, angle of the ring from the vertex in degrees.
const POLES: [(&str, f64, f64); 6] = [
    ("N", 0.0, 90.0),
    ("NFp", 5.0, 81.0),
    ("Fp", 10.0, 72.0),
    ("O", 90.0, 72.0),
    ("OI", 95.0, 81.0),
    ("I", 100.0, 90.0),
];

/// Old names of the 10-20 system, with their current names.
const OLD: [(&str, &str); 4] = [("t3", "t7"), ("t4", "t8"), ("t5", "p7"), ("t6", "p8")];

/// Returns the position of an electrode by its name, in any case, old names included; none if the
/// name is not in the system.
pub fn position(name: &str) -> Option<Direction> {
    let name = name.trim().to_ascii_lowercase();
    let name = OLD.iter().find(|(old, _)| *old == name).map_or(name.as_str(), |(_, new)| new);
    let stem_end = name.find(|letter: char| letter.is_ascii_digit()).unwrap_or(name.len());
    if let Some(stem) = name.strip_suffix('z') {
        return midline(stem);
    }
    let (stem, place) = name.split_at(stem_end);
    let (digits, half) = match place.strip_suffix('h') {
        Some(digits) => (digits, true),
        None => (place, false),
    };
    let number: u8 = digits.parse().ok().filter(|number| (1..=10).contains(number))?;
    // "01" is not a valid number.
    if number.to_string() != digits {
        return None;
    }
    // Odd numbers are left; 1 and 2 are next to the midline. Half steps lie towards it.
    let left = number % 2 == 1;
    let steps = f64::from(number.div_ceil(2)) - if half { 0.5 } else { 0.0 };
    let [x, y, z] = in_row(stem, steps).or_else(|| beside_pole(stem, steps))?;
    Some([if left { x } else { -x }, y, z])
}

fn midline(stem: &str) -> Option<Direction> {
    let rows = ROWS.iter().map(|&(middle, _, percent)| (middle, percent));
    let all = rows.chain(POLES.iter().map(|&(name, percent, _)| (name, percent)));
    let percent = all.into_iter().find(|(name, _)| name.eq_ignore_ascii_case(stem))?.1;
    Some(at(90.0 - 1.8 * percent, 0.0))
}

/// Returns a position on the left of a row. Four steps lead from the midline to the ring, a fifth
/// beyond it towards the ear.
fn in_row(stem: &str, steps: f64) -> Option<Direction> {
    let &(_, _, percent) = ROWS.iter().find(|&&(middle, temple, _)| {
        // After the third step, rows have the temple's name.
        let name = if steps > 3.0 { temple } else { middle };
        name.eq_ignore_ascii_case(stem)
    })?;
    // Azimuth on the ring: 0 at the front, 180 at the back, proportional to the percentage.
    let azimuth = 180.0 * (percent - 0.0) / 100.0;
    if steps >= 4.0 {
        return (steps <= 5.0).then(|| on_ring(72.0 + 18.0 * (steps - 4.0), azimuth));
    }
    let (ring, middle) = (on_ring(72.0, azimuth), at(90.0 - 1.8 * percent, 0.0));
    Some(along(ring, middle, 1.0 - steps / 4.0))
}

/// Returns a position on the left of a pole, on its ring.
fn beside_pole(stem: &str, steps: f64) -> Option<Direction> {
    let &(_, percent, angle) = POLES.iter().find(|(name, _, _)| name.eq_ignore_ascii_case(stem))?;
    let azimuth = 18.0 * steps;
    (steps <= 1.0).then(|| on_ring(angle, if percent < 50.0 { azimuth } else { 180.0 - azimuth }))
}

/// Returns the position `front` degrees in front of the vertex and `right` degrees to its right.
fn at(front: f64, right: f64) -> Direction {
    let (front, right) = (front * PI / 180.0, right * PI / 180.0);
    [right.sin(), front.sin() * right.cos(), front.cos() * right.cos()]
}

/// Returns the position `angle` degrees from the vertex and `azimuth` degrees from the front
/// towards the left.
fn on_ring(angle: f64, azimuth: f64) -> Direction {
    let (angle, azimuth) = (angle * PI / 180.0, azimuth * PI / 180.0);
    [-angle.sin() * azimuth.sin(), angle.sin() * azimuth.cos(), angle.cos()]
}

/// Returns the position at a share of the way from the left end of a row to its middle. The way is
/// on the circle through left end, middle and right end.
///
/// The circle is symmetric, so its centre is in the plane of the midline. The middle `m` and the
/// chord's centre `q` are in that plane too. The axis along `m - q` and the axis to the right span
/// the plane of the circle.
fn along(end: Direction, middle: Direction, share: f64) -> Direction {
    let half = -end[0];
    let chord = [0.0, end[1], end[2]];
    let up = [0.0, middle[1] - chord[1], middle[2] - chord[2]];
    let rise = (up[1] * up[1] + up[2] * up[2]).sqrt();
    // Chord and rise give the radius and the angle of the end, seen from the centre.
    let radius = (half * half + rise * rise) / (2.0 * rise);
    let opening = half.atan2(radius - rise).abs();
    let angle = opening * (1.0 - share);
    let height = radius * angle.cos() - (radius - rise);
    [-radius * angle.sin(), chord[1] + up[1] / rise * height, chord[2] + up[2] / rise * height]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn is_at(name: &str, expected: Direction) {
        let found = position(name).unwrap_or_else(|| panic!("{name} is not known"));
        let off = found.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(off < 1e-12, "{name}: {found:?} is not {expected:?}");
    }

    fn degrees(angle: f64) -> f64 {
        angle * PI / 180.0
    }

    #[test]
    fn known_places_are_where_they_are_known_to_be() {
        is_at("Cz", [0.0, 0.0, 1.0]);
        is_at("Nz", [0.0, 1.0, 0.0]);
        is_at("Iz", [0.0, -1.0, 0.0]);
        is_at("Fpz", [0.0, degrees(72.0).sin(), degrees(72.0).cos()]);
        is_at("Oz", [0.0, -degrees(72.0).sin(), degrees(72.0).cos()]);
        is_at("Fz", [0.0, degrees(36.0).sin(), degrees(36.0).cos()]);
        is_at("T9", [-1.0, 0.0, 0.0]);
        is_at("T10", [1.0, 0.0, 0.0]);
        is_at("T7", [-degrees(72.0).sin(), 0.0, degrees(72.0).cos()]);
        is_at("C3", [-degrees(36.0).sin(), 0.0, degrees(36.0).cos()]);
        is_at("C6", [degrees(54.0).sin(), 0.0, degrees(54.0).cos()]);
        is_at("C1h", [-degrees(9.0).sin(), 0.0, degrees(9.0).cos()]);
        // Fp1 is 18 degrees round the ring from Fpz.
        is_at(
            "Fp1",
            [
                -degrees(72.0).sin() * degrees(18.0).sin(),
                degrees(72.0).sin() * degrees(18.0).cos(),
                degrees(72.0).cos(),
            ],
        );
        // F7 is three tenths of the way from Fpz to Oz.
        is_at(
            "F7",
            [
                -degrees(72.0).sin() * degrees(54.0).sin(),
                degrees(72.0).sin() * degrees(54.0).cos(),
                degrees(72.0).cos(),
            ],
        );
    }

    #[test]
    fn left_and_right_front_and_back_mirror_each_other() {
        for (left, right) in
            [("F3", "F4"), ("PO7", "PO8"), ("FFC5h", "FFC6h"), ("O1", "O2"), ("FT9", "FT10"), ("I1", "I2")]
        {
            let ([x, y, z], mirrored) = (position(left).unwrap(), position(right).unwrap());
            assert!(x < 0.0, "{left} is on the left");
            assert_eq!([-x, y, z], mirrored, "{left} and {right}");
        }
        for (front, back) in
            [("F3", "P3"), ("AF7", "PO7"), ("FC5", "CP5"), ("Fp2", "O2"), ("FFT7h", "TPP7h"), ("N1", "I1")]
        {
            let ([x, y, z], [a, b, c]) = (position(front).unwrap(), position(back).unwrap());
            assert!((x - a).abs() + (y + b).abs() + (z - c).abs() < 1e-12, "{front} and {back}");
        }
    }

    #[test]
    fn rows_are_on_the_sphere_evenly_divided_and_run_from_the_temple_to_the_midline() {
        let row =
            ["F7", "F7h", "F5", "F5h", "F3", "F3h", "F1", "F1h", "Fz"].map(|name| position(name).unwrap());
        let distance =
            |a: Direction, b: Direction| a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
        let steps: Vec<f64> = row.windows(2).map(|pair| distance(pair[0], pair[1])).collect();
        assert!(steps.iter().all(|step| (step - steps[0]).abs() < 1e-12), "{steps:?}");
        assert!(row.iter().all(|at| (distance(*at, [0.0; 3]) - 1.0).abs() < 1e-12));
    }

    #[test]
    fn old_names_and_any_case_are_known_and_other_names_are_not() {
        for (old, new) in
            [("T3", "T7"), ("T4", "T8"), ("T5", "P7"), ("T6", "P8"), ("FP1", "Fp1"), ("cPZ", "CPz")]
        {
            assert_eq!(position(old).unwrap(), position(new).unwrap());
        }
        for unknown in [
            "", "z", "EOG", "A1", "M2", "CB1", "C11", "C01", "C", "F0", "O3", "FT3", "C7", "C9", "EEG 12",
            "Xz", "7",
        ] {
            assert_eq!(position(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn all_of_the_10_10_system_is_known_and_nothing_twice() {
        let mut names: Vec<String> = Vec::new();
        let sides = |stem: &str, numbers: &[u8]| {
            numbers.iter().map(|number| format!("{stem}{number}")).collect::<Vec<_>>()
        };
        for stem in ["AF", "F", "P", "PO"] {
            names.extend(sides(stem, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]));
        }
        for (middle, temple) in [("FC", "FT"), ("C", "T"), ("CP", "TP")] {
            names.extend(sides(middle, &[1, 2, 3, 4, 5, 6]));
            names.extend(sides(temple, &[7, 8, 9, 10]));
        }
        for pole in ["N", "Fp", "O", "I"] {
            names.extend(sides(pole, &[1, 2]));
        }
        names.extend(
            ["Nz", "Fpz", "AFz", "Fz", "FCz", "Cz", "CPz", "Pz", "POz", "Oz", "Iz"].map(String::from),
        );
        let places: Vec<Direction> =
            names.iter().map(|name| position(name).unwrap_or_else(|| panic!("{name}"))).collect();
        for (first, a) in places.iter().enumerate() {
            for (second, b) in places.iter().enumerate().skip(first + 1) {
                let apart = a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
                assert!(apart > 0.05, "{} and {} are at one place", names[first], names[second]);
            }
        }
    }
}
