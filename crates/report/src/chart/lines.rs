//! Line charts: curves with bands, labelled at their ends.

use super::axes::{Axis, PANEL, Plot};
use super::canvas::{Canvas, Stroke};
use super::letters::Letters;
use super::text::spread;
use super::{Ink, Scale};

/// A curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Its name.
    pub name: String,
    /// Its colour, dash and marker, by number.
    pub style: usize,
    /// Whether it is a reference for other curves: drawn thin and dotted, without a mark at its
    /// end.
    pub behind: bool,
    /// Its points from left to right.
    pub points: Vec<Point>,
}

/// A point of a curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// The horizontal coordinate.
    pub x: f64,
    /// The vertical coordinate.
    pub y: f64,
    /// The ends of its band.
    pub band: Option<(f64, f64)>,
}

impl Point {
    /// A point without a band.
    pub fn new(x: f64, y: f64) -> Self {
        Self { x, y, band: None }
    }

    /// Adds a band of this deviation on either side; none if it is not finite.
    pub fn within(self, deviation: f64) -> Self {
        let band = deviation.is_finite().then_some((self.y - deviation, self.y + deviation));
        Self { band, ..self }
    }
}

/// A reference level.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    /// Its name.
    pub name: String,
    /// Its value.
    pub y: f64,
}

/// A line chart.
#[derive(Clone, Debug)]
pub struct Lines<'a> {
    /// Heading that distinguishes the panel from its neighbours; may be empty.
    pub heading: &'a str,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// Reference levels.
    pub references: &'a [Reference],
}

/// Largest width of names at the ends of curves; longer ones go to a legend below the plot.
const WIDEST_LABEL: f64 = 150.0;

/// Dashes of reference levels.
const LEVELS: [&str; 5] = ["3 3", "9 3", "1 2.5", "9 3 2 3", "5 2 1 2 1 2"];

/// Largest number of points that a curve marks one by one.
const FEW: usize = 12;

impl Lines<'_> {
    /// Draws the curves.
    pub fn draw(&self, series: &[Series]) -> Canvas {
        let points = || series.iter().flat_map(|series| &series.points);
        let x = self.x.scale.unwrap_or_else(|| {
            let exact = Scale::around(points().map(|point| point.x), self.x.log);
            let last = points().map(|point| point.x).fold(f64::NAN, f64::max);
            // The axis ends where the curves end, so that their names follow directly.
            if self.x.log || !last.is_finite() { exact } else { Scale::linear(exact.ends().0, last) }
        });
        let bands = points().flat_map(|point| point.band.map_or([point.y; 2], |(low, high)| [low, high]));
        let y = self.y.scale_for(bands.chain(self.references.iter().map(|level| level.y)));
        let label = Letters::LABEL;
        let names =
            series.iter().map(|series| &series.name).chain(self.references.iter().map(|level| &level.name));
        let widest = names.map(|name| label.width(name)).fold(0.0, f64::max);
        let direct = widest <= WIDEST_LABEL;
        let (width, height) = PANEL;
        let legend = if direct { 0.0 } else { 18.0 * (series.len() + self.references.len()) as f64 };
        let right = if direct { widest + 22.0 } else { 14.0 };
        let mut plot =
            Plot::new(self.heading, (&self.x.label, x), (&self.y.label, y), (width, height), right);
        for series in series {
            band(&mut plot, series);
        }
        let mut ends: Vec<(&str, f64, Stroke)> = Vec::new();
        let mut early: Vec<(&str, (f64, f64), Ink)> = Vec::new();
        for (place, level) in self.references.iter().enumerate() {
            let dash = LEVELS[place % LEVELS.len()];
            let stroke = Stroke { ink: Ink::Muted, width: 1.2, dash };
            if let Some(at) = plot.y(level.y) {
                let (left, right) = (plot.area.left, plot.area.left + plot.area.width);
                plot.canvas.line((left, at), (right, at), stroke);
                ends.push((&level.name, at, stroke));
            }
        }
        for series in series {
            let places: Vec<(f64, f64)> =
                series.points.iter().filter_map(|point| plot.at(point.x, point.y)).collect();
            let stroke = Stroke::series(series.style);
            let stroke = if series.behind { Stroke { width: 1.1, dash: "1 2.5", ..stroke } } else { stroke };
            plot.canvas.path(&places, stroke);
            // Short curves, such as those of a sweep, mark every point; long ones mark only the
            // end.
            let marked = if places.len() <= FEW { 0 } else { places.len() - 1 };
            for &place in places.iter().skip(marked).filter(|_| !series.behind) {
                plot.canvas.marker(place, series.style, 3.0, 1.0);
            }
            if let Some(&(x, y)) = places.last() {
                // A curve that ends before the axis is labelled at its end.
                if direct && x + label.width(&series.name) + 16.0 < plot.area.left + plot.area.width {
                    early.push((&series.name, (x + 9.0, y), Ink::Series(series.style)));
                } else {
                    ends.push((&series.name, y, stroke));
                }
            }
        }
        let heights: Vec<f64> = early.iter().map(|(_, at, _)| at.1).collect();
        let (top, bottom) = (plot.area.top, plot.area.top + plot.area.height);
        for ((name, (x, _), ink), y) in early.into_iter().zip(spread(&heights, 16.0, top, bottom)) {
            plot.canvas.text((x, y + 4.0), name, Letters { ink, halo: true, ..label });
        }
        if direct {
            name_ends(&mut plot, &ends);
        } else {
            legend_below(&mut plot.canvas, &ends, legend);
        }
        plot.canvas
    }
}

