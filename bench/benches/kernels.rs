//! Every kernel of fedspd-manifold on every instruction set of this machine, beside faer and
//! nalgebra where they have the same.
//!
//! `cargo bench -p fedspd-bench` runs all; `cargo bench -p fedspd-bench -- eigh` those whose name
//! contains "eigh".
#![allow(clippy::unwrap_used, missing_docs)] // inputs are made here and sound; criterion writes the main function

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use faer::Side;
use fedspd_manifold::average::{StiefelSum, karcher_mean, proj_avg, qr_avg, r_barycenter, ret_avg, rl_avg};
use fedspd_manifold::simd::Simd;
use fedspd_manifold::{
    IterationLimits, Matrix, Polar, Qr, Real, Retraction, RetractionKind, Spd, SpdMetric, SpectralFunction,
    SpectralMap, Stiefel, StiefelMetric, SymmetricEigen, Vectorisation, fill_standard_normal,
};
use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};

const BATCH: usize = 64;
const SHAPE: (usize, usize) = (64, 18);
const KINDS: [(RetractionKind, &str); 2] = [(RetractionKind::Polar, "polar"), (RetractionKind::Qr, "QR")];

fn rng() -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(7)
}

fn gaussian(rng: &mut ChaCha8Rng, rows: usize, columns: usize) -> Matrix<f64> {
    let mut matrix = Matrix::zeros(rows, columns);
    fill_standard_normal(rng, matrix.as_mut_slice());
    matrix
}

fn faer_of(matrix: &Matrix<f64>) -> faer::Mat<f64> {
    faer::Mat::from_fn(matrix.rows(), matrix.columns(), |i, j| matrix[(i, j)])
}

fn nalgebra_of(matrix: &Matrix<f64>) -> nalgebra::DMatrix<f64> {
    nalgebra::DMatrix::from_row_slice(matrix.rows(), matrix.columns(), matrix.as_slice())
}

/// Covariances of Gaussian samples.
fn covariances(n: usize, count: usize) -> Vec<Matrix<f64>> {
    let mut rng = rng();
    let one = |_| {
        let x = nalgebra_of(&gaussian(&mut rng, n, 3 * n));
        let c = &x * x.transpose() / (3 * n) as f64;
        Matrix::from_fn(n, n, |i, j| c[(i.max(j), i.min(j))])
    };
    (0..count).map(one).collect()
}

fn flat<T: Real>(matrices: &[Matrix<f64>]) -> Vec<T> {
    matrices.iter().flat_map(|matrix| matrix.cast::<T>().as_slice().to_vec()).collect()
}

fn eigh_ours<T: Real>(c: &mut Criterion, n: usize, matrices: &[Matrix<f64>]) {
    let batch = flat::<T>(matrices);
    let (mut values, mut vectors) = (vec![T::ZERO; BATCH * n], vec![T::ZERO; BATCH * n * n]);
    for simd in Simd::available() {
        let mut solver = SymmetricEigen::with_simd(n, simd).unwrap();
        let name = format!("eigh {} n={n}/{}", std::any::type_name::<T>(), simd.name());
        c.bench_function(&name, |b| {
            b.iter(|| solver.decompose(black_box(&batch), &mut values, &mut vectors).unwrap());
        });
        let name = format!("eigenvalues {} n={n}/{}", std::any::type_name::<T>(), simd.name());
        c.bench_function(&name, |b| b.iter(|| solver.eigenvalues(black_box(&batch), &mut values).unwrap()));
    }
}

