//! Vectorisation of symmetric matrices.

use fedspd_manifold::{Matrix, Vectorisation};
use proptest::prelude::*;

use crate::support::*;

const ALL: [Vectorisation; 3] = [Vectorisation::Vec, Vectorisation::Vech, Vectorisation::IsometricVech];

fn vector(kind: Vectorisation, s: &Matrix<f64>) -> Vec<f64> {
    let mut out = vec![0.0; kind.length(s.rows())];
    kind.apply(s.rows(), s.as_slice(), &mut out).unwrap();
    out
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn adjoints_are_adjoint_and_symmetric(n in 1..24_usize, seed: u64) {
        let mut rng = rng(seed);
        let s = symmetric(&mut rng, n);
        for kind in ALL {
            let g = gaussian(&mut rng, 1, kind.length(n));
            let mut pulled = Matrix::zeros(n, n);
            kind.adjoint(n, g.as_slice(), pulled.as_mut_slice()).unwrap();
            let left: f64 = vector(kind, &s).iter().zip(g.as_slice()).map(|(a, b)| a * b).sum();
            prop_assert!((left - inner(&s, &pulled)).abs() < 1e-13 * (1.0 + s.norm() * g.norm()));
            prop_assert_eq!(pulled.transpose(), pulled);
        }
    }

    #[test]
    fn the_isometric_form_keeps_inner_products(n in 1..24_usize, seed: u64) {
        let mut rng = rng(seed);
        let (a, b) = (symmetric(&mut rng, n), symmetric(&mut rng, n));
        let dot = |kind| -> f64 { vector(kind, &a).iter().zip(vector(kind, &b)).map(|(x, y)| x * y).sum() };
        prop_assert!((dot(Vectorisation::IsometricVech) - inner(&a, &b)).abs() < 1e-13 * a.norm() * b.norm());
        prop_assert!((dot(Vectorisation::Vec) - inner(&a, &b)).abs() < 1e-13 * a.norm() * b.norm());
    }
}

#[test]
fn lengths_and_order_are_as_documented() {
    let s = Matrix::from_rows(2, 2, vec![1.0, 2.0, 2.0, 3.0]).unwrap();
    assert_eq!(vector(Vectorisation::Vec, &s), [1.0, 2.0, 2.0, 3.0]);
    assert_eq!(vector(Vectorisation::Vech, &s), [1.0, 2.0, 3.0]);
    assert_eq!(vector(Vectorisation::IsometricVech, &s), [1.0, 2.0 * 2.0_f64.sqrt(), 3.0]);
    // the paper's head sizes: 22^2 = 484 and 18^2 = 324 against 253 and 171
    assert_eq!([22, 18].map(|n| Vectorisation::Vec.length(n)), [484, 324]);
    assert_eq!([22, 18].map(|n| Vectorisation::Vech.length(n)), [253, 171]);
}
