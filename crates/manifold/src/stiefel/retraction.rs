//! Retractions from the tangent space to the manifold, with exact derivatives.

use serde::{Deserialize, Serialize};

use super::{Polar, Qr, Stiefel};
use crate::error::check_length;
use crate::simd::Simd;
use crate::{Error, Real};

/// The factor that maps `W + X` to the manifold. Both agree with the exponential map to first
/// order, the polar one to second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RetractionKind {
    /// `uf(W + X)`, the nearest point.
    Polar,
    /// `qf(W + X)` with positive diagonal.
    Qr,
}

/// A retraction `R_W(X)` with its inverse, differential and adjoint, and scratch memory.
pub struct Retraction<T: Real> {
    pub(super) stiefel: Stiefel<T>,
    factor: Factor<T>,
    sum: Vec<T>,
}

#[allow(clippy::large_enum_variant)] // one per retraction, never in a collection
enum Factor<T: Real> {
    Polar(Polar<T>),
    Qr(Qr<T>),
}

impl<T: Real> Retraction<T> {
    /// Creates a retraction for `p x k` matrices on the instruction set of [`Simd::detect`].
    ///
    /// # Errors
    /// As [`Stiefel::new`].
    pub fn new(kind: RetractionKind, p: usize, k: usize) -> Result<Self, Error> {
        Self::with_simd(kind, p, k, Simd::detect()?)
    }

    /// Creates a retraction on a given instruction set.
    ///
    /// # Errors
    /// As [`Stiefel::with_simd`].
    pub fn with_simd(kind: RetractionKind, p: usize, k: usize, simd: Simd) -> Result<Self, Error> {
        let factor = match kind {
            RetractionKind::Polar => Factor::Polar(Polar::with_simd(p, k, simd)?),
            RetractionKind::Qr => Factor::Qr(Qr::with_simd(p, k, simd)?),
        };
        Ok(Self { stiefel: Stiefel::with_simd(p, k, simd)?, factor, sum: vec![T::ZERO; p * k] })
    }

    /// Returns the factor in use.
    pub fn kind(&self) -> RetractionKind {
        match self.factor {
            Factor::Polar(_) => RetractionKind::Polar,
            Factor::Qr(_) => RetractionKind::Qr,
        }
    }

    /// Computes the point `R_W(X)`. The zero vector gives `W`, bit for bit.
    ///
    /// For a tangent `X` the singular values of `W + X` are at least 1. The retraction fails only
    /// if the largest exceeds 1e10 (`f64`) or 1e5 (`f32`), because rounding then hides the
    /// smallest.
    ///
    /// # Errors
    /// [`Error::Length`], [`Error::NotFinite`]; [`Error::RankDeficient`] if `X` is too long, or if
    /// it is not tangent and cancels a column.
    pub fn retract(&mut self, w: &[T], x: &[T], out: &mut [T]) -> Result<(), Error> {
        self.add(w, x, out)?;
        match &mut self.factor {
            Factor::Polar(polar) => polar.factor_to_differentiate(&self.sum)?,
            Factor::Qr(qr) => qr.factor(&self.sum)?,
        }
        out.copy_from_slice(if x.iter().all(|&x| x == T::ZERO) { w } else { self.point() });
        Ok(())
    }

    /// Computes the same point as [`Retraction::retract`], to the same accuracy but faster, without
    /// the data for derivatives.
    ///
    /// # Errors
    /// As [`Retraction::retract`].
    pub fn retract_once(&mut self, w: &[T], x: &[T], out: &mut [T]) -> Result<(), Error> {
        self.add(w, x, out)?;
        match &mut self.factor {
            _ if x.iter().all(|&x| x == T::ZERO) => out.copy_from_slice(w),
            Factor::Polar(polar) => polar.project(&self.sum, out)?,
            Factor::Qr(qr) => {
                qr.factor(&self.sum)?;
                out.copy_from_slice(qr.q());
            }
        }
        Ok(())
    }

    /// Checks both matrices and computes `sum <- W + X`.
    fn add(&mut self, w: &[T], x: &[T], out: &[T]) -> Result<(), Error> {
        self.stiefel.check("the base point", 0, w)?;
        self.stiefel.check("the tangent vector", 1, x)?;
        check_length("the output", out.len(), w.len())?;
        for ((sum, &w), &x) in self.sum.iter_mut().zip(w).zip(x) {
            *sum = w + x;
        }
        Ok(())
    }

    fn point(&self) -> &[T] {
        match &self.factor {
            Factor::Polar(polar) => polar.q(),
            Factor::Qr(qr) => qr.q(),
        }
    }

    /// Computes the derivative of the factor at the last `W + X` in direction `Z`.
    ///
    /// # Errors
    /// [`Error::NotFactored`] before a successful retraction; [`Error::Length`],
    /// [`Error::NotFinite`].
    pub fn differential(&mut self, z: &[T], out: &mut [T]) -> Result<(), Error> {
        match &mut self.factor {
            Factor::Polar(polar) => polar.differential(z, out),
            Factor::Qr(qr) => qr.differential(z, out),
        }
    }

    /// Applies the adjoint of [`Retraction::differential`]: maps a gradient at the point to one at
    /// `W + X`.
    ///
    /// # Errors
    /// [`Error::NotFactored`] before a successful retraction; [`Error::Length`],
    /// [`Error::NotFinite`].
    pub fn adjoint(&mut self, g: &[T], out: &mut [T]) -> Result<(), Error> {
        match &mut self.factor {
            Factor::Polar(polar) => polar.differential(g, out),
            Factor::Qr(qr) => qr.adjoint(g, out),
        }
    }
}
