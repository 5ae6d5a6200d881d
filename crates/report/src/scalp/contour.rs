//! Contours of a field at a level.

use std::collections::BTreeMap;
use std::fmt::Write;

/// Values on a square grid.
pub(crate) struct Field {
    /// Points on a side.
    pub(crate) side: usize,
    /// Row by row.
    pub(crate) values: Vec<f64>,
}

/// An edge of the grid: its first point, and whether it goes down rather than to the right.
type Edge = (usize, bool);

impl Field {
    /// Returns the region where the field is above a level, as a path of closed loops (marching
    /// squares; the centre of a cell decides saddles). Points outside the grid count as below.
    ///
    /// `place` maps coordinates of the grid to those of the drawing.
    pub(crate) fn above(&self, level: f64, place: impl Fn(f64, f64) -> (f64, f64)) -> String {
        // A border that is below closes every loop.
        let side = self.side + 2;
        let value = |x: usize, y: usize| {
            let inside = (1..=self.side).contains(&x) && (1..=self.side).contains(&y);
            if inside { self.values[(y - 1) * self.side + x - 1] - level } else { -1e300 }
        };
        let up = |x: usize, y: usize| value(x, y) > 0.0;
        let mut next: BTreeMap<Edge, Edge> = BTreeMap::new();
        for y in 0..side - 1 {
            for x in 0..side - 1 {
                let at = y * side + x;
                let [top, left, bottom, right] =
                    [(at, false), (at, true), (at + side, false), (at + 1, true)];
                let corners = [up(x, y), up(x + 1, y), up(x + 1, y + 1), up(x, y + 1)];
                let code = corners.iter().enumerate().map(|(bit, &up)| usize::from(up) << bit).sum::<usize>();
                let middle = value(x, y) + value(x + 1, y) + value(x + 1, y + 1) + value(x, y + 1) > 0.0;
                // The region is to the right of each step.
                let steps: &[(Edge, Edge)] = &match code {
                    1 => [(left, top), (left, top)],
                    2 => [(top, right), (top, right)],
                    3 => [(left, right), (left, right)],
                    4 => [(right, bottom), (right, bottom)],
                    5 if middle => [(right, top), (left, bottom)],
                    5 => [(left, top), (right, bottom)],
                    6 => [(top, bottom), (top, bottom)],
                    7 => [(left, bottom), (left, bottom)],
                    8 => [(bottom, left), (bottom, left)],
                    9 => [(bottom, top), (bottom, top)],
                    10 if middle => [(top, left), (bottom, right)],
                    10 => [(top, right), (bottom, left)],
                    11 => [(bottom, right), (bottom, right)],
                    12 => [(right, left), (right, left)],
                    13 => [(right, top), (right, top)],
                    14 => [(top, left), (top, left)],
                    _ => continue,
                };
                next.extend(steps.iter().copied());
            }
        }
        let crossing = |(at, down): Edge| {
            let (x, y) = (at % side, at / side);
            let (first, last) = (value(x, y), if down { value(x, y + 1) } else { value(x + 1, y) });
            let share = first / (first - last);
            let (x, y) = (x as f64 - 1.0, y as f64 - 1.0);
            if down { place(x, y + share) } else { place(x + share, y) }
        };
        let mut path = String::new();
        while let Some((&start, _)) = next.first_key_value() {
            let mut edge = start;
            let mut head = 'M';
            while let Some(following) = next.remove(&edge) {
                let (x, y) = crossing(edge);
                let _ = write!(path, "{head}{x:.1} {y:.1}");
                head = if head == 'M' { 'L' } else { ' ' };
                edge = following;
            }
            path.push('z');
        }
        path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(side: usize, value: impl Fn(f64, f64) -> f64) -> Field {
        let at = |place: usize| value((place % side) as f64, (place / side) as f64);
        Field { side, values: (0..side * side).map(at).collect() }
    }

    /// Returns the area inside a path by the shoelace formula; loops end in `z`.
    fn area(path: &str) -> f64 {
        let mut sum = 0.0;
        for outline in path.split('z').filter(|outline| !outline.is_empty()) {
            let numbers: Vec<f64> =
                outline.replace(['M', 'L'], " ").split_whitespace().map(|n| n.parse().unwrap()).collect();
            let points: Vec<&[f64]> = numbers.chunks(2).collect();
            for (place, a) in points.iter().enumerate() {
                let b = points[(place + 1) % points.len()];
                sum += (a[0] * b[1] - a[1] * b[0]) / 2.0;
            }
        }
        sum.abs()
    }

    #[test]
    fn the_region_above_a_level_has_its_area() {
        let cone = field(41, |x, y| 15.0 - (x - 20.0).hypot(y - 20.0));
        let disc = area(&cone.above(5.0, |x, y| (x, y)));
        assert!((disc / (std::f64::consts::PI * 100.0) - 1.0).abs() < 0.01, "{disc}");
        // A ring: the hole turns the other way.
        let ring = field(41, |x, y| 5.0 - ((x - 20.0).hypot(y - 20.0) - 10.0).abs());
        let ring = area(&ring.above(2.0, |x, y| (x, y)));
        assert!((ring / (std::f64::consts::PI * (169.0 - 49.0)) - 1.0).abs() < 0.01, "{ring}");
    }

    #[test]
    fn a_field_that_is_all_above_or_all_below_is_a_square_or_nothing() {
        assert!((area(&field(11, |_, _| 1.0).above(0.0, |x, y| (x, y))) - 100.0).abs() < 0.1);
        assert_eq!(field(11, |_, _| -1.0).above(0.0, |x, y| (x, y)), "");
    }

    #[test]
    fn saddles_are_closed() {
        let chess = field(9, |x, y| if (x + y) % 2.0 == 0.0 { 1.0 } else { -1.0 });
        let path = chess.above(0.0, |x, y| (x, y));
        assert!(path.ends_with('z') && path.matches('M').count() == path.matches('z').count());
    }
}
