//! Invalid input gives a typed error with its numbers, never a panic or an endless loop.

use fedspd_manifold::average::{StiefelSum, karcher_mean, proj_avg, qr_avg, r_barycenter, ret_avg, rl_avg};
use fedspd_manifold::{
    Error, IterationLimits, Matrix, Polar, Qr, Retraction, RetractionKind, Spd, SpdMetric, SpectralFunction,
    SpectralMap, Stiefel, StiefelMetric, SymmetricEigen, Vectorisation, simd::Simd,
};

use crate::support::{gaussian, point, rng};

fn identities(n: usize, count: usize) -> Vec<f64> {
    (0..count).flat_map(|_| Matrix::identity(n).as_slice().to_vec()).collect()
}

#[test]
fn zero_sizes_and_more_columns_than_rows_are_refused() {
    assert_eq!(SymmetricEigen::<f64>::new(0).err(), Some(Error::Zero { what: "the size of the matrices" }));
    assert_eq!(SpectralMap::<f32>::new(0).err(), Some(Error::Zero { what: "the size of the matrices" }));
    assert_eq!(Spd::<f64>::new(0).err(), Some(Error::Zero { what: "the size of the matrices" }));
    let wide = Some(Error::MoreColumnsThanRows { rows: 3, columns: 4 });
    assert_eq!(Stiefel::<f64>::new(3, 4).err(), wide);
    assert_eq!(Polar::<f64>::new(3, 4).err(), wide);
    assert_eq!(Qr::<f32>::new(3, 4).err(), wide);
    assert_eq!(Retraction::<f64>::new(RetractionKind::Qr, 3, 4).err(), wide);
    assert_eq!(StiefelSum::new(3, 4).err(), wide);
    assert_eq!(Stiefel::<f64>::new(0, 0).err(), Some(Error::Zero { what: "the number of rows" }));
    assert_eq!(Stiefel::<f64>::new(3, 0).err(), Some(Error::Zero { what: "the number of columns" }));
}

