//! The cache of a site's prepared trials.
//!
//! Flower starts a process for every message. Without a cache, each process would read, split and
//! align all recordings again.
//!
//! The key of an entry covers everything that the trials depend on: the configuration, the site's
//! number, the version of the software, and path, size, times and inode of every source file.
//! The cache is in the node's state folder, readable by its owner only. A checksum verifies each
//! entry. The total size is bounded; the least recently used entries are removed first.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use fedspd_eeg::Preparation;
use fedspd_federated::Shard;
use fedspd_manifold::Real;
use fedspd_run::atomic;
use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256};

use super::introduction::{Counts, Facts};
use super::state::private_folder;
use crate::config::Config;
use crate::data::source_files;
use crate::error::hexadecimal;
use crate::record::sealed::{self, Magic};
use crate::{Error, Observer};

const MAGIC: &Magic = b"fedspd-cache-v2\n";
/// Version of the preparation. Increase it when the same files give other numbers.
const PREPARATION_VERSION: u32 = 2;
/// Largest size of all entries together, in bytes.
const LARGEST_CACHE: u64 = 4 << 30;

/// The trials of a site, split, aligned and scaled.
#[derive(Serialize, Deserialize)]
pub(super) struct PreparedTrials {
    /// As JSON, because the rules for recordings have numbers or texts as ids. The binary format
    /// cannot tell them apart.
    #[serde(serialize_with = "to_json", deserialize_with = "from_json")]
    pub(super) facts: Facts,
    pub(super) counts: Counts,
    pub(super) shard: Shard,
    pub(super) labels: Vec<usize>,
    pub(super) numbers: InputNumbers,
}

fn to_json<S: Serializer>(facts: &Facts, to: S) -> Result<S::Ok, S::Error> {
    serde_json::to_string(facts).map_err(S::Error::custom)?.serialize(to)
}

fn from_json<'de, D: Deserializer<'de>>(from: D) -> Result<Facts, D::Error> {
    serde_json::from_str(&String::deserialize(from)?).map_err(D::Error::custom)
}

/// The numbers of all trials in the precision of the network.
#[derive(Serialize, Deserialize)]
pub(super) enum InputNumbers {
    F32(Vec<f32>),
    F64(Vec<f64>),
}

impl PreparedTrials {
    /// Whether counts and indices agree, as in every entry that a site has written.
    fn is_consistent(&self) -> bool {
        let (Facts { preparation, inputs, samples, .. }, Shard { train, validation, test }) =
            (&self.facts, &self.shard);
        let Preparation { classes, channels, .. } = preparation;
        let trials = self.labels.len();
        let size = samples.map_or_else(|| inputs.checked_mul(channels.len()), Some);
        let numbers = size.and_then(|rows| rows.checked_mul(channels.len())?.checked_mul(trials));
        let Counts { train: trained, validation: validated, test: tested } = &self.counts;
        numbers == Some(self.numbers.len())
            && self.labels.iter().all(|&label| label < classes.len())
            && [train, validation, test].into_iter().flatten().all(|&trial| trial < trials)
            && [trained, validated, tested].iter().all(|counts| counts.len() == classes.len())
    }
}

impl InputNumbers {
    pub(super) fn new<T: Real>(numbers: Vec<T>) -> Self {
        if size_of::<T>() == size_of::<f32>() {
            Self::F32(numbers.into_iter().map(|x| x.to_f64() as f32).collect())
        } else {
            Self::F64(numbers.into_iter().map(Real::to_f64).collect())
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::F32(numbers) => numbers.len(),
            Self::F64(numbers) => numbers.len(),
        }
    }

    fn bytes(&self) -> u64 {
        match self {
            Self::F32(numbers) => size_of_val(&numbers[..]) as u64,
            Self::F64(numbers) => size_of_val(&numbers[..]) as u64,
        }
    }

