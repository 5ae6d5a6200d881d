//! Agreement with PyTorch's autograd (`golden/spdnet-autograd`).

use fedspd_manifold::{RetractionKind, Vectorisation};
use fedspd_nn::{AdamSettings, Model, Optimiser, OptimiserConfig, ParamSet, SpdNet, SpdNetConfig, SpdTrials};

use crate::support::{self, all, gap, logits, loss_and_gradient, norm};

fn golden(case: &str, what: &str) -> Vec<f64> {
    support::golden(&format!("spdnet-autograd/{case}_{what}.npy"))
}

fn check(case: &str, config: SpdNetConfig, retraction: RetractionKind) {
    let net = SpdNet::<f64>::new(config).unwrap();
    let config = net.config();
    let labels: Vec<usize> = golden(case, "labels").iter().map(|&label| label as usize).collect();
    let matrices = golden(case, "matrices");
    let data = SpdTrials::new(config.dimensions[0], config.inputs, config.classes, matrices, labels).unwrap();
    let examples = net.prepare(data).unwrap();
    let mut parameters = ParamSet::new(net.layout().clone(), golden(case, "parameters")).unwrap();

    let close = |found: &[f64], what: &str, tolerance: f64| {
        let expected = golden(case, what);
        let error = gap(found, &expected) / norm(&expected);
        assert!(error < tolerance, "{case}: {what} differ by {error:e}");
    };
    close(&logits(&net, &parameters, &examples), "logits", 1e-9);
    let (loss, gradient) = loss_and_gradient(&net, &parameters, &examples);
    close(&[loss], "loss", 1e-9);
    let expected = golden(case, "gradient");
    for parameter in net.layout().parameters() {
        let (found, expected) = (&gradient[parameter.range()], &expected[parameter.range()]);
        let error = gap(found, expected) / norm(expected);
        assert!(error < 1e-9, "{case}: gradient of {} differs by {error:e}", parameter.name);
    }

    let config = OptimiserConfig::Adam { adam: AdamSettings::default(), retraction, rebase_every: None };
    let mut optimiser = Optimiser::new(config, &parameters).unwrap();
    let (mut workspace, mut gradient) = (net.workspace(1).unwrap(), gradient);
    let batch = all(&examples);
    for _ in 0..50 {
        net.loss_and_gradient(&parameters, &examples, &batch, None, &mut workspace, &mut gradient).unwrap();
        optimiser.step(&mut parameters, &gradient, 1e-2).unwrap();
    }
    let error = gap(parameters.values(), &golden(case, "trained"));
    assert!(error < 1e-7, "{case}: trained parameters differ by {error:e}");
    assert!(gap(parameters.values(), &golden(case, "parameters")) > 0.3);
}

#[test]
fn networks_agree_with_autograd() {
    let (polar, qr) = (RetractionKind::Polar, RetractionKind::Qr);
    let isometric = Vectorisation::IsometricVech;
    check("no_block", SpdNetConfig::new(vec![8], 3).threshold(0.6).head(isometric), polar);
    check("one_block", SpdNetConfig::new(vec![10, 5], 4).threshold(0.9), polar);
    check("two_blocks", SpdNetConfig::new(vec![10, 6, 4], 3).threshold(0.5).head(Vectorisation::Vech), polar);
    check("three_inputs", SpdNetConfig::new(vec![9, 4], 4).threshold(0.7).head(isometric).inputs(3), qr);
}