#[test]
fn an_entry_that_is_not_finite_is_named() {
    for (place, value) in [(0, f64::NAN), (5, f64::INFINITY), (8, f64::NEG_INFINITY)] {
        let mut batch = identities(3, 11);
        batch[9 * 9 + place] = value;
        let mut eigen = SymmetricEigen::new(3).unwrap();
        let error = eigen.decompose(&batch, &mut [0.0; 33], &mut [0.0; 99]).unwrap_err();
        let Error::NotFinite { matrix: 9, row, column, value: found } = error else { panic!("{error:?}") };
        assert_eq!((row, column), (place / 3, place % 3));
        assert_eq!(found.to_bits(), value.to_bits());
    }
    let (mut rng, mut w) = (rng(1), Matrix::<f64>::identity(3));
    let x = gaussian(&mut rng, 3, 3);
    w[(1, 2)] = f64::NAN;
    let fault = |error: Error| matches!(error, Error::NotFinite { row: 1, column: 2, .. });
    assert!(fault(Polar::new(3, 3).unwrap().factor(w.as_slice()).unwrap_err()));
    assert!(fault(Qr::new(3, 3).unwrap().factor(w.as_slice()).unwrap_err()));
    for kind in [RetractionKind::Polar, RetractionKind::Qr] {
        let mut retraction = Retraction::new(kind, 3, 3).unwrap();
        let mut out = [0.0; 9];
        assert!(fault(retraction.retract(w.as_slice(), x.as_slice(), &mut out).unwrap_err()));
        assert!(fault(retraction.retract(x.as_slice(), w.as_slice(), &mut out).unwrap_err()));
        assert!(fault(retraction.inverse(x.as_slice(), w.as_slice(), &mut out).unwrap_err()));
    }
    let mut stiefel = Stiefel::new(3, 3).unwrap();
    let mut out = [0.0; 9];
    assert!(fault(stiefel.project(x.as_slice(), w.as_slice(), &mut out).unwrap_err()));
    assert!(fault(stiefel.lift(w.as_slice(), x.as_slice(), &mut out).unwrap_err()));
    assert!(fault(stiefel.transport(w.as_slice(), x.as_slice(), &mut out).unwrap_err()));
    assert!(fault(stiefel.feasibility_error(w.as_slice()).unwrap_err()));
    let (mut polar, mut qr) = (Polar::new(3, 3).unwrap(), Qr::new(3, 3).unwrap());
    polar.factor(x.as_slice()).unwrap();
    qr.factor(x.as_slice()).unwrap();
    assert!(fault(polar.differential(w.as_slice(), &mut out).unwrap_err()));
    assert!(fault(qr.differential(w.as_slice(), &mut out).unwrap_err()));
    assert!(fault(qr.adjoint(w.as_slice(), &mut out).unwrap_err()));
    assert!(Matrix::from_fn(3, 3, |i, _| if i == 0 { f64::NAN } else { 0.0 }).norm().is_nan());
    assert!(fault(stiefel.exp(StiefelMetric::Embedded, &x, &w).unwrap_err()));
    assert!(fault(stiefel.log(StiefelMetric::Canonical, &w, &x).unwrap_err()));
    let mut sum = StiefelSum::new(3, 3).unwrap();
    sum.add(1.0, Matrix::<f64>::identity(3).as_slice()).unwrap();
    let error = sum.add(1.0, w.as_slice()).unwrap_err();
    assert!(matches!(error, Error::NotFinite { matrix: 1, row: 1, column: 2, .. }), "{error:?}");
    assert_eq!(sum.count(), 1, "a refused matrix leaves the sum as it was");
    assert_eq!(sum.mean().unwrap(), Matrix::identity(3));

    let mut spd = Spd::new(3).unwrap();
    let eye = identities(3, 1);
    let metric = SpdMetric::AffineInvariant;
    assert!(fault(spd.distance(metric, &eye, w.as_slice()).unwrap_err()));
    assert!(fault(spd.whiten(&eye, w.as_slice(), &mut [0.0; 9]).unwrap_err()));
    assert!(fault(spd.exp(metric, &eye, w.as_slice(), &mut [0.0; 9]).unwrap_err()));
    assert!(fault(spd.mean(metric, w.as_slice(), None, IterationLimits::default()).unwrap_err()));
    let mut map = SpectralMap::new(3).unwrap();
    assert!(fault(map.derivative(SpectralFunction::Log, &eye, w.as_slice(), &mut [0.0; 9]).unwrap_err()));
}

#[test]
fn a_matrix_that_is_not_symmetric_is_named_with_its_worst_pair() {
    let mut batch = identities(4, 20);
    batch[17 * 16 + 2 * 4 + 1] = 1e-3;
    let error =
        SymmetricEigen::new(4).unwrap().decompose(&batch, &mut [0.0; 80], &mut [0.0; 320]).unwrap_err();
    let Error::NotSymmetric { matrix, row, column, difference, tolerance } = error else {
        panic!("{error:?}")
    };
    assert_eq!((matrix, row, column, difference), (17, 2, 1, 1e-3));
    assert!(tolerance < 1e-11);
    batch[17 * 16 + 2 * 4 + 1] = 1e-15;
    SymmetricEigen::new(4).unwrap().decompose(&batch, &mut [0.0; 80], &mut [0.0; 320]).unwrap();
}

