//! Optimisers. Each parameter has an update rule for its geometry.

mod adam;
mod landing;
mod riemannian_adam;
mod riemannian_sgd;
mod sgd;
mod spd_sgd;
mod trivialised_adam;

use std::any::Any;

use fedspd_manifold::simd::Simd;
use fedspd_manifold::{Real, RetractionKind, first_not_finite};
use serde::{Deserialize, Serialize};

pub use adam::AdamSettings;
pub use landing::landing_field;
pub use trivialised_adam::Trivialisation;

use crate::params::{Geometry, LARGEST_INFEASIBILITY, ParamSet, Parameter, Role, Space};
use crate::{Error, check};

/// An optimiser with its settings.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "method", deny_unknown_fields)]
pub enum OptimiserConfig {
    /// Adam. On Stiefel parameters it works in the tangent space at a base point (the paper's
    /// trivialisation).
    Adam {
        /// Moments and weight decay.
        adam: AdamSettings,
        /// The retraction from the tangent space to the manifold.
        retraction: RetractionKind,
        /// Number of steps after which the current point becomes the base point; never if absent.
        rebase_every: Option<u64>,
    },
    /// Adam with the intrinsic step on Stiefel parameters: a transported first moment, and one
    /// second moment for the whole matrix.
    RiemannianAdam {
        /// Moments and weight decay.
        adam: AdamSettings,
        /// The retraction from the tangent space to the manifold.
        retraction: RetractionKind,
    },
    /// Gradient descent with momentum, transported on Stiefel and SPD parameters.
    RiemannianSgd {
        /// The share of the last step that is kept.
        momentum: f64,
        /// Pulls Euclidean parameters to zero.
        weight_decay: f64,
        /// The retraction from the tangent space to the manifold.
        retraction: RetractionKind,
    },
    /// Gradient descent within a bounded distance of the Stiefel manifold. [`Optimiser::finish`]
    /// projects onto the manifold.
    Landing {
        /// The strength of the pull towards the manifold.
        attraction: f64,
        /// The largest `|W^T W - I|` on the way.
        safe_distance: f64,
        /// The share of the last step that is kept, for Euclidean and SPD parameters.
        momentum: f64,
        /// Pulls Euclidean parameters to zero.
        weight_decay: f64,
    },
}

impl Default for OptimiserConfig {
    fn default() -> Self {
        let (adam, retraction) = (AdamSettings::default(), RetractionKind::Polar);
        Self::Adam { adam, retraction, rebase_every: None }
    }
}

impl OptimiserConfig {
    /// Checks the settings.
    ///
    /// # Errors
    /// [`Error::Config`] with the name of the setting, its value and the allowed values.
    pub fn check(&self) -> Result<(), Error> {
        let share = |name, value: f64| {
            check(name, value, (0.0..1.0).contains(&value), || "at least 0 and less than 1".into())
        };
        let positive = |name, value: f64| {
            check(name, value, value > 0.0 && value.is_finite(), || "positive and finite".into())
        };
        let decay = |value: f64| {
            let holds = value >= 0.0 && value.is_finite();
            check("weight_decay", value, holds, || "at least 0 and finite".into())
        };
        match *self {
            Self::Adam { adam, .. } | Self::RiemannianAdam { adam, .. } => {
                share("betas", adam.betas.0)?;
                share("betas", adam.betas.1)?;
                positive("epsilon", adam.epsilon)?;
                decay(adam.weight_decay)?;
                if let Self::Adam { rebase_every: Some(steps), .. } = *self {
                    check("rebase_every", steps, steps > 0, || "at least 1".into())?;
                }
                Ok(())
            }
            Self::RiemannianSgd { momentum, weight_decay, .. } => {
                share("momentum", momentum)?;
                decay(weight_decay)
            }
            Self::Landing { attraction, safe_distance, momentum, weight_decay } => {
                positive("attraction", attraction)?;
                let inside = safe_distance > 0.0 && safe_distance < 1.0;
                check("safe_distance", safe_distance, inside, || "between 0 and 1".into())?;
                share("momentum", momentum)?;
                decay(weight_decay)
            }
        }
    }
}

