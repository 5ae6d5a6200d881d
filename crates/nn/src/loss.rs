//! Cross-entropy.

use fedspd_manifold::Real;
use fedspd_manifold::simd::{Array, Kernel, Lanes, Simd, elementary};

/// Computes the losses `log sum_k exp(z_k) - z_y` of rows of logits by log-sum-exp. Replaces the
/// logits by `scale` times the gradients `softmax(z) - onehot(y)`.
///
/// A loss is not finite if the logit of its label or the largest logit is not finite.
pub(crate) fn cross_entropy<T: Real>(
    simd: Simd,
    classes: usize,
    logits: &mut [T],
    labels: impl Iterator<Item = usize>,
    scale: T,
    losses: &mut [T],
) {
    simd.run(CrossEntropy { classes, logits, labels, scale, losses });
}

/// Replaces rows of logits by probabilities.
pub(crate) fn softmax<T: Real>(simd: Simd, classes: usize, logits: &mut [T]) {
    simd.run(Softmax { classes, logits });
}

struct CrossEntropy<'a, T, L> {
    classes: usize,
    logits: &'a mut [T],
    labels: L,
    scale: T,
    losses: &'a mut [T],
}

impl<T: Real, L: Iterator<Item = usize>> Kernel<T> for CrossEntropy<'_, T, L> {
    type Output = ();

    #[inline(always)]
    fn run<V: Lanes<Scalar = T>>(self) {
        let rows = self.logits.chunks_exact_mut(self.classes);
        for ((row, label), loss) in rows.zip(self.labels).zip(self.losses) {
            let of_label = row[label];
            let (largest, sum) = exponentials(row);
            let Array([log]) = elementary::log(Array([sum]));
            *loss = log + (largest - of_label);
            for entry in row.iter_mut() {
                *entry = *entry / sum * self.scale;
            }
            row[label] -= self.scale;
        }
    }
}

struct Softmax<'a, T> {
    classes: usize,
    logits: &'a mut [T],
}

impl<T: Real> Kernel<T> for Softmax<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<V: Lanes<Scalar = T>>(self) {
        for row in self.logits.chunks_exact_mut(self.classes) {
            let (_, sum) = exponentials(row);
            for entry in row.iter_mut() {
                *entry /= sum;
            }
        }
    }
}

/// Replaces a row by the exponentials of its differences to its largest entry. Returns that entry
/// and the sum.
#[inline(always)]
fn exponentials<T: Real>(row: &mut [T]) -> (T, T) {
    let largest = row[1..].iter().fold(row[0], |largest, &x| if x > largest { x } else { largest });
    let mut sum = T::ZERO;
    for entry in row.iter_mut() {
        let difference = *entry - largest;
        let Array([exponential]) = elementary::exp(Array([difference]));
        // The bounds in `exp` turn a NaN into a number, so keep the NaN here.
        *entry = if difference <= T::ZERO { exponential } else { difference };
        sum += *entry;
    }
    (largest, sum)
}
