//! The files of a dataset: search, single downloads, archives, and verification.

use std::io::Write;
use std::path::Path;
use std::sync::mpsc::Sender;

use fedspd_eeg::Definition;
use fedspd_eeg::dataset::definition;
use fedspd_eeg::fetch::{Environment, Fetched, Fetcher, Locations, Progress, RemoteFile, Settings, State};

use crate::support::server::{Reply, Server};

fn locations(root: &Path) -> Locations {
    Locations::new(Some(root), &Environment::default())
}

fn fetcher(offline: bool) -> Fetcher {
    let settings = Settings { offline, environment_proxy: false, ..Settings::default() };
    Fetcher::new(settings).sleeping_by(|_| ())
}

/// Two subjects with one file each on a server.
fn small(server: &Server, checksum: &str) -> Definition {
    let mut small = definition("physionet-mi").unwrap();
    small.runs = Some(vec!["4".into()]);
    small.subjects = Some("1-2".parse().unwrap());
    small.source.as_mut().unwrap().base = Some(server.url("/data/"));
    small.checksums.clear();
    small.checksums.insert("S001/S001R04.edf".into(), checksum.into());
    small
}

fn states(definition: &Definition, locations: &Locations) -> Vec<(String, State)> {
    let mut states = Vec::new();
    let each =
        |path: &Path, state| states.push((path.file_name().unwrap().to_str().unwrap().to_owned(), state));
    definition.verify(None, locations, each).unwrap();
    states
}

/// SHA-256 of `one`.
const ONE: &str = "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed";

#[test]
fn files_are_downloaded_once_and_verified() {
    let server = Server::new([Reply::whole(b"one"), Reply::whole(b"two")]);
    let folder = tempfile::tempdir().unwrap();
    let (small, locations) = (small(&server, ONE), locations(folder.path()));
    let state = |state| vec![("S001R04.edf".to_owned(), state), ("S002R04.edf".to_owned(), state)];
    assert_eq!(states(&small, &locations), state(State::Missing));
    small.fetch(None, &locations, &fetcher(false), &mut ()).unwrap();
    small.fetch(None, &locations, &fetcher(true), &mut ()).unwrap();
    let paths: Vec<String> = server.requests().iter().map(|request| request.path().to_owned()).collect();
    assert_eq!(paths, ["/data/S001/S001R04.edf", "/data/S002/S002R04.edf"]);
    assert_eq!(states(&small, &locations), state(State::Good));

    // A changed file is reported, not overwritten.
    let path = folder.path().join("physionet-mi/S001/S001R04.edf");
    std::fs::write(&path, "other").unwrap();
    assert!(matches!(states(&small, &locations)[0].1, State::Wrong { .. }));
    let error = small.fetch(None, &locations, &fetcher(false), &mut ()).unwrap_err();
    assert!(error.to_string().starts_with(&path.display().to_string()), "{error}");
    assert_eq!(std::fs::read(&path).unwrap(), b"other");
}

#[test]
fn files_of_other_programs_are_used_where_they_are() {
    let server = Server::new([Reply::whole(b"two")]);
    let folder = tempfile::tempdir().unwrap();
    let theirs = folder.path().join("MNE-eegbci-data/files/eegmmidb/1.0.0/S001");
    std::fs::create_dir_all(&theirs).unwrap();
    std::fs::write(theirs.join("S001R04.edf"), "one").unwrap();
    let (small, locations) = (small(&server, ONE), locations(folder.path()));
    small.fetch(None, &locations, &fetcher(false), &mut ()).unwrap();
    assert_eq!(server.requests().len(), 1);
    assert!(!folder.path().join("physionet-mi/S001").exists());
    assert!(folder.path().join("physionet-mi/S002/S002R04.edf").is_file());
}

#[test]
fn offline_means_offline() {
    let server = Server::new([]);
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let error = small(&server, ONE).fetch(None, &locations(&data), &fetcher(true), &mut ()).unwrap_err();
    assert!(error.to_string().contains("S001R04.edf"), "{error}");
    assert!(!data.exists());
    assert!(server.requests().is_empty());
}

