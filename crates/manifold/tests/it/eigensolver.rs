//! The eigensolver on difficult and on real matrices, on every instruction set of this machine.

use fedspd_manifold::{Matrix, Real, SymmetricEigen, simd::Simd};

use crate::support::{BATCHES, bits, geometric_spectrum, golden, mul, rng, symmetric, with_spectrum};

/// Returns matrices of size `n` that are difficult for eigensolvers. `scale` is a power of ten with
/// a representable square.
fn hostile(n: usize, scale: f64) -> Vec<(String, Matrix<f64>)> {
    let mut rng = rng(n as u64);
    let mut list: Vec<(String, Matrix<f64>)> = vec![
        ("zero".into(), Matrix::zeros(n, n)),
        ("identity".into(), Matrix::identity(n)),
        ("ones (rank one)".into(), Matrix::from_fn(n, n, |_, _| 1.0)),
        ("diagonal".into(), Matrix::from_fn(n, n, |i, j| if i == j { (n - i) as f64 } else { 0.0 })),
        ("last entry only".into(), Matrix::from_fn(n, n, |i, j| f64::from(u8::from(i + j + 2 == 2 * n)))),
        ("corners".into(), Matrix::from_fn(n, n, |i, j| f64::from(u8::from(i.abs_diff(j) + 1 == n)))),
        ("anti-diagonal".into(), Matrix::from_fn(n, n, |i, j| f64::from(u8::from(i + j + 1 == n)))),
        ("negative zeros".into(), Matrix::from_fn(n, n, |i, j| if i == j { -1.0 } else { -0.0 })),
        (
            "Wilkinson".into(),
            Matrix::from_fn(n, n, |i, j| match i.abs_diff(j) {
                0 => ((n - 1) as f64 / 2.0 - i as f64).abs(),
                1 => 1.0,
                _ => 0.0,
            }),
        ),
        (
            "glued Wilkinson".into(),
            Matrix::from_fn(n, n, |i, j| match i.abs_diff(j) {
                0 => ((i % 7) as f64 - 3.0).abs(),
                1 if i.max(j) % 7 == 0 => 1e-9,
                1 => 1.0,
                _ => 0.0,
            }),
        ),
        ("one large, rest tiny".into(), Matrix::from_fn(n, n, |i, j| if i + j == 0 { 1.0 } else { 1e-20 })),
        (
            "repeated".into(),
            with_spectrum(&mut rng, &(0..n).map(|i| (i % 2) as f64 + 1.0).collect::<Vec<_>>()),
        ),
        ("graded".into(), with_spectrum(&mut rng, &geometric_spectrum(n, 1e-12, 1e12))),
        (
            "graded by congruence".into(),
            Matrix::from_fn(n, n, |i, j| {
                let grade = |i: usize| 10f64.powf(12.0 * i as f64 / n as f64 - 6.0);
                grade(i) * grade(j) * if i == j { 2.0 } else { 1.0 }
            }),
        ),
        (
            "graded downwards".into(),
            Matrix::from_fn(n, n, |i, j| {
                let grade = |i: usize| 10f64.powf(6.0 - 12.0 * i as f64 / n as f64);
                grade(i) * grade(j) * if i == j { 2.0 } else { 1.0 }
            }),
        ),
        ("random".into(), symmetric(&mut rng, n)),
        ("huge".into(), symmetric(&mut rng, n).map(|x| x * scale)),
        ("tiny".into(), symmetric(&mut rng, n).map(|x| x / scale)),
    ];
    for exponent in [3, 5, 7, 9, 11, 13, 15] {
        let gap = 10f64.powi(-exponent);
        let spectrum: Vec<f64> = (0..n).map(|i| 1.0 + i as f64 * gap).collect();
        list.push((format!("clustered, gaps 1e-{exponent}"), with_spectrum(&mut rng, &spectrum)));
    }
    list
}

/// Decomposes a batch and checks it, on one instruction set. Returns the bits.
fn check<T: Real>(simd: Simd, n: usize, batch: &[(String, Matrix<f64>)]) -> (Vec<u64>, Vec<u64>) {
    let matrices: Vec<T> =
        batch.iter().flat_map(|(_, matrix)| matrix.cast::<T>().as_slice().to_vec()).collect();
    let mut values = vec![T::ZERO; batch.len() * n];
    let mut vectors = vec![T::ZERO; batch.len() * n * n];
    SymmetricEigen::with_simd(n, simd).unwrap().decompose(&matrices, &mut values, &mut vectors).unwrap();
    let mut alone = vec![T::ZERO; batch.len() * n];
    SymmetricEigen::with_simd(n, simd).unwrap().eigenvalues(&matrices, &mut alone).unwrap();
    assert_eq!(bits(&alone), bits(&values), "eigenvalues without vectors, n = {n}");
    let bound = 50.0 * n as f64 * T::EPSILON.to_f64();
    for (index, (name, _)) in batch.iter().enumerate() {
        let entry = |i: usize| matrices[index * n * n + i].to_f64();
        let a = Matrix::from_fn(n, n, |i, j| entry(i * n + j));
        let l: Vec<f64> = values[index * n..(index + 1) * n].iter().map(|x| x.to_f64()).collect();
        let u = Matrix::from_fn(n, n, |i, j| vectors[index * n * n + i * n + j].to_f64());
        assert!(l.is_sorted(), "{name}, n = {n}: eigenvalues are not ascending");
        let norm = a.norm().max(f64::MIN_POSITIVE);
        let rebuilt = mul(&Matrix::from_fn(n, n, |i, j| u[(i, j)] * (l[j] / norm)), &u.transpose());
        let residual = rebuilt.zip(&a, |r, a| r - a / norm).norm();
        let orthogonality = mul(&u.transpose(), &u).zip(&Matrix::identity(n), |g, i| g - i).norm();
        assert!(residual <= bound, "{name}, n = {n}, {}: residual {residual:e} > {bound:e}", simd.name());
        assert!(
            orthogonality <= bound,
            "{name}, n = {n}, {}: orthogonality {orthogonality:e} > {bound:e}",
            simd.name()
        );
    }
    (bits(&values), bits(&vectors))
}

