//! The files of a dataset: folders, downloads and verification.

use std::path::{Path, PathBuf};

use super::{Archive, Definition, Ids, Selection};
use crate::Error;
use crate::fetch::{Checksum, Fetcher, Locations, Progress, RemoteFile, State, verify};

impl Definition {
    /// The folders that are searched for files. Under each location: the folder of the dataset's
    /// name, the location itself, and the folders of other programs.
    pub fn roots(&self, locations: &Locations) -> Vec<PathBuf> {
        let others = self.source.iter().flat_map(|source| source.layouts.iter().map(String::as_str));
        let layouts: Vec<&str> = [self.name.as_str(), ""].into_iter().chain(others).collect();
        let folders = locations.folders().iter();
        folders.flat_map(|folder| layouts.iter().map(move |layout| folder.join(layout))).collect()
    }

    /// Whether downloads can be compared with published checksums. Otherwise the first download is
    /// trusted, and its checksum recorded.
    pub fn has_checksums(&self) -> bool {
        let archives = self.source.as_ref().map_or(&[][..], |source| &source.archives);
        !self.checksums.is_empty() || (!archives.is_empty() && archives.iter().all(|a| a.sha256.is_some()))
    }

    /// The files of the given subjects or of all, for every session and run.
    ///
    /// # Errors
    /// [`Error::NoSource`] if the definition has no download source, [`Error::NotListed`] if it
    /// does not list its files; [`Error::NoSubject`].
    pub fn remote_files(&self, subjects: Option<&Selection>) -> Result<Vec<RemoteFile>, Error> {
        let Some(source) = &self.source else { return Err(Error::NoSource { name: self.name.clone() }) };
        let mut ids = self.listed().map_err(|what| Error::NotListed { name: self.name.clone(), what })?;
        if let Some(chosen) = subjects {
            if let Some(unknown) = chosen.ids().iter().find(|id| !ids.iter().any(|ids| ids.subject == **id)) {
                let known = self.subjects.iter().flat_map(Selection::ids).cloned().collect();
                return Err(Error::NoSubject { subject: unknown.clone(), known });
            }
            ids.retain(|ids| chosen.ids().contains(&ids.subject));
        }
        let file = |ids: Ids| {
            let path = self.files.path(&ids);
            let name = path.to_string_lossy().replace('\\', "/");
            let urls = source.base.iter().map(|base| format!("{base}{name}")).collect();
            let sha256 = self.checksums.get(&name).and_then(|digits| Checksum::from_hex(digits));
            RemoteFile { urls, path, sha256, size: None }
        };
        Ok(ids.into_iter().map(file).collect())
    }

    /// Makes sure that the files of some subjects are present and correct. Files found in any
    /// folder stay there. The others are unpacked from an archive in any folder, or downloaded.
    ///
    /// # Errors
    /// As [`Definition::remote_files`], [`Fetcher::fetch`] and [`Fetcher::fetch_from_archive`].
    pub fn fetch(
        &self,
        subjects: Option<&Selection>,
        locations: &Locations,
        fetcher: &Fetcher,
        progress: &mut dyn Progress,
    ) -> Result<(), Error> {
        let roots = self.roots(locations);
        let files = self.remote_files(subjects)?;
        let archives = self.source.iter().flat_map(|source| &source.archives);
        for file in &files {
            if let Some(root) = roots.iter().find(|root| root.join(&file.path).is_file()) {
                fetcher.fetch(file, root, progress)?;
                continue;
            }
            let home = locations.download_folder()?.join(&self.name);
            match archives
                .clone()
                .find_map(|archive| self.entry(archive, &file.path).map(|entry| (archive, entry)))
            {
                None => {
                    fetcher.fetch(file, &home, progress)?;
                }
                Some((archive, entry)) => {
                    let sha256 = archive.sha256.as_deref().and_then(Checksum::from_hex);
                    let whole = RemoteFile { sha256, ..RemoteFile::new(&archive.url, &archive.name) };
                    // A user may have downloaded the archive only, or another program may have kept
                    // it after unpacking.
                    let shelf = roots.iter().find(|root| root.join(&whole.path).is_file()).unwrap_or(&home);
                    fetcher.fetch_from_archive(file, (&whole, shelf), entry, &home, progress)?;
                }
            }
        }
        Ok(())
    }

    /// The entry prefix of a file in an archive.
    fn entry<'a>(&self, archive: &'a Archive, file: &Path) -> Option<&'a str> {
        let ids = self.files.ids(file.to_str()?)?;
        archive.subjects.get(&ids.subject).map(String::as_str)
    }

    /// Verifies the files of some subjects. Passes the path and the state of each to `each`.
    ///
    /// # Errors
    /// As [`Definition::remote_files`], and if a file cannot be read.
    pub fn verify(
        &self,
        subjects: Option<&Selection>,
        locations: &Locations,
        mut each: impl FnMut(&Path, State),
    ) -> Result<(), Error> {
        let roots = self.roots(locations);
        for file in self.remote_files(subjects)? {
            let found = roots.iter().find(|root| root.join(&file.path).is_file());
            match found {
                None => each(&file.path, State::Missing),
                Some(root) => {
                    let [(_, state)] = verify([&file], root)?[..] else { continue };
                    each(&root.join(&file.path), state);
                }
            }
        }
        Ok(())
    }
}
