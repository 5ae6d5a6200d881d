//! `fedspd export`: trained models of a run for other programs.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use fedspd_eeg::npz::NpzWriter;
use fedspd_nn::file::{Stored, StoredParameters, load_stored};
use fedspd_run::{Manifest, RunFolder, atomic};

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
    /// FILE-seed-0, FILE-seed-1 and so on.
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
    let seeds = seeds(&manifest, arguments)?;
    let target = arguments.to;
    let file = match &arguments.out {
        Some(file) => file.clone(),
        None => Path::new(&own_name(&arguments.run)?).with_extension(target.extension()),
    };
    for &seed in &seeds {
        let model = folder.model(seed);
        if !model.exists() {
            let run = arguments.run.display();
            return Err(Failure::Usage(format!(
                "{run} has no model of seed {seed}: the seed is not finished, clients trained alone, or the weights left the manifold (plain mean)"
            )));
        }
        let stored = load_stored(&model)?;
        let path = if seeds.len() == 1 { file.clone() } else { with_seed(&file, seed) };
        match target {
            // A model file is already a safetensors file, and its checksum was just verified.
            Target::Safetensors => atomic::write(&path, &stored.bytes)?,
            Target::Npz => write_npz(&path, &stored)?,
        }
        writeln!(out, "{}", path.display())?;
    }
    Ok(())
}

/// Returns the seeds whose models are exported.
fn seeds(manifest: &Manifest, arguments: &Arguments) -> Result<Vec<u64>, Failure> {
    match arguments.seed {
        Some(seed) if !manifest.seeds.contains(&seed) => {
            let known: Vec<String> = manifest.seeds.iter().map(ToString::to_string).collect();
            let run = arguments.run.display();
            Err(Failure::Usage(format!("{run} has no seed {seed}; its seeds are {}", known.join(", "))))
        }
        Some(seed) => Ok(vec![seed]),
        None => Ok(manifest.seeds.clone()),
    }
}

/// Returns the name of the run folder, even if it is given as `.`.
fn own_name(run: &Path) -> Result<PathBuf, Failure> {
    let name = run.canonicalize().ok().and_then(|whole| whole.file_name().map(PathBuf::from));
    name.ok_or_else(|| Failure::Usage(format!("{} has no name; give --out FILE", run.display())))
}

/// Adds the seed to a file name: `a/b.npz` becomes `a/b-seed-3.npz`.
fn with_seed(file: &Path, seed: u64) -> PathBuf {
    let mut name = file.file_stem().unwrap_or_default().to_owned();
    name.push(format!("-seed-{seed}"));
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
        assert_eq!(with_seed(Path::new("a/b.npz"), 3), Path::new("a/b-seed-3.npz"));
        assert_eq!(with_seed(Path::new("b"), 0), Path::new("b-seed-0"));
    }
}
