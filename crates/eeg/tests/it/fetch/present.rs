//! Present files, and files that are fetched once.

use std::fs;

use fedspd_eeg::Error;
use fedspd_eeg::fetch::{Checksum, FetchFault, Fetched, Measure, RemoteFile, State, sha256_of, verify};

use super::{NAME, Scene, checksum, content, downloaded};
use crate::support::server::Reply;

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
    // Without checksum and length, any content is accepted.
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
    assert_eq!(hint, "delete or move the file, then run `fedspd data fetch`");
    assert_eq!(scene.refusal(&scene.file().size(4)), "not the expected content: 3 bytes instead of 4 bytes");
    assert_eq!(scene.asked(), 0);
    scene.assert_complete(b"abc");
}

#[test]
fn offline_is_offline() {
    let mut scene = Scene::new([]);
    scene.settings.offline = true;
    let file = scene.file();
    assert_eq!(scene.refusal(&file), "missing, and downloads are switched off");
    let hint = scene.fetch(&file).unwrap_err().hint().unwrap();
    assert_eq!(hint, format!("download {} to this place, or allow downloads", file.urls[0]));
    // No folder is created.
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
        let end = format!(": outside the data folder {}", scene.root().display());
        assert!(error.to_string().ends_with(&end), "{error}");
    }
    assert_eq!(scene.asked(), 0);
}

#[test]
fn without_an_address_there_is_no_download() {
    let scene = Scene::new([]);
    let file = RemoteFile { urls: vec![], ..scene.file() };
    assert_eq!(scene.refusal(&file), "missing, and no download address is known");
    let file = RemoteFile::new("a b", NAME);
    assert_eq!(scene.refusal(&file), "invalid address: invalid uri character (a b, 1 attempt)");
    assert_eq!(scene.names(), [".lock"]);
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
