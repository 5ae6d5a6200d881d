//! Optimisers: gradients, convergence, feasibility and other guarantees.

use std::sync::Arc;

use fedspd_manifold::{Matrix, RetractionKind, Stiefel};
use fedspd_nn::{
    AdamSettings, Error, Layout, Model, Optimiser, OptimiserConfig, ParamSet, Purpose, Seed, SpdNet,
    SpdNetConfig, SyntheticTask, Tensor, Trainer, Trivialisation, landing_field,
};

use crate::support::{dot, gap, gaussian, norm, rng, with_spectrum};

const SHAPES: [(usize, usize); 5] = [(5, 5), (12, 5), (64, 18), (60, 22), (7, 1)];
const KINDS: [RetractionKind; 2] = [RetractionKind::Polar, RetractionKind::Qr];

fn point(seed: u64, p: usize, k: usize) -> Vec<f64> {
    Stiefel::<f64>::new(p, k).unwrap().random(&mut rng(seed)).unwrap().as_slice().to_vec()
}

fn project(w: &[f64], x: &[f64], p: usize, k: usize) -> Vec<f64> {
    let mut out = vec![0.0; p * k];
    Stiefel::new(p, k).unwrap().project(w, x, &mut out).unwrap();
    out
}

fn stiefel_set(w: &[f64], p: usize, k: usize) -> ParamSet<f64> {
    let layout = Layout::new(vec![Tensor::stiefel("w", p, k)]).unwrap();
    ParamSet::new(Arc::new(layout), w.to_vec()).unwrap()
}

fn adam(rebase_every: Option<u64>, retraction: RetractionKind) -> OptimiserConfig {
    OptimiserConfig::Adam { adam: AdamSettings::default(), retraction, rebase_every }
}

fn all() -> [OptimiserConfig; 5] {
    let (retraction, weight_decay) = (RetractionKind::Polar, 0.0);
    [
        adam(Some(20), RetractionKind::Polar),
        adam(Some(1), RetractionKind::Qr),
        OptimiserConfig::RiemannianAdam { adam: AdamSettings::default(), retraction },
        OptimiserConfig::RiemannianSgd { momentum: 0.5, weight_decay, retraction },
        OptimiserConfig::Landing { attraction: 1.0, safe_distance: 0.5, momentum: 0.5, weight_decay },
    ]
}

/// At `B = 0` the trivialised gradient is the Riemannian one. Elsewhere it matches
/// differences of a generic linear functional.
#[test]
fn the_trivialised_gradient_is_exact() {
    for ((p, k), kind) in SHAPES.into_iter().flat_map(|shape| KINDS.map(|kind| (shape, kind))) {
        let mut rng = rng(1);
        let base = point(2, p, k);
        let functional = gaussian(&mut rng, p * k);
        let mut map = Trivialisation::new(kind, p, k, &base).unwrap();
        let mut pulled = vec![0.0; p * k];
        map.pull_back(&functional, &mut pulled).unwrap();
        let riemannian = project(&base, &functional, p, k);
        assert!(gap(&pulled, &riemannian) < 1e-14 * norm(&functional), "{p} {k} {kind:?}");
        let b: Vec<f64> = gaussian(&mut rng, p * k).iter().map(|x| 0.3 * x).collect();
        let direction = gaussian(&mut rng, p * k);
        let value = |map: &mut Trivialisation<f64>, t: f64| {
            let mut b: Vec<f64> = b.iter().zip(&direction).map(|(b, d)| b + t * d).collect();
            let mut w = vec![0.0; p * k];
            map.point(&mut b, &mut w).unwrap();
            dot(&w, &functional)
        };
        let h = 1e-4;
        let mut at = |t| value(&mut map, t);
        let slope = (8.0 * (at(h) - at(-h)) - (at(2.0 * h) - at(-2.0 * h))) / (12.0 * h);
        at(0.0);
        map.pull_back(&functional, &mut pulled).unwrap();
        let scale = norm(&functional) * norm(&direction);
        assert!((dot(&pulled, &direction) - slope).abs() < 1e-9 * scale, "{p} {k} {kind:?}");
    }
}

/// A zero gradient changes no bit.
#[test]
fn a_zero_gradient_keeps_every_bit() {
    for config in [&all()[..4], &[OptimiserConfig::default()]].concat() {
        let w = point(3, 12, 5);
        let mut parameters = stiefel_set(&w, 12, 5);
        let mut optimiser = Optimiser::new(config, &parameters).unwrap();
        for _ in 0..3 {
            optimiser.step(&mut parameters, &[0.0; 60], 0.1).unwrap();
        }
        assert_eq!(parameters.values(), w, "{config:?}");
    }
}

