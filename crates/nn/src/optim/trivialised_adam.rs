//! Adam on the tangent space of a base point (Lezcano-Casado 2019).

use fedspd_manifold::{Real, Retraction, RetractionKind, Stiefel};

use super::adam::{Adam, AdamSettings};
use super::{Memory, Rule};
use crate::Error;

/// A Stiefel matrix as a function of any matrix `B`: `W(B) = R_base(P_base(B))`, with the exact
/// adjoint of its derivative.
pub struct Trivialisation<T: Real> {
    stiefel: Stiefel<T>,
    retraction: Retraction<T>,
    base: Vec<T>,
    /// `P_base(B)` of the last `B`.
    tangent: Vec<T>,
    scratch: Vec<T>,
}

impl<T: Real> Trivialisation<T> {
    /// Creates a trivialisation at a base point, with `B = 0`.
    ///
    /// # Errors
    /// [`Error::Geometry`] if the base is not a `p x k` matrix of full rank.
    pub fn new(kind: RetractionKind, p: usize, k: usize, base: &[T]) -> Result<Self, Error> {
        let zeros = || vec![T::ZERO; p * k];
        let mut new = Self {
            stiefel: Stiefel::new(p, k)?,
            retraction: Retraction::new(kind, p, k)?,
            base: zeros(),
            tangent: zeros(),
            scratch: zeros(),
        };
        new.rebase(base)?;
        Ok(new)
    }

    /// Sets another base point, with `B = 0`.
    ///
    /// # Errors
    /// As [`Trivialisation::new`].
    pub fn rebase(&mut self, base: &[T]) -> Result<(), Error> {
        self.tangent.fill(T::ZERO);
        self.retraction.retract(base, &self.tangent, &mut self.scratch)?;
        self.base.copy_from_slice(base);
        Ok(())
    }

    /// Returns the base point.
    pub fn base(&self) -> &[T] {
        &self.base
    }

    /// Replaces `B` by its tangent part, which keeps `W(B)`, and writes `W(B)`. For `B = 0` the
    /// result is the base, bit for bit.
    ///
    /// # Errors
    /// [`Error::Geometry`] if `B` is not finite or not `p x k`.
    pub fn point(&mut self, b: &mut [T], w: &mut [T]) -> Result<(), Error> {
        self.stiefel.project(&self.base, b, &mut self.tangent)?;
        self.retraction.retract(&self.base, &self.tangent, w)?;
        b.copy_from_slice(&self.tangent);
        Ok(())
    }

    /// Maps the gradient with respect to the last `W(B)` to the gradient with respect to `B`.
    ///
    /// # Errors
    /// [`Error::Geometry`] if the gradient is not finite or not `p x k`.
    pub fn pull_back(&mut self, gradient: &[T], out: &mut [T]) -> Result<(), Error> {
        self.retraction.adjoint(gradient, &mut self.scratch)?;
        Ok(self.stiefel.project(&self.base, &self.scratch, out)?)
    }

    /// Projects a tangent vector of an old base to the tangent space of the current one.
    fn transport(&mut self, x: &mut [T]) -> Result<(), Error> {
        self.stiefel.project(&self.base, x, &mut self.scratch)?;
        x.copy_from_slice(&self.scratch);
        Ok(())
    }
}

pub(super) struct TrivialisedAdam<T: Real> {
    trivialisation: Trivialisation<T>,
    adam: Adam<T>,
    b: Vec<T>,
    gradient: Vec<T>,
    /// The point after the last step.
    point: Vec<T>,
    rebase_every: Option<u64>,
    steps: u64,
}

impl<T: Real> TrivialisedAdam<T> {
    pub(super) fn new(
        settings: AdamSettings,
        kind: RetractionKind,
        rebase_every: Option<u64>,
        (p, k): (usize, usize),
        start: &[T],
    ) -> Result<Self, Error> {
        // Weight decay would pull B to zero, that is, W to its current base, which is arbitrary.
        let settings = AdamSettings { weight_decay: 0.0, ..settings };
        Ok(Self {
            trivialisation: Trivialisation::new(kind, p, k, start)?,
            adam: Adam::new(settings, p * k)?,
            b: vec![T::ZERO; p * k],
            gradient: vec![T::ZERO; p * k],
            point: start.to_vec(),
            rebase_every,
            steps: 0,
        })
    }
}

impl<T: Real> Rule<T> for TrivialisedAdam<T> {
    fn step(&mut self, values: &mut [T], gradient: &[T], learning_rate: f64) -> Result<(), Error> {
        if values != self.point {
            return Err(Error::Moved);
        }
        self.trivialisation.pull_back(gradient, &mut self.gradient)?;
        self.adam.step(&mut self.b, &self.gradient, learning_rate)?;
        self.trivialisation.point(&mut self.b, values)?;
        self.point.copy_from_slice(values);
        // The memory of a damaged checkpoint may hold any count.
        self.steps = self.steps.saturating_add(1);
        if self.rebase_every.is_some_and(|every| self.steps.is_multiple_of(every)) {
            // The base is the point *after* the step, so no step is lost. The first moment is a
            // tangent vector and is transported. The second is a scale per entry and stays.
            self.trivialisation.rebase(values)?;
            self.b.fill(T::ZERO);
            self.trivialisation.transport(&mut self.adam.first)?;
        }
        Ok(())
    }

    fn restart(&mut self, values: &[T]) -> Result<(), Error> {
        self.trivialisation.rebase(values)?;
        self.b.fill(T::ZERO);
        self.point.copy_from_slice(values);
        self.steps = 0;
        self.adam.restart(values)
    }

    fn remember(&self, memory: &mut Vec<f64>) {
        memory.push(self.steps as f64);
        self.adam.remember(memory);
    }

    /// Restores the moments as at a change of base: the first one is transported, the second stays.
    fn recall(&mut self, values: &[T], memory: &mut Memory<'_>) -> Result<(), Error> {
        self.steps = memory.number()? as u64;
        self.adam.recall(values, memory)?;
        self.trivialisation.transport(&mut self.adam.first)
    }
}
