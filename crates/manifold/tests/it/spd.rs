//! SPD geometry: golden values at 50 digits, invariances, and the optimality of means.

use fedspd_manifold::{IterationLimits, Matrix, Spd, SpdMetric};
use proptest::prelude::*;

use crate::support::*;

const METRICS: [SpdMetric; 2] = [SpdMetric::AffineInvariant, SpdMetric::LogEuclidean];

fn spd(rng: &mut rand_chacha::ChaCha8Rng, n: usize) -> Matrix<f64> {
    with_spectrum(rng, &geometric_spectrum(n, 0.05, 20.0))
}

fn congruence(b: &Matrix<f64>, a: &Matrix<f64>) -> Matrix<f64> {
    let c = mul(&mul(b, a), &b.transpose());
    Matrix::from_fn(c.rows(), c.rows(), |i, j| 0.5 * (c[(i, j)] + c[(j, i)]))
}

#[test]
fn distances_geodesics_and_means_equal_the_golden_ones() {
    let matrices = golden("spd", "matrices");
    let (a, b) = (&matrices[..36], &matrices[36..72]);
    let mut manifold = Spd::new(6).unwrap();
    let limits = IterationLimits { tolerance: 1e-13, iterations: 200 };
    for (metric, prefix) in METRICS.into_iter().zip(["ai", "le"]) {
        let found = manifold.distance(metric, a, b).unwrap();
        let expected = golden("spd", &format!("{prefix}_distance"))[0];
        assert!((found / expected - 1.0).abs() < 1e-13, "{prefix}: {found} {expected}");
        let check = |file: &str, found: Vec<f64>, tolerance: f64| {
            let expected = square(golden("spd", file));
            let error = distance(&square(found), &expected) / expected.norm();
            assert!(error < tolerance, "{file}: {error:e}");
        };
        let mut out = vec![0.0; 36];
        manifold.geodesic(metric, a, b, 0.3, &mut out).unwrap();
        check(&format!("{prefix}_geodesic_0.3"), out, 1e-12);
        let mean = manifold.mean(metric, &matrices, None, limits).unwrap();
        assert!(mean.converged, "{mean:?}");
        check(&format!("{prefix}_mean"), mean.point, 1e-12);
        if metric == SpdMetric::AffineInvariant {
            let weighted = manifold.mean(metric, &matrices, Some(&golden("spd", "weights")), limits).unwrap();
            check("ai_mean_weighted", weighted.point, 1e-12);
        }
    }
}