fn check_all_paths<T: Real>(n: usize, batch: &[(String, Matrix<f64>)]) {
    let results: Vec<_> = Simd::available().map(|simd| (simd, check::<T>(simd, n, batch))).collect();
    for pair in results.windows(2) {
        assert!(pair[0].1 == pair[1].1, "{} and {} differ at n = {n}", pair[0].0.name(), pair[1].0.name());
    }
}

#[test]
fn hostile_matrices_are_decomposed_to_rounding_with_identical_bits_on_every_path_in_f64() {
    for n in (1..=24).chain([31, 32, 33, 60, 64]) {
        check_all_paths::<f64>(n, &hostile(n, 1e150));
    }
}

#[test]
fn hostile_matrices_are_decomposed_to_rounding_with_identical_bits_on_every_path_in_f32() {
    for n in (1..=24).chain([31, 32, 33, 60, 64]) {
        check_all_paths::<f32>(n, &hostile(n, 1e15));
    }
}

#[test]
fn large_matrices_are_decomposed_to_rounding_with_identical_bits_on_every_path() {
    for n in [100, 128, 129, 160] {
        check_all_paths::<f64>(n, &hostile(n, 1e150));
        check_all_paths::<f32>(n, &hostile(n, 1e15));
    }
}

#[test]
fn subnormal_matrices_are_scaled_before_they_are_decomposed() {
    let mut rng = rng(3);
    let matrix = symmetric(&mut rng, 6).map(|x| (x * 1e-310 / f64::MIN_POSITIVE).round() * f64::MIN_POSITIVE);
    check_all_paths::<f64>(6, &[("smallest normal".into(), matrix)]);
    let subnormal = Matrix::from_fn(2, 2, |i, j| if i == j { 3e-320 } else { 1e-320 });
    let (mut values, mut vectors) = ([0.0; 2], [0.0; 4]);
    SymmetricEigen::new(2).unwrap().decompose(subnormal.as_slice(), &mut values, &mut vectors).unwrap();
    assert!((values[0] - 2e-320).abs() < 1e-322 && (values[1] - 4e-320).abs() < 1e-322, "{values:?}");
    assert!((vectors[0].abs() - 0.5f64.sqrt()).abs() < 1e-12, "{vectors:?}");
}

#[test]
fn real_covariances_are_decomposed_to_rounding_and_agree_with_lapack() {
    let matrices = golden("covariances", "covariances");
    let expected = golden("covariances", "eigenvalues");
    let n = 64;
    let batch: Vec<_> = matrices
        .chunks_exact(n * n)
        .enumerate()
        .map(|(i, matrix)| (format!("covariance {i}"), Matrix::from_rows(n, n, matrix.to_vec()).unwrap()))
        .collect();
    check_all_paths::<f64>(n, &batch);
    check_all_paths::<f32>(n, &batch);
    let (mut values, mut vectors) = (vec![0.0; expected.len()], vec![0.0; matrices.len()]);
    SymmetricEigen::new(n).unwrap().decompose(&matrices, &mut values, &mut vectors).unwrap();
    for (values, expected) in values.chunks(n).zip(expected.chunks(n)) {
        for (value, expected) in values.iter().zip(expected) {
            assert!((value - expected).abs() <= 1e-14 * expected.abs().max(values[n - 1]));
        }
    }
}

#[test]
fn a_matrix_gives_the_same_bits_alone_and_in_any_batch_at_any_place() {
    for n in [3, 18, 22] {
        let mut rng = rng(17);
        let mut everything: Vec<Matrix<f64>> =
            hostile(n, 1e150).into_iter().map(|(_, matrix)| matrix).collect();
        everything.extend((0..139).map(|_| symmetric(&mut rng, n)));
        for simd in Simd::available() {
            let mut eigen = SymmetricEigen::<f64>::with_simd(n, simd).unwrap();
            let mut alone = |matrix: &Matrix<f64>| {
                let (mut values, mut vectors) = (vec![0.0; n], vec![0.0; n * n]);
                eigen.decompose(matrix.as_slice(), &mut values, &mut vectors).unwrap();
                (bits(&values), bits(&vectors))
            };
            let expected: Vec<_> = everything.iter().map(&mut alone).collect();
            for size in BATCHES {
                // The batch starts at different matrices, so every matrix gets several lanes and
                // neighbours.
                for start in [0, 5, everything.len() - size] {
                    let chosen = start..start + size;
                    let batch: Vec<f64> =
                        everything[chosen.clone()].iter().flat_map(|m| m.as_slice().to_vec()).collect();
                    let (mut values, mut vectors) = (vec![0.0; size * n], vec![0.0; size * n * n]);
                    eigen.decompose(&batch, &mut values, &mut vectors).unwrap();
                    for (place, index) in chosen.enumerate() {
                        assert_eq!(bits(&values[place * n..(place + 1) * n]), expected[index].0);
                        assert_eq!(bits(&vectors[place * n * n..(place + 1) * n * n]), expected[index].1);
                    }
                }
            }
        }
    }
}
