//! The command as a user sees it.
#![allow(clippy::unwrap_used)] // helpers of tests may panic as tests do

use assert_cmd::Command;

fn fedspd(arguments: &[&str]) -> (i32, String, String) {
    let output = Command::cargo_bin("fedspd").unwrap().args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// Two cells of the demo's table: the feasibility error of an average and its distance to the Karcher mean.
fn row(output: &str, spread: &str, name: &str) -> (f64, f64) {
    let prefix = format!("  {spread}");
    let line = output.lines().find(|line| line.starts_with(&prefix) && line.contains(name)).unwrap();
    let cells: Vec<&str> = line.split_once(name).unwrap().1.split_whitespace().collect();
    (cells[0].parse().unwrap(), cells[1].parse().unwrap())
}

#[test]
fn the_demo_shows_who_stays_on_the_manifold() {
    let (code, out, err) = fedspd(&["demo", "--clients", "4", "--rows", "12", "--columns", "5"]);
    assert_eq!((code, err.as_str()), (0, ""));
    for spread in ["0.1", "0.3", "1", "3"] {
        for name in ["ProjAvg", "RLAvg", "QR average", "RetAvg"] {
            let line =
                out.lines().find(|line| line.starts_with(&format!("  {spread} ")) && line.contains(name));
            assert!(line.is_some(), "no row for {name} at {spread} in\n{out}");
        }
    }
    for spread in ["0.1", "0.3", "1 "] {
        assert!(row(&out, spread, "Euclidean mean").0 > 1e-3, "{out}");
        assert!(row(&out, spread, "ProjAvg").0 < 1e-13, "{out}");
        assert!(row(&out, spread, "RLAvg").0 < 1e-13, "{out}");
    }
    // Third order: a third of the spread is 27 times closer, up to the digits shown.
    let ratio = row(&out, "0.3", "ProjAvg").1 / row(&out, "0.1", "ProjAvg").1;
    assert!((15.0..45.0).contains(&ratio), "{ratio}\n{out}");
}

#[test]
fn the_demo_learns_and_stays_on_the_manifold() {
    let (code, out, err) = fedspd(&["demo", "--clients", "2", "--rows", "16", "--columns", "6"]);
    assert_eq!((code, err.as_str()), (0, ""));
    let line = out.lines().find(|line| line.starts_with("It tells ")).unwrap();
    let number = |before: &str, after: &str| -> f64 {
        let start = line.split_once(before).unwrap().1;
        start.split_once(after).unwrap().0.parse().unwrap()
    };
    assert!(number("It tells ", "%") > 50.0, "{line}");
    assert_eq!(number("chance is ", "%"), 25.0);
    assert!(number("to rounding (", ")") < 1e-12, "{line}");
}

#[test]
fn the_demo_is_the_same_for_the_same_seed_but_for_the_times() {
    let run = |seed| {
        let (_, out, _) =
            fedspd(&["demo", "--clients", "3", "--rows", "7", "--columns", "2", "--seed", seed]);
        out.lines()
            .map(|line| line.split(" Training took").next().unwrap_or(line))
            .map(|line| line.rsplit_once("  ").map_or(line, |(start, _)| start).trim().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(run("5"), run("5"));
    assert_ne!(run("5"), run("6"));
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
    let (code, _, err) = fedspd(&["demo", "--rows", "3", "--columns", "4"]);
    assert_eq!(
        (code, err.as_str()),
        (1, "error: a matrix with orthonormal columns cannot have more columns (4) than rows (3)\n")
    );
    let (code, _, err) = fedspd(&["demo", "--clients", "0"]);
    assert!(code == 1 && err.contains("0 is not in 1..=100"), "{err}");
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
