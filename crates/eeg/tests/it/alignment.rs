//! Recentring, Euclidean alignment and z-scores.

use fedspd_eeg::{
    Alignment, Covariances, EuclideanAlignment, MICROVOLTS, NO_UNIT, OnlineAlignment, Recentring, Trials,
};
use fedspd_manifold::{IterationLimits, Spd, SpdMetric};

use crate::covariance::about;
use crate::support::{array, distance, noise};

fn golden_covariances() -> Covariances {
    let (shape, matrices) = array::<f64>("eeg", "physionet-covariances");
    Covariances::new(about(shape[1], shape[0]), vec!["all".into()], matrices).unwrap()
}

#[test]
fn recentring_equals_pyriemann() {
    for (name, metric, tolerance) in
        [("riemannian", SpdMetric::AffineInvariant, 1e-8), ("logeuclidean", SpdMetric::LogEuclidean, 1e-10)]
    {
        let mut covariances = golden_covariances();
        let all: Vec<usize> = (0..covariances.len()).collect();
        let recentring = Recentring::fit(&covariances, &all, metric).unwrap();
        let (_, mean) = array::<f64>("eeg", &format!("physionet-mean-{name}"));
        assert!(distance(recentring.reference(0), &mean) < tolerance);
        covariances.recentre(metric).unwrap();
        let (_, recentred) = array::<f64>("eeg", &format!("physionet-recentred-{name}"));
        assert!(distance(covariances.matrices(), &recentred) < tolerance);
        assert_eq!(covariances.about.unit, NO_UNIT);
    }
}

/// Two subjects, two inputs: each has its own mean, which becomes the identity. Other trials stay
/// unchanged.
#[test]
fn every_subject_and_input_is_recentred_by_itself() {
    let (n, trials, inputs) = (4, 10, 2);
    let mut matrices = Vec::new();
    for place in 0..trials * inputs {
        let x = noise(place as u64, n * 30);
        let scale = 1.0 + place as f64;
        for i in 0..n {
            for j in 0..n {
                matrices.push(scale * x.chunks_exact(n).map(|row| row[i] * row[j]).sum::<f64>() / 30.0);
            }
        }
    }
    let mut about = about(n, trials);
    for origin in &mut about.origins[6..] {
        origin.subject = "8".into();
    }
    let names = vec!["early".into(), "late".into()];
    let mut covariances = Covariances::new(about, names, matrices).unwrap();
    let before = covariances.clone();

    // Fitted on three trials, applied to one other.
    let recentring = Recentring::fit(&covariances, &[0, 1, 2], SpdMetric::AffineInvariant).unwrap();
    recentring.apply(&mut covariances, &[5]).unwrap();
    for trial in (0..trials).filter(|&trial| trial != 5) {
        assert_eq!(covariances.matrix(trial, 1), before.matrix(trial, 1));
    }
    assert_ne!(covariances.matrix(5, 0), before.matrix(5, 0));

    let mut covariances = before;
    covariances.recentre(SpdMetric::AffineInvariant).unwrap();
    let identity: Vec<f64> = (0..n * n).map(|i| f64::from(i % (n + 1) == 0)).collect();
    let mut spd = Spd::new(n).unwrap();
    for subject in ["7", "8"] {
        for input in 0..inputs {
            let own: Vec<f64> = covariances
                .about
                .trials_of(subject)
                .iter()
                .flat_map(|&trial| covariances.matrix(trial, input).to_vec())
                .collect();
            let mean = spd.mean(SpdMetric::AffineInvariant, &own, None, IterationLimits::default()).unwrap();
            assert!(distance(&mean.point, &identity) < 1e-7);
        }
    }
}

#[test]
fn a_faulty_trial_is_named() {
    let mut covariances = golden_covariances();
    let mut matrices = covariances.matrices().to_vec();
    let n = covariances.about.channels.len();
    matrices[2 * n * n] = -1.0;
    covariances = Covariances::new(covariances.about.clone(), vec!["all".into()], matrices).unwrap();
    let error = Recentring::fit(&covariances, &[1, 2, 3], SpdMetric::AffineInvariant).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("trial 2 (subject 7, session 0, run 4): matrix 1 is not positive definite"),
        "{error}"
    );
    let error = Recentring::fit(&covariances, &[], SpdMetric::AffineInvariant).unwrap_err();
    assert_eq!(error.to_string(), "recentring has no trials");
}

fn trials(n: usize, count: usize, length: usize) -> Trials {
    let mut about = about(n, count);
    about.unit = MICROVOLTS.into();
    let mut samples = noise(9, n * count * length);
    for row in samples.chunks_exact_mut(n) {
        row[1] += 2.0 * row[0] + 5.0;
    }
    Trials::new(about, length, samples).unwrap()
}

