//! The network as a function: parameter counts, invariances, equal heads, and agreement of all
//! methods that evaluate it.

use fedspd_manifold::{Stiefel, Vectorisation};
use fedspd_nn::{Error, Model, ParamSet, Seed, SpdNet, SpdNetConfig, SpdTrials};

use crate::support::{
    HEADS, all, distinct, gap, gaussian, logits, loss_and_gradient, norm, parameters, rng, trials,
};

fn net(config: SpdNetConfig) -> SpdNet<f64> {
    SpdNet::new(config).unwrap()
}

/// SPDnet has the paper's parameter counts.
#[test]
fn parameter_counts_are_the_papers() {
    for (head, counts) in [(Vectorisation::Vec, [4715, 2452]), (Vectorisation::Vech, [3098, 1840])] {
        for ((dimensions, classes), count) in [(vec![60, 22], 7), (vec![64, 18], 4)].into_iter().zip(counts) {
            let config = SpdNetConfig::new(dimensions, classes).head(head);
            assert_eq!(config.parameter_count(), count);
            assert_eq!(net(config).initial(Seed(0)).unwrap().values().len(), count);
        }
    }
    // Three windows of 64 channels, one BiMap to 32 each.
    let config = SpdNetConfig::new(vec![64, 32], 4).inputs(3).head(Vectorisation::IsometricVech);
    assert_eq!(config.parameter_count(), 12_484);
}

/// `(c X, c threshold)` shifts every logarithm by `log(c) I`, which the biases can compensate.
#[test]
fn a_change_of_unit_moves_logits_by_a_constant_of_the_head() {
    for (blocks, c) in [(vec![6], 1e6), (vec![6, 4], 1e6), (vec![6, 5, 3], 1e-9)] {
        let threshold = 1.2;
        let n = *blocks.last().unwrap();
        let small = net(SpdNetConfig::new(blocks.clone(), 3).threshold(threshold));
        let large = net(SpdNetConfig::new(blocks, 3).threshold(c * threshold));
        let mut parameters = parameters(&small, 1);
        let data = trials(&mut rng(1), small.config(), 9, distinct(6));
        let scaled: Vec<f64> = data.matrices().iter().map(|x| c * x).collect();
        let scaled = SpdTrials::new(6, 1, 3, scaled, data.labels().to_vec()).unwrap();
        let before = logits(&small, &parameters, &small.prepare(data).unwrap());
        let xi = parameters.get("head.weight").unwrap().to_vec();
        for (class, beta) in parameters.get_mut("head.bias").unwrap().iter_mut().enumerate() {
            *beta -= c.ln() * (0..n).map(|i| xi[class * n * n + i * n + i]).sum::<f64>();
        }
        let after = logits(&large, &parameters, &large.prepare(scaled).unwrap());
        assert!(gap(&before, &after) < 1e-9, "{}", gap(&before, &after));
    }
}

