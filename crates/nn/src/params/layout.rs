//! The names, shapes and facts of a model's parameters.

use std::collections::HashSet;
use std::ops::Range;

use fedspd_manifold::Stiefel;
use serde::{Deserialize, Serialize};

use crate::Error;

/// The set that a tensor lives on. Optimisers move on it; the server averages on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Geometry {
    /// Any numbers.
    Euclidean,
    /// A matrix with orthonormal columns.
    Stiefel,
}

/// Who sets a tensor's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// An optimiser.
    Trained,
    /// The data that pass through; an optimiser never touches it.
    Statistic,
}

/// Who may see a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Everyone: it is sent to the server and averaged.
    Shared,
    /// Its client: it never leaves.
    Local,
}

/// A tensor to be laid out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tensor {
    /// Unique in its model.
    pub name: String,
    /// Row-major dimensions.
    pub shape: Vec<usize>,
    /// The set it lives on.
    pub geometry: Geometry,
    /// Who sets it.
    pub role: Role,
    /// Who may see it.
    pub scope: Scope,
    /// The largest norm of each of its rows, if an optimiser must keep to one.
    pub max_norm: Option<f64>,
}

impl Tensor {
    /// A trained, shared Euclidean tensor.
    pub fn euclidean(name: impl Into<String>, shape: &[usize]) -> Self {
        let (geometry, role, scope) = (Geometry::Euclidean, Role::Trained, Scope::Shared);
        Self { name: name.into(), shape: shape.to_vec(), geometry, role, scope, max_norm: None }
    }

    /// A trained, shared `p x k` matrix with orthonormal columns.
    pub fn stiefel(name: impl Into<String>, p: usize, k: usize) -> Self {
        Self { geometry: Geometry::Stiefel, ..Self::euclidean(name, &[p, k]) }
    }

    /// The same with rows of at most that norm.
    #[must_use]
    pub fn max_norm(self, max_norm: Option<f64>) -> Self {
        Self { max_norm, ..self }
    }

    /// The number of its entries.
    pub fn size(&self) -> usize {
        self.shape.iter().product()
    }
}

/// A tensor and its place among the values of a [`crate::ParamSet`].
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    tensor: Tensor,
    range: Range<usize>,
}

impl Parameter {
    /// Its place among the values.
    pub fn range(&self) -> Range<usize> {
        self.range.clone()
    }

    /// How far these values are from where they may be: `|W^T W - I|` of a Stiefel parameter, zero of another.
    ///
    /// # Errors
    /// [`Error::Geometry`] if a value is not finite.
    pub fn feasibility_error(&self, values: &[f64]) -> Result<f64, Error> {
        match (self.geometry, &self.shape[..]) {
            (Geometry::Stiefel, &[p, k]) => Ok(Stiefel::new(p, k)?.feasibility_error(values)?),
            _ => Ok(0.0),
        }
    }
}

impl std::ops::Deref for Parameter {
    type Target = Tensor;
    fn deref(&self) -> &Tensor {
        &self.tensor
    }
}

/// The parameters of a model in their order, their values one after the other in one slice. A gradient has the same layout.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    parameters: Vec<Parameter>,
}

impl Layout {
    /// Lays the tensors out in the given order.
    ///
    /// # Errors
    /// [`Error::Tensor`] if a name occurs twice, a tensor is empty, or a Stiefel tensor is not a tall matrix.
    pub fn new(tensors: Vec<Tensor>) -> Result<Self, Error> {
        let mut parameters: Vec<Parameter> = Vec::with_capacity(tensors.len());
        let mut names = HashSet::new();
        let mut start = 0;
        for tensor in tensors {
            let size = tensor.shape.iter().try_fold(1_usize, |size, &n| size.checked_mul(n));
            let fault = if size == Some(0) {
                Some("has no entries")
            } else if size.and_then(|size| size.checked_add(start)).is_none() {
                Some("has more entries than can be counted")
            } else if !names.insert(tensor.name.clone()) {
                Some("occurs twice")
            } else if tensor.geometry == Geometry::Stiefel
                && !matches!(tensor.shape[..], [rows, columns] if rows >= columns)
            {
                Some("has orthonormal columns but is not a matrix with at least as many rows as columns")
            } else {
                None
            };
            if let Some(fault) = fault {
                return Err(Error::Tensor { name: tensor.name, shape: tensor.shape, fault });
            }
            let range = start..start + tensor.size();
            start = range.end;
            parameters.push(Parameter { tensor, range });
        }
        Ok(Self { parameters })
    }

    /// The parameters in order.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// The number of all values.
    pub fn size(&self) -> usize {
        self.parameters.last().map_or(0, |last| last.range.end)
    }

    /// The parameter of that name.
    pub fn get(&self, name: &str) -> Option<&Parameter> {
        self.parameters.iter().find(|parameter| parameter.name == name)
    }
}