/// 64 matrices per iteration, for all.
fn eigh(c: &mut Criterion) {
    for n in [18, 22, 64] {
        let matrices = covariances(n, BATCH);
        eigh_ours::<f64>(c, n, &matrices);
        eigh_ours::<f32>(c, n, &matrices);
        let theirs: Vec<_> = matrices.iter().map(faer_of).collect();
        c.bench_function(&format!("eigh f64 n={n}/faer"), |b| {
            b.iter(|| {
                for m in &theirs {
                    drop(black_box(m.self_adjoint_eigen(Side::Lower).unwrap()));
                }
            });
        });
        let theirs: Vec<_> = matrices.iter().map(nalgebra_of).collect();
        c.bench_function(&format!("eigh f64 n={n}/nalgebra"), |b| {
            b.iter(|| {
                for m in &theirs {
                    drop(black_box(m.clone().symmetric_eigen()));
                }
            });
        });
    }
}

fn spectral(c: &mut Criterion) {
    let n = 18;
    let matrices = covariances(n, BATCH);
    let (batch, directions) = (flat::<f64>(&matrices), flat::<f64>(&covariances(n, BATCH)));
    let mut out = vec![0.0; batch.len()];
    let functions = [
        ("log", SpectralFunction::Log),
        ("exp", SpectralFunction::Exp),
        ("sqrt", SpectralFunction::Sqrt),
        ("inverse sqrt", SpectralFunction::InverseSqrt),
        ("power", SpectralFunction::Power(0.3)),
        ("clamp", SpectralFunction::Clamp { floor: 0.5 }),
        ("log of clamp", SpectralFunction::LogClamp { floor: 0.5 }),
    ];
    for (name, function) in functions {
        for simd in Simd::available() {
            let mut map = SpectralMap::with_simd(n, simd).unwrap();
            c.bench_function(&format!("{name} n={n}/{}", simd.name()), |b| {
                b.iter(|| map.apply(function, black_box(&batch), &mut out).unwrap());
            });
            c.bench_function(&format!("{name} derivative n={n}/{}", simd.name()), |b| {
                b.iter(|| map.derivative(function, black_box(&batch), &directions, &mut out).unwrap());
            });
        }
    }
    let theirs: Vec<_> = matrices.iter().map(faer_of).collect();
    c.bench_function(&format!("log of clamp n={n}/faer"), |b| {
        b.iter(|| {
            for matrix in &theirs {
                let eigen = matrix.self_adjoint_eigen(Side::Lower).unwrap();
                let u = eigen.U();
                let scaled = faer::Mat::from_fn(n, n, |i, j| u[(i, j)] * eigen.S()[j].max(0.5).ln());
                drop(black_box(scaled * u.transpose()));
            }
        });
    });
}

