//! Folders that are searched, and folders for downloads.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use fedspd_eeg::Error;
use fedspd_eeg::dataset::definition;
use fedspd_eeg::fetch::{Environment, Locations};

fn environment(system: &str, variables: &[(&str, &str)]) -> Environment {
    let variables: HashMap<&str, &str> = variables.iter().copied().collect();
    Environment::read(system, |name| variables.get(name).map(OsString::from))
}

fn put(path: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, "x").unwrap();
}

#[test]
fn every_system_has_its_folder() {
    let folder = |system: &str, variables: &[(&str, &str)]| environment(system, variables).platform_data;
    let home = ("HOME", "/home/a");
    assert_eq!(folder("linux", &[home]), Some("/home/a/.local/share/fedspd".into()));
    assert_eq!(folder("linux", &[home, ("XDG_DATA_HOME", "/big")]), Some("/big/fedspd".into()));
    // Relative and empty values count as not set.
    assert_eq!(
        folder("linux", &[home, ("XDG_DATA_HOME", "big")]),
        Some("/home/a/.local/share/fedspd".into())
    );
    assert_eq!(folder("linux", &[home, ("XDG_DATA_HOME", "")]), Some("/home/a/.local/share/fedspd".into()));
    assert_eq!(folder("macos", &[home]), Some("/home/a/Library/Application Support/fedspd".into()));
    let local = Path::new("C:\\Local").join("fedspd");
    assert_eq!(folder("windows", &[("LOCALAPPDATA", "C:\\Local"), home]), Some(local));
    assert_eq!(folder("linux", &[]), None);
}

#[test]
fn variables_are_respected() {
    let found = environment("linux", &[("HOME", "/home/a"), ("FEDSPD_DATA", "/data"), ("MNE_DATA", "/mne")]);
    assert_eq!(found.fedspd_data, Some("/data".into()));
    assert_eq!(found.mne_data, Some("/mne".into()));
    let found = environment("linux", &[("HOME", "/home/a"), ("FEDSPD_DATA", ""), ("MNE_DATA", "")]);
    assert_eq!(found.fedspd_data, None);
    assert_eq!(found.mne_data, Some("/home/a/mne_data".into()));
    let found = environment("windows", &[("USERPROFILE", "/users/a")]);
    assert_eq!(found.mne_data, Some("/users/a/mne_data".into()));
    assert_eq!(found.platform_data, None);
}

#[test]
fn folders_are_searched_in_order_and_every_layout_in_each() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let environment = Environment {
        fedspd_data: Some(at("ours")),
        mne_data: Some(at("mne")),
        platform_data: Some(at("platform")),
    };
    let explicit = at("explicit");
    fs::create_dir(at("mne")).unwrap();
    let locations = Locations::new(Some(&explicit), &environment);
    assert_eq!(locations.folders(), [at("explicit"), at("ours"), at("mne"), at("platform")]);

    // From the last folder to the first: each new one takes precedence.
    let mut physionet = definition("physionet-mi").unwrap();
    physionet.runs = Some(vec!["4".into()]);
    let (first, mut roots) = ("1".parse().unwrap(), physionet.roots(&locations));
    let found = || {
        let mut found = Vec::new();
        physionet.verify(Some(&first), &locations, |path, _| found.push(path.to_owned())).unwrap();
        found
    };
    let file = Path::new("S001/S001R04.edf");
    assert_eq!(found(), [file]);
    roots.reverse();
    assert_eq!(roots.len(), 4 * 5);
    for root in roots {
        put(&root.join(file));
        assert_eq!(found(), [root.join(file)]);
    }
}

#[test]
fn folders_are_listed_once_and_only_if_they_can_matter() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let environment = Environment {
        fedspd_data: Some(data.clone()),
        mne_data: Some(folder.path().join("no mne here")),
        platform_data: Some(data.clone()),
    };
    assert_eq!(Locations::new(Some(&data), &environment).folders(), [data]);
}

/// New files never go to MNE's folder.
#[test]
fn new_files_go_to_the_first_folder_of_ours() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| Some(folder.path().join(name));
    fs::create_dir(folder.path().join("mne")).unwrap();
    let goes_to = |root: Option<PathBuf>, environment: &Environment| {
        let locations = Locations::new(root.as_deref(), environment);
        locations.download_folder().map(Path::to_owned)
    };
    let mut environment =
        Environment { fedspd_data: at("ours"), mne_data: at("mne"), platform_data: at("deep/platform") };
    assert_eq!(goes_to(at("explicit"), &environment).ok(), at("explicit"));
    assert_eq!(goes_to(None, &environment).ok(), at("ours"));
    environment.fedspd_data = None;
    assert_eq!(goes_to(None, &environment).ok(), at("deep/platform"));
    environment.platform_data = None;
    let error = goes_to(None, &environment).unwrap_err();
    assert!(matches!(error, Error::NoDataFolder));
    assert_eq!(error.to_string(), "no folder for data: neither `FEDSPD_DATA` nor a home folder is set");
    assert_eq!(error.hint().unwrap(), "set `FEDSPD_DATA` to the folder where data should go");
}
