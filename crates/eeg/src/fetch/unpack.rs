//! Files unpacked from archives.

use std::borrow::Cow;
use std::fs::File;
use std::io;
use std::path::Path;

use super::fetcher::is_there;
use super::lock::Lock;
use super::partial::PartialFile;
use super::{Fetched, Fetcher, Progress, RemoteFile, record, sha256_of};
use crate::trouble::{is_content_error, reason};
use crate::{Error, Expansion};

impl Fetcher {
    /// Makes sure that a file from a zip archive is present and correct. `entry` is the prefix of
    /// its entry name. If neither file nor archive is present, the archive is downloaded to its own
    /// folder and kept. Progress is reported for the file only.
    ///
    /// # Errors
    ///
    /// As [`Fetcher::fetch`]; [`Error::Archive`] if the archive has no such entry or cannot be
    /// read.
    pub fn fetch_from_archive(
        &self,
        file: &RemoteFile,
        (archive, shelf): (&RemoteFile, &Path),
        entry: &str,
        root: &Path,
        progress: &mut dyn Progress,
    ) -> Result<Fetched, Error> {
        let path = file.under(root)?;
        let mut fetched = Fetched::Present;
        if !is_there(file, &path)? {
            let received = match self.bring(archive, shelf, progress)? {
                Fetched::Downloaded { received } | Fetched::Unpacked { received } => received,
                Fetched::Present => 0,
            };
            if let Some(folder) = path.parent() {
                std::fs::create_dir_all(folder).map_err(Error::file(folder))?;
            }
            let lock = Lock::take(&path, || progress.waiting(file))?;
            // The previous holder of the lock may have unpacked the file.
            if !is_there(file, &path)? {
                unpack(&archive.under(shelf)?, entry, &path)?;
                fetched = Fetched::Unpacked { received };
            }
            lock.finish();
        }
        progress.done(file, &fetched);
        Ok(fetched)
    }
}

/// Unpacks an entry and records its checksum. The file appears when it is complete. The caller must
/// hold the lock.
fn unpack(archive: &Path, prefix: &str, target: &Path) -> Result<(), Error> {
    let fault = |reason: String| Error::Archive { path: archive.to_owned(), reason };
    let file = File::open(archive).map_err(Error::file(archive))?;
    let mut zip = zip::ZipArchive::new(file).map_err(|error| fault(error.to_string()))?;
    let is_entry = |name: &str| name.rsplit('/').next().is_some_and(|name| name.starts_with(prefix));
    let found = zip.file_names().filter_map(Result::ok).find(|name| is_entry(name));
    let Some(name) = found.map(Cow::into_owned) else {
        return Err(fault(format!("no entry begins with \"{prefix}\"")));
    };
    let mut entry = zip.by_name(&name).map_err(|error| fault(error.to_string()))?;
    Expansion::check(entry.compressed_size(), entry.size())
        .map_err(|expansion| fault(format!("\"{name}\" {expansion}")))?;
    let part = PartialFile::of(target);
    part.discard()?;
    let mut out = File::create(&part.data).map_err(Error::file(&part.data))?;
    io::copy(&mut entry, &mut out).map_err(|error| {
        if is_content_error(&error) { fault(reason(&error)) } else { Error::file(&part.data)(error) }
    })?;
    drop(out);
    record::write(target, sha256_of(&part.data)?)?;
    part.rename(target)
}