/// Returns `-tr(W^T C W)/2` and its gradient `-C W`. The minimum is minus half the sum of the k
/// largest eigenvalues.
fn pca(c: &Matrix<f64>, w: &[f64], k: usize) -> (f64, Vec<f64>) {
    let n = c.rows();
    let gradient: Vec<f64> = (0..n * k)
        .map(|place| -(0..n).map(|m| c[(place / k, m)] * w[m * k + place % k]).sum::<f64>())
        .collect();
    (0.5 * dot(&gradient, w), gradient)
}

fn covariance() -> (Matrix<f64>, f64) {
    let spectrum: Vec<f64> = (0..12).map(|i| 1.0 / (1.0 + f64::from(i))).collect();
    let c = Matrix::from_rows(12, 12, with_spectrum(&mut rng(4), &spectrum)).unwrap();
    (c, -0.5 * spectrum[..3].iter().sum::<f64>())
}

/// Every method finds the top eigenspace. Plain gradient descent with a small step decreases
/// monotonically.
#[test]
fn every_method_finds_the_top_eigenspace() {
    let (c, minimum) = covariance();
    for config in all() {
        let mut parameters = stiefel_set(&point(5, 12, 3), 12, 3);
        let mut optimiser = Optimiser::new(config, &parameters).unwrap();
        let rate = if matches!(config, OptimiserConfig::Adam { .. } | OptimiserConfig::RiemannianAdam { .. })
        {
            0.02
        } else {
            0.3
        };
        for step in 0..3000 {
            let (_, gradient) = pca(&c, parameters.values(), 3);
            // Adam's steps keep their size, so reduce the rate.
            optimiser.step(&mut parameters, &gradient, rate / (1.0 + f64::from(step) / 300.0)).unwrap();
        }
        optimiser.finish(&mut parameters).unwrap();
        let value = pca(&c, parameters.values(), 3).0;
        assert!(value - minimum < 1e-5 && value - minimum > -1e-12, "{config:?}: {value} {minimum}");
        assert!(parameters.feasibility_error().unwrap() < 1e-12, "{config:?}");
    }
}

#[test]
fn small_steps_go_down_all_the_way() {
    let (c, _) = covariance();
    let config = OptimiserConfig::RiemannianSgd {
        momentum: 0.0,
        weight_decay: 0.0,
        retraction: RetractionKind::Polar,
    };
    let mut parameters = stiefel_set(&point(6, 12, 3), 12, 3);
    let mut optimiser = Optimiser::new(config, &parameters).unwrap();
    let mut last = f64::INFINITY;
    for _ in 0..500 {
        let (value, gradient) = pca(&c, parameters.values(), 3);
        assert!(value <= last + 1e-14);
        last = value;
        optimiser.step(&mut parameters, &gradient, 0.1).unwrap();
    }
}

/// Re-basing does not move the point after a step, and with n = 1 training continues.
#[test]
fn rebasing_loses_no_step() {
    let (c, _) = covariance();
    for kind in KINDS {
        let start = point(7, 12, 3);
        let path = |rebase_every: Option<u64>, steps: usize, rate: f64| {
            let mut parameters = stiefel_set(&start, 12, 3);
            let mut optimiser = Optimiser::new(adam(rebase_every, kind), &parameters).unwrap();
            for _ in 0..steps {
                let (_, gradient) = pca(&c, parameters.values(), 3);
                optimiser.step(&mut parameters, &gradient, rate).unwrap();
            }
            parameters.values().to_vec()
        };
        // The first re-basing follows the step, so the point is the same as without it.
        for n in [1, 2, 5] {
            assert!(gap(&path(Some(n as u64), n, 1e-3), &path(None, n, 1e-3)) < 1e-13);
        }
        // With n = 1 the point moves as far as without re-basing, and both paths agree to second
        // order in the step.
        let both = |rate| (path(Some(1), 40, rate), path(None, 40, rate));
        let ((moved, fixed), (moved_less, fixed_less)) = (both(1e-4), both(1e-5));
        assert!(gap(&moved, &start) > 0.005 && gap(&fixed, &start) > 0.005);
        let ratio = gap(&moved, &fixed) / gap(&moved_less, &fixed_less);
        assert!((90.0..110.0).contains(&ratio), "{kind:?}: {ratio}");
    }
}

