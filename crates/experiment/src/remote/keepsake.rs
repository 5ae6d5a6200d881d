//! What a site keeps from round to round, on its own disk: one version for each exchange it replied in.
//!
//! The server says which version an exchange begins with, the one of the last exchange in which the site's reply counted. A round that is repeated, because the server
//! never closed it, begins with the same version again; what a reply that did not count has left behind is never asked for.

use std::fs::DirBuilder;
use std::path::{Path, PathBuf};

use fedspd_federated::{ClientState, Exchange};
use serde::{Deserialize, Serialize};

use super::identity::Identity;
use crate::Error;
use crate::sealed::{self, Magic};

const MAGIC: &Magic = b"fedspd-site-v1\n\0";

/// The folder of a site's states of one run.
pub(super) struct Keepsakes {
    folder: PathBuf,
}

#[derive(Serialize, Deserialize)]
struct Keepsake {
    round: u32,
    state: ClientState,
}

impl Keepsakes {
    /// Those of a run; of a site by its number, should several share a disk.
    pub(super) fn new(root: &Path, run: &Identity, number: u32) -> Self {
        Self { folder: root.join(format!("run-{run}")).join(format!("site-{number}")) }
    }

    fn path(&self, exchange: Exchange) -> PathBuf {
        let round = exchange.round + 1;
        // States of a method with one exchange a round, which is most, are named by the round.
        self.folder.join(match exchange.number {
            0 => format!("round-{round:04}.state"),
            number => format!("round-{round:04}-exchange-{}.state", number + 1),
        })
    }

    /// The state after an exchange; before the first there is none.
    pub(super) fn read(&self, exchange: Option<Exchange>) -> Result<ClientState, Error> {
        let Some(exchange) = exchange else { return Ok(ClientState::default()) };
        let (path, round) = (self.path(exchange), exchange.round);
        let unfit = |fault| Error::SiteState { round, path: path.clone(), fault };
        let kept: Keepsake = sealed::read(&path, MAGIC)?.ok_or_else(|| unfit("is not there"))?;
        if kept.round != round {
            return Err(unfit("is of another round"));
        }
        Ok(kept.state)
    }

    /// Writes the state after an exchange, readable by its owner only.
    pub(super) fn write(&self, exchange: Exchange, state: ClientState) -> Result<(), Error> {
        let refused = |source| fedspd_run::Error::File { path: self.folder.clone(), source };
        let mut private = DirBuilder::new();
        private.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut private, 0o700);
        private.create(&self.folder).map_err(refused)?;
        sealed::write(&self.path(exchange), MAGIC, &Keepsake { round: exchange.round, state })
    }
}
