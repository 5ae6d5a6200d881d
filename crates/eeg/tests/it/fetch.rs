//! Downloads: what is on the disk afterwards, how often the server was asked, and what the user is told.

use std::fs;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use fedspd_eeg::Error;
use fedspd_eeg::fetch::{
    Backoff, Checksum, FetchFault, Fetched, Fetcher, Measure, Obstacle, Progress, RemoteFile, Settings,
    State, sha256_of, verify,
};
use sha2::{Digest, Sha256};
use tempfile::TempDir;

use crate::support::server::{Reply, Request, Server};

/// Where the file of these tests belongs.
const NAME: &str = "S001/S001R04.edf";

/// Several chunks and a bit, no two alike.
fn content() -> Vec<u8> {
    (0..200_003_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
}

fn checksum(bytes: &[u8]) -> Checksum {
    Checksum(Sha256::digest(bytes).into())
}

/// A folder for data, a server, and a way between them that does not really wait.
struct Scene {
    server: Server,
    folder: TempDir,
    settings: Settings,
    waits: Arc<Mutex<Vec<Duration>>>,
}

impl Scene {
    fn new(script: impl IntoIterator<Item = Reply>) -> Self {
        let second = Duration::from_secs(1);
        let settings = Settings {
            attempts: NonZeroU32::new(3).unwrap(),
            backoff: Backoff { first: second, factor: 3, cap: 20 * second },
            // Long: only tests of stalls wait for it.
            read_timeout: 60 * second,
            environment_proxy: false,
            ..Settings::default()
        };
        Self {
            server: Server::new(script),
            folder: tempfile::tempdir().unwrap(),
            settings,
            waits: Arc::default(),
        }
    }

    fn file(&self) -> RemoteFile {
        RemoteFile::new(self.server.url("/file"), NAME)
    }

    /// With the checksum of these bytes.
    fn pinned(&self, bytes: &[u8]) -> RemoteFile {
        self.file().sha256(checksum(bytes))
    }

    fn root(&self) -> &Path {
        self.folder.path()
    }

    fn path(&self, suffix: &str) -> PathBuf {
        self.root().join(format!("{NAME}{suffix}"))
    }

    fn put(&self, suffix: &str, bytes: impl AsRef<[u8]>) {
        fs::create_dir_all(self.path("").parent().unwrap()).unwrap();
        fs::write(self.path(suffix), bytes).unwrap();
    }

    fn fetch(&self, file: &RemoteFile) -> Result<Fetched, Error> {
        self.fetch_showing(file, &mut ())
    }

    fn fetch_showing(&self, file: &RemoteFile, progress: &mut dyn Progress) -> Result<Fetched, Error> {
        let waits = Arc::clone(&self.waits);
        let sleep = move |wait| waits.lock().unwrap().push(wait);
        Fetcher::new(self.settings.clone()).sleeping_by(sleep).fetch(file, self.root(), progress)
    }

    /// The message of a download that must fail, without the path it begins with, and with `SERVER` for the address of the server.
    fn refusal(&self, file: &RemoteFile) -> String {
        let error = self.fetch(file).unwrap_err();
        let message = error.to_string();
        let about = format!("{}: ", self.path("").display());
        let message = message.strip_prefix(&about).unwrap_or_else(|| panic!("{message}"));
        message.replace(&self.server.url(""), "SERVER")
    }

    /// The names in the folder of the file, sorted, without the name that they all begin with.
    fn names(&self) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.path("").parent().unwrap()) else {
            return vec![];
        };
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .map(|name| name.strip_prefix("S001R04.edf").unwrap().to_owned())
            .collect();
        names.sort();
        names
    }

    fn read(&self, suffix: &str) -> Vec<u8> {
        fs::read(self.path(suffix)).unwrap()
    }

    fn asked(&self) -> usize {
        self.server.requests().len()
    }

    /// The first byte that each request asked for, if not for the whole file.
    fn ranges(&self) -> Vec<Option<usize>> {
        self.server.requests().iter().map(Request::first_byte).collect()
    }

    fn waited(&self) -> Vec<u64> {
        self.waits.lock().unwrap().iter().map(Duration::as_secs).collect()
    }

    /// The file is there, right, and alone.
    fn assert_complete(&self, bytes: &[u8]) {
        assert_eq!(self.names(), [""]);
        assert!(self.read("") == bytes);
    }
}

fn downloaded(received: usize) -> Fetched {
    Fetched::Downloaded { received: received as u64 }
}

#[test]
fn a_file_is_downloaded_once() {
    let bytes = content();
    let scene = Scene::new([Reply::whole(&bytes)]);
    let file = scene.pinned(&bytes).size(bytes.len() as u64);
    assert_eq!(scene.fetch(&file).unwrap(), downloaded(bytes.len()));
    scene.assert_complete(&bytes);
    assert_eq!(scene.fetch(&file).unwrap(), Fetched::Present);
    assert_eq!(scene.asked(), 1);
    let request = &scene.server.requests()[0];
    assert_eq!(request.path(), "/file");
    assert_eq!(request.header("user-agent"), Some(concat!("fedspd/", env!("CARGO_PKG_VERSION"))));
    assert_eq!(request.header("accept-encoding"), Some("identity"));
    assert_eq!(request.header("range"), None);
}

