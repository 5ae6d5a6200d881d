//! Exact gradients: finite differences, clamped eigenvalues, and the fused layer.

use fedspd_manifold::{
    Left, Retraction, RetractionKind, SpectralFunction, SpectralMap, Stiefel, multiply, simd::Simd,
};
use fedspd_nn::{Geometry, Model, SpdNet, SpdNetConfig};
use rand_chacha::ChaCha8Rng;

use crate::support::{HEADS, all, distinct, dot, gaussian, loss_and_gradient, norm, parameters, rng, trials};

/// Networks with 0 to 3 blocks, all heads, one and three inputs.
fn networks(threshold: f64) -> Vec<SpdNet<f64>> {
    let shapes = [vec![6], vec![6, 4], vec![6, 5, 3], vec![6, 6, 4, 2]];
    let mut networks = Vec::new();
    for (shape, head) in shapes.iter().flat_map(|shape| HEADS.map(|head| (shape, head))) {
        for inputs in [1, 3] {
            let config = SpdNetConfig::new(shape.clone(), 3).threshold(threshold).head(head).inputs(inputs);
            networks.push(SpdNet::new(config).unwrap());
        }
    }
    networks
}

/// Moves of the parameters for finite differences.
#[derive(Clone, Copy, PartialEq)]
enum Moves {
    /// Any direction: `W` leaves the manifold.
    Anywhere,
    /// Only along the manifold for `W`. After a clamp, the next block has eigenvalues exactly at
    /// the threshold (interlacing). There the loss has a kink across the manifold, but none along
    /// it.
    OnManifold,
}

/// Compares the gradient with finite differences of the loss, one parameter at a time.
fn check(
    net: &SpdNet<f64>,
    seed: u64,
    moves: Moves,
    spectrum: impl Fn(usize, &mut ChaCha8Rng) -> Vec<f64>,
    h: f64,
) {
    let mut rng = rng(seed);
    let parameters = parameters(net, seed);
    let examples = net.prepare(trials(&mut rng, net.config(), 5, spectrum)).unwrap();
    let (_, gradient) = loss_and_gradient(net, &parameters, &examples);
    let whole = norm(&gradient);
    for parameter in parameters.layout().parameters() {
        let mut direction = vec![0.0; gradient.len()];
        let range = parameter.range();
        direction[range.clone()].copy_from_slice(&gaussian(&mut rng, parameter.size()));
        let on_manifold = |moves| parameter.geometry == Geometry::Stiefel && moves == Moves::OnManifold;
        for moves in [moves, Moves::OnManifold] {
            let mut retraction = None;
            if on_manifold(moves) {
                let (p, k) = (parameter.shape[0], parameter.shape[1]);
                let w = &parameters.values()[range.clone()];
                let mut tangent = vec![0.0; p * k];
                Stiefel::new(p, k).unwrap().project(w, &direction[range.clone()], &mut tangent).unwrap();
                direction[range.clone()].copy_from_slice(&tangent);
                retraction = Some(Retraction::new(RetractionKind::Polar, p, k).unwrap());
            }
            let mut loss_at = |t: f64| {
                let mut moved = parameters.clone();
                let step: Vec<f64> = direction[range.clone()].iter().map(|d| t * d).collect();
                let (start, target) =
                    (&parameters.values()[range.clone()], &mut moved.values_mut()[range.clone()]);
                match &mut retraction {
                    Some(retraction) => retraction.retract(start, &step, target).unwrap(),
                    None => target.iter_mut().zip(&step).for_each(|(value, step)| *value += step),
                }
                loss_and_gradient(net, &moved, &examples).0
            };
            // Central differences of fourth order.
            let expected =
                (8.0 * (loss_at(h) - loss_at(-h)) - (loss_at(2.0 * h) - loss_at(-2.0 * h))) / (12.0 * h);
            let found = dot(&gradient, &direction);
            let scale = norm(&direction) * whole.max(1e-3);
            assert!(
                (expected - found).abs() <= 1e-6 * scale,
                "{:?}, {}: {found:e} but differences say {expected:e}",
                net.config(),
                parameter.name
            );
        }
    }
}