/// With matched weights the three heads give the same logits, and the same gradient of `W`.
#[test]
fn the_three_heads_are_one_function() {
    let inputs = 3;
    let nets =
        HEADS.map(|head| net(SpdNetConfig::new(vec![6, 4], 3).threshold(1.2).head(head).inputs(inputs)));
    let reference = parameters(&nets[2], 2);
    let data = trials(&mut rng(2), nets[0].config(), 9, distinct(6));
    let isometric = reference.get("head.weight").unwrap();
    let results = nets.each_ref().map(|net| {
        let mut parameters = net.initial(Seed(0)).unwrap();
        for input in 0..inputs {
            let name = format!("input{input}.block0.weight");
            parameters.get_mut(&name).unwrap().copy_from_slice(reference.get(&name).unwrap());
        }
        parameters.get_mut("head.bias").unwrap().copy_from_slice(reference.get("head.bias").unwrap());
        let weight: Vec<f64> = isometric
            .chunks_exact(10)
            .flat_map(|row| {
                let entry = |i: usize, j: usize| row[i * (i + 1) / 2 + j];
                let root = std::f64::consts::SQRT_2;
                let mut out = Vec::new();
                for i in 0..4 {
                    for j in 0..if net.config().head == Vectorisation::Vec { 4 } else { i + 1 } {
                        out.push(match (net.config().head, i == j) {
                            (_, true) | (Vectorisation::IsometricVech, _) => entry(i.max(j), i.min(j)),
                            (Vectorisation::Vech, _) => root * entry(i, j),
                            (Vectorisation::Vec, _) => root / 2.0 * entry(i.max(j), i.min(j)),
                        });
                    }
                }
                out
            })
            .collect();
        parameters.get_mut("head.weight").unwrap().copy_from_slice(&weight);
        let examples = net.prepare(data.clone()).unwrap();
        let (_, gradient) = loss_and_gradient(net, &parameters, &examples);
        (logits(net, &parameters, &examples), gradient[..inputs * 24].to_vec())
    });
    for (other_logits, other_gradient) in &results[..2] {
        assert!(gap(other_logits, &results[2].0) < 1e-13);
        assert!(gap(other_gradient, &results[2].1) < 1e-13 * norm(other_gradient).max(1.0));
    }
}

/// A rotation of the head compensates a rotation of the columns of `W`.
#[test]
fn the_head_can_absorb_a_rotation_of_the_weights() {
    let net = net(SpdNetConfig::new(vec![6, 4], 3).threshold(1.2));
    let parameters = parameters(&net, 3);
    let examples = net.prepare(trials(&mut rng(3), net.config(), 9, distinct(6))).unwrap();
    let o = Stiefel::<f64>::new(4, 4).unwrap().random(&mut rng(4)).unwrap();
    let mut rotated = parameters.clone();
    let w = parameters.get("block0.weight").unwrap();
    for i in 0..6 {
        for j in 0..4 {
            let entry = (0..4).map(|k| w[i * 4 + k] * o[(k, j)]).sum();
            rotated.get_mut("block0.weight").unwrap()[i * 4 + j] = entry;
        }
    }
    // log((WO)^T X (WO)) = O^T S O, so xi' = O^T xi O for each class.
    let xi = parameters.get("head.weight").unwrap();
    for class in 0..3 {
        for i in 0..4 {
            for j in 0..4 {
                let mut sum = 0.0;
                for a in 0..4 {
                    for b in 0..4 {
                        sum += o[(a, i)] * xi[class * 16 + a * 4 + b] * o[(b, j)];
                    }
                }
                rotated.get_mut("head.weight").unwrap()[class * 16 + i * 4 + j] = sum;
            }
        }
    }
    assert!(gap(&logits(&net, &parameters, &examples), &logits(&net, &rotated, &examples)) < 1e-12);
}

/// A network without blocks is a linear model of the logarithms, which are computed in `prepare`.
#[test]
fn without_blocks_it_is_a_linear_model_of_the_logarithms() {
    let config = SpdNetConfig::new(vec![5], 3).threshold(0.7).head(Vectorisation::IsometricVech);
    let net = net(config);
    let parameters = parameters(&net, 5);
    let data = trials(&mut rng(5), net.config(), 11, distinct(5));
    let mut map = fedspd_manifold::SpectralMap::<f64>::new(5).unwrap();
    let mut logarithms = vec![0.0; data.matrices().len()];
    let function = fedspd_manifold::SpectralFunction::LogClamp { floor: 0.7 };
    map.apply(function, data.matrices(), &mut logarithms).unwrap();
    let (xi, beta) = (parameters.get("head.weight").unwrap(), parameters.get("head.bias").unwrap());
    let mut expected = Vec::new();
    for matrix in logarithms.chunks_exact(25) {
        let mut v = vec![0.0; 15];
        Vectorisation::IsometricVech.apply(5, matrix, &mut v).unwrap();
        expected.extend((0..3).map(|c| beta[c] + crate::support::dot(&xi[c * 15..(c + 1) * 15], &v)));
    }
    assert!(gap(&logits(&net, &parameters, &net.prepare(data).unwrap()), &expected) < 1e-12);
}

