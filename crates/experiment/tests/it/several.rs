//! Several runs in a row: sweeps, and the paper's grid.

use std::collections::BTreeSet;

use fedspd_experiment::config::{Config, ConfigError, Override, Preset, SplitKind};
use fedspd_experiment::reproduction::{DATASETS, cells};
use fedspd_experiment::sweep::{Sweep, choice};
use fedspd_run::{ResultRow, ResultTable, Summary, validation_f1};

#[test]
fn a_sweep_is_read_value_by_value() {
    let read = |text: &str| text.parse::<Sweep>().map(|sweep| sweep.values);
    assert_eq!(read("model.dims=12,18").unwrap(), ["12", "18"]);
    assert_eq!(read("model.dims=[12, 6], 18").unwrap(), ["[12, 6]", "18"]);
    assert_eq!(read("train.optimizer=adam").unwrap(), ["adam"]);
    for bad in ["model.dims", "=1,2", "model.dims=", "model.dims=1,,2"] {
        assert_eq!(read(bad).unwrap_err(), format!("`{bad}` is not of the form KEY=VALUE,VALUE,..."));
    }
    assert_eq!(read("model.dims=12,18, 12").unwrap_err(), "`model.dims=12,18, 12` has the value `12` twice");
}

#[test]
fn one_value_stands_for_a_list_of_one_where_a_list_is_expected() {
    let preset = Preset::find("sample").unwrap();
    let parse = |change: Override| -> Result<Config, ConfigError> { preset.config(&[change]) };
    let sweep: Sweep = "model.dims=12,[16, 8]".parse().unwrap();
    assert_eq!(sweep.change("12", parse).unwrap().model.dims, [12]);
    assert_eq!(sweep.change("[16, 8]", parse).unwrap().model.dims, [16, 8]);
    let sweep: Sweep = "train.lr=1e-2".parse().unwrap();
    assert_eq!(sweep.change("1e-2", parse).unwrap().train.lr, 1e-2);
    // The message shows the value as given, not as a list.
    let fault = sweep.change("fast", parse).unwrap_err().to_string();
    assert!(fault.starts_with("`train.lr` is \"fast\""), "{fault}");
}

#[test]
fn the_smallest_value_at_the_maximum_is_chosen() {
    let scores = |means: &[f64]| -> Vec<Summary> {
        means.iter().map(|&mean| Summary { mean, std: 0.0, count: 3 }).collect()
    };
    assert_eq!(choice(&scores(&[0.3, 0.5, 0.5, 0.4])), Some(1));
    assert_eq!(choice(&scores(&[0.3])), Some(0));
    assert_eq!(choice(&[]), None);
    // NaN is never chosen.
    assert_eq!(choice(&scores(&[f64::NAN, 0.3, 0.2])), Some(1));
    assert_eq!(choice(&scores(&[f64::NAN])), None);
}

#[test]
fn the_validation_score_is_that_of_the_last_round_of_each_seed() {
    let row = |seed: u64, round: u32, split: &str, value: f64| ResultRow {
        dataset: "d".into(),
        model: "spdnet".into(),
        mode: "federated".into(),
        aggregation: "proj-avg".into(),
        participation: 1.0,
        align: "none".into(),
        seed,
        fold: None,
        round,
        client: "pooled".into(),
        split: split.into(),
        metric: "macro_f1".into(),
        value,
    };
    let rows = vec![
        row(0, 1, "validation", 0.9),
        row(0, 2, "validation", 0.4),
        row(0, 2, "test", 0.1),
        row(1, 2, "validation", 0.6),
    ];
    let score = validation_f1(&ResultTable { rows });
    assert_eq!((score.mean, score.count), (0.5, 2));
}

#[test]
fn the_grid_has_every_cell_of_the_paper_and_our_model_on_held_out_runs_and_people() {
    for dataset in DATASETS {
        let cells = cells(dataset, &[]).unwrap();
        let names: BTreeSet<&str> = cells.iter().map(|cell| cell.name.as_str()).collect();
        assert_eq!(names.len(), cells.len());
        for cell in ["spdnet", "spdnet-half", "spdnet-rl-avg", "spdnet-half-rl-avg", "spdnet-centralised"] {
            assert!(names.contains(&*format!("{dataset}-{cell}")), "{cell}");
        }
        for cell in ["eegnet", "eegnet-half", "eegnet-centralised", "tangent", "best"] {
            assert!(names.contains(&*format!("{dataset}-{cell}")), "{cell}");
        }
        let held_out: Vec<SplitKind> =
            cells.iter().map(|cell| cell.config.split.kind).filter(|kind| kind.has_folds()).collect();
        let kinds = [SplitKind::LeaveRunOut, SplitKind::LeaveSubjectOut, SplitKind::LeaveClientOut];
        // Weibo2014 has one run of each subject.
        assert_eq!(held_out, if dataset == "physionet-mi" { &kinds[..] } else { &kinds[1..] });
        for cell in cells.iter().filter(|cell| cell.config.split.kind.has_folds()) {
            assert_eq!(cell.name, format!("{dataset}-best-{}", cell.config.split.kind.name()));
            assert!(cell.config.split.refit && cell.config.split.fold.is_none());
            assert_eq!(cell.config.run.seeds.as_slice(), [0]);
        }
    }
}