#[test]
fn functions_of_matrices_that_are_not_positive_definite_are_refused_with_the_eigenvalue() {
    let mut batch = identities(2, 30);
    batch[25 * 4..26 * 4].copy_from_slice(&[1.0, 2.0, 2.0, 1.0]);
    let mut map = SpectralMap::new(2).unwrap();
    let mut out = vec![0.0; batch.len()];
    for function in [
        SpectralFunction::Log,
        SpectralFunction::Sqrt,
        SpectralFunction::InverseSqrt,
        SpectralFunction::Power(0.5),
    ] {
        let error = map.apply(function, &batch, &mut out).unwrap_err();
        let Error::NotPositiveDefinite { matrix: 25, smallest_eigenvalue } = error else {
            panic!("{error:?}")
        };
        assert!((smallest_eigenvalue + 1.0).abs() < 1e-14);
    }
    map.apply(SpectralFunction::Clamp { floor: 0.1 }, &batch, &mut out).unwrap();
    map.apply(SpectralFunction::LogClamp { floor: 0.1 }, &batch, &mut out).unwrap();
    let error = map.apply(SpectralFunction::LogClamp { floor: 0.0 }, &batch, &mut out).unwrap_err();
    assert!(matches!(error, Error::OutOfRange { .. }), "{error:?}");
    let error = map.apply(SpectralFunction::Exp, &[710.0, 0.0, 0.0, 1.0], &mut out[..4]).unwrap_err();
    assert!(matches!(error, Error::Overflow { matrix: 0, .. }), "{error:?}");

    let indefinite = [1.0, 2.0, 2.0, 1.0];
    let error =
        Spd::new(2).unwrap().distance(SpdMetric::LogEuclidean, &identities(2, 1), &indefinite).unwrap_err();
    assert!(matches!(error, Error::NotPositiveDefinite { matrix: 1, .. }), "{error:?}");
}

#[test]
fn slices_that_do_not_fit_are_refused() {
    let mut eigen = SymmetricEigen::<f64>::new(3).unwrap();
    assert_eq!(
        eigen.decompose(&[0.0; 10], &mut [0.0; 3], &mut [0.0; 9]).unwrap_err(),
        Error::NotABatch { n: 3, found: 10 }
    );
    assert_eq!(
        eigen.decompose(&[0.0; 9], &mut [0.0; 4], &mut [0.0; 9]).unwrap_err(),
        Error::Length { what: "eigenvalues", expected: 3, found: 4 }
    );
    assert!(matches!(eigen.decompose(&[], &mut [], &mut []).unwrap_err(), Error::Zero { .. }));
    let mut stiefel = Stiefel::<f64>::new(4, 2).unwrap();
    assert!(matches!(stiefel.project(&[0.0; 8], &[0.0; 7], &mut [0.0; 8]), Err(Error::Length { .. })));
    assert!(matches!(stiefel.feasibility_error(&[0.0; 7]), Err(Error::Length { .. })));
    assert!(matches!(Vectorisation::Vech.apply(3, &[0.0; 9], &mut [0.0; 9]), Err(Error::Length { .. })));
    assert!(matches!(Vectorisation::Vec.adjoint(3, &[0.0; 8], &mut [0.0; 9]), Err(Error::Length { .. })));
}

#[test]
fn rank_deficient_matrices_have_no_unique_factor() {
    let mut a = Matrix::from_fn(5, 3, |i, j| ((i * 3 + j) as f64).sin());
    for i in 0..5 {
        a[(i, 2)] = a[(i, 0)] - 2.0 * a[(i, 1)];
    }
    for error in [
        Polar::new(5, 3).unwrap().factor(a.as_slice()).unwrap_err(),
        Qr::new(5, 3).unwrap().factor(a.as_slice()).unwrap_err(),
        Polar::new(5, 3).unwrap().factor(&[0.0; 15]).unwrap_err(),
        Qr::new(5, 3).unwrap().factor(&[0.0; 15]).unwrap_err(),
    ] {
        let Error::RankDeficient { smallest, largest, .. } = error else { panic!("{error:?}") };
        assert!(smallest <= 1e-14 * largest.max(1.0));
    }
}

/// Several columns are multiples of one, so only rounding errors remain of each.
#[test]
fn matrices_of_rank_one_have_no_unique_factor() {
    for (p, k) in [(3, 2), (3, 3), (7, 4), (20, 12), (64, 32)] {
        for column in 0..3 {
            let entry = |i: usize, j: usize| match column {
                0 => 1.0,
                1 => (1.0 + i as f64).sin(),
                _ => (1.0 + i as f64).sin() * (1.0 + j as f64),
            };
            let wide = Matrix::from_fn(p, k, entry);
            let error = Polar::new(p, k).unwrap().factor(wide.as_slice()).unwrap_err();
            assert!(matches!(error, Error::RankDeficient { .. }), "{p} x {k}: {error:?}");
            let narrow = Matrix::from_fn(p, k, |i, j| entry(i, j) as f32);
            let error = Polar::new(p, k).unwrap().factor(narrow.as_slice()).unwrap_err();
            assert!(matches!(error, Error::RankDeficient { .. }), "{p} x {k}: {error:?}");
        }
    }
}