fn stiefel(c: &mut Criterion) {
    let (p, k) = SHAPE;
    let mut rng = rng();
    let w = Stiefel::new(p, k).unwrap().random(&mut rng).unwrap();
    let noise = gaussian(&mut rng, p, k);
    let a = w.zip(&noise, |w, x| w + 0.05 * x);
    let mut out = vec![0.0; p * k];
    for simd in Simd::available() {
        let name = |what: &str| format!("{what} {p}x{k}/{}", simd.name());
        let mut manifold = Stiefel::with_simd(p, k, simd).unwrap();
        c.bench_function(&name("tangent projection"), |b| {
            b.iter(|| manifold.project(w.as_slice(), black_box(noise.as_slice()), &mut out).unwrap());
        });
        c.bench_function(&name("lifting"), |b| {
            b.iter(|| manifold.lift(w.as_slice(), black_box(a.as_slice()), &mut out).unwrap());
        });
        let mut x = vec![0.0; p * k];
        manifold.project(w.as_slice(), noise.map(|x| 0.02 * x).as_slice(), &mut x).unwrap();
        for (kind, kind_name) in KINDS {
            let mut retraction = Retraction::with_simd(kind, p, k, simd).unwrap();
            let mut y = vec![0.0; p * k];
            c.bench_function(&name(&format!("{kind_name} retraction")), |b| {
                b.iter(|| retraction.retract(w.as_slice(), black_box(&x), &mut y).unwrap());
            });
            c.bench_function(&name(&format!("{kind_name} adjoint")), |b| {
                b.iter(|| retraction.adjoint(black_box(noise.as_slice()), &mut out).unwrap());
            });
            c.bench_function(&name(&format!("inverse {kind_name} retraction")), |b| {
                b.iter(|| retraction.inverse(w.as_slice(), black_box(&y), &mut out).unwrap());
            });
        }
        let mut polar = Polar::with_simd(p, k, simd).unwrap();
        c.bench_function(&name("polar factor"), |b| {
            b.iter(|| polar.factor(black_box(a.as_slice())).unwrap());
        });
        let mut qr = Qr::with_simd(p, k, simd).unwrap();
        c.bench_function(&name("QR factor"), |b| b.iter(|| qr.factor(black_box(a.as_slice())).unwrap()));
        let tangent = Matrix::from_rows(p, k, x).unwrap();
        for (metric, metric_name) in
            [(StiefelMetric::Embedded, "embedded"), (StiefelMetric::Canonical, "canonical")]
        {
            let end = manifold.exp(metric, &w, &tangent).unwrap();
            c.bench_function(&name(&format!("{metric_name} exp")), |b| {
                b.iter(|| manifold.exp(metric, &w, black_box(&tangent)).unwrap());
            });
            c.bench_function(&name(&format!("{metric_name} log")), |b| {
                b.iter(|| manifold.log(metric, &w, black_box(&end)).unwrap());
            });
        }
    }
    let (theirs_faer, theirs_nalgebra) = (faer_of(&a), nalgebra_of(&a));
    c.bench_function(&format!("polar factor {p}x{k}/faer"), |b| {
        b.iter(|| {
            let svd = black_box(&theirs_faer).thin_svd().unwrap();
            svd.U() * svd.V().transpose()
        });
    });
    c.bench_function(&format!("polar factor {p}x{k}/nalgebra"), |b| {
        b.iter(|| {
            let svd = black_box(&theirs_nalgebra).clone().svd(true, true);
            svd.u.unwrap() * svd.v_t.unwrap()
        });
    });
    c.bench_function(&format!("QR factor {p}x{k}/faer"), |b| {
        b.iter(|| black_box(&theirs_faer).qr().compute_thin_Q());
    });
    c.bench_function(&format!("QR factor {p}x{k}/nalgebra"), |b| {
        b.iter(|| black_box(&theirs_nalgebra).clone().qr().q());
    });
}

fn averages(c: &mut Criterion) {
    let (p, k) = SHAPE;
    let mut rng = rng();
    let w = Stiefel::new(p, k).unwrap().random(&mut rng).unwrap();
    let mut polar = Polar::new(p, k).unwrap();
    let points: Vec<Matrix<f64>> = (0..53)
        .map(|_| {
            let moved = w.zip(&gaussian(&mut rng, p, k), |w, x| w + 0.01 * x);
            polar.factor(moved.as_slice()).unwrap();
            Matrix::from_rows(p, k, polar.q().to_vec()).unwrap()
        })
        .collect();
    let sum = |simd| {
        let mut sum = StiefelSum::with_simd(p, k, simd).unwrap();
        for point in &points {
            sum.add(1.0, black_box(point.as_slice())).unwrap();
        }
        sum
    };
    for simd in Simd::available() {
        let name = |what: &str| format!("{what} 53x{p}x{k}/{}", simd.name());
        c.bench_function(&name("ProjAvg"), |b| b.iter(|| proj_avg(&sum(simd)).unwrap()));
        c.bench_function(&name("RLAvg"), |b| b.iter(|| rl_avg(&w, &sum(simd)).unwrap()));
        c.bench_function(&name("QR average"), |b| b.iter(|| qr_avg(&sum(simd)).unwrap()));
    }
    let limits = IterationLimits { tolerance: 1e-8, iterations: 100 };
    for (kind, name) in KINDS {
        c.bench_function(&format!("RetAvg {name} 53x{p}x{k}"), |b| {
            b.iter(|| ret_avg(kind, &w, black_box(&points), None).unwrap());
        });
        c.bench_function(&format!("R-barycenter {name} 53x{p}x{k}"), |b| {
            b.iter(|| r_barycenter(kind, black_box(&points), None, limits).unwrap());
        });
    }
    c.bench_function(&format!("Karcher mean 53x{p}x{k}"), |b| {
        b.iter(|| karcher_mean(StiefelMetric::Embedded, black_box(&points), None, limits).unwrap());
    });
    let theirs: Vec<_> = points.iter().map(faer_of).collect();
    c.bench_function(&format!("ProjAvg 53x{p}x{k}/faer"), |b| {
        b.iter(|| {
            let mean = black_box(&theirs).iter().fold(faer::Mat::zeros(p, k), |sum, x| sum + x);
            let svd = mean.thin_svd().unwrap();
            svd.U() * svd.V().transpose()
        });
    });
    let theirs: Vec<_> = points.iter().map(nalgebra_of).collect();
    c.bench_function(&format!("ProjAvg 53x{p}x{k}/nalgebra"), |b| {
        b.iter(|| {
            let mean = black_box(&theirs).iter().fold(nalgebra::DMatrix::zeros(p, k), |sum, x| sum + x);
            let svd = mean.svd(true, true);
            svd.u.unwrap() * svd.v_t.unwrap()
        });
    });
}

