//! Shared and local parameters of a model.

use std::ops::Range;
use std::sync::Arc;

use fedspd_manifold::Real;
use fedspd_nn::{Layout, ParamSet, Parameter, Scope};

use crate::message::{Kind, Message, Part, PartSpec};

/// The parameters of a model by scope. Shared ones are the parts of a message; local ones stay with
/// their client.
#[derive(Clone, Debug)]
pub struct ParameterScopes {
    layout: Arc<Layout>,
    local: Vec<Range<usize>>,
}

impl ParameterScopes {
    /// Splits the parameters of a layout by scope.
    pub fn new(layout: Arc<Layout>) -> Self {
        let local = layout.parameters().iter().filter(|parameter| parameter.scope == Scope::Local);
        let local = local.map(Parameter::range).collect();
        Self { layout, local }
    }

    /// Names, shapes and properties of the parameters.
    pub fn layout(&self) -> &Arc<Layout> {
        &self.layout
    }

    /// The shared parameters in order.
    pub fn parameters(&self) -> impl Iterator<Item = &Parameter> {
        self.layout.parameters().iter().filter(|parameter| parameter.scope == Scope::Shared)
    }

    /// Number of shared values.
    pub fn shared_size(&self) -> usize {
        self.parameters().map(|parameter| parameter.size()).sum()
    }

    /// The parts of a message with the shared parameters.
    pub fn specs<T: Real>(&self) -> Vec<PartSpec> {
        let spec = |parameter: &Parameter| PartSpec::new(&parameter.name, &parameter.shape, Kind::of::<T>());
        self.parameters().map(spec).collect()
    }

    /// A message with the shared parameters of a model.
    pub fn message<T: Real>(&self, parameters: &ParamSet<T>) -> Message {
        let part = |parameter: &Parameter| {
            Part::real(&parameter.name, &parameter.shape, &parameters.values()[parameter.range()])
        };
        Message::new(self.parameters().map(part).collect())
    }

    /// Copies the shared parameters of a checked message.
    pub fn receive<T: Real>(&self, parameters: &mut ParamSet<T>, message: &Message) {
        for parameter in self.parameters() {
            if let Some(numbers) = message.real(&parameter.name) {
                let values = &mut parameters.values_mut()[parameter.range()];
                values.iter_mut().zip(&*numbers).for_each(|(value, &number)| *value = T::from_f64(number));
            }
        }
    }

    /// Number of local values.
    pub fn local_size(&self) -> usize {
        self.local.iter().map(ExactSizeIterator::len).sum()
    }

    /// The local values of a model.
    pub fn local<T: Real>(&self, parameters: &ParamSet<T>) -> Vec<T> {
        self.local.iter().flat_map(|range| &parameters.values()[range.clone()]).copied().collect()
    }

    /// Parameters with a client's own local values, if it has any.
    pub fn with_local<T: Real>(&self, parameters: &ParamSet<T>, local: &[f64]) -> ParamSet<T> {
        let mut parameters = parameters.clone();
        if !local.is_empty() {
            let places = self.local.iter().flat_map(Clone::clone);
            places.zip(local).for_each(|(place, &value)| parameters.values_mut()[place] = T::from_f64(value));
        }
        parameters
    }
}