#[test]
fn averages_refuse_bad_weights_and_points() {
    let mut rng = rng(9);
    let points: Vec<_> = (0..3).map(|_| point(&mut rng, 6, 2)).collect();
    let limits = IterationLimits::default();
    let polar = RetractionKind::Polar;
    assert!(matches!(proj_avg(&StiefelSum::new(6, 2).unwrap()), Err(Error::Zero { .. })));
    assert!(matches!(qr_avg(&StiefelSum::new(6, 2).unwrap()), Err(Error::Zero { .. })));
    assert!(matches!(rl_avg(&points[0], &StiefelSum::new(6, 2).unwrap()), Err(Error::Zero { .. })));
    let nothing: &[Matrix<f64>] = &[];
    assert!(matches!(karcher_mean(StiefelMetric::Embedded, nothing, None, limits), Err(Error::Zero { .. })));
    for (bad, index) in [([1.0, -1.0, 1.0], 1), ([1.0, 1.0, f64::NAN], 2), ([f64::INFINITY, 1.0, 1.0], 0)] {
        let error = ret_avg(polar, &points[0], &points, Some(&bad)).unwrap_err();
        assert!(matches!(error, Error::Weight { index: found, .. } if found == index), "{error:?}");
    }
    assert_eq!(
        r_barycenter(polar, &points, Some(&[0.0; 3]), limits).unwrap_err(),
        Error::NoWeight { count: 3 }
    );
    assert!(matches!(ret_avg(polar, &points[0], &points, Some(&[1.0])), Err(Error::Length { .. })));
    let mixed = [points[0].clone(), point(&mut rng, 5, 2)];
    let shape = Error::Shape { what: "a point", expected: (6, 2), found: (5, 2) };
    assert_eq!(ret_avg(polar, &points[0], &mixed, None).unwrap_err(), shape);
    assert_eq!(shape.to_string(), "a point is 5 x 2 where 6 x 2 was expected");
    for wrong in [&mixed[1], &points[0].transpose()] {
        assert!(matches!(ret_avg(polar, wrong, &points, None), Err(Error::Shape { .. })));
        let mut stiefel = Stiefel::new(6, 2).unwrap();
        assert!(matches!(stiefel.exp(StiefelMetric::Embedded, &points[0], wrong), Err(Error::Shape { .. })));
        assert!(matches!(stiefel.log(StiefelMetric::Embedded, wrong, &points[0]), Err(Error::Shape { .. })));
    }
    let mut sum = StiefelSum::new(6, 2).unwrap();
    sum.add(1.0, points[0].as_slice()).unwrap();
    assert!(matches!(rl_avg(&mixed[1], &sum), Err(Error::Shape { .. })));
    let huge = [f64::MAX; 3];
    assert!(matches!(ret_avg(polar, &points[0], &points, Some(&huge)), Err(Error::OutOfRange { .. })));
    let spd = Spd::new(2).unwrap().mean(SpdMetric::LogEuclidean, &identities(2, 3), Some(&huge), limits);
    assert!(matches!(spd, Err(Error::OutOfRange { .. })), "{spd:?}");
    let spd_weights =
        Spd::new(2).unwrap().mean(SpdMetric::LogEuclidean, &identities(2, 2), Some(&[1.0, -2.0]), limits);
    assert!(matches!(spd_weights, Err(Error::Weight { index: 1, .. })));
}

#[test]
fn points_too_far_apart_have_no_inverse_retraction_and_no_logarithm() {
    let mut rng = rng(4);
    let w = point(&mut rng, 6, 3);
    let antipode = w.map(|x| -x);
    let mut out = [0.0; 18];
    for kind in [RetractionKind::Polar, RetractionKind::Qr] {
        let error = Retraction::new(kind, 6, 3)
            .unwrap()
            .inverse(w.as_slice(), antipode.as_slice(), &mut out)
            .unwrap_err();
        assert!(
            matches!(error, Error::TooFarApart { distance, .. } if (distance - 12f64.sqrt()).abs() < 1e-12)
        );
    }
    for metric in [StiefelMetric::Embedded, StiefelMetric::Canonical] {
        let error = Stiefel::new(6, 3).unwrap().log(metric, &w, &antipode).unwrap_err();
        assert!(matches!(error, Error::TooFarApart { .. }), "{error:?}");
    }
}

