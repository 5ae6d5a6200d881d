//! Servers that refuse, are down, send invalid responses or nothing.

use std::num::NonZeroU32;
use std::time::Duration;

use fedspd_eeg::Error;
use fedspd_eeg::fetch::{Backoff, FetchFault, Obstacle, RemoteFile};

use super::{NAME, Scene, content, downloaded};
use crate::support::server::Reply;

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
    // A range that was not requested.
    let scene = Scene::new([Reply::status(416, "")]);
    assert_eq!(scene.refusal(&scene.file()), "http status 416 (SERVER/file, 1 attempt)");
    let scene = Scene::new([Reply::part(b"abc", 0, 3)]);
    assert_eq!(
        scene.refusal(&scene.file()),
        "invalid response from the server: partial content for a request of the whole file (SERVER/file, 1 attempt)"
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
    // There is no wait after the last failure.
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
    // Shorter requested waits have no effect, and dates are ignored.
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
    assert!(message.starts_with("invalid response from the server: "), "{message}");
    assert!(message.ends_with("(SERVER/file, 1 attempt)"), "{message}");
    assert_eq!(scene.asked(), 1);
}

#[test]
fn nobody_there() {
    let scene = Scene::new([]);
    // The port of an obsolete service. A port that was free a moment ago may be in use by another
    // test.
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
