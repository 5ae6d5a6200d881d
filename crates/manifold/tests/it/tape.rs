//! The tape: values and gradients of the batched map from one decomposition.

use fedspd_manifold::simd::Simd;
use fedspd_manifold::{Error, Matrix, SpectralFunction, SpectralMap, SpectralTape, Triangle};

use crate::support::{bits, geometric_spectrum, rng, symmetric, with_spectrum};

fn flat(list: &[Matrix<f64>]) -> Vec<f64> {
    list.iter().flat_map(|m| m.as_slice().to_vec()).collect()
}

/// Every matrix alone, in some of the lanes and in all of them, gives the bits of [`SpectralMap`].
#[test]
fn the_tape_gives_the_bits_of_the_map() {
    for (n, simd) in [1, 5, 18].into_iter().flat_map(|n| Simd::available().map(move |simd| (n, simd))) {
        let mut rng = rng(n as u64);
        let matrices: Vec<_> =
            (0..32).map(|_| with_spectrum(&mut rng, &geometric_spectrum(n, 0.1, 7.0))).collect();
        let directions: Vec<_> = (0..32).map(|_| symmetric(&mut rng, n)).collect();
        let mut map = SpectralMap::with_simd(n, simd).unwrap();
        let mut tape = SpectralTape::with_simd(n, simd).unwrap();
        let function = SpectralFunction::LogClamp { floor: 0.5 };
        let (mut values, mut slopes) = (vec![0.0; 32 * n * n], vec![0.0; 32 * n * n]);
        map.apply(function, &flat(&matrices), &mut values).unwrap();
        map.derivative(function, &flat(&matrices), &flat(&directions), &mut slopes).unwrap();
        let lanes = tape.lanes();
        let half = |m: &Matrix<f64>, lower: bool| {
            // Entries on the other side of the diagonal are not read.
            Matrix::from_fn(n, n, |r, c| if r == c || (c < r) == lower { m[(r, c)] } else { f64::NAN })
        };
        let ways = [1, 2, lanes / 2, lanes - 1, lanes].into_iter().flat_map(|count| {
            [None, Some(Triangle::Lower), Some(Triangle::Upper)].map(|together| (count, together))
        });
        for (count, together) in ways {
            tape.begin(count).unwrap();
            if let Some(triangle) = together {
                let halves = matrices[..count].iter().map(|m| half(m, triangle == Triangle::Lower));
                tape.put_triangles(triangle, &flat(&halves.collect::<Vec<_>>())).unwrap();
            } else {
                for (i, m) in matrices[..count].iter().enumerate() {
                    tape.put(i, half(m, true).as_slice()).unwrap();
                }
            }
            tape.apply(function).unwrap();
            let lower_of =
                |m: &[f64]| -> Vec<f64> { (0..n).flat_map(|i| m[i * n..=i * n + i].to_vec()).collect() };
            // Padding between the triangles stays unchanged.
            let stride = n * (n + 1) / 2 + 3;
            let (mut matrix, mut triangles) = (vec![0.0; n * n], vec![9.0; count * stride]);
            tape.triangles(&mut triangles, stride).unwrap();
            for (i, triangle) in triangles.chunks_exact(stride).enumerate() {
                tape.matrix(i, &mut matrix).unwrap();
                assert_eq!(bits(&matrix), bits(&values[i * n * n..(i + 1) * n * n]));
                assert_eq!(bits(triangle), bits(&[&lower_of(&matrix)[..], &[9.0; 3]].concat()));
            }
            if together.is_some() {
                for (triangle, direction) in triangles.chunks_exact_mut(stride).zip(&directions) {
                    triangle[..stride - 3].copy_from_slice(&lower_of(direction.as_slice()));
                }
                tape.put_gradient_triangles(&triangles, stride).unwrap();
            } else {
                for (i, direction) in directions[..count].iter().enumerate() {
                    tape.put_gradient(i, direction.as_slice()).unwrap();
                }
            }
            tape.pull_back().unwrap();
            for i in 0..count {
                tape.matrix(i, &mut matrix).unwrap();
                assert_eq!(bits(&matrix), bits(&slopes[i * n * n..(i + 1) * n * n]));
            }
            let mut all = vec![0.0; count * n * n];
            tape.matrices(&mut all).unwrap();
            assert_eq!(bits(&all), bits(&slopes[..count * n * n]));
        }
    }
}

#[test]
fn the_tape_says_which_matrix_is_at_fault() {
    let mut tape = SpectralTape::<f64>::new(2).unwrap();
    assert!(matches!(tape.begin(0), Err(Error::OutOfRange { .. })));
    assert!(matches!(tape.begin(tape.lanes() + 1), Err(Error::OutOfRange { .. })));
    tape.begin(2).unwrap();
    let identity = [1.0, 0.0, 0.0, 1.0];
    assert!(matches!(tape.put(0, &identity[..3]), Err(Error::Length { .. })));
    assert!(matches!(tape.put(2, &identity), Err(Error::OutOfRange { .. })));
    assert!(matches!(tape.put_triangles(Triangle::Lower, &identity), Err(Error::Length { .. })));
    assert_eq!(tape.triangles(&mut [0.0; 6], 3), Err(Error::NotFactored));
    tape.put(0, &identity).unwrap();
    tape.put(1, &[1.0, 0.0, f64::NAN, 1.0]).unwrap();
    let function = SpectralFunction::LogClamp { floor: 0.5 };
    let fault = tape.apply(function).unwrap_err();
    assert!(matches!(fault, Error::NotFinite { matrix: 1, row: 1, column: 0, .. }), "{fault}");
    assert_eq!(tape.pull_back(), Err(Error::NotFactored));
    tape.put(1, &[1.0, 0.0, 0.0, -1.0]).unwrap();
    let fault = tape.apply(SpectralFunction::Log).unwrap_err();
    assert!(matches!(fault, Error::NotPositiveDefinite { matrix: 1, .. }), "{fault}");
    tape.put(1, &identity).unwrap();
    tape.apply(function).unwrap();
    assert!(matches!(tape.triangles(&mut [0.0; 6], 2), Err(Error::Length { .. })));
    assert!(matches!(tape.put_gradient_triangles(&[0.0; 5], 3), Err(Error::Length { .. })));
    assert_eq!(tape.eigenvalue(1, 0), Ok(1.0));
    assert!(matches!(tape.eigenvalue(1, 2), Err(Error::OutOfRange { .. })));
    tape.put_gradient(0, &identity).unwrap();
    tape.put_gradient(1, &[f64::INFINITY; 4]).unwrap();
    assert!(matches!(tape.pull_back(), Err(Error::Overflow { matrix: 1, .. })));
}
