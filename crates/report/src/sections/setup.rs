//! Setup of the runs: data, training, configuration and warnings.

use super::names::{configuration, excluded, subjects_of_clients};
use super::{Block, Section};
use crate::LoadedRun;
use crate::table::{Best, Cell, Table};
use crate::words::{bytes, class, count, duration, list, share};

pub(crate) fn section(runs: &[LoadedRun], name_subjects: bool) -> Section {
    let mut parts: Vec<Block> = facts(runs).into_iter().map(Block::Table).collect();
    for run in runs {
        parts.extend(excluded(run, name_subjects, runs.len() > 1).map(Block::Text));
    }
    if name_subjects {
        parts.extend(runs.iter().filter_map(subjects_of_clients).map(Block::Table));
    }
    for run in runs {
        let title = if runs.len() > 1 {
            format!("Configuration of “{}”", run.label)
        } else {
            "Configuration".into()
        };
        parts.push(Block::Details { title, lines: configuration(run, name_subjects) });
    }
    for run in runs.iter().filter(|run| !run.warnings.is_empty()) {
        // Warnings may name clients and subjects.
        parts.push(if name_subjects {
            Block::Details {
                title: format!("Warnings of “{}”", run.label), lines: run.warnings.join("\n")
            }
        } else {
            Block::Text(format!(
                "“{}” had {}. Read them in its log, or here with `--name-subjects`.",
                run.label,
                count(run.warnings.len(), "warning")
            ))
        });
    }
    Section { slug: "setup", title: "Setup", parts }
}

/// The facts of a run, by name.
fn of(run: &LoadedRun) -> Vec<(&'static str, String)> {
    let manifest = &run.manifest;
    let clients = run.clients();
    let trials = |of: fn(&fedspd_run::Shard) -> &Vec<usize>| -> usize {
        run.shards.seeds.first().map_or(0, |seed| seed.clients.iter().flat_map(of).sum())
    };
    let held_out = run.shards.seeds.first().map_or(0, |seed| seed.held_out.len());
    let mut facts = vec![
        ("experiment", manifest.name.clone()),
        (
            "data",
            format!(
                "{}, {}, {}",
                manifest.dataset,
                count(manifest.subjects.len(), "subject"),
                count(manifest.channels.len(), "channel")
            ),
        ),
        ("data, SHA-256", manifest.data_sha256.clone().unwrap_or_else(|| "generated".into())),
        ("classes", list(&manifest.classes.iter().map(|name| class(name)).collect::<Vec<_>>())),
        (
            "trials",
            format!(
                "{}{} for training, {} for validation, {} for test",
                if run.folds() > 1 { "in the first fold " } else { "" },
                trials(|shard| &shard.train),
                trials(|shard| &shard.val),
                trials(|shard| &shard.test)
            ),
        ),
        ("split", split(run)),
        ("scored model", format!("that of {}", run.selection())),
        (
            "clients",
            if held_out > 0 {
                format!("{clients}, and {} held out", count(held_out, "subject"))
            } else {
                clients.to_string()
            },
        ),
        ("training", training(run)),
        ("network", format!("{}, {}", run.network(), count(manifest.parameters, "parameter"))),
        ("alignment", alignment(run)),
    ];
    if run.is_federated() {
        facts.push(("client weights", manifest.weights.clone()));
    }
    facts.push(("seeds", seeds(run)));
    if let Some(error) = run.headline().feasibility_error {
        facts.push(("orthonormality", format!("largest |WᵀW − I| of a final model {error:.1e}")));
    }
    facts.extend([
        (
            "time",
            manifest.wall_seconds.map_or("not known".into(), |seconds| {
                format!(
                    "{}, {} on {}",
                    duration(seconds),
                    count(manifest.threads, "thread"),
                    manifest.cpu_path
                )
            }),
        ),
        ("peak memory", manifest.peak_memory_bytes.map_or("not known".into(), |peak| bytes(peak as f64))),
        ("version", format!("fedspd {}, run folder schema {}", manifest.fedspd_version, manifest.schema)),
        ("configuration hash", manifest.config_hash.clone()),
    ]);
    facts
}

fn seeds(run: &LoadedRun) -> String {
    let all = run.manifest.seeds.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let done = run.seeds_done();
    if done < run.manifest.seeds.len() { format!("{all}; {done} done") } else { all }
}

