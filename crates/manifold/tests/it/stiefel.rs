//! Stiefel geometry: factors, projections, retractions with their derivatives and inverses, random
//! points.

use fedspd_manifold::{Matrix, Polar, Qr, Real, Retraction, RetractionKind, Stiefel, StiefelMetric};
use proptest::prelude::*;

use crate::support::*;

const KINDS: [RetractionKind; 2] = [RetractionKind::Polar, RetractionKind::Qr];
const METRICS: [StiefelMetric; 2] = [StiefelMetric::Embedded, StiefelMetric::Canonical];

fn shape() -> impl Strategy<Value = (usize, usize)> {
    prop::sample::select(&SHAPES[..])
}

fn uf(a: &Matrix<f64>) -> Matrix<f64> {
    let mut polar = Polar::new(a.rows(), a.columns()).unwrap();
    polar.factor(a.as_slice()).unwrap();
    Matrix::from_rows(a.rows(), a.columns(), polar.q().to_vec()).unwrap()
}

fn qf(a: &Matrix<f64>) -> Matrix<f64> {
    let mut qr = Qr::new(a.rows(), a.columns()).unwrap();
    qr.factor(a.as_slice()).unwrap();
    Matrix::from_rows(a.rows(), a.columns(), qr.q().to_vec()).unwrap()
}

fn retract(kind: RetractionKind, w: &Matrix<f64>, x: &Matrix<f64>) -> Matrix<f64> {
    let mut out = Matrix::zeros(w.rows(), w.columns());
    let mut retraction = Retraction::new(kind, w.rows(), w.columns()).unwrap();
    retraction.retract(w.as_slice(), x.as_slice(), out.as_mut_slice()).unwrap();
    out
}

/// Returns a retraction that has mapped `W + X` and can be differentiated there.
fn at(kind: RetractionKind, w: &Matrix<f64>, x: &Matrix<f64>) -> Retraction<f64> {
    let mut retraction = Retraction::new(kind, w.rows(), w.columns()).unwrap();
    retraction.retract(w.as_slice(), x.as_slice(), &mut vec![0.0; w.rows() * w.columns()]).unwrap();
    retraction
}

fn differential(retraction: &mut Retraction<f64>, z: &Matrix<f64>) -> Matrix<f64> {
    let mut out = Matrix::zeros(z.rows(), z.columns());
    retraction.differential(z.as_slice(), out.as_mut_slice()).unwrap();
    out
}

fn adjoint(retraction: &mut Retraction<f64>, g: &Matrix<f64>) -> Matrix<f64> {
    let mut out = Matrix::zeros(g.rows(), g.columns());
    retraction.adjoint(g.as_slice(), out.as_mut_slice()).unwrap();
    out
}

/// Returns a matrix with singular values from `smallest` to 1.
fn with_singular_values(rng: &mut rand_chacha::ChaCha8Rng, p: usize, k: usize, smallest: f64) -> Matrix<f64> {
    let (u, v) = (point(rng, p, k), point(rng, k, k));
    let s = geometric_spectrum(k, smallest, 1.0);
    mul(&Matrix::from_fn(p, k, |i, j| u[(i, j)] * s[j]), &v.transpose())
}

