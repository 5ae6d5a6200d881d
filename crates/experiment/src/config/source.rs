//! Sources of trials.

use std::path::PathBuf;

/// Source of trials, named by `data.name`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// The embedded covariances of ten subjects of `PhysionetMI`.
    Sample,
    /// Synthetic data.
    Generated,
    /// A built-in dataset, by its name.
    Registry(String),
    /// A dataset, by the file that defines it.
    Definition(PathBuf),
    /// A file of prepared trials or covariances.
    Npz(PathBuf),
}

impl Source {
    /// Returns the source of a name, if the name is known.
    pub fn of_name(name: &str) -> Option<Self> {
        match name {
            "sample" => Some(Self::Sample),
            "generated" => Some(Self::Generated),
            _ if extension_is(name, "toml") => Some(Self::Definition(name.into())),
            _ if extension_is(name, "npz") => Some(Self::Npz(name.into())),
            _ => registry().iter().any(|known| known == name).then(|| Self::Registry(name.to_owned())),
        }
    }

    /// Returns all names that are not files.
    pub fn names() -> Vec<String> {
        ["sample", "generated"].map(str::to_owned).into_iter().chain(registry()).collect()
    }
}

fn extension_is(name: &str, extension: &str) -> bool {
    std::path::Path::new(name).extension().is_some_and(|found| found == extension)
}

/// Returns the names of the built-in datasets. Their definitions are part of the program and are
/// tested.
fn registry() -> Vec<String> {
    let definitions = fedspd_eeg::dataset::built_in().unwrap_or_default();
    definitions.into_iter().map(|definition| definition.name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_files() {
        assert_eq!(Source::of_name("sample"), Some(Source::Sample));
        assert_eq!(Source::of_name("generated"), Some(Source::Generated));
        assert_eq!(Source::of_name("weibo2014"), Some(Source::Registry("weibo2014".into())));
        assert_eq!(Source::of_name("own/study.toml"), Some(Source::Definition("own/study.toml".into())));
        assert_eq!(Source::of_name("mi.npz"), Some(Source::Npz("mi.npz".into())));
        assert_eq!(Source::of_name("weibo"), None);
        assert_eq!(Source::names(), ["sample", "generated", "physionet-mi", "weibo2014"]);
    }
}
