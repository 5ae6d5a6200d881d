//! Content of a report.

use fedspd_report::{Best, Cell, Format, Label, Report, Table, read_runs};
use fedspd_run::TrialFacts;
use tempfile::tempdir;

use crate::support::{Plan, grid};

/// All sections and figures of a run with an interpretation.
const FIGURES: [&str; 11] = [
    "agreement",
    "class-patterns-1",
    "classes",
    "column-patterns-1",
    "confusion",
    "convergence",
    "cost",
    "each-client",
    "fairness",
    "plane",
    "spectra",
];

#[test]
fn a_run_becomes_a_page_figures_and_tables() {
    let root = tempdir().unwrap();
    let run = Plan::default().write(root.path(), "run");
    let report = Report::new(&[&run], false).unwrap();
    let files = report.files(&Format::ALL);
    let figures: Vec<&str> =
        files.keys().filter_map(|name| name.strip_prefix("figures/")?.strip_suffix(".svg")).collect();
    assert_eq!(figures, FIGURES);
    let tables: Vec<&str> = files.keys().filter_map(|name| name.strip_prefix("tables/")).collect();
    assert_eq!(
        tables,
        [
            "classes.csv",
            "classes.tex",
            "clients.csv",
            "clients.tex",
            "convergence.csv",
            "convergence.tex",
            "facts.csv",
            "headline.csv",
            "headline.tex",
            "methods.csv",
            "methods.tex",
            "scores.csv",
            "scores.tex"
        ]
    );
    let page = &files["report.html"];
    for figure in FIGURES {
        assert!(page.contains(&format!("<figure id=\"{figure}\">")), "{figure}");
    }
    for words in [
        "Test trials come from the same people",
        "recognising the run",
        "79.7 MB",
        "15.4 s",
        "Channel EOG is not drawn",
        "3.4% of the eigenvalues",
        "unseen people",
        "2 subjects",
    ] {
        assert!(page.contains(words), "{words}");
    }
    assert!(!page.contains("transductive"), "alignment did not see test trials");
    // The page loads nothing and runs no script.
    for forbidden in ["<script", "http://", "https://", "<link", "<img", "url(http", "@import"] {
        assert!(!page.contains(forbidden), "{forbidden}");
    }
}

#[test]
fn files_are_written_beside_the_page_and_the_same_folder_gives_the_same_bytes() {
    let root = tempdir().unwrap();
    let runs = grid(root.path(), &Plan::default());
    let out = root.path().join("out");
    let report = Report::new(&runs, false).unwrap();
    assert_eq!(report.write(&out, &Format::ALL).unwrap(), out.join("report.html"));
    let again = Report::new(&runs, false).unwrap().files(&Format::ALL);
    for (name, text) in &again {
        assert_eq!(&std::fs::read_to_string(out.join(name)).unwrap(), text, "{name}");
    }
    let only = Report::new(&runs, false).unwrap().files(&[Format::Csv]);
    assert!(only.keys().all(|name| name.starts_with("tables/")) && only.contains_key("tables/headline.csv"));
    assert!(!only.contains_key("tables/headline.tex"));
}

#[test]
fn several_runs_are_told_apart_and_transductive_alignment_is_told() {
    let root = tempdir().unwrap();
    let runs = grid(root.path(), &Plan::default());
    let files = Report::new(&runs, false).unwrap().files(&Format::ALL);
    let page = &files["report.html"];
    for label in [
        "ProjAvg, full",
        "RLAvg, half",
        "centralised",
        "each client alone",
        "ProjAvg, full, aligned",
        "full participation",
        "half participation",
    ] {
        assert!(page.contains(label), "{label}");
    }
    assert!(page.contains("it is transductive"));
    let headline = &files["tables/headline.csv"];
    assert_eq!(headline.lines().count(), 1 + runs.len());
    assert!(headline.starts_with("run,macro-F1 mean,macro-F1 std,"), "{headline}");
    assert!(files.contains_key("figures/participation.svg"));
}

