//! The configuration of a run at a site. Each site names its own data.

use crate::Error;
use crate::config::{Config, Override, Source};

/// The name of a study's configuration in messages.
pub(super) const PLACE: &str = "the run's configuration";

/// Applies a site's own changes to the server's configuration.
///
/// The server must not name a folder or a file of the site, or say how recordings are filtered and
/// cut. It may select subjects of a common dataset. If the site names its data, the site selects the
/// subjects.
///
/// # Errors
/// [`Error::ServersFile`]; faults of the configuration.
pub fn site_config(shared: &str, changes: &[Override]) -> Result<Config, Error> {
    let mut config = Config::parse(shared, PLACE, &[])?;
    (config.data.root, config.data.like) = (None, None);
    (config.data.window, config.data.band) = (None, None);
    if changes.iter().any(|change| change.is_of(&["data", "name"])) {
        (config.data.subjects, config.data.exclude) = (None, None);
    } else if let Source::Definition(path) | Source::Npz(path) = config.data.source()? {
        return Err(Error::ServersFile { path });
    }
    Ok(Config::parse(&config.to_toml(), PLACE, changes)?)
}
