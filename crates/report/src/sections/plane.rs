//! Trials in the plane of the first two principal components of their features.

use std::fmt::Write;

use fedspd_run::{Plane, Unit};

use crate::LoadedRun;
use crate::chart::{Anchor, Figure, Ink, Letters, Plot, Scale, Stroke, spread};
use crate::words::class;

/// Largest number of trials drawn. More are thinned evenly, because the page must stay small and
/// more dots would merge.
const MOST: usize = 2400;

/// Mean and covariance of the trials of a class.
struct Cloud {
    mean: [f64; 2],
    /// The covariance: xx, xy, yy.
    spread: [f64; 3],
}

fn cloud(points: &[[f64; 2]]) -> Cloud {
    let count = points.len().max(1) as f64;
    let mean = [0, 1].map(|axis| points.iter().map(|point| point[axis]).sum::<f64>() / count);
    let moment = |a: usize, b: usize| {
        points.iter().map(|point| (point[a] - mean[a]) * (point[b] - mean[b])).sum::<f64>() / count
    };
    Cloud { mean, spread: [moment(0, 0), moment(0, 1), moment(1, 1)] }
}

impl Cloud {
    /// Returns the ellipse of one standard deviation, from the Cholesky factor of the covariance.
    fn outline(&self) -> Vec<[f64; 2]> {
        let [xx, xy, yy] = self.spread;
        let a = xx.max(0.0).sqrt();
        let b = if a > 0.0 { xy / a } else { 0.0 };
        let c = (yy - b * b).max(0.0).sqrt();
        (0..=48)
            .map(|step| {
                let (sine, cosine) = (f64::from(step) * std::f64::consts::TAU / 48.0).sin_cos();
                [self.mean[0] + a * cosine, self.mean[1] + b * cosine + c * sine]
            })
            .collect()
    }
}

pub(super) fn figure(run: &LoadedRun, unit: Unit, plane: &Plane) -> Option<Figure> {
    if !plane.points.iter().any(|point| point[0].is_finite() && point[1].is_finite()) {
        return None;
    }
    let stride = plane.points.len().div_ceil(MOST);
    let label = Letters::LABEL;
    let names: Vec<String> = run.manifest.classes.iter().map(|name| class(name)).collect();
    let widest = names.iter().map(|name| label.width(name)).fold(0.0, f64::max);
    let axis = |place: usize| {
        // The outermost 1% would squeeze all others. Trials off the axes are counted, not drawn.
        let mut values: Vec<f64> =
            plane.points.iter().map(|point| point[place]).filter(|value| value.is_finite()).collect();
        values.sort_by(f64::total_cmp);
        let cut = values.len() / 200;
        let (low, high) = (values[cut], values[values.len() - 1 - cut]);
        let room = 0.04 * (high - low);
        Scale::linear(low - room, high + room)
    };
    let title = |place: usize| {
        format!("component {} ({:.0}% of variance)", place + 1, 100.0 * plane.explained[place])
    };
    let (x_title, y_title) = (title(0), title(1));
    let mut plot = Plot::new("", (&x_title, axis(0)), (&y_title, axis(1)), (460.0, 330.0), widest + 34.0);
    let mut off = 0;
    let mut clouds = Vec::new();
    for number in 0..names.len() {
        let own: Vec<[f64; 2]> = plane
            .points
            .iter()
            .zip(&plane.classes)
            .filter(|(_, class)| **class == number)
            .map(|(point, _)| *point)
            .collect();
        let mut path = String::new();
        for point in own.iter().step_by(stride) {
            match plot.at(point[0], point[1]) {
                Some((x, y)) => {
                    let _ = write!(path, "M{x:.1} {y:.1}h0");
                }
                None => off += 1,
            }
        }
        plot.canvas.dots(&path, Ink::Series(number), 3.4, 0.45);
        if !own.is_empty() {
            clouds.push((number, cloud(&own)));
        }
    }
    let mut ends = Vec::new();
    for (number, cloud) in &clouds {
        let outline: Vec<(f64, f64)> =
            cloud.outline().iter().filter_map(|point| plot.at(point[0], point[1])).collect();
        plot.canvas.path(&outline, Stroke::series(*number));
        if let Some(at) = plot.at(cloud.mean[0], cloud.mean[1]) {
            plot.canvas.marker(at, *number, 4.5, 1.0);
            ends.push((*number, at));
        }
    }
    // Class names are in the margin, in the order of the class means, each with its marker.
    let area = plot.area;
    let places = spread(
        &ends.iter().map(|(_, at)| at.1).collect::<Vec<_>>(),
        20.0,
        area.top + 6.0,
        area.top + area.height - 6.0,
    );
    let left = area.left + area.width + 14.0;
    for ((number, _), y) in ends.iter().zip(places) {
        plot.canvas.marker((left, y), *number, 4.0, 1.0);
        plot.canvas.text((left + 10.0, y + 4.0), &names[*number], label.at(Anchor::Start));
    }
    let thinned = if stride > 1 { format!(" One in {stride} trials is drawn.") } else { String::new() };
    let beyond = if off > 0 { format!(" Trials beyond the axes, not drawn: {off}.") } else { String::new() };
    Some(Figure {
        slug: "plane".into(),
        title: "Principal components of the trials".into(),
        description: format!(
            "{} training trials of {} classes in two dimensions that explain {:.0} percent of the variance.",
            plane.points.len(),
            names.len(),
            100.0 * (plane.explained[0] + plane.explained[1])
        ),
        caption: format!(
            "Principal components of the input features of the last layer (logarithms of the mapped covariances), for training trials. Small dots are trials, large marks are class means, lines are one standard deviation around them. Classes that overlap \
             here may still be separate in other dimensions. Clusters that are not classes are usually subjects. From {unit}.{thinned}{beyond}"
        ),
        columns: 1,
        panels: vec![plot.canvas],
    })
}
