//! Progress reports, and several processes that want the same file.

use std::fs;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::mpsc::{self, Sender};
use std::time::Duration;

use fedspd_eeg::Error;
use fedspd_eeg::fetch::{FetchFault, Fetched, Obstacle, Progress, RemoteFile};

use super::{NAME, Scene, content, downloaded};
use crate::support::server::Reply;

/// Records all reports, and opens a gate when it has to wait.
#[derive(Default)]
struct Notes {
    lines: Vec<String>,
    gate: Option<Sender<()>>,
}

impl Progress for Notes {
    fn waiting(&mut self, file: &RemoteFile) {
        self.lines.push(format!("waiting for {}", file.path.display()));
        if let Some(gate) = self.gate.take() {
            gate.send(()).unwrap();
        }
    }

    fn attempt(&mut self, _: &RemoteFile, _: &str, number: u32, limit: u32) {
        self.lines.push(format!("attempt {number} of {limit}"));
    }

    fn advanced(&mut self, _: &RemoteFile, bytes: u64, total: Option<u64>) {
        self.lines.push(format!("{bytes} of {total:?}"));
    }

    fn retrying(&mut self, _: &RemoteFile, obstacle: &Obstacle, wait: Duration) {
        self.lines.push(format!("{obstacle}; again in {wait:?}"));
    }

    fn next_address(&mut self, _: &RemoteFile, obstacle: &Obstacle) {
        self.lines.push(format!("{obstacle}; next"));
    }

    fn done(&mut self, _: &RemoteFile, fetched: &Fetched) {
        self.lines.push(format!("{fetched:?}"));
    }
}

#[test]
fn everything_is_told() {
    let scene = Scene::new([
        Reply::status(404, ""),
        Reply::ranges(b"abcdef", "\"v1\"").short_of(3),
        Reply::ranges(b"abcdef", "\"v1\""),
    ]);
    let file = scene.pinned(b"abcdef").mirror(scene.server.url("/second"));
    let mut notes = Notes::default();
    scene.fetch_showing(&file, &mut notes).unwrap();
    assert_eq!(
        notes.lines,
        [
            "attempt 1 of 3",
            "http status 404; next",
            "attempt 1 of 3",
            "0 of Some(6)",
            "3 of Some(6)",
            "the connection ended after 3 of 6 bytes; again in 1s",
            "attempt 2 of 3",
            "3 of Some(6)",
            "6 of Some(6)",
            "Downloaded { received: 3 }",
        ]
    );
    let mut notes = Notes::default();
    scene.fetch_showing(&file, &mut notes).unwrap();
    assert_eq!(notes.lines, ["Present"]);
}

/// The server answers the first only when the second waits, so the test does not depend on timing.
#[test]
fn two_at_once_download_once() {
    let bytes = content();
    let (open, gate) = mpsc::channel();
    let scene = Scene::new([Reply::whole(&bytes).after(gate)]);
    let file = scene.file();
    let mut seconds = Notes { gate: Some(open), ..Notes::default() };
    let (first, second) = std::thread::scope(|scope| {
        let first = scope.spawn(|| scene.fetch(&file));
        // The first holds the lock as soon as its request arrives.
        while scene.asked() == 0 && !first.is_finished() {
            std::thread::yield_now();
        }
        let second = scene.fetch_showing(&file, &mut seconds);
        (first.join().unwrap(), second)
    });
    assert_eq!(first.unwrap(), downloaded(bytes.len()));
    assert_eq!(second.unwrap(), Fetched::Present);
    assert_eq!(seconds.lines, [format!("waiting for {NAME}"), "Present".to_owned()]);
    assert_eq!(scene.asked(), 1);
    assert!(scene.read("") == bytes);
    assert_eq!(scene.names(), ["", ".sha256"]);
}

/// When the first fails, the second continues its partial file.
#[test]
fn two_at_once_and_the_first_fails() {
    let (open, gate) = mpsc::channel();
    let mut scene = Scene::new([
        Reply::ranges(b"abcdef", "\"v1\"").short_of(3).after(gate),
        Reply::ranges(b"abcdef", "\"v1\""),
    ]);
    scene.settings.attempts = NonZeroU32::MIN;
    let file = scene.pinned(b"abcdef");
    let mut seconds = Notes { gate: Some(open), ..Notes::default() };
    let (first, second) = std::thread::scope(|scope| {
        let first = scope.spawn(|| scene.fetch(&file));
        while scene.asked() == 0 && !first.is_finished() {
            std::thread::yield_now();
        }
        let second = scene.fetch_showing(&file, &mut seconds);
        (first.join().unwrap(), second)
    });
    assert!(first.is_err());
    assert_eq!(second.unwrap(), downloaded(3));
    assert_eq!(scene.ranges(), [None, Some(3)]);
    scene.assert_complete(b"abcdef");
}

/// A program without our lock creates the file during the download.
#[test]
fn a_file_that_comes_meanwhile_is_not_overwritten() {
    struct Meanwhile(PathBuf, &'static str);
    impl Progress for Meanwhile {
        fn attempt(&mut self, _: &RemoteFile, _: &str, _: u32, _: u32) {
            fs::write(&self.0, self.1).unwrap();
        }
    }
    let scene = Scene::new([Reply::whole(b"abc")]);
    let fetched = scene.fetch_showing(&scene.pinned(b"abc"), &mut Meanwhile(scene.path(""), "abc"));
    assert_eq!(fetched.unwrap(), Fetched::Present);
    scene.assert_complete(b"abc");

    let scene = Scene::new([Reply::whole(b"abc")]);
    let fetched = scene.fetch_showing(&scene.pinned(b"abc"), &mut Meanwhile(scene.path(""), "theirs"));
    let error = fetched.unwrap_err();
    let Error::Fetch { fault, .. } = &error else { panic!("{error}") };
    assert!(matches!(**fault, FetchFault::Changed { .. }), "{error}");
    assert_eq!(scene.read(""), b"theirs");
}

#[test]
fn a_disk_that_refuses_is_not_asked_again() {
    let scene = Scene::new([Reply::whole(b"abc"), Reply::whole(b"abc")]);
    // A folder in place of the part.
    fs::create_dir_all(scene.path(".part")).unwrap();
    let error = scene.fetch(&scene.pinned(b"abc")).unwrap_err();
    let Error::File { path, .. } = &error else { panic!("{error}") };
    assert_eq!(*path, scene.path(".part"));
    assert_eq!(scene.waited(), [0; 0]);
    // A file in place of the folder.
    let scene = Scene::new([]);
    fs::write(scene.root().join("S001"), "").unwrap();
    let error = scene.fetch(&scene.pinned(b"abc")).unwrap_err();
    assert!(matches!(error, Error::File { .. }), "{error}");
    assert_eq!(scene.asked(), 0);
}