/// An archive with the files of two subjects.
fn archive() -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, content) in [("data1/cl_a.mat", "first"), ("data1/cyy_b.mat", "second")] {
        zip.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(content.as_bytes()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// Weibo2014 with three subjects, with its archive on this server.
fn weibo(server: &Server) -> Definition {
    let mut weibo = definition("weibo2014").unwrap();
    weibo.subjects = Some("1-3".parse().unwrap());
    weibo.source.as_mut().unwrap().archives[0].url = server.url("/data1.zip");
    weibo
}

/// The outcome of each file.
#[derive(Default)]
struct Told {
    done: Vec<(String, Fetched)>,
    waited: Option<Sender<()>>,
}

impl Progress for Told {
    fn waiting(&mut self, _: &RemoteFile) {
        self.waited.take().unwrap().send(()).unwrap();
    }

    fn done(&mut self, file: &RemoteFile, fetched: &Fetched) {
        self.done.push((file.path.display().to_string(), *fetched));
    }
}

/// Two processes may want the same file: the second waits while the first unpacks, and uses the
/// result.
#[test]
fn an_archive_is_unpacked_by_one_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("weibo2014");
    std::fs::create_dir(&home).unwrap();
    std::fs::write(home.join("data1.zip"), archive()).unwrap();
    let lock = std::fs::File::create(home.join("subject_1.mat.lock")).unwrap();
    lock.lock().unwrap();
    let (told, waits) = std::sync::mpsc::channel();
    let root = folder.path().to_owned();
    let second = std::thread::spawn(move || {
        let mut progress = Told { waited: Some(told), ..Told::default() };
        let weibo = weibo(&Server::new([]));
        weibo.fetch(Some(&"1".parse().unwrap()), &locations(&root), &fetcher(true), &mut progress).unwrap();
        progress.done
    });
    waits.recv_timeout(std::time::Duration::from_secs(20)).unwrap();
    std::fs::write(home.join("subject_1.mat"), "of the first").unwrap();
    drop(lock);
    assert_eq!(second.join().unwrap(), [("subject_1.mat".to_owned(), Fetched::Present)]);
    assert_eq!(std::fs::read_to_string(home.join("subject_1.mat")).unwrap(), "of the first");
}

/// Progress is reported for the files of the dataset, not for their archive.
#[test]
fn files_of_archives_are_counted_once_each() {
    let bytes = archive();
    let server = Server::new([Reply::whole(&bytes)]);
    let folder = tempfile::tempdir().unwrap();
    let (weibo, locations, two) = (weibo(&server), locations(folder.path()), "1-2".parse().unwrap());
    let fetch = || {
        let mut told = Told::default();
        weibo.fetch(Some(&two), &locations, &fetcher(false), &mut told).unwrap();
        told.done
    };
    let done = |fetched: [Fetched; 2]| {
        let names = ["subject_1.mat".to_owned(), "subject_2.mat".to_owned()];
        names.into_iter().zip(fetched).collect::<Vec<_>>()
    };
    let received = bytes.len() as u64;
    assert_eq!(fetch(), done([Fetched::Unpacked { received }, Fetched::Unpacked { received: 0 }]));
    assert_eq!(fetch(), done([Fetched::Present; 2]));
    std::fs::remove_file(folder.path().join("weibo2014/subject_2.mat")).unwrap();
    assert_eq!(fetch(), done([Fetched::Present, Fetched::Unpacked { received: 0 }]));
    let mut names: Vec<_> = std::fs::read_dir(folder.path().join("weibo2014"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    names.sort();
    let records = ["subject_1.mat", "subject_1.mat.sha256", "subject_2.mat", "subject_2.mat.sha256"];
    assert_eq!(names, [&["data1.zip", "data1.zip.sha256"][..], &records].concat());
}

#[test]
fn archives_are_unpacked_subject_by_subject() {
    let server = Server::new([Reply::whole(&archive())]);
    let folder = tempfile::tempdir().unwrap();
    let (weibo, locations) = (weibo(&server), locations(folder.path()));
    let two = "1-2".parse().unwrap();
    weibo.fetch(Some(&two), &locations, &fetcher(false), &mut ()).unwrap();
    let content = |subject: u8| {
        std::fs::read_to_string(folder.path().join(format!("weibo2014/subject_{subject}.mat"))).unwrap()
    };
    assert_eq!((&*content(1), &*content(2)), ("first", "second"));
    let good: Vec<State> = states(&weibo, &locations).into_iter().map(|(_, state)| state).collect();
    assert_eq!(good, [State::Good, State::Good, State::Missing]);
    let error = weibo.fetch(None, &locations, &fetcher(false), &mut ()).unwrap_err();
    assert!(error.to_string().ends_with("no entry begins with \"kyf\""), "{error}");
}

/// An archive in any searched folder is used before the network. It stays there, and its files go
/// to the download folder.
#[test]
fn archives_are_found_wherever_files_are() {
    for layout in ["", "weibo2014", "MNE-weibo-2014"] {
        let (folder, server) = (tempfile::tempdir().unwrap(), Server::new([]));
        let shelf = folder.path().join(layout);
        std::fs::create_dir_all(&shelf).unwrap();
        std::fs::write(shelf.join("data1.zip"), archive()).unwrap();
        let (weibo, locations) = (weibo(&server), locations(folder.path()));
        weibo.fetch(Some(&"1".parse().unwrap()), &locations, &fetcher(true), &mut ()).unwrap();
        let home = folder.path().join("weibo2014");
        assert_eq!(std::fs::read_to_string(home.join("subject_1.mat")).unwrap(), "first");
        assert_eq!(home.join("data1.zip").exists(), layout == "weibo2014");
    }
}

/// A published checksum of an archive is checked; a wrong archive is neither kept nor unpacked.
#[test]
fn archives_are_checked_if_their_checksum_is_published() {
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    zip.start_file("cl_a.mat", zip::write::SimpleFileOptions::default()).unwrap();
    zip.write_all(b"first").unwrap();
    let bytes = zip.finish().unwrap().into_inner();
    let right = {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("archive");
        std::fs::write(&path, &bytes).unwrap();
        fedspd_eeg::fetch::sha256_of(&path).unwrap().to_string()
    };
    for (sha256, found) in [(ONE, false), (&*right, true)] {
        let server = Server::new((0..10).map(|_| Reply::whole(&bytes)));
        let folder = tempfile::tempdir().unwrap();
        let mut weibo = definition("weibo2014").unwrap();
        weibo.subjects = Some("1".parse().unwrap());
        assert!(!weibo.has_checksums());
        let archives = &mut weibo.source.as_mut().unwrap().archives;
        archives.truncate(1);
        archives[0].url = server.url("/data1.zip");
        archives[0].sha256 = Some(sha256.to_owned());
        assert!(weibo.has_checksums());
        let fetched = weibo.fetch(None, &locations(folder.path()), &fetcher(false), &mut ());
        if !found {
            let error = fetched.unwrap_err().to_string();
            assert!(error.contains(ONE) && error.contains(&right), "{error}");
        }
        assert_eq!(folder.path().join("weibo2014/subject_1.mat").exists(), found);
        assert_eq!(folder.path().join("weibo2014/data1.zip").exists(), found);
    }
}

/// The files of every session and run are listed. Nothing is invented where the definition lists
/// none.
#[test]
fn files_of_every_session_are_listed() {
    let base = "name = \"mine\"\nformat = \"edf\"\nfiles = \"{subject}/{session}_{run}.edf\"\nsfreq = 160\ninterval = [0, 3]\nband = [8, 32]\nevents = [{ classes = { T1 = \"one\" } }]\nsource = { base = \"https://example.org/\" }\n";
    let lists = ["subjects = \"1-2\"\n", "sessions = [\"b\", \"a\"]\n", "runs = [\"1\", \"2\"]\n"];
    let files = |lists: &[&str]| {
        let text = format!("{}{base}", lists.concat());
        let files = Definition::parse(Path::new("mine.toml"), &text).unwrap().remote_files(None)?;
        Ok::<_, fedspd_eeg::Error>(
            files.iter().map(|file| file.path.display().to_string()).collect::<Vec<_>>(),
        )
    };
    let of = |subject: u8| ["b_1", "b_2", "a_1", "a_2"].map(|name| format!("{subject}/{name}.edf"));
    assert_eq!(files(&lists).unwrap(), [of(1), of(2)].concat());
    for (missing, name) in ["subjects", "sessions", "runs"].into_iter().enumerate() {
        let others: Vec<&str> =
            lists.iter().enumerate().filter(|(i, _)| *i != missing).map(|(_, l)| *l).collect();
        let error = files(&others).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("the definition of mine does not list its {name}, so its files cannot be listed either")
        );
        assert!(error.hint().unwrap().contains(name));
    }
}

#[test]
fn a_dataset_of_ones_own_may_have_no_source() {
    let text = "name = \"mine\"\nformat = \"edf\"\nfiles = \"S{subject}.edf\"\nsfreq = 160\ninterval = [0, 3]\nband = [8, 32]\nevents = [{ classes = { T1 = \"one\" } }]\n";
    let mine = Definition::parse(Path::new("mine.toml"), text).unwrap();
    assert_eq!(
        mine.remote_files(None).unwrap_err().to_string(),
        "the definition of mine does not say where its files come from"
    );
    let unknown = "110".parse().unwrap();
    let error = definition("physionet-mi").unwrap().remote_files(Some(&unknown)).unwrap_err();
    assert_eq!(error.to_string(), "there is no subject 110");
}

/// User-defined datasets may include checksums.
#[test]
fn checksums_are_read_from_a_list_beside_the_definition() {
    let folder = tempfile::tempdir().unwrap();
    let text = "name = \"mine\"\nformat = \"edf\"\nfiles = \"S{subject}.edf\"\nsubjects = \"1\"\nsfreq = 160\ninterval = [0, 3]\nband = [8, 32]\nevents = [{ classes = { T1 = \"one\" } }]\n[source]\nbase = \"https://example.org/\"\nchecksums = \"sums.txt\"\n";
    let path = folder.path().join("mine.toml");
    std::fs::write(&path, text).unwrap();
    std::fs::write(folder.path().join("sums.txt"), format!("{ONE}  S1.edf\n")).unwrap();
    let mine = definition(path.to_str().unwrap()).unwrap();
    assert!(mine.remote_files(None).unwrap()[0].sha256.is_some());
    std::fs::write(folder.path().join("sums.txt"), "what\n").unwrap();
    let error = definition(path.to_str().unwrap()).unwrap_err().to_string();
    assert!(error.ends_with("sums.txt: line 1 is not a SHA-256 and a path"), "{error}");
}
