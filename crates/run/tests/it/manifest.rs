//! The manifest of a run.

use std::fs;

use fedspd_run::{ExcludedSubject, Manifest, SCHEMA_VERSION, Status, TrialFacts};

fn manifest() -> Manifest {
    Manifest {
        schema: SCHEMA_VERSION,
        fedspd_version: "0.1.0".into(),
        name: "sample".into(),
        config_hash: "7f3a".into(),
        seeds: vec![0, u64::MAX],
        dataset: "physionet-mi".into(),
        data_sha256: Some("00ff".into()),
        unit: "uV^2".into(),
        classes: vec!["left_hand".into(), "feet".into()],
        channels: vec!["C3".into(), "Cz".into()],
        subjects: vec!["1".into(), "2".into()],
        excluded: vec![ExcludedSubject { subject: "88".into(), reason: "128 Hz".into() }],
        alignment: "riemannian".into(),
        transductive: false,
        held_out: Some("aligned".into()),
        facts: Some(TrialFacts { runs: 6, partial_runs: 6, ..TrialFacts::default() }),
        weights: "uniform".into(),
        model: "spdnet".into(),
        parameters: 2452,
        cpu_path: "avx2".into(),
        threads: 2,
        wall_seconds: None,
        peak_memory_bytes: None,
        status: Status::Running,
        preparation: None,
    }
}

#[test]
fn a_manifest_comes_back_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("manifest.json");
    let mut manifest = manifest();
    manifest.write(&path).unwrap();
    assert_eq!(Manifest::read(&path).unwrap(), manifest);

    manifest.wall_seconds = Some(0.1 + 0.2);
    manifest.peak_memory_bytes = Some(1 << 33);
    for (status, name) in [
        (Status::Running, "running"),
        (Status::Interrupted, "interrupted"),
        (Status::Done, "done"),
        (Status::Failed, "failed"),
    ] {
        manifest.status = status;
        manifest.write(&path).unwrap();
        assert!(fs::read_to_string(&path).unwrap().contains(&format!("\"status\": \"{name}\"")));
        assert_eq!(Manifest::read(&path).unwrap(), manifest);
    }
}

#[test]
fn other_versions_and_other_files_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("manifest.json");
    let message = |content: &str| {
        fs::write(&path, content).unwrap();
        let error = Manifest::read(&path).unwrap_err();
        (error.to_string().replace(&path.display().to_string(), "FILE"), error.hint().unwrap_or_default())
    };
    // A newer version may have any other fields.
    let (text, hint) = message(r#"{"schema": 2, "name": 7}"#);
    assert_eq!(text, "FILE: schema version 2, but this fedspd reads version 1");
    assert!(hint.contains("newer"), "{hint}");
    let (_, hint) = message(r#"{"schema": 0}"#);
    assert!(hint.contains("that wrote it"), "{hint}");
    let (text, _) = message(r#"{"schema": 1}"#);
    assert!(text.contains("missing field"), "{text}");
    let (text, hint) = message("[1, 2");
    assert!(text.starts_with("FILE: ") && hint.contains("damaged"), "{text}, {hint}");
}
