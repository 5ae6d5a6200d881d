//! The report on the paper's experiments: seed counts, pooled folds and missing runs.

use fedspd_report::{CellRun, Format, Report};
use fedspd_run::{Confusion, ResultTable, RunFolder, summary};
use tempfile::tempdir;

use crate::support::{CLASSES, Plan, reproduction};

#[test]
fn seeds_are_counted_as_numbers_and_folds_are_not_among_them() {
    let root = tempdir().unwrap();
    let cells = |few: u64, many: u64| {
        let root = root.path().join(format!("{few}-{many}"));
        let cell = |name: &str, seeds: u64| CellRun {
            name: format!("physionet-mi-{name}"),
            folder: Plan { seeds, interpretation: false, ..Plan::default() }.write(&root, name),
            missing: None,
        };
        let cells = [cell("spdnet", few), cell("spdnet-half", many), cell("best-runs-0", 2)];
        Report::reproduction("physionet-mi", &cells, &[]).unwrap().html()
    };
    assert!(cells(9, 10).contains("as run here (9 to 10 seeds)"));
    assert!(cells(3, 3).contains("as run here (3 seeds)"));
}

/// The score of the folds is that of their trials together, not the mean of their scores.
#[test]
fn folds_are_pooled_trial_by_trial() {
    let root = tempdir().unwrap();
    let cells = reproduction(root.path());
    let mut pooled = [0, 1].map(|_| Confusion::new(CLASSES.len()));
    for fold in cells.iter().filter(|cell| cell.name.contains("-best-runs-")) {
        let results = ResultTable::read(&RunFolder::open(&fold.folder).unwrap().results()).unwrap();
        for row in results.rows.iter().filter(|row| row.split == "test" && row.client == "pooled") {
            let Some(pair) = row.metric.strip_prefix("final_confusion:") else { continue };
            let (truth, predicted) = pair.split_once(':').unwrap();
            let [truth, predicted] =
                [truth, predicted].map(|name| CLASSES.iter().position(|class| *class == name).unwrap());
            for _ in 0..row.value as u64 {
                pooled[row.seed as usize].add(truth, predicted).unwrap();
            }
        }
    }
    let expected = summary(&pooled.map(|confusion| 100.0 * confusion.macro_f1()));
    let files = Report::reproduction("physionet-mi", &cells, &[]).unwrap().files(&[Format::Csv]);
    let row = files["tables/beyond.csv"].lines().find(|line| line.contains("whole runs")).unwrap();
    let numbers: Vec<f64> = row.rsplit(',').take(3).map(|field| field.parse().unwrap()).collect();
    let [count, std, mean] = numbers[..] else { panic!("{row}") };
    assert!(
        (mean - expected.mean).abs() < 1e-9 && (std - expected.std).abs() < 1e-9 && count == 2.0,
        "{row}"
    );
}

#[test]
fn all_of_the_grid_stays_below_two_megabytes_and_names_nobody() {
    let root = tempdir().unwrap();
    let html = Report::reproduction("physionet-mi", &reproduction(root.path()), &[]).unwrap().html();
    assert!(html.len() < 2_000_000, "{} bytes", html.len());
    assert!(!html.contains("person-"), "a subject is named");
    for caution in ["decodes the cue, not the imagery", "Labels are blocked by run", "Held-out subjects"] {
        assert!(html.contains(caution), "{caution}");
    }
}

#[test]
fn what_was_not_run_is_told_with_its_reason() {
    let root = tempdir().unwrap();
    let mut cells = reproduction(root.path());
    for cell in cells.iter_mut().filter(|cell| cell.name.contains("eegnet")) {
        cell.missing = Some("the recordings are not there".into());
    }
    let html = Report::reproduction("physionet-mi", &cells, &[]).unwrap().html();
    assert!(html.contains("Not run (the recordings are not there)"));
    assert!(html.contains("EEGNet not run"), "a claim that cannot be judged says so");
}

/// Folds have a score only if all of them are there.
#[test]
fn folds_are_shown_when_all_are_there() {
    let root = tempdir().unwrap();
    let mut cells = reproduction(root.path());
    let last = cells.iter_mut().find(|cell| cell.name.ends_with("best-runs-2")).unwrap();
    last.missing = Some("excluded by `--only`".into());
    let files = Report::reproduction("physionet-mi", &cells, &[]).unwrap().files(&[Format::Csv]);
    assert!(files["tables/beyond.csv"].contains("incomplete: 2 of 3 folds"));
}

#[test]
fn other_settings_than_the_paper_s_are_told() {
    let root = tempdir().unwrap();
    let changed = ["federated.rounds".to_owned(), "data.subjects".into()];
    let html = Report::reproduction("physionet-mi", &reproduction(root.path()), &changed).unwrap().html();
    assert!(
        html.contains("These are not the paper’s experiments: <code>federated.rounds</code> and "),
        "{html:.3000}"
    );
}

/// Caveats of one dataset do not appear for another.
#[test]
fn cautions_are_those_of_the_dataset() {
    let root = tempdir().unwrap();
    let cell = |name: &str| CellRun {
        name: format!("weibo2014-{name}"),
        folder: Plan { seeds: 1, interpretation: false, ..Plan::default() }.write(root.path(), name),
        missing: None,
    };
    let cells = ["spdnet", "spdnet-half", "eegnet", "best", "best-subjects-0", "best-subjects-1"].map(cell);
    let html = Report::reproduction("weibo2014", &cells, &[]).unwrap().html();
    assert!(!html.contains("blocked by run") && !html.contains("whole runs held out"));
    assert!(html.contains("nothing was tuned on this dataset"));
    assert!(html.contains("pools 2 folds") && html.contains("as run here (1 seed)"));
    // One seed has no deviation, and a claim about it says so.
    assert!(html.contains("unknown with one seed") && !html.contains("NaN"));
    assert!(html.contains("2452 of 2452 in f64"));
}
