//! What the network looks at.

use fedspd_run::{InputPortrait, Pattern, Portrait};

use super::{Part, Section, input, plane};
use crate::Run;
use crate::chart::{Canvas, Figure};
use crate::scalp::Topography;
use crate::words::{class, list};

/// How many columns are shown: those that the last layer makes most of.
const COLUMNS: usize = 6;

pub(crate) fn section(runs: &[Run]) -> Section {
    let mut parts = Vec::new();
    let found = runs.iter().find_map(|run| Some((run, run.portrait.as_ref()?)));
    if let Some((run, (seed, portrait))) = found {
        if runs.len() > 1 {
            parts.push(Part::Text(format!(
                "The network of “{}”, seed {seed}; a report of another run alone shows that one’s.",
                run.label
            )));
        }
        parts.extend(patterns(run, *seed, portrait));
        parts.extend(
            portrait
                .inputs
                .iter()
                .any(|input| !input.spectrum.median.is_empty())
                .then(|| Part::Figure(input::figure(run, *seed, portrait))),
        );
        parts.extend(plane::figure(run, *seed, &portrait.plane).map(Part::Figure));
    } else {
        let whom = if runs.len() > 1 { "None of these runs has" } else { "This run has no" };
        let what = if runs.len() > 1 { " a portrait" } else { " portrait" };
        parts.push(Part::Text(format!(
            "{whom}{what} of its network (EEGNet, clients that train alone, and runs of older versions have none), so patterns, spectra and the plane of trials are not shown."
        )));
    }
    Section { slug: "network", title: "What the network looks at", parts }
}

/// Scalp maps of columns and of classes.
fn patterns(run: &Run, seed: u64, portrait: &Portrait) -> Vec<Part> {
    let Some(head) = Topography::new(&run.manifest.channels) else {
        return vec![Part::Text(
            "Fewer than four channels have names of the 10-05 system, so patterns cannot be drawn on a head."
                .into(),
        )];
    };
    let unknown = match head.unknown.len() {
        0 => String::new(),
        1 => format!(
            " Channel {} is not drawn: its name is not of the 10-05 system, or its place is taken.",
            head.unknown[0]
        ),
        _ => format!(
            " Channels {} are not drawn: their names are not of the 10-05 system, or their places are taken.",
            list(&head.unknown)
        ),
    };
    let mut parts = Vec::new();
    for (place, input) in portrait.inputs.iter().enumerate() {
        let several = portrait.inputs.len() > 1;
        let of = if several { format!(", {}", input.name) } else { String::new() };
        if !input.classes.is_empty() {
            parts.push(Part::Figure(classes(run, &head, input, seed, (place, &of), &unknown)));
        }
        if !input.columns.is_empty() {
            parts.push(Part::Figure(columns(&head, input, seed, (place, &of), &unknown)));
        }
    }
    parts
}

/// The channel where a pattern is largest.
fn peak(run: &Run, pattern: &Pattern) -> String {
    let largest = pattern.channels.iter().enumerate().max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()));
    largest.map_or(String::new(), |(place, _)| run.manifest.channels[place].clone())
}

fn classes(
    run: &Run,
    head: &Topography,
    input: &InputPortrait,
    seed: u64,
    (place, of): (usize, &str),
    unknown: &str,
) -> Figure {
    let names: Vec<String> = run.manifest.classes.iter().map(|name| class(name)).collect();
    let map = |(number, (pattern, name)): (usize, (&Pattern, &String))| {
        let note = if pattern.weight < 0.0 { "power speaks against" } else { "power speaks for" };
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
            "For each class the direction that the last layer weighs most, as the pattern of activity that goes with it (C w, not the filter w, which also cancels noise; Haufe et al. 2014). Heads are seen from above, nose up; dots are \
             electrodes. Orange and blue are opposite signs, which are arbitrary: what counts is where a map is strong and where it changes sign. Power of this activity speaks for the class or against it. Between electrodes: \
             spherical splines. Seed {seed}.{unknown}"
        ),
        columns: panels.len().min(4),
        panels,
    }
}

fn columns(
    head: &Topography,
    input: &InputPortrait,
    seed: u64,
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
            "Heads seen from above for the {count} most relevant of {} columns of the first weights.",
            input.columns.len()
        ),
        caption: format!(
            "The {count} columns of {} that the last layer makes most of, as patterns of activity, C W (WᵀCW)⁻¹, most relevant first; the relevance is a share of the largest. Only the space that the columns span together has a meaning of its own, so look \
             for what several of them share: a focus over C3, Cz or C4 is what movement of hands and feet leads one to expect, a rim of strong values is muscle or movement. Seed {seed}.{unknown}",
            input.columns.len()
        ),
        columns: 4,
        panels,
    }
}
