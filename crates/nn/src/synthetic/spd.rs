//! Labelled SPD matrices.

use fedspd_manifold::simd::Simd;
use fedspd_manifold::{Left, Real, Stiefel, fill_standard_normal, multiply};

use crate::seed::{Purpose, Seed};
use crate::spdnet::SpdTrials;
use crate::{Error, check};

/// A task shared by clients. In a subspace of the sources, each class raises the power of its own
/// directions. Every client observes the sources through its own mixture, which applies one
/// congruence to all its covariances.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SyntheticTask {
    channels: usize,
    classes: usize,
    inputs: usize,
    trials: usize,
    strength: f64,
    shift: f64,
}

impl SyntheticTask {
    /// Creates a task with 100 trials per client, one matrix per trial, well separated classes and
    /// no shift between clients.
    pub fn new(channels: usize, classes: usize) -> Self {
        Self { channels, classes, inputs: 1, trials: 100, strength: 1.0, shift: 0.0 }
    }

    /// Sets the number of matrices per trial.
    #[must_use]
    pub fn inputs(self, inputs: usize) -> Self {
        Self { inputs, ..self }
    }

    /// Sets the number of trials per client. Classes alternate.
    #[must_use]
    pub fn trials(self, trials: usize) -> Self {
        Self { trials, ..self }
    }

    /// Sets the logarithm of the factor by which a class raises the power of its directions.
    #[must_use]
    pub fn strength(self, strength: f64) -> Self {
        Self { strength, ..self }
    }

    /// Sets the distance of a client's mixture from the identity.
    #[must_use]
    pub fn shift(self, shift: f64) -> Self {
        Self { shift, ..self }
    }

    /// Generates the trials of one client. They are sample covariances of four times as many
    /// Gaussian samples as channels, so all are positive definite.
    ///
    /// # Errors
    /// [`Error::Config`] if there are fewer channels than classes or a number is zero.
    pub fn client<T: Real>(&self, seed: Seed, client: u32) -> Result<SpdTrials<T>, Error> {
        let n = self.channels;
        check("classes", self.classes, self.classes >= 2, || "at least 2".into())?;
        check("channels", n, n >= self.classes, || format!("at least {}, one per class", self.classes))?;
        check("inputs", self.inputs, self.inputs > 0, || "at least 1".into())?;
        check("trials", self.trials, self.trials > 0, || "at least 1".into())?;
        let simd = Simd::detect()?;
        let stream = seed.stream(Purpose::Generator);
        // Every class has as many directions as fit in half of the channels, at least one.
        let directions = (n / 2 / self.classes).max(1) * self.classes;
        // The shared subspace is drawn in round 1, apart from the trials of any client.
        let shared = &mut stream.round(1).item(0);
        let subspace = Stiefel::<f64>::new(n, directions)?.random(shared)?.transpose();
        let stream = stream.client(client);
        let mut mixture = vec![0.0; n * n];
        fill_standard_normal(&mut stream.item(u64::MAX), &mut mixture);
        for (place, entry) in mixture.iter_mut().enumerate() {
            let identity = f64::from(u8::from(place % (n + 1) == 0));
            *entry = identity + self.shift / (n as f64).sqrt() * *entry;
        }

        let samples = 4 * n;
        let (mut sources, mut inside) = (vec![0.0; samples * n], vec![0.0; samples * directions]);
        let (mut mixed, mut covariance) = (vec![0.0; samples * n], vec![0.0; n * n]);
        let basis = subspace.transpose();
        let mut matrices = Vec::with_capacity(self.trials * self.inputs * n * n);
        for matrix in 0..self.trials * self.inputs {
            let class = matrix / self.inputs % self.classes;
            // Rows are samples. x <- x + ((gain - 1) o (x U)) U^T raises the power of some
            // directions of the subspace.
            fill_standard_normal(&mut stream.item(matrix as u64), &mut sources);
            multiply(simd, Left::Plain, (samples, n, directions), &sources, basis.as_slice(), &mut inside);
            for (place, entry) in inside.iter_mut().enumerate() {
                let raised = place % directions % self.classes == class;
                *entry *= if raised { exp_half(self.strength) - 1.0 } else { 0.0 };
            }
            multiply(simd, Left::Plain, (samples, directions, n), &inside, subspace.as_slice(), &mut mixed);
            for (mixed, &source) in mixed.iter_mut().zip(&sources) {
                *mixed += source;
            }
            multiply(simd, Left::Plain, (samples, n, n), &mixed, &mixture, &mut sources);
            multiply(simd, Left::Transposed, (n, samples, n), &sources, &sources, &mut covariance);
            matrices.extend(covariance.iter().map(|&entry| T::from_f64(entry / samples as f64)));
        }
        let labels = (0..self.trials).map(|trial| trial % self.classes).collect();
        SpdTrials::new(n, self.inputs, self.classes, matrices, labels)
    }
}

/// Computes `exp(x/2)`, with the same bits on every platform.
fn exp_half(x: f64) -> f64 {
    use fedspd_manifold::simd::{Array, elementary::exp};
    let Array([value]) = exp(Array([0.5 * x]));
    value
}
