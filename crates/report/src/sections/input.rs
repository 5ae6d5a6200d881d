//! Eigenvalues of the covariances, and the floor ε of ReEig.

use fedspd_run::{Interpretation, Spectrum, Unit};

use crate::LoadedRun;
use crate::chart::{Axis, Canvas, Figure, Lines, Point, Reference, Scale, Series};
use crate::words::digits;

/// Makes a curve of a spectrum: median and quantile band by eigenvalue index.
fn curve(name: &str, style: usize, spectrum: &Spectrum) -> Series {
    let values = spectrum.low.iter().zip(&spectrum.median).zip(&spectrum.high).enumerate();
    let point = |(place, ((&low, &median), &high)): (usize, ((&f64, &f64), &f64))| Point {
        x: place as f64 + 1.0,
        y: median,
        band: Some((low, high)),
    };
    Series { name: name.to_owned(), style, behind: false, points: values.map(point).collect() }
}

pub(super) fn figure(run: &LoadedRun, source: Unit, interpretation: &Interpretation) -> Figure {
    let unit = if run.manifest.alignment == "none" {
        run.manifest.unit.replace("uV^2", "µV²")
    } else {
        "dimensionless".into()
    };
    let panels: Vec<Canvas> = interpretation
        .inputs
        .iter()
        .map(|input| {
            let mut series = vec![curve("input", 0, &input.spectrum)];
            if input.mapped != input.spectrum {
                series.push(curve("after BiMap", 1, &input.mapped));
            }
            let floor = [Reference { name: format!("ε = {}", digits(input.epsilon)), y: input.epsilon }];
            let heading = if interpretation.inputs.len() > 1 { input.name.as_str() } else { "" };
            let last = input.spectrum.median.len().max(2) as f64;
            let x = Axis::on("index, smallest first", Scale::linear(1.0, last));
            Lines { heading, x, y: Axis::log(format!("eigenvalue, {unit}")), references: &floor }
                .draw(&series)
        })
        .collect();
    let shares = interpretation.inputs.iter().map(|input| {
        format!(
            "{}: {} percent of the mapped eigenvalues are below the floor of {}",
            input.name,
            digits(100.0 * input.clamped),
            digits(input.epsilon)
        )
    });
    let clamped = interpretation.inputs.iter().map(|input| input.clamped).fold(0.0, f64::max);
    let meaning = match clamped {
        share if share > 0.5 => {
            "ReEig raises more than half of them: the network sees little but the floor, and ε is too large for these data."
        }
        share if share > 0.0 => {
            "Raised eigenvalues carry no information; raising a few keeps the logarithm from diverging."
        }
        _ => "None is raised: ε has no effect here.",
    };
    Figure {
        slug: "spectra".into(),
        title: "Eigenvalues of the covariances and the floor ε".into(),
        description: format!(
            "Eigenvalues by index on a logarithmic axis. {}.",
            shares.collect::<Vec<_>>().join("; ")
        ),
        caption: format!(
            "The line is the median over training trials; the band covers 90% of them (5% to 95%). The smallest eigenvalue comes first. ReEig raises eigenvalues below ε to ε: {}% of the eigenvalues after BiMap. {meaning} From {source}.",
            digits(100.0 * clamped)
        ),
        columns: 2,
        panels,
    }
}