#[test]
fn an_empty_file_is_a_file() {
    let scene = Scene::new([Reply::whole(b"")]);
    assert_eq!(scene.fetch(&scene.pinned(b"").size(0)).unwrap(), downloaded(0));
    scene.assert_complete(b"");
}

#[test]
fn chunks_are_put_together() {
    let scene = Scene::new([Reply::raw(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n",
    )]);
    assert_eq!(scene.fetch(&scene.file()).unwrap(), downloaded(5));
    assert_eq!(scene.read(""), b"abcde");
}

#[test]
fn a_file_that_is_there_is_not_asked_for() {
    let scene = Scene::new([]);
    scene.put("", "abc");
    assert_eq!(scene.fetch(&scene.pinned(b"abc")).unwrap(), Fetched::Present);
    assert_eq!(scene.fetch(&scene.file().size(3)).unwrap(), Fetched::Present);
    // Nothing is known: nothing speaks against it.
    assert_eq!(scene.fetch(&scene.file()).unwrap(), Fetched::Present);
    assert_eq!(scene.asked(), 0);
    scene.assert_complete(b"abc");
}

#[test]
fn a_wrong_file_is_an_error_and_stays() {
    let scene = Scene::new([]);
    scene.put("", "abc");
    let file = scene.pinned(b"abd").size(3);
    assert_eq!(
        scene.refusal(&file),
        "not the expected content: \
         SHA-256 ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad instead of \
         SHA-256 a52d159f262b2c6ddb724a61840befc36eb30c88877a4030b65cbe86298449c9"
    );
    let hint = scene.fetch(&file).unwrap_err().hint().unwrap();
    assert_eq!(hint, "delete the file, or move it away, and it is downloaded again");
    assert_eq!(scene.refusal(&scene.file().size(4)), "not the expected content: 3 bytes instead of 4 bytes");
    assert_eq!(scene.asked(), 0);
    scene.assert_complete(b"abc");
}

#[test]
fn offline_is_offline() {
    let mut scene = Scene::new([]);
    scene.settings.offline = true;
    let file = scene.file();
    assert_eq!(scene.refusal(&file), "not there, and downloads are switched off");
    let hint = scene.fetch(&file).unwrap_err().hint().unwrap();
    assert_eq!(hint, format!("download {} to this place, or allow downloads", file.urls[0]));
    // Not even a folder is made.
    assert_eq!(fs::read_dir(scene.root()).unwrap().count(), 0);
    scene.put("", "abc");
    assert_eq!(scene.fetch(&file).unwrap(), Fetched::Present);
    assert_eq!(scene.asked(), 0);
}

#[test]
fn files_stay_inside_of_the_folder() {
    let scene = Scene::new([]);
    for path in ["../a", "S001/../../a", "/a", "", "S001/.."] {
        let file = RemoteFile::new(scene.server.url("/file"), path);
        let error = scene.fetch(&file).unwrap_err();
        let Error::Fetch { fault, .. } = &error else { panic!("{error}") };
        assert_eq!(**fault, FetchFault::Outside { root: scene.root().to_owned() });
        let end = format!(": not inside of the data folder {}", scene.root().display());
        assert!(error.to_string().ends_with(&end), "{error}");
    }
    assert_eq!(scene.asked(), 0);
}

#[test]
fn without_an_address_there_is_no_download() {
    let scene = Scene::new([]);
    let file = RemoteFile { urls: vec![], ..scene.file() };
    assert_eq!(scene.refusal(&file), "not there, and no address is known for it");
    let file = RemoteFile::new("a b", NAME);
    assert_eq!(scene.refusal(&file), "not an address: invalid uri character (a b, 1 attempt)");
    assert_eq!(scene.names(), [".lock"]);
}

#[test]
fn refusals_of_the_server_are_final() {
    for (code, hint) in [
        (404, "the file may have moved: look at the page of the dataset"),
        (410, "the file may have moved: look at the page of the dataset"),
        (403, "the file may need an account: download it by hand"),
        (401, "the file may need an account: download it by hand"),
    ] {
        let scene = Scene::new([Reply::status(code, ""), Reply::status(code, "")]);
        let file = scene.file();
        assert_eq!(scene.refusal(&file), format!("http status {code} (SERVER/file, 1 attempt)"));
        assert_eq!(scene.asked(), 1);
        assert_eq!(scene.names(), [".lock"]);
        assert_eq!(scene.fetch(&file).unwrap_err().hint().unwrap(), hint);
    }
    // A range that nobody asked for.
    let scene = Scene::new([Reply::status(416, "")]);
    assert_eq!(scene.refusal(&scene.file()), "http status 416 (SERVER/file, 1 attempt)");
    let scene = Scene::new([Reply::part(b"abc", 0, 3)]);
    assert_eq!(
        scene.refusal(&scene.file()),
        "the answer of the server makes no sense: a part where the whole was asked for (SERVER/file, 1 attempt)"
    );
    assert_eq!(scene.names(), [".lock"]);
}

