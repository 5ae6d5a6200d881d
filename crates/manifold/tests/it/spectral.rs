//! Spectral functions and their derivatives, also for difficult spectra.

use fedspd_manifold::{Matrix, Real, SpectralFunction, SpectralMap};
use proptest::prelude::*;

use crate::support::*;

fn functions(floor: f64) -> [SpectralFunction<f64>; 9] {
    [
        SpectralFunction::Log,
        SpectralFunction::Exp,
        SpectralFunction::Sqrt,
        SpectralFunction::InverseSqrt,
        SpectralFunction::Power(0.37),
        SpectralFunction::Power(-1.5),
        SpectralFunction::Power(3.0),
        SpectralFunction::Clamp { floor },
        SpectralFunction::LogClamp { floor },
    ]
}

fn scalar(function: SpectralFunction<f64>, x: f64) -> f64 {
    match function {
        SpectralFunction::Log => x.ln(),
        SpectralFunction::Exp => x.exp(),
        SpectralFunction::Sqrt => x.sqrt(),
        SpectralFunction::InverseSqrt => 1.0 / x.sqrt(),
        SpectralFunction::Power(p) => x.powf(p),
        SpectralFunction::Clamp { floor } => x.max(floor),
        SpectralFunction::LogClamp { floor } => x.max(floor).ln(),
    }
}

fn apply(function: SpectralFunction<f64>, a: &Matrix<f64>) -> Matrix<f64> {
    let mut out = Matrix::zeros(a.rows(), a.rows());
    SpectralMap::new(a.rows()).unwrap().apply(function, a.as_slice(), out.as_mut_slice()).unwrap();
    out
}

fn derivative(function: SpectralFunction<f64>, a: &Matrix<f64>, e: &Matrix<f64>) -> Matrix<f64> {
    let mut out = Matrix::zeros(a.rows(), a.rows());
    let mut map = SpectralMap::new(a.rows()).unwrap();
    map.derivative(function, a.as_slice(), e.as_slice(), out.as_mut_slice()).unwrap();
    out
}

/// Returns the divided difference of a function at two eigenvalues, from the derivative. At a
/// diagonal matrix, the derivative in the direction of an off-diagonal pair is that pair times the
/// divided difference.
fn divided_difference(function: SpectralFunction<f64>, a: f64, b: f64) -> f64 {
    let matrix = Matrix::from_rows(2, 2, vec![a, 0.0, 0.0, b]).unwrap();
    let pair = Matrix::from_rows(2, 2, vec![0.0, 1.0, 1.0, 0.0]).unwrap();
    derivative(function, &matrix, &pair)[(0, 1)]
}

/// Returns spectra for which derivatives through eigenvectors fail: equal, nearly equal, clamped.
/// All have a condition of at most 1e3 and stay away from the floor 0.5.
fn spectra(n: usize) -> Vec<(&'static str, Vec<f64>)> {
    let clustered = |gap: f64| (0..n).map(|i| 1.3 + gap * i as f64).collect::<Vec<_>>();
    vec![
        ("distinct", geometric_spectrum(n, 0.01, 7.0)),
        ("all equal", vec![1.3; n]),
        ("pairs equal", (0..n).map(|i| 0.7 + 0.4 * (i / 2) as f64).collect()),
        ("gaps 1e-3", clustered(1e-3)),
        ("gaps 1e-6", clustered(1e-6)),
        ("gaps 1e-9", clustered(1e-9)),
        ("gaps 1e-12", clustered(1e-12)),
        ("gaps 1e-14", clustered(1e-14)),
        ("all clamped", geometric_spectrum(n, 0.01, 0.3)),
        ("all clamped and equal", vec![0.1; n]),
        ("none clamped", geometric_spectrum(n, 0.8, 7.0)),
        ("half clamped", (0..n).map(|i| if i % 2 == 0 { 0.05 } else { 2.0 + 1e-7 * i as f64 }).collect()),
    ]
}