/// The parts of the landing field are orthogonal, the distance stays safe, and without a gradient
/// the point converges to the manifold.
#[test]
fn landing_stays_safe_and_lands() {
    let (p, k) = (12, 5);
    let mut rng = rng(8);
    let safe = 0.5;
    let config =
        OptimiserConfig::Landing { attraction: 1.0, safe_distance: safe, momentum: 0.0, weight_decay: 0.0 };
    let near: Vec<f64> =
        point(9, p, k).iter().zip(gaussian(&mut rng, p * k)).map(|(w, x)| w + 0.03 * x).collect();
    let (relative, pull) = landing_field(p, k, &near, &gaussian(&mut rng, p * k)).unwrap();
    assert!(dot(&relative, &pull).abs() < 1e-13 * norm(&relative) * norm(&pull));
    assert!(norm(&relative) > 0.1 && norm(&pull) > 0.01);

    let mut parameters = stiefel_set(&near, p, k);
    let start = parameters.feasibility_error().unwrap();
    assert!(start > 0.1 && start < safe, "{start}");
    let mut optimiser = Optimiser::new(config, &parameters).unwrap();
    for _ in 0..200 {
        let gradient: Vec<f64> = gaussian(&mut rng, p * k).iter().map(|x| 100.0 * x).collect();
        optimiser.step(&mut parameters, &gradient, 10.0).unwrap();
        assert!(parameters.feasibility_error().unwrap() <= safe);
    }
    assert!(parameters.feasibility_error().unwrap() > 1e-3);
    let mut last = f64::INFINITY;
    for _ in 0..60 {
        optimiser.step(&mut parameters, &vec![0.0; p * k], 0.3).unwrap();
        let now = parameters.feasibility_error().unwrap();
        assert!(now < last || now < 1e-13);
        last = now;
    }
    assert!(last < 1e-12, "{last}");

    // For any step size, without a gradient the distance only shrinks.
    let mut parameters = stiefel_set(&near, p, k);
    for _ in 0..20 {
        let before = parameters.feasibility_error().unwrap();
        optimiser.step(&mut parameters, &vec![0.0; p * k], 1e3).unwrap();
        assert!(parameters.feasibility_error().unwrap() < before.max(1e-14));
    }

    let mut far = stiefel_set(&near.iter().map(|x| 2.0 * x).collect::<Vec<_>>(), p, k);
    let error = Optimiser::new(config, &far).unwrap().step(&mut far, &vec![0.0; p * k], 0.1).unwrap_err();
    assert!(matches!(error, Error::TooFarToLand { .. }), "{error}");
}

/// The distance stays safe in both precisions, also on spheres, where it reaches the bound
/// repeatedly.
#[test]
fn landing_never_oversteps() {
    fn check<T: fedspd_manifold::Real>(p: usize, k: usize, seed: u64) {
        let config = OptimiserConfig::Landing {
            attraction: 1.0,
            safe_distance: 0.5,
            momentum: 0.0,
            weight_decay: 0.0,
        };
        let mut rng = rng(seed);
        let mut parameters: ParamSet<T> = stiefel_set(&point(seed, p, k), p, k).cast();
        let mut optimiser = Optimiser::new(config, &parameters).unwrap();
        for _ in 0..50 {
            let gradient: Vec<T> = gaussian(&mut rng, p * k).iter().map(|x| T::from_f64(1e3 * x)).collect();
            optimiser.step(&mut parameters, &gradient, 1.0).unwrap();
        }
    }
    for (p, k) in [(3, 1), (7, 1), (12, 1), (12, 5)] {
        for seed in 0..50 {
            check::<f64>(p, k, seed);
            check::<f32>(p, k, seed);
        }
    }
}

/// Computes the retraction of `x` at `w` by the polar factor.
fn retract(w: &[f64], x: &[f64], p: usize, k: usize) -> Vec<f64> {
    let mut out = vec![0.0; p * k];
    let mut retraction = fedspd_manifold::Retraction::new(RetractionKind::Polar, p, k).unwrap();
    retraction.retract(w, x, &mut out).unwrap();
    out
}

fn zip(a: &[f64], b: &[f64], f: impl Fn(f64, f64) -> f64) -> Vec<f64> {
    a.iter().zip(b).map(|(&a, &b)| f(a, b)).collect()
}

