//! Parameters and their properties.

use std::sync::Arc;

use fedspd_nn::{
    Error, Geometry, Layout, Model, Optimiser, OptimiserConfig, ParamSet, Role, Scope, Seed, SpdNet,
    SpdNetConfig, Tensor,
};

#[test]
fn a_network_tags_its_parameters() {
    let net = SpdNet::<f64>::new(SpdNetConfig::new(vec![6, 5, 3], 2).inputs(2)).unwrap();
    let facts: Vec<_> = net
        .layout()
        .parameters()
        .iter()
        .map(|p| (p.name.as_str(), p.shape.clone(), p.geometry, p.role, p.scope))
        .collect();
    let (stiefel, euclidean) = (Geometry::Stiefel, Geometry::Euclidean);
    let expected = [
        ("input0.block0.weight", vec![6, 5], stiefel),
        ("input0.block1.weight", vec![5, 3], stiefel),
        ("input1.block0.weight", vec![6, 5], stiefel),
        ("input1.block1.weight", vec![5, 3], stiefel),
        ("head.weight", vec![2, 18], euclidean),
        ("head.bias", vec![2], euclidean),
    ]
    .map(|(name, shape, geometry)| (name, shape, geometry, Role::Trained, Scope::Shared));
    assert_eq!(facts, expected);
}

#[test]
fn layouts_that_cannot_be_are_refused() {
    let fault = |tensors| Layout::new(tensors).unwrap_err().to_string();
    let x = || Tensor::euclidean("x", &[2, 2]);
    assert_eq!(fault(vec![x(), x()]), "parameter `x` with shape [2, 2] occurs twice");
    assert!(fault(vec![Tensor::euclidean("x", &[2, 0])]).contains("has no entries"));
    assert!(fault(vec![Tensor::stiefel("x", 2, 3)]).contains("at least as many rows as columns"));
    let layout = Arc::new(Layout::new(vec![x()]).unwrap());
    assert!(matches!(ParamSet::new(layout, vec![0.0; 3]), Err(Error::Length { expected: 4, found: 3, .. })));
}

/// Initial values: Haar on Stiefel, torch's bound on the head, a separate stream for each
/// parameter.
#[test]
fn initial_values_are_feasible_bounded_and_seeded() {
    let config = SpdNetConfig::new(vec![20, 8], 3);
    let net = SpdNet::<f64>::new(config).unwrap();
    let parameters = net.initial(Seed(5)).unwrap();
    assert!(parameters.feasibility_error().unwrap() < 1e-13);
    let bound = 1.0 / 8.0;
    let head: Vec<f64> =
        ["head.weight", "head.bias"].iter().flat_map(|name| parameters.get(name).unwrap()).copied().collect();
    assert!(head.iter().all(|x| x.abs() <= bound));
    let variance = head.iter().map(|x| x * x).sum::<f64>() / head.len() as f64;
    assert!((variance / (bound * bound / 3.0) - 1.0).abs() < 0.3, "{variance}");
    assert_eq!(net.initial(Seed(5)).unwrap(), parameters);
    assert_ne!(net.initial(Seed(6)).unwrap(), parameters);
    // Two inputs of the same shape start differently.
    let twins =
        SpdNet::<f64>::new(SpdNetConfig::new(vec![6, 4], 2).inputs(2)).unwrap().initial(Seed(0)).unwrap();
    assert_ne!(twins.get("input0.block0.weight"), twins.get("input1.block0.weight"));
}

/// An optimiser never changes statistics, whatever their gradient.
#[test]
fn statistics_are_not_trained() {
    let statistic = Tensor { role: Role::Statistic, ..Tensor::euclidean("running", &[3]) };
    let layout = Arc::new(Layout::new(vec![Tensor::euclidean("x", &[2]), statistic]).unwrap());
    let mut parameters = ParamSet::new(layout, vec![1.0_f64, 2.0, 3.0, 4.0, 5.0]).unwrap();
    let mut optimiser = Optimiser::new(OptimiserConfig::default(), &parameters).unwrap();
    optimiser.step(&mut parameters, &[1.0; 5], 0.1).unwrap();
    assert_eq!(parameters.get("running").unwrap(), [3.0, 4.0, 5.0]);
    assert!((parameters.get("x").unwrap()[0] - 0.9).abs() < 1e-6);
}
