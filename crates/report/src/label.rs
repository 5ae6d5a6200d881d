//! Labels that distinguish runs.

use crate::LoadedRun;
use crate::words::share;

/// Labels each run by the settings that differ between the runs. Runs with equal labels get a
/// number. Also assigns styles: federated runs first, because they are drawn as curves.
pub(crate) fn assign_labels(runs: &mut [LoadedRun]) {
    let parts: [fn(&LoadedRun) -> String; 5] = [
        |run| run.manifest.dataset.clone(),
        LoadedRun::network,
        LoadedRun::method,
        |run| if run.is_federated() { share(run.participation()) } else { String::new() },
        |run| if run.manifest.alignment == "none" { String::new() } else { "aligned".into() },
    ];
    // The label always names the method. Other parts appear only if they differ among the runs that
    // have them.
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