fn split(run: &LoadedRun) -> String {
    let number = |key: &str| {
        run.setting(key).and_then(|value| value.as_float().or(value.as_integer().map(|whole| whole as f64)))
    };
    let percent = |key: &str| number(key).map_or(String::new(), |share| crate::words::digits(100.0 * share));
    let held_out = match run.word("split.kind") {
        "leave-run-out" => Some("whole runs"),
        "leave-session-out" => Some("whole sessions"),
        "leave-subject-out" => Some("whole subjects"),
        "leave-client-out" => Some("whole clients"),
        _ => None,
    };
    let whole = |key: &str| run.setting(key).and_then(toml::Value::as_integer);
    let kind = match (held_out, whole("split.fold"), whole("split.folds")) {
        (Some(what), Some(fold), Some(folds)) => {
            format!("{what} held out, fold {} of {folds}", fold.saturating_add(1))
        }
        (Some(what), Some(fold), None) => format!("{what} held out, fold {}", fold.saturating_add(1)),
        (Some(what), None, _) => format!("{what} held out, {}", count(run.folds(), "fold")),
        (None, ..) => format!(
            "random within subject and class, {}/{}/{} percent",
            percent("split.train"),
            percent("split.val"),
            percent("split.test")
        ),
    };
    let refit = run.setting("split.refit").and_then(toml::Value::as_bool).unwrap_or_default();
    let kind = if refit { format!("{kind}; final models also train on validation trials") } else { kind };
    match run.setting("split.seed") {
        Some(seed) => format!("{kind}; the same for all seeds (split.seed {seed})"),
        None => kind,
    }
}

fn training(run: &LoadedRun) -> String {
    let whole = |key: &str| run.setting(key).map_or(String::new(), ToString::to_string);
    let rate = format!(
        "{}, learning rate {}, batches of {}",
        run.word("train.optimizer"),
        whole("train.lr"),
        whole("train.batch")
    );
    match run.mode() {
        "federated" => {
            let epochs = run
                .setting("federated.epochs_local")
                .filter(|epochs| !epochs.is_table())
                .map_or("client-specific".into(), ToString::to_string);
            format!(
                "{}, {} participation, {} of {}; {rate}",
                run.method(),
                share(run.participation()),
                count(whole("federated.rounds"), "round"),
                count(epochs, "local epoch")
            )
        }
        _ => {
            format!("{}, at most {}; {rate}", run.method(), count(whole("train.epochs"), "epoch"))
        }
    }
}

fn alignment(run: &LoadedRun) -> String {
    match (run.manifest.alignment.as_str(), run.manifest.transductive) {
        ("none", _) => "none".into(),
        (kind, true) => format!(
            "{kind}, fitted on all trials of a subject without labels, test trials included (transductive)"
        ),
        (kind, false) => format!("{kind}, fitted on training trials without labels"),
    }
}

/// Largest number of runs side by side that fits on a sheet of paper.
const ABREAST: usize = 3;

/// Makes the tables of facts: shared facts once, the others with a few runs side by side.
fn facts(runs: &[LoadedRun]) -> Vec<Table> {
    let all: Vec<Vec<(&str, String)>> = runs.iter().map(of).collect();
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in all.iter().flatten() {
        if !names.contains(name) {
            names.push(name);
        }
    }
    let value = |facts: &[(&str, String)], name: &str| {
        facts.iter().find(|(other, _)| *other == name).map_or("–".to_owned(), |(_, value)| value.clone())
    };
    let is_common = |name: &str| all.iter().all(|facts| value(facts, name) == value(&all[0], name));
    let (common, own): (Vec<&str>, Vec<&str>) =
        names.into_iter().partition(|name| runs.len() > ABREAST && is_common(name));
    let table = |slug: String, caption: &str, names: &[&str], runs: Vec<(&str, &[(&str, String)])>| Table {
        slug,
        caption: caption.into(),
        head: std::iter::once("").chain(runs.iter().map(|(label, _)| *label)).map(String::from).collect(),
        rows: names
            .iter()
            .map(|name| {
                let values = runs.iter().map(|(_, facts)| Cell::Word(value(facts, name)));
                std::iter::once(Cell::word(*name)).chain(values).collect()
            })
            .collect(),
        best: Best::Nowhere,
    };
    let mut tables = Vec::new();
    if !common.is_empty() {
        let every = vec![("all runs", &all[0][..])];
        tables.push(table("facts".into(), "Facts shared by all runs.", &common, every));
    }
    let labels = runs.iter().map(|run| run.label.as_str());
    let beside: Vec<(&str, &[(&str, String)])> = labels.zip(all.iter().map(Vec::as_slice)).collect();
    for (place, few) in beside.chunks(ABREAST).enumerate() {
        let slug = if runs.len() > ABREAST { format!("facts-{}", place + 1) } else { "facts".into() };
        let caption = "Facts needed to repeat a run and to judge whether two runs are comparable.";
        tables.push(table(slug, caption, &own, few.to_vec()));
    }
    tables
}