/// After alignment the mean of `X X^T / T` of the chosen trials is the identity.
#[test]
fn euclidean_alignment_whitens_the_mean() {
    let (n, count, length) = (4, 6, 50);
    let mut aligned = trials(n, count, length);
    let chosen = [0, 2, 3];
    EuclideanAlignment::fit(&aligned, &chosen).unwrap().apply(&mut aligned, &chosen).unwrap();
    let mut mean = vec![0.0; n * n];
    for &trial in &chosen {
        for row in aligned.trial(trial).chunks_exact(n) {
            for i in 0..n {
                for j in 0..n {
                    mean[i * n + j] += row[i] * row[j] / (length * chosen.len()) as f64;
                }
            }
        }
    }
    let identity: Vec<f64> = (0..n * n).map(|i| f64::from(i % (n + 1) == 0)).collect();
    assert!(distance(&mean, &identity) < 1e-12);
    assert_eq!(aligned.trial(1), trials(n, count, length).trial(1));
    assert_eq!(
        EuclideanAlignment::fit(&aligned, &[]).unwrap_err().to_string(),
        "Euclidean alignment has no trials"
    );
}

/// A reference without full rank is reported with its subject, rank, likely cause and remedy: the
/// inverse root would amplify rounding.
#[test]
fn a_reference_without_full_rank_is_an_error() {
    let (n, count, length) = (4, 6, 50);
    let error = |change: fn(&mut [f64])| {
        let sound = trials(n, count, length);
        let mut samples: Vec<f64> = (0..count).flat_map(|trial| sound.trial(trial).to_vec()).collect();
        samples.chunks_exact_mut(n).for_each(change);
        let mut trials = Trials::new(sound.about.clone(), length, samples).unwrap();
        trials.align().unwrap_err()
    };
    for (change, cause, hint) in [
        // The rounding that a filter leaves of a constant.
        (
            (|row| row[2] = 1e-12 * row[0]) as fn(&mut [f64]),
            "channel C2 is flat",
            "channel C2 does not vary: leave it out, or do not align trials",
        ),
        (
            |row| row[3] = 2.0 * row[1],
            "channels C1 and C3 are the same",
            "channels C1 and C3 are the same up to scale: leave one out, or do not align trials",
        ),
        (
            |row| row[3] = -row[0] - row[1] - row[2],
            "the channels add up to zero",
            "all channels add up to zero, as after an average reference: leave one channel out, or do not align trials",
        ),
    ] {
        let error = error(change);
        let text = error.to_string();
        let start =
            "the mean of X X^T over 6 trials of subject 7 has rank 3 with 4 channels (smallest eigenvalue ";
        assert!(text.starts_with(start) && text.ends_with(&format!("): {cause}")), "{text}");
        assert_eq!(error.hint().unwrap(), hint);
    }
    let huge = Trials::new(about(2, 1), 2, vec![1e200, 0.0, 0.0, 1e200]).unwrap();
    let error = EuclideanAlignment::fit(&huge, &[0]).unwrap_err().to_string();
    assert!(error.starts_with("subject 7, mean of X X^T: entry (0, 0) of matrix 0 is inf"), "{error}");
}

#[test]
fn z_scores_have_mean_zero_and_variance_one() {
    let (n, count, length) = (3, 2, 40);
    let mut scored = trials(n, count, length);
    scored.z_score().unwrap();
    assert_eq!(scored.about.unit, NO_UNIT);
    for trial in 0..count {
        for channel in 0..n {
            let column = scored.trial(trial)[channel..].iter().step_by(n);
            let mean = column.clone().sum::<f64>() / length as f64;
            let variance = column.map(|x| x * x).sum::<f64>() / length as f64;
            assert!(mean.abs() < 1e-14 && (variance - 1.0).abs() < 1e-13);
        }
    }
    let flat =
        Trials::new(about(2, 1), 3, vec![1.0, 5.0, 2.0, 5.0, 3.0, 5.0]).unwrap().z_score().unwrap_err();
    assert_eq!(flat.to_string(), "trial 0 (subject 7, session 0, run 4): channel C1 does not vary");
    // A channel with only rounding counts as flat.
    let mut rounding = Trials::new(about(2, 1), 3, vec![1.0, 1e-9, 2.0, -1e-9, 3.0, 0.0]).unwrap();
    assert_eq!(rounding.z_score().unwrap_err().to_string(), flat.to_string());
}

