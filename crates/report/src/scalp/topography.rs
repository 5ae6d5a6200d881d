//! Scalp maps: a head seen from above with the values of its electrodes.

use std::fmt::Write;

use super::contour::Field;
use super::montage::{Direction, position};
use super::spline::Spline;
use crate::chart::{Anchor, Area, Canvas, Ink, Letters, Stroke};

/// A head seen from above, nose up. The rim is the level of nasion, ears and inion; the distance
/// from the centre is the angle from the vertex.
pub struct Topography {
    places: Vec<Direction>,
    /// The indices of the drawn channels.
    channels: Vec<usize>,
    /// Channels that are not drawn: names outside the 10-05 system, or positions already taken.
    pub unknown: Vec<String>,
}

/// Levels of the colour bands, as shares of the largest value.
const LEVELS: [f64; 5] = [0.1, 0.3, 0.5, 0.7, 0.9];
/// Opacity that each band adds to the one below it.
const SHADE: f64 = 0.24;
/// Grid points per side; a finer grid is not visible in a head of this size.
const GRID: usize = 36;
/// The head's radius.
const RADIUS: f64 = 55.0;
/// The size of a panel.
const WIDTH: f64 = 140.0;
const HEIGHT: f64 = 166.0;

impl Topography {
    /// Makes a scalp map of channels by name; none if fewer than four are known, which are too few
    /// to interpolate.
    pub fn new(channels: &[String]) -> Option<Self> {
        let (mut places, mut known, mut unknown) = (Vec::new(), Vec::new(), Vec::new());
        for (channel, name) in channels.iter().enumerate() {
            match position(name) {
                // An old name and its new one have the same position: the first counts.
                Some(place) if !places.contains(&place) => {
                    places.push(place);
                    known.push(channel);
                }
                _ => unknown.push(name.clone()),
            }
        }
        (places.len() >= 4).then_some(Self { places, channels: known, unknown })
    }

    /// Draws the head with these values, one for each channel, between -1 and 1. `name` must be
    /// unique in the document.
    pub fn draw(&self, name: &str, heading: &str, note: &str, values: &[f64]) -> Canvas {
        let values: Vec<f64> = self.channels.iter().map(|&channel| values[channel]).collect();
        let mut canvas = Canvas::new(heading, WIDTH, HEIGHT);
        let centre = (WIDTH / 2.0, 85.0);
        let middle = |letters: Letters| letters.at(Anchor::Middle);
        canvas.text((centre.0, 12.0), heading, middle(Letters { bold: true, ..Letters::LABEL }));
        if let Some(field) = self.field(&values) {
            let step = 2.0 * RIM * RADIUS / (GRID - 1) as f64;
            let place =
                |x: f64, y: f64| (centre.0 - RIM * RADIUS + step * x, centre.1 - RIM * RADIUS + step * y);
            let mut bands = Canvas::new("", WIDTH, HEIGHT);
            let opposite = Field { side: GRID, values: field.values.iter().map(|value| -value).collect() };
            for (field, ink) in [(&field, Ink::Series(1)), (&opposite, Ink::Series(0))] {
                for level in LEVELS {
                    let path = field.above(level, place);
                    if !path.is_empty() {
                        bands.fill(&path, ink, SHADE);
                    }
                }
            }
            canvas.within_circle(name, centre, RADIUS, &bands);
        }
        outline(&mut canvas, centre);
        let mut dots = String::new();
        for place in &self.places {
            let (x, y) = flat(place);
            let _ = write!(dots, "M{:.1} {:.1}h0", centre.0 + RADIUS * x, centre.1 - RADIUS * y);
        }
        canvas.dots(&dots, Ink::Text, 1.7, 0.55);
        canvas.text((centre.0, HEIGHT - 8.0), note, middle(Letters::NOTE));
        canvas
    }

    fn field(&self, values: &[f64]) -> Option<Field> {
        let spline = Spline::through(&self.places, values)?;
        let at = |place: usize| {
            let coordinate = |index: usize| RIM * (2.0 * index as f64 / (GRID - 1) as f64 - 1.0);
            spline.at(&round(coordinate(place % GRID), -coordinate(place / GRID)))
        };
        Some(Field { side: GRID, values: (0..GRID * GRID).map(at).collect() })
    }
}

/// Extent of the grid in radii: slightly beyond the rim, so that clipping leaves no visible edge.
const RIM: f64 = 1.06;