/// Returns the moves under which the loss of a network is smooth despite clamped eigenvalues.
fn with_clamp(net: &SpdNet<f64>) -> Moves {
    if net.config().blocks() > 1 { Moves::OnManifold } else { Moves::Anywhere }
}

#[test]
fn gradients_are_exact_at_distinct_eigenvalues() {
    for net in networks(1e-3) {
        check(&net, 1, Moves::Anywhere, distinct(6), 1e-4);
    }
}

/// With the threshold in the middle of the spectrum, about half of the eigenvalues are clamped in
/// every block.
#[test]
fn gradients_are_exact_at_half_clamped_spectra() {
    for net in networks(1.5) {
        check(&net, 2, with_clamp(&net), distinct(6), 1e-5);
    }
}

/// Exactly repeated eigenvalues, from the identity to two clusters. `W^T X W` keeps repeated
/// eigenvalues of the identity.
#[test]
fn gradients_are_exact_at_repeated_eigenvalues() {
    for net in networks(1e-3) {
        check(&net, 3, Moves::Anywhere, |_, _| vec![1.0; 6], 1e-4);
        check(&net, 4, Moves::Anywhere, |i, _| vec![1.0, 1.0, 1.0, 2.0, 2.0, 2.0 + i as f64], 1e-4);
        check(&net, 5, Moves::Anywhere, |_, _| vec![1.0, 1.0, 3.0, 3.0, 3.0, 3.0], 1e-4);
    }
}

#[test]
fn gradients_are_exact_at_nearly_equal_eigenvalues() {
    for net in networks(1e-3) {
        for exponent in [3, 5, 7, 9, 11, 13, 14] {
            let gap = 10.0_f64.powi(-exponent);
            check(
                &net,
                6,
                Moves::Anywhere,
                move |_, _| (0..6).map(|i| 1.0 + gap * f64::from(i)).collect(),
                1e-4,
            );
        }
    }
}

/// Where all eigenvalues are clamped, the loss does not depend on `W`, and its gradient is exactly
/// zero.
#[test]
fn gradients_of_the_weights_vanish_where_all_is_clamped() {
    for net in networks(1e3) {
        let parameters = parameters(&net, 7);
        let examples = net.prepare(trials(&mut rng(7), net.config(), 5, distinct(6))).unwrap();
        let (_, gradient) = loss_and_gradient(&net, &parameters, &examples);
        for parameter in parameters.layout().parameters() {
            let block = &gradient[parameter.range()];
            if parameter.name.contains("block0") {
                assert!(block.iter().all(|&g| g == 0.0), "{}", parameter.name);
            } else if parameter.name.contains("head") {
                assert!(norm(block) > 1e-3, "{}", parameter.name);
            }
        }
        check(&net, 8, with_clamp(&net), distinct(6), 1e-4);
    }
}

/// Spectra too wide for differences of the loss. Tests in fedspd-manifold show that the adjoint of
/// each layer is exact there.
#[test]
fn gradients_are_finite_at_wide_spectra() {
    for net in networks(1e-8) {
        let parameters = parameters(&net, 9);
        let wide = |_: usize, _: &mut ChaCha8Rng| (0..6).map(|i| 10.0_f64.powi(2 * i - 6)).collect();
        let examples = net.prepare(trials(&mut rng(9), net.config(), 5, wide)).unwrap();
        let (loss, gradient) = loss_and_gradient(&net, &parameters, &examples);
        assert!(loss.is_finite() && gradient.iter().all(|g| g.is_finite()));
    }
}