/// The update rule of one parameter.
trait Rule<T: Real>: Send {
    /// Moves the values against the gradient.
    fn step(&mut self, values: &mut [T], gradient: &[T], learning_rate: f64) -> Result<(), Error>;

    /// Brings the values to their manifold after the last step.
    fn finish(&mut self, _values: &mut [T]) -> Result<(), Error> {
        Ok(())
    }

    /// The velocity of a rule without other memory; empty for other rules.
    fn velocity(&self) -> &[T] {
        &[]
    }

    /// The velocity, mutable.
    fn velocity_mut(&mut self) -> &mut [T] {
        &mut []
    }

    /// Starts at these values, without memory.
    fn restart(&mut self, _values: &[T]) -> Result<(), Error> {
        self.velocity_mut().fill(T::ZERO);
        Ok(())
    }

    /// Appends its memory.
    fn remember(&self, memory: &mut Vec<f64>) {
        append(memory, self.velocity());
    }

    /// Reads its memory from the front of an optimiser's memory, after a restart. Transports
    /// tangent vectors to the tangent space at the values, now or in its next step.
    fn recall(&mut self, _values: &[T], memory: &mut Memory<'_>) -> Result<(), Error> {
        memory.numbers(self.velocity_mut())
    }
}

/// The memory of an optimiser. Each rule reads its own numbers from the front.
struct Memory<'a> {
    rest: &'a [f64],
}

impl Memory<'_> {
    fn numbers<T: Real>(&mut self, into: &mut [T]) -> Result<(), Error> {
        let Some((numbers, rest)) = self.rest.split_at_checked(into.len()) else {
            let (what, expected, found) = ("the memory of the optimiser", into.len(), self.rest.len());
            return Err(Error::Length { what, expected, found });
        };
        for (into, &number) in into.iter_mut().zip(numbers) {
            *into = T::from_f64(number);
        }
        self.rest = rest;
        Ok(())
    }

    fn number(&mut self) -> Result<f64, Error> {
        let mut number = [0.0];
        self.numbers(&mut number)?;
        Ok(number[0])
    }
}

/// Appends numbers to a memory.
fn append<T: Real>(memory: &mut Vec<f64>, numbers: &[T]) {
    memory.extend(numbers.iter().map(|number| number.to_f64()));
}

/// Moves parameters by their gradients. It keeps the state of its rules; the caller keeps the
/// parameters.
///
/// Weight decay changes only Euclidean parameters. Statistics never change. No step allocates,
/// unless a matrix is so far from the manifold that its retraction needs singular values.
pub struct Optimiser<T> {
    config: OptimiserConfig,
    simd: Simd,
    rules: Vec<(std::ops::Range<usize>, Box<dyn Rule<T>>)>,
    /// Limited rows: their range, their length and their largest norm.
    limits: Vec<(std::ops::Range<usize>, usize, f64)>,
    size: usize,
}

impl<T: Real> Optimiser<T> {
    /// Creates an optimiser that starts at these parameters.
    ///
    /// # Errors
    /// [`Error::Config`] for settings out of range; [`Error::Infeasible`] for parameters off their
    /// manifold; [`Error::NoRule`] if the optimiser has no rule for a parameter.
    pub fn new(config: OptimiserConfig, parameters: &ParamSet<T>) -> Result<Self, Error> {
        config.check()?;
        check_feasible(config, parameters)?;
        let trained = parameters.iter().filter(|(parameter, _)| parameter.role == Role::Trained);
        let rules = trained
            .map(|(parameter, values)| Ok((parameter.range(), rule(config, parameter, values)?)))
            .collect::<Result<_, Error>>()?;
        let limited = |(parameter, _): (&Parameter, &[T])| {
            let rows = parameter.shape.first().copied().unwrap_or(1);
            parameter.max_norm.map(|largest| (parameter.range(), parameter.size() / rows, largest))
        };
        let limits = parameters.iter().filter_map(limited).collect();
        Ok(Self { config, simd: Simd::detect()?, rules, limits, size: parameters.values().len() })
    }