#[test]
fn runs_that_differ_in_nothing_have_numbers() {
    let root = tempdir().unwrap();
    let runs = ["a", "b"].map(|name| Plan::default().write(root.path(), name));
    let page = Report::new(&runs, false).unwrap().html();
    assert!(page.contains("ProjAvg (1)") && page.contains("ProjAvg (2)"));
}

#[test]
fn a_run_without_an_interpretation_says_so_in_a_sentence() {
    let root = tempdir().unwrap();
    let run = Plan { interpretation: false, mode: "local", ..Plan::default() }.write(root.path(), "run");
    let files = Report::new(&[run], false).unwrap().files(&Format::ALL);
    assert!(files["report.html"].contains("This run has no interpretation of its network"));
    assert!(!files.contains_key("figures/spectra.svg") && !files.contains_key("figures/agreement.svg"));
}

#[test]
fn one_seed_has_no_deviation() {
    let root = tempdir().unwrap();
    let run = Plan { seeds: 1, ..Plan::default() }.write(root.path(), "run");
    let page = Report::new(&[run], false).unwrap().html();
    assert!(page.contains("has one seed") && page.contains("no deviation to show") && !page.contains("NaN"));
}

/// A seed that was stopped half-way neither shortens a curve nor adds a band.
#[test]
fn curves_are_those_of_finished_seeds() {
    let root = tempdir().unwrap();
    let whole = Plan { seeds: 1, ..Plan::default() }.write(root.path(), "whole");
    let stopped = Plan { seeds: 3, stopped: 2, ..Plan::default() }.write(root.path(), "stopped");
    let [whole, stopped] = [whole, stopped].map(|run| Report::new(&[run], false).unwrap());
    let table = |report: &Report| report.files(&[Format::Csv])["tables/convergence.csv"].clone();
    assert_eq!(table(&whole).lines().count(), 13);
    assert_eq!(table(&whole), table(&stopped));
    let page = stopped.html();
    assert!(page.contains("is not complete: 1 of 3 seeds are done") && page.contains("0, 1, 2; 1 done"));
}

/// The table of methods shows how many runs share a cell, so that none is dropped silently.
#[test]
fn a_table_of_methods_says_where_several_runs_are() {
    let root = tempdir().unwrap();
    let runs = ["a", "b"].map(|name| Plan::default().write(root.path(), name));
    let methods = Report::new(&runs, false).unwrap().files(&[Format::Csv])["tables/methods.csv"].clone();
    assert!(methods.contains("2 runs"), "{methods}");
}

#[test]
fn the_paper_s_size_stays_below_two_megabytes() {
    let root = tempdir().unwrap();
    let runs = grid(root.path(), &Plan { clients: 53, rounds: 150, seeds: 10, ..Plan::default() });
    let report = Report::new(&runs, false).unwrap();
    let size = report.html().len();
    assert!(size < 2_000_000, "{size} bytes");
    let alone = Report::new(&runs[..1], false).unwrap().html().len();
    assert!(alone < 1_000_000, "{alone} bytes");
}