/// Logits, probabilities, predictions and losses agree. A single trial has the same bits as in a
/// batch.
#[test]
fn all_ways_to_ask_agree() {
    for inputs in [1, 2] {
        let net = net(SpdNetConfig::new(vec![6, 4], 3).inputs(inputs).dropout(0.5));
        let parameters = parameters(&net, 6);
        let examples = net.prepare(trials(&mut rng(6), net.config(), 37, distinct(6))).unwrap();
        let batch = all(&examples);
        let mut workspace = net.workspace(1).unwrap();
        let together = logits(&net, &parameters, &examples);
        let mut probabilities = vec![0.0; together.len()];
        net.probabilities(&parameters, &examples, &batch, &mut workspace, &mut probabilities).unwrap();
        let predictions = net.predict(&parameters, &examples, &batch, &mut workspace).unwrap();
        let mut loss = 0.0;
        for trial in 0..37 {
            let mut alone = [0.0; 3];
            net.logits(&parameters, &examples, &[trial], &mut workspace, &mut alone).unwrap();
            let row = &together[trial * 3..(trial + 1) * 3];
            assert_eq!(alone, row);
            let sum: f64 = row.iter().map(|z| z.exp()).sum();
            let expected = row.iter().map(|z| z.exp() / sum).collect::<Vec<_>>();
            assert!(gap(&expected, &probabilities[trial * 3..(trial + 1) * 3]) < 1e-14);
            assert!(row.iter().all(|z| *z <= row[predictions[trial]]));
            loss -= expected[examples.labels()[trial]].ln() / 37.0;
        }
        let (found, _) = loss_and_gradient(&net, &parameters, &examples);
        assert!((found - loss).abs() < 1e-13);
    }
}

/// Dropout scales the kept entries and drops the right share. Its gradient is exact for a fixed
/// mask.
#[test]
fn dropout_drops_features_and_has_an_exact_gradient() {
    let net = net(SpdNetConfig::new(vec![6, 4], 3).dropout(0.4));
    let parameters = parameters(&net, 7);
    let examples = net.prepare(trials(&mut rng(7), net.config(), 21, distinct(6))).unwrap();
    let batch = all(&examples);
    let mut workspace = net.workspace(1).unwrap();
    let stream = Seed(3).stream(fedspd_nn::Purpose::Dropout);
    let dropout = Some(fedspd_nn::Dropout { stream, seen: 5 });
    let mut at = |parameters: &ParamSet<f64>, batch: &[usize], dropout| {
        let mut gradient = vec![0.0; parameters.values().len()];
        let loss = net
            .loss_and_gradient(parameters, &examples, batch, dropout, &mut workspace, &mut gradient)
            .unwrap();
        (loss, gradient)
    };
    let (loss, gradient) = at(&parameters, &batch, dropout);
    assert_ne!(loss, at(&parameters, &batch, None).0);
    assert_eq!(loss, at(&parameters, &batch, dropout).0);
    let direction = gaussian(&mut rng(8), gradient.len());
    let mut moved = |t: f64| {
        let values = parameters.values().iter().zip(&direction).map(|(v, d)| v + t * d).collect();
        at(&ParamSet::new(parameters.layout().clone(), values).unwrap(), &batch, dropout).0
    };
    let h = 1e-5;
    let slope = (8.0 * (moved(h) - moved(-h)) - (moved(2.0 * h) - moved(-2.0 * h))) / (12.0 * h);
    let found = crate::support::dot(&gradient, &direction);
    assert!((slope - found).abs() < 1e-6 * norm(&gradient) * norm(&direction), "{slope} {found}");
    // The gradient of the head over that of its bias is the head's input: zero, or the feature over
    // 0.6.
    let (head, bias) = (parameters.layout().get("head.weight").unwrap().range(), gradient.len() - 3);
    let (_, kept) = at(&parameters, &[0], None);
    let (_, thinned) = at(&parameters, &[0], dropout);
    for feature in 0..16 {
        let seen = |gradient: &[f64]| gradient[head.start + feature] / gradient[bias];
        let ratio = seen(&thinned) / seen(&kept);
        assert!(ratio == 0.0 || (ratio - 1.0 / 0.6).abs() < 1e-12, "{ratio}");
    }
    // About 40% of the entries of a single trial are dropped, mirror images together.
    let xi = parameters.layout().get("head.weight").unwrap().range();
    let (mut dropped, mut total) = (0, 0);
    for seen in 0..200 {
        let (_, one) = at(&parameters, &[0], Some(fedspd_nn::Dropout { stream, seen }));
        let row = &one[xi.start..xi.start + 16];
        for i in 0..4 {
            for j in 0..=i {
                assert_eq!(row[i * 4 + j] == 0.0, row[j * 4 + i] == 0.0);
                dropped += usize::from(row[i * 4 + j] == 0.0);
                total += 1;
            }
        }
    }
    let share = dropped as f64 / f64::from(total);
    assert!((share - 0.4).abs() < 0.04, "{share}");
}