    /// Takes one step against the gradient, which has the layout of the parameters.
    ///
    /// # Errors
    /// [`Error::Length`] for another model's gradient. [`Error::Config`] for a learning rate that
    /// is negative or not finite. [`Error::Diverged`] if the gradient or a step on a manifold is
    /// not finite; the next pass reports a Euclidean step that is not finite. [`Error::Moved`] and
    /// [`Error::TooFarToLand`] from methods with a base point or a safe distance.
    ///
    /// After an error some parameters may have moved.
    pub fn step(
        &mut self,
        parameters: &mut ParamSet<T>,
        gradient: &[T],
        learning_rate: f64,
    ) -> Result<(), Error> {
        for (what, found) in [("the gradient", gradient.len()), ("the parameters", parameters.values().len())]
        {
            if found != self.size {
                return Err(Error::Length { what, expected: self.size, found });
            }
        }
        let positive = learning_rate >= 0.0 && learning_rate.is_finite();
        check("learning_rate", learning_rate, positive, || "at least 0 and finite".into())?;
        if let Some(place) = first_not_finite(self.simd, gradient) {
            return Err(Error::Diverged {
                what: "an entry of the gradient",
                value: gradient[place].to_f64(),
            });
        }
        let values = parameters.values_mut();
        for (range, rule) in &mut self.rules {
            rule.step(&mut values[range.clone()], &gradient[range.clone()], learning_rate).map_err(
                |error| match error {
                    Error::Geometry(fedspd_manifold::Error::NotFinite { value, .. }) => {
                        Error::Diverged { what: "an entry of a step", value }
                    }
                    other => other,
                },
            )?;
        }
        for (range, length, largest) in &self.limits {
            for row in values[range.clone()].chunks_exact_mut(*length) {
                let norm = row.iter().map(|x| x.to_f64() * x.to_f64()).sum::<f64>().sqrt();
                if norm > *largest {
                    let factor = T::from_f64(largest / norm);
                    for x in row {
                        *x *= factor;
                    }
                }
            }
        }
        Ok(())
    }

    /// Ends the steps. Projects parameters onto their manifold if the method lets them leave it.
    ///
    /// # Errors
    /// [`Error::Geometry`] if a matrix has lost its rank.
    pub fn finish(&mut self, parameters: &mut ParamSet<T>) -> Result<(), Error> {
        let values = parameters.values_mut();
        self.rules.iter_mut().try_for_each(|(range, rule)| rule.finish(&mut values[range.clone()]))
    }

    /// The settings.
    pub fn config(&self) -> OptimiserConfig {
        self.config
    }

    /// Restarts at these parameters like a new optimiser, in the memory of this one.
    ///
    /// # Errors
    /// As [`Optimiser::new`]; [`Error::Length`] for another model's parameters.
    pub fn restart(&mut self, parameters: &ParamSet<T>) -> Result<(), Error> {
        let (what, expected, found) = ("the parameters", self.size, parameters.values().len());
        if found != expected {
            return Err(Error::Length { what, expected, found });
        }
        check_feasible(self.config, parameters)?;
        let values = parameters.values();
        self.rules.iter_mut().try_for_each(|(range, rule)| rule.restart(&values[range.clone()]))
    }

    /// Its memory (moments, counts) as plain numbers.
    pub fn memory(&self) -> Vec<f64> {
        let mut memory = Vec::new();
        for (_, rule) in &self.rules {
            rule.remember(&mut memory);
        }
        memory
    }

    /// Restarts at these parameters with the memory of an optimiser of the same kind. Projects
    /// moments that are tangent vectors onto the tangent spaces here, now or in the next step.
    /// Other moments do not change.
    ///
    /// # Errors
    /// As [`Optimiser::restart`]; [`Error::Length`] for another optimiser's memory.
    pub fn recall(&mut self, parameters: &ParamSet<T>, memory: &[f64]) -> Result<(), Error> {
        self.restart(parameters)?;
        let values = parameters.values();
        let mut rest = Memory { rest: memory };
        for (range, rule) in &mut self.rules {
            rule.recall(&values[range.clone()], &mut rest)?;
        }
        if rest.rest.is_empty() {
            return Ok(());
        }
        let (what, found) = ("the memory of the optimiser", memory.len());
        Err(Error::Length { what, expected: found - rest.rest.len(), found })
    }
}

