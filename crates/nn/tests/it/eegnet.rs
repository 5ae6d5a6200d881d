//! EEGNet: torch's values, the plain computation, finite differences, determinism, learning.

use fedspd_manifold::Real;
use fedspd_manifold::RetractionKind;
use fedspd_manifold::simd::Simd;
use fedspd_nn::{
    AdamSettings, Architecture, BatchNorm, Dropout, EegExamples, EegNet, EegNetConfig, EegNetWorkspace,
    FedBn, MaxNorm, Model, Optimiser, OptimiserConfig, ParamSet, Parameter, Purpose, RawTrials, Role, Scope,
    Seed, SpdNet, SpdNetConfig, SyntheticEeg, SyntheticTask, Trainer,
};
use serde_json::Value;

use crate::plain_eegnet::{self, Dual};
use crate::support::{bits, dot, gap, golden, norm};

/// A golden case (`golden/eegnet`).
struct Case {
    facts: Value,
    name: &'static str,
}

impl Case {
    fn new(name: &'static str) -> Self {
        let path = format!("{}/../../golden/eegnet/{name}.json", env!("CARGO_MANIFEST_DIR"));
        Self { facts: serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap(), name }
    }

    fn number(&self, key: &str) -> usize {
        usize::try_from(self.facts[key].as_u64().unwrap()).unwrap()
    }

    fn list(&self, key: &str) -> Vec<usize> {
        self.facts[key]
            .as_array()
            .unwrap()
            .iter()
            .map(|n| usize::try_from(n.as_u64().unwrap()).unwrap())
            .collect()
    }

    fn array(&self, part: &str) -> Vec<f64> {
        golden(&format!("eegnet/{}-{part}.npy", self.name))
    }

    fn config(&self) -> EegNetConfig {
        EegNetConfig {
            channels: self.number("channels"),
            samples: self.number("samples"),
            classes: self.number("classes"),
            filters: self.number("filters"),
            depth: self.number("depth"),
            rows: self.number("rows"),
            temporal_taps: self.number("temporal_taps"),
            separable_taps: self.number("separable_taps"),
            pools: self.list("pools").try_into().unwrap(),
            dropout: self.facts["dropout"].as_f64().unwrap(),
            batch_norm: BatchNorm {
                momentum: self.facts["momentum"].as_f64().unwrap(),
                epsilon: self.facts["epsilon"].as_f64().unwrap(),
            },
            fedbn: FedBn::All,
            max_norm: None,
        }
    }

    fn examples<T: Real>(&self, net: &EegNet<T>) -> EegExamples<T>
    where
        EegNet<T>: Model<T, Trials = RawTrials<T>, Examples = EegExamples<T>, Workspace = EegNetWorkspace<T>>,
    {
        let config = net.config();
        let samples: Vec<T> = self.array("samples").into_iter().map(T::from_f64).collect();
        let labels = self.list("labels");
        net.prepare(RawTrials::new(config.channels, config.samples, config.classes, samples, labels).unwrap())
            .unwrap()
    }

    fn dropout(&self, seen: usize) -> Dropout {
        let seed = Seed(self.facts["seed"].as_u64().unwrap());
        Dropout { stream: seed.stream(Purpose::Dropout), seen: seen as u64 }
    }
}

/// Returns the distance of each parameter's values from the expected ones. It is relative to the
/// larger of their norm and a thousandth of the norm of all.
fn distances<T: Real>(parameters: &ParamSet<T>, found: &[T], expected: &[f64]) -> Vec<(String, f64)> {
    let norm = |values: &[f64]| values.iter().map(|x| x * x).sum::<f64>().sqrt();
    let all = norm(expected);
    let each = parameters.layout().parameters().iter().map(|parameter| {
        let range = parameter.range();
        let expected = &expected[range.clone()];
        let difference: Vec<f64> = found[range].iter().zip(expected).map(|(a, b)| a.to_f64() - b).collect();
        (parameter.name.clone(), norm(&difference) / norm(expected).max(1e-3 * all))
    });
    each.collect()
}