#[test]
fn unknown_instruction_sets_are_refused_by_name() {
    assert_eq!(Simd::named("mmx").unwrap_err(), Error::SimdUnavailable { name: "mmx".into() });
}

#[test]
fn messages_say_what_where_and_how_much() {
    let error = Error::NotPositiveDefinite { matrix: 37, smallest_eigenvalue: -2.1e-17 };
    assert_eq!(error.to_string(), "matrix 37 is not positive definite: its smallest eigenvalue is -2.1e-17");
    let error = Error::RankDeficient { operation: "ProjAvg", smallest: 0.0, largest: 0.5 };
    assert_eq!(
        error.to_string(),
        "ProjAvg needs full column rank: the smallest singular value is 0e0, the largest 5e-1"
    );
}

#[test]
fn every_spd_operation_refuses_matrices_that_are_not_symmetric() {
    let (eye, asymmetric) = (identities(2, 1), [2.0, 1.0, -1.0, 2.0]);
    let mut spd = Spd::new(2).unwrap();
    let mut out = [0.0; 4];
    for metric in [SpdMetric::AffineInvariant, SpdMetric::LogEuclidean] {
        let results = [
            spd.distance(metric, &eye, &asymmetric).map(drop),
            spd.distance(metric, &asymmetric, &eye).map(drop),
            spd.geodesic(metric, &eye, &asymmetric, 0.3, &mut out),
            spd.log(metric, &eye, &asymmetric, &mut out),
            spd.exp(metric, &eye, &asymmetric, &mut out),
            spd.whiten(&eye, &asymmetric, &mut out),
            spd.mean(metric, &asymmetric, None, IterationLimits::default()).map(drop),
        ];
        for (operation, result) in results.into_iter().enumerate() {
            assert!(matches!(result, Err(Error::NotSymmetric { .. })), "{operation}: {result:?}");
        }
        // also with a weight of zero, which would hide it
        let batch: Vec<f64> = eye.iter().chain(&asymmetric).copied().collect();
        let mean = spd.mean(metric, &batch, Some(&[1.0, 0.0]), IterationLimits::default());
        assert!(matches!(mean, Err(Error::NotSymmetric { matrix: 1, .. })), "{mean:?}");
    }
}

#[test]
fn spd_faults_carry_the_numbers_of_the_matrix_itself() {
    let mut spd = Spd::new(2).unwrap();
    let metric = SpdMetric::AffineInvariant;
    let error = spd.distance(metric, &[100.0, 0.0, 0.0, 100.0], &[-1.0, 0.0, 0.0, 1.0]).unwrap_err();
    assert_eq!(error, Error::NotPositiveDefinite { matrix: 1, smallest_eigenvalue: -1.0 });
    let nan = [1.0, 0.0, 0.0, f64::NAN];
    let mut out = [0.0; 4];
    for error in [
        spd.geodesic(metric, &identities(2, 1), &nan, 0.5, &mut out).unwrap_err(),
        spd.log(metric, &identities(2, 1), &nan, &mut out).unwrap_err(),
    ] {
        assert!(matches!(error, Error::NotFinite { matrix: 1, row: 1, column: 1, .. }), "{error:?}");
    }
    let eye = identities(2, 1);
    let error = spd.geodesic(metric, &eye, &eye, f64::NAN, &mut out).unwrap_err();
    assert!(matches!(error, Error::OutOfRange { what: "the time", .. }), "{error:?}");
}

