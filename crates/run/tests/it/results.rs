//! The table of results.

use std::fs;

use fedspd_run::{Error, Headline, ResultRow, ResultTable, Summary};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};

fn row(client: &str, value: f64) -> ResultRow {
    ResultRow {
        dataset: "physionet-mi".into(),
        model: "spdnet".into(),
        mode: "federated".into(),
        aggregation: "proj-avg".into(),
        participation: 0.5,
        align: "none".into(),
        seed: 0,
        fold: None,
        round: 150,
        client: client.into(),
        split: "test".into(),
        metric: "macro-f1".into(),
        value,
    }
}

const HEADER: &str =
    "dataset,model,mode,aggregation,participation,align,seed,round,client,split,metric,value\n";

#[test]
fn a_table_is_plain_csv() {
    assert_eq!(ResultTable::default().to_csv(), HEADER);
    let table = ResultTable { rows: vec![row("pooled", 0.1 + 0.2), row("a, \"b\"\nc", f64::NAN)] };
    let line = "physionet-mi,spdnet,federated,proj-avg,0.5,none,0,150,";
    assert_eq!(
        table.to_csv(),
        format!(
            "{HEADER}{line}pooled,test,macro-f1,0.30000000000000004\n{line}\"a, \"\"b\"\"\nc\",test,macro-f1,\n"
        )
    );
}

#[test]
fn a_table_from_a_spreadsheet_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("results.csv");
    let table = ResultTable { rows: vec![row("pooled", 0.5), row("client 1", -0.0)] };
    // Other line ends, and none at the end.
    fs::write(&path, table.to_csv().trim_end().replace('\n', "\r\n")).unwrap();
    assert_eq!(ResultTable::read(&path).unwrap(), table);
}

#[test]
fn every_fault_is_named_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("results.csv");
    let good = "d,m,f,a,1,n,0,1,\"two\nlines\",t,f1,0.5\n";
    let cases: [(Vec<u8>, usize, &str); 9] = [
        (b"".to_vec(), 1, "the columns are `` where `dataset,model"),
        (b"dataset,model\n".to_vec(), 1, "the columns are `dataset,model` where"),
        (format!("{HEADER}{good}d,m\n").into(), 4, "2 fields where 12 were expected"),
        (
            format!("{HEADER}{good}{}", good.replace(",0,1,", ",-1,1,")).into(),
            4,
            "`seed` is `-1`, not a number",
        ),
        (format!("{HEADER}{}", good.replace(",0,1,", ",0,,")).into(), 2, "`round` is ``, not a number"),
        (format!("{HEADER}{}", good.replace("0.5", "half")).into(), 2, "`value` is `half`, not a number"),
        (format!("{HEADER}{good}d\"").into(), 4, "a quote that neither begins nor ends a field"),
        (format!("{HEADER}{good}\"d").into(), 4, "a quoted field that does not end"),
        ([HEADER.as_bytes(), b"d\xff"].concat(), 2, "not UTF-8 at byte 89 of the file"),
    ];
    for (content, place, message) in cases {
        fs::write(&path, content).unwrap();
        let error = ResultTable::read(&path).unwrap_err();
        assert!(matches!(error, Error::Csv { line, .. } if line == place), "{error}");
        assert!(error.to_string().contains(message), "{error}");
        assert!(error.hint().is_some());
    }
}

/// Property tests with a fixed seed: the same cases everywhere. `PROPTEST_RNG_SEED` explores
/// others.
fn cases(cases: u32) -> Config {
    let default = Config::default();
    let rng_seed = if default.rng_seed == RngSeed::Random { RngSeed::Fixed(0) } else { default.rng_seed };
    Config { cases, rng_seed, failure_persistence: None, ..default }
}

