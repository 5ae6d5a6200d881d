//! The names, shapes and properties of a model's parameters.

use std::collections::HashSet;
use std::ops::Range;

use fedspd_manifold::{Stiefel, SymmetricEigen};
use serde::{Deserialize, Serialize};

use crate::Error;

/// The manifold of a tensor. Optimisers move on it; the server averages on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Geometry {
    /// Any numbers.
    Euclidean,
    /// A matrix with orthonormal columns.
    Stiefel,
    /// A symmetric positive definite matrix.
    Spd,
}

/// A [`Geometry`] with its sizes. Code that depends on the geometry matches it without a wildcard.
/// The compiler then reports every place that does not handle a new geometry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// Any numbers.
    Euclidean,
    /// `p x k` matrices with orthonormal columns.
    Stiefel {
        /// Rows.
        p: usize,
        /// Columns.
        k: usize,
    },
    /// Symmetric positive definite `n x n` matrices.
    Spd {
        /// Rows and columns.
        n: usize,
    },
}

/// The source of a tensor's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Set by an optimiser.
    Trained,
    /// Set by the data in a forward pass; an optimiser never changes it.
    Statistic,
}

/// The visibility of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Sent to the server and averaged.
    Shared,
    /// Never leaves its client.
    Local,
}

/// A named tensor with its properties.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tensor {
    /// Name, unique in its model.
    pub name: String,
    /// Row-major dimensions.
    pub shape: Vec<usize>,
    /// Its manifold.
    pub geometry: Geometry,
    /// The source of its values.
    pub role: Role,
    /// Its visibility.
    pub scope: Scope,
    /// The largest norm of a row after an optimiser step, if there is a limit.
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

    /// A trained, shared symmetric positive definite `n x n` matrix.
    pub fn spd(name: impl Into<String>, n: usize) -> Self {
        Self { geometry: Geometry::Spd, ..Self::euclidean(name, &[n, n]) }
    }

    /// Limits the norm of each row.
    #[must_use]
    pub fn max_norm(self, max_norm: Option<f64>) -> Self {
        Self { max_norm, ..self }
    }

    /// Number of entries.
    pub fn size(&self) -> usize {
        self.shape.iter().product()
    }

    /// Returns the fault of its shape for its geometry, if any.
    fn fault(&self) -> Option<&'static str> {
        match (self.geometry, &self.shape[..]) {
            (Geometry::Euclidean, _) => None,
            (Geometry::Stiefel, &[p, k]) if p >= k => None,
            (Geometry::Stiefel, _) => {
                Some("must be a matrix with at least as many rows as columns (orthonormal columns)")
            }
            (Geometry::Spd, &[rows, columns]) if rows == columns => None,
            (Geometry::Spd, _) => Some("must be a square matrix (symmetric positive definite)"),
        }
    }
}

/// A tensor and its range among the values of a [`crate::ParamSet`].
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    tensor: Tensor,
    range: Range<usize>,
}

impl Parameter {
    /// Its range among the values.
    pub fn range(&self) -> Range<usize> {
        self.range.clone()
    }

    /// Its geometry with the sizes. [`Layout::new`] has checked the shape.
    pub fn space(&self) -> Space {
        let side = |place: usize| self.shape.get(place).copied().unwrap_or(1);
        match self.geometry {
            Geometry::Euclidean => Space::Euclidean,
            Geometry::Stiefel => Space::Stiefel { p: side(0), k: side(1) },
            Geometry::Spd => Space::Spd { n: side(0) },
        }
    }

    /// Distance of values from the parameter's manifold: `|W^T W - I|` for Stiefel, `|A - A^T|` for
    /// SPD, 0 for Euclidean. It is infinite for SPD if an eigenvalue is not positive, because
    /// rounding does not cause that.
    ///
    /// # Errors
    /// [`Error::Geometry`] if a value is not finite.
    pub fn feasibility_error(&self, values: &[f64]) -> Result<f64, Error> {
        match self.space() {
            Space::Euclidean => Ok(0.0),
            Space::Stiefel { p, k } => Ok(Stiefel::new(p, k)?.feasibility_error(values)?),
            Space::Spd { n } => spd_error(n, values),
        }
    }
}

fn spd_error(n: usize, values: &[f64]) -> Result<f64, Error> {
    let at = |i: usize, j: usize| values[i * n + j];
    let (mut symmetric, mut asymmetry) = (vec![0.0; n * n], 0.0_f64);
    for i in 0..n {
        for j in 0..n {
            symmetric[i * n + j] = 0.5 * (at(i, j) + at(j, i));
            asymmetry += (at(i, j) - at(j, i)).powi(2);
        }
    }
    let mut eigenvalues = vec![0.0; n];
    SymmetricEigen::new(n)?.eigenvalues(&symmetric, &mut eigenvalues)?;
    let positive = eigenvalues.iter().all(|&value| value > 0.0);
    Ok(if positive { asymmetry.sqrt() } else { f64::INFINITY })
}

impl std::ops::Deref for Parameter {
    type Target = Tensor;
    fn deref(&self) -> &Tensor {
        &self.tensor
    }
}

/// The parameters of a model in their order. Their values are one slice; a gradient has the same
/// layout.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    parameters: Vec<Parameter>,
}

impl Layout {
    /// Lays the tensors out in the given order.
    ///
    /// # Errors
    /// [`Error::Tensor`] if a name occurs twice, a tensor is empty, or a shape does not match its
    /// geometry. A Stiefel tensor must be a tall matrix, an SPD tensor a square matrix.
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
            } else {
                tensor.fault()
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

    /// Number of all values.
    pub fn size(&self) -> usize {
        self.parameters.last().map_or(0, |last| last.range.end)
    }

    /// Number of trained values.
    pub fn trained_size(&self) -> usize {
        let trained = self.parameters.iter().filter(|parameter| parameter.role == Role::Trained);
        trained.map(|parameter| parameter.size()).sum()
    }

    /// The parameter with that name.
    pub fn get(&self, name: &str) -> Option<&Parameter> {
        self.parameters.iter().find(|parameter| parameter.name == name)
    }
}
