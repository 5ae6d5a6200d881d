//! Every instruction set gives the same bits for every computation of a training run.

use fedspd_manifold::average::{StiefelSum, proj_avg, qr_avg, rl_avg};
use fedspd_manifold::{
    IterationLimits, Polar, Qr, Real, Retraction, RetractionKind, Spd, SpdMetric, SpectralFunction,
    SpectralMap, Stiefel, fill_standard_normal,
    simd::{SIMD_VARIABLE, Simd},
};

use crate::support::{SHAPES, bits, geometric_spectrum, point, rng, symmetric, tangent, with_spectrum};

/// Runs a computation on every path and compares the bits.
fn same_bits<T: Real>(what: &str, compute: impl Fn(Simd) -> Vec<T>) {
    let results: Vec<_> = Simd::available().map(|simd| (simd.name(), bits(&compute(simd)))).collect();
    for pair in results.windows(2) {
        assert!(pair[0].1 == pair[1].1, "{what}: {} and {} differ", pair[0].0, pair[1].0);
    }
}

fn functions<T: Real>() -> [SpectralFunction<T>; 7] {
    let x = T::from_f64;
    [
        SpectralFunction::Log,
        SpectralFunction::Exp,
        SpectralFunction::Sqrt,
        SpectralFunction::InverseSqrt,
        SpectralFunction::Power(x(0.37)),
        SpectralFunction::Clamp { floor: x(0.2) },
        SpectralFunction::LogClamp { floor: x(0.2) },
    ]
}

fn spectral_bits<T: Real>(n: usize) {
    let mut rng = rng(5);
    let batch: Vec<_> = (0..9).map(|_| with_spectrum(&mut rng, &geometric_spectrum(n, 1e-3, 10.0))).collect();
    let matrices: Vec<T> = batch.iter().flat_map(|m| m.cast::<T>().as_slice().to_vec()).collect();
    let directions: Vec<T> =
        batch.iter().flat_map(|_| symmetric(&mut rng, n).cast::<T>().as_slice().to_vec()).collect();
    for function in functions::<T>() {
        same_bits(function.name(), |simd| {
            let (mut value, mut slope) = (vec![T::ZERO; matrices.len()], vec![T::ZERO; matrices.len()]);
            let mut map = SpectralMap::with_simd(n, simd).unwrap();
            map.apply(function, &matrices, &mut value).unwrap();
            map.derivative(function, &matrices, &directions, &mut slope).unwrap();
            value.into_iter().chain(slope).collect()
        });
    }
    same_bits("SPD mean", |simd| {
        let mut spd = Spd::with_simd(n, simd).unwrap();
        spd.mean(SpdMetric::AffineInvariant, &matrices, None, IterationLimits::default()).unwrap().point
    });
}

#[test]
fn spectral_functions_and_means_have_the_same_bits_on_every_path() {
    for n in [1, 5, 18, 22] {
        spectral_bits::<f64>(n);
        spectral_bits::<f32>(n);
    }
}

fn stiefel_bits<T: Real>(p: usize, k: usize) {
    let mut rng = rng(6);
    let w64 = point(&mut rng, p, k);
    let x64 = tangent(&mut rng, &w64, 0.7);
    let (w, x) = (w64.cast::<T>(), x64.cast::<T>());
    let mut g = vec![T::ZERO; p * k];
    fill_standard_normal(&mut rng, &mut g);
    same_bits("Stiefel", |simd| {
        let mut out = vec![T::ZERO; p * k];
        let mut all = Vec::new();
        let mut stiefel = Stiefel::with_simd(p, k, simd).unwrap();
        stiefel.project(w.as_slice(), &g, &mut out).unwrap();
        all.extend(&out);
        all.push(stiefel.feasibility_error(&g).unwrap());
        for kind in [RetractionKind::Polar, RetractionKind::Qr] {
            let mut retraction = Retraction::with_simd(kind, p, k, simd).unwrap();
            retraction.retract(w.as_slice(), x.as_slice(), &mut out).unwrap();
            all.extend(&out);
            let target = out.clone();
            retraction.retract_once(w.as_slice(), x.as_slice(), &mut out).unwrap();
            all.extend(&out);
            retraction.retract(w.as_slice(), x.as_slice(), &mut out).unwrap();
            retraction.adjoint(&g, &mut out).unwrap();
            all.extend(&out);
            retraction.differential(&g, &mut out).unwrap();
            all.extend(&out);
            retraction.inverse(w.as_slice(), &target, &mut out).unwrap();
            all.extend(&out);
        }
        // For an ill-conditioned matrix, the singular value decomposition is used.
        let bad: Vec<T> =
            g.iter().enumerate().map(|(i, &g)| if i % k == 0 { g * T::from_f64(1e-3) } else { g }).collect();
        let mut polar = Polar::with_simd(p, k, simd).unwrap();
        polar.factor(&bad).unwrap();
        all.extend(polar.q());
        let mut qr = Qr::with_simd(p, k, simd).unwrap();
        qr.factor(&bad).unwrap();
        all.extend(qr.q());
        all
    });
}

#[test]
fn stiefel_operations_have_the_same_bits_on_every_path() {
    for (p, k) in SHAPES {
        stiefel_bits::<f64>(p, k);
        stiefel_bits::<f32>(p, k);
    }
}

#[test]
fn averages_from_sums_have_the_same_bits_on_every_path() {
    let mut rng = rng(7);
    let w = point(&mut rng, 64, 18);
    let points: Vec<_> = (0..53).map(|_| tangent(&mut rng, &w, 0.3).zip(&w, |x, w| x + w)).collect();
    same_bits("averages", |simd| {
        let mut sum = StiefelSum::with_simd(64, 18, simd).unwrap();
        for (i, point) in points.iter().enumerate() {
            sum.add(1.0 + i as f64, point.as_slice()).unwrap();
        }
        [proj_avg(&sum), rl_avg(&w, &sum), qr_avg(&sum)]
            .into_iter()
            .flat_map(|average| average.unwrap().point.as_slice().to_vec())
            .collect::<Vec<f64>>()
    });
}

#[test]
fn the_environment_forces_a_path() {
    // The test command runs this suite once per path with the variable set. Without it, the fastest
    // path is used.
    let expected = match std::env::var(SIMD_VARIABLE) {
        Ok(name) if !name.is_empty() => name,
        _ => Simd::available().next().unwrap().name().to_owned(),
    };
    assert_eq!(Simd::detect().unwrap().name(), expected);
}