#[test]
fn networks_that_cannot_be_are_refused() {
    let fault = |config: SpdNetConfig| SpdNet::<f64>::new(config).unwrap_err().to_string();
    let good = SpdNetConfig::new(vec![6, 4], 3);
    assert_eq!(
        fault(SpdNetConfig::new(vec![4, 6], 3)),
        "`dimensions` is [4, 6]; it must be never increasing"
    );
    assert!(fault(SpdNetConfig::new(vec![], 3)).contains("`dimensions` is []"));
    assert!(fault(SpdNetConfig::new(vec![4, 0], 3)).contains("`dimensions` is [4, 0]"));
    assert!(fault(SpdNetConfig::new(vec![4], 1)).contains("`classes` is 1"));
    assert!(fault(good.clone().inputs(0)).contains("`inputs` is 0"));
    assert!(fault(good.clone().threshold(0.0)).contains("`threshold` is 0"));
    assert!(fault(good.clone().threshold(f64::NAN)).contains("`threshold` is NaN"));
    assert!(fault(good.clone().dropout(1.0)).contains("`dropout` is 1"));
}

#[test]
fn data_that_do_not_fit_are_refused() {
    let net = net(SpdNetConfig::new(vec![3, 2], 2));
    let identity = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    let two = [identity, identity].concat();
    let make = |n, inputs, classes, matrices: &[f64], labels: &[usize]| {
        SpdTrials::new(n, inputs, classes, matrices.to_vec(), labels.to_vec())
    };
    let text = |error: Error| error.to_string();
    assert!(text(make(3, 1, 2, &two, &[0]).unwrap_err()).contains("18 numbers where 9 were expected"));
    assert!(text(make(3, 1, 2, &two, &[0, 2]).unwrap_err()).contains("the label of trial 1 is 2"));
    let mut bad = two.clone();
    bad[9 + 1] = f64::NAN;
    assert!(text(make(3, 1, 2, &bad, &[0, 1]).unwrap_err()).starts_with("trial 1, input 0: "));
    bad[9 + 1] = 0.5;
    assert!(text(make(3, 1, 2, &bad, &[0, 1]).unwrap_err()).contains("not symmetric"));
    let other = |trials| text(net.prepare(trials).unwrap_err());
    assert!(
        other(make(3, 2, 2, &two, &[0]).unwrap())
            .contains("matrices per trial: the network expects 1, the data have 2")
    );
    assert!(
        other(make(3, 1, 3, &two, &[0, 1]).unwrap())
            .contains("classes: the network expects 2, the data have 3")
    );
    assert!(
        other(make(1, 18, 2, &two, &[0]).unwrap())
            .contains("matrix size: the network expects 3, the data have 1")
    );

    let examples = net.prepare(make(3, 1, 2, &two, &[0, 1]).unwrap()).unwrap();
    let parameters = net.initial(Seed(0)).unwrap();
    let (mut workspace, mut out) = (net.workspace(1).unwrap(), vec![0.0; 4]);
    let mut ask = |parameters: &ParamSet<f64>, batch: &[usize]| {
        text(net.logits(parameters, &examples, batch, &mut workspace, &mut out).unwrap_err())
    };
    assert!(ask(&parameters, &[]).contains("batch size"));
    assert!(ask(&parameters, &[0, 2]).contains("below 2"));
    let foreign = SpdNet::<f64>::new(SpdNetConfig::new(vec![3, 1], 2)).unwrap().initial(Seed(0)).unwrap();
    assert!(ask(&foreign, &[0]).contains("do not match this model"));
    assert!(net.workspace(0).is_err());
    let mut spoilt = parameters.clone();
    spoilt.values_mut()[0] = f64::NAN;
    assert!(ask(&spoilt, &[0]).contains("training diverged: a parameter is NaN"));
    let mut huge = parameters.clone();
    huge.get_mut("head.weight").unwrap().fill(f64::MAX);
    huge.get_mut("head.bias").unwrap().fill(f64::MAX);
    let wide = net
        .prepare(make(3, 1, 2, &[identity.map(|x| 1e9 * x), identity].concat(), &[0, 1]).unwrap())
        .unwrap();
    let error = net.logits(&huge, &wide, &[0], &mut net.workspace(1).unwrap(), &mut [0.0; 2]).unwrap_err();
    assert!(text(error).contains("training diverged: a logit is"));
    // Without blocks the error is in the data, and it names the trial.
    let plain = SpdNet::<f64>::new(SpdNetConfig::new(vec![3], 2)).unwrap();
    let mut many = [identity; 20];
    many[13] = identity.map(|x| x * f64::MAX);
    many[13][1] = f64::MAX;
    many[13][3] = f64::MAX;
    let error = plain.prepare(make(3, 1, 2, &many.concat(), &[0; 20]).unwrap()).unwrap_err();
    assert!(matches!(error, Error::Trial { trial: 13, input: 0, .. }), "{error}");
}

