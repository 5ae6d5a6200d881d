//! Every table compiles with pdflatex and booktabs, and fits on its page.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use fedspd_report::compare::compare;
use fedspd_report::{Format, Label, Report, SweepRun, read_runs};
use tempfile::tempdir;

use crate::support::{Plan, grid, reproduction};

/// Classes in many alphabets, with signs that LaTeX reads as commands.
const MANY: [&str; 12] = [
    "left_hand",
    "right_hand",
    "très_long_nom_d’une_classe_avec_accents",
    "Füße",
    "łokieć",
    "рука",
    "手",
    "50%",
    "a&b",
    "x^2 $y$ {z}",
    "[rest]",
    "|WᵀW − I| ≥ 2×10…",
];

/// Compiles all tables of a report in one document. Returns the complaints of pdflatex.
fn complaints(folder: &Path, tables: &BTreeMap<String, String>) -> Vec<String> {
    let mut document = String::from("\\documentclass{article}\n\\usepackage{booktabs}\n\\begin{document}\n");
    for (place, text) in tables.values().enumerate() {
        assert!(text.is_ascii() && text.starts_with("% Needs \\usepackage{booktabs}"), "{text}");
        std::fs::write(folder.join(format!("table-{place}.tex")), text).unwrap();
        let _ = writeln!(document, "\\typeout{{TABLE {place}}}\\input{{table-{place}}}\\clearpage");
    }
    std::fs::write(folder.join("all.tex"), document + "\\end{document}\n").unwrap();
    let output = Command::new("pdflatex")
        .args(["-interaction=nonstopmode", "-halt-on-error", "all.tex"])
        .current_dir(folder)
        .output()
        .unwrap();
    let log = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{log}");
    let mut names = tables.keys();
    let (mut table, mut found) = ("", Vec::new());
    for line in log.lines() {
        if line.contains("TABLE ") {
            table = names.next().unwrap();
        }
        if ["Overfull", "too large", "Missing character"].iter().any(|word| line.contains(word)) {
            found.push(format!("{table}: {line}"));
        }
    }
    found
}

#[test]
fn every_table_compiles_and_fits_on_a_page() {
    if Command::new("pdflatex").arg("--version").output().is_err() {
        println!("skipped: there is no pdflatex on this machine");
        return;
    }
    let root = tempdir().unwrap();
    let at = |name: &str| root.path().join(name);
    let base = Plan { interpretation: false, ..Plan::default() };
    let many = Plan { classes: &MANY, clients: 53, ..base.clone() };
    let label = |name: &str, run: &PathBuf| Label { name: name.into(), run: run.clone() };
    let one = [base.write(&at("one"), "a")];
    let two = [many.write(&at("two"), "a"), Plan { lift: 0.1, ..many.clone() }.write(&at("two"), "b")];
    let seven = grid(&at("seven"), &base);
    let long = "A very long name, as some people choose for the runs that they want to remember for years";
    let named = [label(long, &seven[0]), label("Żółć: 50% & “mehr” 测试", &seven[1])];
    let swept = [12, 18].map(|value| SweepRun {
        value: format!("[{value}, {value}]"),
        folder: base.write(&at("swept"), &value.to_string()),
    });
    let reports = [
        ("one", Report::new(&one, true)),
        ("two", Report::new(&two, true)),
        ("seven", Report::new(&seven, false)),
        ("named", Report::of(&read_runs(&seven, &named).unwrap(), false)),
        ("sweep", Report::sweep("model.dims", &swept, Some(0))),
        ("paper", Report::reproduction("physionet-mi", &reproduction(&at("paper")), &[])),
        ("compare", Ok(compare(&seven[..3], &named[..1]).unwrap().report())),
    ];
    for (name, report) in reports {
        let tables = report.unwrap().files(&[Format::Latex]);
        assert!(!tables.is_empty(), "{name}");
        let folder = at(&format!("{name}-latex"));
        std::fs::create_dir(&folder).unwrap();
        let found = complaints(&folder, &tables);
        if let Some(kept) = std::env::var_os("FEDSPD_KEEP_LATEX") {
            std::fs::copy(folder.join("all.pdf"), Path::new(&kept).join(format!("{name}.pdf"))).unwrap();
        }
        assert_eq!(found, [""; 0], "{name}");
    }
}
