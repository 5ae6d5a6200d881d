//! The landing method (Ablin, Vary, Gao and Absil 2024): no retraction, and a bounded distance from
//! the manifold.

use fedspd_manifold::simd::Simd;
use fedspd_manifold::{Left, Polar, Real, multiply};

use super::Rule;
use crate::Error;

pub(super) struct Landing<T: Real> {
    attraction: f64,
    safe_distance: f64,
    p: usize,
    k: usize,
    simd: Simd,
    polar: Polar<T>,
    field: Field<T>,
    landed: Vec<T>,
}

/// The two orthogonal parts of the landing field, with scratch memory.
struct Field<T> {
    relative_gradient: Vec<T>,
    attraction: Vec<T>,
    /// `X^T X` and `G^T X`.
    gram: Vec<T>,
    cross: Vec<T>,
    tall: Vec<T>,
}

impl<T: Real> Field<T> {
    fn new(p: usize, k: usize) -> Self {
        let (tall, small) = (|| vec![T::ZERO; p * k], || vec![T::ZERO; k * k]);
        let (relative_gradient, attraction) = (tall(), tall());
        Self { relative_gradient, attraction, gram: small(), cross: small(), tall: tall() }
    }

    /// Computes both parts at `X`. Returns the distance `|X^T X - I|`.
    ///
    /// ```text
    /// skew(G X^T) X = (G (X^T X) - X (G^T X))/2,    grad |X^T X - I|^2/4 = X (X^T X - I)
    /// ```
    fn compute(&mut self, simd: Simd, (p, k): (usize, usize), x: &[T], g: &[T]) -> f64 {
        multiply(simd, Left::Transposed, (k, p, k), x, x, &mut self.gram);
        multiply(simd, Left::Transposed, (k, p, k), g, x, &mut self.cross);
        multiply(simd, Left::Plain, (p, k, k), g, &self.gram, &mut self.relative_gradient);
        multiply(simd, Left::Plain, (p, k, k), x, &self.cross, &mut self.tall);
        for (entry, &other) in self.relative_gradient.iter_mut().zip(&self.tall) {
            *entry = (*entry - other) * T::HALF;
        }
        for i in 0..k {
            self.gram[i * k + i] -= T::ONE;
        }
        multiply(simd, Left::Plain, (p, k, k), x, &self.gram, &mut self.attraction);
        norm(&self.gram)
    }
}

/// Computes the two parts of the landing field at a `p x k` matrix `X` with the Euclidean gradient
/// `G`. They are the relative gradient `skew(G X^T) X` and the attraction `X (X^T X - I)`. They are
/// orthogonal, so the attraction never opposes the descent.
///
/// # Errors
/// [`Error::Geometry`] if the requested instruction set is unavailable; [`Error::Length`] if a
/// matrix is not `p x k`.
pub fn landing_field<T: Real>(p: usize, k: usize, x: &[T], g: &[T]) -> Result<(Vec<T>, Vec<T>), Error> {
    for (what, found) in [("the point", x.len()), ("the gradient", g.len())] {
        if found != p * k {
            return Err(Error::Length { what, expected: p * k, found });
        }
    }
    let mut field = Field::new(p, k);
    field.compute(Simd::detect()?, (p, k), x, g);
    Ok((field.relative_gradient, field.attraction))
}

impl<T: Real> Landing<T> {
    pub(super) fn new(attraction: f64, safe_distance: f64, p: usize, k: usize) -> Result<Self, Error> {
        let (simd, polar, field) = (Simd::detect()?, Polar::new(p, k)?, Field::new(p, k));
        let landed = vec![T::ZERO; p * k];
        Ok(Self { attraction, safe_distance, p, k, simd, polar, field, landed })
    }

    /// Returns the largest step up to `rate` that keeps the distance safe. With the field `L` and
    /// `d = |X^T X - I|`,
    ///
    /// ```text
    /// d+ <= d - 2 lambda eta d (1 - d) + eta^2 |L|^2     for eta <= 1/(2 lambda (1 + d))
    /// ```
    ///
    /// It targets 0.99 of the safe distance, so that rounding cannot exceed it. If the distance is
    /// already larger, it takes the step that reduces the bound most.
    fn safe_step(&self, rate: f64, distance: f64, length: f64) -> f64 {
        let pull = self.attraction * distance * (1.0 - distance);
        let square = length * length;
        let bound = 1.0 / (2.0 * self.attraction * (1.0 + distance));
        if square == 0.0 {
            return rate.min(bound);
        }
        let room = 0.99 * self.safe_distance - distance;
        rate.min(bound).min((pull + (pull * pull + square * room).max(0.0).sqrt()) / square)
    }
}

impl<T: Real> Rule<T> for Landing<T> {
    fn step(&mut self, values: &mut [T], gradient: &[T], learning_rate: f64) -> Result<(), Error> {
        let distance = self.field.compute(self.simd, (self.p, self.k), values, gradient);
        if !(distance <= self.safe_distance) {
            return Err(Error::TooFarToLand { distance, safe: self.safe_distance });
        }
        let lambda = T::from_f64(self.attraction);
        let Field { relative_gradient, attraction, .. } = &mut self.field;
        for (entry, &pull) in relative_gradient.iter_mut().zip(attraction.iter()) {
            *entry += lambda * pull;
        }
        let length = norm(&self.field.relative_gradient);
        if !length.is_finite() {
            return Err(Error::Diverged { what: "the length of a landing step", value: length });
        }
        let step = T::from_f64(self.safe_step(learning_rate, distance, length));
        for (value, &direction) in values.iter_mut().zip(&self.field.relative_gradient) {
            *value -= step * direction;
        }
        Ok(())
    }

    fn finish(&mut self, values: &mut [T]) -> Result<(), Error> {
        self.polar.project(values, &mut self.landed)?;
        values.copy_from_slice(&self.landed);
        Ok(())
    }
}

fn norm<T: Real>(entries: &[T]) -> f64 {
    entries.iter().map(|x| x.to_f64() * x.to_f64()).sum::<f64>().sqrt()
}