/// For every function and spectrum: directional derivatives match central differences with a
/// generic functional, and the adjoint identity `<DF(A)[E], G> = <E, DF(A)[G]>` holds.
#[test]
fn derivatives_are_exact_at_nasty_spectra() {
    for n in [1, 2, 5, 18] {
        for (name, spectrum) in spectra(n) {
            let mut rng = rng(n as u64);
            let a = with_spectrum(&mut rng, &spectrum);
            let (e, g) = (symmetric(&mut rng, n), symmetric(&mut rng, n));
            let e = scaled(&e, 1.0 / e.norm());
            let smallest = spectrum.iter().fold(f64::INFINITY, |a, &b| a.min(b));
            for function in functions(0.5) {
                let slope = derivative(function, &a, &e);
                let pulled = derivative(function, &a, &g);
                let (left, right) = (inner(&slope, &g), inner(&e, &pulled));
                let size = slope.norm() * g.norm() + pulled.norm();
                assert!((left - right).abs() <= 1e-13 * size, "adjoint of {function:?}, {name}, n = {n}");

                let h = 1e-4 * smallest;
                let at = |t: f64| apply(function, &add(&a, &scaled(&e, t)));
                // fourth-order central difference
                let quotient = |k: f64| scaled(&sub(&at(k * h), &at(-k * h)), 0.5 / (k * h));
                let difference = sub(&scaled(&quotient(1.0), 4.0 / 3.0), &scaled(&quotient(2.0), 1.0 / 3.0));
                let value_rounding = apply(function, &a).norm().max(1.0) * 1e-15 / h;
                let error = (inner(&difference, &g) - left).abs();
                let bound = (1e-9 * size + 20.0 * value_rounding * g.norm()).max(1e-9);
                assert!(error <= bound, "{function:?}, {name}, n = {n}: {error:e} > {bound:e}");
            }
        }
    }
}

/// Divided differences over all gaps match closed forms without cancellation: `-1/(ab)` for
/// `Power(-1)`, `a + b` for `Power(2)`, `1/(sqrt a + sqrt b)` for `Sqrt`.
#[test]
fn divided_differences_with_closed_forms_are_accurate_at_every_gap() {
    for scale in [1e-9, 1.0, 1e9] {
        for exponent in 0..=60 {
            let a = scale * 1.7;
            let b = a * (1.0 + 10f64.powf(1.0 - f64::from(exponent) / 3.0));
            for (function, expected) in [
                (SpectralFunction::Power(-1.0), -1.0 / (a * b)),
                (SpectralFunction::Power(2.0), a + b),
                (SpectralFunction::Power(1.0), 1.0),
                (SpectralFunction::Power(0.5), 1.0 / (a.sqrt() + b.sqrt())),
                (SpectralFunction::Sqrt, 1.0 / (a.sqrt() + b.sqrt())),
                (SpectralFunction::InverseSqrt, -1.0 / (a.sqrt() * b.sqrt() * (a.sqrt() + b.sqrt()))),
                // log1p and exp_m1 of the standard library do not cancel either
                (SpectralFunction::Log, if a == b { 1.0 / a } else { ((b - a) / a).ln_1p() / (b - a) }),
            ] {
                for (x, y) in [(a, b), (b, a)] {
                    let found = divided_difference(function, x, y);
                    // x^p = exp(p log x) carries the rounding of p log x
                    assert!(
                        (found / expected - 1.0).abs() < 2e-14,
                        "{function:?} at {x:e}, {y:e}: {found:e} {expected:e}"
                    );
                }
            }
        }
    }
    for exponent in 0..=60 {
        let gap = 10f64.powf(2.0 - f64::from(exponent) / 3.0);
        let expected = if gap == 0.0 { 1.0 } else { gap.exp_m1() / gap };
        let found = divided_difference(SpectralFunction::Exp, 0.0, gap);
        assert!((found / expected - 1.0).abs() < 1e-14, "exp at gap {gap:e}: {found:e} {expected:e}");
    }
}

