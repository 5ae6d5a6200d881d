//! Times our kernels and prints one JSON object per line:
//! `{"case": ..., "simd": ..., "nanoseconds": ...}`.
//!
//! `compare.py` compares these times with NumPy's. Each is a median over repetitions on one thread.
#![allow(clippy::print_stdout)] // its output is its purpose

use std::hint::black_box;
use std::time::Duration;

use fedspd_bench::median_nanoseconds;
use fedspd_manifold::average::{StiefelSum, proj_avg, rl_avg};
use fedspd_manifold::simd::Simd;
use fedspd_manifold::{
    Error, IterationLimits, Matrix, Polar, Qr, Real, Spd, SpdMetric, SpectralFunction, SpectralMap, Stiefel,
    SymmetricEigen, fill_standard_normal,
};
use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};

const BATCH: usize = 64;
const CLIENTS: usize = 53;
const SHAPE: (usize, usize) = (64, 18);
const BUDGET: Duration = Duration::from_millis(60);

fn main() -> Result<(), Error> {
    for simd in Simd::available() {
        for n in [18, 22, 64] {
            eigen::<f64>(simd, n)?;
            eigen::<f32>(simd, n)?;
        }
        spectral(simd)?;
        stiefel(simd)?;
        spd(simd)?;
    }
    Ok(())
}

/// Repeats a computation for a while and prints the median time of one, if the first argument of
/// the program is part of the case and the second one of the instruction set.
fn time(case: &str, simd: Simd, compute: impl FnMut() -> Result<(), Error>) -> Result<(), Error> {
    let argument = |n| std::env::args().nth(n).unwrap_or_default();
    if !case.contains(&argument(1)) || !simd.name().contains(&argument(2)) {
        return Ok(());
    }
    let nanoseconds = median_nanoseconds(BUDGET, compute)?;
    println!(r#"{{"case": "{case}", "simd": "{}", "nanoseconds": {nanoseconds}}}"#, simd.name());
    Ok(())
}

/// Covariances of Gaussian samples: `count` matrices `n x n`, one after the other.
fn covariances<T: Real>(n: usize, count: usize) -> Vec<T> {
    let mut rng = ChaCha8Rng::seed_from_u64(n as u64);
    let samples = 3 * n;
    let mut x = vec![0.0_f64; n * samples];
    let mut out = Vec::with_capacity(count * n * n);
    for _ in 0..count {
        fill_standard_normal(&mut rng, &mut x);
        for i in 0..n {
            for j in 0..n {
                let row = |i: usize| &x[i * samples..(i + 1) * samples];
                let sum: f64 = row(i).iter().zip(row(j)).map(|(a, b)| a * b).sum();
                out.push(T::from_f64(sum / samples as f64));
            }
        }
    }
    out
}

fn eigen<T: Real>(simd: Simd, n: usize) -> Result<(), Error> {
    let matrices = covariances::<T>(n, BATCH);
    let (mut values, mut vectors) = (vec![T::ZERO; BATCH * n], vec![T::ZERO; BATCH * n * n]);
    let mut solver = SymmetricEigen::with_simd(n, simd)?;
    let case = format!("eigh {} {BATCH} x {n} x {n}", std::any::type_name::<T>());
    time(&case, simd, || solver.decompose(black_box(&matrices), &mut values, &mut vectors))
}

fn spectral(simd: Simd) -> Result<(), Error> {
    let n = 18;
    let (matrices, directions) = (covariances::<f64>(n, BATCH), covariances::<f64>(n, BATCH));
    let mut out = vec![0.0; matrices.len()];
    let mut map = SpectralMap::with_simd(n, simd)?;
    let function = SpectralFunction::LogClamp { floor: 0.5 };
    time("log of clamp 64 x 18 x 18", simd, || map.apply(function, black_box(&matrices), &mut out))?;
    time("log of clamp derivative 64 x 18 x 18", simd, || {
        map.derivative(function, black_box(&matrices), &directions, &mut out)
    })
}

fn stiefel(simd: Simd) -> Result<(), Error> {
    let (p, k) = SHAPE;
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut manifold = Stiefel::<f64>::with_simd(p, k, simd)?;
    let w = manifold.random(&mut rng)?;
    let mut noise = vec![0.0; p * k];
    let mut polar = Polar::with_simd(p, k, simd)?;
    let mut points = Vec::new();
    for _ in 0..CLIENTS {
        fill_standard_normal(&mut rng, &mut noise);
        let moved = Matrix::from_rows(p, k, noise.clone())?.zip(&w, |x, w| w + 0.01 * x);
        polar.factor(moved.as_slice())?;
        points.push(polar.q().to_vec());
    }
    let sum = || -> Result<StiefelSum, Error> {
        let mut sum = StiefelSum::with_simd(p, k, simd)?;
        for point in black_box(&points) {
            sum.add(1.0, point)?;
        }
        Ok(sum)
    };
    time("sum 53 x 64 x 18", simd, || sum().map(|sum| drop(black_box(sum))))?;
    time("ProjAvg 53 x 64 x 18", simd, || proj_avg(&sum()?).map(|average| drop(black_box(average))))?;
    time("RLAvg 53 x 64 x 18", simd, || rl_avg(&w, &sum()?).map(|average| drop(black_box(average))))?;
    time("polar factor 64 x 18", simd, || polar.factor(black_box(&points[0])))?;
    let mut qr = Qr::with_simd(p, k, simd)?;
    time("QR factor 64 x 18", simd, || qr.factor(black_box(&points[0])))?;
    let mut out = vec![0.0; p * k];
    time("tangent projection 64 x 18", simd, || {
        manifold.project(w.as_slice(), black_box(&points[0]), &mut out)
    })
}

fn spd(simd: Simd) -> Result<(), Error> {
    let matrices = covariances::<f64>(64, 45);
    let mut manifold = Spd::with_simd(64, simd)?;
    let limits = IterationLimits { tolerance: 1e-8, iterations: 50 };
    time("affine-invariant mean 45 x 64 x 64", simd, || {
        manifold
            .mean(SpdMetric::AffineInvariant, black_box(&matrices), None, limits)
            .map(|mean| drop(black_box(mean)))
    })
}
