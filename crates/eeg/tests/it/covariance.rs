//! Estimators and the quality of covariances.

use fedspd_eeg::{
    About, Cause, CovarianceWorkspace, Covariances, Estimator, Extent, Making, Origin, SQUARE_MICROVOLTS,
};

use crate::support::{array, distance, noise};

pub(crate) fn about(channels: usize, trials: usize) -> About {
    let origin =
        |trial| Origin { label: trial % 2, subject: "7".into(), session: "0".into(), run: "4".into() };
    About {
        classes: vec!["left".into(), "right".into()],
        channels: (0..channels).map(|channel| format!("C{channel}")).collect(),
        sfreq: 160.0,
        unit: SQUARE_MICROVOLTS.into(),
        making: Making::default(),
        origins: (0..trials).map(origin).collect(),
    }
}

fn estimate(estimator: Estimator, channels: usize, samples: &[f64]) -> Vec<f64> {
    let mut covariance = vec![f64::NAN; channels * channels];
    CovarianceWorkspace::new(channels).unwrap().estimate(estimator, samples, &mut covariance).unwrap();
    covariance
}

/// A sample covariance is symmetric and positive definite. Its trace is the sum of the variances,
/// and constant offsets of channels do not change it.
#[test]
fn sample_covariances_are_symmetric_and_positive_with_variances_on_the_diagonal() {
    let (n, length) = (7, 40);
    let samples = noise(2, n * length);
    let covariance = estimate(Estimator::Sample, n, &samples);
    let mut trace = 0.0;
    for i in 0..n {
        let column: Vec<f64> = samples[i..].iter().step_by(n).copied().collect();
        let mean = column.iter().sum::<f64>() / length as f64;
        trace += column.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (length - 1) as f64;
        for j in 0..n {
            assert_eq!(covariance[i * n + j], covariance[j * n + i]);
        }
    }
    assert!((covariance.iter().step_by(n + 1).sum::<f64>() - trace).abs() < 1e-12 * trace);
    let quality =
        Covariances::new(about(n, 1), vec!["all".into()], covariance.clone()).unwrap().quality().unwrap();
    assert!(quality[0].rank == n && quality[0].smallest > 0.0);

    // Offsets of channels change nothing.
    let moved: Vec<f64> = samples.iter().enumerate().map(|(i, x)| x + 1000.0 * (i % n) as f64).collect();
    assert!(distance(&estimate(Estimator::Sample, n, &moved), &covariance) < 1e-10);
}

#[test]
fn shrinkage_lies_between_the_sample_covariance_and_the_scaled_identity() {
    let samples = noise(3, 5 * 30);
    let sample = estimate(Estimator::Sample, 5, &samples);
    assert_eq!(estimate(Estimator::Shrinkage(0.0), 5, &samples), sample);
    let mean = sample.iter().step_by(6).sum::<f64>() / 5.0;
    let all = estimate(Estimator::Shrinkage(1.0), 5, &samples);
    let identity: Vec<f64> = (0..25).map(|i| if i % 6 == 0 { mean } else { 0.0 }).collect();
    assert!(distance(&all, &identity) < 1e-14);
    let some = estimate(Estimator::Shrinkage(0.3), 5, &samples);
    let mixed: Vec<f64> = sample.iter().zip(&identity).map(|(a, b)| 0.7 * a + 0.3 * b).collect();
    assert!(distance(&some, &mixed) < 1e-14);
    // Fewer samples than channels: shrunk estimates keep full rank.
    for estimator in [Estimator::Oas, Estimator::LedoitWolf, Estimator::Shrinkage(0.1)] {
        let covariance = estimate(estimator, 6, &noise(4, 6 * 4));
        let covariances = Covariances::new(about(6, 1), vec!["all".into()], covariance).unwrap();
        assert_eq!(covariances.quality().unwrap()[0].rank, 6);
    }
}

#[test]
fn samples_that_are_all_the_same_are_shrunk_to_zero_without_nan() {
    for estimator in [Estimator::Sample, Estimator::Oas, Estimator::LedoitWolf, Estimator::Shrinkage(0.5)] {
        assert_eq!(estimate(estimator, 2, &[3.0; 20]), [0.0; 4]);
    }
}

#[test]
fn estimators_have_names() {
    for name in ["sample", "oas", "ledoit-wolf", "shrinkage:0.25"] {
        assert_eq!(name.parse::<Estimator>().unwrap().to_string(), name);
    }
    for name in ["scm", "shrinkage", "shrinkage:2", "shrinkage:NaN", ""] {
        assert_eq!(
            name.parse::<Estimator>().unwrap_err().to_string(),
            format!(
                "the estimator is {name}; it must be sample, oas, ledoit-wolf, or shrinkage:S with S between 0 and 1"
            )
        );
    }
    let error = CovarianceWorkspace::new(2).unwrap().estimate(Estimator::Sample, &[1.0, 2.0], &mut [0.0; 4]);
    assert_eq!(error.unwrap_err().to_string(), "a covariance needs two samples or more, not 1");
}