#[test]
fn a_server_that_is_down_is_asked_again_with_growing_waits() {
    let bytes = content();
    let scene = Scene::new([Reply::status(503, ""), Reply::status(408, ""), Reply::whole(&bytes)]);
    assert_eq!(scene.fetch(&scene.pinned(&bytes)).unwrap(), downloaded(bytes.len()));
    assert_eq!((scene.asked(), scene.waited()), (3, vec![1, 3]));
    scene.assert_complete(&bytes);

    let mut scene = Scene::new((0..6).map(|_| Reply::status(500, "")));
    scene.settings.attempts = NonZeroU32::new(6).unwrap();
    assert_eq!(scene.refusal(&scene.file()), "http status 500 (SERVER/file, 6 attempts)");
    // The last failure is not waited for.
    assert_eq!((scene.asked(), scene.waited()), (6, vec![1, 3, 9, 20, 20]));
    assert_eq!(scene.names(), [".lock"]);
    let hint = scene.fetch(&scene.file()).unwrap_err().hint().unwrap();
    assert_eq!(hint, "the server is busy or down: try again later");
}

#[test]
fn the_wait_a_server_asks_for_is_granted_within_reason() {
    let scene = Scene::new([
        Reply::status(429, "Retry-After: 7\r\n"),
        Reply::status(503, "Retry-After: 3600\r\n"),
        Reply::whole(b"abc"),
    ]);
    assert_eq!(scene.fetch(&scene.pinned(b"abc")).unwrap(), downloaded(3));
    assert_eq!((scene.asked(), scene.waited()), (3, vec![7, 20]));
    // Not earlier than without a wish, and dates are none.
    let scene = Scene::new([
        Reply::status(429, "Retry-After: 0\r\n"),
        Reply::status(429, "Retry-After: Wed, 21 Oct 2015 07:28:00 GMT\r\n"),
        Reply::status(429, ""),
    ]);
    assert_eq!(scene.refusal(&scene.file()), "http status 429 (SERVER/file, 3 attempts)");
    assert_eq!(scene.waited(), [1, 3]);
}

#[test]
fn waits_do_not_overflow() {
    let backoff = Backoff { first: Duration::from_secs(1), factor: u32::MAX, cap: Duration::from_secs(60) };
    assert_eq!(backoff.wait(1, None), Duration::from_secs(1));
    assert_eq!(backoff.wait(u32::MAX, Some(Duration::MAX)), Duration::from_secs(60));
    assert_eq!(backoff.wait(0, None), Duration::from_secs(1));
}

#[test]
fn hanging_up_is_no_answer() {
    let scene = Scene::new([Reply::hang_up(), Reply::hang_up(), Reply::whole(b"abc")]);
    assert_eq!(scene.fetch(&scene.pinned(b"abc")).unwrap(), downloaded(3));
    assert_eq!(scene.asked(), 3);

    let scene = Scene::new([Reply::raw(""), Reply::raw("HTTP/1.1 200 OK\r\nContent-Le"), Reply::hang_up()]);
    assert_eq!(
        scene.refusal(&scene.file()),
        "the server closed the connection without an answer (SERVER/file, 3 attempts)"
    );
    assert_eq!((scene.asked(), scene.waited()), (3, vec![1, 3]));
    assert_eq!(scene.names(), [".lock"]);
}

#[test]
fn nonsense_is_not_asked_for_again() {
    let scene = Scene::new([Reply::raw("SSH-2.0-OpenSSH\r\n\r\n")]);
    let message = scene.refusal(&scene.file());
    assert!(message.starts_with("the answer of the server makes no sense: "), "{message}");
    assert!(message.ends_with("(SERVER/file, 1 attempt)"), "{message}");
    assert_eq!(scene.asked(), 1);
}

#[test]
fn nobody_there() {
    let scene = Scene::new([]);
    // The port of a service that nobody has run for decades; one that was free a moment ago may be another test's by now.
    let file = RemoteFile::new("http://127.0.0.1:1/file", NAME);
    assert_eq!(
        scene.refusal(&file),
        "the server cannot be reached: connection refused (http://127.0.0.1:1/file, 3 attempts)"
    );
    assert_eq!(scene.waited(), [1, 3]);
    let hint = scene.fetch(&file).unwrap_err().hint().unwrap();
    assert_eq!(hint, "check the connection to the internet, and the proxy if there is one");
}

