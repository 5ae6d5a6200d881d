//! Synthetic raw trials have the intended properties of motor imagery.

use fedspd_nn::{RawTrials, Seed, SyntheticEeg};

const RATE: usize = 160;
const CHANNELS: usize = 8;
const CLASSES: usize = 4;
const TRIALS: usize = 200;

fn task() -> SyntheticEeg {
    SyntheticEeg::new(CHANNELS, RATE, 160.0, CLASSES).trials(TRIALS)
}

/// Returns a task with unmixed sources: without shift, the mixture of a client is near the
/// identity.
fn trials() -> RawTrials<f64> {
    task().shift(0.0).client(Seed(11), 0).unwrap()
}

/// Returns the mean power of a channel at a whole number of hertz over trials of one second, in
/// microvolts squared.
fn power(trials: &RawTrials<f64>, channel: usize, hertz: usize, chosen: impl Fn(usize) -> bool) -> f64 {
    let chosen: Vec<usize> = (0..TRIALS).filter(|&trial| chosen(trials.labels()[trial])).collect();
    let of = |&trial: &usize| {
        let samples = trials.trial(trial)[channel..].iter().step_by(CHANNELS);
        let (mut real, mut imaginary) = (0.0, 0.0);
        for (t, x) in samples.enumerate() {
            let angle = std::f64::consts::TAU * (t * hertz % RATE) as f64 / RATE as f64;
            real += x * angle.cos();
            imaginary += x * angle.sin();
        }
        (real * real + imaginary * imaginary) / (RATE * RATE) as f64
    };
    chosen.iter().map(of).sum::<f64>() / chosen.len() as f64
}

#[test]
fn rhythms_are_band_limited() {
    let trials = trials();
    for channel in 0..CHANNELS {
        let band = |range: std::ops::Range<usize>| {
            let width = range.len() as f64;
            range.map(|hertz| power(&trials, channel, hertz, |_| true)).sum::<f64>() / width
        };
        let (inside, below, above) = (band(8..13), band(1..5), band(20..60));
        assert!(inside > 2.0 * below && inside > 30.0 * above, "{channel}: {inside} {below} {above}");
    }
}

#[test]
fn a_class_lowers_the_power_of_its_source_alone() {
    let trials = trials();
    for channel in 0..CHANNELS {
        for class in 0..CLASSES {
            let ratio = power(&trials, channel, 10, |label| label == class)
                / power(&trials, channel, 10, |label| label != class);
            let own = channel == class;
            assert!(if own { ratio < 0.5 } else { ratio > 0.5 }, "channel {channel}, class {class}: {ratio}");
        }
    }
}

/// In trials with the source's rhythm attenuated, away from its frequency, the slope of log power
/// over log frequency is near -1.
#[test]
fn noise_falls_off_like_one_over_f() {
    let trials = trials();
    for channel in 0..CLASSES {
        let points: Vec<(f64, f64)> = [1, 2, 3, 20, 25, 30, 35, 40]
            .map(|hertz| ((hertz as f64).ln(), power(&trials, channel, hertz, |label| label == channel).ln()))
            .to_vec();
        let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / points.len() as f64;
        let (x, y) = (mean(|point| point.0), mean(|point| point.1));
        let slope = points.iter().map(|point| (point.0 - x) * (point.1 - y)).sum::<f64>()
            / points.iter().map(|point| (point.0 - x).powi(2)).sum::<f64>();
        assert!((-1.5..-0.6).contains(&slope), "channel {channel}: {slope}");
    }
}

#[test]
fn amplitudes_are_those_of_eeg_in_microvolts() {
    for client in 0..3 {
        let trials: RawTrials<f64> = task().client(Seed(1), client).unwrap();
        for channel in 0..CHANNELS {
            let squares =
                (0..TRIALS).flat_map(|trial| trials.trial(trial)[channel..].iter().step_by(CHANNELS));
            let size = (squares.map(|x| x * x).sum::<f64>() / (TRIALS * RATE) as f64).sqrt();
            assert!((5.0..40.0).contains(&size), "client {client}, channel {channel}: {size}");
        }
    }
}

/// Mean covariances of two clients differ by default. With a shared mixture they differ only by
/// chance.
#[test]
fn every_client_has_a_mixture_of_its_own() {
    let covariance = |task: SyntheticEeg, client: u32| {
        let trials: RawTrials<f64> = task.client(Seed(1), client).unwrap();
        let mut sum = vec![0.0; CHANNELS * CHANNELS];
        for sample in (0..TRIALS).flat_map(|trial| trials.trial(trial).chunks_exact(CHANNELS)) {
            for (place, sum) in sum.iter_mut().enumerate() {
                *sum += sample[place / CHANNELS] * sample[place % CHANNELS] / (TRIALS * RATE) as f64;
            }
        }
        sum
    };
    let distance = |task: SyntheticEeg| {
        let (a, b) = (covariance(task, 0), covariance(task, 1));
        let difference: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a - b).collect();
        crate::support::norm(&difference) / crate::support::norm(&a)
    };
    let (own, shared) = (distance(task()), distance(task().shift(0.0)));
    assert!(own > 0.2 && shared < 0.1, "{own} with mixtures of their own, {shared} with one");
}

#[test]
fn what_cannot_be_generated_is_refused_with_the_numbers() {
    let message = |task: SyntheticEeg| task.client::<f32>(Seed(0), 0).unwrap_err().to_string();
    let most = usize::MAX;
    assert_eq!(
        message(SyntheticEeg::new(most, 160, 160.0, 2)),
        format!("`channels` is {most}; it must be at most 4096")
    );
    assert_eq!(
        message(SyntheticEeg::new(4, most, 160.0, 2)),
        format!(
            "`samples` is {most}; it must be small enough that a trial of 4 channels takes at most 268435456 random numbers"
        )
    );
    assert_eq!(
        message(SyntheticEeg::new(4, 160, 160.0, 2).trials(1 << 20)),
        "`trials x samples x channels` is 671088640; it must be at most 268435456"
    );
    assert_eq!(message(task().shift(f64::NAN)), "`shift` is NaN; it must be finite");
    for rate in [f64::NAN, f64::INFINITY, -1.0, 20.0] {
        assert!(message(SyntheticEeg::new(4, 160, rate, 2)).starts_with("`sfreq` is"));
    }
}