proptest! {
    #![proptest_config(cases(48))]

    /// The polar factor `Q` of `A` has orthonormal columns, is its own polar factor, and `Q^T A` is
    /// symmetric and positive definite.
    #[test]
    fn the_polar_factor_has_orthonormal_columns((p, k) in shape(), seed: u64, digits in 0.0..8.0_f64) {
        let mut rng = rng(seed);
        let a = with_singular_values(&mut rng, p, k, 10f64.powf(-digits));
        let q = uf(&a);
        prop_assert!(infeasibility(&q) < 1e-13 * (k as f64).sqrt(), "{}", infeasibility(&q));
        prop_assert!(distance(&uf(&q), &q) < 1e-13 * (k as f64).sqrt());
        // H = Q^T A is symmetric positive semidefinite, so Q is the polar factor
        let h = mul(&q.transpose(), &a);
        prop_assert!(distance(&h, &h.transpose()) < 1e-13 * (k as f64).sqrt());
        prop_assert!(eigenvalues(&h)[0] > 0.0);
        let w = point(&mut rng, p, k);
        prop_assert!(distance(&uf(&w), &w) < 1e-13 * (k as f64).sqrt());
    }

    /// The singular values of the polar decomposition match another library.
    #[test]
    fn the_polar_factor_knows_the_singular_values((p, k) in shape(), seed: u64, digits in 0.0..8.0_f64) {
        let a = with_singular_values(&mut rng(seed), p, k, 10f64.powf(-digits));
        let mut polar = Polar::new(p, k).unwrap();
        polar.factor(a.as_slice()).unwrap();
        let expected = singular_values(&a);
        let (smallest, largest) = polar.singular_value_range();
        prop_assert!((smallest - expected[k - 1]).abs() < 1e-13);
        prop_assert!((largest - expected[0]).abs() < 1e-13);
    }

    /// `uf(c A) = uf(A)` for `c > 0`, and `uf(L A R) = L uf(A) R` for orthogonal `L` and `R`.
    #[test]
    fn the_polar_factor_ignores_scale_and_follows_rotations((p, k) in shape(), seed: u64, exponent in -150..150) {
        let mut rng = rng(seed);
        let a = with_singular_values(&mut rng, p, k, 0.3);
        let q = uf(&a);
        prop_assert!(distance(&uf(&scaled(&a, 10f64.powi(exponent))), &q) < 1e-13 * (k as f64).sqrt());
        let (left, right) = (point(&mut rng, p, p), point(&mut rng, k, k));
        let rotated = uf(&mul(&mul(&left, &a), &right));
        prop_assert!(distance(&rotated, &mul(&mul(&left, &q), &right)) < 1e-12);
    }

    /// `P_W` is idempotent and self-adjoint, and `W^T P_W(X)` is skew. `P_W(W S) = 0` for symmetric
    /// `S`. Lifting and transport are projections.
    #[test]
    fn the_tangent_projection_is_an_orthogonal_projection((p, k) in shape(), seed: u64) {
        let mut rng = rng(seed);
        let w = point(&mut rng, p, k);
        let (x, y) = (gaussian(&mut rng, p, k), gaussian(&mut rng, p, k));
        let px = project(&w, &x);
        prop_assert!(distance(&project(&w, &px), &px) < 1e-13 * x.norm());
        prop_assert!((inner(&px, &y) - inner(&x, &project(&w, &y))).abs() < 1e-13 * x.norm() * y.norm());
        let m = mul(&w.transpose(), &px);
        prop_assert!(add(&m, &m.transpose()).norm() < 1e-14 * x.norm() * (k as f64).sqrt());
        prop_assert!(project(&w, &w).norm() < 1e-13);
        let s = symmetric(&mut rng, k);
        prop_assert!(project(&w, &mul(&w, &s)).norm() < 1e-13 * s.norm());
        // lifting and transport are projections
        let mut stiefel = Stiefel::new(p, k).unwrap();
        let mut lifted = Matrix::zeros(p, k);
        let other = point(&mut rng, p, k);
        stiefel.lift(w.as_slice(), other.as_slice(), lifted.as_mut_slice()).unwrap();
        prop_assert!(distance(&lifted, &project(&w, &other)) < 1e-13);
        let mut moved = Matrix::zeros(p, k);
        stiefel.transport(other.as_slice(), px.as_slice(), moved.as_mut_slice()).unwrap();
        prop_assert!(moved.norm() <= px.norm() * (1.0 + 1e-14));
        prop_assert!(distance(&moved, &project(&other, &px)) < 1e-13 * x.norm());
    }

    /// For a tangent `X` of any size, the singular values of `W + X` are at least 1, and
    /// `R_W(X) = (W + X)(I + X^T X)^(-1/2)`.
    #[test]
    fn the_polar_retraction_is_never_singular((p, k) in shape(), seed: u64, size in -3.0..6.0) {
        let mut rng = rng(seed);
        let w = point(&mut rng, p, k);
        let norm = 10f64.powf(size);
        let x = tangent(&mut rng, &w, norm);
        let smallest = singular_values(&add(&w, &x))[k - 1];
        prop_assert!(smallest >= 1.0 - 1e-14 * norm.max(1.0) * (k as f64), "{smallest}");
        let point = retract(RetractionKind::Polar, &w, &x);
        prop_assert!(infeasibility(&point) < 1e-13 * (k as f64).sqrt());
        if norm <= 10.0 {
            // (W + X)(I + X^T X)^(-1/2), with the root from another library
            let gram = add(&Matrix::identity(k), &mul(&x.transpose(), &x));
            let gram = faer::Mat::from_fn(k, k, |i, j| 0.5 * (gram[(i, j)] + gram[(j, i)]));
            let eigen = gram.self_adjoint_eigen(faer::Side::Lower).unwrap();
            let v = Matrix::from_fn(k, k, |i, j| eigen.U()[(i, j)]);
            let root = mul(&Matrix::from_fn(k, k, |i, j| v[(i, j)] / eigen.S()[j].sqrt()), &v.transpose());
            prop_assert!(distance(&mul(&add(&w, &x), &root), &point) < 1e-12);
        }
    }

    /// `retract_once` gives the same points as `retract`, near the manifold and far from it.
    #[test]
    fn retracting_once_is_retracting((p, k) in shape(), seed: u64, size in -6.0..3.0_f64) {
        let mut rng = rng(seed);
        let w = point(&mut rng, p, k);
        let x = tangent(&mut rng, &w, 10f64.powf(size));
        for kind in KINDS {
            let mut once = Matrix::zeros(p, k);
            let mut retraction = Retraction::new(kind, p, k).unwrap();
            retraction.retract_once(w.as_slice(), x.as_slice(), once.as_mut_slice()).unwrap();
            prop_assert!(distance(&once, &retract(kind, &w, &x)) < 1e-13 * (k as f64).sqrt());
            prop_assert!(infeasibility(&once) < 1e-13 * (k as f64).sqrt());
            retraction.retract_once(w.as_slice(), &vec![0.0; p * k], once.as_mut_slice()).unwrap();
            prop_assert_eq!(bits(once.as_slice()), bits(w.as_slice()));
            let mut narrow = Matrix::<f32>::zeros(p, k);
            Retraction::new(kind, p, k).unwrap()
                .retract_once(w.cast().as_slice(), x.cast().as_slice(), narrow.as_mut_slice()).unwrap();
            // The Gram matrix squares the condition, which is up to 10 there: a hundred epsilons.
            prop_assert!(infeasibility(&narrow.cast()) < 3e-5 * (k as f64).sqrt());
        }
    }

    /// `|R_W(X) - R_W(Y)| <= |X - Y|` for tangent `X` and `Y`.
    #[test]
    fn the_polar_retraction_is_non_expansive((p, k) in shape(), seed: u64, a in 0.01..3.0, b in 0.01..3.0) {
        let mut rng = rng(seed);
        let w = point(&mut rng, p, k);
        let (x, y) = (tangent(&mut rng, &w, a), tangent(&mut rng, &w, b));
        let mapped = distance(&retract(RetractionKind::Polar, &w, &x), &retract(RetractionKind::Polar, &w, &y));
        prop_assert!(mapped <= distance(&x, &y) * (1.0 + 1e-12));
    }

    /// Differentials of the polar and QR factors match central differences, and adjoints match
    /// differentials. Both are tested off the base point, with a generic direction and a generic
    /// functional.
    #[test]
    fn factors_are_differentiated_exactly((p, k) in shape(), seed: u64, size in 0.0..2.0) {
        for kind in KINDS {
            let mut rng = rng(seed);
            let w = point(&mut rng, p, k);
            let x = tangent(&mut rng, &w, size);
            let (z, g) = (gaussian(&mut rng, p, k), gaussian(&mut rng, p, k));
            let z = scaled(&z, 1.0 / z.norm());
            let mut retraction = at(kind, &w, &x);
            let slope = differential(&mut retraction, &z);
            let pulled = adjoint(&mut retraction, &g);
            let scale = z.norm() * g.norm();
            prop_assert!((inner(&slope, &g) - inner(&z, &pulled)).abs() < 1e-13 * scale, "{kind:?}");
            let h = 1e-6;
            let factor = |t: f64| {
                let moved = add(&add(&w, &x), &scaled(&z, t));
                if kind == RetractionKind::Polar { uf(&moved) } else { qf(&moved) }
            };
            let difference = scaled(&sub(&factor(h), &factor(-h)), 0.5 / h);
            prop_assert!(distance(&difference, &slope) < 1e-8, "{kind:?} {}", distance(&difference, &slope));
            // the derivative stays tangent
            let q = factor(0.0);
            let m = mul(&q.transpose(), &slope);
            prop_assert!(add(&m, &m.transpose()).norm() < 1e-12 * z.norm());
        }
    }

    /// The differential of the polar factor is self-adjoint. At a point of the manifold it is the
    /// tangent projection.
    #[test]
    fn the_polar_differential_is_self_adjoint_and_projects_on_the_manifold((p, k) in shape(), seed: u64) {
        let mut rng = rng(seed);
        let w = point(&mut rng, p, k);
        let z = gaussian(&mut rng, p, k);
        let mut retraction = at(RetractionKind::Polar, &w, &Matrix::zeros(p, k));
        prop_assert!(distance(&differential(&mut retraction, &z), &project(&w, &z)) < 1e-13 * z.norm());
        // at a generic, ill-conditioned matrix
        let a = with_singular_values(&mut rng, p, k, 1e-3);
        let mut polar = Polar::new(p, k).unwrap();
        polar.factor(a.as_slice()).unwrap();
        let y = gaussian(&mut rng, p, k);
        let (mut dz, mut dy) = (Matrix::zeros(p, k), Matrix::zeros(p, k));
        polar.differential(z.as_slice(), dz.as_mut_slice()).unwrap();
        polar.differential(y.as_slice(), dy.as_mut_slice()).unwrap();
        prop_assert!((inner(&dz, &y) - inner(&z, &dy)).abs() < 1e-13 * 1e3 * z.norm() * y.norm());
    }

    /// A retraction uses one algorithm near the manifold and another far from it. Both match the
    /// factor and the derivative from singular values.
    #[test]
    fn the_two_ways_of_a_polar_retraction_agree((p, k) in shape(), seed: u64, digits in -1.0..9.0_f64) {
        let mut rng = rng(seed);
        let w = point(&mut rng, p, k);
        let x = tangent(&mut rng, &w, 10f64.powf(-digits));
        let (a, z) = (add(&w, &x), gaussian(&mut rng, p, k));
        let mut polar = Polar::new(p, k).unwrap();
        polar.factor(a.as_slice()).unwrap();
        let mut expected = Matrix::zeros(p, k);
        polar.differential(z.as_slice(), expected.as_mut_slice()).unwrap();
        prop_assert!(distance(&retract(RetractionKind::Polar, &w, &x), &uf(&a)) < 1e-13);
        let found = differential(&mut at(RetractionKind::Polar, &w, &x), &z);
        prop_assert!(distance(&found, &expected) < 1e-13 * z.norm());
    }

    /// `A = Q R` with orthonormal columns of `Q` and a positive diagonal of `R`; `qf(W) = W` on the
    /// manifold.
    #[test]
    fn the_qr_factor_is_orthonormal_with_positive_diagonal((p, k) in shape(), seed: u64, digits in 0.0..8.0_f64) {
        let mut rng = rng(seed);
        let a = with_singular_values(&mut rng, p, k, 10f64.powf(-digits));
        let mut qr = Qr::new(p, k).unwrap();
        qr.factor(a.as_slice()).unwrap();
        let q = Matrix::from_rows(p, k, qr.q().to_vec()).unwrap();
        let r = Matrix::from_rows(k, k, qr.r().to_vec()).unwrap();
        prop_assert!(infeasibility(&q) < 1e-13 * (k as f64).sqrt());
        prop_assert!(distance(&mul(&q, &r), &a) < 1e-14 * (k as f64));
        for i in 0..k {
            prop_assert!(r[(i, i)] > 0.0);
            prop_assert!((0..i).all(|j| r[(i, j)] == 0.0));
        }
        let w = point(&mut rng, p, k);
        prop_assert!(distance(&qf(&w), &w) < 1e-13);
    }

    /// Inverse retractions undo retractions, also for points far apart, where the step is not
    /// small.
    #[test]
    fn inverse_retractions_undo_retractions((p, k) in shape(), seed: u64, size in 0.01..1.0) {
        for kind in KINDS {
            let mut rng = rng(seed);
            let w = point(&mut rng, p, k);
            let x = tangent(&mut rng, &w, size);
            let y = retract(kind, &w, &x);
            let mut back = Matrix::zeros(p, k);
            let mut retraction = Retraction::new(kind, p, k).unwrap();
            retraction.inverse(w.as_slice(), y.as_slice(), back.as_mut_slice()).unwrap();
            prop_assert!(distance(&back, &x) < 1e-12, "{kind:?}: {}", distance(&back, &x));
            retraction.inverse(w.as_slice(), w.as_slice(), back.as_mut_slice()).unwrap();
            prop_assert!(back.norm() == 0.0);
        }
    }

    /// The exponential stays on the manifold, its first derivative is the velocity, and the
    /// logarithm inverts it.
    #[test]
    fn the_exponential_and_the_logarithm_are_inverse((p, k) in shape(), seed: u64, size in 0.05..1.0) {
        for metric in METRICS {
            let mut rng = rng(seed);
            let w = point(&mut rng, p, k);
            let x = tangent(&mut rng, &w, size);
            let mut stiefel = Stiefel::new(p, k).unwrap();
            let y = stiefel.exp(metric, &w, &x).unwrap();
            prop_assert!(infeasibility(&y) < 1e-13 * (k as f64));
            let back = stiefel.log(metric, &w, &y).unwrap();
            // St(1, 1) and square matrices of one column have no tangent directions; all others
            // must be recovered.
            prop_assert!(distance(&back, &x) < 1e-12, "{metric:?}: {}", distance(&back, &x));
            let h = 1e-4;
            let ends = [h, -h].map(|t| stiefel.exp(metric, &w, &scaled(&x, t)).unwrap());
            prop_assert!(distance(&scaled(&sub(&ends[0], &ends[1]), 0.5 / h), &x) < 1e-7);
            // the geodesic from Exp(X) to Exp(X/2), continued, ends at W
            let half = stiefel.exp(metric, &w, &scaled(&x, 0.5)).unwrap();
            let rest = stiefel.log(metric, &half, &y).unwrap();
            prop_assert!(distance(&stiefel.exp(metric, &half, &scaled(&rest, -1.0)).unwrap(), &w) < 1e-11);
        }
    }
}

