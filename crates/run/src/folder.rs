//! Where the files of a run are.

use std::fs;
use std::path::{Path, PathBuf};

use crate::Error;

const MANIFEST: &str = "manifest.json";
const CHECKPOINTS: &str = "checkpoints";
const MODELS: &str = "models";

/// The folder of a run, with all its seeds.
///
/// The manifest is the mark of a run: write it before anything else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunFolder {
    root: PathBuf,
}

impl RunFolder {
    /// Makes the folder and those in it.
    ///
    /// A folder that is a run already is accepted, and nothing in it is touched; ask [`is_run`](Self::is_run) first where that matters. So is
    /// what a run leaves that was killed before it wrote its manifest.
    ///
    /// # Errors
    /// When there is something in the folder but not a run, or the system refuses.
    pub fn create(root: impl Into<PathBuf>) -> Result<Self, Error> {
        let folder = Self { root: root.into() };
        if !folder.is_run() {
            folder.refuse_strangers()?;
        }
        for path in [folder.root.join(CHECKPOINTS), folder.root.join(MODELS)] {
            fs::create_dir_all(&path).map_err(Error::file(&path))?;
        }
        Ok(folder)
    }

    /// The folder of a run that exists.
    ///
    /// # Errors
    /// When there is no such folder, or no manifest in it.
    pub fn open(root: impl Into<PathBuf>) -> Result<Self, Error> {
        let folder = Self { root: root.into() };
        if !folder.root.is_dir() {
            return Err(Error::NoFolder { path: folder.root });
        }
        if !folder.is_run() {
            return Err(Error::NotARun { path: folder.root });
        }
        Ok(folder)
    }

    /// Whether there is a manifest.
    pub fn is_run(&self) -> bool {
        self.manifest().is_file()
    }

    /// The folder itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The resolved configuration.
    pub fn config(&self) -> PathBuf {
        self.root.join("config.toml")
    }

    /// What was run, on what, by which version: a [`Manifest`](crate::Manifest).
    pub fn manifest(&self) -> PathBuf {
        self.root.join(MANIFEST)
    }

    /// What happened: an [`EventLog`](crate::EventLog).
    pub fn events(&self) -> PathBuf {
        self.root.join("events.jsonl")
    }

    /// What came out: a [`ResultTable`](crate::ResultTable).
    pub fn results(&self) -> PathBuf {
        self.root.join("results.csv")
    }

    /// Who had which trials: [`Shards`](crate::Shards).
    pub fn shards(&self) -> PathBuf {
        self.root.join("shards.json")
    }

    /// Where a seed goes on after a break.
    pub fn checkpoint(&self, seed: u64) -> PathBuf {
        self.root.join(CHECKPOINTS).join(format!("seed-{seed}.ckpt"))
    }

    /// What a seed has learned.
    pub fn model(&self, seed: u64) -> PathBuf {
        self.root.join(MODELS).join(format!("seed-{seed}.safetensors"))
    }

    /// What was printed.
    pub fn log(&self) -> PathBuf {
        self.root.join("log.txt")
    }

    fn refuse_strangers(&self) -> Result<(), Error> {
        let entries = match fs::read_dir(&self.root) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(Error::file(&self.root)(error)),
        };
        for entry in entries {
            let entry = entry.map_err(Error::file(&self.root))?;
            let name = entry.file_name();
            // A run that was killed in `create`, or while it wrote its manifest, leaves these.
            let empty = || fs::read_dir(entry.path()).is_ok_and(|mut inside| inside.next().is_none());
            let own = match name.to_str() {
                Some(CHECKPOINTS | MODELS) => empty(),
                Some(".manifest.json.partial") => true,
                _ => false,
            };
            if !own {
                let entry = name.to_string_lossy().into_owned();
                return Err(Error::Occupied { path: self.root.clone(), entry });
            }
        }
        Ok(())
    }
}
