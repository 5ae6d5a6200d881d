//! Interpretation of the network: scalp patterns, eigenvalues and principal components.

use fedspd_run::{InputInterpretation, Interpretation, Pattern, Unit};

use super::{Block, Section, input, plane};
use crate::LoadedRun;
use crate::chart::{Canvas, Figure};
use crate::scalp::Topography;
use crate::words::{class, list};

/// Number of columns shown: those with the largest weight in the last layer.
const COLUMNS: usize = 6;

pub(crate) fn section(runs: &[LoadedRun]) -> Section {
    let mut parts = Vec::new();
    let found = runs.iter().find_map(|run| Some((run, run.interpretation.as_ref()?)));
    if let Some((run, (unit, interpretation))) = found {
        if runs.len() > 1 {
            parts.push(Block::Text(format!(
                "The network of “{}”, {unit}. For the network of another run, make a report on that run alone.",
                run.label
            )));
        }
        parts.extend(patterns(run, *unit, interpretation));
        parts.extend(
            interpretation
                .inputs
                .iter()
                .any(|input| !input.spectrum.median.is_empty())
                .then(|| Block::Figure(input::figure(run, *unit, interpretation))),
        );
        parts.extend(plane::figure(run, *unit, &interpretation.plane).map(Block::Figure));
    } else {
        let whom = if runs.len() > 1 { "None of these runs has" } else { "This run has no" };
        let what = if runs.len() > 1 { " an interpretation" } else { " interpretation" };
        parts.push(Block::Text(format!(
            "{whom}{what} of its network, so patterns, eigenvalues and principal components are not shown. EEGNet, clients that train alone and runs of older versions have no interpretation."
        )));
    }
    Section { slug: "network", title: "Network interpretation", parts }
}

/// Draws scalp maps of columns and of classes.
fn patterns(run: &LoadedRun, unit: Unit, interpretation: &Interpretation) -> Vec<Block> {
    let Some(head) = Topography::new(&run.manifest.channels) else {
        return vec![Block::Text(
            "Fewer than four channels have names of the 10-05 system, so scalp patterns are not drawn."
                .into(),
        )];
    };
    let unknown = match head.unknown.len() {
        0 => String::new(),
        1 => format!(
            " Channel {} is not drawn: its name is not in the 10-05 system, or another channel has its position.",
            head.unknown[0]
        ),
        _ => format!(
            " Channels {} are not drawn: their names are not in the 10-05 system, or other channels have their positions.",
            list(&head.unknown)
        ),
    };
    let mut parts = Vec::new();
    for (place, input) in interpretation.inputs.iter().enumerate() {
        let several = interpretation.inputs.len() > 1;
        let of = if several { format!(", {}", input.name) } else { String::new() };
        if !input.classes.is_empty() {
            parts.push(Block::Figure(classes(run, &head, input, unit, (place, &of), &unknown)));
        }
        if !input.columns.is_empty() {
            parts.push(Block::Figure(columns(&head, input, unit, (place, &of), &unknown)));
        }
    }
    parts
}

/// The channel where a pattern is largest.
fn peak(run: &LoadedRun, pattern: &Pattern) -> String {
    let largest = pattern.channels.iter().enumerate().max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()));
    largest.map_or(String::new(), |(place, _)| run.manifest.channels[place].clone())
}

fn classes(
    run: &LoadedRun,
    head: &Topography,
    input: &InputInterpretation,
    unit: Unit,
    (place, of): (usize, &str),
    unknown: &str,
) -> Figure {
    let names: Vec<String> = run.manifest.classes.iter().map(|name| class(name)).collect();
    let map = |(number, (pattern, name)): (usize, (&Pattern, &String))| {
        let note = if pattern.weight < 0.0 { "power lowers score" } else { "power raises score" };
        head.draw(&format!("class-{place}-{number}"), name, note, &pattern.channels)
    };
    let panels: Vec<Canvas> = input.classes.iter().zip(&names).enumerate().map(map).collect();
    let peaks = input
        .classes
        .iter()
        .zip(&names)
        .map(|(pattern, name)| format!("{name}: largest at {}", peak(run, pattern)));
    Figure {
        slug: format!("class-patterns-{}", place + 1),
        title: format!("Scalp patterns of the classes{of}"),
        description: format!(
            "A head seen from above for each class. {}.",
            peaks.collect::<Vec<_>>().join("; ")
        ),
        caption: format!(
            "Each map shows, for one class, the direction with the largest weight in the last layer. It is drawn as the activity pattern C w, not as the filter w, which also cancels noise (Haufe et al. 2014). Heads are seen from above, nose up; dots are \
             electrodes. Orange and blue are opposite signs, which are arbitrary: look at where a map is strong and where it changes sign. The note below a head says whether more power of this activity raises or lowers the class score. \
             Values between electrodes are spherical splines. From {unit}.{unknown}"
        ),
        columns: panels.len().min(4),
        panels,
    }
}

fn columns(
    head: &Topography,
    input: &InputInterpretation,
    unit: Unit,
    (place, of): (usize, &str),
    unknown: &str,
) -> Figure {
    let shown = input.columns.iter().take(COLUMNS);
    let map = |(number, pattern): (usize, &Pattern)| {
        let note = format!("relevance {:.0}%", 100.0 * pattern.weight.abs());
        head.draw(
            &format!("column-{place}-{number}"),
            &format!("column {}", number + 1),
            &note,
            &pattern.channels,
        )
    };
    let mut panels: Vec<Canvas> = shown.enumerate().map(map).collect();
    let count = panels.len();
    panels.push(crate::scalp::key());
    Figure {
        slug: format!("column-patterns-{}", place + 1),
        title: format!("Scalp patterns of the BiMap columns{of}"),
        description: format!(
            "Heads seen from above for the {count} most relevant of {} columns of the BiMap weights.",
            input.columns.len()
        ),
        caption: format!(
            "The {count} of {} columns with the largest weight in the last layer, as activity patterns C W (WᵀCW)⁻¹, most relevant first. Relevance is relative to the largest. Only the space that all columns span together has a meaning, so look \
             for features that several columns share. A focus over C3, Cz or C4 is expected for hand and foot movement. A rim of strong values indicates muscle activity or movement. From {unit}.{unknown}",
            input.columns.len()
        ),
        columns: 4,
        panels,
    }
}