/// The polar factor is the nearest point of the manifold.
#[test]
fn the_polar_factor_is_the_nearest_point() {
    for (p, k) in SHAPES {
        let mut rng = rng(2);
        let a = gaussian(&mut rng, p, k);
        let nearest = distance(&a, &uf(&a));
        for _ in 0..1000 {
            assert!(nearest <= distance(&a, &point(&mut rng, p, k)));
        }
        // and nearest among its neighbours, a stricter comparison
        for _ in 0..100 {
            let q = uf(&a);
            let x = tangent(&mut rng, &q, 1e-3);
            assert!(nearest <= distance(&a, &retract(RetractionKind::Polar, &q, &x)) + 1e-14);
        }
    }
}

/// `R_W(0) = W` bit for bit, and `R_W(t X) = W + t X + O(t^2)`.
#[test]
fn retractions_are_the_identity_at_zero_and_tangent_to_first_order() {
    for (p, k) in SHAPES {
        for kind in KINDS {
            let mut rng = rng(5);
            let w = point(&mut rng, p, k);
            assert_eq!(bits(retract(kind, &w, &Matrix::zeros(p, k)).as_slice()), bits(w.as_slice()));
            let w32 = w.cast::<f32>();
            let mut out = w32.map(|_| 0.0);
            Retraction::new(kind, p, k)
                .unwrap()
                .retract(w32.as_slice(), &vec![-0.0; p * k], out.as_mut_slice())
                .unwrap();
            assert_eq!(bits(out.as_slice()), bits(w32.as_slice()));

            let x = tangent(&mut rng, &w, 1.0);
            let error = |t: f64| distance(&retract(kind, &w, &scaled(&x, t)), &add(&w, &scaled(&x, t)));
            for t in [1e-2, 5e-3] {
                let ratio = error(t) / error(t / 2.0);
                assert!((ratio - 4.0).abs() < 0.05, "{kind:?} {p} x {k}: {ratio}");
            }
            let h = 1e-5;
            let ends = [h, -h].map(|t| retract(kind, &w, &scaled(&x, t)));
            assert!(distance(&scaled(&sub(&ends[0], &ends[1]), 0.5 / h), &x) < 1e-8);
        }
    }
}