proptest! {
    #![proptest_config(cases(32))]

    #[test]
    fn exp_and_log_are_inverse_and_measure_the_distance(n in 1..12_usize, seed: u64) {
        let mut rng = rng(seed);
        let (a, b) = (spd(&mut rng, n), spd(&mut rng, n));
        let mut manifold = Spd::new(n).unwrap();
        for metric in METRICS {
            let (mut x, mut back) = (Matrix::zeros(n, n), Matrix::zeros(n, n));
            manifold.log(metric, a.as_slice(), b.as_slice(), x.as_mut_slice()).unwrap();
            manifold.exp(metric, a.as_slice(), x.as_slice(), back.as_mut_slice()).unwrap();
            prop_assert!(distance(&back, &b) < 1e-10 * b.norm(), "{metric:?}");
            // geodesics run from a to b at constant speed
            let d = manifold.distance(metric, a.as_slice(), b.as_slice()).unwrap();
            let mut middle = Matrix::zeros(n, n);
            for (t, expected) in [(0.0, &a), (1.0, &b)] {
                manifold.geodesic(metric, a.as_slice(), b.as_slice(), t, middle.as_mut_slice()).unwrap();
                prop_assert!(distance(&middle, expected) < 1e-11 * expected.norm());
            }
            manifold.geodesic(metric, a.as_slice(), b.as_slice(), 0.3, middle.as_mut_slice()).unwrap();
            let part = manifold.distance(metric, a.as_slice(), middle.as_slice()).unwrap();
            prop_assert!((part - 0.3 * d).abs() < 1e-10 * d.max(1.0));
            prop_assert!((manifold.distance(metric, b.as_slice(), a.as_slice()).unwrap() - d).abs() < 1e-11 * d.max(1.0));
            prop_assert!(manifold.distance(metric, a.as_slice(), a.as_slice()).unwrap() < 1e-12);
        }
    }

    #[test]
    fn the_affine_invariant_distance_ignores_mixing(n in 1..12_usize, seed: u64) {
        let mut rng = rng(seed);
        let (a, b) = (spd(&mut rng, n), spd(&mut rng, n));
        let mixing = add(&scaled(&Matrix::identity(n), 3.0), &scaled(&gaussian(&mut rng, n, n), 0.5));
        let mut manifold = Spd::new(n).unwrap();
        let metric = SpdMetric::AffineInvariant;
        let before = manifold.distance(metric, a.as_slice(), b.as_slice()).unwrap();
        let (a, b) = (congruence(&mixing, &a), congruence(&mixing, &b));
        let after = manifold.distance(metric, a.as_slice(), b.as_slice()).unwrap();
        prop_assert!((before - after).abs() < 1e-9 * before.max(1.0));
    }

    #[test]
    fn whitening_at_the_mean_moves_the_mean_to_the_identity(n in 1..10_usize, seed: u64, count in 1..20_usize) {
        let mut rng = rng(seed);
        let batch: Vec<f64> = (0..count).flat_map(|_| spd(&mut rng, n).as_slice().to_vec()).collect();
        let mut manifold = Spd::new(n).unwrap();
        let limits = IterationLimits { tolerance: 1e-11, iterations: 200 };
        let mean = manifold.mean(SpdMetric::AffineInvariant, &batch, None, limits).unwrap();
        prop_assert!(mean.converged, "{} after {}", mean.gradient_norm, mean.iterations);
        let mut whitened = vec![0.0; batch.len()];
        manifold.whiten(&mean.point, &batch, &mut whitened).unwrap();
        let centre = manifold.mean(SpdMetric::AffineInvariant, &whitened, None, limits).unwrap();
        prop_assert!(distance(&square(centre.point), &Matrix::identity(n)) < 1e-9);
    }

    #[test]
    fn a_zero_weight_leaves_a_matrix_out(n in 1..8_usize, seed: u64) {
        let mut rng = rng(seed);
        let batch: Vec<f64> = (0..4).flat_map(|_| spd(&mut rng, n).as_slice().to_vec()).collect();
        let mut manifold = Spd::new(n).unwrap();
        for metric in METRICS {
            let mut mean = |batch: &[f64], weights: Option<&[f64]>| {
                let limits = IterationLimits { tolerance: 1e-11, iterations: 200 };
                square(manifold.mean(metric, batch, weights, limits).unwrap().point)
            };
            let without = mean(&batch[..3 * n * n], None);
            let with = mean(&batch, Some(&[2.0, 2.0, 2.0, 0.0]));
            prop_assert!(distance(&without, &with) < 1e-9 * without.norm());
        }
    }
}

#[test]
fn a_mean_cut_short_says_so() {
    let matrices = golden("spd", "matrices");
    let limits = IterationLimits { tolerance: 1e-13, iterations: 2 };
    let mean = Spd::new(6).unwrap().mean(SpdMetric::AffineInvariant, &matrices, None, limits).unwrap();
    assert!(!mean.converged && mean.iterations == 2 && mean.gradient_norm > 1e-13, "{mean:?}");
}

/// With the default limits, in both types, the iteration detects when only rounding is left.
#[test]
fn means_of_real_covariances_converge_with_the_default_limits() {
    let batch = golden("covariances", "covariances");
    let narrow: Vec<f32> = batch.iter().map(|&x| fedspd_manifold::Real::from_f64(x)).collect();
    let limits = IterationLimits::default();
    let metric = SpdMetric::AffineInvariant;
    for subject in 0..2 {
        let range = subject * 4 * 64 * 64..(subject + 1) * 4 * 64 * 64;
        let mean = Spd::new(64).unwrap().mean(metric, &batch[range.clone()], None, limits).unwrap();
        assert!(mean.converged && mean.iterations < 30, "{} after {}", mean.gradient_norm, mean.iterations);
        let mean = Spd::new(64).unwrap().mean(metric, &narrow[range], None, limits).unwrap();
        assert!(
            mean.converged && mean.iterations < 30,
            "f32: {} after {}",
            mean.gradient_norm,
            mean.iterations
        );
    }
}

