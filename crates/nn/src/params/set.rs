//! The values of a model's parameters.

use std::sync::Arc;

use fedspd_manifold::Real;

use super::{Layout, Parameter, Role};
use crate::Error;

/// The values of all parameters of a model, with their [`Layout`]. Training, averaging, sending and
/// saving work on this type.
#[derive(Clone, Debug, PartialEq)]
pub struct ParamSet<T> {
    layout: Arc<Layout>,
    values: Vec<T>,
}

impl<T: Real> ParamSet<T> {
    /// Creates a parameter set from values.
    ///
    /// # Errors
    /// [`Error::Length`] if their number does not match the layout.
    pub fn new(layout: Arc<Layout>, values: Vec<T>) -> Result<Self, Error> {
        let (what, expected, found) = ("the values of the parameters", layout.size(), values.len());
        if found != expected {
            return Err(Error::Length { what, expected, found });
        }
        Ok(Self { layout, values })
    }

    /// Names, shapes and properties of the parameters.
    pub fn layout(&self) -> &Arc<Layout> {
        &self.layout
    }

    /// All values, in the order of the layout.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// All values, mutable.
    pub fn values_mut(&mut self) -> &mut [T] {
        &mut self.values
    }

    /// The values of the parameter with that name.
    pub fn get(&self, name: &str) -> Option<&[T]> {
        self.layout.get(name).map(|parameter| &self.values[parameter.range()])
    }

    /// The values of the parameter with that name, mutable.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut [T]> {
        self.layout.get(name).map(|parameter| &mut self.values[parameter.range()])
    }

    /// Copies the values of statistics from a gradient. A model writes their updated values there,
    /// not derivatives.
    ///
    /// # Errors
    /// [`Error::Length`] if the gradient has another length.
    pub fn take_statistics(&mut self, gradient: &[T]) -> Result<(), Error> {
        let (what, expected, found) = ("the gradient", self.values.len(), gradient.len());
        if found != expected {
            return Err(Error::Length { what, expected, found });
        }
        for parameter in self.layout.parameters().iter().filter(|parameter| parameter.role == Role::Statistic)
        {
            self.values[parameter.range()].copy_from_slice(&gradient[parameter.range()]);
        }
        Ok(())
    }

    /// Each parameter with its values.
    pub fn iter(&self) -> impl Iterator<Item = (&Parameter, &[T])> {
        self.layout.parameters().iter().map(|parameter| (parameter, &self.values[parameter.range()]))
    }

    /// The largest [`Parameter::feasibility_error`].
    ///
    /// # Errors
    /// [`Error::Geometry`] if a value is not finite.
    pub fn feasibility_error(&self) -> Result<f64, Error> {
        self.iter().try_fold(0.0, |largest: f64, (parameter, values)| {
            Ok(largest.max(parameter.feasibility_error(&T::widen(values))?))
        })
    }

    /// Converts the values to another floating-point type.
    #[must_use]
    pub fn cast<U: Real>(&self) -> ParamSet<U> {
        let values = self.values.iter().map(|value| U::from_f64(value.to_f64())).collect();
        ParamSet { layout: Arc::clone(&self.layout), values }
    }
}
