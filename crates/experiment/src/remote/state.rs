//! The state of a site between exchanges, on its own disk: one version for each exchange with a
//! reply.
//!
//! The server names the version that an exchange starts from: that of the last exchange in which
//! the site's reply counted. If the server repeats a round that it never closed, the site starts
//! from the same version again. The server never requests the version of a reply that did not
//! count.

use std::fs::DirBuilder;
use std::path::{Path, PathBuf};

use fedspd_federated::{ClientState, Exchange};
use serde::{Deserialize, Serialize};

use super::identity::Identity;
use crate::Error;
use crate::record::sealed::{self, Magic};

const MAGIC: &Magic = b"fedspd-site-v1\n\0";

/// The states of a site in one run.
pub(super) struct SiteStates {
    folder: PathBuf,
}

#[derive(Serialize, Deserialize)]
struct StoredState {
    round: u32,
    state: ClientState,
}

impl SiteStates {
    /// Names the folder of the states of a run. The site's number separates sites that share a
    /// disk.
    pub(super) fn new(root: &Path, run: &Identity, number: u32) -> Self {
        Self { folder: root.join(format!("run-{run}")).join(format!("site-{number}")) }
    }

    fn path(&self, exchange: Exchange) -> PathBuf {
        let [round, number] = [exchange.round, exchange.number].map(|index| u64::from(index) + 1);
        // Most methods have one exchange per round, and the round names their states.
        self.folder.join(match number {
            1 => format!("round-{round:04}.state"),
            _ => format!("round-{round:04}-exchange-{number}.state"),
        })
    }

    /// Reads the state after an exchange, or the initial state before all exchanges.
    pub(super) fn read(&self, exchange: Option<Exchange>) -> Result<ClientState, Error> {
        let Some(exchange) = exchange else { return Ok(ClientState::default()) };
        let (path, round) = (self.path(exchange), exchange.round);
        let unfit = |fault| Error::SiteState { round, path: path.clone(), fault };
        let stored: StoredState = sealed::read(&path, MAGIC)?.ok_or_else(|| unfit("is missing"))?;
        if stored.round != round {
            return Err(unfit("is of another round"));
        }
        Ok(stored.state)
    }

    /// Writes the state after an exchange.
    pub(super) fn write(&self, exchange: Exchange, state: ClientState) -> Result<(), Error> {
        private_folder(&self.folder)?;
        sealed::write(&self.path(exchange), MAGIC, &StoredState { round: exchange.round, state })
    }
}

/// Creates a folder that only its owner can read.
pub(super) fn private_folder(folder: &Path) -> Result<(), Error> {
    let mut private = DirBuilder::new();
    private.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut private, 0o700);
    let refused = |source| fedspd_run::Error::File { path: folder.to_owned(), source };
    private.create(folder).map_err(refused)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // The folder may have been there before, open to others.
        let mode = std::fs::metadata(folder).map_err(refused)?.permissions().mode();
        if mode & 0o077 != 0 {
            std::fs::set_permissions(folder, PermissionsExt::from_mode(0o700)).map_err(refused)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_numbers_of_a_hostile_server_have_a_file_name() {
        let states = SiteStates::new(Path::new("state"), &Identity::draw(), 0);
        let path = |round, number| states.path(Exchange { round, number }).display().to_string();
        assert!(path(0, 0).ends_with("round-0001.state"));
        assert!(path(0, 1).ends_with("round-0001-exchange-2.state"));
        let last = path(u32::MAX, u32::MAX);
        assert!(last.ends_with("round-4294967296-exchange-4294967296.state"), "{last}");
    }
}
