//! Comparisons: statistics against SciPy, brute force and definitions; refusal of runs that cannot
//! be paired.
#![allow(clippy::unwrap_used, clippy::expect_used)] // helpers of tests may panic as tests do

use std::fs;
use std::path::{Path, PathBuf};

use fedspd_report::compare::{Comparison, Paired, Wilcoxon, compare, holm};
use fedspd_report::{Format, Label};
use fedspd_run::{
    Manifest, ResultRow, ResultTable, RunFolder, SCHEMA_VERSION, SeedShards, Shard, Shards, Status, atomic,
};
use proptest::prelude::*;
use serde_json::Value;

fn near(found: f64, expected: f64, tolerance: f64) -> bool {
    (found - expected).abs() <= tolerance * expected.abs().max(1e-300)
}

#[test]
fn what_scipy_says() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden/wilcoxon/cases.json");
    let cases: Vec<Value> = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    assert_eq!(cases.len(), 15);
    for case in cases {
        let name = case["name"].as_str().unwrap();
        let number = |key: &str| case[key].as_f64().unwrap();
        let list = |key: &str| -> Vec<f64> {
            case[key].as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).collect()
        };
        let differences = list("differences");
        let found = Paired::new(&differences, &vec![0.0; differences.len()]);
        let test = &found.wilcoxon;
        assert_eq!(test.exact, case["exact"].as_bool().unwrap(), "{name}");
        assert_eq!(test.plus.min(test.minus), number("statistic"), "{name}");
        let tolerance = if test.exact { 1e-14 } else { 1e-12 };
        assert!(near(test.p, number("p"), tolerance), "{name}: {} and {}", test.p, number("p"));
        for (key, value) in [
            ("rank_biserial", found.rank_biserial.unwrap()),
            ("median", found.median),
            ("cohen_dz", found.cohen_dz.unwrap()),
        ] {
            assert!(near(value, number(key), 1e-12), "{name}, {key}: {value} and {}", number(key));
        }
        if differences.len() >= 10 {
            // Draws are random: their quantiles scatter by 0.03 standard errors, and by a whole
            // step where differences are quarters.
            let count = differences.len() as f64;
            let error = found.mean / found.cohen_dz.unwrap() / count.sqrt();
            let step = if name.starts_with("no ties") { 0.0 } else { 0.2501 / count };
            for (found, expected) in found.interval.unwrap().into_iter().zip(list("bootstrap")) {
                assert!((found - expected).abs() < step.max(0.2 * error), "{name}: {found} and {expected}");
            }
        }
    }
}

/// Returns the p-value by definition, over all sign patterns.
fn by_enumeration(differences: &[f64]) -> f64 {
    let used: Vec<f64> = differences.iter().copied().filter(|d| *d != 0.0).collect();
    let rank = |d: f64| {
        let below = used.iter().filter(|other| other.abs() < d.abs()).count() as f64;
        let equal = used.iter().filter(|other| other.abs() == d.abs()).count() as f64;
        below + f64::midpoint(equal, 1.0)
    };
    let unevenness = |sum: f64| (sum - used.iter().map(|&d| rank(d)).sum::<f64>() / 2.0).abs();
    let found = unevenness(used.iter().filter(|d| **d > 0.0).map(|&d| rank(d)).sum());
    let patterns = 0..1_u32 << used.len();
    let uneven = patterns.clone().filter(|signs| {
        let plus = used.iter().enumerate().filter(|(place, _)| signs >> place & 1 == 1);
        unevenness(plus.map(|(_, &d)| rank(d)).sum()) >= found - 1e-9
    });
    uneven.count() as f64 / patterns.len() as f64
}

