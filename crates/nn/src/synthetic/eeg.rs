//! Labelled raw EEG trials.

use fedspd_manifold::{Real, fill_standard_normal};

use crate::eegnet::RawTrials;
use crate::seed::{Purpose, Seed};
use crate::{Error, check};

/// The frequency of the rhythms, in hertz.
const RHYTHM: f64 = 10.0;
/// Amplitudes of a rhythm and of the noise, in microvolts.
const AMPLITUDES: (f64, f64) = (10.0, 5.0);
/// The remaining share of the rhythm of a class's source during imagery of that class.
const LEFT: f64 = 0.2;
/// Discarded samples at the start, until a source is stationary.
const WARM: usize = 64;
/// Default difference between the mixtures of clients.
const SHIFT: f64 = 0.3;
/// Largest accepted number of samples of a client, and of random numbers for one trial. Sizes
/// beyond any EEG are refused before allocation.
const MOST_NUMBERS: usize = 1 << 28;
/// Largest number of channels: a mixture has their square.
const MOST_CHANNELS: usize = 4096;
/// Time constants of the noise, in samples. First-order processes at octave steps add up to a
/// spectrum like 1/f.
const OCTAVES: [f64; 6] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0];

/// A small motor-imagery task, in microvolts. Each channel has a source with a rhythm. Each class
/// attenuates the rhythm of its own source (event-related desynchronisation). Every client observes
/// the sources through its own mixture, with noise that falls off like 1/f.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SyntheticEeg {
    channels: usize,
    samples: usize,
    sfreq: f64,
    classes: usize,
    trials: usize,
    shift: f64,
}

impl SyntheticEeg {
    /// Creates a task with 100 trials per client and a different mixture for each client.
    pub fn new(channels: usize, samples: usize, sfreq: f64, classes: usize) -> Self {
        Self { channels, samples, sfreq, classes, trials: 100, shift: SHIFT }
    }

    /// Sets the number of trials per client. Classes alternate.
    #[must_use]
    pub fn trials(self, trials: usize) -> Self {
        Self { trials, ..self }
    }

    /// Sets the difference between the mixtures of clients; with 0 all have the same.
    #[must_use]
    pub fn shift(self, shift: f64) -> Self {
        Self { shift, ..self }
    }

    /// Generates the trials of one client.
    ///
    /// # Errors
    /// [`Error::Config`] if there are fewer channels than classes, a number is zero or too large,
    /// or the sampling rate is too low for the rhythm.
    pub fn client<T: Real>(&self, seed: Seed, client: u32) -> Result<RawTrials<T>, Error> {
        let (n, samples) = (self.channels, self.samples);
        check("classes", self.classes, self.classes >= 2, || "at least 2".into())?;
        check("channels", n, n >= self.classes, || format!("at least {}, one per class", self.classes))?;
        check("samples", samples, samples > 0, || "at least 1".into())?;
        check("trials", self.trials, self.trials > 0, || "at least 1".into())?;
        check("channels", n, n <= MOST_CHANNELS, || format!("at most {MOST_CHANNELS}"))?;
        let drawn = samples.saturating_add(WARM).saturating_mul(n).saturating_mul(1 + OCTAVES.len());
        check("samples", samples, drawn <= MOST_NUMBERS, || {
            format!("small enough that a trial of {n} channels takes at most {MOST_NUMBERS} random numbers")
        })?;
        let numbers = samples.saturating_mul(n).saturating_mul(self.trials);
        check("trials x samples x channels", numbers, numbers <= MOST_NUMBERS, || {
            format!("at most {MOST_NUMBERS}")
        })?;
        check("shift", self.shift, self.shift.is_finite(), || "finite".into())?;
        let fast = self.sfreq > 2.0 * RHYTHM && self.sfreq.is_finite();
        check("sfreq", self.sfreq, fast, || format!("above {} Hz", 2.0 * RHYTHM))?;
        let stream = seed.stream(Purpose::Generator);
        // The shared part of the mixtures is drawn in round 1, apart from the trials of any client.
        let mut mixture = vec![0.0; n * n];
        fill_standard_normal(&mut stream.round(1).item(0), &mut mixture);
        let stream = stream.client(client);
        let mut own = vec![0.0; n * n];
        fill_standard_normal(&mut stream.item(u64::MAX), &mut own);
        for (place, (entry, own)) in mixture.iter_mut().zip(&own).enumerate() {
            let identity = f64::from(u8::from(place % (n + 1) == 0));
            *entry = identity + (0.3 * *entry + self.shift * own) / (n as f64).sqrt();
        }

        let mut all = Vec::with_capacity(self.trials * samples * n);
        let mut drawn = vec![0.0; drawn];
        let mut sources = vec![0.0; samples * n];
        for trial in 0..self.trials {
            fill_standard_normal(&mut stream.item(trial as u64), &mut drawn);
            for (source, noise) in drawn.chunks_exact((samples + WARM) * (1 + OCTAVES.len())).enumerate() {
                let share = if source == trial % self.classes { LEFT } else { 1.0 };
                self.source(share, noise, &mut sources[source..], n);
            }
            for sample in sources.chunks_exact(n) {
                for row in mixture.chunks_exact(n) {
                    let mixed: f64 = row.iter().zip(sample).map(|(w, s)| w * s).sum();
                    all.push(T::from_f64(mixed));
                }
            }
        }
        let labels = (0..self.trials).map(|trial| trial % self.classes).collect();
        RawTrials::new(n, samples, self.classes, all, labels)
    }

    /// Writes a source to every `stride`-th entry: a second-order resonance for the rhythm and
    /// first-order processes for the noise.
    fn source(&self, share: f64, drawn: &[f64], out: &mut [f64], stride: usize) {
        let length = self.samples + WARM;
        let radius = 0.95;
        let angle = std::f64::consts::TAU * RHYTHM / self.sfreq;
        let (feed, damp) = (2.0 * radius * cosine(angle), radius * radius);
        // The variance of the resonance driven by unit noise (Box and Jenkins, AR(2)).
        let variance = (1.0 + damp) / ((1.0 - damp) * ((1.0 + damp).powi(2) - feed * feed));
        let (rhythm, noise) =
            (AMPLITUDES.0 * share / variance.sqrt(), AMPLITUDES.1 / (OCTAVES.len() as f64).sqrt());
        let (mut x1, mut x2, mut slow) = (0.0, 0.0, [0.0; OCTAVES.len()]);
        for t in 0..length {
            let x = feed * x1 - damp * x2 + drawn[t];
            (x1, x2) = (x, x1);
            let mut sum = 0.0;
            for (octave, (slow, time)) in slow.iter_mut().zip(OCTAVES).enumerate() {
                let keep = 1.0 - 1.0 / time;
                *slow = keep * *slow + (1.0 - keep * keep).sqrt() * drawn[(octave + 1) * length + t];
                sum += *slow;
            }
            if t >= WARM {
                out[(t - WARM) * stride] = rhythm * x + noise * sum;
            }
        }
    }
}

/// Computes the cosine of an angle up to pi, with the same bits on every platform: the platform's
/// function may differ in the last one.
fn cosine(angle: f64) -> f64 {
    let (mut sum, mut term) = (1.0, 1.0);
    for k in 1..20 {
        let k = f64::from(2 * k);
        term *= -angle * angle / (k * (k - 1.0));
        sum += term;
    }
    sum
}
