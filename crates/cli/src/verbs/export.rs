//! `fedspd export`: trained models of a run for other programs.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use fedspd_eeg::npz::NpzWriter;
use fedspd_nn::file::{Stored, StoredParameters, load_stored};
use fedspd_run::{Manifest, RunFolder, SeedShards, Shards, Unit, atomic};

use crate::failure::Failure;

/// Arguments of `fedspd export`.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Run folder.
    run: PathBuf,
    /// Format of the files.
    #[arg(long, value_enum)]
    to: Target,
    /// Export only the model of this seed (default: all seeds).
    #[arg(long)]
    seed: Option<u64>,
    /// Output file (default: the name of the run folder, in this folder). Several models go to
    /// FILE-seed-0, FILE-seed-1 and so on, or FILE-seed-0-fold-0 and so on.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Target {
    /// For Python's `safetensors` and for `fedspd eval`.
    Safetensors,
    /// For `numpy.load`.
    Npz,
}

impl Target {
    fn extension(self) -> &'static str {
        match self {
            Self::Safetensors => "safetensors",
            Self::Npz => "npz",
        }
    }
}

pub(crate) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<(), Failure> {
    let folder = RunFolder::open(&arguments.run)?;
    let manifest = Manifest::read(&folder.manifest())?;
    let units = units(&manifest, &Shards::read(&folder.shards())?, arguments)?;
    let target = arguments.to;
    let file = match &arguments.out {
        Some(file) => file.clone(),
        None => Path::new(&own_name(&arguments.run)?).with_extension(target.extension()),
    };
    for &unit in &units {
        let model = folder.model(unit);
        if !model.exists() {
            let run = arguments.run.display();
            return Err(Failure::Usage(format!(
                "{run} has no model of {unit}: it is not finished, clients trained alone, or the weights left the manifold (plain mean)"
            )));
        }
        let stored = load_stored(&model)?;
        let path = if units.len() == 1 { file.clone() } else { with_unit(&file, unit) };
        match target {
            // A model file is already a safetensors file, and its checksum was just verified.
            Target::Safetensors => atomic::write(&path, &stored.bytes)?,
            Target::Npz => write_npz(&path, &stored)?,
        }
        writeln!(out, "{}", path.display())?;
    }
    Ok(())
}

/// Returns the seeds and folds whose models are exported.
fn units(manifest: &Manifest, shards: &Shards, arguments: &Arguments) -> Result<Vec<Unit>, Failure> {
    let all = shards.seeds.iter().map(SeedShards::unit);
    match arguments.seed {
        Some(seed) if !manifest.seeds.contains(&seed) => {
            let known: Vec<String> = manifest.seeds.iter().map(ToString::to_string).collect();
            let run = arguments.run.display();
            Err(Failure::Usage(format!("{run} has no seed {seed}; its seeds are {}", known.join(", "))))
        }
        Some(seed) => Ok(all.filter(|unit| unit.seed == seed).collect()),
        None => Ok(all.collect()),
    }
}

/// Returns the name of the run folder, even if it is given as `.`.
fn own_name(run: &Path) -> Result<PathBuf, Failure> {
    let name = run.canonicalize().ok().and_then(|whole| whole.file_name().map(PathBuf::from));
    name.ok_or_else(|| Failure::Usage(format!("{} has no name; give --out FILE", run.display())))
}

/// Adds seed and fold to a file name: `a/b.npz` becomes `a/b-seed-3.npz`.
fn with_unit(file: &Path, unit: Unit) -> PathBuf {
    let mut name = file.file_stem().unwrap_or_default().to_owned();
    name.push(format!("-{}", unit.slug()));
    if let Some(extension) = file.extension() {
        name.push(".");
        name.push(extension);
    }
    file.with_file_name(name)
}

/// Writes an array for each parameter under its name, and the model's metadata as JSON under
/// `manifest`.
fn write_npz(path: &Path, stored: &Stored) -> Result<(), Failure> {
    let mut file = NpzWriter::create(path)?;
    match &stored.parameters {
        StoredParameters::F32(parameters) => {
            parameters.iter().try_for_each(|(p, values)| file.floats32(&p.name, &p.shape, values))?;
        }
        StoredParameters::F64(parameters) => {
            parameters.iter().try_for_each(|(p, values)| file.floats(&p.name, &p.shape, values))?;
        }
    }
    let manifest = serde_json::to_string(&stored.manifest)
        .map_err(|error| Failure::Usage(format!("the manifest cannot be written: {error}")))?;
    file.strings("manifest", &[], &[manifest])?;
    Ok(file.finish()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_goes_before_the_extension() {
        let fold = Unit { fold: Some(1), ..Unit::of_seed(3) };
        assert_eq!(with_unit(Path::new("a/b.npz"), fold), Path::new("a/b-seed-3-fold-1.npz"));
        assert_eq!(with_unit(Path::new("b"), 0.into()), Path::new("b-seed-0"));
    }
}