    pub(super) fn into_vec<T: Real>(self) -> Vec<T> {
        match self {
            Self::F32(numbers) => numbers.into_iter().map(|x| T::from_f64(x.into())).collect(),
            Self::F64(numbers) => numbers.into_iter().map(T::from_f64).collect(),
        }
    }
}

/// The cache folder of a node.
pub(super) struct Cache {
    folder: PathBuf,
    largest: u64,
}

impl Cache {
    pub(super) fn new(state: &Path) -> Self {
        Self { folder: state.join("cache"), largest: LARGEST_CACHE }
    }

    /// Returns the prepared trials of a site from the cache. If there are none, it calls `prepare`
    /// and stores the result. It replaces a damaged entry, with a warning. If the cache cannot be
    /// written, it warns too: the site works without it.
    pub(super) fn get_or_prepare(
        &self,
        config: &Config,
        number: u32,
        observer: &mut (dyn Observer + Send),
        prepare: impl FnOnce() -> Result<PreparedTrials, Error>,
    ) -> Result<PreparedTrials, Error> {
        let path = self.folder.join(format!("{}.trials", key(config, number)?));
        match sealed::read::<PreparedTrials>(&path, MAGIC) {
            Ok(Some(trials)) if trials.is_consistent() => {
                mark_as_used(&path);
                return Ok(trials);
            }
            Ok(Some(_)) => observer.warning("the cached trials contradict themselves and are prepared again"),
            Ok(None) => {}
            Err(fault) => observer.warning(&format!("the cached trials are prepared again: {fault}")),
        }
        let trials = prepare()?;
        // If the files changed while they were read, the entry would have the wrong key.
        if path == self.folder.join(format!("{}.trials", key(config, number)?))
            && let Err(fault) = self.store(&path, &trials)
        {
            observer.warning(&format!("the prepared trials are not cached: {fault}"));
        }
        Ok(trials)
    }

    /// Stores trials, unless they alone exceed the limit. Processes of one site may prepare the
    /// same trials at the same time: each writes a file of its own, and the last one stays.
    fn store(&self, path: &Path, trials: &PreparedTrials) -> Result<(), Error> {
        if trials.numbers.bytes() > self.largest {
            return Ok(());
        }
        private_folder(&self.folder)?;
        let own = path.with_extension(format!("{}.trials", std::process::id()));
        sealed::write(&own, MAGIC, trials)?;
        let refused = |source| fedspd_run::Error::File { path: path.to_owned(), source };
        atomic::rename(&own, path).map_err(refused)?;
        self.evict(path)
    }

    /// Removes the least recently used entries until the rest fits; the new entry is the last to
    /// go.
    fn evict(&self, new: &Path) -> Result<(), Error> {
        let refused = |source| fedspd_run::Error::File { path: self.folder.clone(), source };
        let mut entries = Vec::new();
        for entry in fs::read_dir(&self.folder).map_err(refused)? {
            let entry = entry.map_err(refused)?;
            // Another process may have removed the entry.
            let Ok(meta) = entry.metadata() else { continue };
            let used = meta.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            entries.push((entry.path() == new, used, meta.len(), entry.path()));
        }
        entries.sort();
        let mut total: u64 = entries.iter().map(|(_, _, size, _)| size).sum();
        for (_, _, size, path) in entries {
            if total <= self.largest {
                break;
            }
            match fs::remove_file(&path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(refused(error).into());
                }
                _ => total -= size,
            }
        }
        Ok(())
    }
}

/// Sets the modification time, which orders the removal of entries. After a failure, the entry is
/// only removed sooner.
fn mark_as_used(path: &Path) {
    if let Ok(file) = File::options().append(true).open(path) {
        let _ = file.set_modified(SystemTime::now());
    }
}

/// The inode of a file and the time of its last change, which programs cannot set back.
#[cfg(unix)]
fn identity(meta: &fs::Metadata) -> (u64, i64, i64) {
    use std::os::unix::fs::MetadataExt;
    (meta.ino(), meta.ctime(), meta.ctime_nsec())
}

