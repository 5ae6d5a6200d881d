//! The command as a user sees it.
#![allow(clippy::unwrap_used)] // helpers of tests may panic as tests do

use assert_cmd::Command;

fn fedspd(arguments: &[&str]) -> (i32, String, String) {
    let output = Command::cargo_bin("fedspd").unwrap().args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// Returns the numbers of a row of the demo's table, without deviations: test F1, mean and worst
/// client, feasibility.
fn cells(output: &str, name: &str) -> Vec<f64> {
    let line = output.lines().find(|line| line.contains(name)).unwrap();
    let words: Vec<&str> = line.split_once(name).unwrap().1.split_whitespace().collect();
    let shown = |place: &usize| *place == 0 || (words[*place] != "±" && words[place - 1] != "±");
    (0..words.len()).filter(shown).take(4).map(|place| words[place].parse().unwrap()).collect()
}

#[test]
fn the_demo_compares_every_way_of_training() {
    let folder = tempfile::tempdir().unwrap();
    let demo = ["demo", "--rounds", "1", "--quiet", "--out", folder.path().to_str().unwrap()];
    let (code, out, err) = fedspd(&demo);
    assert_eq!((code, err.as_str()), (0, ""));
    for name in ["federated, ProjAvg", "each client alone", "all data in one place"] {
        let cells = cells(&out, name);
        assert!(cells[0] > 15.0 && cells[2] <= cells[1] && cells[3] < 1e-12, "{name}: {cells:?}");
    }
    assert!(out.contains("3 folds, 2 seeds") && out.contains(" ± "));
    assert!(out.contains("ODC-By 1.0"));
    let report = out.lines().last().unwrap().strip_prefix("Report: ").unwrap();
    let page = std::fs::read_to_string(report).unwrap();
    assert!(page.contains("Report: 3 runs on sample") && page.contains("whole runs held out, 3 folds"));
    // A second call reuses the runs: the same numbers, the same page.
    let (code, again, _) = fedspd(&demo);
    let numbers = |out: &str| cells(out, "each client alone");
    assert_eq!((code, numbers(&again)), (0, numbers(&out)));
    assert_eq!(std::fs::read_to_string(report).unwrap(), page);
}

#[test]
fn help_and_version_are_a_success() {
    let (code, out, _) = fedspd(&["--version"]);
    assert_eq!((code, out), (0, format!("fedspd {}\n", env!("CARGO_PKG_VERSION"))));
    for arguments in [&["help"][..], &["--help"], &["help", "demo"], &["demo", "--help"]] {
        let (code, out, err) = fedspd(arguments);
        assert_eq!((code, err.as_str()), (0, ""));
        assert!(out.contains("Usage: fedspd"), "{out}");
    }
}

#[test]
fn mistakes_of_the_user_exit_with_1_and_one_sentence() {
    let (code, _, err) = fedspd(&["dmo"]);
    assert!(code == 1 && err.contains("unrecognized subcommand 'dmo'") && err.contains("'demo'"), "{err}");
    let (code, _, err) = fedspd(&["demo", "--rounds", "0"]);
    assert!(code == 1 && err.contains("0 is not in 1..=1000"), "{err}");
    assert_eq!(fedspd(&[]).0, 1);
}

#[test]
fn an_instruction_set_that_is_not_there_is_refused_with_a_hint() {
    let output =
        Command::cargo_bin("fedspd").unwrap().arg("demo").env("FEDSPD_SIMD", "altivec").output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        err.starts_with("error: instruction set `altivec` is not available on this machine\n\nhint: "),
        "{err}"
    );
    assert!(err.contains("portable"), "{err}");
}

#[test]
fn a_report_of_a_folder_that_is_no_run_is_refused_with_a_hint() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let (code, _, err) = fedspd(&["report", path]);
    assert_eq!(code, 1);
    assert_eq!(
        err,
        format!(
            "error: {path}: not a run folder, it has no manifest.json\n\nhint: `fedspd run` writes run folders, by default under runs/\n"
        )
    );
    let (code, _, err) = fedspd(&["report", path, "--format", "pdf"]);
    assert!(
        code == 1 && err.contains("invalid value 'pdf'") && err.contains("html, svg, csv, latex"),
        "{err}"
    );
}