proptest! {
    #![proptest_config(cases(64))]

    /// ReEig raises eigenvalues to the floor, is idempotent, and keeps matrices above the floor.
    #[test]
    fn reeig_clamps_from_below_and_is_idempotent(n in 1..24_usize, seed: u64, floor in 0.01..2.0) {
        let mut rng = rng(seed);
        let a = with_spectrum(&mut rng, &geometric_spectrum(n, 1e-3, 10.0));
        let clamp = SpectralFunction::Clamp { floor };
        let clamped = apply(clamp, &a);
        let slack = 10.0 * n as f64 * f64::EPSILON * 10.0;
        prop_assert!(eigenvalues(&clamped)[0] >= floor - slack);
        prop_assert!(distance(&apply(clamp, &clamped), &clamped) <= slack * (n as f64).sqrt());
        let above = with_spectrum(&mut rng, &geometric_spectrum(n, 2.1, 10.0));
        prop_assert!(distance(&apply(clamp, &above), &above) <= slack * (n as f64).sqrt());
        prop_assert_eq!(clamped.transpose(), clamped);
    }

    /// ReEig accepts any symmetric matrix, also one with slightly negative eigenvalues from
    /// rounding.
    #[test]
    fn reeig_repairs_singular_matrices(n in 2..24_usize, seed: u64) {
        let mut spectrum = geometric_spectrum(n, 1e-3, 10.0);
        spectrum[0] = -1e-15;
        spectrum[1] = 0.0;
        let a = with_spectrum(&mut rng(seed), &spectrum);
        let s = apply(SpectralFunction::LogClamp { floor: 0.01 }, &a);
        prop_assert!(eigenvalues(&s)[0] >= 0.01_f64.ln() - 1e-11);
    }

    /// `log(exp(S)) = S`, and `log(Q A Q^T) = Q log(A) Q^T` for orthogonal `Q`.
    #[test]
    fn logeig_inverts_the_exponential_and_follows_rotations(n in 1..24_usize, seed: u64) {
        let mut rng = rng(seed);
        let s = symmetric(&mut rng, n);
        let s = scaled(&s, 5.0 / eigenvalues(&s).iter().fold(0.0_f64, |a, b| a.max(b.abs())));
        let exponential = apply(SpectralFunction::Exp, &s);
        prop_assert!(distance(&apply(SpectralFunction::Log, &exponential), &s) < 1e-10);
        let q = point(&mut rng, n, n);
        let rotate = |a: &Matrix<f64>| {
            let r = mul(&mul(&q, a), &q.transpose());
            Matrix::from_fn(n, n, |i, j| 0.5 * (r[(i, j)] + r[(j, i)]))
        };
        prop_assert!(distance(&apply(SpectralFunction::Log, &rotate(&exponential)), &rotate(&s)) < 1e-9);
    }

    /// The eigenvalues of `W^T A W` interlace those of `A` (Cauchy).
    #[test]
    fn bimap_spectra_interlace((p, k) in prop::sample::select(&SHAPES[..]), seed: u64) {
        let mut rng = rng(seed);
        let a = with_spectrum(&mut rng, &geometric_spectrum(p, 1e-3, 10.0));
        let w = point(&mut rng, p, k);
        let b = mul(&mul(&w.transpose(), &a), &w);
        let b = Matrix::from_fn(k, k, |i, j| 0.5 * (b[(i, j)] + b[(j, i)]));
        let (mut outer, mut inner) = (vec![0.0; p], vec![0.0; k]);
        let decompose = |m: &Matrix<f64>, values: &mut [f64]| {
            let n = m.rows();
            let mut solver = fedspd_manifold::SymmetricEigen::new(n).unwrap();
            solver.decompose(m.as_slice(), values, &mut vec![0.0; n * n]).unwrap();
        };
        decompose(&a, &mut outer);
        decompose(&b, &mut inner);
        let slack = 10.0 * p as f64 * f64::EPSILON * 10.0;
        for i in 0..k {
            prop_assert!(outer[i] - slack <= inner[i] && inner[i] <= outer[p - k + i] + slack);
        }
    }

    /// Divided differences of the logarithm are symmetric and continuous. They lie between
    /// `1/max(a, b)` and `1/min(a, b)`. Those of the clamp lie in `[0, 1]`. Those of the fused
    /// function are products of both.
    #[test]
    fn loewner_entries_lie_between_their_derivatives(la in -6.0..6.0_f64, gap in -16.0..2.0_f64, floor in -6.0..6.0_f64) {
        let (a, floor) = (10f64.powf(la), 10f64.powf(floor));
        let b = a * (1.0 + 10f64.powf(gap));
        let log = divided_difference(SpectralFunction::Log, a, b);
        prop_assert_eq!(log.to_bits(), divided_difference(SpectralFunction::Log, b, a).to_bits());
        prop_assert!(log >= (1.0 - 1e-15) / b && log <= (1.0 + 1e-15) / a, "{log:e} {:e} {:e}", 1.0 / a, 1.0 / b);
        // continuous at the limit
        let limit = divided_difference(SpectralFunction::Log, a, a);
        prop_assert!((log - limit).abs() <= (b - a) / (a * a) + 4e-16 / a);
        let clamp = divided_difference(SpectralFunction::Clamp { floor }, a, b);
        prop_assert!((0.0..=1.0).contains(&clamp));
        // fused = log of clamped eigenvalues times the clamp
        let fused = divided_difference(SpectralFunction::LogClamp { floor }, a, b);
        let expected = divided_difference(SpectralFunction::Log, a.max(floor), b.max(floor)) * clamp;
        prop_assert!((fused - expected).abs() <= 1e-15 * expected.abs());
        prop_assert!(fused >= 0.0 && fused <= (1.0 + 1e-15) / floor);
    }
}

