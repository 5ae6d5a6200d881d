//! Files without a published checksum: the first download is binding.

use std::fs;
use std::num::NonZeroU32;

use fedspd_eeg::Error;
use fedspd_eeg::fetch::{FetchFault, Fetched, Measure};

use super::{Scene, checksum, downloaded};
use crate::support::server::Reply;

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
            "delete or move the file, then run `fedspd data fetch`; if you changed it on purpose, delete {}",
            scene.path(".sha256").display()
        )
    );

    // A deleted file is downloaded again, unchanged.
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
            "the file on the server has changed since the first download; if that is expected, delete {}",
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
    // With a published checksum, the record is not needed.
    let scene = Scene::new([Reply::whole(b"abc")]);
    scene.put(".sha256", "nonsense");
    assert_eq!(scene.fetch(&scene.pinned(b"abc")).unwrap(), downloaded(3));
}

/// The state after a crash between record and rename.
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

    // Another version, and a server that ignores `If-Range`.
    let careless = "HTTP/1.1 206 X\r\nContent-Range: bytes 3-5/6\r\nContent-Length: 3\r\nETag: \"v2\"\r\nConnection: close\r\n\r\nDEF";
    let scene = Scene::new([
        Reply::ranges(b"abcdef", "\"v1\"").short_of(3),
        Reply::raw(careless),
        Reply::ranges(b"ABCDEF", "\"v2\""),
    ]);
    assert_eq!(scene.fetch(&scene.file()).unwrap(), downloaded(6));
    assert_eq!(scene.ranges(), [None, Some(3), None]);
    assert_eq!(scene.read(""), b"ABCDEF");

    // No version, or a weak one: from the beginning.
    for headers in ["", "ETag: W/\"v1\"\r\n"] {
        let scene = Scene::new([
            Reply::whole_with(b"abcdef", headers).short_of(3),
            Reply::whole_with(b"ABCDEF", headers),
        ]);
        assert_eq!(scene.fetch(&scene.file()).unwrap(), downloaded(6));
        assert_eq!(scene.ranges(), [None, None]);
        assert_eq!(scene.read(""), b"ABCDEF");
    }

    // A part from an unknown or another address: from the beginning.
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
