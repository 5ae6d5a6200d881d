//! The linear head on triangles.
//!
//! A logarithm is symmetric, so its lower triangle determines it for any head. The weights of the
//! two mirror images of an entry act on the same number. The network computes with triangles. This
//! module converts weights and gradients.

use fedspd_manifold::{Real, Vectorisation};

/// The weights and biases of the head in the network's internal form.
pub(super) struct TriangleHead<T> {
    vectorisation: Vectorisation,
    n: usize,
    inputs: usize,
    classes: usize,
    /// Forward: the coefficients of the triangles' entries, `features x classes`.
    pub(super) transposed: Vec<T>,
    /// Backward: the symmetric matrices whose inner product gives these coefficients, as triangles,
    /// `classes x features`. The two mirror images of an entry share its coefficient.
    pub(super) weights: Vec<T>,
    pub(super) biases: Vec<T>,
}

impl<T: Real> TriangleHead<T> {
    pub(super) fn new(vectorisation: Vectorisation, n: usize, inputs: usize, classes: usize) -> Self {
        let features = inputs * n * (n + 1) / 2;
        let weights = || vec![T::ZERO; classes * features];
        let biases = vec![T::ZERO; classes];
        Self { vectorisation, n, inputs, classes, weights: weights(), transposed: weights(), biases }
    }

    /// Returns the number of features in triangles.
    pub(super) fn features(&self) -> usize {
        self.inputs * self.n * (self.n + 1) / 2
    }

    /// Copies the parameters.
    pub(super) fn load(&mut self, weights: &[T], biases: &[T]) {
        self.biases.copy_from_slice(biases);
        let (n, features) = (self.n, self.features());
        let off_diagonal = self.vectorisation.off_diagonal::<T>();
        let lengths = (self.vectorisation.length(n), n * (n + 1) / 2);
        let full_rows = weights.chunks_exact(lengths.0);
        for (full, triangle) in full_rows.zip(self.weights.chunks_exact_mut(lengths.1)) {
            let mut places = triangle.iter_mut().enumerate();
            for i in 0..n {
                for (j, (place, entry)) in (0..=i).zip(&mut places) {
                    *entry = match self.vectorisation {
                        Vectorisation::Vec => (full[i * n + j] + full[j * n + i]) * T::HALF,
                        _ if i == j => full[place],
                        _ => off_diagonal * full[place] * T::HALF,
                    };
                }
            }
        }
        let triangle = (0..n).flat_map(|i| (0..=i).map(move |j| i == j));
        for (feature, diagonal) in triangle.cycle().take(features).enumerate() {
            let images = if diagonal { T::ONE } else { T::TWO };
            for class in 0..self.classes {
                self.transposed[feature * self.classes + class] =
                    self.weights[class * features + feature] * images;
            }
        }
    }

    /// Maps the gradient with respect to the weights on triangles to the gradient with respect to
    /// the parameters.
    pub(super) fn gradient(&self, triangles: &[T], out: &mut [T]) {
        let n = self.n;
        let off_diagonal = self.vectorisation.off_diagonal::<T>();
        let lengths = (self.vectorisation.length(n), n * (n + 1) / 2);
        let full_rows = out.chunks_exact_mut(lengths.0);
        for (full, triangle) in full_rows.zip(triangles.chunks_exact(lengths.1)) {
            let mut places = triangle.iter().enumerate();
            for i in 0..n {
                for (j, (place, &entry)) in (0..=i).zip(&mut places) {
                    match self.vectorisation {
                        Vectorisation::Vec => {
                            full[i * n + j] = entry;
                            full[j * n + i] = entry;
                        }
                        _ if i == j => full[place] = entry,
                        _ => full[place] = off_diagonal * entry,
                    }
                }
            }
        }
    }
}
