//! Small SVG chart library: scales with round ticks, lines with bands, rows of dots, matrices, and
//! figures.
//!
//! There is no plotting crate, because little is needed and the requirements are special. Bytes
//! must be the same on every machine, colours must follow the page's theme, and charts must be
//! legible on a phone. Panels are therefore small and many. A page arranges them by its width; a
//! file puts them side by side.
//!
//! Colours are roles ([`Ink`]); a page gives them values for light and dark. Series differ in
//! colour, dash and marker, so that they stay distinct in print without colours and for any colour
//! vision.
//!
//! ```
//! use fedspd_report::chart::{Axis, Figure, Lines, Point, Series};
//! let points = (1..=10).map(|round| Point::new(f64::from(round), 25.0 + f64::from(round)).within(1.5));
//! let series = [Series { name: "ProjAvg".into(), style: 0, behind: false, points: points.collect() }];
//! let chart = Lines { heading: "All clients", x: Axis::new("round"), y: Axis::new("test F1, %"), references: &[] };
//! let figure = Figure {
//!     slug: "convergence".into(),
//!     title: "Test F1 by round".into(),
//!     description: "F1 rises from 26 to 35 percent.".into(),
//!     caption: "The line is the mean over seeds, the band one standard deviation.".into(),
//!     columns: 1,
//!     panels: vec![chart.draw(&series)],
//! };
//! assert!(figure.svg().starts_with("<svg ") && figure.html().contains("<figcaption>"));
//! ```

mod axes;
mod canvas;
mod figure;
mod ink;
mod letters;
mod lines;
mod matrix;
mod rows;
mod scale;
mod text;

pub use axes::{Axis, Plot};
pub use canvas::{Area, Canvas, Stroke};
pub use figure::Figure;
pub use ink::{Ink, SERIES, theme};
pub use letters::{Anchor, Letters};
pub use lines::{Lines, Point, Reference, Series};
pub use matrix::Matrix;
pub use rows::{Row, Rows};
pub use scale::{Scale, Tick};
pub use text::{escape, spread, width};