#[test]
fn a_server_that_does_not_know_tls_is_not_asked_again() {
    let scene = Scene::new([Reply::raw("HTTP/1.1 400 X\r\n\r\n").unheard().stalls()]);
    let url = scene.server.url("/file").replace("http:", "https:");
    let error = scene.fetch(&RemoteFile::new(url, NAME)).unwrap_err();
    let Error::Fetch { fault, .. } = &error else { panic!("{error}") };
    let FetchFault::Download { attempts: 1, obstacle: Obstacle::Tls { .. }, .. } = &**fault else {
        panic!("{error}")
    };
    assert!(error.to_string().contains(": no secure connection: "), "{error}");
    assert!(error.hint().unwrap().ends_with("download the file by hand"));
    assert_eq!(scene.asked(), 1);
}

#[test]
fn silence_is_noticed() {
    let mut scene = Scene::new([Reply::silence(), Reply::silence()]);
    scene.settings.attempts = NonZeroU32::new(2).unwrap();
    scene.settings.read_timeout = Duration::from_millis(150);
    assert_eq!(
        scene.refusal(&scene.file()),
        "the server sent nothing for 150ms, after 0 bytes (SERVER/file, 2 attempts)"
    );
    assert_eq!((scene.asked(), scene.waited()), (2, vec![1]));
    assert_eq!(scene.names(), [".lock"]);
}

#[test]
fn what_came_before_a_stall_is_kept() {
    let bytes = content();
    let half = bytes.len() / 2;
    let mut scene = Scene::new([
        Reply::ranges(&bytes, "\"v1\"").short_of(bytes.len() - half).stalls(),
        Reply::ranges(&bytes, "\"v1\""),
    ]);
    scene.settings.attempts = NonZeroU32::MIN;
    scene.settings.read_timeout = Duration::from_secs(1);
    let file = scene.pinned(&bytes);
    assert_eq!(
        scene.refusal(&file),
        "the server sent nothing for 1s, after 100001 of 200003 bytes (SERVER/file, 1 attempt)"
    );
    assert_eq!(scene.names(), [".lock", ".part", ".part.source"]);
    assert!(scene.read(".part") == bytes[..half]);

    // The next call, perhaps of another process, asks for the rest only.
    assert_eq!(scene.fetch(&file).unwrap(), downloaded(bytes.len() - half));
    assert_eq!(scene.ranges(), [None, Some(half)]);
    scene.assert_complete(&bytes);
}

#[test]
fn a_cut_off_file_is_continued() {
    let bytes = content();
    let scene = Scene::new([
        Reply::ranges(&bytes, "\"v1\"").short_of(150_000),
        Reply::ranges(&bytes, "\"v1\"").short_of(100_000),
        Reply::ranges(&bytes, "\"v1\""),
    ]);
    assert_eq!(scene.fetch(&scene.pinned(&bytes)).unwrap(), downloaded(100_000));
    assert_eq!(scene.ranges(), [None, Some(50_003), Some(100_003)]);
    let versions: Vec<_> =
        scene.server.requests().iter().map(|request| request.header("if-range").map(str::to_owned)).collect();
    assert_eq!(versions, [None, Some("\"v1\"".to_owned()), Some("\"v1\"".to_owned())]);
    scene.assert_complete(&bytes);

    let cut = || Reply::whole(&bytes).short_of(1);
    let scene = Scene::new([cut(), cut(), cut()]);
    let file = scene.pinned(&bytes);
    assert_eq!(
        scene.refusal(&file),
        "the connection ended after 200002 of 200003 bytes (SERVER/file, 3 attempts)"
    );
    assert_eq!(scene.names(), [".lock", ".part"]);
    assert!(scene.read(".part") == bytes[..200_002]);
    let hint = scene.fetch(&file).unwrap_err().hint().unwrap();
    assert_eq!(hint, "the server is busy or down: try again later");
}

#[test]
fn a_cut_off_chunk_is_noticed() {
    let cut = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n3\r\nabc\r\n9\r\nde";
    let mut scene = Scene::new([Reply::raw(cut)]);
    scene.settings.attempts = NonZeroU32::MIN;
    let message = scene.refusal(&scene.file());
    assert_eq!(message, "the connection ended after 5 bytes (SERVER/file, 1 attempt)");
    assert_eq!(scene.names(), [".lock", ".part"]);
}

/// A part that is continued by a part of a part is still not a whole.
#[test]
fn a_range_that_ends_early_is_continued() {
    let scene = Scene::new([Reply::part(b"cd", 2, 6), Reply::part(b"ef", 4, 6)]);
    scene.put(".part", "ab");
    assert_eq!(scene.fetch(&scene.pinned(b"abcdef")).unwrap(), downloaded(2));
    assert_eq!(scene.ranges(), [Some(2), Some(4)]);
    scene.assert_complete(b"abcdef");
}

