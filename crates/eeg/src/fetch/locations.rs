//! Folders of data.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::Error;

/// Folders given by the environment. They are passed as a value, so that other code does not depend
/// on the process environment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment {
    /// `FEDSPD_DATA`: the data folder of fedspd.
    pub fedspd_data: Option<PathBuf>,
    /// The data folder of MNE: `MNE_DATA`, or `mne_data` in the home folder.
    pub mne_data: Option<PathBuf>,
    /// The data folder of fedspd by the convention of the system.
    pub platform_data: Option<PathBuf>,
}

impl Environment {
    /// Reads the environment of this process.
    pub fn from_env() -> Self {
        Self::read(env::consts::OS, |name| env::var_os(name))
    }

    /// Reads the environment of a system (named as in [`std::env::consts::OS`]) with these
    /// variables. Empty variables count as not set.
    pub fn read(system: &str, variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let folder = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let home = folder(if system == "windows" { "USERPROFILE" } else { "HOME" });
        let below_home = |path: &str| home.as_ref().map(|home| home.join(path));
        let platform = match system {
            "windows" => folder("LOCALAPPDATA"),
            "macos" => below_home("Library/Application Support"),
            // The XDG specification says that relative paths must be ignored.
            _ => folder("XDG_DATA_HOME")
                .filter(|path| path.is_absolute())
                .or_else(|| below_home(".local/share")),
        };
        Self {
            fedspd_data: folder("FEDSPD_DATA"),
            mne_data: folder("MNE_DATA").or_else(|| below_home("mne_data")),
            platform_data: platform.map(|folder| folder.join("fedspd")),
        }
    }
}

/// The folders that are searched for data, and the folder for downloads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Locations {
    folders: Vec<PathBuf>,
    download: Option<PathBuf>,
}

impl Locations {
    /// Searches in this order: `root`, `FEDSPD_DATA`, MNE's folder if it exists, the folder of the
    /// system.
    ///
    /// Downloads go to the first known folder other than MNE's. That one belongs to another program
    /// and is only read.
    pub fn new(root: Option<&Path>, environment: &Environment) -> Self {
        let ours = [root.map(Path::to_owned), environment.fedspd_data.clone()];
        let mne = environment.mne_data.clone().filter(|folder| folder.is_dir());
        let download = ours.iter().chain([&environment.platform_data]).flatten().next().cloned();
        let mut folders: Vec<PathBuf> = Vec::new();
        for folder in ours.into_iter().chain([mne, environment.platform_data.clone()]).flatten() {
            if !folders.contains(&folder) {
                folders.push(folder);
            }
        }
        Self { folders, download }
    }

    /// The folders that are searched, in order.
    pub fn folders(&self) -> &[PathBuf] {
        &self.folders
    }

    /// The folder for downloads, if one is known.
    pub fn download_target(&self) -> Option<&Path> {
        self.download.as_deref()
    }

    /// The folder for downloads. The first download creates it.
    ///
    /// # Errors
    ///
    /// If no folder is known.
    pub fn download_folder(&self) -> Result<&Path, Error> {
        self.download_target().ok_or(Error::NoDataFolder)
    }
}
