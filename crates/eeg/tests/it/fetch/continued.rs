//! Interrupted downloads and their continuation.

use std::num::NonZeroU32;
use std::time::Duration;

use super::{Scene, content, downloaded};
use crate::support::server::Reply;

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

/// A short range extends the part, and the next request asks for the rest.
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

    // This also holds if the following download fails.
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