#[test]
fn a_server_that_ignores_ranges_starts_over() {
    let scene = Scene::new([Reply::whole(b"abcdef")]);
    scene.put(".part", "abc");
    assert_eq!(scene.fetch(&scene.pinned(b"abcdef")).unwrap(), downloaded(6));
    assert_eq!(scene.ranges(), [Some(3)]);
    scene.assert_complete(b"abcdef");
}

#[test]
fn a_range_that_is_refused_starts_over_at_once() {
    let scene = Scene::new([Reply::status(416, ""), Reply::whole(b"abc")]);
    scene.put(".part", "abcdef");
    assert_eq!(scene.fetch(&scene.pinned(b"abc")).unwrap(), downloaded(3));
    assert_eq!((scene.ranges(), scene.waited()), (vec![Some(6), None], vec![]));
    scene.assert_complete(b"abc");
}

#[test]
fn another_range_than_asked_for_starts_over_at_once() {
    let other = [
        Reply::part(b"bcdef", 1, 6),
        Reply::raw("HTTP/1.1 206 X\r\nContent-Length: 3\r\nConnection: close\r\n\r\ndef"),
        Reply::raw(
            "HTTP/1.1 206 X\r\nContent-Range: bytes 3-9/6\r\nContent-Length: 3\r\nConnection: close\r\n\r\ndef",
        ),
    ];
    for reply in other {
        let scene = Scene::new([reply, Reply::whole(b"abcdef")]);
        scene.put(".part", "abc");
        assert_eq!(scene.fetch(&scene.pinned(b"abcdef")).unwrap(), downloaded(6));
        assert_eq!((scene.ranges(), scene.waited()), (vec![Some(3), None], vec![]));
        scene.assert_complete(b"abcdef");
    }
    // A file of another length is another file.
    let scene = Scene::new([Reply::part(b"def", 3, 6), Reply::whole(b"vwxyz")]);
    scene.put(".part", "abc");
    assert_eq!(scene.fetch(&scene.pinned(b"vwxyz").size(5)).unwrap(), downloaded(5));
    assert_eq!(scene.ranges(), [Some(3), None]);
}

#[test]
fn a_wrong_beginning_is_thrown_away_at_once() {
    let bytes = content();
    let scene = Scene::new([Reply::ranges(&bytes, "\"v1\""), Reply::ranges(&bytes, "\"v1\"")]);
    scene.put(".part", "something else");
    assert_eq!(scene.fetch(&scene.pinned(&bytes)).unwrap(), downloaded(bytes.len()));
    assert_eq!((scene.ranges(), scene.waited()), (vec![Some(14), None], vec![]));
    scene.assert_complete(&bytes);

    // Also if the download that follows fails.
    let mut scene = Scene::new([Reply::ranges(&bytes, "\"v1\""), Reply::status(404, "")]);
    scene.settings.attempts = NonZeroU32::MIN;
    scene.put(".part", "something else");
    assert_eq!(scene.refusal(&scene.pinned(&bytes)), "http status 404 (SERVER/file, 1 attempt)");
    assert_eq!(scene.names(), [".lock"]);
}

#[test]
fn a_beginning_that_is_too_long_is_not_continued() {
    let scene = Scene::new([Reply::whole(b"abc")]);
    scene.put(".part", "xyz");
    assert_eq!(scene.fetch(&scene.pinned(b"abc").size(3)).unwrap(), downloaded(3));
    assert_eq!(scene.ranges(), [None]);
    scene.assert_complete(b"abc");
}

#[test]
fn a_whole_part_needs_no_server() {
    let scene = Scene::new([]);
    scene.put(".part", "abc");
    scene.put(".part.source", "http://elsewhere/\n\"v1\"\n");
    assert_eq!(scene.fetch(&scene.pinned(b"abc").size(3)).unwrap(), downloaded(0));
    assert_eq!(scene.asked(), 0);
    scene.assert_complete(b"abc");
}

#[test]
fn damage_on_the_way_is_noticed() {
    let (bytes, mut damaged) = (content(), content());
    damaged[100_000] ^= 1;
    let scene = Scene::new([Reply::whole(&damaged), Reply::whole(&bytes)]);
    assert_eq!(scene.fetch(&scene.pinned(&bytes)).unwrap(), downloaded(bytes.len()));
    assert_eq!((scene.ranges(), scene.waited()), (vec![None, None], vec![1]));
    scene.assert_complete(&bytes);

    let scene = Scene::new([b"abd", b"abd", b"abd"].map(|bytes| Reply::whole(bytes)));
    let file = scene.pinned(b"abc");
    assert_eq!(
        scene.refusal(&file),
        "SHA-256 a52d159f262b2c6ddb724a61840befc36eb30c88877a4030b65cbe86298449c9 instead of \
         ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad (SERVER/file, 3 attempts)"
    );
    assert_eq!(scene.asked(), 3);
    // Nothing of it is left.
    assert_eq!(scene.names(), [".lock"]);
}