#[test]
fn results_too_large_for_the_type_are_refused() {
    let diagonal = |a: f64, b: f64| [a, 0.0, 0.0, b];
    let mut out = [0.0; 4];
    let mut spd = Spd::new(2).unwrap();
    let whitened = spd.whiten(&diagonal(1e-300, 1e-300), &diagonal(1e300, 1e300), &mut out);
    assert_eq!(whitened.unwrap_err(), Error::TooLarge { operation: "the whitening", matrix: 0 });
    let moved = spd.exp(SpdMetric::AffineInvariant, &diagonal(1e200, 1.0), &diagonal(3e202, 0.0), &mut out);
    assert!(matches!(moved, Err(Error::TooLarge { .. } | Error::Overflow { .. })), "{moved:?}");
    let error =
        SymmetricEigen::new(2).unwrap().decompose(&[1.7e308; 4], &mut [0.0; 2], &mut out).unwrap_err();
    assert_eq!(error, Error::TooLarge { operation: "an eigenvalue", matrix: 0 });
    let error = Stiefel::new(2, 2).unwrap().project(&[1e200; 4], &[1e200; 4], &mut out).unwrap_err();
    assert!(matches!(error, Error::TooLarge { .. }), "{error:?}");
    let (w, x) = (Matrix::identity(2), Matrix::from_rows(2, 2, vec![0.0, 1e30, -1e30, 0.0]).unwrap());
    let error = Stiefel::new(2, 2).unwrap().exp(StiefelMetric::Embedded, &w, &x).unwrap_err();
    assert!(matches!(error, Error::OutOfRange { .. }), "{error:?}");
    assert!(matches!(SymmetricEigen::<f64>::new(1 << 33).err(), Some(Error::OutOfRange { .. })));
    assert!(matches!(Stiefel::<f64>::new(1 << 40, 1 << 30).err(), Some(Error::OutOfRange { .. })));
    assert!(matches!(Vectorisation::Vec.apply::<f64>(0, &[], &mut []), Err(Error::Zero { .. })));
}

#[test]
fn there_is_no_derivative_without_a_decomposition() {
    let (mut polar, mut qr) = (Polar::new(3, 2).unwrap(), Qr::new(3, 2).unwrap());
    let (direction, mut out) = ([1.0; 6], [0.0; 6]);
    let w = [1.0, 0.0, 0.0, 1.0, 0.0, 0.0];
    assert_eq!(polar.differential(&direction, &mut out), Err(Error::NotFactored));
    assert_eq!(qr.adjoint(&direction, &mut out), Err(Error::NotFactored));
    polar.factor(&w).unwrap();
    polar.differential(&direction, &mut out).unwrap();
    polar.project(&w, &mut out).unwrap();
    assert_eq!(polar.differential(&direction, &mut out), Err(Error::NotFactored));
    qr.factor(&w).unwrap();
    assert!(qr.factor(&[0.0; 6]).is_err());
    assert_eq!(qr.differential(&direction, &mut out), Err(Error::NotFactored));
}

/// A derivative that overflows is an error, not a NaN.
#[test]
fn derivatives_that_overflow_are_refused() {
    let (mut polar, mut qr) = (Polar::<f64>::new(3, 2).unwrap(), Qr::<f64>::new(3, 2).unwrap());
    let a = [1.0, 0.2, 0.3, 1.0, 0.1, 0.4].map(|x| x * 1e-308);
    let mut out = [0.0; 6];
    polar.factor(&a).unwrap();
    qr.factor(&a).unwrap();
    let z = [1e10, 2e10, -1e10, 3e10, 1e10, 0.5];
    assert!(matches!(polar.differential(&z, &mut out), Err(Error::TooLarge { .. })));
    assert!(matches!(qr.differential(&z, &mut out), Err(Error::TooLarge { .. })));
    assert!(matches!(qr.adjoint(&z, &mut out), Err(Error::TooLarge { .. })));
}

#[test]
fn sizes_beyond_memory_are_refused() {
    assert!(Vectorisation::Vec.apply::<f64>(1 << 32, &[], &mut []).is_err());
    assert!(Vectorisation::Vech.adjoint::<f64>(usize::MAX, &[], &mut []).is_err());
    assert!(Matrix::<f64>::from_rows(1 << 32, 1 << 32, vec![]).is_err());
}
