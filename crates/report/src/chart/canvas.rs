//! Drawings made of SVG elements.

use std::fmt::Write;

use super::Ink;
use super::ink::SERIES;
use super::letters::{Anchor, Letters};
use super::text::escape;

/// A drawing to which marks are added. Lengths are in its own pixels, from the upper left corner.
#[derive(Clone, Debug, PartialEq)]
pub struct Canvas {
    /// Its width.
    pub width: f64,
    /// Its height.
    pub height: f64,
    /// Its title for screen readers.
    pub title: String,
    body: String,
}

/// A rectangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Area {
    /// Its left edge.
    pub left: f64,
    /// Its upper edge.
    pub top: f64,
    /// Its width.
    pub width: f64,
    /// Its height.
    pub height: f64,
}

/// A line's colour, width and dash.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stroke {
    /// Its colour.
    pub ink: Ink,
    /// Its width.
    pub width: f64,
    /// Lengths of dashes and gaps; solid if empty.
    pub dash: &'static str,
}

impl Stroke {
    /// A thin grid line.
    pub const RULE: Self = Self { ink: Ink::Rule, width: 1.0, dash: "" };

    /// The line of a series.
    pub fn series(number: usize) -> Self {
        let ink = Ink::Series(number);
        Self { ink, width: 1.8, dash: ink.dash() }
    }

    fn write(self, out: &mut String) {
        let _ = write!(out, " stroke=\"{}\" stroke-width=\"{}\"", self.ink.css(), number(self.width));
        if !self.dash.is_empty() {
            let _ = write!(out, " stroke-dasharray=\"{}\"", self.dash);
        }
    }
}

impl Canvas {
    /// Makes an empty drawing.
    pub fn new(title: impl Into<String>, width: f64, height: f64) -> Self {
        Self { width, height, title: title.into(), body: String::new() }
    }

    /// The marks as SVG elements.
    pub fn body(&self) -> &str {
        &self.body
    }

    /// Draws a straight line.
    pub fn line(&mut self, from: (f64, f64), to: (f64, f64), stroke: Stroke) {
        self.path(&[from, to], stroke);
    }

    /// Draws a line through points.
    pub fn path(&mut self, points: &[(f64, f64)], stroke: Stroke) {
        self.outline(&trace(points), stroke);
    }

    /// Draws the outline of an SVG path.
    pub fn outline(&mut self, path: &str, stroke: Stroke) {
        let _ = write!(self.body, "<path d=\"{path}\" fill=\"none\"");
        stroke.write(&mut self.body);
        self.body.push_str(" stroke-linejoin=\"round\"/>");
    }

    /// Fills an SVG path by the even-odd rule.
    pub fn fill(&mut self, path: &str, ink: Ink, opacity: f64) {
        let _ = write!(self.body, "<path d=\"{path}\" fill=\"{}\" fill-rule=\"evenodd\"", ink.css());
        self.opacity(opacity);
    }

    /// Draws a filled polygon.
    pub fn polygon(&mut self, points: &[(f64, f64)], ink: Ink, opacity: f64) {
        self.fill(&(trace(points) + "z"), ink, opacity);
    }

    /// Draws a filled rectangle.
    pub fn rectangle(&mut self, area: Area, ink: Ink, opacity: f64) {
        let Area { left, top, width, height } = area;
        let [left, top, width, height] = [left, top, width, height].map(number);
        let _ = write!(
            self.body,
            "<rect x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height}\" fill=\"{}\"",
            ink.css()
        );
        self.opacity(opacity);
    }

    fn opacity(&mut self, opacity: f64) {
        if opacity < 1.0 {
            let _ = write!(self.body, " fill-opacity=\"{}\"", number(opacity));
        }
        self.body.push_str("/>");
    }

