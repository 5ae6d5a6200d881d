//! The run folder and the paths in it.

use std::fs;
use std::path::{Path, PathBuf};

use crate::{Error, FolderLock, Unit, atomic};

const MANIFEST: &str = "manifest.json";
const LOCK: &str = ".lock";
const IDENTITY: &str = "identity";
const CHECKPOINTS: &str = "checkpoints";
const MODELS: &str = "models";
const PREDICTIONS: &str = "predictions";
const INTERPRETATION: &str = "interpretation";
/// The name of that folder in older runs.
const FORMER_INTERPRETATION: &str = "portraits";

/// The folder of a run, with all its seeds. A folder with a manifest is a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunFolder {
    root: PathBuf,
}

/// Engine of a run: one process, or Flower.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// One process with all clients.
    Process,
    /// Flower, with clients on machines of their own.
    Flower,
}

impl Engine {
    /// Its name after "a run".
    pub fn title(self) -> &'static str {
        match self {
            Self::Process => "in one process",
            Self::Flower => "over Flower",
        }
    }
}

impl RunFolder {
    /// Creates a run folder with its first files. Fills a temporary folder next to it, which is
    /// then renamed. A run that is killed during setup leaves nothing under the final name, and the
    /// next one replaces its temporary folder. The folder is locked from the start.
    ///
    /// # Errors
    /// When the folder is not empty, another process sets it up, or it cannot be written. Also
    /// errors of `fill`, which gets the temporary folder.
    pub fn create<E: From<Error>>(
        root: impl Into<PathBuf>,
        fill: impl FnOnce(&Self) -> Result<(), E>,
    ) -> Result<(Self, FolderLock), E> {
        let folder = Self { root: root.into() };
        folder.check_empty()?;
        let beginning = Self { root: folder.beginning()? };
        let lock = beginning.set_up()?;
        let named = fill(&beginning).and_then(|()| Ok(beginning.rename_to(&folder)?));
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
    /// [`Error::InUse`] if another process uses it; when the lock file cannot be written.
    pub fn lock(&self) -> Result<FolderLock, Error> {
        FolderLock::take(&self.root, &self.root.join(LOCK))
    }

    /// Locks the folder and removes the temporary files of a killed process.
    ///
    /// # Errors
    /// As [`lock`](Self::lock); when a temporary file cannot be removed.
    pub fn reopen(&self) -> Result<FolderLock, Error> {
        let lock = self.lock()?;
        for name in ["", CHECKPOINTS, MODELS, PREDICTIONS, INTERPRETATION, FORMER_INTERPRETATION] {
            let folder = self.root.join(name);
            atomic::remove_partials(&folder).map_err(Error::file(&folder))?;
        }
        Ok(lock)
    }

    /// The temporary folder in which a run is set up.
    fn beginning(&self) -> Result<PathBuf, Error> {
        std::path::absolute(&self.root)
            .and_then(|path| atomic::partial(&path))
            .map_err(Error::file(&self.root))
    }

    /// Locks the temporary folder, removes leftovers of a killed run, and creates the subfolders.
    fn set_up(&self) -> Result<FolderLock, Error> {
        atomic::create_folder(&self.root)?;
        let lock = self.lock()?;
        for entry in fs::read_dir(&self.root).map_err(Error::file(&self.root))? {
            let path = entry.map_err(Error::file(&self.root))?.path();
            if path.is_dir() {
                fs::remove_dir_all(&path).map_err(Error::file(&path))?;
            } else if !path.ends_with(LOCK) {
                fs::remove_file(&path).map_err(Error::file(&path))?;
            }
        }
        for path in [CHECKPOINTS, MODELS, INTERPRETATION].map(|name| self.root.join(name)) {
            atomic::create_folder(&path)?;
        }
        Ok(lock)
    }

    fn rename_to(&self, folder: &Self) -> Result<(), Error> {
        if folder.root.is_dir() {
            // It is empty: other folders were refused.
            fs::remove_dir(&folder.root).map_err(Error::file(&folder.root))?;
        }
        atomic::rename(&self.root, &folder.root).map_err(Error::file(&folder.root))
    }

    /// Opens the folder of an existing run.
    ///
    /// # Errors
    /// When the folder does not exist, is a file, or has no manifest.
    pub fn open(root: impl Into<PathBuf>) -> Result<Self, Error> {
        let folder = Self { root: root.into() };
        if folder.root.is_file() {
            return Err(Error::NotAFolder { path: folder.root });
        }
        if !folder.root.is_dir() {
            return Err(Error::NoFolder { path: folder.root });
        }
        if !folder.is_run() {
            return Err(Error::NotARun { path: folder.root });
        }
        Ok(folder)
    }

    /// Returns whether the folder has a manifest.
    pub fn is_run(&self) -> bool {
        self.manifest().is_file()
    }

    /// The folder itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Path of the resolved configuration.
    pub fn config(&self) -> PathBuf {
        self.root.join("config.toml")
    }

    /// Path of the [`Manifest`](crate::Manifest): experiment, data, version and status.
    pub fn manifest(&self) -> PathBuf {
        self.root.join(MANIFEST)
    }

    /// Path of the [`EventLog`](crate::EventLog).
    pub fn events(&self) -> PathBuf {
        self.root.join("events.jsonl")
    }

    /// Path of the [`ResultTable`](crate::ResultTable).
    pub fn results(&self) -> PathBuf {
        self.root.join("results.csv")
    }

    /// Path of the [`Headline`](crate::Headline): mean and standard deviation of the scores over
    /// seeds.
    pub fn summary(&self) -> PathBuf {
        self.root.join("summary.json")
    }

    /// Path of the [`Shards`](crate::Shards): the trials of each client.
    pub fn shards(&self) -> PathBuf {
        self.root.join("shards.json")
    }

    /// Path of the identity of a run on several machines.
    pub fn identity(&self) -> PathBuf {
        self.root.join(IDENTITY)
    }

    /// Path of the checkpoint of a unit.
    pub fn checkpoint(&self, unit: impl Into<Unit>) -> PathBuf {
        self.root.join(CHECKPOINTS).join(format!("{}.ckpt", unit.into().slug()))
    }

    /// Path of the trained model of a unit, whatever its stage.
    pub fn model(&self, unit: impl Into<Unit>) -> PathBuf {
        self.root.join(MODELS).join(format!("{}.safetensors", unit.into().trained().slug()))
    }

    /// Path of the predictions of a unit's model, whatever its stage.
    pub fn predictions(&self, unit: impl Into<Unit>) -> PathBuf {
        self.root.join(PREDICTIONS).join(format!("{}.csv", unit.into().trained().slug()))
    }

    /// Path of the [`Interpretation`](crate::Interpretation) of a unit's network.
    pub fn interpretation(&self, unit: impl Into<Unit>) -> PathBuf {
        let former = self.root.join(FORMER_INTERPRETATION);
        let folder = if former.is_dir() { former } else { self.root.join(INTERPRETATION) };
        folder.join(format!("{}.json", unit.into().trained().slug()))
    }

    /// The engine of the run. Runs over Flower have an identity, by which sites keep their states.
    pub fn engine(&self) -> Engine {
        Self::engine_of(&self.root)
    }

    pub(crate) fn engine_of(root: &Path) -> Engine {
        if root.join(IDENTITY).is_file() { Engine::Flower } else { Engine::Process }
    }

    /// Path of the report on the run.
    pub fn report(&self) -> PathBuf {
        self.root.join("report")
    }

    fn check_empty(&self) -> Result<(), Error> {
        let mut entries = match fs::read_dir(&self.root) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(_) if self.root.is_file() => return Err(Error::NotAFolder { path: self.root.clone() }),
            Err(error) => return Err(Error::file(&self.root)(error)),
        };
        let Some(entry) = entries.next() else { return Ok(()) };
        let entry = entry.map_err(Error::file(&self.root))?.file_name().to_string_lossy().into_owned();
        Err(Error::Occupied { path: self.root.clone(), entry })
    }
}