/// The polar retraction agrees with the exponential of the embedded metric to second order.
#[test]
fn the_polar_retraction_is_of_second_order() {
    let mut rng = rng(12);
    let w = point(&mut rng, 12, 5);
    let x = tangent(&mut rng, &w, 1.0);
    let stiefel = Stiefel::new(12, 5).unwrap();
    let error = |t: f64| {
        let x = scaled(&x, t);
        distance(
            &retract(RetractionKind::Polar, &w, &x),
            &stiefel.exp(StiefelMetric::Embedded, &w, &x).unwrap(),
        )
    };
    let ratio = error(0.1) / error(0.05);
    assert!((ratio - 8.0).abs() < 0.3, "{ratio}");
}

/// Random points have mean 0 and `E[W W^T] = (k/p) I`.
#[test]
fn random_points_are_uniform() {
    for (p, k) in SHAPES {
        let mut rng = rng(11);
        let stiefel = Stiefel::<f64>::new(p, k).unwrap();
        let draws = 10_000;
        let (mut mean, mut second) = (Matrix::zeros(p, k), Matrix::<f64>::zeros(p, p));
        for _ in 0..draws {
            let w = stiefel.random(&mut rng).unwrap();
            mean = mean.zip(&w, |mean: f64, w| mean + w / f64::from(draws));
            // A few rows of W W^T are enough.
            for i in 0..3 {
                for j in 0..p {
                    second[(i, j)] += (0..k).map(|l| w[(i, l)] * w[(j, l)]).sum::<f64>() / f64::from(draws);
                }
            }
        }
        // Entries have variance 1/p, products less: five standard errors.
        let tolerance = 5.0 / f64::from(draws).sqrt();
        assert!(mean.as_slice().iter().all(|x| x.abs() < tolerance), "{p} x {k}");
        for i in 0..3 {
            for j in 0..p {
                let expected = if i == j { k as f64 / p as f64 } else { 0.0 };
                assert!((second[(i, j)] - expected).abs() < tolerance, "{p} x {k}");
            }
        }
    }
}