#[test]
fn a_table_of_latex_has_the_best_of_each_row_in_bold() {
    let score = |mean, std| Cell::Score { mean, std };
    let table = Table {
        slug: "methods".into(),
        caption: "Macro-F1 in %.".into(),
        head: ["dataset", "Centr.", "Full", "Half"].map(String::from).into(),
        rows: vec![
            vec![Cell::word("physionet_mi"), score(43.1, 0.5), score(39.46, 0.6), score(39.54, 0.9)],
            vec![Cell::word("weibo"), score(51.0, f64::NAN), score(51.04, 1.0), score(f64::NAN, f64::NAN)],
        ],
        best: Best::InRow,
    };
    assert_eq!(
        table.latex(),
        r"% Needs \usepackage{booktabs} in the preamble. Plain ASCII, for any encoding.
\begin{table}
  \centering
  \caption{Macro-F1 in \%.}
  \label{tab:methods}
  \begin{tabular}{lccc}
    \toprule
    dataset & Centr. & Full & Half \\
    \midrule
    physionet\_mi & $\mathbf{43.1} \pm 0.5$ & $39.5 \pm 0.6$ & $39.5 \pm 0.9$ \\
    weibo & $\mathbf{51.0}$ & $\mathbf{51.0} \pm 1.0$ & -- \\
    \bottomrule
  \end{tabular}
\end{table}
"
    );
    let words = |text: &str| Table { rows: vec![vec![Cell::word(text); 4]], ..table.clone() }.latex();
    assert!(words("[16, 8]").contains("    {}[16, 8] & "), "not the option of \\midrule");
    assert!(words(&"a sentence ".repeat(9)).contains(r"\linewidth}p{"), "lines are broken");
    let only = Table { best: Best::InTheColumn(2), ..table.clone() }.latex();
    assert!(only.contains(r"$\mathbf{51.0} \pm 1.0$") && !only.contains(r"\mathbf{43.1}"), "{only}");
    assert_eq!(
        table.csv(),
        "dataset,Centr. mean,Centr. std,Full mean,Full std,Half mean,Half std\nphysionet_mi,43.1,0.5,39.46,0.6,39.54,0.9\nweibo,51,,51.04,1,,\n"
    );
}

