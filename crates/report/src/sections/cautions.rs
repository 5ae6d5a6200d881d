//! Caveats for the reader, computed from what the runs recorded.

use fedspd_run::Status;

use crate::LoadedRun;
use crate::words::{count, list};

/// Splits whose test subjects no client trains on.
const NEW_PEOPLE: [&str; 2] = ["leave-subject-out", "leave-client-out"];

/// The largest half-width of a 95% interval, in percent, without a caveat.
const WIDE: f64 = 5.0;

/// Caveats for the reader.
pub(super) fn cautions(runs: &[LoadedRun]) -> Vec<String> {
    let mut cautions = Vec::new();
    let mut say = |is: &dyn Fn(&LoadedRun) -> bool, text: &str| {
        cautions.extend(of_some(runs, is).map(|whose| format!("{whose}{text}")));
    };
    say(
        &|run| match &run.manifest.facts {
            Some(facts) => facts.shared_subjects > 0,
            None => !NEW_PEOPLE.contains(&run.word("split.kind")),
        },
        "Test trials come from the same people as training trials. These scores do not measure performance on unseen people.",
    );
    cautions.extend(new_people(runs));
    cautions.extend(held_out(runs));
    cautions.extend(runs_by_class(runs));
    cautions.extend(copies(runs));
    let mut say = |is: &dyn Fn(&LoadedRun) -> bool, text: &str| {
        cautions.extend(of_some(runs, is).map(|whose| format!("{whose}{text}")));
    };
    say(
        &|run| run.manifest.transductive,
        "Alignment also used the unlabelled test trials of each subject (it is transductive). This is possible only if all trials are recorded before the first one is classified.",
    );
    say(
        &starts_below_8_hz,
        "The band goes below 8 Hz. Slow activity right after the cue reflects eye movements and the picture on the screen: such a score is not evidence of motor imagery.",
    );
    cautions.extend(few_trials(runs));
    for run in runs.iter().filter(|run| run.manifest.status != Status::Done) {
        let (done, all) = (run.seeds_done(), run.manifest.seeds.len());
        cautions.push(format!("“{}” is not complete: {done} of {all} seeds are done.", run.label));
    }
    cautions.extend(one_seed(runs));
    for run in runs {
        let fallback = run.rounds.iter().filter(|round| round.fallback).count();
        if fallback > 0 {
            cautions.push(format!(
                "In {} of “{}” the mean of the clients lacked full rank, so RLAvg was used instead.",
                count(fallback, "round"),
                run.label
            ));
        }
    }
    cautions
}

/// Returns the names of the runs that a caveat holds for, before its text: nothing if it holds for
/// all, none if it holds for no run.
fn of_some(runs: &[LoadedRun], is: &dyn Fn(&LoadedRun) -> bool) -> Option<String> {
    let some: Vec<String> = runs.iter().filter(|run| is(run)).map(|run| format!("“{}”", run.label)).collect();
    match some.len() {
        0 => None,
        all if all == runs.len() => Some(String::new()),
        _ => Some(format!("{}: ", list(&some))),
    }
}

/// Says how test subjects were treated that no client trained on.
fn new_people(runs: &[LoadedRun]) -> Option<String> {
    let new = |run: &LoadedRun| NEW_PEOPLE.contains(&run.word("split.kind"));
    let note = runs.iter().filter(|run| new(run)).find_map(|run| run.manifest.held_out.as_ref())?;
    Some(format!("{}The test subjects are new to the model: {note}.", of_some(runs, &new)?))
}

fn held_out(runs: &[LoadedRun]) -> Option<String> {
    let run = runs.iter().find(|run| run.headline().held_out.count > 0)?;
    let people = run.shards.seeds.first().map_or(0, |seed| seed.held_out.len());
    let note = run.manifest.held_out.as_ref().map_or(String::new(), |note| format!(" ({note})"));
    Some(format!(
        "“Unseen people” is the score on held-out subjects{note}; no client trained on them. Their number is {people}. Some subjects are much easier than others: only many of them, pooled, give a stable score."
    ))
}

