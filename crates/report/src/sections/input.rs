//! Eigenvalues, and the floor they are raised to.

use fedspd_run::{Portrait, Spectrum};

use crate::Run;
use crate::chart::{Axis, Canvas, Figure, Lines, Point, Reference, Scale, Series};
use crate::words::digits;

/// A spectrum as a curve with its quantiles, in the order of the places.
fn curve(name: &str, style: usize, spectrum: &Spectrum) -> Series {
    let values = spectrum.low.iter().zip(&spectrum.median).zip(&spectrum.high).enumerate();
    let point = |(place, ((&low, &median), &high)): (usize, ((&f64, &f64), &f64))| Point {
        x: place as f64 + 1.0,
        y: median,
        band: Some((low, high)),
    };
    Series { name: name.to_owned(), style, behind: false, points: values.map(point).collect() }
}

pub(super) fn figure(run: &Run, seed: u64, portrait: &Portrait) -> Figure {
    let unit = if run.manifest.alignment == "none" {
        run.manifest.unit.replace("uV^2", "µV²")
    } else {
        "no unit".into()
    };
    let panels: Vec<Canvas> = portrait
        .inputs
        .iter()
        .map(|input| {
            let mut series = vec![curve("as they come in", 0, &input.spectrum)];
            if input.mapped != input.spectrum {
                series.push(curve("after BiMap", 1, &input.mapped));
            }
            let floor = [Reference { name: format!("ε = {}", digits(input.epsilon)), y: input.epsilon }];
            let heading = if portrait.inputs.len() > 1 { input.name.as_str() } else { "" };
            let last = input.spectrum.median.len().max(2) as f64;
            let x = Axis::on("place, smallest first", Scale::linear(1.0, last));
            Lines { heading, x, y: Axis::log(format!("eigenvalue, {unit}")), references: &floor }
                .draw(&series)
        })
        .collect();
    let shares = portrait.inputs.iter().map(|input| {
        format!(
            "{}: {} percent of the mapped eigenvalues are below the floor of {}",
            input.name,
            digits(100.0 * input.clamped),
            digits(input.epsilon)
        )
    });
    let clamped = portrait.inputs.iter().map(|input| input.clamped).fold(0.0, f64::max);
    let meaning = match clamped {
        share if share > 0.5 => {
            "More than half of them are raised: the network sees little but the floor, and ε is too large for these data."
        }
        share if share > 0.0 => {
            "Those that are raised carry no information any more; a few keep the logarithm from exploding."
        }
        _ => "None is raised: ε has no effect here.",
    };
    Figure {
        slug: "spectra".into(),
        title: "Eigenvalues of the covariances, and the floor ε".into(),
        description: format!(
            "Eigenvalues by place on a logarithmic axis. {}.",
            shares.collect::<Vec<_>>().join("; ")
        ),
        caption: format!(
            "The line is the median over training trials, the band holds nine tenths of them (5% to 95%), smallest eigenvalue first. ReEig raises what is below ε to ε: {}% of the eigenvalues after BiMap. {meaning} Seed {seed}.",
            digits(100.0 * clamped)
        ),
        columns: 2,
        panels,
    }
}
