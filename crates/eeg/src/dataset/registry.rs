//! The built-in datasets, one file each.

use std::path::Path;

use super::Definition;
use crate::Error;

/// Name, definition and checksums of each dataset.
const BUILT_IN: [(&str, &str, &str); 2] = [
    ("physionet-mi", include_str!("physionet-mi.toml"), include_str!("physionet-mi.sha256")),
    ("weibo2014", include_str!("weibo2014.toml"), ""),
];

/// Returns the built-in datasets.
///
/// # Errors
/// None, unless a definition in the source is faulty, which a test excludes.
pub fn built_in() -> Result<Vec<Definition>, Error> {
    BUILT_IN.iter().map(|(name, ..)| definition(name)).collect()
}

/// Finds a dataset by its name, or by the path of its definition.
///
/// # Errors
/// [`Error::UnknownDataset`] with the known names, [`Error::File`] and [`Error::Definition`] for a
/// faulty file.
pub fn definition(name: &str) -> Result<Definition, Error> {
    let path = Path::new(name);
    if let Some((_, text, checksums)) = BUILT_IN.iter().find(|(built_in, ..)| *built_in == name) {
        let mut definition = Definition::parse(path, text)?;
        definition.read_checksums(path, checksums)?;
        return Ok(definition);
    }
    if path.extension().is_none_or(|extension| extension != "toml") {
        let known = BUILT_IN.map(|(name, ..)| name).join(", ");
        return Err(Error::UnknownDataset { name: name.to_owned(), known });
    }
    let read = |path: &Path| {
        std::fs::read_to_string(path).map_err(|source| Error::File { path: path.to_owned(), source })
    };
    let mut definition = Definition::parse(path, &read(path)?)?;
    if let Some(list) = definition.source.as_ref().and_then(|source| source.checksums.clone()) {
        let list = path.with_file_name(list);
        definition.read_checksums(&list, &read(&list)?)?;
    }
    Ok(definition)
}