#[test]
fn a_file_of_another_length_is_not_even_begun() {
    let scene = Scene::new((0..3).map(|_| Reply::whole(b"abcdef")));
    let file = scene.pinned(b"abc").size(3);
    assert_eq!(scene.refusal(&file), "6 bytes instead of 3 (SERVER/file, 3 attempts)");
    assert_eq!(scene.names(), [".lock"]);
    // Nor ended, if the server did not say how long it is.
    let endless = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nabcdef";
    let mut scene = Scene::new([Reply::raw(endless).stalls()]);
    scene.settings.attempts = NonZeroU32::MIN;
    let message = scene.refusal(&scene.file().size(3));
    assert_eq!(message, "6 bytes instead of 3 (SERVER/file, 1 attempt)");
    assert_eq!(scene.names(), [".lock"]);
}

#[test]
fn a_length_alone_is_checked_as_well() {
    let without_length =
        |body: &str| Reply::raw(format!("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{body}"));
    let scene = Scene::new([without_length("ab"), without_length("abc")]);
    assert_eq!(scene.fetch(&scene.file().size(3)).unwrap(), downloaded(3));
    assert_eq!((scene.ranges(), scene.waited()), (vec![None, None], vec![1]));
    assert_eq!(scene.read(""), b"abc");
}

/// A connection that breaks looks like the end of such a file.
#[test]
fn a_file_without_any_end_is_not_trusted() {
    let without_length = || Reply::raw("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nabc");
    let scene = Scene::new([without_length()]);
    assert_eq!(
        scene.refusal(&scene.file()),
        "the server does not tell the length of the file, and neither length nor checksum are known (SERVER/file, 1 attempt)"
    );
    assert_eq!(scene.names(), [".lock"]);
    // A checksum says where it ends.
    let scene = Scene::new([without_length()]);
    assert_eq!(scene.fetch(&scene.pinned(b"abc")).unwrap(), downloaded(3));
}

#[test]
fn redirects_are_followed() {
    let scene = Scene::new([
        Reply::redirect("/elsewhere"),
        Reply::ranges(b"abcdef", "\"v1\"").short_of(3),
        Reply::redirect("/elsewhere"),
        Reply::ranges(b"abcdef", "\"v1\""),
    ]);
    assert_eq!(scene.fetch(&scene.pinned(b"abcdef")).unwrap(), downloaded(3));
    let paths: Vec<_> = scene.server.requests().iter().map(|request| request.path().to_owned()).collect();
    assert_eq!(paths, ["/file", "/elsewhere", "/file", "/elsewhere"]);
    // What is asked for is asked for there as well.
    assert_eq!(scene.ranges(), [None, None, Some(3), Some(3)]);
    scene.assert_complete(b"abcdef");
}

#[test]
fn redirects_in_a_circle_end() {
    let mut scene = Scene::new((0..20).map(|_| Reply::redirect("/file")));
    scene.settings.redirects = 4;
    assert_eq!(scene.refusal(&scene.file()), "more than 4 redirects (SERVER/file, 1 attempt)");
    assert_eq!(scene.asked(), 5);
    assert_eq!(scene.names(), [".lock"]);
}

#[test]
fn mirrors_are_tried_in_order() {
    let scene = Scene::new([
        Reply::status(404, ""),
        Reply::status(503, ""),
        Reply::ranges(b"abcdef", "\"v1\"").short_of(3),
        Reply::status(503, ""),
        // Another server has another version, but the checksum will tell.
        Reply::ranges(b"abcdef", "\"x9\""),
    ]);
    let file = scene.pinned(b"abcdef").mirror(scene.server.url("/second")).mirror(scene.server.url("/third"));
    assert_eq!(scene.fetch(&file).unwrap(), downloaded(3));
    let paths: Vec<_> = scene.server.requests().iter().map(|request| request.path().to_owned()).collect();
    assert_eq!(paths, ["/file", "/second", "/second", "/second", "/third"]);
    assert_eq!(scene.ranges(), [None, None, None, Some(3), Some(3)]);
    assert_eq!(scene.waited(), [1, 3]);
    scene.assert_complete(b"abcdef");

    let scene = Scene::new([Reply::status(403, ""), Reply::status(404, "")]);
    let file = scene.file().mirror(scene.server.url("/second"));
    assert_eq!(scene.refusal(&file), "http status 404 (SERVER/second, 1 attempt)");
}