/// Checks that parameters are on their manifolds. The landing method checks Stiefel matrices by a
/// region of its own.
fn check_feasible<T: Real>(config: OptimiserConfig, parameters: &ParamSet<T>) -> Result<(), Error> {
    let landing = matches!(config, OptimiserConfig::Landing { .. });
    for (parameter, values) in parameters.iter().filter(|(parameter, _)| parameter.role == Role::Trained) {
        if landing && parameter.geometry == Geometry::Stiefel {
            continue;
        }
        let distance = parameter.feasibility_error(&T::widen(values))?;
        if distance > LARGEST_INFEASIBILITY {
            return Err(Error::Infeasible { name: parameter.name.clone(), distance });
        }
    }
    Ok(())
}

/// Creates the rule for a parameter. It calls functions that are not generic, so that rules are
/// compiled here and not again in every crate that trains.
fn rule<T: Real>(
    config: OptimiserConfig,
    parameter: &Parameter,
    values: &[T],
) -> Result<Box<dyn Rule<T>>, Error> {
    let start: Box<dyn Any> = Box::new(values.to_vec());
    let made: Box<dyn Any> = match start.downcast::<Vec<f64>>() {
        Ok(start) => Box::new(rule_f64(config, parameter, &start)?),
        Err(start) => {
            let start = start.downcast::<Vec<f32>>().unwrap_or_default();
            Box::new(rule_f32(config, parameter, &start)?)
        }
    };
    made.downcast::<Box<dyn Rule<T>>>().map(|rule| *rule).map_err(|_| Error::Config {
        field: "precision",
        value: std::any::type_name::<T>().into(),
        expected: "f64 or f32".into(),
    })
}

fn rule_f64(
    config: OptimiserConfig,
    parameter: &Parameter,
    values: &[f64],
) -> Result<Box<dyn Rule<f64>>, Error> {
    rule_of(config, parameter, values)
}

fn rule_f32(
    config: OptimiserConfig,
    parameter: &Parameter,
    values: &[f32],
) -> Result<Box<dyn Rule<f32>>, Error> {
    rule_of(config, parameter, values)
}

fn rule_of<T: Real>(
    config: OptimiserConfig,
    parameter: &Parameter,
    values: &[T],
) -> Result<Box<dyn Rule<T>>, Error> {
    let size = parameter.size();
    Ok(match (config, parameter.space()) {
        (OptimiserConfig::Adam { adam, retraction, rebase_every }, Space::Stiefel { p, k }) => {
            Box::new(trivialised_adam::TrivialisedAdam::new(adam, retraction, rebase_every, (p, k), values)?)
        }
        (OptimiserConfig::RiemannianAdam { adam, retraction }, Space::Stiefel { p, k }) => {
            Box::new(riemannian_adam::RiemannianAdam::new(adam, retraction, p, k)?)
        }
        (OptimiserConfig::RiemannianSgd { momentum, retraction, .. }, Space::Stiefel { p, k }) => {
            Box::new(riemannian_sgd::RiemannianSgd::new(momentum, retraction, p, k)?)
        }
        (OptimiserConfig::Landing { attraction, safe_distance, .. }, Space::Stiefel { p, k }) => {
            Box::new(landing::Landing::new(attraction, safe_distance, p, k)?)
        }
        (
            OptimiserConfig::Adam { adam, .. } | OptimiserConfig::RiemannianAdam { adam, .. },
            Space::Euclidean,
        ) => Box::new(adam::Adam::new(adam, size)?),
        (
            OptimiserConfig::RiemannianSgd { momentum, weight_decay, .. }
            | OptimiserConfig::Landing { momentum, weight_decay, .. },
            Space::Euclidean,
        ) => Box::new(sgd::Sgd::new(momentum, weight_decay, size)),
        (
            OptimiserConfig::RiemannianSgd { momentum, .. } | OptimiserConfig::Landing { momentum, .. },
            Space::Spd { n },
        ) => Box::new(spd_sgd::SpdSgd::new(momentum, n)?),
        (OptimiserConfig::Adam { .. } | OptimiserConfig::RiemannianAdam { .. }, Space::Spd { .. }) => {
            return Err(Error::NoRule { name: parameter.name.clone() });
        }
    })
}
