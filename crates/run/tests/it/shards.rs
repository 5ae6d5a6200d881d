//! Shards: the trials of each client.

use fedspd_run::{HeldOutShard, SeedShards, Shard, Shards};

#[test]
fn shards_come_back_as_they_were() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shards.json");
    let shards = Shards {
        classes: vec!["left_hand".into(), "right_hand".into()],
        seeds: vec![SeedShards {
            seed: 4,
            fold: Some(1),
            clients: vec![Shard {
                name: "client 1".into(),
                subjects: vec!["1".into(), "2".into()],
                train: vec![33, 34],
                val: vec![4, 5],
                test: vec![7, 6],
            }],
            held_out: vec![HeldOutShard { subject: "9".into(), trials: vec![22, 23] }],
            test_sha256: Some("00ff".into()),
        }],
    };
    shards.write(&path).unwrap();
    assert_eq!(Shards::read(&path).unwrap(), shards);
    std::fs::write(&path, "{}").unwrap();
    assert!(Shards::read(&path).unwrap_err().to_string().contains("missing field `classes`"));
}
