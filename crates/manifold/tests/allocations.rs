//! Allocation tests: workspaces allocate in their constructor and never in a computation.
#![allow(clippy::unwrap_used)] // test helpers may panic, as tests do

use fedspd_manifold::{
    Matrix, Polar, Qr, Retraction, RetractionKind, SpectralFunction, SpectralMap, Stiefel, SymmetricEigen,
    Vectorisation, average::StiefelSum, fill_standard_normal,
};
use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};

fn assert_no_allocation(what: &str, compute: impl FnOnce()) {
    let counted = allocation_counter::measure(compute);
    assert_eq!(counted.count_total, 0, "{what} allocated {} bytes", counted.bytes_total);
}

#[test]
fn nothing_is_allocated_by_the_operations_of_a_training_step() {
    let mut rng = ChaCha8Rng::seed_from_u64(0);
    let (p, k, batch) = (64, 18, 139);
    let mut matrices = Vec::new();
    for _ in 0..batch {
        let mut x = vec![0.0; k * k];
        fill_standard_normal(&mut rng, &mut x);
        let x = Matrix::from_rows(k, k, x).unwrap();
        // Diagonally dominant, so positive definite.
        let symmetric = |i, j| if i == j { 100.0 } else { x[(i, j)] + x[(j, i)] };
        matrices.extend_from_slice(Matrix::from_fn(k, k, symmetric).as_slice());
    }
    let (mut values, mut vectors) = (vec![0.0; batch * k], vec![0.0; matrices.len()]);
    let mut eigen = SymmetricEigen::new(k).unwrap();
    assert_no_allocation("eigendecomposition", || {
        eigen.decompose(&matrices, &mut values, &mut vectors).unwrap();
        eigen.decompose(&matrices[..k * k], &mut values[..k], &mut vectors[..k * k]).unwrap();
        eigen.eigenvalues(&matrices, &mut values).unwrap();
    });
    let mut map = SpectralMap::new(k).unwrap();
    assert_no_allocation("spectral functions", || {
        for function in
            [SpectralFunction::Log, SpectralFunction::Exp, SpectralFunction::LogClamp { floor: 99.0 }]
        {
            map.apply(function, &matrices, &mut vectors).unwrap();
            map.derivative(function, &matrices, &matrices, &mut vectors).unwrap();
        }
    });

    let mut stiefel = Stiefel::new(p, k).unwrap();
    let w = stiefel.random(&mut rng).unwrap();
    let (mut x, mut out) = (vec![0.0; p * k], vec![0.0; p * k]);
    fill_standard_normal(&mut rng, &mut out);
    stiefel.project(w.as_slice(), &out, &mut x).unwrap();
    for x in &mut x {
        *x *= 0.01;
    }
    let g = out.clone();
    assert_no_allocation("tangent spaces", || {
        stiefel.project(w.as_slice(), &g, &mut out).unwrap();
        stiefel.lift(w.as_slice(), &g, &mut out).unwrap();
        stiefel.transport(w.as_slice(), &g, &mut out).unwrap();
        stiefel.feasibility_error(w.as_slice()).unwrap();
    });
    for kind in [RetractionKind::Polar, RetractionKind::Qr] {
        let mut retraction = Retraction::new(kind, p, k).unwrap();
        assert_no_allocation("retraction", || {
            retraction.retract(w.as_slice(), &x, &mut out).unwrap();
            retraction.differential(&g, &mut out).unwrap();
            retraction.adjoint(&g, &mut out).unwrap();
            retraction.retract_once(w.as_slice(), &x, &mut out).unwrap();
        });
    }
    let (mut polar, mut qr) = (Polar::new(p, k).unwrap(), Qr::new(p, k).unwrap());
    assert_no_allocation("factors", || {
        polar.factor(w.as_slice()).unwrap();
        polar.project(w.as_slice(), &mut out).unwrap();
        polar.smallest_singular_value_of(w.as_slice()).unwrap();
        qr.factor(w.as_slice()).unwrap();
    });
    let mut sum = StiefelSum::new(p, k).unwrap();
    assert_no_allocation("streaming sum", || {
        for _ in 0..3 {
            sum.add(1.0, w.as_slice()).unwrap();
        }
    });
    let mut vector = vec![0.0; Vectorisation::IsometricVech.length(k)];
    assert_no_allocation("vectorisation", || {
        Vectorisation::IsometricVech.apply(k, &matrices[..k * k], &mut vector).unwrap();
        Vectorisation::IsometricVech.adjoint(k, &vector, &mut vectors[..k * k]).unwrap();
    });
}