/// Runs are named by the settings that differ, or as the user says; labels keep the order of runs.
#[test]
fn runs_have_the_labels_that_were_given() {
    let root = tempdir().unwrap();
    let runs = [("a", 12), ("b", 9)]
        .map(|(name, rounds)| Plan { rounds, ..Plan::default() }.write(root.path(), name));
    let headline = |labels: &[Label]| {
        let runs = read_runs(&runs, labels).unwrap();
        let files = Report::of(&runs, false).unwrap().files(&[Format::Csv]);
        let rows = files["tables/headline.csv"].lines().skip(1);
        rows.map(|row| row.split_once(",4").unwrap().0.trim_matches('"').to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(headline(&[]), ["ProjAvg, federated.rounds 12", "ProjAvg, federated.rounds 9"]);
    let label = |name: &str, run: &std::path::Path| Label { name: name.into(), run: run.into() };
    assert_eq!(headline(&[label("few rounds", &runs[1])]), ["ProjAvg, federated.rounds 12", "few rounds"]);
    let fault = |labels: &[Label]| read_runs(&runs, labels).unwrap_err().to_string();
    let elsewhere = fault(&[label("x", &root.path().join("c"))]);
    assert!(
        elsewhere.starts_with("the label `x` is for ") && elsewhere.ends_with("which is not among the runs")
    );
    assert_eq!(fault(&[label("x", &runs[0]), label("x", &runs[1])]), "two runs have the label `x`");
    assert!(fault(&[label("x", &runs[0]), label("y", &runs[0])]).ends_with("has two labels, `x` and `y`"));
}

/// Runs that were tested on different trials are shown side by side, without a best.
#[test]
fn runs_with_different_test_trials_are_not_ranked() {
    let root = tempdir().unwrap();
    let base = Plan { interpretation: false, ..Plan::default() };
    let better = Plan { lift: 0.03, ..base.clone() };
    let page = |name: &str, first: &Plan, second: &Plan| {
        let root = root.path().join(name);
        Report::new(&[first.write(&root, "a"), second.write(&root, "b")], false).unwrap().html()
    };
    let ranked = page("same", &base, &better);
    assert!(
        ranked.contains("has the highest macro-F1") && ranked.contains("<b>") && ranked.contains("is bold")
    );
    for (name, other, reason) in [
        (
            "split",
            Plan { split: "leave-run-out", ..better.clone() },
            "the splits are <code>stratified</code> and <code>leave-run-out</code>",
        ),
        ("trials", Plan { test_hash: 1, ..better.clone() }, "with seed 0 their test trials differ"),
        ("seeds", Plan { seeds: 2, ..better.clone() }, "their finished seeds are 0 1 2 and 0 1"),
    ] {
        let page = page(name, &base, &other);
        assert!(page.contains("runs are not ranked") && page.contains(reason), "{name}");
        assert!(!page.contains("highest") && !page.contains("<b>") && !page.contains("is bold"), "{name}");
    }
}

/// Caveats follow from the facts of the runs, whatever their dataset is called.
#[test]
fn caveats_come_from_the_data() {
    const PEOPLE: &str = "come from the same people";
    const BLOCKED: &str =
        "60 of 60 recording runs have only some of the classes of their subject, and 60 have";
    const FEW: &str = "A seed has 140 test trials. The 95% interval of an accuracy of";
    const COPIES: &str = "3 trials are the same, or nearly the same, in 1 pair of subjects";
    const UNKNOWN: &str = "does not record whether recording runs have only some";
    let root = tempdir().unwrap();
    let facts = Plan::default().facts.unwrap();
    let page = |name: &str, plan: Plan| {
        let html = Report::new(&[plan.write(root.path(), name)], false).unwrap().html();
        [PEOPLE, BLOCKED, FEW, COPIES, UNKNOWN].map(|text| html.contains(text))
    };
    let with = |facts: TrialFacts| Plan { facts: Some(facts), ..Plan::default() };
    assert_eq!(page("random", Plan::default()), [true, true, true, false, false]);
    let whole_runs = TrialFacts { shared_runs: 0, ..facts };
    assert_eq!(page("runs", with(whole_runs)), [true, false, true, false, false]);
    let new_people = TrialFacts { shared_subjects: 0, ..whole_runs };
    assert_eq!(page("people", with(new_people)), [false, false, true, false, false]);
    let plan = Plan { split: "leave-subject-out", ..with(new_people) };
    let html = Report::new(&[plan.write(root.path(), "new")], false).unwrap().html();
    assert!(html.contains("The test subjects are new to the model: recentred on their own trials."));
    let mixed = TrialFacts { partial_runs: 0, ..facts };
    assert_eq!(page("mixed", with(mixed)), [true, false, true, false, false]);
    let copied = TrialFacts { copied_pairs: 1, copied_trials: 3, ..new_people };
    assert_eq!(page("copies", with(copied)), [false, false, true, true, false]);
    assert_eq!(page("many", Plan { clients: 53, ..Plan::default() }), [true, true, false, false, false]);
    assert_eq!(page("old", Plan { facts: None, ..Plan::default() }), [true, false, true, false, true]);
}

/// Folds are pooled; their spread has a column of its own, and curves are means over them.
#[test]
fn folds_are_pooled_and_their_spread_is_shown() {
    let root = tempdir().unwrap();
    let plan = Plan { folds: 4, split: "leave-run-out", seeds: 2, ..Plan::default() };
    let run = plan.write(root.path(), "run");
    let files = Report::new(&[run], false).unwrap().files(&Format::ALL);
    let headline: Vec<&str> = files["tables/headline.csv"].lines().collect();
    assert!(
        headline[0].contains("kappa mean,kappa std,single folds mean,single folds std"),
        "{}",
        headline[0]
    );
    let numbers: Vec<&str> = headline[1].split(',').collect();
    let place = |name: &str| headline[0].split(',').position(|column| column == name).unwrap();
    let value = |name: &str| numbers[place(name)].parse::<f64>().unwrap();
    assert!((value("single folds mean") - value("macro-F1 mean")).abs() < 1e-9);
    assert!(value("single folds std") > 5.0 && value("macro-F1 std") < 2.0);
    assert_eq!([numbers[place("kappa mean")], numbers[place("kappa std")]], ["", ""]);
    let page = &files["report.html"];
    for text in [
        "2 seeds, 4 folds pooled",
        "The scored model is that of the last round.",
        "whole runs held out, 4 folds",
        "means over seeds and their folds (up to 4)",
        "Every client took part in every round",
    ] {
        assert!(page.contains(text), "{text}");
    }
    assert!(!page.contains("A seed has"), "560 test trials in four folds are not few");
    assert!(!files.values().any(|text| text.contains("NaN")));
    assert_eq!(files["tables/convergence.csv"].lines().count(), 1 + 12);
}
