//! Choice of an experiment: a built-in one by its name, or a file.

use std::io::ErrorKind;
use std::path::Path;

use fedspd_experiment::config::{Config, ConfigError, Override, Preset, Source};
use fedspd_run::{RunFolder, resume_command};

use crate::failure::Failure;

/// Collects the changes to a configuration: `--set`, and keys with options of their own.
pub(crate) fn changes(
    overrides: &[Override],
    seeds: Option<&str>,
    threads: Option<u16>,
) -> Result<Vec<Override>, Failure> {
    let mut changes = overrides.to_vec();
    if let Some(seeds) = seeds {
        changes.push(format!("run.seeds={seeds:?}").parse()?);
    }
    if let Some(threads) = threads {
        changes.push(format!("run.threads={threads}").parse()?);
    }
    Ok(changes)
}

/// Returns the configuration of a built-in experiment or a file, with all changes, and its name.
/// Paths in the file are relative to its folder, paths of changes to the working directory. Keys
/// without effect are refused.
pub(crate) fn config(name: &str, changes: &[Override]) -> Result<(Config, String), Failure> {
    parsed(name, changes, Preset::changed, Config::parse_written)
}

/// Does [`config`] for one value of a sweep, in which some keys may have no effect.
pub(crate) fn variant(name: &str, changes: &[Override]) -> Result<Config, Failure> {
    Ok(parsed(name, changes, Preset::config, Config::parse)?.0)
}

fn parsed(
    name: &str,
    changes: &[Override],
    change: fn(&Preset, &[Override]) -> Result<Config, ConfigError>,
    parse: fn(&str, &str, &[Override]) -> Result<Config, ConfigError>,
) -> Result<(Config, String), Failure> {
    if let Some(preset) = Preset::find(name) {
        return Ok((with_absolute_paths(change(preset, changes)?)?, name.to_owned()));
    }
    let path = Path::new(name);
    let text = std::fs::read_to_string(path).map_err(|error| unreadable(name, &error))?;
    let stem = path.file_stem().map_or_else(|| "run".into(), |stem| stem.to_string_lossy().into_owned());
    let mut config = parse(&text, name, changes)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let changed = |key: &str| changes.iter().any(|change| change.is_of(&["data", key]));
    if let (Source::Definition(file) | Source::Npz(file), false) = (config.data.source()?, changed("name")) {
        config.data.name = folder.join(file).to_string_lossy().into_owned();
    }
    for (key, path) in [("root", &mut config.data.root), ("like", &mut config.data.like)] {
        if let (Some(path), false) = (path, changed(key)) {
            *path = folder.join(&*path);
        }
    }
    Ok((with_absolute_paths(config)?, stem))
}

/// Makes paths absolute, because a run may be resumed from any folder.
pub(crate) fn with_absolute_paths(mut config: Config) -> Result<Config, Failure> {
    if let Source::Definition(path) | Source::Npz(path) = config.data.source()? {
        config.data.name = std::path::absolute(&path)?.to_string_lossy().into_owned();
    }
    for path in [&mut config.data.root, &mut config.data.like].into_iter().flatten() {
        *path = std::path::absolute(&path)?;
    }
    Ok(config)
}

fn unreadable(name: &str, error: &std::io::Error) -> Failure {
    Failure::Usage(match error.kind() {
        ErrorKind::InvalidData => format!("{name} is not UTF-8 text; save it as UTF-8"),
        ErrorKind::IsADirectory if RunFolder::open(name).is_ok() => {
            format!("{name} is a run folder; continue it with `{}`", resume_command(Path::new(name)))
        }
        ErrorKind::IsADirectory => format!("{name} is a folder, not a configuration"),
        _ => format!(
            "{name} is not a built-in experiment (`fedspd run --list` shows them), and the file cannot be read: {error}"
        ),
    })
}