fn agrees_with_torch<T: Real>(
    name: &'static str,
    gradient_tolerance: f64,
    trained_tolerance: f64,
    noisy: &[&str],
) where
    EegNet<T>: Model<T, Trials = RawTrials<T>, Examples = EegExamples<T>, Workspace = EegNetWorkspace<T>>,
{
    let case = Case::new(name);
    let net = EegNet::<T>::new(case.config()).unwrap();
    let examples = case.examples(&net);
    let batch = case.list("batch");
    let values = case.array("parameters").into_iter().map(T::from_f64).collect();
    let mut parameters = ParamSet::new(net.layout().clone(), values).unwrap();
    let mut workspace = net.workspace(1).unwrap();
    let close = |found: &[T], expected: &[f64], what: &str| {
        let scale = expected.iter().fold(0.0_f64, |largest, x| largest.max(x.abs()));
        let far = found.iter().zip(expected).fold(0.0_f64, |far, (a, b)| far.max((a.to_f64() - b).abs()));
        assert!(far < gradient_tolerance * scale, "{name}: {what} is off by {:e}", far / scale);
    };
    let mut logits = vec![T::ZERO; batch.len() * net.classes()];
    net.logits(&parameters, &examples, &batch, &mut workspace, &mut logits).unwrap();
    close(&logits, &case.array("evaluation"), "evaluation");

    let adam = OptimiserConfig::Adam {
        adam: AdamSettings::default(),
        retraction: RetractionKind::Polar,
        rebase_every: None,
    };
    let mut optimiser = Optimiser::new(adam, &parameters).unwrap();
    let mut gradient = vec![T::ZERO; parameters.values().len()];
    for step in 0..case.number("steps") {
        let dropout = Some(case.dropout(step * batch.len()));
        let loss = net
            .loss_and_gradient(&parameters, &examples, &batch, dropout, &mut workspace, &mut gradient)
            .unwrap();
        if step == 0 {
            let expected = case.facts["loss"].as_f64().unwrap();
            assert!((loss.to_f64() - expected).abs() < gradient_tolerance * expected);
            let logits: Vec<T> = workspace.training_logits().flatten().copied().collect();
            close(&logits, &case.array("logits"), "training logits");
            for (parameter, far) in distances(&parameters, &gradient, &case.array("gradient")) {
                assert!(far < gradient_tolerance, "{name}: the gradient of {parameter} is off by {far:e}");
            }
        }
        optimiser.step(&mut parameters, &gradient, case.facts["rate"].as_f64().unwrap()).unwrap();
        parameters.take_statistics(&gradient).unwrap();
    }
    for (parameter, far) in distances(&parameters, parameters.values(), &case.array("trained")) {
        if !noisy.contains(&&*parameter) {
            assert!(far < trained_tolerance, "{name}: {parameter} is off by {far:e} after training");
        }
    }
}

#[test]
fn everything_equals_torch_in_double_precision() {
    for name in ["even", "odd", "tiles"] {
        agrees_with_torch::<f64>(name, 1e-9, 1e-7, &[]);
    }
}

/// BN1 gets gradient only through the epsilon of BN2. In single precision its gradient is mostly
/// rounding noise, which Adam turns into full steps. The running statistics of BN2 follow the scale
/// of BN1.
#[test]
fn everything_equals_torch_in_single_precision_but_noise() {
    let noisy = ["norm1.scale", "norm1.shift", "norm2.mean", "norm2.variance"];
    for name in ["even", "odd"] {
        agrees_with_torch::<f32>(name, 1e-4, 1e-3, &noisy);
    }
    // With a large epsilon only the shift is noise: its gradient is zero.
    agrees_with_torch::<f32>("tiles", 1e-4, 1e-3, &["norm1.shift", "norm2.mean"]);
}

/// The constants of the first two cases are the named ones.
#[test]
fn torch_and_the_original_normalise_as_the_golden_cases() {
    assert_eq!(Case::new("even").config().batch_norm, BatchNorm::TORCH);
    assert_eq!(Case::new("odd").config().batch_norm, BatchNorm::ORIGINAL);
    assert_eq!(EegNetConfig::new(8, 100, 100.0, 3).batch_norm, BatchNorm::TORCH);
}

