//! Valid configurations: defaults, overrides, conversion to TOML and back, the template and the
//! schema.

use std::collections::BTreeSet;

use fedspd_eeg::Estimator;
use fedspd_experiment::config::{
    Aggregation, Clients, Config, ConfigError, EpochsLocal, Mode, ModelKind, Override, PRESETS, Precision,
    Preset, Source, template,
};

const SAMPLE: &str = "[data]\nname = \"sample\"\n";

fn parse(text: &str, overrides: &[&str]) -> Config {
    let overrides: Vec<Override> = overrides.iter().map(|text| text.parse().unwrap()).collect();
    Config::parse(text, "test.toml", &overrides).unwrap()
}

#[test]
fn only_the_name_of_the_data_is_needed() {
    let config = parse(SAMPLE, &[]);
    assert_eq!(config, Config::new("sample"));
    assert_eq!(config.check(), Ok(()));
    assert_eq!(config.data.source(), Ok(Source::Sample));
    assert_eq!(config.mode, Mode::Federated);
    assert_eq!(config.model.dims, [18]);
    assert_eq!(config.federated.epochs_local, EpochsLocal::new(2));
    assert_eq!(config.run.seeds.as_slice(), [0]);
    assert_eq!(parse("", &["data.name=sample"]), config);
}

#[test]
fn what_depends_on_the_network_is_filled_in() {
    let spdnet = parse(SAMPLE, &[]).model;
    assert_eq!((spdnet.precision, spdnet.dropout), (Some(Precision::F64), Some(0.0)));
    let eegnet = parse("data.name = 'weibo2014'", &["model.kind=eegnet"]).model;
    assert_eq!((eegnet.precision, eegnet.dropout), (Some(Precision::F32), Some(0.25)));
    let chosen = parse(SAMPLE, &["model.precision=f32", "model.dropout=0.5"]).model;
    assert_eq!((chosen.resolved_precision(), chosen.resolved_dropout()), (Precision::F32, 0.5));
}

#[test]
fn overrides_are_toml_or_words() {
    let config = parse(
        "data.name = 'weibo2014'\n[federated]\nrounds = 10\nclients = 'fixed'",
        &[
            "federated.rounds=50",
            "federated.aggregation=rl-avg",
            "federated.server_momentum = 0.9",
            "federated.clients.north=[1, 2]",
            "federated.clients.\"south wing\"=['3']",
            "federated.epochs_local.north=7",
            "data.subjects=1-4",
            "data.exclude=4",
            "data.classes=[\"feet\", \"rest\"]",
            "model.dims=[32,16]",
            "run.seeds=0..3",
            "covariance.shrinkage=0.1",
            "train.lr=1",
        ],
    );
    assert_eq!(config.federated.rounds, 50);
    assert_eq!(config.federated.aggregation, Aggregation::RlAvg);
    let clients = [("north", vec!["1", "2"]), ("south wing", vec!["3"])];
    let clients = clients.map(|(name, ids)| (name.to_owned(), ids.into_iter().map(str::to_owned).collect()));
    assert_eq!(config.federated.clients, Clients::Explicit(clients.into()));
    assert_eq!(config.federated.epochs_local.of("north"), 7);
    assert_eq!(config.federated.epochs_local.of("south wing"), 2);
    assert_eq!(config.data.subjects.unwrap().ids(), ["1", "2", "3", "4"]);
    assert_eq!(config.data.exclude.unwrap().ids(), ["4"]);
    assert_eq!(config.model.dims, [32, 16]);
    assert_eq!(config.run.seeds.as_slice(), [0, 1, 2]);
    assert_eq!(config.covariance.resolved_estimator(), Estimator::Shrinkage(0.1));
    assert_eq!(config.train.lr, 1.0);
    assert_eq!(parse(SAMPLE, &["run.seeds=4"]).run.seeds.as_slice(), [4]);
    assert_eq!(parse(SAMPLE, &["federated.rounds=1", "federated.rounds=2"]).federated.rounds, 2);
}

