//! The embedded sample.

use fedspd_eeg::dataset::definition;
use fedspd_eeg::sample::{attribution, decode, encode, sample};
use fedspd_eeg::{Covariances, SQUARE_MICROVOLTS};

use crate::support::{array, distance};

#[test]
fn the_sample_is_what_it_says() {
    let sample = sample().unwrap();
    let about = &sample.about;
    assert_eq!((sample.len(), about.channels.len(), about.classes.len()), (900, 64, 4));
    assert_eq!(about.subjects(), ["1", "2", "3", "4", "5", "6", "7", "8", "9", "10"]);
    assert_eq!((&*about.unit, &sample.inputs[..]), (SQUARE_MICROVOLTS, &["8-32 Hz, 0-3 s".to_owned()][..]));
    assert!(attribution().contains("ODC-By 1.0"));
    let (_, labels) = array::<i64>("eeg", "real-labels");
    let ours: Vec<i64> = about.origins.iter().map(|origin| i64::try_from(origin.label).unwrap()).collect();
    assert_eq!(ours, labels.chunks_exact(3).map(|row| row[2]).collect::<Vec<_>>());
    let qualities = sample.quality().unwrap();
    sample.check(&qualities, &[]).unwrap();
    // MNE's traces: rounding of the factors does not show in them.
    let (_, numbers) = array::<f64>("eeg", "real-numbers");
    for (trial, row) in numbers.chunks_exact(4).enumerate() {
        let trace: f64 = sample.matrix(trial, 0).iter().step_by(65).sum();
        assert!((trace - row[0]).abs() < 1e-6 * row[0]);
    }
    // Entry by entry, for the eight trials whose matrices are stored.
    let (_, golden) = array::<f64>("covariances", "covariances");
    let first = |subject: &str, run: &str, class: &str| {
        let found = about
            .origins
            .iter()
            .position(|o| o.subject == subject && o.run == run && about.classes[o.label] == class);
        found.unwrap()
    };
    for (place, (subject, run, class)) in
        [("1", "4", "left_hand"), ("1", "6", "feet"), ("7", "4", "right_hand"), ("7", "6", "hands")]
            .into_iter()
            .zip([0, 3, 5, 6])
            .map(|(a, b)| (b, a))
    {
        let matrix = sample.matrix(first(subject, run, class), 0);
        assert!(distance(matrix, &golden[place * 4096..(place + 1) * 4096]) < 1e-6);
    }
}

#[test]
fn packing_keeps_small_eigenvalues() {
    let definition = definition("physionet-mi").unwrap();
    let (_, golden) = array::<f64>("covariances", "covariances");
    let (_, eigenvalues) = array::<f64>("covariances", "eigenvalues");
    let mut about = crate::covariance::about(64, 8);
    about.channels = definition.channels.clone().unwrap();
    let covariances = Covariances::new(about, vec!["all".into()], golden).unwrap();
    let unpacked = decode(&definition, &encode(&covariances).unwrap()).unwrap();
    assert_eq!(unpacked.about.origins, covariances.about.origins);
    assert!(distance(unpacked.matrices(), covariances.matrices()) < 1e-6);
    let n = 64;
    let mut eigen = fedspd_manifold::SymmetricEigen::new(n).unwrap();
    let mut values = vec![0.0; 8 * n];
    eigen.eigenvalues(unpacked.matrices(), &mut values).unwrap();
    for (trial, own) in values.chunks_exact_mut(n).enumerate() {
        own.sort_by(f64::total_cmp);
        let smallest = eigenvalues[trial * n];
        assert!((own[0] - smallest).abs() < 1e-4 * smallest, "{} and {smallest}", own[0]);
    }
}

#[test]
fn damaged_bytes_are_refused() {
    let definition = definition("physionet-mi").unwrap();
    let mut about = crate::covariance::about(64, 1);
    about.channels = definition.channels.clone().unwrap();
    let identity: Vec<f64> = (0..4096).map(|i| f64::from(i % 65 == 0)).collect();
    let covariances = Covariances::new(about.clone(), vec!["all".into()], identity.clone()).unwrap();
    let packed = encode(&covariances).unwrap();
    for length in 0..packed.len() {
        assert!(decode(&definition, &packed[..length]).is_err());
    }
    let refused = |covariances: &Covariances| encode(covariances).unwrap_err().to_string();
    let negative: Vec<f64> = identity.iter().map(|x| -x).collect();
    let wrong = Covariances::new(about.clone(), vec!["all".into()], negative).unwrap();
    assert_eq!(refused(&wrong), "packed covariances: a matrix is not positive definite");
    let two = Covariances::new(
        about.clone(),
        vec!["a".into(), "b".into()],
        [identity.clone(), identity.clone()].concat(),
    );
    assert_eq!(refused(&two.unwrap()), "packed covariances: several matrices per trial cannot be packed");
    about.origins[0].run = "one two".into();
    let blank = Covariances::new(about, vec!["all".into()], identity).unwrap();
    assert_eq!(refused(&blank), "packed covariances: an id is empty or has a blank");
}
