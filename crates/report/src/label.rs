//! What sets runs apart.

use crate::Run;
use crate::words::share;

/// Gives each run a name made of what differs among them, and a number where nothing does; and a style, federated ones first, since they are the curves.
pub(crate) fn tell_apart(runs: &mut [Run]) {
    let parts: [fn(&Run) -> String; 5] = [
        |run| run.manifest.dataset.clone(),
        Run::network,
        Run::method,
        |run| if run.is_federated() { share(run.participation()) } else { String::new() },
        |run| if run.manifest.alignment == "none" { String::new() } else { "aligned".into() },
    ];
    // The method is always told; the rest where it differs among those it applies to.
    let differs = parts.map(|part| {
        let mut values: Vec<String> = runs.iter().map(part).collect();
        values.sort();
        values.dedup();
        values.len() > 1
    });
    let shares = runs.iter().filter(|run| run.is_federated()).map(|run| share(run.participation()));
    let several_shares = shares.collect::<std::collections::BTreeSet<_>>().len() > 1;
    let told = [differs[0], differs[1], true, several_shares, differs[4]];
    for run in runs.iter_mut() {
        let words = parts.iter().zip(told).filter(|(_, told)| *told).map(|(part, _)| part(run));
        run.label = words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(", ");
    }
    let (mut next, mut later) = (0, runs.iter().filter(|run| run.is_federated()).count());
    for run in runs.iter_mut() {
        let place = if run.is_federated() { &mut next } else { &mut later };
        run.style = *place;
        *place += 1;
    }
    let labels: Vec<String> = runs.iter().map(|run| run.label.clone()).collect();
    for (place, run) in runs.iter_mut().enumerate() {
        if labels.iter().filter(|label| **label == run.label).count() > 1 {
            run.label = format!("{} ({})", run.label, place + 1);
        }
    }
}
