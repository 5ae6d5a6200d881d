//! Unexpected content, redirects and mirrors.

use std::num::NonZeroU32;

use super::{Scene, content, downloaded};
use crate::support::server::Reply;

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
    // No partial file is left.
    assert_eq!(scene.names(), [".lock"]);
}

#[test]
fn a_file_of_another_length_is_not_even_begun() {
    let scene = Scene::new((0..3).map(|_| Reply::whole(b"abcdef")));
    let file = scene.pinned(b"abc").size(3);
    assert_eq!(scene.refusal(&file), "6 bytes instead of 3 (SERVER/file, 3 attempts)");
    assert_eq!(scene.names(), [".lock"]);
    // Without a declared length, the download stops as soon as it is too long.
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

/// For such a file, a broken connection looks like the end.
#[test]
fn a_file_without_any_end_is_not_trusted() {
    let without_length = || Reply::raw("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nabc");
    let scene = Scene::new([without_length()]);
    assert_eq!(
        scene.refusal(&scene.file()),
        "the server does not send the length of the file, and neither length nor checksum are known (SERVER/file, 1 attempt)"
    );
    assert_eq!(scene.names(), [".lock"]);
    // With a checksum, the end is known.
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
    // Redirected requests keep their range.
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
        // Another server has another version, but the checksum decides.
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

/// Whatever the server does, only the right content gets the final name.
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