/// Examples fit only networks like the one that prepared them.
#[test]
fn examples_of_another_network_are_refused() {
    let make = |dimensions: &[usize], classes, inputs, threshold| {
        net(SpdNetConfig::new(dimensions.to_vec(), classes).inputs(inputs).threshold(threshold))
    };
    let networks = [
        make(&[6, 4], 3, 1, 1e-2),
        make(&[8, 4], 3, 1, 1e-2),
        make(&[6, 4], 5, 1, 1e-2),
        make(&[6, 4], 3, 2, 1e-2),
        make(&[6], 3, 1, 1e-2),
        make(&[6], 3, 1, 1e-3),
    ];
    for (i, net) in networks.iter().enumerate() {
        let data = trials(&mut rng(9), net.config(), 5, distinct(net.config().dimensions[0]));
        let examples = net.prepare(data).unwrap();
        for (j, other) in networks.iter().enumerate() {
            let parameters = other.initial(Seed(0)).unwrap();
            let mut out = vec![0.0; other.config().classes];
            let result =
                other.logits(&parameters, &examples, &[0], &mut other.workspace(1).unwrap(), &mut out);
            assert_eq!(result.is_ok(), i == j);
            assert!(i == j || matches!(result, Err(Error::Mismatch { .. })));
        }
    }
    // The same blocks with another threshold accept the same matrices.
    let examples = networks[0].prepare(trials(&mut rng(9), networks[0].config(), 5, distinct(6))).unwrap();
    let other = make(&[6, 3], 3, 1, 1e-3);
    let mut out = vec![0.0; 3];
    other
        .logits(&other.initial(Seed(0)).unwrap(), &examples, &[0], &mut other.workspace(1).unwrap(), &mut out)
        .unwrap();
}