/// EEGNet has the paper's parameter counts.
#[test]
fn parameter_counts_are_the_papers() {
    for (config, count) in
        [(EegNetConfig::new(60, 801, 200.0, 7), 5303), (EegNetConfig::new(64, 481, 160.0, 4), 3284)]
    {
        assert_eq!(config.parameter_count(), count);
        let net = EegNet::<f32>::new(config).unwrap();
        let trained = net.layout().parameters().iter().filter(|parameter| parameter.role == Role::Trained);
        assert_eq!(trained.map(|parameter| parameter.size()).sum::<usize>(), count);
    }
}

#[test]
fn batch_norm_stays_with_its_client() {
    for (fedbn, trained) in [(FedBn::All, Scope::Local), (FedBn::Statistics, Scope::Shared)] {
        let net = EegNet::<f32>::new(EegNetConfig { fedbn, ..EegNetConfig::new(8, 100, 100.0, 3) }).unwrap();
        for parameter in net.layout().parameters() {
            let statistic = parameter.name.ends_with("mean") || parameter.name.ends_with("variance");
            assert_eq!(parameter.role == Role::Statistic, statistic);
            let scope = match (parameter.name.starts_with("norm"), statistic) {
                (true, true) => Scope::Local,
                (true, false) => trained,
                _ => Scope::Shared,
            };
            assert_eq!(parameter.scope, scope, "{}", parameter.name);
        }
    }
}

/// Returns values away from the initial ones.
fn generic(net: &EegNet<f64>) -> ParamSet<f64> {
    let mut parameters = net.initial(Seed(3)).unwrap();
    for (place, value) in parameters.values_mut().iter_mut().enumerate() {
        *value += 0.2 * ((place * 37 % 101) as f64 / 101.0 - 0.45);
    }
    parameters
}

/// Networks for the comparison of the shortcut with the plain computation, each with a batch: even,
/// odd and single taps, small and large epsilons. BN2 removes the effect of BN1 except for its
/// epsilon. Only large epsilons therefore test BN1's scale and the gradient through its statistics.
fn compared() -> impl Iterator<Item = (EegNet<f64>, EegExamples<f64>, [usize; 5])> {
    let shapes = [
        (4, (10, 4), [4, 2], [3, 2, 5]),
        (4, (7, 5), [3, 3], [2, 3, 4]),
        (4, (1, 1), [1, 2], [1, 1, 1]),
        // More channels than a vector has lanes.
        (18, (6, 3), [2, 2], [2, 1, 2]),
        // More taps than samples.
        (4, (40, 3), [2, 2], [1, 2, 2]),
    ];
    let cases = shapes.into_iter().flat_map(|shape| [1e-5, 0.1, 1.0].map(|epsilon| (shape, epsilon)));
    cases.map(|((channels, taps, pools, [filters, depth, rows]), epsilon)| {
        let config = EegNetConfig {
            temporal_taps: taps.0,
            separable_taps: taps.1,
            pools,
            filters,
            depth,
            rows,
            dropout: 0.0,
            batch_norm: BatchNorm { epsilon, ..BatchNorm::TORCH },
            ..EegNetConfig::new(channels, 29, 100.0, 3)
        };
        let net = EegNet::new(config).unwrap();
        let trials = SyntheticEeg::new(channels, 29, 100.0, 3).trials(11).client(Seed(1), 0).unwrap();
        let examples = net.prepare(trials).unwrap();
        (net, examples, [10, 3, 4, 0, 7])
    })
}

/// Computes loss and gradient by the shortcut.
fn shortcut(
    net: &EegNet<f64>,
    parameters: &ParamSet<f64>,
    examples: &EegExamples<f64>,
    batch: &[usize],
) -> (f64, Vec<f64>) {
    let mut workspace = net.workspace(1).unwrap();
    let mut gradient = vec![0.0; parameters.values().len()];
    let loss =
        net.loss_and_gradient(parameters, examples, batch, None, &mut workspace, &mut gradient).unwrap();
    (loss, gradient)
}