proptest! {
    #[test]
    fn exact_probabilities_are_those_of_all_signs(whole in prop::collection::vec(-4_i32..=4, 0..=10)) {
        let differences: Vec<f64> = whole.into_iter().map(f64::from).collect();
        let found = Wilcoxon::new(&differences);
        prop_assert!(found.exact);
        prop_assert!((found.p - by_enumeration(&differences)).abs() < 1e-12, "{found:?}");
    }

    #[test]
    fn exchanging_the_runs_turns_signs_alone(pairs in prop::collection::vec((0.0..1.0, 0.0..1.0), 1..70)) {
        let (a, b): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
        let (there, back) = (Paired::new(&a, &b), Paired::new(&b, &a));
        prop_assert_eq!(there.wilcoxon.p, back.wilcoxon.p);
        prop_assert!((there.mean + back.mean).abs() < 1e-12 && (there.median + back.median).abs() < 1e-12);
        prop_assert!(there.wilcoxon.p > 0.0 && there.wilcoxon.p <= 1.0);
        if let Some([low, high]) = there.interval {
            prop_assert!(low <= there.mean + 1e-12 && there.mean <= high + 1e-12);
        }
    }

    /// An adjusted p-value is the smallest level at which Holm's original procedure rejects.
    #[test]
    fn holm_rejects_what_holm_rejects(p in prop::collection::vec(0.0..1.0, 1..8), level in 0.001..1.0) {
        let mut order: Vec<usize> = (0..p.len()).collect();
        order.sort_by(|&a, &b| f64::total_cmp(&p[a], &p[b]));
        let rejected = order.iter().enumerate().take_while(|&(place, &index)| p[index] * (p.len() - place) as f64 <= level);
        let rejected: Vec<usize> = rejected.map(|(_, &index)| index).collect();
        for (index, adjusted) in holm(&p).into_iter().enumerate() {
            prop_assert_eq!(adjusted <= level, rejected.contains(&index), "{} of {:?}", index, p);
        }
    }
}

#[test]
fn few_pairs_and_equal_pairs() {
    let one = Paired::new(&[0.5], &[0.25]);
    assert_eq!((one.wilcoxon.p, one.interval, one.cohen_dz), (1.0, None, None));
    let equal = Paired::new(&[0.5; 8], &[0.5; 8]);
    assert_eq!((equal.wilcoxon.p, equal.wilcoxon.used, equal.rank_biserial), (1.0, 0, None));
    assert_eq!((equal.interval, equal.cohen_dz), (Some([0.0, 0.0]), None));
    // The smallest p-value that n seeds can give.
    for n in 1..=12 {
        let p = Wilcoxon::new(&(1..=n).map(f64::from).collect::<Vec<_>>()).p;
        assert_eq!(p, 2.0 / 2.0_f64.powi(n));
    }
    assert_eq!(holm(&[0.01, 0.04, 0.03, 0.005]), [0.03, 0.06, 0.06, 0.02]);
}

/// The properties of a synthetic run.
#[derive(Clone)]
struct Made {
    dataset: &'static str,
    sha256: &'static str,
    classes: &'static [&'static str],
    config: &'static str,
    seeds: Vec<u64>,
    /// The subjects of the two clients for a seed.
    subjects: fn(u64) -> [&'static str; 2],
    /// Added to every score.
    better: f64,
}

const CONFIG: &str =
    "[data]\nname = \"made\"\nroot = \"here\"\n[model]\nkind = \"spdnet\"\n[split]\ntest = 0.15\n";

