//! Hints for errors, and the split between user errors and environment errors.

use std::io::ErrorKind;

use crate::Error;
use crate::fetch::FetchFault;
use crate::read::EdfFault;

/// System errors that come from a wrong path. The user can give another path.
const MISTAKEN_PATHS: [ErrorKind; 6] = [
    ErrorKind::AlreadyExists,
    ErrorKind::DirectoryNotEmpty,
    ErrorKind::InvalidFilename,
    ErrorKind::IsADirectory,
    ErrorKind::NotADirectory,
    ErrorKind::NotFound,
];

impl Error {
    /// Returns a hint for the user, if there is one.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Edf { fault, .. } => fault.hint(),
            Self::Mat { fault, .. } => fault.hint(),
            Self::Npz { fault, .. } => fault.hint(),
            Self::Fetch { fault, .. } => fault.hint(),
            Self::Archive { .. } => Some("delete the archive to download it again".into()),
            Self::NoDataFolder => Some("set `FEDSPD_DATA` to the folder where data should go".into()),
            Self::NotFinite { .. } => {
                Some("repair the recording, or leave the channel or the subject out".into())
            }
            Self::NotFiniteCovariance { .. } | Self::TooLarge { .. } => {
                Some("the signal probably has another unit than the file or the definition says".into())
            }
            Self::Flat { .. } => Some("leave the channel or the subject out".into()),
            Self::Deficient { cause, .. } => Some(cause.hint()),
            Self::Unfit { first, .. } => {
                first.hint().map(|hint| format!("{hint}; `--quality FILE.csv` lists all of them"))
            }
            Self::Reference { cause, .. } => Some(format!("{}, or do not align trials", cause.remedy())),
            Self::UnknownDataset { known, .. } => Some(format!(
                "there are {known}; a definition of your own is a file whose name ends in .toml"
            )),
            Self::UnknownKey { unknown, .. } => Some(unknown.hint()),
            Self::Configuration { path } => Some(format!(
                "start it with `fedspd run {}`; the chapter \"Dataset definition\" of the book lists the keys of a definition",
                path.display()
            )),
            Self::NoSubject { known, .. } => Some(format!("known subjects: {}", known.join(", "))),
            Self::Missing { .. } => {
                Some("say where the files are with --root, or download them with `fedspd data fetch`".into())
            }
            Self::Recording { source, .. } => source.hint(),
            Self::Rates { .. } => {
                Some("leave the subject out, or resample its files with another program".into())
            }
            Self::Rate { .. } => Some("leave the subject out, or resample with --resample".into()),
            Self::File { source, .. } => fedspd_run::disk_hint(source).map(str::to_owned),
            Self::NoFiles { .. } => {
                Some("pass the folder with --root; `files` in the definition sets the file names".into())
            }
            Self::Band { low, .. } if !(*low > 0.0) => Some("begin the band above 0 Hz".into()),
            Self::Band { low, high, .. } if !(low < high) => Some("write the lower edge first".into()),
            Self::Band { .. } => Some("choose a lower band with --band".into()),
            Self::Unstable { .. } => {
                Some("take a wider band, and keep its edges away from 0 Hz and half the sampling rate".into())
            }
            Self::Window { .. } => Some("the trial is the `interval` of the definition".into()),
            Self::TooFewSamples { .. } => Some("take a longer window".into()),
            Self::MatShape { .. } => {
                Some("`channels` under [mat] must name every row of the array, in their order".into())
            }
            Self::MatLabels { .. } => {
                Some("`labels` under [mat] names the variable with one label for each trial".into())
            }
            Self::MatInterval { .. } => {
                Some("`interval` counts from the beginning of each trial in the file".into())
            }
            Self::Store { fault, .. } => fault.hint(),
            Self::LeftOut { measured: None, .. } => Some("name other subjects with --subjects".into()),
            Self::Channel { count: 2.., .. } => Some(
                "give one of them another name under [rename], or list the others under `channels`".into(),
            ),
            Self::Channel { count: 0, there, .. } if !there.is_empty() => Some(format!(
                "the file also has {}; the definition can rename channels under [rename]",
                there.join(", ")
            )),
            Self::Unit { unit, .. } if unit.is_empty() => {
                Some("set it in the definition: `unit = \"uV\"`".into())
            }
            Self::Unit { .. } => Some("leave the channel out of `channels`".into()),
            Self::LeftOut { measured: Some(_), .. } => {
                Some("--resample accepts recordings at another rate".into())
            }
            Self::NoEvents { dropped: Some((_, reason)), .. } => Some(format!(
                "the first was dropped: {reason}; check that `interval` in the definition fits the recordings"
            )),
            Self::NoEvents { noted, .. } if noted.is_empty() => {
                Some("the recordings have no annotations, so no `events` can match".into())
            }
            Self::NoEvents { noted, .. } => Some(format!(
                "annotations are {}; `events` must name those that begin trials",
                crate::names::list(noted)
            )),
            Self::NoSource { .. } => {
                Some("set `base` and `checksums` under [source], or copy the files and use --root".into())
            }
            Self::NotListed { what, .. } => Some(format!(
                "add `{what}` to the definition; without it, files can only be searched on disk"
            )),
            Self::MixedRates { .. } => Some("list the channels of one rate under `channels`".into()),
            _ => None,
        }
    }

    /// Whether the machine is at fault (disk, permissions or memory), not the request and not the
    /// content of a file.
    pub fn is_environment(&self) -> bool {
        match self {
            // An error without a code of the system was raised here, about a path of the user.
            Self::File { source, .. } => {
                source.raw_os_error().is_some() && !MISTAKEN_PATHS.contains(&source.kind())
            }
            Self::Fetch { fault, .. } => matches!(**fault, FetchFault::NoLock { .. }),
            Self::Edf { fault: EdfFault::Memory { .. }, .. } => true,
            Self::Recording { source, .. } => source.is_environment(),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disks_and_rights_are_the_environment_and_paths_are_not() {
        let of_system = |code| Error::file("x.npz".as_ref())(std::io::Error::from_raw_os_error(code));
        // Disk full, permission denied, read-only disk, input/output error.
        for (code, hint) in [(28, "make room"), (13, "you may use"), (30, "you may use"), (5, "")] {
            let error = of_system(code);
            assert!(error.is_environment(), "{error}");
            assert!(error.hint().unwrap_or_default().contains(hint), "{error}");
        }
        for code in [2, 17, 20, 21] {
            assert!(!of_system(code).is_environment(), "{}", of_system(code));
        }
        let pipe =
            std::io::Error::new(ErrorKind::InvalidInput, "not a file but a pipe, a socket or a device");
        assert!(!Error::file("x.edf".as_ref())(pipe).is_environment());
        let lock = FetchFault::NoLock { reason: "no locks available".into() };
        assert!(Error::fetch("x.edf", lock).is_environment());
    }
}