fn trained(net: &EegNet<f64>) -> impl Iterator<Item = &Parameter> {
    net.layout().parameters().iter().filter(|parameter| parameter.role == Role::Trained)
}

/// Compares with every derivative of the plain computation, by dual numbers. The tolerance of each
/// group of parameters is relative to its own norm. With a small epsilon the plain computation gets
/// BN1's gradient as a difference of numbers near 1, hence the floor.
#[test]
fn the_shortcut_equals_the_plain_route_with_every_derivative() {
    for (net, examples, batch) in compared() {
        let parameters = generic(&net);
        let (loss, gradient) = shortcut(&net, &parameters, &examples, &batch);
        let plain = plain_eegnet::loss(net.config(), &parameters, parameters.values(), &examples, &batch);
        assert!((loss - plain).abs() < 1e-12 * plain, "{loss} and {plain}");
        for parameter in trained(&net) {
            let ours = &gradient[parameter.range()];
            let slope = |place: usize| {
                let mut values: Vec<Dual> = parameters.values().iter().map(|&x| x.into()).collect();
                values[place].slope = 1.0;
                plain_eegnet::loss(net.config(), &parameters, &values, &examples, &batch).slope
            };
            let plain: Vec<f64> = parameter.range().map(slope).collect();
            let far = gap(ours, &plain);
            assert!(far < 1e-11 * norm(&plain) + 1e-15, "{}: {ours:?} and {plain:?}", parameter.name);
        }
    }
}

#[test]
fn the_gradient_equals_finite_differences_of_the_plain_route() {
    for (net, examples, batch) in compared() {
        let parameters = generic(&net);
        let (_, gradient) = shortcut(&net, &parameters, &examples, &batch);
        for parameter in trained(&net) {
            // A generic direction within the parameter.
            let direction: Vec<f64> =
                parameter.range().map(|place| ((place * 53 % 97) as f64 / 97.0) - 0.48).collect();
            let moved = |step: f64| {
                let mut values = parameters.values().to_vec();
                for (value, d) in values[parameter.range()].iter_mut().zip(&direction) {
                    *value += step * d;
                }
                plain_eegnet::loss(net.config(), &parameters, &values, &examples, &batch)
            };
            // A short step, because ELU has a kink in its slope.
            let h = 1e-5;
            let slope = (8.0 * (moved(h) - moved(-h)) - (moved(2.0 * h) - moved(-2.0 * h))) / (12.0 * h);
            let ours = &gradient[parameter.range()];
            // The group's own scale, and the rounding of the loss over the step.
            let tolerance = 1e-6 * norm(ours) * norm(&direction) + 1e-10;
            let ours = dot(ours, &direction);
            assert!((ours - slope).abs() < tolerance, "{}: {ours} and {slope}", parameter.name);
        }
    }
}

fn small<T: Real>(dropout: f64) -> (EegNet<T>, EegExamples<T>)
where
    EegNet<T>: Model<T, Trials = RawTrials<T>, Examples = EegExamples<T>, Workspace = EegNetWorkspace<T>>,
{
    small_on(dropout, Simd::detect().unwrap())
}

fn small_on<T: Real>(dropout: f64, simd: Simd) -> (EegNet<T>, EegExamples<T>)
where
    EegNet<T>: Model<T, Trials = RawTrials<T>, Examples = EegExamples<T>, Workspace = EegNetWorkspace<T>>,
{
    let config = EegNetConfig { dropout, ..EegNetConfig::new(6, 130, 64.0, 3) };
    let net = EegNet::<T>::with_simd(config, simd).unwrap();
    let trials = SyntheticEeg::new(6, 130, 64.0, 3).trials(50).client(Seed(5), 0).unwrap();
    let examples = net.prepare(trials).unwrap();
    (net, examples)
}

#[test]
fn threads_and_instruction_sets_change_no_bit() {
    same_bits_everywhere::<f32>();
    same_bits_everywhere::<f64>();
}