/// Six steps along random gradients match a direct implementation of each method's formulas.
#[test]
fn methods_follow_their_formulas() {
    let (p, k, rate) = (6, 2, 0.1);
    let (b1, b2, epsilon) = (0.9, 0.999, 1e-8);
    let mut rng = rng(20);
    let gradients: Vec<Vec<f64>> = (0..6).map(|_| gaussian(&mut rng, p * k)).collect();
    let start = point(21, p, k);
    let follow = |config: OptimiserConfig| {
        let mut parameters = stiefel_set(&start, p, k);
        let mut optimiser = Optimiser::new(config, &parameters).unwrap();
        for gradient in &gradients {
            optimiser.step(&mut parameters, gradient, rate).unwrap();
        }
        parameters.values().to_vec()
    };
    let retraction = RetractionKind::Polar;

    // Riemannian SGD with momentum.
    let (mut w, mut m) = (start.clone(), vec![0.0; p * k]);
    for gradient in &gradients {
        m = zip(&project(&w, &m, p, k), &project(&w, gradient, p, k), |m, g| 0.8 * m + g);
        w = retract(&w, &m.iter().map(|m| -rate * m).collect::<Vec<_>>(), p, k);
    }
    let found = follow(OptimiserConfig::RiemannianSgd { momentum: 0.8, weight_decay: 0.0, retraction });
    assert!(gap(&found, &w) < 1e-13);

    // Riemannian Adam.
    let (mut w, mut m, mut v) = (start.clone(), vec![0.0; p * k], 0.0);
    for (t, gradient) in (1..).zip(&gradients) {
        let g = project(&w, gradient, p, k);
        m = zip(&project(&w, &m, p, k), &g, |m, g| b1 * m + (1.0 - b1) * g);
        v = b2 * v + (1.0 - b2) * dot(&g, &g);
        let scale = rate / (1.0 - f64::powi(b1, t)) / ((v / (1.0 - f64::powi(b2, t))).sqrt() + epsilon);
        w = retract(&w, &m.iter().map(|m| -scale * m).collect::<Vec<_>>(), p, k);
    }
    let adam = AdamSettings::default();
    assert!(gap(&follow(OptimiserConfig::RiemannianAdam { adam, retraction }), &w) < 1e-13);

    // Adam with a new base after every step: the gradient is the Riemannian one, and the first
    // moment is transported.
    let (mut w, mut m, mut v) = (start.clone(), vec![0.0; p * k], vec![0.0; p * k]);
    for (t, gradient) in (1..).zip(&gradients) {
        let g = project(&w, gradient, p, k);
        m = zip(&m, &g, |m, g| b1 * m + (1.0 - b1) * g);
        v = zip(&v, &g, |v, g| b2 * v + (1.0 - b2) * g * g);
        let (c1, c2) = (1.0 - f64::powi(b1, t), 1.0 - f64::powi(b2, t));
        let step = zip(&m, &v, |m, v| -rate * (m / c1) / ((v / c2).sqrt() + epsilon));
        w = retract(&w, &project(&w, &step, p, k), p, k);
        m = project(&w, &m, p, k);
    }
    assert!(gap(&follow(OptimiserConfig::Adam { adam, retraction, rebase_every: Some(1) }), &w) < 1e-13);
}

/// On Euclidean parameters, Adam and SGD match torch, with weight decay added to the gradient.
#[test]
fn euclidean_methods_follow_torch() {
    let (rate, decay) = (0.1, 0.3);
    let gradients = [0.7, -0.2, 0.9, 0.1];
    let follow = |config: OptimiserConfig| {
        let layout = Arc::new(Layout::new(vec![Tensor::euclidean("x", &[1])]).unwrap());
        let mut parameters = ParamSet::new(layout, vec![2.0]).unwrap();
        let mut optimiser = Optimiser::new(config, &parameters).unwrap();
        for gradient in gradients {
            optimiser.step(&mut parameters, &[gradient], rate).unwrap();
        }
        parameters.values()[0]
    };
    let (mut x, mut m, mut v) = (2.0_f64, 0.0, 0.0);
    for (t, gradient) in (1..).zip(gradients) {
        let g = gradient + decay * x;
        m = 0.9 * m + 0.1 * g;
        v = 0.999 * v + 0.001 * g * g;
        x -= rate * (m / (1.0 - 0.9_f64.powi(t))) / ((v / (1.0 - 0.999_f64.powi(t))).sqrt() + 1e-8);
    }
    let adam = AdamSettings { weight_decay: decay, ..AdamSettings::default() };
    let retraction = RetractionKind::Polar;
    assert!((follow(OptimiserConfig::Adam { adam, retraction, rebase_every: None }) - x).abs() < 1e-14);
    let (mut x, mut m) = (2.0, 0.0);
    for gradient in gradients {
        m = 0.8 * m + gradient + decay * x;
        x -= rate * m;
    }
    let config = OptimiserConfig::RiemannianSgd { momentum: 0.8, weight_decay: decay, retraction };
    assert!((follow(config) - x).abs() < 1e-14);
}

