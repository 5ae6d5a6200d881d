//! The report on the paper's experiments: seed counts, held-out parts and missing runs.

use fedspd_report::{CellRun, Format, Report};
use fedspd_run::TrialFacts;
use tempfile::tempdir;

use crate::support::{Plan, reproduction};

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
        let cells = [cell("spdnet", few), cell("spdnet-half", many), cell("best-leave-run-out", 2)];
        Report::reproduction("physionet-mi", &cells, &[]).unwrap().html()
    };
    assert!(cells(9, 10).contains("as run here (9 to 10 seeds)"));
    assert!(cells(3, 3).contains("as run here (3 seeds)"));
}

#[test]
fn all_of_the_grid_stays_below_two_megabytes_and_names_nobody() {
    let root = tempdir().unwrap();
    let html = Report::reproduction("physionet-mi", &reproduction(root.path()), &[]).unwrap().html();
    assert!(html.len() < 2_000_000, "{} bytes", html.len());
    assert!(!html.contains("person-"), "a subject is named");
    for caution in [
        "decodes the cue, not the imagery",
        "Labels are blocked by run",
        "Subjects differ more than methods do",
    ] {
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

/// A run with folds has the pooled score of its folds, or says that it was not run.
#[test]
fn held_out_parts_have_a_row_each() {
    let root = tempdir().unwrap();
    let mut cells = reproduction(root.path());
    let last = cells.iter_mut().find(|cell| cell.name.ends_with("best-leave-client-out")).unwrap();
    last.missing = Some("excluded by `--only`".into());
    let files = Report::reproduction("physionet-mi", &cells, &[]).unwrap().files(&[Format::Csv]);
    let row = |part: &str| {
        let mut lines = files["tables/beyond.csv"].lines();
        lines.find(|line| line.contains(part)).unwrap_or_else(|| panic!("{part}")).to_owned()
    };
    assert!(!row("whole runs").contains("not run") && !row("held-out subjects").contains("not run"));
    assert!(row("held-out clients").contains("not run"));
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
        folder: Plan {
            seeds: 1,
            interpretation: false,
            facts: Some(TrialFacts::default()),
            ..Plan::default()
        }
        .write(root.path(), name),
        missing: None,
    };
    let cells = ["spdnet", "spdnet-half", "eegnet", "best", "best-leave-subject-out"].map(cell);
    let html = Report::reproduction("weibo2014", &cells, &[]).unwrap().html();
    assert!(!html.contains("blocked by run") && !html.contains("whole runs held out"));
    assert!(html.contains("nothing was tuned on this dataset"));
    assert!(html.contains("held-out subjects, folds pooled") && html.contains("as run here (1 seed)"));
    // One seed has no deviation, and a claim about it says so.
    assert!(html.contains("unknown with one seed") && !html.contains("NaN"));
    assert!(html.contains("2452 of 2452 in f64"));
}