fn bits(table: &ResultTable) -> Vec<(Vec<String>, [u64; 4])> {
    let bits = |value: f64| if value.is_nan() { u64::MAX } else { value.to_bits() };
    let row = |row: &ResultRow| {
        let words = [
            &row.dataset,
            &row.model,
            &row.mode,
            &row.aggregation,
            &row.align,
            &row.client,
            &row.split,
            &row.metric,
        ];
        let numbers = [bits(row.participation), row.seed, u64::from(row.round), bits(row.value)];
        (words.map(Clone::clone).to_vec(), numbers)
    };
    table.rows.iter().map(row).collect()
}

proptest! {
    #![proptest_config(cases(128))]

    #[test]
    fn tables_come_back_bit_for_bit(
        rows in prop::collection::vec(
            (prop::collection::vec("[a-z ,\"\r\n\u{e9}]{0,6}", 8), any::<u64>(), any::<u32>(), prop::num::f64::ANY, prop::num::f64::ANY),
            0..6,
        )
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results.csv");
        let rows = rows.into_iter().map(|(words, seed, round, participation, value)| ResultRow {
            dataset: words[0].clone(),
            model: words[1].clone(),
            mode: words[2].clone(),
            aggregation: words[3].clone(),
            participation,
            align: words[4].clone(),
            seed,
            fold: None,
            round,
            client: words[5].clone(),
            split: words[6].clone(),
            metric: words[7].clone(),
            value,
        });
        let table = ResultTable { rows: rows.collect() };
        table.write(&path).unwrap();
        prop_assert_eq!(bits(&ResultTable::read(&path).unwrap()), bits(&table));
    }
}

/// The headline comes back bit for bit; missing numbers come back as NaN.
#[test]
fn a_headline_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("summary.json");
    let summary = |mean: f64| Summary { mean, std: 0.1 / 3.0, count: 3 };
    let none = Summary { mean: f64::NAN, std: f64::NAN, count: 0 };
    let headline = Headline {
        macro_f1: summary(0.1),
        mean_client: summary(1.0 / 3.0),
        worst_client: summary(0.0),
        accuracy: summary(0.7),
        kappa: summary(-0.2),
        held_out: none,
        feasibility_error: Some(1.3e-15),
        single_folds: None,
    };
    headline.write(&path).unwrap();
    let found = Headline::read(&path).unwrap();
    assert!(found.held_out.mean.is_nan() && found.held_out.std.is_nan());
    assert_eq!(Headline { held_out: summary(0.0), ..found }, Headline { held_out: summary(0.0), ..headline });
    let flat = Headline { feasibility_error: None, ..headline };
    flat.write(&path).unwrap();
    assert_eq!(Headline::read(&path).unwrap().feasibility_error, None);
    std::fs::write(&path, "{}").unwrap();
    assert!(Headline::read(&path).unwrap_err().to_string().contains("missing field"));
}

/// Rows of single folds have a column of their own. The main scores come from the rows of all folds
/// together.
#[test]
fn folds_come_back_and_are_summarised_apart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("results.csv");
    let fold = |fold, value| ResultRow { fold, metric: "final_macro_f1".into(), ..row("pooled", value) };
    let table = ResultTable { rows: vec![fold(Some(0), 0.25), fold(Some(1), 0.75), fold(None, 0.4)] };
    table.write(&path).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.starts_with(&HEADER.replace("seed,", "seed,fold,")), "{text}");
    assert!(text.contains(",none,0,1,150,pooled"), "{text}");
    assert_eq!(ResultTable::read(&path).unwrap(), table);
    let headline = fedspd_run::headline(&table);
    assert_eq!((headline.macro_f1.mean, headline.macro_f1.count), (0.4, 1));
    let single = headline.single_folds.unwrap();
    assert_eq!((single.mean, single.count), (0.5, 2));
    fs::write(&path, text.replace(",0,1,150", ",0,first,150")).unwrap();
    assert!(ResultTable::read(&path).unwrap_err().to_string().contains("`fold` is `first`, not a number"));
}
