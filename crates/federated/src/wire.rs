//! Which numbers of a model travel, and which stay.

use std::ops::Range;
use std::sync::Arc;

use fedspd_manifold::Real;
use fedspd_nn::{Layout, ParamSet, Parameter, Scope};

/// The numbers of a model by scope: shared ones in the order of the layout make a message, local ones stay with their client.
#[derive(Clone, Debug)]
pub struct Wire {
    layout: Arc<Layout>,
    shared: Vec<Range<usize>>,
    local: Vec<Range<usize>>,
}

impl Wire {
    /// That of a layout.
    pub fn new(layout: Arc<Layout>) -> Self {
        let of = |scope: Scope| {
            let parameters = layout.parameters().iter().filter(|parameter| parameter.scope == scope);
            parameters.map(Parameter::range).collect()
        };
        let (shared, local) = (of(Scope::Shared), of(Scope::Local));
        Self { layout, shared, local }
    }

    /// Names, shapes and facts.
    pub fn layout(&self) -> &Arc<Layout> {
        &self.layout
    }

    /// The shared parameters in order, each with its place in a message.
    pub fn parameters(&self) -> impl Iterator<Item = (&Parameter, Range<usize>)> {
        let shared = self.layout.parameters().iter().filter(|parameter| parameter.scope == Scope::Shared);
        shared.scan(0, |start, parameter| {
            let range = *start..*start + parameter.size();
            *start = range.end;
            Some((parameter, range))
        })
    }

    /// How many numbers a message has.
    pub fn shared_size(&self) -> usize {
        self.shared.iter().map(ExactSizeIterator::len).sum()
    }

    /// How many numbers stay.
    pub fn local_size(&self) -> usize {
        self.local.iter().map(ExactSizeIterator::len).sum()
    }

    /// The shared numbers of a model.
    pub fn shared<T: Real>(&self, parameters: &ParamSet<T>) -> Vec<T> {
        gather(&self.shared, parameters)
    }

    /// The local numbers of a model.
    pub fn local<T: Real>(&self, parameters: &ParamSet<T>) -> Vec<T> {
        gather(&self.local, parameters)
    }

    /// Parameters with a client's own local numbers, if it has some.
    pub fn with_local<T: Real>(&self, parameters: &ParamSet<T>, local: &[f64]) -> ParamSet<T> {
        let mut parameters = parameters.clone();
        if !local.is_empty() {
            let local: Vec<T> = local.iter().map(|&value| T::from_f64(value)).collect();
            self.put_local(&mut parameters, &local);
        }
        parameters
    }

    /// Puts shared numbers in their places.
    pub fn put_shared<T: Real>(&self, parameters: &mut ParamSet<T>, values: &[T]) {
        put(&self.shared, parameters, values);
    }

    /// Puts local numbers in their places.
    pub fn put_local<T: Real>(&self, parameters: &mut ParamSet<T>, values: &[T]) {
        put(&self.local, parameters, values);
    }
}

fn put<T: Real>(ranges: &[Range<usize>], parameters: &mut ParamSet<T>, mut values: &[T]) {
    for range in ranges {
        let (here, rest) = values.split_at(range.len());
        parameters.values_mut()[range.clone()].copy_from_slice(here);
        values = rest;
    }
}

fn gather<T: Real>(ranges: &[Range<usize>], parameters: &ParamSet<T>) -> Vec<T> {
    ranges.iter().flat_map(|range| &parameters.values()[range.clone()]).copied().collect()
}