fn same_bits_everywhere<T: Real>()
where
    EegNet<T>: Model<T, Trials = RawTrials<T>, Examples = EegExamples<T>, Workspace = EegNetWorkspace<T>>,
{
    let all: Vec<usize> = (0..50).collect();
    let run = |threads: usize, simd: Simd| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let (net, examples) = small_on::<T>(0.25, simd);
            let parameters = net.initial(Seed(0)).unwrap();
            let mut workspace = net.workspace(threads).unwrap();
            let (mut gradient, mut logits) = (vec![T::ZERO; parameters.values().len()], vec![T::ZERO; 150]);
            let dropout = Some(Dropout { stream: Seed(2).stream(Purpose::Dropout), seen: 0 });
            net.loss_and_gradient(&parameters, &examples, &all, dropout, &mut workspace, &mut gradient)
                .unwrap();
            net.logits(&parameters, &examples, &all, &mut workspace, &mut logits).unwrap();
            (bits(&gradient), bits(&logits))
        })
    };
    let expected = run(1, Simd::detect().unwrap());
    for threads in [2, 3, 4] {
        assert_eq!(run(threads, Simd::detect().unwrap()), expected);
    }
    for simd in Simd::available() {
        assert_eq!(run(1, simd), expected, "{}", simd.name());
    }
}

/// Evaluation needs only the samples: they need no preparation, give the same logits, and are
/// refused in training.
#[test]
fn trials_prepared_for_use_are_evaluated_but_not_trained_on() {
    let (net, examples) = small::<f32>(0.25);
    let for_use = net.prepare_for_use(examples.trials().clone()).unwrap();
    // m and the upper triangle of R, in f64.
    assert_eq!((examples.cached_bytes(), for_use.cached_bytes()), (50 * (32 + 32 * 33 / 2) * 8, 0));
    let parameters = net.initial(Seed(0)).unwrap();
    let mut workspace = net.workspace(1).unwrap();
    let mut logits = |examples: &EegExamples<f32>| {
        let mut logits = [0.0; 9];
        net.logits(&parameters, examples, &[3, 1, 4], &mut workspace, &mut logits).unwrap();
        logits
    };
    assert_eq!(logits(&for_use), logits(&examples));
    let train = |net: &EegNet<f32>, examples: &EegExamples<f32>| {
        let parameters = net.initial(Seed(0)).unwrap();
        let (mut workspace, mut gradient) = (net.workspace(1).unwrap(), vec![0.0; parameters.values().len()]);
        net.loss_and_gradient(&parameters, examples, &[0], None, &mut workspace, &mut gradient)
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        train(&net, &for_use),
        "lag statistics: the network expects 32 taps, the data have none: they were prepared for evaluation only"
    );
    let longer = EegNet::new(EegNetConfig { temporal_taps: 40, ..net.config().clone() }).unwrap();
    assert_eq!(
        train(&longer, &examples),
        "lag statistics: the network expects 40 taps, the data have 32 taps"
    );
}

/// Logits of a training pass are available until the next pass.
#[test]
fn training_logits_are_those_of_the_last_training_pass_or_none() {
    let (net, examples) = small::<f64>(0.0);
    let parameters = net.initial(Seed(0)).unwrap();
    let mut workspace = net.workspace(1).unwrap();
    let mut gradient = vec![0.0; parameters.values().len()];
    let batch: Vec<usize> = (0..20).collect();
    net.loss_and_gradient(&parameters, &examples, &batch, None, &mut workspace, &mut gradient).unwrap();
    assert_eq!(workspace.training_logits().count(), 20);
    net.logits(&parameters, &examples, &batch, &mut workspace, &mut [0.0; 60]).unwrap();
    assert_eq!(workspace.training_logits().count(), 0);
}