#[test]
fn numbers_that_do_not_fit_are_refused() {
    let message = |result: Result<Trials, fedspd_eeg::Error>| result.unwrap_err().to_string();
    assert_eq!(
        message(Trials::new(about(2, 2), 3, vec![0.0; 11])),
        "11 samples of all trials where 12 were expected"
    );
    assert_eq!(message(Trials::new(about(2, 2), 3, vec![0.0; 18])), "3 trials where 2 were expected");
    let mut samples = vec![0.0; 12];
    samples[9] = f64::NAN;
    assert_eq!(
        message(Trials::new(about(2, 2), 3, samples)),
        "trial 1 (subject 7, session 0, run 4): channel C1 is NaN"
    );
    let mut wrong = about(2, 2);
    wrong.origins[1].label = 2;
    assert_eq!(
        message(Trials::new(wrong, 3, vec![0.0; 12])),
        "the label of trial 1 is 2, but classes are counted from 0 and their number is 2"
    );
    let covariances = Covariances::new(about(2, 2), vec!["all".into()], vec![0.0; 7]);
    assert_eq!(covariances.unwrap_err().to_string(), "7 entries of all covariances where 8 were expected");
}

/// The matrices of a trial, all inputs one after the other.
fn numbers(covariances: &Covariances, trial: usize) -> Vec<f64> {
    (0..covariances.inputs.len()).flat_map(|input| covariances.matrix(trial, input)).copied().collect()
}

/// With a start, it counts as one more trial. Without one, the first trial becomes the identity.
#[test]
fn online_recentring_is_the_mean_so_far() {
    let covariances = golden_covariances();
    let (about, n) = (&covariances.about, covariances.about.channels.len());
    let start = covariances.matrix(7, 0);
    let mut with = OnlineAlignment::new(Alignment::LogEuclidean, n, Some(start));
    let mut without = OnlineAlignment::new(Alignment::Riemannian, n, None);
    for trial in 0..4 {
        let mut aligned = numbers(&covariances, trial);
        with.align(about, trial, &mut aligned).unwrap();
        let so_far: Vec<usize> = std::iter::once(7).chain(0..=trial).collect();
        let recentring = Recentring::fit(&covariances, &so_far, SpdMetric::LogEuclidean).unwrap();
        let mut expected = covariances.clone();
        recentring.apply(&mut expected, &[trial]).unwrap();
        assert!(distance(&aligned, expected.matrix(trial, 0)) < 1e-9, "{trial}");
        let mut aligned = numbers(&covariances, trial);
        without.align(about, trial, &mut aligned).unwrap();
        if trial == 0 {
            let identity: Vec<f64> = (0..n * n).map(|i| f64::from(u8::from(i % (n + 1) == 0))).collect();
            assert!(distance(&aligned, &identity) < 1e-9);
        }
    }
}

/// Matrices that commute: the affine-invariant recursion is the geometric mean.
#[test]
fn online_recentring_in_the_affine_invariant_metric() {
    let diagonal = |a: f64, b: f64| vec![a, 0.0, 0.0, b];
    let about = about(2, 3);
    let mut online = OnlineAlignment::new(Alignment::Riemannian, 2, Some(&diagonal(1.0, 8.0)));
    let (mut first, mut second) = (diagonal(4.0, 2.0), diagonal(2.0, 4.0));
    online.align(&about, 0, &mut first).unwrap();
    assert!(distance(&first, &diagonal(2.0, 0.5)) < 1e-12, "{first:?}");
    // A bad trial costs itself only.
    let mut bad = diagonal(1.0, -1.0);
    let error = online.align(&about, 1, &mut bad).unwrap_err().to_string();
    assert!(error.contains(&about.name(1)), "{error}");
    assert_eq!(bad, diagonal(1.0, -1.0));
    online.align(&about, 2, &mut second).unwrap();
    assert!(distance(&second, &diagonal(1.0, 1.0)) < 1e-12, "{second:?}");
}

#[test]
fn online_euclidean_alignment_is_the_mean_so_far() {
    let (n, length, count) = (3, 40, 3);
    let trials = Trials::new(about(n, count), length, noise(5, n * length * count)).unwrap();
    let mut online = OnlineAlignment::new(Alignment::Euclidean, n, None);
    for trial in 0..count {
        let so_far: Vec<usize> = (0..=trial).collect();
        let mut expected = vec![0.0; n * length];
        let alignment = EuclideanAlignment::fit(&trials, &so_far).unwrap();
        alignment.align(trials.trial(trial), &mut expected).unwrap();
        let mut aligned = trials.trial(trial).to_vec();
        online.align(&trials.about, trial, &mut aligned).unwrap();
        assert!(distance(&aligned, &expected) < 1e-12, "{trial}");
    }
}