/// Subnormal matrices also have a polar factor.
#[test]
fn the_polar_factor_of_a_subnormal_matrix_is_orthonormal() {
    let a = Matrix::from_rows(2, 2, vec![1e-308, 1e-308, 0.0, 1e-308]).unwrap();
    let unit = Matrix::from_rows(2, 2, vec![1.0, 1.0, 0.0, 1.0]).unwrap();
    assert!(distance(&uf(&a), &uf(&unit)) < 1e-13);
    let mut polar = Polar::<f32>::new(2, 2).unwrap();
    polar.factor(&[1e-40, 1e-40, 0.0, 1e-40]).unwrap();
    let q = Matrix::from_rows(2, 2, polar.q().to_vec()).unwrap();
    assert!(distance(&q.cast(), &uf(&unit)) < 1e-4);
}

#[test]
fn f32_factors_and_retractions_are_accurate_to_f32() {
    for (p, k) in SHAPES {
        let mut rng = rng(32);
        let w64 = point(&mut rng, p, k);
        let x64 = tangent(&mut rng, &w64, 0.5);
        let (w, x) = (w64.cast::<f32>(), x64.cast::<f32>());
        for kind in KINDS {
            let mut out = Matrix::<f32>::zeros(p, k);
            let mut retraction = Retraction::new(kind, p, k).unwrap();
            retraction.retract(w.as_slice(), x.as_slice(), out.as_mut_slice()).unwrap();
            let mut stiefel = Stiefel::new(p, k).unwrap();
            let error = stiefel.feasibility_error(out.as_slice()).unwrap();
            assert!(error.to_f64() < 1e-6 * (k as f64), "{error}");
            assert!(distance(&out.cast(), &retract(kind, &w64, &x64)) < 1e-6 * (k as f64));
            let mut back = Matrix::<f32>::zeros(p, k);
            retraction.inverse(w.as_slice(), out.as_slice(), back.as_mut_slice()).unwrap();
            assert!(distance(&back.cast(), &x64) < 2e-5, "{}", distance(&back.cast(), &x64));
        }
    }
}

