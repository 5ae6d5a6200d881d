//! What a site reads is the site's to say, not the server's.

use crate::Error;
use crate::config::{Config, Override, Source};

/// The server's configuration as a site takes it, with the site's own changes.
///
/// The folder of recordings is never the server's to name, nor is a file. Which subjects there are is the server's to say of a dataset that everyone has, and the
/// site's of data that it names itself.
///
/// # Errors
/// [`Error::ServersFile`]; whatever is wrong with the configuration.
pub fn at_home(shared: &str, changes: &[Override]) -> Result<Config, Error> {
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