/// Points stay on the manifold for thousands of steps.
#[test]
fn long_runs_stay_on_the_manifold() {
    for config in &all()[..4] {
        let mut rng = rng(10);
        let mut parameters = stiefel_set(&point(11, 12, 5), 12, 5);
        let mut optimiser = Optimiser::new(*config, &parameters).unwrap();
        for _ in 0..2000 {
            optimiser.step(&mut parameters, &gaussian(&mut rng, 60), 0.01).unwrap();
        }
        assert!(parameters.feasibility_error().unwrap() < 1e-12, "{config:?}");
    }
}

/// Riemannian Adam is intrinsic: rotating the columns of all matrices rotates the result. The
/// trivialised version is not intrinsic.
#[test]
fn riemannian_adam_commutes_with_rotations() {
    let (p, k) = (12, 5);
    let config =
        OptimiserConfig::RiemannianAdam { adam: AdamSettings::default(), retraction: RetractionKind::Polar };
    let o = Matrix::from_rows(k, k, point(12, k, k)).unwrap();
    let rotate = |x: &[f64]| -> Vec<f64> {
        (0..p * k).map(|place| (0..k).map(|m| x[place / k * k + m] * o[(m, place % k)]).sum()).collect()
    };
    let start = point(13, p, k);
    let (mut plain, mut turned) = (stiefel_set(&start, p, k), stiefel_set(&rotate(&start), p, k));
    let mut optimisers = (Optimiser::new(config, &plain).unwrap(), Optimiser::new(config, &turned).unwrap());
    let mut rng = rng(14);
    for _ in 0..20 {
        let gradient = gaussian(&mut rng, p * k);
        optimisers.0.step(&mut plain, &gradient, 0.05).unwrap();
        optimisers.1.step(&mut turned, &rotate(&gradient), 0.05).unwrap();
    }
    assert!(gap(&rotate(plain.values()), turned.values()) < 1e-12);
}

/// Weight decay affects only Euclidean parameters.
#[test]
fn weight_decay_leaves_stiefel_parameters_alone() {
    let decayed = AdamSettings { weight_decay: 0.1, ..AdamSettings::default() };
    let retraction = RetractionKind::Polar;
    let configs = [
        OptimiserConfig::Adam { adam: decayed, retraction, rebase_every: None },
        OptimiserConfig::RiemannianAdam { adam: decayed, retraction },
        OptimiserConfig::RiemannianSgd { momentum: 0.9, weight_decay: 0.1, retraction },
    ];
    for config in configs {
        let layout = Layout::new(vec![Tensor::stiefel("w", 6, 2), Tensor::euclidean("x", &[3])]).unwrap();
        let start = [point(15, 6, 2), vec![1.0, -2.0, 3.0]].concat();
        let mut parameters = ParamSet::new(Arc::new(layout), start.clone()).unwrap();
        let mut optimiser = Optimiser::new(config, &parameters).unwrap();
        optimiser.step(&mut parameters, &[0.0; 15], 0.01).unwrap();
        assert_eq!(parameters.values()[..12], start[..12], "{config:?}");
        let x = parameters.get("x").unwrap();
        assert!(x[0] < 1.0 && x[1] > -2.0 && x[2] < 3.0, "{config:?}");
    }
}

