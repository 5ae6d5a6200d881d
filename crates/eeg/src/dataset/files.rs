//! The files of a dataset: where they are, and how they get here.

use std::path::{Path, PathBuf};

use super::{Archive, Definition, Ids, Selection};
use crate::Error;
use crate::fetch::{Checksum, Fetcher, Locations, Progress, RemoteFile, State, verify};

impl Definition {
    /// The folders in which its files are looked for: under each location, the folder of its name, the location itself, and where
    /// other programs keep it.
    pub fn roots(&self, locations: &Locations) -> Vec<PathBuf> {
        let others = self.source.iter().flat_map(|source| source.layouts.iter().map(String::as_str));
        let layouts: Vec<&str> = [self.name.as_str(), ""].into_iter().chain(others).collect();
        let folders = locations.folders().iter();
        folders.flat_map(|folder| layouts.iter().map(move |layout| folder.join(layout))).collect()
    }

    /// Whether downloads can be compared with published checksums. Otherwise the first one is trusted, and its checksum recorded.
    pub fn has_checksums(&self) -> bool {
        let archives = self.source.as_ref().map_or(&[][..], |source| &source.archives);
        !self.checksums.is_empty() || (!archives.is_empty() && archives.iter().all(|a| a.sha256.is_some()))
    }

    /// The files of some subjects, or of all: those of every session and run.
    ///
    /// # Errors
    /// [`Error::NoSource`] if the definition does not say where they come from, [`Error::NotListed`] if it does not say which there are;
    /// [`Error::NoSubject`].
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

    /// Makes sure that the files of some subjects are on the disk and right: those that are found anywhere stay where they are, the others are
    /// unpacked from archives that are found anywhere, or downloaded.
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
                    // Someone may have downloaded the archive alone, or another program unpacked it and kept it.
                    let shelf = roots.iter().find(|root| root.join(&whole.path).is_file()).unwrap_or(&home);
                    fetcher.fetch_from_archive(file, (&whole, shelf), entry, &home, progress)?;
                }
            }
        }
        Ok(())
    }

    /// How the entry of an archive begins that becomes a file.
    fn entry<'a>(&self, archive: &'a Archive, file: &Path) -> Option<&'a str> {
        let ids = self.files.ids(file.to_str()?)?;
        archive.subjects.get(&ids.subject).map(String::as_str)
    }

    /// Whether the files of some subjects are there and right, with the place of each.
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
