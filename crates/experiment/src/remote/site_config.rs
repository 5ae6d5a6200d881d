//! The configuration of a run as a site uses it. Each site names its own data.

use crate::Error;
use crate::config::{Config, Override, Source};

/// The server's configuration with the site's own changes.
///
/// The server may not name a folder or a file of the site. It may choose subjects of a dataset that
/// everyone has; of data that the site names, the site chooses the subjects.
///
/// # Errors
/// [`Error::ServersFile`]; whatever is wrong with the configuration.
pub fn site_config(shared: &str, changes: &[Override]) -> Result<Config, Error> {
    const PLACE: &str = "the run's configuration";
    let mut config = Config::parse(shared, PLACE, &[])?;
    config.data.root = None;
    if changes.iter().any(|change| change.is_of(&["data", "name"])) {
        (config.data.subjects, config.data.exclude) = (None, None);
    } else if let Source::Definition(path) | Source::Npz(path) = config.data.source()? {
        return Err(Error::ServersFile { path });
    }
    Ok(Config::parse(&config.to_toml(), PLACE, changes)?)
}