#[test]
fn real_covariances_have_a_mean_and_recentre() {
    let batch = golden("covariances", "covariances");
    let mut manifold = Spd::new(64).unwrap();
    for (subject, limits) in
        batch.chunks(4 * 64 * 64).zip([IterationLimits { tolerance: 1e-10, iterations: 100 }; 2])
    {
        let mean = manifold.mean(SpdMetric::AffineInvariant, subject, None, limits).unwrap();
        assert!(mean.converged, "{} after {} iterations", mean.gradient_norm, mean.iterations);
        let mut whitened = vec![0.0; subject.len()];
        manifold.whiten(&mean.point, subject, &mut whitened).unwrap();
        let trace: f64 = whitened.chunks(64 * 64).map(|m| (0..64).map(|i| m[i * 65]).sum::<f64>()).sum();
        assert!((40.0..150.0).contains(&(trace / 4.0)), "{trace}");
    }
}

/// The mean reports convergence even where rounding keeps the gradient far above its tolerance. A
/// single matrix is its own mean.
#[test]
fn the_affine_invariant_mean_converges_at_wide_spectra() {
    let mut rng = rng(40);
    for (n, condition) in [(2, 1e4), (6, 1e6), (18, 1e6), (6, 1e8)] {
        let spectrum = geometric_spectrum(n, 1.0, condition);
        let matrices: Vec<f64> =
            (0..5).flat_map(|_| with_spectrum(&mut rng, &spectrum).as_slice().to_vec()).collect();
        let mut spd = Spd::<f64>::new(n).unwrap();
        let mut mean = |matrices: &[f64]| {
            spd.mean(SpdMetric::AffineInvariant, matrices, None, IterationLimits::default()).unwrap()
        };
        let found = mean(&matrices);
        assert!(found.converged && found.iterations < 200, "{n} {condition:e}: {}", found.iterations);
        assert!(found.gradient_norm < 1e-15 * condition, "{n} {condition:e}: {:e}", found.gradient_norm);
        let alone = mean(&matrices[..n * n]);
        assert!(alone.converged && alone.point == matrices[..n * n]);
    }
}

/// One step of the flow follows the gradient at the arithmetic mean, `sum w_i log_G(X_i)`, for any
/// factor of `G`.
#[test]
fn the_first_step_of_the_mean_follows_the_gradient_at_the_arithmetic_mean() {
    let (mut rng, n, count) = (rng(17), 12, 9);
    let batch: Vec<f64> = (0..count)
        .flat_map(|_| with_spectrum(&mut rng, &geometric_spectrum(n, 1e-2, 10.0)).as_slice().to_vec())
        .collect();
    let metric = SpdMetric::AffineInvariant;
    let mut spd = Spd::<f64>::new(n).unwrap();
    let limits = IterationLimits { tolerance: 0.0, iterations: 1 };
    let moved = spd.mean(metric, &batch, None, limits).unwrap().point;
    let size = n * n;
    let start: Vec<f64> =
        (0..size).map(|i| batch.iter().skip(i).step_by(size).sum::<f64>() / f64::from(count)).collect();
    let (mut gradient, mut log) = (vec![0.0; size], vec![0.0; size]);
    for matrix in batch.chunks_exact(size) {
        spd.log(metric, &start, matrix, &mut log).unwrap();
        gradient.iter_mut().zip(&log).for_each(|(sum, log)| *sum += log / f64::from(count));
    }
    let mut way = vec![0.0; size];
    spd.log(metric, &start, &moved, &mut way).unwrap();
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let step = dot(&way, &gradient) / dot(&gradient, &gradient);
    assert!(step > 0.1 && step <= 1.0, "{step}");
    let beside: Vec<f64> = way.iter().zip(&gradient).map(|(way, gradient)| way - step * gradient).collect();
    let relative = (dot(&beside, &beside) / dot(&way, &way)).sqrt();
    assert!(relative < 1e-12, "{relative:e}");
}