/// The singular value decomposition of tall matrices works: long sums round more than short ones.
#[test]
fn the_polar_factor_of_a_tall_ill_conditioned_matrix_exists() {
    for (p, k) in [(1024, 8), (4096, 20)] {
        let rotation = point(&mut rng(50), k, k);
        let wave = |i: usize, j: usize| {
            (std::f64::consts::PI * (i as f64 + 0.5) * j as f64 / p as f64).cos()
                * [1.0, 0.1, 0.01, 0.001][j % 4]
        };
        let a = mul(&Matrix::from_fn(p, k, wave), &rotation);
        let mut polar = Polar::<f64>::new(p, k).unwrap();
        polar.factor(a.as_slice()).unwrap();
        let q = Matrix::from_rows(p, k, polar.q().to_vec()).unwrap();
        assert!(infeasibility(&q) < 1e-11, "{p} {k}: {:e}", infeasibility(&q));
        let narrow: Matrix<f32> = a.cast();
        let mut polar = Polar::<f32>::new(p, k).unwrap();
        polar.factor(narrow.as_slice()).unwrap();
    }
}

/// Square Gaussian matrices of f32 can be singular to rounding; a uniform point is still drawn.
#[test]
fn random_points_always_exist() {
    let stiefel = Stiefel::<f32>::new(2, 2).unwrap();
    let mut rng = rng(51);
    for _ in 0..200_000 {
        stiefel.random(&mut rng).unwrap();
    }
}