/// If all eigenvalues are clamped, the derivative is exactly zero.
#[test]
fn the_derivative_of_a_fully_clamped_matrix_is_exactly_zero() {
    let mut rng = rng(30);
    let a = with_spectrum(&mut rng, &geometric_spectrum(9, 1e-4, 0.4));
    let e = symmetric(&mut rng, 9);
    for function in [SpectralFunction::Clamp { floor: 0.5 }, SpectralFunction::LogClamp { floor: 0.5 }] {
        assert_eq!(derivative(function, &a, &e).norm(), 0.0);
    }
    // The tie l = floor counts as clamped.
    let tie = Matrix::identity(3).map(|x: f64| 0.5 * x);
    assert_eq!(derivative(SpectralFunction::Clamp { floor: 0.5 }, &tie, &symmetric(&mut rng, 3)).norm(), 0.0);
}

/// Values match scalar functions of the spectrum, in batches of every size, in f64 and f32.
#[test]
fn values_are_accurate_in_batches_of_every_size() {
    let n = 6;
    for size in BATCHES {
        let mut rng = rng(size as u64);
        let spectrum = geometric_spectrum(n, 0.01, 7.0);
        let q: Vec<_> = (0..size).map(|_| point(&mut rng, n, n)).collect();
        let build = |f: &dyn Fn(f64) -> f64| -> Vec<f64> {
            q.iter()
                .flat_map(|q| {
                    let a = mul(&Matrix::from_fn(n, n, |i, j| q[(i, j)] * f(spectrum[j])), &q.transpose());
                    Matrix::from_fn(n, n, |i, j| 0.5 * (a[(i, j)] + a[(j, i)])).as_slice().to_vec()
                })
                .collect()
        };
        let matrices = build(&|x| x);
        for function in functions(0.5) {
            let expected = build(&|x| scalar(function, x));
            let mut out = vec![0.0; matrices.len()];
            SpectralMap::new(n).unwrap().apply(function, &matrices, &mut out).unwrap();
            let tolerance = 1e-12 * expected.iter().fold(1.0_f64, |a, b| a.max(b.abs()));
            for (found, expected) in out.iter().zip(&expected) {
                assert!((found - expected).abs() < tolerance, "{function:?}: {found:e} {expected:e}");
            }
            let narrow: Vec<f32> = matrices.iter().map(|&x| f32::from_f64(x)).collect();
            let mut out = vec![0.0_f32; narrow.len()];
            let narrow_function = match function {
                SpectralFunction::Log => SpectralFunction::Log,
                SpectralFunction::Exp => SpectralFunction::Exp,
                SpectralFunction::Sqrt => SpectralFunction::Sqrt,
                SpectralFunction::InverseSqrt => SpectralFunction::InverseSqrt,
                SpectralFunction::Power(p) => SpectralFunction::Power(f32::from_f64(p)),
                SpectralFunction::Clamp { floor } => SpectralFunction::Clamp { floor: f32::from_f64(floor) },
                SpectralFunction::LogClamp { floor } => {
                    SpectralFunction::LogClamp { floor: f32::from_f64(floor) }
                }
            };
            SpectralMap::new(n).unwrap().apply(narrow_function, &narrow, &mut out).unwrap();
            for (found, expected) in out.iter().zip(&expected) {
                assert!((f64::from(*found) - expected).abs() < 1e9 * tolerance * 0.5, "f32 {function:?}");
            }
        }
    }
}