/// Projects a direction onto the drawing of a head of radius 1 (azimuthal equidistant).
fn flat([x, y, z]: &Direction) -> (f64, f64) {
    let across = x.hypot(*y);
    if across < 1e-12 {
        return (0.0, 0.0);
    }
    let distance = across.atan2(*z) / std::f64::consts::FRAC_PI_2;
    (distance * x / across, distance * y / across)
}

/// Returns the direction that is drawn at a point: the inverse of `flat`.
fn round(x: f64, y: f64) -> Direction {
    let distance = x.hypot(y);
    if distance < 1e-12 {
        return [0.0, 0.0, 1.0];
    }
    let (sine, cosine) = (distance * std::f64::consts::FRAC_PI_2).sin_cos();
    [sine * x / distance, sine * y / distance, cosine]
}

/// Draws rim, nose and ears.
fn outline(canvas: &mut Canvas, (x, y): (f64, f64)) {
    let stroke = Stroke { ink: Ink::Muted, width: 1.3, dash: "" };
    let r = RADIUS;
    canvas.outline(
        &format!("M{:.1} {y:.1}a{r} {r} 0 1 0 {:.1} 0a{r} {r} 0 1 0 -{:.1} 0z", x - r, 2.0 * r, 2.0 * r),
        stroke,
    );
    let (top, side) = (y - r, 8.0);
    canvas.outline(
        &format!(
            "M{:.1} {:.1}L{x:.1} {:.1}L{:.1} {:.1}",
            x - side,
            top + 0.6,
            top - 9.0,
            x + side,
            top + 0.6
        ),
        stroke,
    );
    for (edge, out) in [(x - r, -1.0), (x + r, 1.0)] {
        canvas.outline(
            &format!(
                "M{edge:.1} {:.1}c{:.1} -5 {:.1} -5 {:.1} 10c0 15 {:.1} 16 {:.1} 10",
                y - 10.0,
                out * 4.0,
                out * 7.0,
                out * 7.0,
                out * -3.0,
                out * -7.0
            ),
            stroke,
        );
    }
}

/// Draws the colour key, from the most negative band to the most positive.
pub(crate) fn key() -> Canvas {
    let (cell, height) = (12.0, 12.0);
    let count = 2 * LEVELS.len() + 1;
    let width = cell * count as f64;
    let mut canvas = Canvas::new("colours", WIDTH, 44.0);
    let left = (WIDTH - width) / 2.0;
    for place in 0..count {
        let bands = place.abs_diff(LEVELS.len());
        let opacity = 1.0 - (1.0 - SHADE).powf(bands as f64);
        let ink = Ink::Series(usize::from(place > LEVELS.len()));
        canvas.rectangle(
            Area { left: left + cell * place as f64, top: 4.0, width: cell - 1.0, height },
            ink,
            opacity,
        );
    }
    for (x, text, anchor) in
        [(left, "−1", Anchor::Start), (WIDTH / 2.0, "0", Anchor::Middle), (left + width, "1", Anchor::End)]
    {
        canvas.text((x, 30.0), text, Letters::NOTE.at(anchor));
    }
    canvas
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drawing_and_sphere_are_inverse_to_each_other() {
        for name in ["Cz", "Fpz", "T7", "PO8", "Iz", "FT9"] {
            let place = position(name).unwrap();
            let (x, y) = flat(&place);
            let back = round(x, y);
            assert!(place.iter().zip(back).all(|(a, b)| (a - b).abs() < 1e-12), "{name}");
        }
        assert_eq!(flat(&position("Cz").unwrap()), (0.0, 0.0));
        let (x, y) = flat(&position("T9").unwrap());
        assert!((x + 1.0).abs() < 1e-12 && y.abs() < 1e-12, "the ear is on the rim");
    }

    #[test]
    fn channels_that_are_not_known_are_told_and_not_guessed() {
        let names = ["C3", "Cz", "EOG", "C4", "Pz", "T7", "T3"].map(String::from);
        let head = Topography::new(&names).unwrap();
        assert_eq!(head.unknown, ["EOG", "T3"]);
        let canvas = head.draw("a", "1", "", &[1.0, 0.0, 9.0, -1.0, 0.0, 0.5, 9.0]);
        assert_eq!(canvas.body(), head.draw("a", "1", "", &[1.0, 0.0, -9.0, -1.0, 0.0, 0.5, -9.0]).body());
        assert!(Topography::new(&["X1", "C3", "C4", "Cz"].map(String::from)).is_none());
    }
}
