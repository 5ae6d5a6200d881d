//! Averages on the Stiefel manifold: special cases, optimality, agreement and equivariance.

use fedspd_manifold::average::{
    Average, StiefelSum, karcher_mean, proj_avg, qr_avg, r_barycenter, ret_avg, rl_avg,
};
use fedspd_manifold::{Error, IterationLimits, Matrix, Retraction, RetractionKind, StiefelMetric};
use proptest::prelude::*;

use crate::support::*;

const KINDS: [RetractionKind; 2] = [RetractionKind::Polar, RetractionKind::Qr];

fn shape() -> impl Strategy<Value = (usize, usize)> {
    prop::sample::select(&SHAPES[..])
}

/// Draws points at a distance of about `delta` from `w`.
fn around(rng: &mut rand_chacha::ChaCha8Rng, w: &Matrix<f64>, delta: f64, count: usize) -> Vec<Matrix<f64>> {
    let mut retraction = Retraction::new(RetractionKind::Polar, w.rows(), w.columns()).unwrap();
    (0..count)
        .map(|_| {
            let mut out = Matrix::zeros(w.rows(), w.columns());
            let x = tangent(rng, w, delta);
            retraction.retract(w.as_slice(), x.as_slice(), out.as_mut_slice()).unwrap();
            out
        })
        .collect()
}

fn sum(points: &[Matrix<f64>], weights: Option<&[f64]>) -> StiefelSum {
    let mut sum = StiefelSum::new(points[0].rows(), points[0].columns()).unwrap();
    for (i, point) in points.iter().enumerate() {
        sum.add(weights.map_or(1.0, |weights| weights[i]), point.as_slice()).unwrap();
    }
    sum
}

fn proj(points: &[Matrix<f64>]) -> Matrix<f64> {
    proj_avg(&sum(points, None)).unwrap().point
}

fn rl(w: &Matrix<f64>, points: &[Matrix<f64>]) -> Matrix<f64> {
    rl_avg(w, &sum(points, None)).unwrap().point
}

/// All averages by name, for the properties that they share.
fn all(
    w: &Matrix<f64>,
    points: &[Matrix<f64>],
    weights: Option<&[f64]>,
) -> Vec<(&'static str, Average<f64>)> {
    let limits = IterationLimits::default();
    let total = sum(points, weights);
    vec![
        ("ProjAvg", proj_avg(&total).unwrap()),
        ("RLAvg", rl_avg(w, &total).unwrap()),
        ("QR", qr_avg(&total).unwrap()),
        ("RetAvg polar", ret_avg(RetractionKind::Polar, w, points, weights).unwrap()),
        ("RetAvg QR", ret_avg(RetractionKind::Qr, w, points, weights).unwrap()),
        ("R-barycenter polar", r_barycenter(RetractionKind::Polar, points, weights, limits).unwrap()),
        ("R-barycenter QR", r_barycenter(RetractionKind::Qr, points, weights, limits).unwrap()),
        ("Karcher embedded", karcher_mean(StiefelMetric::Embedded, points, weights, limits).unwrap()),
        ("Karcher canonical", karcher_mean(StiefelMetric::Canonical, points, weights, limits).unwrap()),
    ]
}

/// Halves delta from 0.1 and returns the ratios of a gap between two averages.
fn ratios(p: usize, k: usize, gap: impl Fn(&Matrix<f64>, &[Matrix<f64>]) -> f64) -> Vec<f64> {
    let mut rng = rng(14);
    let w = point(&mut rng, p, k);
    let directions: Vec<_> = (0..5).map(|_| tangent(&mut rng, &w, 1.0)).collect();
    let mut retraction = Retraction::new(RetractionKind::Polar, p, k).unwrap();
    let mut at = |delta: f64| {
        let points: Vec<_> = directions
            .iter()
            .map(|x| {
                let mut out = Matrix::zeros(p, k);
                retraction.retract(w.as_slice(), scaled(x, delta).as_slice(), out.as_mut_slice()).unwrap();
                out
            })
            .collect();
        gap(&w, &points)
    };
    let gaps: Vec<f64> = [0.1, 0.05, 0.025, 0.0125].into_iter().map(&mut at).collect();
    gaps.windows(2).map(|pair| pair[0] / pair[1]).collect()
}