fn spd(c: &mut Criterion) {
    let n = 18;
    let batch = flat::<f64>(&covariances(n, BATCH));
    let (first, second) = (batch[..n * n].to_vec(), batch[n * n..2 * n * n].to_vec());
    let mut out = vec![0.0; n * n];
    let mut whitened = vec![0.0; batch.len()];
    let limits = IterationLimits { tolerance: 1e-8, iterations: 100 };
    for simd in Simd::available() {
        let mut manifold = Spd::with_simd(n, simd).unwrap();
        for (metric, metric_name) in
            [(SpdMetric::AffineInvariant, "affine-invariant"), (SpdMetric::LogEuclidean, "log-Euclidean")]
        {
            let name = |what: &str| format!("{metric_name} {what} n={n}/{}", simd.name());
            c.bench_function(&name("distance"), |b| {
                b.iter(|| manifold.distance(metric, black_box(&first), &second).unwrap());
            });
            c.bench_function(&name("geodesic"), |b| {
                b.iter(|| manifold.geodesic(metric, black_box(&first), &second, 0.3, &mut out).unwrap());
            });
            c.bench_function(&name("log map"), |b| {
                b.iter(|| manifold.log(metric, black_box(&first), &second, &mut out).unwrap());
            });
            c.bench_function(&name("exp map"), |b| {
                b.iter(|| manifold.exp(metric, black_box(&first), &second, &mut out).unwrap());
            });
            c.bench_function(&name("mean of 64"), |b| {
                b.iter(|| manifold.mean(metric, black_box(&batch), None, limits).unwrap());
            });
        }
        c.bench_function(&format!("whitening of 64 n={n}/{}", simd.name()), |b| {
            b.iter(|| manifold.whiten(&first, black_box(&batch), &mut whitened).unwrap());
        });
    }
    for (kind, name) in [
        (Vectorisation::Vec, "vec"),
        (Vectorisation::Vech, "vech"),
        (Vectorisation::IsometricVech, "isometric vech"),
    ] {
        let mut vector = vec![0.0; kind.length(n)];
        c.bench_function(&format!("{name} n={n}"), |b| {
            b.iter(|| kind.apply(n, black_box(&first), &mut vector).unwrap());
        });
    }
}

criterion_group! {
    name = kernels;
    config = Criterion::default().sample_size(20).measurement_time(std::time::Duration::from_millis(500)).warm_up_time(std::time::Duration::from_millis(200));
    targets = eigh, spectral, stiefel, averages, spd
}
criterion_main!(kernels);