/// The fused layer agrees with ReEig followed by LogEig, forward and backward.
#[test]
fn the_fused_layer_equals_the_two_layers() {
    let net = SpdNet::<f64>::new(SpdNetConfig::new(vec![6, 4], 3).threshold(1.2)).unwrap();
    let (n, d) = (6, 4);
    let parameters = parameters(&net, 10);
    let data = trials(&mut rng(10), net.config(), 5, distinct(6));
    let (matrices, labels) = (data.matrices().to_vec(), data.labels().to_vec());
    let examples = net.prepare(data).unwrap();
    let (loss, gradient) = loss_and_gradient(&net, &parameters, &examples);

    let simd = Simd::detect().unwrap();
    let w = parameters.get("block0.weight").unwrap();
    let (xi, beta) = (parameters.get("head.weight").unwrap(), parameters.get("head.bias").unwrap());
    let mut map = SpectralMap::<f64>::new(d).unwrap();
    let (clamp, log) = (SpectralFunction::Clamp { floor: 1.2 }, SpectralFunction::Log);
    let (mut total, mut dw) = (0.0, vec![0.0; n * d]);
    for (matrix, &label) in matrices.chunks_exact(n * n).zip(&labels) {
        let (mut y, mut s) = (vec![0.0; n * d], vec![0.0; d * d]);
        multiply(simd, Left::Plain, (n, n, d), matrix, w, &mut y);
        multiply(simd, Left::Transposed, (d, n, d), w, &y, &mut s);
        let (mut clamped, mut logarithm) = (vec![0.0; d * d], vec![0.0; d * d]);
        map.apply(clamp, &s, &mut clamped).unwrap();
        map.apply(log, &clamped, &mut logarithm).unwrap();
        let z: Vec<f64> =
            (0..3).map(|c| beta[c] + dot(&xi[c * d * d..(c + 1) * d * d], &logarithm)).collect();
        let sum: f64 = z.iter().map(|z| z.exp()).sum();
        total += sum.ln() - z[label];
        let g: Vec<f64> = (0..3).map(|c| z[c].exp() / sum - f64::from(u8::from(c == label))).collect();
        let dv: Vec<f64> = (0..d * d).map(|i| (0..3).map(|c| g[c] * xi[c * d * d + i]).sum()).collect();
        let (mut dx, mut ds) = (vec![0.0; d * d], vec![0.0; d * d]);
        map.derivative(log, &clamped, &dv, &mut dx).unwrap();
        map.derivative(clamp, &s, &dx, &mut ds).unwrap();
        for i in 0..n {
            for j in 0..d {
                dw[i * d + j] += 2.0 / 5.0 * (0..d).map(|k| y[i * d + k] * ds[k * d + j]).sum::<f64>();
            }
        }
    }
    assert!((loss - total / 5.0).abs() < 1e-12);
    let found = &gradient[parameters.layout().get("block0.weight").unwrap().range()];
    assert!(crate::support::gap(found, &dw) < 1e-9 * norm(&dw));
}

/// The gradients of single trials add up to the gradient of the batch, and each is the gradient of
/// a batch of one.
#[test]
fn gradients_of_single_trials_add_up() {
    for net in networks(1.1) {
        let parameters = parameters(&net, 11);
        let examples = net.prepare(trials(&mut rng(11), net.config(), 37, distinct(6))).unwrap();
        let (loss, gradient) = loss_and_gradient(&net, &parameters, &examples);
        let size = gradient.len();
        let (mut losses, mut each) = (vec![0.0; 37], vec![0.0; 37 * size]);
        let mut workspace = net.workspace(1).unwrap();
        let batch = all(&examples);
        let worked = net.gradient_of_each(
            &parameters,
            &examples,
            &batch,
            None,
            &mut workspace,
            &mut losses,
            &mut each,
        );
        worked.unwrap();
        assert!((losses.iter().sum::<f64>() / 37.0 - loss).abs() < 1e-13);
        let mean: Vec<f64> =
            (0..size).map(|i| each.iter().skip(i).step_by(size).sum::<f64>() / 37.0).collect();
        assert!(crate::support::gap(&mean, &gradient) < 1e-13 * norm(&gradient).max(1.0));
        for trial in [0, 5, 36] {
            let mut alone = vec![0.0; size];
            let loss = net
                .loss_and_gradient(&parameters, &examples, &[trial], None, &mut workspace, &mut alone)
                .unwrap();
            assert_eq!(loss, losses[trial]);
            assert_eq!(alone, each[trial * size..(trial + 1) * size]);
        }
    }
}