    /// Draws the marker of a series: disc, square, triangle, diamond, ring, or ring filled with the
    /// background colour.
    pub fn marker(&mut self, (x, y): (f64, f64), series: usize, size: f64, opacity: f64) {
        let (ink, r) = (Ink::Series(series), size);
        // When colours repeat, the shape changes.
        match (series + series / SERIES) % SERIES {
            1 => {
                self.polygon(&[(x - r, y - r), (x + r, y - r), (x + r, y + r), (x - r, y + r)], ink, opacity);
            }
            2 => self.polygon(&[(x, y - 1.25 * r), (x + 1.2 * r, y + r), (x - 1.2 * r, y + r)], ink, opacity),
            3 => self.polygon(
                &[(x, y - 1.4 * r), (x + 1.4 * r, y), (x, y + 1.4 * r), (x - 1.4 * r, y)],
                ink,
                opacity,
            ),
            place => {
                let [cx, cy, r] = [x, y, r].map(number);
                let _ = write!(self.body, "<circle cx=\"{cx}\" cy=\"{cy}\" r=\"{r}\"");
                if place == 4 {
                    let _ =
                        write!(self.body, " fill=\"none\" stroke=\"{}\" stroke-width=\"1.5\"/>", ink.css());
                } else if place == 5 {
                    let _ = write!(
                        self.body,
                        " fill=\"{}\" stroke=\"{}\" stroke-width=\"1.5\"/>",
                        Ink::Paper.css(),
                        ink.css()
                    );
                } else {
                    let _ = write!(self.body, " fill=\"{}\"", ink.css());
                    self.opacity(opacity);
                }
            }
        }
    }

    /// Draws round dots at the points of a path of `M` and `h0`, the shortest form for many points.
    pub fn dots(&mut self, path: &str, ink: Ink, diameter: f64, opacity: f64) {
        let _ = write!(
            self.body,
            "<path d=\"{path}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\" stroke-linecap=\"round\" stroke-opacity=\"{}\"/>",
            ink.css(),
            number(diameter),
            number(opacity)
        );
    }

    /// Draws a text with its baseline at a position.
    pub fn text(&mut self, (x, y): (f64, f64), text: &str, letters: Letters) {
        let Letters { size, ink, anchor, bold, halo } = letters;
        let [x, y, size] = [x, y, size].map(number);
        let _ = write!(self.body, "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\" fill=\"{}\"", ink.css());
        match anchor {
            Anchor::Start => {}
            Anchor::Middle => self.body.push_str(" text-anchor=\"middle\""),
            Anchor::End => self.body.push_str(" text-anchor=\"end\""),
        }
        if bold {
            self.body.push_str(" font-weight=\"600\"");
        }
        if halo {
            let paper = Ink::Paper.css();
            let _ = write!(
                self.body,
                " stroke=\"{paper}\" stroke-width=\"4\" stroke-linejoin=\"round\" paint-order=\"stroke\""
            );
        }
        let _ = write!(self.body, ">{}</text>", escape(text));
    }

    /// Draws the marks of another drawing, clipped to a circle. `name` must be unique in the
    /// document.
    pub fn within_circle(&mut self, name: &str, (x, y): (f64, f64), radius: f64, marks: &Self) {
        let [cx, cy, r] = [x, y, radius].map(number);
        let name = escape(name);
        let _ = write!(
            self.body,
            "<clipPath id=\"{name}\"><circle cx=\"{cx}\" cy=\"{cy}\" r=\"{r}\"/></clipPath><g clip-path=\"url(#{name})\">{}</g>",
            marks.body
        );
    }
}

/// Formats a length with one or two decimals, without trailing zeros. Smaller differences are
/// invisible.
pub(crate) fn number(value: f64) -> String {
    let text = if value.abs() < 10.0 { format!("{value:.2}") } else { format!("{value:.1}") };
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".into() } else { text.into() }
}

/// Formats an SVG path through points.
pub(crate) fn trace(points: &[(f64, f64)]) -> String {
    let mut path = String::new();
    for (place, &(x, y)) in points.iter().enumerate() {
        path.push(match place {
            0 => 'M',
            1 => 'L',
            _ => ' ',
        });
        let _ = write!(path, "{x:.1} {y:.1}");
    }
    path
}