#[test]
fn the_first_download_is_recorded_and_holds() {
    let scene = Scene::new([Reply::whole(b"abc"), Reply::whole(b"abc"), Reply::whole(b"abd")]);
    let file = scene.file();
    assert_eq!(scene.fetch(&file).unwrap(), downloaded(3));
    assert_eq!(scene.names(), ["", ".sha256"]);
    let record = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  S001R04.edf\n";
    assert_eq!(scene.read(".sha256"), record.as_bytes());
    assert_eq!(scene.fetch(&file).unwrap(), Fetched::Present);
    assert_eq!(scene.asked(), 1);

    // The file on the disk changed.
    scene.put("", "abd");
    let error = scene.fetch(&file).unwrap_err();
    let Error::Fetch { fault, .. } = &error else { panic!("{error}") };
    let FetchFault::Changed { expected, found, record } = &**fault else { panic!("{error}") };
    assert_eq!((*expected, *found), (Measure::Sha256(checksum(b"abc")), Measure::Sha256(checksum(b"abd"))));
    assert_eq!(record.as_deref(), Some(scene.path(".sha256").as_path()));
    assert_eq!(
        error.hint().unwrap(),
        format!(
            "delete the file, or move it away, and it is downloaded again; if you changed it on purpose, delete {}",
            scene.path(".sha256").display()
        )
    );

    // It is deleted, and comes back as it was.
    fs::remove_file(scene.path("")).unwrap();
    assert_eq!(scene.fetch(&file).unwrap(), downloaded(3));
    assert_eq!(scene.names(), ["", ".sha256"]);

    // The file on the server changed.
    fs::remove_file(scene.path("")).unwrap();
    let mut once = Scene::new([Reply::whole(b"abd"), Reply::whole(b"abd")]);
    once.settings.attempts = NonZeroU32::MIN;
    once.put(".sha256", scene.read(".sha256"));
    let file = once.file();
    assert_eq!(
        once.refusal(&file),
        "SHA-256 a52d159f262b2c6ddb724a61840befc36eb30c88877a4030b65cbe86298449c9 instead of \
         ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad (SERVER/file, 1 attempt)"
    );
    assert_eq!(
        once.fetch(&file).unwrap_err().hint().unwrap(),
        format!(
            "the file on the server is not the one of the first download any more; if that is right, delete {}",
            once.path(".sha256").display()
        )
    );
    assert_eq!(once.names(), [".lock", ".sha256"]);
}

#[test]
fn a_record_that_is_none_is_an_error() {
    let digits = checksum(b"abc").to_string();
    for nonsense in [String::new(), digits[1..].to_owned(), format!("{digits}0"), digits.replace('a', "g")] {
        let scene = Scene::new([]);
        scene.put(".sha256", &nonsense);
        let error = scene.fetch(&scene.file()).unwrap_err();
        let about = scene.path(".sha256");
        assert_eq!(
            error.to_string(),
            format!("{}: not a checksum as `sha256sum` writes it", about.display()),
            "{nonsense}"
        );
        assert_eq!(error.hint().unwrap(), "delete it to trust the next download");
        assert_eq!(scene.asked(), 0);
    }
    // A published checksum does not need it.
    let scene = Scene::new([Reply::whole(b"abc")]);
    scene.put(".sha256", "nonsense");
    assert_eq!(scene.fetch(&scene.pinned(b"abc")).unwrap(), downloaded(3));
}

/// After a crash between the record and the name.
#[test]
fn a_record_without_its_file_finishes_the_part() {
    let scene = Scene::new([]);
    scene.put(".part", "abc");
    scene.put(".sha256", format!("{}  S001R04.edf\n", checksum(b"abc")));
    assert_eq!(scene.fetch(&scene.file()).unwrap(), downloaded(0));
    assert_eq!(scene.names(), ["", ".sha256"]);
}

#[test]
fn without_a_checksum_only_one_version_is_put_together() {
    // The same version: continued.
    let scene =
        Scene::new([Reply::ranges(b"abcdef", "\"v1\"").short_of(3), Reply::ranges(b"abcdef", "\"v1\"")]);
    assert_eq!(scene.fetch(&scene.file()).unwrap(), downloaded(3));
    assert_eq!(scene.ranges(), [None, Some(3)]);
    assert_eq!(scene.read(""), b"abcdef");
    assert_eq!(scene.names(), ["", ".sha256"]);

    // Another version: the server starts over.
    let scene =
        Scene::new([Reply::ranges(b"abcdef", "\"v1\"").short_of(3), Reply::ranges(b"ABCDEF", "\"v2\"")]);
    assert_eq!(scene.fetch(&scene.file()).unwrap(), downloaded(6));
    assert_eq!(scene.ranges(), [None, Some(3)]);
    assert_eq!(scene.read(""), b"ABCDEF");

    // Another version, and a server that overlooks `If-Range`.
    let careless = "HTTP/1.1 206 X\r\nContent-Range: bytes 3-5/6\r\nContent-Length: 3\r\nETag: \"v2\"\r\nConnection: close\r\n\r\nDEF";
    let scene = Scene::new([
        Reply::ranges(b"abcdef", "\"v1\"").short_of(3),
        Reply::raw(careless),
        Reply::ranges(b"ABCDEF", "\"v2\""),
    ]);
    assert_eq!(scene.fetch(&scene.file()).unwrap(), downloaded(6));
    assert_eq!(scene.ranges(), [None, Some(3), None]);
    assert_eq!(scene.read(""), b"ABCDEF");

    // No version, or one that only means the same: from the beginning.
    for headers in ["", "ETag: W/\"v1\"\r\n"] {
        let scene = Scene::new([
            Reply::whole_with(b"abcdef", headers).short_of(3),
            Reply::whole_with(b"ABCDEF", headers),
        ]);
        assert_eq!(scene.fetch(&scene.file()).unwrap(), downloaded(6));
        assert_eq!(scene.ranges(), [None, None]);
        assert_eq!(scene.read(""), b"ABCDEF");
    }

    // A part from who knows where, or from another address: from the beginning.
    for source in [None, Some("http://elsewhere/\n\"v1\"\n"), Some("nonsense")] {
        let scene = Scene::new([Reply::ranges(b"ABCDEF", "\"v1\"")]);
        scene.put(".part", "abc");
        if let Some(source) = source {
            scene.put(".part.source", source);
        }
        assert_eq!(scene.fetch(&scene.file()).unwrap(), downloaded(6));
        assert_eq!(scene.ranges(), [None]);
        assert_eq!(scene.names(), ["", ".sha256"]);
    }
}