proptest! {
    #![proptest_config(cases(24))]

    /// Every average is feasible, near the points, and invariant under permutation of the points
    /// (16).
    #[test]
    fn averages_are_feasible_and_do_not_depend_on_the_order((p, k) in shape(), seed: u64, delta in 0.05..0.5) {
        let mut rng = rng(seed);
        let w = point(&mut rng, p, k);
        let mut points = around(&mut rng, &w, delta, 4);
        let averages = all(&w, &points, None);
        points.reverse();
        points.swap(0, 2);
        for ((name, average), (_, permuted)) in averages.iter().zip(all(&w, &points, None)) {
            prop_assert!(infeasibility(&average.point) < 1e-12, "{name}");
            prop_assert!(distance(&average.point, &w) < delta, "{name}");
            prop_assert!(distance(&average.point, &permuted.point) < 1e-11, "{name}");
            let mean = scaled(&points.iter().fold(Matrix::zeros(p, k), |sum, x| add(&sum, x)), 0.25);
            let expected = singular_values(&mean)[k - 1];
            prop_assert!((average.smallest_singular_value - expected).abs() < 1e-13, "{name}");
        }
    }

    /// The average of equal points is that point.
    #[test]
    fn averages_of_equal_points_are_that_point((p, k) in shape(), seed: u64) {
        let mut rng = rng(seed);
        let w = point(&mut rng, p, k);
        let points = vec![w.clone(); 3];
        for (name, average) in all(&w, &points, None) {
            prop_assert!(distance(&average.point, &w) < 1e-13, "{name}");
            prop_assert!((average.smallest_singular_value - 1.0).abs() < 1e-14);
        }
    }

    /// Every average except `RLAvg` returns a single point bit for bit, also when all others have
    /// weight zero.
    #[test]
    fn the_average_of_one_point_is_that_point_except_with_rl_avg((p, k) in shape(), seed: u64, weight in 0.01..100.0) {
        let mut rng = rng(seed);
        let w = point(&mut rng, p, k);
        let points = around(&mut rng, &w, 0.4, 2);
        for (name, average) in all(&w, &points, Some(&[weight, 0.0])) {
            if name != "RLAvg" {
                prop_assert_eq!(bits(average.point.as_slice()), bits(points[0].as_slice()), "{}", name);
            } else if k < p {
                prop_assert!(distance(&average.point, &points[0]) > 1e-4);
            }
        }
    }

    /// Doubling the weight of a point equals duplicating it.
    #[test]
    fn a_double_weight_is_a_duplicated_point((p, k) in shape(), seed: u64) {
        let mut rng = rng(seed);
        let w = point(&mut rng, p, k);
        let points = around(&mut rng, &w, 0.3, 3);
        let mut doubled = points.clone();
        doubled.push(points[1].clone());
        for ((name, a), (_, b)) in all(&w, &points, Some(&[1.0, 2.0, 1.0])).iter().zip(all(&w, &doubled, None)) {
            prop_assert!(distance(&a.point, &b.point) < 1e-11, "{name}");
        }
    }

    /// The sum of squared chordal distances is smallest at `ProjAvg`. At `RLAvg` it is not larger
    /// than at the base point.
    #[test]
    fn proj_avg_minimises_the_chordal_objective((p, k) in shape(), seed: u64, delta in 0.1..0.5) {
        let mut rng = rng(seed);
        let w = point(&mut rng, p, k);
        let points = around(&mut rng, &w, delta, 5);
        let objective = |y: &Matrix<f64>| points.iter().map(|x| distance(x, y).powi(2)).sum::<f64>();
        prop_assert!(objective(&proj(&points)) <= objective(&rl(&w, &points)) + 1e-13);
        prop_assert!(objective(&rl(&w, &points)) <= objective(&w) + 1e-13);
    }

    /// `RLAvg` of the sum equals `RLAvg` of lifted points, so the server needs only the sum.
    #[test]
    fn rl_avg_from_the_sum_equals_rl_avg_from_lifted_messages((p, k) in shape(), seed: u64, delta in 0.05..0.8) {
        let mut rng = rng(seed);
        let w = point(&mut rng, p, k);
        let points = around(&mut rng, &w, delta, 6);
        let lifted = points.iter().fold(Matrix::zeros(p, k), |sum, x| add(&sum, &project(&w, &sub(x, &w))));
        let mut expected = Matrix::zeros(p, k);
        Retraction::new(RetractionKind::Polar, p, k).unwrap()
            .retract(w.as_slice(), scaled(&lifted, 1.0 / 6.0).as_slice(), expected.as_mut_slice()).unwrap();
        prop_assert!(distance(&rl(&w, &points), &expected) < 1e-13);
    }

    /// Rotating all points rotates the average: from the left for every average, from the right for
    /// all except the QR averages.
    #[test]
    fn rotating_all_points_rotates_the_average((p, k) in shape(), seed: u64) {
        let mut rng = rng(seed);
        let w = point(&mut rng, p, k);
        let points = around(&mut rng, &w, 0.3, 3);
        let (left, right) = (point(&mut rng, p, p), point(&mut rng, k, k));
        let gauged: Vec<_> = points.iter().map(|x| mul(x, &right)).collect();
        let turned: Vec<_> = points.iter().map(|x| mul(&left, x)).collect();
        let averages = all(&w, &points, None);
        for ((name, average), (_, gauged)) in averages.iter().zip(all(&mul(&w, &right), &gauged, None)) {
            if !name.contains("QR") {
                prop_assert!(distance(&mul(&average.point, &right), &gauged.point) < 1e-11, "{name}");
            }
        }
        for ((name, average), (_, turned)) in averages.iter().zip(all(&mul(&left, &w), &turned, None)) {
            prop_assert!(distance(&mul(&left, &average.point), &turned.point) < 1e-11, "{name}");
        }
    }
}

