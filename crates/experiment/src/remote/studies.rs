//! The studies that a site knows: their configurations, whether they are approved, and the runs that
//! belong to them.
//!
//! A study is its configuration, named by the SHA-256 of the text. It is sent once. From then on a
//! message names the study and the run, and can change nothing of the configuration.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use fedspd_run::atomic;
use sha2::{Digest, Sha256};

use super::identity::Identity;
use super::state::private_folder;
use crate::Error;
use crate::error::hexadecimal;

/// Most studies that a site keeps, so that no server can fill its disk.
const MOST_STUDIES: usize = 100;
/// The longest configuration in bytes.
const LONGEST: usize = 1 << 20;

/// The SHA-256 of a study's configuration.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StudyHash(String);

impl StudyHash {
    /// Returns the hash of a configuration.
    pub fn of(config: &str) -> Self {
        Self(hexadecimal(&Sha256::digest(config.as_bytes())))
    }
}

impl FromStr for StudyHash {
    type Err = Error;

    /// Parses a hash. It accepts no character with a meaning in paths.
    fn from_str(text: &str) -> Result<Self, Error> {
        let digits = text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
        if digits && text.len() == 64 {
            return Ok(Self(text.to_owned()));
        }
        let shown: String = text.chars().take(80).collect();
        Err(Error::Message { fault: format!("the study is {shown:?}, which is not a SHA-256") })
    }
}

impl std::fmt::Display for StudyHash {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.write_str(&self.0)
    }
}

/// The studies in the state folder of a site.
pub struct Studies {
    folder: PathBuf,
}

impl Studies {
    /// Names the folder of the studies.
    pub fn new(state: &Path) -> Self {
        Self { folder: state.join("studies") }
    }

    fn config(&self, study: &StudyHash) -> PathBuf {
        self.folder.join(format!("{study}.toml"))
    }

    fn approval(&self, study: &StudyHash) -> PathBuf {
        self.folder.join(format!("{study}.approved"))
    }

    /// Stores the configuration of a study that asks for the site.
    ///
    /// # Errors
    /// [`Error::Message`] for a configuration that is too long, or one study too many.
    pub fn ask(&self, config: &str) -> Result<StudyHash, Error> {
        if config.len() > LONGEST {
            let fault = format!("its configuration has {} bytes; the limit is {LONGEST}", config.len());
            return Err(Error::Message { fault });
        }
        let study = StudyHash::of(config);
        if self.config(&study).is_file() {
            return Ok(study);
        }
        private_folder(&self.folder)?;
        let known = self.all()?.len();
        if known >= MOST_STUDIES {
            return Err(Error::Message {
                fault: format!("the site knows {known} studies already, its limit"),
            });
        }
        atomic::write(&self.config(&study), config.as_bytes())?;
        Ok(study)
    }

    /// Returns all studies that asked for the site.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn all(&self) -> Result<Vec<StudyHash>, Error> {
        let unread = |source| fedspd_run::Error::File { path: self.folder.clone(), source };
        let entries = match std::fs::read_dir(&self.folder) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(unread)?,
        };
        let mut studies = Vec::new();
        for entry in entries {
            let path = entry.map_err(unread)?.path();
            let stem = path.file_stem().and_then(|stem| stem.to_str());
            if path.extension().is_some_and(|end| end == "toml")
                && let Some(study) = stem.and_then(|stem| stem.parse().ok())
            {
                studies.push(study);
            }
        }
        studies.sort();
        Ok(studies)
    }

    /// Reads the configuration of a study. Its text must have the hash that names it.
    ///
    /// # Errors
    /// [`Error::UnknownStudy`] if the study never asked; [`Error::ChangedStudy`].
    pub fn read(&self, study: &StudyHash) -> Result<String, Error> {
        let path = self.config(study);
        let text = match std::fs::read_to_string(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(Error::UnknownStudy { study: study.to_string() });
            }
            text => text.map_err(|source| fedspd_run::Error::File { path: path.clone(), source })?,
        };
        if StudyHash::of(&text) != *study {
            return Err(Error::ChangedStudy { path });
        }
        Ok(text)
    }

    /// Approves a study that asked for the site.
    ///
    /// # Errors
    /// As [`Studies::read`]; if the approval cannot be written.
    pub fn approve(&self, study: &StudyHash) -> Result<(), Error> {
        self.read(study)?;
        Ok(atomic::write(&self.approval(study), b"approved\n")?)
    }

    /// Whether a person at the site has approved a study.
    pub fn is_approved(&self, study: &StudyHash) -> bool {
        self.approval(study).is_file()
    }

    /// Binds a run to its study with its first message, and refuses every other study later.
    ///
    /// # Errors
    /// [`Error::Message`] if the run belongs to another study.
    pub fn bind(&self, run: &Identity, study: &StudyHash) -> Result<(), Error> {
        let path = self.folder.join(format!("run-{run}"));
        match std::fs::read_to_string(&path) {
            Ok(text) if text.trim_end() == study.to_string() => Ok(()),
            Ok(_) => Err(Error::Message { fault: "the run belongs to another study at this site".into() }),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                Ok(atomic::write(&path, format!("{study}\n").as_bytes())?)
            }
            Err(source) => Err(fedspd_run::Error::File { path, source }.into()),
        }
    }
}