/// Golden values at 50 digits; the generating script is beside them.
#[test]
fn values_and_derivatives_equal_the_golden_ones() {
    let matrices = golden("spd", "matrices");
    for (file, function) in [
        ("matrices_log", SpectralFunction::Log),
        ("matrices_sqrt", SpectralFunction::Sqrt),
        ("matrices_inv_sqrt", SpectralFunction::InverseSqrt),
        ("matrices_power_0.37", SpectralFunction::Power(0.37)),
        ("matrices_times_0.01_exp", SpectralFunction::Exp),
    ] {
        let input =
            if file.ends_with("exp") { golden("spd", "matrices_times_0.01") } else { matrices.clone() };
        let expected = golden("spd", file);
        let mut out = vec![0.0; input.len()];
        SpectralMap::new(6).unwrap().apply(function, &input, &mut out).unwrap();
        for (index, (found, expected)) in out.chunks(36).zip(expected.chunks(36)).enumerate() {
            let (found, expected) = (square(found.to_vec()), square(expected.to_vec()));
            let error = distance(&found, &expected) / expected.norm();
            assert!(error < 2e-12, "{file}, matrix {index}: {error:e}");
        }
    }
    let first = square(matrices[..36].to_vec());
    let direction = square(golden("spd", "frechet_direction"));
    for (base, function, file) in [
        (first, SpectralFunction::Log, "frechet_log"),
        (square(golden("spd", "frechet_exp_base")), SpectralFunction::Exp, "frechet_exp"),
    ] {
        let expected = square(golden("spd", file));
        let error = distance(&derivative(function, &base, &direction), &expected) / expected.norm();
        assert!(error < 1e-13, "{file}: {error:e}");
    }
}

/// Larger matrices use another eigensolver; the functions stay accurate.
#[test]
fn functions_of_large_matrices_go_through_the_other_eigensolver() {
    let mut rng = rng(1);
    let a = with_spectrum(&mut rng, &geometric_spectrum(140, 0.1, 10.0));
    let log = apply(SpectralFunction::Log, &a);
    assert!(distance(&apply(SpectralFunction::Exp, &log), &a) < 1e-11);
    let (e, g) = (symmetric(&mut rng, 140), symmetric(&mut rng, 140));
    let (left, right) =
        (derivative(SpectralFunction::Log, &a, &e), derivative(SpectralFunction::Log, &a, &g));
    assert!((inner(&left, &g) - inner(&e, &right)).abs() < 1e-11 * left.norm() * g.norm());
}

/// A derivative has the same bits alone and in a batch of any size. In f32 it is accurate to f32
/// precision.
#[test]
fn derivatives_do_not_depend_on_the_batch() {
    let n = 18;
    let mut rng = rng(8);
    let matrices: Vec<_> =
        (0..139).map(|_| with_spectrum(&mut rng, &geometric_spectrum(n, 0.1, 7.0))).collect();
    let directions: Vec<_> = (0..139).map(|_| symmetric(&mut rng, n)).collect();
    let flat =
        |list: &[Matrix<f64>]| -> Vec<f64> { list.iter().flat_map(|m| m.as_slice().to_vec()).collect() };
    let function = SpectralFunction::LogClamp { floor: 0.5 };
    for size in BATCHES {
        let mut out = vec![0.0; size * n * n];
        let mut map = SpectralMap::new(n).unwrap();
        map.derivative(function, &flat(&matrices[..size]), &flat(&directions[..size]), &mut out).unwrap();
        for (i, found) in out.chunks(n * n).enumerate() {
            assert_eq!(bits(found), bits(derivative(function, &matrices[i], &directions[i]).as_slice()));
        }
    }
    let (a, e) = (matrices[0].cast::<f32>(), directions[0].cast::<f32>());
    let mut out = Matrix::<f32>::zeros(n, n);
    let mut map = SpectralMap::new(n).unwrap();
    map.derivative(SpectralFunction::LogClamp { floor: 0.5 }, a.as_slice(), e.as_slice(), out.as_mut_slice())
        .unwrap();
    let expected = derivative(function, &matrices[0], &directions[0]);
    assert!(distance(&out.cast(), &expected) < 1e-4 * expected.norm());
}

/// The derivative of a power is accurate at any scale of the eigenvalues.
#[test]
fn the_derivative_of_a_power_is_accurate_at_every_scale() {
    for scale in [1e-200, 1e-30, 1e30, 1e200] {
        let found = divided_difference(SpectralFunction::Power(2.0), scale, 1.5 * scale);
        assert!((found / (2.5 * scale) - 1.0).abs() < 1e-11, "{scale:e}: {found:e}");
    }
    // all clamped at a floor whose inverse overflows
    assert_eq!(divided_difference(SpectralFunction::LogClamp { floor: 1e-310 }, 0.0, -1.0), 0.0);
}