/// Whatever the server does, the final name is for the right content only.
#[test]
fn the_final_name_is_for_whole_files_only() {
    let bytes = content();
    for missing in [1, 2, 65_536, 100_000, bytes.len() - 1, bytes.len()] {
        let mut scene = Scene::new([Reply::whole(&bytes).short_of(missing)]);
        scene.settings.attempts = NonZeroU32::MIN;
        assert!(scene.fetch(&scene.pinned(&bytes)).is_err());
        assert!(!scene.path("").exists(), "{missing}");
        assert!(scene.read(".part") == bytes[..bytes.len() - missing], "{missing}");
    }
}

/// Notes everything, and lets a gate open when it has to wait.
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

/// The server answers the first only when the second has come and waits: no luck is needed for them to meet.
#[test]
fn two_at_once_download_once() {
    let bytes = content();
    let (open, gate) = mpsc::channel();
    let scene = Scene::new([Reply::whole(&bytes).after(gate)]);
    let file = scene.file();
    let mut seconds = Notes { gate: Some(open), ..Notes::default() };
    let (first, second) = std::thread::scope(|scope| {
        let first = scope.spawn(|| scene.fetch(&file));
        // The first has the lock as soon as its request is there.
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

/// When the first fails, the second takes over what it has.
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

/// Someone without our lock puts the file there while it is downloaded.
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

#[test]
fn what_is_there_can_be_verified() {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in
        [("good", "abc"), ("wrong", "abd"), ("sized", "abc"), ("short", "ab"), ("free", "abc")]
    {
        fs::write(folder.path().join(name), bytes).unwrap();
    }
    for name in ["trusted", "changed"] {
        fs::write(folder.path().join(name), if name == "trusted" { "abc" } else { "abd" }).unwrap();
        fs::write(folder.path().join(format!("{name}.sha256")), format!("{}  {name}\n", checksum(b"abc")))
            .unwrap();
    }
    let file = |name: &str| RemoteFile::new("http://nowhere/", name);
    let sum = checksum(b"abc");
    let files = [
        file("good").sha256(sum).size(3),
        file("wrong").sha256(sum),
        file("missing").sha256(sum),
        file("sized").size(3),
        file("short").size(3),
        file("free"),
        file("trusted"),
        file("changed"),
    ];
    let wrong = State::Wrong { expected: Measure::Sha256(sum), found: Measure::Sha256(checksum(b"abd")) };
    let short = State::Wrong { expected: Measure::Bytes(3), found: Measure::Bytes(2) };
    let states: Vec<State> =
        verify(&files, folder.path()).unwrap().into_iter().map(|(_, state)| state).collect();
    assert_eq!(
        states,
        [State::Good, wrong, State::Missing, State::Good, short, State::Unchecked, State::Good, wrong]
    );
    assert!(verify(&[file("../good")], folder.path()).is_err());
}

#[test]
fn checksums_are_those_of_everybody() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    // FIPS 180-4: the examples of NIST.
    for (bytes, digits) in [
        (b"abc".to_vec(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (vec![], "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        (vec![b'a'; 1_000_000], "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"),
    ] {
        fs::write(&path, bytes).unwrap();
        let found = sha256_of(&path).unwrap();
        assert_eq!(found.to_string(), digits);
        assert_eq!(Checksum::from_hex(digits), Some(found));
        assert_eq!(Checksum::from_hex(&digits.to_uppercase()), Some(found));
    }
    assert_eq!(Checksum::from_hex(""), None);
    assert_eq!(Checksum::from_hex(&"0".repeat(63)), None);
    assert_eq!(Checksum::from_hex(&"g".repeat(64)), None);
    let error = sha256_of(&folder.path().join("missing")).unwrap_err();
    assert!(error.to_string().starts_with(&folder.path().join("missing").display().to_string()), "{error}");
}
