//! Pinned bits of the kernels. A change that only reorders work must leave the table unchanged.
//!
//! The workspace tests run this file on every instruction set of the machine. A commit that changes
//! an algorithm updates the affected lines and says so.
#![allow(clippy::print_stderr)] // a failure prints the actual hashes

use fedspd_manifold::{
    IterationLimits, Polar, Real, Retraction, RetractionKind, Spd, SpdMetric, SpectralFunction, SpectralMap,
    SymmetricEigen,
};

use crate::support::{bits, geometric_spectrum, point, rng, symmetric, tangent, with_spectrum};

/// Returns the FNV-1a hash of the bits of some numbers.
fn hash(numbers: &[impl Real]) -> u64 {
    let start = 0xcbf2_9ce4_8422_2325_u64;
    bits(numbers).iter().fold(start, |hash, bits| (hash ^ bits).wrapping_mul(0x0100_0000_01b3))
}

fn batch<T: Real>(n: usize, count: usize) -> Vec<T> {
    let mut rng = rng(n as u64);
    let spectrum = geometric_spectrum(n, 1e-3, 10.0);
    (0..count).flat_map(|_| with_spectrum(&mut rng, &spectrum).cast::<T>().as_slice().to_vec()).collect()
}

/// Computes eigenvalues and eigenvectors of 21 matrices, and of one.
fn decomposed<T: Real>(n: usize) -> u64 {
    let matrices = batch::<T>(n, 21);
    let (mut values, mut vectors) = (vec![T::ZERO; 22 * n], vec![T::ZERO; 22 * n * n]);
    let mut solver = SymmetricEigen::new(n).unwrap();
    solver.decompose(&matrices, &mut values[..21 * n], &mut vectors[..21 * n * n]).unwrap();
    solver.decompose(&matrices[..n * n], &mut values[21 * n..], &mut vectors[21 * n * n..]).unwrap();
    values.extend(vectors);
    hash(&values)
}

/// Computes a spectral function of 11 matrices and its derivative.
fn differentiated<T: Real>(n: usize, function: SpectralFunction<T>) -> u64 {
    let matrices = batch::<T>(n, 11);
    let mut rng = rng(1);
    let directions: Vec<T> =
        (0..11).flat_map(|_| symmetric(&mut rng, n).cast::<T>().as_slice().to_vec()).collect();
    let mut out = vec![T::ZERO; 2 * matrices.len()];
    let (value, slope) = out.split_at_mut(matrices.len());
    let mut map = SpectralMap::new(n).unwrap();
    map.apply(function, &matrices, value).unwrap();
    map.derivative(function, &matrices, &directions, slope).unwrap();
    hash(&out)
}

/// Computes polar factors of matrices near the manifold and far from it, and a retraction with its
/// adjoint.
fn retracted<T: Real>(p: usize, k: usize, norm: f64) -> u64 {
    let mut rng = rng(2);
    let w = point(&mut rng, p, k);
    let x = tangent(&mut rng, &w, norm).cast::<T>();
    let w = w.cast::<T>();
    let mut out = vec![T::ZERO; 4 * p * k];
    let mut parts = out.chunks_exact_mut(p * k);
    let mut next = || parts.next().unwrap();
    let mut retraction = Retraction::new(RetractionKind::Polar, p, k).unwrap();
    retraction.retract(w.as_slice(), x.as_slice(), next()).unwrap();
    retraction.adjoint(x.as_slice(), next()).unwrap();
    retraction.retract_once(w.as_slice(), x.as_slice(), next()).unwrap();
    let stretched: Vec<T> = x.as_slice().iter().map(|&x| x * T::from_f64(30.0)).collect();
    Polar::new(p, k).unwrap().project(&stretched, next()).unwrap();
    hash(&out)
}

fn mean<T: Real>(n: usize, count: usize) -> u64 {
    let limits = IterationLimits::default();
    hash(
        &Spd::new(n)
            .unwrap()
            .mean(SpdMetric::AffineInvariant, &batch::<T>(n, count), None, limits)
            .unwrap()
            .point,
    )
}

#[test]
fn kernels_have_the_bits_they_had() {
    let log = SpectralFunction::LogClamp { floor: 0.2 };
    let table = [
        ("eigh 2", decomposed::<f64>(2), 0x4eb1_6ac1_e8db_c025),
        ("eigh 18", decomposed::<f64>(18), 0xc2c1_0ea5_e697_60b3),
        ("eigh 18 in f32", decomposed::<f32>(18), 0xb504_abde_5fef_8775),
        ("eigh 22", decomposed::<f64>(22), 0x9e98_288e_6fa6_1a65),
        ("eigh 33", decomposed::<f64>(33), 0xf274_24c5_731f_e8f3),
        ("eigh 64", decomposed::<f64>(64), 0x3b94_4c61_478d_6361),
        ("eigh 64 in f32", decomposed::<f32>(64), 0xdc30_ee75_8500_5125),
        ("log of clamp 18", differentiated(18, log), 0x51c2_d9b1_c78e_21c7),
        ("log of clamp 37", differentiated(37, log), 0x21c9_fd95_97b7_18bc),
        (
            "log of clamp 18 in f32",
            differentiated(18, SpectralFunction::LogClamp { floor: 0.2_f32 }),
            0xc95c_de94_ceec_8e05,
        ),
        ("exponential 9", differentiated(9, SpectralFunction::<f64>::Exp), 0x445e_e78c_b008_6e17),
        ("power 9", differentiated(9, SpectralFunction::Power(0.37_f64)), 0x7369_76e3_92a2_7dbe),
        ("polar 64 x 18", retracted::<f64>(64, 18, 0.7), 0x1b13_0774_7fec_03fb),
        ("polar 20 x 7 in f32", retracted::<f32>(20, 7, 0.7), 0x5287_43fe_52d9_fee5),
        ("polar 64 x 18, far", retracted::<f64>(64, 18, 5.0), 0xc02e_e037_1441_032e),
        ("affine-invariant mean 18", mean::<f64>(18, 13), 0x88fb_896a_4bc2_8558),
        ("affine-invariant mean 18 in f32", mean::<f32>(18, 13), 0x3c53_87fa_e626_9cf5),
        ("affine-invariant mean 40", mean::<f64>(40, 21), 0x1f80_675b_f4a5_8394),
    ];
    let changed: Vec<_> = table.iter().filter(|(_, found, expected)| found != expected).collect();
    for (name, found, _) in &changed {
        eprintln!("{name}: 0x{found:016x}");
    }
    assert!(changed.is_empty(), "the bits of the kernels above changed");
}