/// An empty batch is an error, not a loss of 0/0.
#[test]
fn an_empty_batch_is_refused_by_both_networks() {
    fn refused<T: Real, M: Model<T>>(net: &M, examples: &M::Examples) {
        let message = "`batch size` is 0; it must be at least 1";
        let parameters = net.initial(Seed(0)).unwrap();
        let (mut workspace, mut gradient) =
            (net.workspace(1).unwrap(), vec![T::ZERO; parameters.values().len()]);
        let error = net.logits(&parameters, examples, &[], &mut workspace, &mut []).unwrap_err();
        assert_eq!(error.to_string(), message);
        let error = net
            .loss_and_gradient(&parameters, examples, &[], None, &mut workspace, &mut gradient)
            .unwrap_err();
        assert_eq!(error.to_string(), message);
        let error = Trainer::new(net, 4, 1).unwrap().evaluate(&parameters, examples, &[]).unwrap_err();
        assert_eq!(error.to_string(), message);
    }
    let (net, examples) = small::<f32>(0.0);
    refused(&net, &examples);
    let net = SpdNet::<f64>::new(SpdNetConfig::new(vec![6, 4], 3)).unwrap();
    refused(&net, &net.prepare(SyntheticTask::new(6, 3).client(Seed(0), 0).unwrap()).unwrap());
}

/// A channel offset far above the signal causes cancellation in BN1's variance. The lag statistics
/// are `f64` for single precision too, so no digits are lost.
#[test]
fn an_offset_costs_the_variance_no_digits_in_single_precision() {
    let config = EegNetConfig { temporal_taps: 1, dropout: 0.0, ..EegNetConfig::new(6, 130, 64.0, 3) };
    let net = EegNet::<f32>::new(config).unwrap();
    let raw: RawTrials<f64> = SyntheticEeg::new(6, 130, 64.0, 3).trials(20).client(Seed(5), 0).unwrap();
    let samples: Vec<f32> = (0..20).flat_map(|trial| raw.trial(trial)).map(|x| (x + 1e4) as f32).collect();
    let count = samples.len() as f64;
    let mean = samples.iter().map(|&x| f64::from(x)).sum::<f64>() / count;
    let variance = samples.iter().map(|&x| (f64::from(x) - mean).powi(2)).sum::<f64>() / (count - 1.0);

    let examples = net.prepare(RawTrials::new(6, 130, 3, samples, raw.labels().to_vec()).unwrap()).unwrap();
    let parameters = net.initial(Seed(0)).unwrap();
    let mut next = vec![0.0; parameters.values().len()];
    let (mut workspace, batch): (_, Vec<usize>) = (net.workspace(1).unwrap(), (0..20).collect());
    net.loss_and_gradient(&parameters, &examples, &batch, None, &mut workspace, &mut next).unwrap();
    let filters = parameters.get("temporal.weight").unwrap();
    for (&h, &found) in filters.iter().zip(&next[net.layout().get("norm1.variance").unwrap().range()]) {
        let expected = 0.9 + 0.1 * f64::from(h).powi(2) * variance;
        assert!((f64::from(found) - expected).abs() < 1e-6 * expected, "{found} and {expected}");
    }
}

/// Overflow is reported, not normalised away.
#[test]
fn a_variance_that_is_not_finite_is_divergence() {
    for (size, taps) in [(1e200, 8), (1e160, 1)] {
        let config = EegNetConfig { temporal_taps: taps, dropout: 0.0, ..EegNetConfig::new(4, 64, 64.0, 2) };
        let net = EegNet::<f64>::new(config).unwrap();
        let samples: Vec<f64> = (0..4 * 64 * 2).map(|place| size * f64::from(place % 7 - 3)).collect();
        let examples = net.prepare(RawTrials::new(4, 64, 2, samples, vec![0, 1]).unwrap()).unwrap();
        let parameters = net.initial(Seed(0)).unwrap();
        let (mut workspace, mut gradient) = (net.workspace(1).unwrap(), vec![0.0; parameters.values().len()]);
        let error = net
            .loss_and_gradient(&parameters, &examples, &[0, 1], None, &mut workspace, &mut gradient)
            .unwrap_err();
        let message = error.to_string();
        assert!(message.starts_with("training diverged: the variance of a row"), "{message}");
    }
}

