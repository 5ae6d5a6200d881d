//! Inspection needs no more memory than one record.

use fedspd_eeg::Inspection;

use crate::support::edf::Draft;
use crate::support::noise;

#[test]
fn long_recordings_are_not_held_in_memory() {
    let (records, rate) = (1000, 100);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("long.edf");
    let values: Vec<i32> = noise(5, 2 * records * rate).iter().map(|x| (x * 1000.0) as i32).collect();
    let (first, second) = values.split_at(records * rate);
    let draft = Draft::edf(records).signal("C3", b"uV", first).signal("C4", b"mV", second);
    std::fs::write(&path, draft.bytes()).unwrap();
    let mut look = None;
    let most = allocation_counter::measure(|| look = Some(Inspection::of(&path).unwrap())).bytes_max;
    // The samples take 1.6 MB as `f64` and 400 kB in the file.
    assert!(most < 100_000, "{most} bytes");

    let look = look.unwrap();
    assert_eq!(look.rank, Some((2, 2)));
    for (channel, (values, factor)) in look.channels.iter().zip([(first, 1.0), (second, 1e3)]) {
        let values: Vec<f64> = values.iter().map(|&x| f64::from(x) * factor).collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let variance = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / values.len() as f64;
        assert!((channel.deviation.unwrap() / variance.sqrt() - 1.0).abs() < 1e-12);
        assert_eq!(channel.highest, values.iter().copied().reduce(f64::max));
        assert_eq!(channel.lowest, values.iter().copied().reduce(f64::min));
    }
}