#[test]
fn a_configuration_survives_the_way_to_toml_and_back() {
    let all = [
        (SAMPLE.to_owned(), vec![]),
        (Preset::find("sample").unwrap().text.to_owned(), vec!["run.seeds=0..10", "mode=centralised"]),
        (template("mine"), vec!["federated.epochs_local={default = 3, a = 5, \"b c\" = 1}"]),
        (
            "data.name = 'own/study.toml'".to_owned(),
            vec![
                "data.root='recordings'",
                "data.subjects=1-8,A01",
                "data.exclude=3",
                "data.band=[8, 32.5]",
                "data.window=[-0.5, 3]",
                "data.classes=['left \"hand\"', 'rest']",
                "data.resample=true",
                "covariance.estimator=ledoit-wolf",
                "covariance.windows=[[0, 1.5], [1.5, 3]]",
                "covariance.bands=[[8, 12], [12, 32]]",
                "align.kind=log-euclidean",
                "align.fit=all",
                "align.calibration=20",
                "split.held_out_subjects=7-8",
                "model.dims=[]",
                "model.head=isometric-vech",
                "train.lr=1e-300",
                "train.scheduler=cosine",
            ],
        ),
        (
            "data.name = 'mi.toml'".to_owned(),
            vec![
                "federated.clients={\"north.1\" = [1, 2], b = ['x']}",
                "federated.weights=by-trials",
                "federated.on_client_failure=skip",
                "federated.aggregation=rl-avg",
                "federated.server_lr=0.30000000000000004",
                "split.kind=leave-run-out",
                "split.fold=2",
                "split.folds=3",
                "covariance.shrinkage=0.125",
                "mode=local",
            ],
        ),
        (
            "data.name = 'generated'".to_owned(),
            vec![
                "model.kind=eegnet",
                "align.kind=euclidean",
                "data.generated.strength=0.5",
                "data.generated.shift=1",
            ],
        ),
    ];
    for (text, overrides) in all {
        let config = parse(&text, &overrides);
        let written = config.to_toml();
        assert_eq!(parse(&written, &[]), config, "{written}");
        assert_eq!(config.check(), Ok(()), "{written}");
        assert_eq!(parse(&written, &[]).to_toml(), written);
    }
}

#[test]
fn every_key_with_a_default_is_written() {
    let written = keys(&Config::new("sample").to_toml());
    let optional = [
        "align.calibration",
        "covariance.shrinkage",
        "data.band",
        "data.classes",
        "data.exclude",
        "data.generated.shift",
        "data.generated.strength",
        "data.like",
        "data.root",
        "data.subjects",
        "data.window",
        "split.fold",
        "split.folds",
        "split.held_out_subjects",
        "split.seed",
    ];
    let missing: Vec<_> = schema_keys().into_iter().filter(|key| !written.contains(key)).collect();
    assert_eq!(missing, optional);
}

#[test]
fn runs_from_before_a_key_was_there_keep_their_hash() {
    let hash = |settings: &[&str]| parse("data.name = 'sample'\ntrain.scheduler = 'cosine'", settings).hash();
    // As of commit 4434572.
    assert_eq!(hash(&[]), "8571a17bada2f706634233badc58962cad7667b2d6c44a4de80512bbd8db918a");
    assert_ne!(hash(&["run.validate_every=10"]), hash(&[]));
}

#[test]
fn the_template_is_the_defaults() {
    let text = template("mine");
    assert!(text.starts_with("# mine: an experiment of fedspd."), "{text}");
    assert_eq!(parse(&text, &[]), Config::new("sample"));
    assert_eq!(parse(&template("two\nlines"), &[]), Config::new("sample"));
}

#[test]
fn the_template_has_every_key_of_the_schema_and_no_other() {
    assert_eq!(keys(&uncommented()), schema_keys());
}

#[test]
fn every_optional_key_of_the_template_shows_a_sound_value() {
    let config = Config::parse(
        &uncommented().replace("\"sample\"\n# The folder", "\"weibo2014\"\n# The folder"),
        "t",
        &[],
    );
    // The examples of the template fit one dataset and are consistent.
    assert!(config.is_ok(), "{}", config.unwrap_err());
}

#[test]
fn every_key_of_the_template_has_a_comment() {
    let text = template("mine");
    let lines: Vec<&str> = text.lines().collect();
    for pair in lines.windows(2) {
        if is_key(pair[1].trim_start_matches("# ")) {
            assert!(pair[0].starts_with("# ") && !is_key(&pair[0][2..]), "{}", pair[1]);
        }
    }
}

