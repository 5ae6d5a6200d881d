//! Shared SPD parameters: averages on their manifold.

use std::sync::Arc;

use fedspd_federated::{Aggregation, Fault, Message, ParameterScopes, Part, aggregator};
use fedspd_manifold::{SpectralFunction, SpectralMap};
use fedspd_nn::{Layout, ParamSet, Tensor};

const N: usize = 3;

fn scopes() -> ParameterScopes {
    ParameterScopes::new(Arc::new(
        Layout::new(vec![Tensor::spd("bias", N), Tensor::euclidean("head", &[2])]).unwrap(),
    ))
}

/// `R diag(a, b, c) R^T` with a rotation `R`.
fn matrix(diagonal: [f64; N], angle: f64) -> Vec<f64> {
    let (sine, cosine) = angle.sin_cos();
    let rotation = [[cosine, -sine, 0.0], [sine, cosine, 0.0], [0.0, 0.0, 1.0]];
    let entry = |i: usize, j: usize| (0..N).map(|k| rotation[i][k] * diagonal[k] * rotation[j][k]).sum();
    (0..N * N).map(|place| entry(place / N, place % N)).collect()
}

fn message(bias: &[f64], head: &[f64]) -> Message {
    Message::new(vec![Part::real("bias", &[N, N], bias), Part::real("head", &[2], head)])
}

fn spectral(function: SpectralFunction<f64>, matrix: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; N * N];
    SpectralMap::new(N).unwrap().apply(function, matrix, &mut out).unwrap();
    out
}

fn parameters(scopes: &ParameterScopes, bias: &[f64]) -> ParamSet<f64> {
    ParamSet::new(scopes.layout().clone(), [bias, &[0.0, 0.0]].concat()).unwrap()
}

fn largest_gap(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0, |gap: f64, (a, b)| gap.max((a - b).abs()))
}

/// Every aggregation takes the weighted log-Euclidean mean of SPD matrices.
#[test]
fn every_aggregation_takes_the_log_euclidean_mean() {
    let (scopes, first) = (scopes(), matrix([1.0, 2.0, 3.0], 0.0));
    let points = [matrix([9.0, 0.1, 1.0], 0.3), matrix([0.2, 4.0, 2.0], 1.1), matrix([1.0, 1.0, 50.0], -0.4)];
    let weights = [1.0, 2.0, 0.5];
    let mut mean = vec![0.0; N * N];
    for (point, weight) in points.iter().zip(weights) {
        let logarithm = spectral(SpectralFunction::Log, point);
        mean.iter_mut().zip(logarithm).for_each(|(mean, x)| *mean += weight / 3.5 * x);
    }
    let expected = spectral(SpectralFunction::Exp, &mean);
    for aggregation in Aggregation::ALL {
        let mut rule = aggregator::<f64>(aggregation, 0.0, 1.0, &scopes).unwrap();
        let mut values = parameters(&scopes, &first);
        for (point, weight) in points.iter().zip(weights) {
            let reply = message(point, &[weight, 1.0]);
            rule.check(&reply).unwrap();
            rule.add(weight, &values, &reply).unwrap();
        }
        let outcome = rule.finish(&mut values).unwrap();
        assert!(largest_gap(values.get("bias").unwrap(), &expected) < 1e-13, "{aggregation:?}");
        assert!(values.feasibility_error().unwrap() < 1e-14 && outcome.layers.is_empty());
        let plain: Vec<f64> =
            (0..N * N).map(|i| points.iter().zip(weights).map(|(p, w)| w / 3.5 * p[i]).sum()).collect();
        assert!(largest_gap(values.get("bias").unwrap(), &plain) > 0.1);
    }
}

/// The mean of one reply is that reply, bit for bit. The second round starts with empty sums.
#[test]
fn one_reply_is_its_own_mean() {
    let (scopes, point) = (scopes(), matrix([9.0, 0.1, 1.0], 0.3));
    let mut rule = aggregator::<f64>(Aggregation::ProjAvg, 0.0, 1.0, &scopes).unwrap();
    let mut values = parameters(&scopes, &matrix([1.0, 2.0, 3.0], 0.0));
    for _ in 0..2 {
        rule.add(3.0, &values, &message(&point, &[1.0, 2.0])).unwrap();
        rule.finish(&mut values).unwrap();
        assert_eq!(values.get("bias").unwrap(), point);
    }
}

/// The server steps along the logarithm. With momentum 0 and half the step it goes half-way on the
/// geodesic of the log-Euclidean metric.
#[test]
fn server_steps_follow_the_logarithm() {
    let (scopes, start, end) = (scopes(), matrix([1.0, 2.0, 3.0], 0.2), matrix([4.0, 0.5, 1.0], 0.9));
    let mut rule = aggregator::<f64>(Aggregation::RlAvg, 0.0, 0.5, &scopes).unwrap();
    let mut values = parameters(&scopes, &start);
    rule.add(1.0, &values, &message(&end, &[0.0, 0.0])).unwrap();
    rule.finish(&mut values).unwrap();
    let (from, to) = (spectral(SpectralFunction::Log, &start), spectral(SpectralFunction::Log, &end));
    let middle: Vec<f64> = from.iter().zip(&to).map(|(a, b)| 0.5 * (a + b)).collect();
    let expected = spectral(SpectralFunction::Exp, &middle);
    assert!(largest_gap(values.get("bias").unwrap(), &expected) < 1e-13);
}

#[test]
fn a_matrix_off_the_manifold_is_refused_with_its_name() {
    let scopes = scopes();
    let mut rule = aggregator::<f64>(Aggregation::ProjAvg, 0.0, 1.0, &scopes).unwrap();
    let mut asymmetric = matrix([1.0, 2.0, 3.0], 0.5);
    asymmetric[1] += 0.5;
    for bias in [matrix([1.0, -2.0, 3.0], 0.5), matrix([1.0, 0.0, 3.0], 0.0), asymmetric] {
        let fault = rule.check(&message(&bias, &[0.0, 0.0])).unwrap_err();
        assert!(matches!(&fault, Fault::NotSpd { parameter, .. } if parameter == "bias"), "{fault}");
        assert!(fault.to_string().contains("`bias`"), "{fault}");
    }
}