fn made() -> Made {
    let (subjects, classes) =
        ((|_| ["zora", "quentin"]) as fn(u64) -> [&'static str; 2], &["left", "right"][..]);
    Made {
        dataset: "made",
        sha256: "aa",
        classes,
        config: CONFIG,
        seeds: (0..6).collect(),
        subjects,
        better: 0.0,
    }
}

impl Made {
    fn write(&self, path: PathBuf) -> PathBuf {
        RunFolder::create(path.clone(), |folder| {
            atomic::write(&folder.config(), self.config.as_bytes())?;
            let shard = |name: &str, subject: &str| Shard {
                name: name.into(),
                subjects: vec![subject.into()],
                train: vec![6; 2],
                val: vec![1; 2],
                test: vec![2; 2],
            };
            let seeds = self.seeds.iter().map(|&seed| {
                let [first, second] = (self.subjects)(seed);
                let clients = vec![shard("client 1", first), shard("client 2", second)];
                SeedShards { seed, fold: None, clients, held_out: Vec::new(), test_sha256: None }
            });
            Shards { classes: vec![], seeds: seeds.collect() }.write(&folder.shards())?;
            atomic::write(&folder.events(), b"")?;
            self.manifest().write(&folder.manifest())?;
            self.results().write(&folder.results())
        })
        .unwrap();
        path
    }

    fn manifest(&self) -> Manifest {
        Manifest {
            schema: SCHEMA_VERSION,
            fedspd_version: "0".into(),
            name: "made".into(),
            config_hash: "cc".into(),
            seeds: self.seeds.clone(),
            dataset: self.dataset.into(),
            data_sha256: Some(self.sha256.into()),
            unit: "1".into(),
            classes: self.classes.iter().map(ToString::to_string).collect(),
            channels: vec!["Cz".into()],
            subjects: vec!["zora".into(), "quentin".into()],
            excluded: Vec::new(),
            alignment: "none".into(),
            transductive: false,
            held_out: None,
            facts: None,
            weights: "uniform".into(),
            model: "spdnet".into(),
            parameters: 1,
            cpu_path: "portable".into(),
            threads: 1,
            wall_seconds: None,
            peak_memory_bytes: None,
            status: Status::Done,
            preparation: None,
        }
    }

    /// A score is 0.4 plus the seed in hundredths, plus offsets of client and run.
    fn results(&self) -> ResultTable {
        let clients = [("pooled", 0.0), ("client 1", -0.1), ("client 2", 0.1)];
        let rows = self.seeds.iter().flat_map(|&seed| {
            clients.map(|(client, more)| ResultRow {
                dataset: self.dataset.into(),
                model: "spdnet".into(),
                mode: "federated".into(),
                aggregation: "proj-avg".into(),
                participation: 1.0,
                align: "none".into(),
                seed,
                fold: None,
                round: 3,
                client: client.into(),
                split: "test".into(),
                metric: "final_macro_f1".into(),
                value: 0.4 + seed as f64 / 100.0 + more + self.better * (seed + 1) as f64,
            })
        });
        ResultTable { rows: rows.collect() }
    }
}

fn compared(first: &Made, second: &Made) -> Result<Comparison, String> {
    let folder = tempfile::tempdir().unwrap();
    let runs = [first.write(folder.path().join("first")), second.write(folder.path().join("second"))];
    let labels = [("first", &runs[0]), ("second", &runs[1])]
        .map(|(name, run)| Label { name: name.into(), run: run.clone() });
    compare(&runs, &labels).map_err(|error| {
        assert!(error.hint().is_some());
        error.to_string()
    })
}

#[test]
fn runs_are_paired_by_seed_and_by_client() {
    let better = Made {
        better: 0.01,
        config: "[data]\nname = \"made\"\nroot = \"there\"\n[model]\nkind = \"spdnet\"\n[split]\ntest = 0.15\n",
        ..made()
    };
    let found = compared(&better, &made()).unwrap();
    assert_eq!((found.seeds.len(), found.clients, found.pairs.len()), (6, Some(2), 1));
    let pair = &found.pairs[0];
    assert!((pair.over_seeds.mean - 0.035).abs() < 1e-12 && pair.over_seeds.wilcoxon.p == 2.0 / 64.0);
    assert_eq!(pair.over_seeds.rank_biserial, Some(1.0));
    let clients = pair.over_clients.as_ref().unwrap();
    assert!((clients.mean - 0.035).abs() < 1e-12 && clients.wilcoxon.p == 0.5);
    assert!((found.runs[1].by_client[0] - 0.325).abs() < 1e-12, "{:?}", found.runs[1].by_client);
    assert_eq!(found.name(pair), "first − second");
    assert!(
        found.cautions[0].contains("not other people") && found.cautions.len() == 3,
        "{:?}",
        found.cautions
    );
}

#[test]
fn holm_counts_all_pairs_of_runs() {
    let folder = tempfile::tempdir().unwrap();
    let runs: Vec<PathBuf> = [0.0, 0.01, 0.02]
        .iter()
        .map(|&better| Made { better, ..made() }.write(folder.path().join(format!("{better}"))))
        .collect();
    let found = compare(&runs, &[]).unwrap();
    // They differ in no setting.
    let names: Vec<&str> = found.runs.iter().map(|run| &*run.name).collect();
    assert_eq!(names, ["ProjAvg (1)", "ProjAvg (2)", "ProjAvg (3)"]);
    assert!(found.runs[2].folder.ends_with("0.02"), "{}", found.runs[2].folder);
    let places: Vec<_> = found.pairs.iter().map(|pair| (pair.first, pair.second)).collect();
    assert_eq!(places, [(0, 1), (0, 2), (1, 2)]);
    assert!(found.pairs.iter().all(|pair| pair.over_seeds.p_holm == 3.0 * 2.0 / 64.0));
}

#[test]
fn what_cannot_be_paired_is_refused() {
    let other = |change: &dyn Fn(&mut Made)| {
        let mut run = made();
        change(&mut run);
        compared(&made(), &run).unwrap_err()
    };
    let chosen =
        "[data]\nname = \"made\"\nclasses = [\"left\"]\n[model]\nkind = \"eegnet\"\n[split]\ntest = 0.15\n";
    let cases: [(&str, String); 7] = [
        ("the data differ (SHA-256, and", other(&|run| (run.sha256, run.config) = ("bb", chosen))),
        ("the datasets are `made` and `else`", other(&|run| run.dataset = "else")),
        ("the classes are left, right and left, feet", other(&|run| run.classes = &["left", "feet"])),
        ("the data differ in SHA-256", other(&|run| run.sha256 = "bb")),
        (
            "with seed 0 their clients have different subjects",
            other(&|run| run.subjects = |_| ["zora", "xerxes"]),
        ),
        ("split in different ways", other(&|run| run.config = "[split]\ntest = 0.2\n")),
        ("no seed was finished by all 2 runs; they have 0 1 2 3 4 5; 7", other(&|run| run.seeds = vec![7])),
    ];
    for (expected, found) in cases {
        assert!(found.contains(expected), "{found}");
    }
    let folder = tempfile::tempdir().unwrap();
    let run = made().write(folder.path().join("run"));
    let again = folder.path().join(".").join("run");
    assert!(
        compare(&[run.clone(), again], &[])
            .unwrap_err()
            .to_string()
            .starts_with("runs: 2 given, 1 different")
    );
    assert!(compare(&[run, folder.path().join("none")], &[]).unwrap_err().hint().is_some());
}

#[test]
fn what_weakens_a_comparison_is_said() {
    let cautions = |change: &dyn Fn(&mut Made)| {
        let mut run = made();
        change(&mut run);
        compared(&made(), &run).unwrap().cautions.join("; ")
    };
    let few = cautions(&|run| run.seeds = vec![0, 1, 9]);
    assert!(few.contains("with 2 clients the smallest two-sided p is 0.50"), "{few}");
    assert!(few.contains("with 2 seeds the smallest two-sided p is 0.50"), "{few}");
    assert!(
        few.contains("left out, since not all runs have them: 4 seeds of first")
            && few.contains(": 1 seed of second"),
        "{few}"
    );
    // Different preparations of the same trials may be compared, with a caveat.
    let prepared = "[data]\nname = \"made\"\n[model]\nkind = \"eegnet\"\n[split]\ntest = 0.15\n";
    let kinds = cautions(&|run| (run.sha256, run.config) = ("bb", prepared));
    assert!(kinds.contains("prepared in different ways"), "{kinds}");
    let shuffled = |seed: u64| if seed.is_multiple_of(2) { ["zora", "quentin"] } else { ["quentin", "zora"] };
    let run = Made { subjects: shuffled, ..made() };
    let found = compared(&run, &run).unwrap();
    assert_eq!((found.clients, found.pairs[0].over_clients.is_none()), (None, true));
    assert!(found.cautions.join("; ").contains("different subjects with every seed"));
}

#[test]
fn figures_and_tables_are_written_without_names_of_people() {
    let found = compared(&Made { better: 0.01, ..made() }, &made()).unwrap();
    let files = found.report().files(&Format::ALL);
    let names: Vec<&str> = files.keys().map(String::as_str).collect();
    let tables = ["compare-differences", "compare-scores", "compare"];
    let tables = tables.map(|name| ["csv", "tex"].map(|end| format!("tables/{name}.{end}")));
    let mut expected =
        [&["figures/compare.svg".to_owned(), "report.html".to_owned()], &tables.concat()[..]].concat();
    expected.sort();
    assert_eq!(names, expected);
    assert!(files["figures/compare.svg"].contains("over 6 seeds"));
    assert!(files["figures/compare.svg"].contains("no difference"));
    assert!(
        files["tables/compare.tex"].contains("\\toprule") && files["tables/compare.tex"].contains("+3.5")
    );
    // A head, six seeds, two clients.
    assert_eq!(files["tables/compare-differences.csv"].lines().count(), 1 + 6 + 2);
    let html = &files["report.html"];
    assert!(html.contains("<figcaption>") && html.contains("not other people") && !html.contains("<script"));
    for (name, content) in &files {
        assert!(!content.contains("zora") && !content.contains("quentin"), "{name}");
    }
}
