//! SPD parameters: their shape, their distance from the manifold and their update rule.

use std::sync::Arc;

use fedspd_manifold::{RetractionKind, Spd, SpdMetric};
use fedspd_nn::{Error, Geometry, Layout, Optimiser, OptimiserConfig, ParamSet, Space, Tensor};

const N: usize = 3;
const START: [f64; N * N] = [2.0, 0.5, 0.1, 0.5, 1.0, -0.2, 0.1, -0.2, 0.7];
const GRADIENT: [f64; N * N] = [0.3, -0.4, 0.2, 0.6, 0.1, 0.0, -0.2, 0.5, -0.7];

fn parameters(values: &[f64]) -> ParamSet<f64> {
    let layout = Arc::new(Layout::new(vec![Tensor::spd("bias", N)]).unwrap());
    ParamSet::new(layout, values.to_vec()).unwrap()
}

fn sgd(momentum: f64) -> OptimiserConfig {
    OptimiserConfig::RiemannianSgd { momentum, weight_decay: 0.1, retraction: RetractionKind::Polar }
}

fn times(a: &[f64], b: &[f64]) -> Vec<f64> {
    (0..N * N).map(|place| (0..N).map(|k| a[place / N * N + k] * b[k * N + place % N]).sum()).collect()
}

fn gap(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0, |gap: f64, (a, b)| gap.max((a - b).abs()))
}

/// The Riemannian gradient of the affine-invariant metric, `X sym(G) X`.
fn riemannian(x: &[f64], gradient: &[f64]) -> Vec<f64> {
    let symmetric: Vec<f64> = (0..N * N).map(|i| 0.5 * (gradient[i] + gradient[i % N * N + i / N])).collect();
    times(&times(x, &symmetric), x)
}

#[test]
fn shapes_are_square_and_distances_are_measured() {
    assert!(matches!(
        Layout::new(vec![Tensor { shape: vec![3, 2], ..Tensor::spd("bias", 3) }]),
        Err(Error::Tensor { fault, .. }) if fault.contains("square")
    ));
    let sound = parameters(&START);
    let parameter = &sound.layout().parameters()[0];
    assert_eq!((parameter.geometry, parameter.space()), (Geometry::Spd, Space::Spd { n: N }));
    assert_eq!(sound.feasibility_error().unwrap(), 0.0);
    let mut asymmetric = START;
    asymmetric[1] += 1e-3;
    let distance = parameters(&asymmetric).feasibility_error().unwrap();
    assert!((distance - 1e-3 * 2.0_f64.sqrt()).abs() < 1e-12);
    let mut indefinite = START;
    indefinite[0] = -1.0;
    assert_eq!(parameters(&indefinite).feasibility_error().unwrap(), f64::INFINITY);
}

/// The first step is the exponential map of minus the Riemannian gradient. Weight decay does not
/// change it.
#[test]
fn a_step_follows_the_geodesic() {
    let mut found = parameters(&START);
    let mut optimiser = Optimiser::new(sgd(0.9), &found).unwrap();
    optimiser.step(&mut found, &GRADIENT, 0.3).unwrap();
    let step: Vec<f64> = riemannian(&START, &GRADIENT).iter().map(|x| -0.3 * x).collect();
    let mut expected = vec![0.0; N * N];
    Spd::new(N).unwrap().exp(SpdMetric::AffineInvariant, &START, &step, &mut expected).unwrap();
    assert!(gap(found.values(), &expected) < 1e-13);
    assert_eq!(found.feasibility_error().unwrap(), 0.0);
}

/// Momentum is transported along the geodesic: with a zero gradient the next step continues it.
#[test]
fn momentum_is_transported() {
    let (mut found, momentum) = (parameters(&START), 0.6);
    let mut optimiser = Optimiser::new(sgd(momentum), &found).unwrap();
    optimiser.step(&mut found, &GRADIENT, 0.2).unwrap();
    optimiser.step(&mut found, &[0.0; N * N], 0.2).unwrap();
    let step: Vec<f64> = riemannian(&START, &GRADIENT).iter().map(|x| -0.2 * (1.0 + momentum) * x).collect();
    let mut expected = vec![0.0; N * N];
    Spd::new(N).unwrap().exp(SpdMetric::AffineInvariant, &START, &step, &mut expected).unwrap();
    assert!(gap(found.values(), &expected) < 1e-12);
}

/// An optimiser with recalled memory continues with the same bits.
#[test]
fn memory_goes_on_to_the_same_bits() {
    let mut straight = parameters(&START);
    let mut optimiser = Optimiser::new(sgd(0.9), &straight).unwrap();
    optimiser.step(&mut straight, &GRADIENT, 0.1).unwrap();
    let (mut resumed, memory) = (straight.clone(), optimiser.memory());
    optimiser.step(&mut straight, &GRADIENT, 0.1).unwrap();
    let mut other = Optimiser::new(sgd(0.9), &parameters(&START)).unwrap();
    other.recall(&resumed, &memory).unwrap();
    other.step(&mut resumed, &GRADIENT, 0.1).unwrap();
    assert_eq!(straight.values(), resumed.values());
}

#[test]
fn adam_says_that_it_has_no_rule() {
    let fault = Optimiser::new(OptimiserConfig::default(), &parameters(&START)).err().unwrap();
    assert!(matches!(&fault, Error::NoRule { name } if name == "bias"), "{fault}");
    assert!(fault.hint().unwrap().contains("riemannian-sgd"));
}