/// Warns if labels are blocked by run, and runs are in training and in test.
fn runs_by_class(runs: &[LoadedRun]) -> Vec<String> {
    let blocked = |run: &LoadedRun| {
        run.manifest.facts.as_ref().is_some_and(|facts| facts.partial_runs > 0 && facts.shared_runs > 0)
    };
    let unknown = |run: &LoadedRun| run.manifest.facts.is_none() && run.word("split.kind") == "stratified";
    let mut cautions = Vec::new();
    if let Some(whose) = of_some(runs, &blocked)
        && let Some(facts) = runs.iter().find(|run| blocked(run)).and_then(|run| run.manifest.facts)
    {
        cautions.push(format!(
            "{whose}{} of {} have only some of the classes of their subject, and {} have trials in training and in test. A network can gain by recognising the run rather than the class. \
             The split `leave-run-out` tests on whole runs.",
            facts.partial_runs,
            count(facts.runs, "recording run"),
            facts.shared_runs
        ));
    }
    cautions.extend(of_some(runs, &unknown).map(|whose| {
        format!(
            "{whose}The run folder does not record whether recording runs have only some of the classes. If they do, a network can gain by recognising the run."
        )
    }));
    cautions
}

fn copies(runs: &[LoadedRun]) -> Option<String> {
    let copied = |run: &LoadedRun| run.manifest.facts.is_some_and(|facts| facts.copied_trials > 0);
    let whose = of_some(runs, &copied)?;
    let facts = runs.iter().find(|run| copied(run))?.manifest.facts?;
    Some(format!(
        "{whose}{} the same, or nearly the same, in {} of subjects. Scores on unseen people are too high if one of a pair is in training. The warnings of the run name the subjects.",
        if facts.copied_trials == 1 {
            "1 trial is".into()
        } else {
            format!("{} trials are", facts.copied_trials)
        },
        count(facts.copied_pairs, "pair")
    ))
}

/// Warns about an accuracy with a wide interval, with the number of test trials.
fn few_trials(runs: &[LoadedRun]) -> Vec<String> {
    let mut cautions: Vec<String> = Vec::new();
    for run in runs {
        let (trials, accuracy) = (run.test_trials(), run.headline().accuracy.mean);
        if trials == 0 || !accuracy.is_finite() {
            continue;
        }
        let [low, high] = wilson(accuracy, trials as f64).map(|bound| 100.0 * bound);
        if high - low > 2.0 * WIDE {
            let whose = if runs.len() > 1 { format!("“{}”: ", run.label) } else { String::new() };
            cautions.push(format!(
                "{whose}A seed has {}. The 95% interval of an accuracy of {:.1} percent is then {low:.1} to {high:.1} percent.",
                count(trials, "test trial"),
                100.0 * accuracy
            ));
        }
    }
    // A line for each of many runs would hide the other caveats.
    if cautions.len() > 3 {
        let most = runs.iter().map(LoadedRun::test_trials).max().unwrap_or(0);
        let [low, high] = wilson(0.5, most as f64).map(|bound| 100.0 * bound);
        cautions = vec![format!(
            "A seed has at most {}. The 95% interval of an accuracy of 50 percent is then {low:.1} to {high:.1} percent, or wider.",
            count(most, "test trial")
        )];
    }
    cautions
}

/// Returns Wilson's 95% interval of a share of independent trials.
fn wilson(share: f64, trials: f64) -> [f64; 2] {
    const Z: f64 = 1.959_963_984_540_054;
    let weight = Z * Z / trials;
    let centre = (share + weight / 2.0) / (1.0 + weight);
    let half = Z * (share * (1.0 - share) / trials + weight / (4.0 * trials)).sqrt() / (1.0 + weight);
    [centre - half, centre + half]
}

fn one_seed(runs: &[LoadedRun]) -> Option<String> {
    let alone: Vec<String> =
        runs.iter().filter(|run| run.seeds_done() == 1).map(|run| format!("“{}”", run.label)).collect();
    let who = match alone.len() {
        0 => return None,
        1 => format!("{} has", alone[0]),
        count if count == runs.len() => "All runs have".into(),
        _ => format!("{} have", list(&alone)),
    };
    Some(format!("{who} one seed: the spread over seeds is unknown."))
}

/// Returns whether a band starts below 8 Hz.
fn starts_below_8_hz(run: &LoadedRun) -> bool {
    let low = |band: &toml::Value| {
        let first = band.get(0);
        first
            .and_then(|first| first.as_float().or(first.as_integer().map(|hertz| hertz as f64)))
            .is_some_and(|hertz| hertz < 8.0)
    };
    let bands = run.setting("covariance.bands").and_then(toml::Value::as_array);
    run.setting("data.band").is_some_and(low) || bands.is_some_and(|bands| bands.iter().any(low))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_of_shares_are_wilson_s() {
        for (share, trials, expected) in
            [(0.5, 100.0, [0.403_831_5, 0.596_168_5]), (0.1, 10.0, [0.017_876_2, 0.404_150_0])]
        {
            for (found, expected) in wilson(share, trials).into_iter().zip(expected) {
                assert!((found - expected).abs() < 1e-6, "{found} and {expected}");
            }
        }
    }
}