/// Invalid sizes and rates from a file or a user are refused.
#[test]
fn absurd_sizes_and_rates_are_refused_without_panic() {
    for rate in [f64::NAN, f64::INFINITY, -160.0, 0.0, 1e300] {
        let config = EegNetConfig::new(64, 481, rate, 4);
        let _ = config.parameter_count();
        assert!(config.check().unwrap_err().to_string().contains("half the sampling rate"), "{rate}");
    }
    let most = usize::MAX;
    let all =
        EegNetConfig { filters: most, depth: most, rows: most, ..EegNetConfig::new(most, most, 160.0, most) };
    assert_eq!(all.parameter_count(), most);
    assert!(all.check().is_err());
    let large = EegNetConfig { samples: 65536, filters: 64, depth: 32, ..EegNetConfig::new(2, 1, 1.0, 2) };
    assert_eq!(
        large.check().unwrap_err().to_string(),
        "`samples x rows` is 134217728; it must be at most 16777216"
    );
    let pools = EegNetConfig { pools: [most, most], ..EegNetConfig::new(4, 64, 64.0, 2) };
    assert!(pools.check().is_err());
}

/// In evaluation, a trial's logits depend only on the trial itself.
#[test]
fn evaluation_does_not_depend_on_the_batch() {
    let (net, examples) = small::<f32>(0.25);
    let parameters = net.initial(Seed(0)).unwrap();
    let mut workspace = net.workspace(1).unwrap();
    let mut all = vec![0.0; 150];
    let trials: Vec<usize> = (0..50).collect();
    net.logits(&parameters, &examples, &trials, &mut workspace, &mut all).unwrap();
    for trial in [0, 17, 49] {
        let mut alone = [0.0; 3];
        net.logits(&parameters, &examples, &[trial], &mut workspace, &mut alone).unwrap();
        assert_eq!(alone, all[trial * 3..trial * 3 + 3]);
    }
}

#[test]
fn it_learns_generated_trials() {
    let config = EegNetConfig { dropout: 0.1, ..EegNetConfig::new(8, 160, 80.0, 2) };
    let net = EegNet::<f32>::new(config).unwrap();
    let examples =
        net.prepare(SyntheticEeg::new(8, 160, 80.0, 2).trials(200).client(Seed(7), 0).unwrap()).unwrap();
    let (training, held_out): (Vec<usize>, Vec<usize>) = (0..200).partition(|trial| trial % 10 < 7);
    let mut parameters = net.initial(Seed(0)).unwrap();
    let mut trainer = Trainer::new(&net, 32, 1).unwrap();
    let mut optimiser = Optimiser::new(OptimiserConfig::default(), &parameters).unwrap();
    for epoch in 0..40 {
        let stream = Seed(0).stream(Purpose::Shuffle).epoch(epoch);
        trainer.epoch(&mut parameters, &mut optimiser, 3e-3, &examples, &training, stream).unwrap();
    }
    let accuracy = |trainer: &mut Trainer<'_, f32, EegNet<f32>>, trials: &[usize]| {
        trainer.evaluate(&parameters, &examples, trials).unwrap().accuracy
    };
    let (seen, unseen) = (accuracy(&mut trainer, &training), accuracy(&mut trainer, &held_out));
    assert!(seen > 0.9 && unseen > 0.75, "{seen} of the training trials, {unseen} of others");
}