#[cfg(not(unix))]
fn identity(_: &fs::Metadata) {}

/// Hashes everything that prepared trials depend on.
fn key(config: &Config, number: u32) -> Result<String, Error> {
    let mut hash = Sha256::new();
    let mut add = |text: &str| {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    };
    add(env!("CARGO_PKG_VERSION"));
    add(&PREPARATION_VERSION.to_string());
    add(&config.hash());
    add(&number.to_string());
    for path in source_files(config)? {
        let refused = |source| fedspd_run::Error::File { path: path.clone(), source };
        let meta = fs::metadata(&path).map_err(refused)?;
        let modified = meta.modified().map_err(refused)?.duration_since(SystemTime::UNIX_EPOCH);
        add(&path.to_string_lossy());
        add(&format!("{} {:?} {:?}", meta.len(), modified.unwrap_or_default(), identity(&meta)));
    }
    Ok(hexadecimal(&hash.finalize()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trials(count: usize) -> PreparedTrials {
        let facts = Facts {
            preparation: fedspd_eeg::Preparation {
                content: fedspd_eeg::ContentKind::Covariances,
                classes: vec!["a".into()],
                channels: vec!["C3".into()],
                sfreq: Some(160.0),
                unit: "uV^2".into(),
                making: fedspd_eeg::Making::default(),
            },
            inputs: 1,
            samples: None,
            unit: "uV^2".into(),
            alignment: "none".into(),
            transductive: false,
        };
        let counts = Counts { train: vec![count], validation: vec![0], test: vec![0] };
        let shard = Shard { train: (0..count).collect(), validation: Vec::new(), test: Vec::new() };
        let numbers = InputNumbers::new(vec![0.25_f64; count]);
        PreparedTrials { facts, counts, shard, labels: vec![0; count], numbers }
    }

    fn config(file: &Path) -> Config {
        Config::new(file.to_string_lossy())
    }

    #[derive(Default)]
    struct Warnings(Vec<String>);

    impl Observer for Warnings {
        fn round(&mut self, _: &crate::RoundProgress) {}

        fn warning(&mut self, text: &str) {
            self.0.push(text.to_owned());
        }

        fn interrupted(&self) -> bool {
            false
        }
    }

    /// Returns how many times trials were prepared.
    fn prepared(cache: &Cache, config: &Config, number: u32, warnings: &mut Warnings) -> usize {
        let mut times = 0;
        let made = cache.get_or_prepare(config, number, warnings, || {
            times += 1;
            Ok(trials(100))
        });
        assert_eq!(made.unwrap().numbers.into_vec::<f64>(), [0.25; 100]);
        times
    }

    #[test]
    fn trials_are_prepared_once_and_again_when_anything_changes() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("data.npz");
        fs::write(&file, "first").unwrap();
        let (cache, mut warnings) = (Cache::new(folder.path()), Warnings::default());
        let mut config = config(&file);
        assert_eq!(prepared(&cache, &config, 0, &mut warnings), 1);
        assert_eq!(prepared(&cache, &config, 0, &mut warnings), 0);
        assert_eq!(prepared(&cache, &config, 1, &mut warnings), 1, "another site");
        config.run.threads = 7;
        assert_eq!(prepared(&cache, &config, 0, &mut warnings), 0, "threads change nothing");
        config.split.seed = Some(3);
        assert_eq!(prepared(&cache, &config, 0, &mut warnings), 1, "another split");
        fs::write(&file, "second").unwrap();
        assert_eq!(prepared(&cache, &config, 0, &mut warnings), 1, "another file");
        assert!(warnings.0.is_empty());
    }

    #[test]
    fn a_damaged_entry_is_prepared_again_with_a_warning() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("data.npz");
        fs::write(&file, "data").unwrap();
        let (cache, mut warnings, config) = (Cache::new(folder.path()), Warnings::default(), config(&file));
        assert_eq!(prepared(&cache, &config, 0, &mut warnings), 1);
        let entry = fs::read_dir(&cache.folder).unwrap().next().unwrap().unwrap().path();
        let mut bytes = fs::read(&entry).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        fs::write(&entry, bytes).unwrap();
        assert_eq!(prepared(&cache, &config, 0, &mut warnings), 1);
        assert!(matches!(&warnings.0[..], [text] if text.contains("checksum")), "{:?}", warnings.0);
        assert_eq!(prepared(&cache, &config, 0, &mut warnings), 0);
    }

    #[test]
    fn an_entry_that_contradicts_itself_is_prepared_again_with_a_warning() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("data.npz");
        fs::write(&file, "data").unwrap();
        let (cache, mut warnings, config) = (Cache::new(folder.path()), Warnings::default(), config(&file));
        assert_eq!(prepared(&cache, &config, 0, &mut warnings), 1);
        let entry = fs::read_dir(&cache.folder).unwrap().next().unwrap().unwrap().path();
        let damages: [fn(&mut PreparedTrials); 6] = [
            |trials| trials.shard.test.push(100),
            |trials| trials.labels[0] = 1,
            |trials| trials.labels.truncate(99),
            |trials| trials.counts.validation.clear(),
            |trials| trials.facts.inputs = 2,
            |trials| trials.facts.inputs = usize::MAX,
        ];
        for damage in damages {
            let mut damaged = trials(100);
            damage(&mut damaged);
            sealed::write(&entry, MAGIC, &damaged).unwrap();
            assert_eq!(prepared(&cache, &config, 0, &mut warnings), 1);
        }
        assert_eq!(warnings.0.len(), damages.len());
        assert_eq!(warnings.0[0], "the cached trials contradict themselves and are prepared again");
        assert_eq!(prepared(&cache, &config, 0, &mut warnings), 0);
    }

    #[test]
    fn a_cache_that_cannot_be_written_costs_a_warning() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("data.npz");
        fs::write(&file, "data").unwrap();
        let (cache, mut warnings, config) = (Cache::new(&file), Warnings::default(), config(&file));
        assert_eq!(prepared(&cache, &config, 0, &mut warnings), 1);
        assert!(matches!(&warnings.0[..], [.., text] if text.contains("not cached")), "{:?}", warnings.0);
    }

    #[test]
    fn the_cache_is_private_and_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("data.npz");
        fs::write(&file, "data").unwrap();
        let (mut cache, mut warnings, config) =
            (Cache::new(folder.path()), Warnings::default(), config(&file));
        let entries = |cache: &Cache| fs::read_dir(&cache.folder).unwrap().count();
        assert_eq!(prepared(&cache, &config, 0, &mut warnings), 1);
        #[cfg(unix)]
        {
            let mode =
                std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&cache.folder).unwrap().permissions());
            assert_eq!(mode & 0o777, 0o700);
        }
        let size = fs::read_dir(&cache.folder).unwrap().next().unwrap().unwrap().metadata().unwrap().len();
        cache.largest = 2 * size + size / 2;
        assert_eq!(prepared(&cache, &config, 1, &mut warnings), 1);
        // The first entry is used again, so that the second one is the oldest.
        assert_eq!(prepared(&cache, &config, 0, &mut warnings), 0);
        assert_eq!(prepared(&cache, &config, 2, &mut warnings), 1);
        assert_eq!(entries(&cache), 2);
        assert_eq!(prepared(&cache, &config, 0, &mut warnings), 0);
        assert_eq!(prepared(&cache, &config, 2, &mut warnings), 0);
        assert_eq!(prepared(&cache, &config, 1, &mut warnings), 1);
        // Trials that exceed the limit alone remove no others.
        cache.largest = 100;
        assert_eq!(prepared(&cache, &config, 3, &mut warnings), 1);
        assert_eq!(entries(&cache), 2);
    }
}
