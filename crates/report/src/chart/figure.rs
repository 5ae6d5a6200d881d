//! Figures: panels with a title, an alternative text and a caption.

use std::fmt::Write;

use super::canvas::{Area, Canvas, number};
use super::ink::{Ink, in_light};
use super::text::escape;

/// A figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// The name of its file and its anchor in the page.
    pub slug: String,
    /// Its title.
    pub title: String,
    /// Its alternative text for screen readers.
    pub description: String,
    /// Its caption: content, and how to read it.
    pub caption: String,
    /// The number of panels side by side in a file.
    pub columns: usize,
    /// The panels.
    pub panels: Vec<Canvas>,
}

const FACE: &str = "system-ui,-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif";

impl Figure {
    /// Renders the figure as HTML. The page arranges the panels and sets the colours.
    pub fn html(&self) -> String {
        let mut out = format!("<figure id=\"{}\"><h3>{}</h3>", escape(&self.slug), escape(&self.title));
        for (place, panel) in self.panels.iter().enumerate() {
            let id = format!("{}-{}", escape(&self.slug), place + 1);
            let title = if panel.title.is_empty() {
                self.title.clone()
            } else {
                format!("{}: {}", self.title, panel.title)
            };
            let (width, height) = (number(panel.width), number(panel.height));
            let _ = write!(
                out,
                "<svg viewBox=\"0 0 {width} {height}\" style=\"flex:0 1 {width}px\" role=\"img\" aria-labelledby=\"{id}-t {id}-d\"><title id=\"{id}-t\">{}</title>\
                 <desc id=\"{id}-d\">{}</desc>{}</svg>",
                escape(&title),
                escape(&self.description),
                panel.body()
            );
        }
        let _ = write!(out, "<figcaption>{}</figcaption></figure>", escape(&self.caption));
        out
    }

    /// Renders the figure as an SVG file on white, with fixed colours that every program supports.
    pub fn svg(&self) -> String {
        const GAP: f64 = 28.0;
        let columns = self.columns.clamp(1, self.panels.len().max(1));
        let (mut body, mut width, mut top) = (String::new(), 0.0_f64, GAP);
        // Columns are as wide as their widest panel, so that rows line up.
        let widest = |column: usize| {
            let panels = self.panels.iter().skip(column).step_by(columns);
            panels.map(|panel| panel.width).fold(0.0, f64::max)
        };
        for row in self.panels.chunks(columns) {
            let mut left = GAP;
            for (column, panel) in row.iter().enumerate() {
                let _ = write!(
                    body,
                    "<g transform=\"translate({} {})\">{}</g>",
                    number(left),
                    number(top),
                    panel.body()
                );
                left += widest(column) + GAP;
            }
            width = width.max(left);
            top += row.iter().map(|panel| panel.height).fold(0.0, f64::max) + GAP;
        }
        let mut paper = Canvas::new("", width, top);
        paper.rectangle(Area { left: 0.0, top: 0.0, width, height: top }, Ink::Paper, 1.0);
        let (width, height) = (number(width), number(top));
        in_light(&format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" font-family=\"{FACE}\" role=\"img\" \
             aria-labelledby=\"t d\"><title id=\"t\">{}</title><desc id=\"d\">{}</desc>{}{body}</svg>\n",
            escape(&self.title),
            escape(&self.description),
            paper.body()
        ))
    }
}
