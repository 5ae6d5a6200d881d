//! Where the files of a run are.

use std::fs;
use std::path::{Path, PathBuf};

use crate::{Error, FolderLock};

const MANIFEST: &str = "manifest.json";
const LOCK: &str = ".lock";
const CHECKPOINTS: &str = "checkpoints";
const MODELS: &str = "models";
const PORTRAITS: &str = "portraits";

/// The folder of a run, with all its seeds. The manifest is the mark of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunFolder {
    root: PathBuf,
}

impl RunFolder {
    /// Makes the folder of a run with all that it begins with: in a neighbour first, which then takes its name. A run that is killed while it is set up
    /// leaves nothing under that name, and the next one replaces what it left beside it. The folder is locked from its first moment on.
    ///
    /// # Errors
    /// When there is something in the folder, another process sets it up, or the system refuses; those of `fill`, which gets the folder under its first
    /// name.
    pub fn create<E: From<Error>>(
        root: impl Into<PathBuf>,
        fill: impl FnOnce(&Self) -> Result<(), E>,
    ) -> Result<(Self, FolderLock), E> {
        let folder = Self { root: root.into() };
        folder.refuse_strangers()?;
        let beginning = Self { root: folder.beginning()? };
        let lock = beginning.set_up()?;
        let named = fill(&beginning).and_then(|()| Ok(beginning.take_the_place_of(&folder)?));
        if let Err(error) = named {
            // The first error is the one to report.
            let _ = fs::remove_dir_all(&beginning.root);
            return Err(error);
        }
        Ok((folder, lock))
    }

    /// Locks the folder, so that no other process writes to it.
    ///
    /// # Errors
    /// [`Error::InUse`] if one does; when the system refuses.
    pub fn lock(&self) -> Result<FolderLock, Error> {
        FolderLock::take(&self.root, &self.root.join(LOCK))
    }

    /// The neighbour in which a run is set up.
    fn beginning(&self) -> Result<PathBuf, Error> {
        let path = std::path::absolute(&self.root).map_err(Error::file(&self.root))?;
        let name = path.file_name().ok_or_else(|| {
            Error::file(&self.root)(std::io::Error::new(
                std::io::ErrorKind::InvalidInput,
                "not the name of a folder",
            ))
        })?;
        let mut beginning = std::ffi::OsString::from(".");
        beginning.push(name);
        beginning.push(".partial");
        Ok(path.with_file_name(beginning))
    }

    /// Locks the neighbour, empties it of what a killed run has left, and makes the folders.
    fn set_up(&self) -> Result<FolderLock, Error> {
        fs::create_dir_all(&self.root).map_err(Error::file(&self.root))?;
        let lock = self.lock()?;
        for entry in fs::read_dir(&self.root).map_err(Error::file(&self.root))? {
            let path = entry.map_err(Error::file(&self.root))?.path();
            if path.is_dir() {
                fs::remove_dir_all(&path).map_err(Error::file(&path))?;
            } else if !path.ends_with(LOCK) {
                fs::remove_file(&path).map_err(Error::file(&path))?;
            }
        }
        for path in [CHECKPOINTS, MODELS, PORTRAITS].map(|name| self.root.join(name)) {
            fs::create_dir(&path).map_err(Error::file(&path))?;
        }
        Ok(lock)
    }

    fn take_the_place_of(&self, folder: &Self) -> Result<(), Error> {
        if folder.root.is_dir() {
            // Empty: anything else was refused.
            fs::remove_dir(&folder.root).map_err(Error::file(&folder.root))?;
        }
        fs::rename(&self.root, &folder.root).map_err(Error::file(&folder.root))
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

    /// The mean and deviation of its scores over seeds: a [`Headline`](crate::Headline).
    pub fn summary(&self) -> PathBuf {
        self.root.join("summary.json")
    }

    /// Who had which trials: [`Shards`](crate::Shards).
    pub fn shards(&self) -> PathBuf {
        self.root.join("shards.json")
    }

    /// What tells a run on several machines from every other.
    pub fn identity(&self) -> PathBuf {
        self.root.join("identity")
    }

    /// Where a seed goes on after a break.
    pub fn checkpoint(&self, seed: u64) -> PathBuf {
        self.root.join(CHECKPOINTS).join(format!("seed-{seed}.ckpt"))
    }

    /// What a seed has learned.
    pub fn model(&self, seed: u64) -> PathBuf {
        self.root.join(MODELS).join(format!("seed-{seed}.safetensors"))
    }

    /// What the network of a seed looks at: a [`Portrait`](crate::Portrait).
    pub fn portrait(&self, seed: u64) -> PathBuf {
        self.root.join(PORTRAITS).join(format!("seed-{seed}.json"))
    }

    /// Where a report of the run is put.
    pub fn report(&self) -> PathBuf {
        self.root.join("report")
    }

    fn refuse_strangers(&self) -> Result<(), Error> {
        let mut entries = match fs::read_dir(&self.root) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(Error::file(&self.root)(error)),
        };
        let Some(entry) = entries.next() else { return Ok(()) };
        let entry = entry.map_err(Error::file(&self.root))?.file_name().to_string_lossy().into_owned();
        Err(Error::Occupied { path: self.root.clone(), entry })
    }
}
