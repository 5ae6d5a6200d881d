//! Folders as inputs: all damaged files in one text.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use sha2::{Digest, Sha256};

/// The beginning of a file in an input. The rest of the line is its name.
const FILE: &[u8] = b"\n%%% ";
/// Before the name of a file without its checksum. The checksum is added to the damaged file, so
/// that its content is read too.
const SEALED: &str = "sealed ";
/// The begin of files with a checksum, and the lengths of their magic bytes and of the checksum.
const MAGIC: (&[u8], usize, usize) = (b"fedspd-", 16, 32);

/// A folder, some of whose files are damaged.
#[derive(Clone, Debug)]
pub struct DamagedFolder {
    fixed: BTreeMap<String, Vec<u8>>,
    damaged: BTreeMap<String, Vec<u8>>,
}

impl DamagedFolder {
    /// Reads a folder. Files whose path below the folder satisfies the condition are damaged.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn read(root: &Path, is_damaged: impl Fn(&str) -> bool) -> io::Result<Self> {
        let mut files = BTreeMap::new();
        collect(root, "", &mut files)?;
        let (damaged, fixed) = files.into_iter().partition(|(name, _)| is_damaged(name));
        Ok(Self { fixed, damaged })
    }

    /// Returns two inputs that give the sound folder: with checksums, and without them.
    pub fn seeds(&self) -> [Vec<u8>; 2] {
        [false, true].map(|seals| {
            let mut input = Vec::new();
            for (name, content) in &self.damaged {
                let (magic, checksum) = (MAGIC.1, MAGIC.2);
                let sealed = seals && content.starts_with(MAGIC.0) && content.len() > magic + checksum;
                input.extend_from_slice(FILE);
                input.extend_from_slice(if sealed { SEALED.as_bytes() } else { b"" });
                input.extend_from_slice(name.as_bytes());
                input.push(b'\n');
                if sealed {
                    input.extend_from_slice(&content[..magic]);
                    input.extend_from_slice(&content[magic + checksum..]);
                } else {
                    input.extend_from_slice(content);
                }
            }
            input
        })
    }

    /// Replaces a folder by the folder of an input.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn write(&self, input: &[u8], root: &Path) -> io::Result<()> {
        if root.exists() {
            fs::remove_dir_all(root)?;
        }
        fs::create_dir_all(root)?;
        let put = |name: &str, content: &[u8]| {
            let path = root.join(name);
            path.parent().map_or(Ok(()), fs::create_dir_all)?;
            fs::write(path, content)
        };
        for (name, content) in &self.fixed {
            put(name, content)?;
        }
        for (name, content) in self.damaged_files(input) {
            put(name, &content)?;
        }
        Ok(())
    }

    /// Returns the damaged files of an input, with new checksums where it asks for them.
    fn damaged_files(&self, input: &[u8]) -> BTreeMap<&str, Vec<u8>> {
        let (mut files, mut sealed) = (BTreeMap::new(), Vec::new());
        let starts: Vec<usize> = (0..input.len()).filter(|&at| input[at..].starts_with(FILE)).collect();
        let ends = starts.iter().skip(1).copied().chain([input.len()]);
        for (&start, end) in starts.iter().zip(ends) {
            let file = &input[start + FILE.len()..end];
            let Some(line) = file.iter().position(|&byte| byte == b'\n') else { continue };
            let (name, content) = (String::from_utf8_lossy(&file[..line]), &file[line + 1..]);
            let plain = name.strip_prefix(SEALED);
            // Other names could be outside of the folder.
            let Some((name, _)) = self.damaged.get_key_value(plain.unwrap_or(&name)) else { continue };
            if plain.is_some() {
                sealed.push(name);
            }
            files.insert(&**name, content.to_vec());
        }
        for name in sealed {
            let mut content = files.get(&**name).cloned().unwrap_or_default();
            // A file may also hold the checksum of another one.
            for (other, sound) in &self.damaged {
                let old = Sha256::digest(sound);
                let (place, new) = (
                    content.windows(MAGIC.2).position(|window| window == old.as_slice()),
                    files.get(&**other),
                );
                if let (Some(place), Some(new)) = (place, new) {
                    let new = Sha256::digest(&new[..new.len().min(sound.len())]);
                    content[place..place + MAGIC.2].copy_from_slice(&new);
                }
            }
            if let Some((magic, rest)) = content.split_at_checked(MAGIC.1) {
                files.insert(name, [magic, &Sha256::digest(rest), rest].concat());
            }
        }
        files
    }
}

fn collect(folder: &Path, prefix: &str, files: &mut BTreeMap<String, Vec<u8>>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            collect(&entry.path(), &format!("{name}/"), files)?;
        } else {
            files.insert(name, fs::read(entry.path())?);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_of_another_file_follows_its_damage() {
        let scratch = tempfile::tempdir().unwrap();
        let (from, to) = (scratch.path().join("from"), scratch.path().join("to"));
        fs::create_dir_all(&from).unwrap();
        let magic = b"fedspd-test-v1\n\0";
        let sealed = |other: &[u8]| {
            let content = Sha256::digest(other);
            [&magic[..], &Sha256::digest(content), &content].concat()
        };
        fs::write(from.join("log"), "sound").unwrap();
        fs::write(from.join("sealed"), sealed(b"sound")).unwrap();
        let folder = DamagedFolder::read(&from, |_| true).unwrap();
        let [_, mut seed] = folder.seeds();
        let place = seed.windows(5).position(|window| window == b"sound").unwrap();
        seed[place] = b'f';
        folder.write(&seed, &to).unwrap();
        assert_eq!(fs::read(to.join("log")).unwrap(), b"found");
        assert_eq!(fs::read(to.join("sealed")).unwrap(), sealed(b"found"));
    }

    #[test]
    fn a_folder_survives_and_its_damage_has_a_valid_checksum() {
        let scratch = tempfile::tempdir().unwrap();
        let (from, to) = (scratch.path().join("from"), scratch.path().join("to"));
        fs::create_dir_all(from.join("deep")).unwrap();
        let content = [&b"fedspd-test-v1\n\0"[..], &Sha256::digest(b"content"), b"content"].concat();
        fs::write(from.join("deep/sealed"), &content).unwrap();
        fs::write(from.join("text"), "a\nb").unwrap();
        fs::write(from.join("fixed"), "fixed").unwrap();
        let folder = DamagedFolder::read(&from, |name| name != "fixed").unwrap();
        for seed in folder.seeds() {
            folder.write(&seed, &to).unwrap();
            assert_eq!(fs::read(to.join("deep/sealed")).unwrap(), content);
            assert_eq!(fs::read(to.join("text")).unwrap(), b"a\nb");
            assert_eq!(fs::read(to.join("fixed")).unwrap(), b"fixed");
        }
        folder.write(b"\n%%% sealed deep/sealed\nfedspd-test-v1\n\0other\n%%% ../text\nb", &to).unwrap();
        let content = [&b"fedspd-test-v1\n\0"[..], &Sha256::digest(b"other"), b"other"].concat();
        assert_eq!(fs::read(to.join("deep/sealed")).unwrap(), content);
        assert!(!to.join("text").exists() && !scratch.path().join("text").exists());
        assert_eq!(fs::read(to.join("fixed")).unwrap(), b"fixed");
    }
}