/// On the circle, `RLAvg` of one point turns the angle t into atan(sin t).
#[test]
fn rl_avg_of_one_point_on_the_circle_is_atan_of_sin() {
    let w = Matrix::from_rows(2, 1, vec![1.0, 0.0]).unwrap();
    for angle in [-1.5_f64, -0.3, 0.01, 0.7, 1.2, 3.0] {
        let point = Matrix::from_rows(2, 1, vec![angle.cos(), angle.sin()]).unwrap();
        let average = rl(&w, &[point]);
        let found = average[(1, 0)].atan2(average[(0, 0)]);
        assert!((found - angle.sin().atan()).abs() < 1e-14, "{angle}: {found}");
    }
}

/// `ProjAvg` and `RLAvg` of points within `d` of the base differ by `O(d^3)`: half of `d` gives an
/// eighth of the difference.
#[test]
fn proj_avg_and_rl_avg_agree_to_third_order() {
    for (p, k) in SHAPES {
        for ratio in ratios(p, k, |w, points| distance(&proj(points), &rl(w, points))) {
            assert!((ratio - 8.0).abs() < 0.3, "{p} x {k}: {ratio}");
        }
    }
}

/// `RLAvg`, repeated from its own result, converges to `ProjAvg`.
#[test]
fn iterated_rl_avg_converges_to_proj_avg() {
    for (p, k) in SHAPES {
        let mut rng = rng(15);
        let w = point(&mut rng, p, k);
        let points = around(&mut rng, &w, 0.8, 5);
        let mut iterate = w;
        for _ in 0..30 {
            iterate = rl(&iterate, &points);
        }
        assert!(distance(&iterate, &proj(&points)) < 1e-12, "{p} x {k}");
    }
}

/// For points within `d` of the base, `ProjAvg` and the Karcher mean differ by `O(d^3)` in the
/// embedded metric, and by `O(d^2)` in the canonical one.
#[test]
fn the_karcher_mean_of_the_embedded_metric_agrees_to_third_order_and_the_canonical_one_to_second() {
    let limits = IterationLimits { tolerance: 1e-13, iterations: 200 };
    let gap = |metric| {
        move |_: &Matrix<f64>, points: &[Matrix<f64>]| {
            distance(&proj(points), &karcher_mean(metric, points, None, limits).unwrap().point)
        }
    };
    for (p, k) in [(12, 5), (64, 18), (60, 22)] {
        for ratio in ratios(p, k, gap(StiefelMetric::Embedded)) {
            assert!((ratio - 8.0).abs() < 0.3, "embedded, {p} x {k}: {ratio}");
        }
        for ratio in ratios(p, k, gap(StiefelMetric::Canonical)) {
            assert!((ratio - 4.0).abs() < 0.3, "canonical, {p} x {k}: {ratio}");
        }
    }
    // For k = 1 (a sphere) and k = p (rotations) both metrics have the same geodesics.
    for (p, k) in [(7, 1), (5, 5)] {
        for ratio in ratios(p, k, gap(StiefelMetric::Canonical)) {
            assert!((ratio - 8.0).abs() < 0.3, "canonical, {p} x {k}: {ratio}");
        }
    }
}