fn band(plot: &mut Plot, series: &Series) {
    // Bands are clipped at the axes.
    let (low, high) = (plot.area.top + plot.area.height, plot.area.top);
    let edge = |value: f64, beyond: f64| plot.y(value).unwrap_or(beyond);
    let sides: Vec<(f64, f64, f64)> = series
        .points
        .iter()
        .filter_map(|point| {
            let (bottom, top) = point.band?;
            Some((plot.x(point.x)?, edge(bottom, low), edge(top, high)))
        })
        .collect();
    let there = sides.iter().map(|&(x, bottom, _)| (x, bottom));
    let back = sides.iter().rev().map(|&(x, _, top)| (x, top));
    let outline: Vec<(f64, f64)> = there.chain(back).collect();
    if outline.len() > 2 {
        plot.canvas.polygon(&outline, Ink::Series(series.style), 0.16);
    }
}

/// Writes names next to the ends of the curves, without overlap, each joined to its end.
fn name_ends(plot: &mut Plot, ends: &[(&str, f64, Stroke)]) {
    let wanted: Vec<f64> = ends.iter().map(|end| end.1).collect();
    let right = plot.area.left + plot.area.width;
    let places = spread(&wanted, 16.0, plot.area.top + 2.0, plot.area.top + plot.area.height - 2.0);
    for (&(name, end, stroke), place) in ends.iter().zip(places) {
        if (place - end).abs() > 2.0 {
            plot.canvas.line(
                (right + 5.0, end),
                (right + 15.0, place),
                Stroke { width: 0.8, dash: "", ..stroke },
            );
        }
        plot.canvas.text((right + 18.0, place + 4.0), name, Letters::LABEL.in_ink(stroke.ink));
    }
}

/// Adds a legend below the plot, one line for each name, and enlarges the canvas.
fn legend_below(canvas: &mut Canvas, ends: &[(&str, f64, Stroke)], height: f64) {
    let top = canvas.height + 4.0;
    canvas.height += height + 4.0;
    for (place, &(name, _, stroke)) in ends.iter().enumerate() {
        let y = top + 10.0 + 18.0 * place as f64;
        canvas.line((0.0, y - 4.0), (26.0, y - 4.0), stroke);
        canvas.text((34.0, y), name, Letters::LABEL);
    }
}