#[test]
fn faults_are_named() {
    let mut parameters = stiefel_set(&point(16, 6, 2), 6, 2);
    let bad = AdamSettings { betas: (0.9, 1.0), ..AdamSettings::default() };
    let config = OptimiserConfig::Adam { adam: bad, retraction: RetractionKind::Polar, rebase_every: None };
    assert!(Optimiser::new(config, &parameters).err().unwrap().to_string().starts_with("`betas` is 1.0"));
    let mut optimiser = Optimiser::new(OptimiserConfig::default(), &parameters).unwrap();
    let mut step = |parameters: &mut ParamSet<f64>, gradient: &[f64], rate| {
        optimiser.step(parameters, gradient, rate).unwrap_err().to_string()
    };
    assert!(step(&mut parameters, &[0.0; 11], 0.1).contains("11 numbers where 12"));
    assert!(step(&mut parameters, &[f64::NAN; 12], 0.1).contains("training diverged"));
    assert!(step(&mut parameters, &[0.0; 12], f64::NAN).contains("learning_rate"));
    let spoilt = stiefel_set(&[1.0; 12], 6, 2);
    assert!(matches!(
        Optimiser::new(OptimiserConfig::default(), &spoilt).err().unwrap(),
        Error::Infeasible { .. }
    ));
    let mut elsewhere = stiefel_set(&point(17, 6, 2), 6, 2);
    assert!(step(&mut elsewhere, &[0.0; 12], 0.1).contains("changed since the optimiser"));
}

/// A restored optimiser at another point continues as if it had moved its base there itself.
#[test]
fn what_an_optimiser_remembers_is_all_there_is_to_carry() {
    let net = SpdNet::<f64>::new(SpdNetConfig::new(vec![6, 4], 2)).unwrap();
    let examples = net.prepare(SyntheticTask::new(6, 2).trials(40).client(Seed(0), 0).unwrap()).unwrap();
    let (all, stream): (Vec<usize>, _) = ((0..40).collect(), Seed(0).stream(Purpose::Shuffle));
    let (adam, retraction) = (AdamSettings::default(), RetractionKind::Polar);
    let (momentum, weight_decay) = (0.9, 0.01);
    // Batches of 8: five steps an epoch.
    let configs = [
        OptimiserConfig::Adam { adam, retraction, rebase_every: None },
        OptimiserConfig::RiemannianAdam { adam, retraction },
        OptimiserConfig::RiemannianSgd { momentum, weight_decay, retraction },
        OptimiserConfig::Landing { attraction: 1.0, safe_distance: 0.5, momentum, weight_decay },
    ];
    for config in configs {
        let mut trainer = Trainer::new(&net, 8, 1).unwrap();
        let mut straight = net.initial(Seed(0)).unwrap();
        let moves_its_base = match config {
            OptimiserConfig::Adam { .. } => OptimiserConfig::Adam { adam, retraction, rebase_every: Some(5) },
            other => other,
        };
        let mut optimiser = Optimiser::new(moves_its_base, &straight).unwrap();
        for epoch in 0..3 {
            let stream = stream.epoch(epoch);
            trainer.epoch(&mut straight, &mut optimiser, 1e-2, &examples, &all, stream).unwrap();
        }

        // The same with a fresh optimiser each epoch that was used for other steps before.
        let mut carried = net.initial(Seed(0)).unwrap();
        let mut memory = Optimiser::new(config, &carried).unwrap().memory();
        for epoch in 0..3 {
            let mut other = net.initial(Seed(9)).unwrap();
            let mut optimiser = Optimiser::new(config, &other).unwrap();
            trainer.epoch(&mut other, &mut optimiser, 1e-2, &examples, &all[..8], stream).unwrap();
            optimiser.recall(&carried, &memory).unwrap();
            let stream = stream.epoch(epoch);
            trainer.epoch(&mut carried, &mut optimiser, 1e-2, &examples, &all, stream).unwrap();
            memory = optimiser.memory();
        }
        assert_eq!(straight, carried, "{config:?}");

        // A restarted optimiser equals a new one. The memory of another optimiser is refused.
        let mut fresh = net.initial(Seed(1)).unwrap();
        let mut again = fresh.clone();
        let mut optimiser = Optimiser::new(config, &carried).unwrap();
        optimiser.recall(&carried, &memory).unwrap();
        optimiser.restart(&again).unwrap();
        trainer.epoch(&mut again, &mut optimiser, 1e-2, &examples, &all, stream).unwrap();
        let mut new = Optimiser::new(config, &fresh).unwrap();
        trainer.epoch(&mut fresh, &mut new, 1e-2, &examples, &all, stream).unwrap();
        assert_eq!(fresh, again, "{config:?}");
        assert!(new.recall(&fresh, &[1.0; 3]).is_err());
        memory.push(0.0);
        assert!(new.recall(&fresh, &memory).is_err());
    }
}