#[test]
fn the_schema_is_closed_and_says_what_keys_are() {
    fn walk(schema: &serde_json::Value, path: &str) {
        let Some(keys) = schema["properties"].as_object() else { return };
        assert_eq!(schema["additionalProperties"], false, "{path}");
        for (key, schema) in keys {
            assert!(schema["description"].is_string(), "{path}.{key}");
            walk(schema, &format!("{path}.{key}"));
        }
    }
    let schema = Config::schema();
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    assert!(!schema.to_string().contains("$ref"), "{schema}");
    assert_eq!(schema["required"], serde_json::json!(["data"]));
    walk(&schema, "");
    assert_eq!(schema["properties"]["federated"]["properties"]["rounds"]["default"], 150);
    assert_eq!(schema["properties"]["model"]["properties"]["epsilon"]["exclusiveMinimum"], 0);
}

#[test]
fn built_in_configurations_are_sound() {
    assert_eq!(Preset::find("smple"), None);
    for preset in PRESETS {
        let config = preset.config(&[]).unwrap_or_else(|error| panic!("{}: {error}", preset.name));
        assert!(preset.name.starts_with(&config.data.name), "{}", preset.name);
    }
    assert_eq!(Preset::find("sample").unwrap().config(&[]).unwrap(), Config::new("sample"));
}

#[test]
fn a_configuration_of_a_program_is_checked_by_the_same_rules() {
    let mut config = Config::new("sample");
    config.train.lr = f64::NAN;
    let error = config.check().unwrap_err();
    assert_eq!(error.to_string(), "`train.lr` is nan in the configuration; it must be a number above 0");
    let mut config = Config::new("sample");
    config.model.kind = ModelKind::Eegnet;
    assert!(matches!(config.check(), Err(ConfigError::Conflict { .. })));
    assert_eq!(
        Config::new("smple").check().unwrap_err().to_string(),
        "unknown value \"smple\" of `data.name` in the configuration"
    );
    let mut config = Config::new("sample");
    config.train.patience = usize::MAX;
    assert!(matches!(config.check(), Err(ConfigError::Unreadable { .. })));
}

/// The template with its optional keys.
fn uncommented() -> String {
    let line = |line: &str| match line.strip_prefix("# ") {
        Some(rest) if is_key(rest) => rest.to_owned(),
        _ => line.to_owned(),
    };
    template("mine").lines().map(line).collect::<Vec<_>>().join("\n")
}

fn is_key(line: &str) -> bool {
    line.split_once(" = ").is_some_and(|(key, _)| key.chars().all(|c| c.is_ascii_lowercase() || c == '_'))
}

fn keys(text: &str) -> BTreeSet<String> {
    fn walk(table: &toml::Table, path: &str, all: &mut BTreeSet<String>) {
        for (key, value) in table {
            match value {
                toml::Value::Table(inner) => walk(inner, &format!("{path}{key}."), all),
                _ => assert!(all.insert(format!("{path}{key}"))),
            }
        }
    }
    let mut all = BTreeSet::new();
    walk(&text.parse().unwrap(), "", &mut all);
    all
}

fn schema_keys() -> BTreeSet<String> {
    fn walk(schema: &serde_json::Value, path: &str, all: &mut BTreeSet<String>) {
        for (key, schema) in schema["properties"].as_object().unwrap() {
            if schema.get("properties").is_some() {
                walk(schema, &format!("{path}{key}."), all);
            } else {
                all.insert(format!("{path}{key}"));
            }
        }
    }
    let mut all = BTreeSet::new();
    walk(&Config::schema(), "", &mut all);
    all
}

/// Each method is selected by its name. Older files select `fedprox` by its weight, with the same
/// hash.
#[test]
fn methods_are_selected_by_name() {
    let parse = |text: &str| Config::parse(&format!("data.name = 'sample'\n{text}"), "a.toml", &[]).unwrap();
    let (plain, named) = (parse(""), parse("federated = { method = 'fedprox', prox_mu = 0.1 }"));
    let older = parse("federated.prox_mu = 0.1");
    assert_eq!(older, named);
    assert_eq!(older.hash(), named.hash());
    assert_ne!(plain.hash(), named.hash());
    assert!(
        named.to_toml().contains("method = \"fedprox\"") && plain.to_toml().contains("method = \"fedavg\"")
    );
}