#[test]
fn deficient_covariances_are_refused_with_the_likely_cause() {
    let (n, length) = (5, 60);
    let rows = |change: &dyn Fn(&mut [f64])| {
        let mut samples = noise(5, n * length);
        samples.chunks_exact_mut(n).for_each(change);
        samples
    };
    let flat = rows(&|row| row[2] = 4.0);
    let twice = rows(&|row| row[4] = -3.0 * row[1]);
    let average = rows(&|row| {
        let mean = row.iter().sum::<f64>() / 5.0;
        for x in row {
            *x -= mean;
        }
    });
    let dependent = rows(&|row| row[3] = row[0] + 2.0 * row[1]);
    let short = noise(6, n * 4);
    let cases: [(&[f64], usize, Cause, &str); 5] = [
        (&flat, 4, Cause::FlatChannel { channel: "C2".into() }, "channel C2 is flat"),
        (
            &twice,
            4,
            Cause::Duplicate { channels: ["C1".into(), "C4".into()] },
            "channels C1 and C4 are the same",
        ),
        (&average, 4, Cause::AverageReference, "the channels add up to zero"),
        (&dependent, 4, Cause::Dependent, "channels are linearly dependent"),
        (&short, 3, Cause::FewSamples { samples: 4 }, "it was made from 4 samples"),
    ];
    for (samples, rank, expected, text) in cases {
        let covariance = estimate(Estimator::Sample, n, samples);
        let good = estimate(Estimator::Sample, n, &noise(7, n * length));
        let both = [good, covariance].concat();
        let covariances = Covariances::new(about(n, 2), vec!["all".into()], both).unwrap();
        let qualities = covariances.quality().unwrap();
        assert_eq!((qualities[0].rank, qualities[1].rank), (n, rank), "{text}");
        let extent = Extent { samples: samples.len() / n, freedom: 100.0 };
        let error = covariances.check(&qualities, &[extent]).unwrap_err();
        let fedspd_eeg::Error::Deficient { smallest, ref cause, .. } = error else { panic!("{error}") };
        assert_eq!(**cause, expected);
        assert_eq!(
            error.to_string(),
            format!(
                "trial 1 (subject 7, session 0, run 4) has a covariance of rank {rank} with 5 channels (smallest eigenvalue {smallest:.1e}): {text}"
            )
        );
        assert!(error.hint().unwrap().contains("--estimator oas"));
    }
}

/// Each matrix is checked against its own window, and the error names that window.
#[test]
fn the_cause_is_that_of_the_matrix_at_fault() {
    let (n, length) = (5, 60);
    let good = estimate(Estimator::Sample, n, &noise(7, n * 4 * length));
    let mut samples = noise(5, n * length);
    samples.chunks_exact_mut(n).for_each(|row| row[3] = row[0] + 2.0 * row[1]);
    let dependent = estimate(Estimator::Sample, n, &samples);
    let names = vec!["8-32 Hz, 0-1 s".to_owned(), "10-11 Hz, 1-3 s".into()];
    let covariances = Covariances::new(about(n, 1), names, [good, dependent].concat()).unwrap();
    let qualities = covariances.quality().unwrap();
    let cause = |freedom| {
        // The first window is too short for five channels, but the faulty matrix is another one.
        let extents = [Extent { samples: 4, freedom: 3.0 }, Extent { samples: length, freedom }];
        let error = covariances.check(&qualities, &extents).unwrap_err();
        let start = "trial 0 (subject 7, session 0, run 4), 10-11 Hz, 1-3 s has a covariance of rank 4";
        assert!(error.to_string().starts_with(start), "{error}");
        let hint = error.hint().unwrap();
        let fedspd_eeg::Error::Deficient { cause, .. } = error else { panic!() };
        (*cause, hint)
    };
    assert_eq!(cause(5.0).0, Cause::Dependent);
    let (narrow, hint) = cause(4.0);
    assert_eq!(narrow, Cause::NarrowBand { freedom: 4.0 });
    assert!(hint.contains("wider band") && !hint.contains("interpolation"), "{hint}");
}

#[test]
fn estimates_equal_those_of_numpy_and_pyriemann() {
    let (shape, trials) = array::<f64>("eeg", "physionet-trials");
    let [count, n, length] = shape[..] else { panic!() };
    for (name, estimator, tolerance) in [
        ("covariances", Estimator::Sample, 1e-12),
        ("oas", Estimator::Oas, 1e-10),
        ("ledoit-wolf", Estimator::LedoitWolf, 1e-10),
    ] {
        let (_, expected) = array::<f64>("eeg", &format!("physionet-{name}"));
        for trial in 0..count {
            let rows = &trials[trial * n * length..(trial + 1) * n * length];
            let ours = estimate(estimator, n, &crate::support::transposed(n, length, rows));
            let far = distance(&ours, &expected[trial * n * n..(trial + 1) * n * n]);
            assert!(far < tolerance, "{name}: {far:e}");
        }
    }
}