#[test]
fn norms_are_kept_below_their_limits() {
    let max_norm = Some(MaxNorm { spatial: 0.3, head: 0.1 });
    let net = EegNet::<f64>::new(EegNetConfig { max_norm, ..EegNetConfig::new(6, 130, 64.0, 3) }).unwrap();
    let examples =
        net.prepare(SyntheticEeg::new(6, 130, 64.0, 3).trials(20).client(Seed(5), 0).unwrap()).unwrap();
    let mut parameters = net.initial(Seed(0)).unwrap();
    let mut trainer = Trainer::new(&net, 20, 1).unwrap();
    let mut optimiser = Optimiser::new(OptimiserConfig::default(), &parameters).unwrap();
    let all: Vec<usize> = (0..20).collect();
    let stream = Seed(0).stream(Purpose::Shuffle);
    trainer.epoch(&mut parameters, &mut optimiser, 0.05, &examples, &all, stream).unwrap();
    for (name, rows, largest) in [("spatial.weight", 16, 0.3), ("head.weight", 3, 0.1)] {
        let values = parameters.get(name).unwrap();
        let norms =
            values.chunks_exact(values.len() / rows).map(|row| row.iter().map(|x| x * x).sum::<f64>().sqrt());
        let norms: Vec<f64> = norms.collect();
        assert!(norms.iter().all(|norm| *norm < largest + 1e-12), "{norms:?}");
        assert!(norms.iter().any(|norm| *norm > largest - 1e-12), "{norms:?}");
    }
}

#[test]
fn a_model_file_keeps_an_eegnet() {
    let (net, _) = small::<f32>(0.25);
    let parameters = net.initial(Seed(0)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    let names = |prefix: &str, n: usize| (0..n).map(|i| format!("{prefix}{i}")).collect::<Vec<_>>();
    let manifest =
        fedspd_nn::file::Manifest::new(net.describe(), "1", names("class", 3), names("C", 6)).unwrap();
    std::fs::write(&path, fedspd_nn::file::encode(&path, &manifest, &parameters).unwrap()).unwrap();
    let (loaded, values) = fedspd_nn::file::load::<f32>(&path).unwrap();
    assert_eq!((loaded, values.values()), (manifest, parameters.values()));
}

#[test]
fn what_does_not_fit_is_refused_with_the_numbers() {
    let message = |result: Result<(), fedspd_nn::Error>| result.unwrap_err().to_string();
    let new = |samples: Vec<f32>, labels: Vec<usize>| RawTrials::new(2, 3, 2, samples, labels).map(drop);
    assert_eq!(message(new(vec![0.0; 11], vec![0, 1])), "the samples: 11 numbers where 12 were expected");
    assert_eq!(
        message(new(vec![0.0; 6], vec![2])),
        "the label of trial 0 is 2, but classes are counted from 0 and their number is 2"
    );
    assert_eq!(
        message(new(vec![0.0, 0.0, 0.0, f32::NAN, 0.0, 0.0], vec![1])),
        "trial 0, channel 1: a sample is NaN"
    );
    let config = |change: fn(&mut EegNetConfig)| {
        let mut config = EegNetConfig::new(6, 130, 64.0, 3);
        change(&mut config);
        EegNet::<f32>::new(config).map(drop)
    };
    assert_eq!(
        message(config(|c| c.samples = 31)),
        "`samples` is 31; it must be at least 32, the product of both pools"
    );
    assert_eq!(
        message(config(|c| c.temporal_taps = 0)),
        "`temporal_taps` is 0; it must be from 1 to 4096; by default it is half the sampling rate"
    );
    assert_eq!(
        message(config(|c| (c.filters, c.rows) = (1024, 65536))),
        "`parameter_count` is 135202819; it must be at most 16777216"
    );
    assert_eq!(
        message(config(|c| c.dropout = 1.0)),
        "`dropout` is 1.0; it must be at least 0 and less than 1"
    );
    let (net, _) = small::<f32>(0.0);
    let other = SyntheticEeg::new(5, 130, 64.0, 3).trials(4).client(Seed(5), 0).unwrap();
    assert_eq!(message(net.prepare(other).map(drop)), "channels: the network expects 6, the data have 5");
}

#[test]
fn signals_too_small_for_batch_norm_are_warned_of() {
    let (net, _) = small::<f32>(0.0);
    let volts = vec![1e-6_f32; 6 * 130];
    let examples = net.prepare(RawTrials::new(6, 130, 3, volts, vec![0]).unwrap()).unwrap();
    let parameters = net.initial(Seed(0)).unwrap();
    let warning = Trainer::new(&net, 4, 1).unwrap().check(&parameters, &examples, &[0]).unwrap().unwrap();
    assert!(warning.contains("is the unit right?"), "{warning}");
}
