//! Where data are.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::Error;

/// What the environment says about folders. It is a value, so that nothing else depends on the process it runs in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment {
    /// `FEDSPD_DATA`: where our data are.
    pub fedspd_data: Option<PathBuf>,
    /// Where MNE keeps data: `MNE_DATA`, or `mne_data` in the home folder.
    pub mne_data: Option<PathBuf>,
    /// Where the system wants our data.
    pub platform_data: Option<PathBuf>,
}

impl Environment {
    /// That of this process.
    pub fn from_env() -> Self {
        Self::read(env::consts::OS, |name| env::var_os(name))
    }

    /// That of a system (named as in [`std::env::consts::OS`]) with these variables. Empty ones count as not set.
    pub fn read(system: &str, variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let folder = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let home = folder(if system == "windows" { "USERPROFILE" } else { "HOME" });
        let below_home = |path: &str| home.as_ref().map(|home| home.join(path));
        let platform = match system {
            "windows" => folder("LOCALAPPDATA"),
            "macos" => below_home("Library/Application Support"),
            // The specification of this variable says that relative paths must be ignored.
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

/// The folders in which data are looked for, and the one to which they are downloaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Locations {
    folders: Vec<PathBuf>,
    download: Option<PathBuf>,
}

impl Locations {
    /// In this order: the folder asked for, `FEDSPD_DATA`, MNE's folder if there is one, the folder of the system.
    ///
    /// New files go to the first of these that is known, except for MNE's: that one belongs to another program and is only read.
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

    /// Where data are looked for, first to last.
    pub fn folders(&self) -> &[PathBuf] {
        &self.folders
    }

    /// Where new files go, if a folder is known.
    pub fn download_target(&self) -> Option<&Path> {
        self.download.as_deref()
    }

    /// Where new files go. Whoever brings the first makes it.
    ///
    /// # Errors
    ///
    /// If no folder is known.
    pub fn download_folder(&self) -> Result<&Path, Error> {
        self.download_target().ok_or(Error::NoDataFolder)
    }
}