/// `ProjAvg` of `W` and `-W` is an error; `RLAvg` based at `W` returns `W`.
#[test]
fn antipodal_points_have_no_proj_avg_and_rl_avg_stays() {
    for (p, k) in SHAPES {
        let w = point(&mut rng(20), p, k);
        let pair = [w.clone(), w.map(|x| -x)];
        let total = sum(&pair, None);
        let error = proj_avg(&total).unwrap_err();
        assert!(matches!(error, Error::RankDeficient { operation: "ProjAvg", .. }), "{error:?}");
        assert!(matches!(qr_avg(&total).unwrap_err(), Error::RankDeficient { .. }));
        let average = rl_avg(&w, &total).unwrap();
        assert!(distance(&average.point, &w) < 1e-15 * (p * k) as f64);
        assert!(average.smallest_singular_value < 1e-15);
    }
}

/// The iterative averages are fixed points and report their iterations.
#[test]
fn barycenters_are_fixed_points_of_the_tangent_average() {
    for kind in KINDS {
        let mut rng = rng(42);
        let w = point(&mut rng, 12, 5);
        let points = around(&mut rng, &w, 0.5, 6);
        let average = r_barycenter(kind, &points, None, IterationLimits::default()).unwrap();
        assert!(average.iterations > 1 && average.residual <= 1e-12);
        let again = ret_avg(kind, &average.point, &points, None).unwrap();
        assert!(distance(&again.point, &average.point) < 1e-11);
        let cut = IterationLimits { tolerance: 1e-12, iterations: 1 };
        let error = r_barycenter(kind, &points, None, cut).unwrap_err();
        assert!(matches!(error, Error::NotConverged { iterations: 1, .. }), "{error:?}");
    }
}

#[test]
fn averages_of_f32_points_are_made_in_f64() {
    let mut rng = rng(33);
    let w = point(&mut rng, 12, 5);
    let points: Vec<Matrix<f32>> = around(&mut rng, &w, 0.3, 4).iter().map(Matrix::cast).collect();
    let average = ret_avg(RetractionKind::Polar, &w.cast::<f32>(), &points, None).unwrap();
    let widened: Vec<Matrix<f64>> = points.iter().map(Matrix::cast).collect();
    let expected = ret_avg(RetractionKind::Polar, &w.cast::<f32>().cast(), &widened, None).unwrap();
    assert_eq!(average.point, expected.point.cast());
    let alone =
        karcher_mean(StiefelMetric::Embedded, &points[..1], None, IterationLimits::default()).unwrap();
    assert_eq!(bits(alone.point.as_slice()), bits(points[0].as_slice()));
    // Points on the manifold only to `f32` precision also have a Karcher mean, near that of the
    // exact points.
    for metric in [StiefelMetric::Embedded, StiefelMetric::Canonical] {
        let mean = karcher_mean(metric, &points, None, IterationLimits::default()).unwrap();
        assert!(
            distance(
                &mean.point.cast(),
                &karcher_mean(metric, &widened, None, IterationLimits::default()).unwrap().point
            ) < 1e-6
        );
        assert!(infeasibility(&mean.point.cast()) < 1e-6);
    }
}

/// Weights with an overflowing inverse are valid.
#[test]
fn tiny_weights_are_weights() {
    let mut rng = rng(34);
    let w = point(&mut rng, 12, 5);
    let points = around(&mut rng, &w, 0.3, 3);
    let average = |weight: f64| {
        let mut sum = StiefelSum::new(12, 5).unwrap();
        for point in &points {
            sum.add(weight, point.as_slice()).unwrap();
        }
        proj_avg(&sum).unwrap().point
    };
    assert!(distance(&average(1e-310), &average(1.0)) < 1e-12);
}
