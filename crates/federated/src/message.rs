//! Messages between the server and its clients: named parts with numbers.

use std::borrow::Cow;

use fedspd_manifold::Real;

use crate::Fault;

/// The name of the optional part with the mean loss of a client's last epoch.
pub const LOSS: &str = "loss";

/// Named parts. Every transport carries all of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Message {
    parts: Vec<Part>,
}

/// An array with a name.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Name, unique in its message.
    pub name: String,
    /// Row-major dimensions; none for a single number.
    pub shape: Vec<usize>,
    /// As many numbers as the shape says.
    pub numbers: Numbers,
}

/// The numbers of a part. Each part has its own type, because a loss is `f64` in every precision of
/// the weights.
#[derive(Clone, Debug, PartialEq)]
pub enum Numbers {
    /// Single precision.
    F32(Vec<f32>),
    /// Double precision.
    F64(Vec<f64>),
    /// Counts, or elements of the ring of integers modulo 2^64.
    U64(Vec<u64>),
}

/// The type of a part's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Single precision.
    F32,
    /// Double precision.
    F64,
    /// Counts, or elements of the ring of integers modulo 2^64.
    U64,
}

/// A part as a method declares it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartSpec {
    /// Name, unique in its message.
    pub name: String,
    /// Row-major dimensions.
    pub shape: Vec<usize>,
    /// The type of its numbers.
    pub kind: Kind,
    /// Whether a message may omit it.
    pub optional: bool,
}

/// The parts of an exchange, in both directions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// From the server to its clients.
    pub down: Vec<PartSpec>,
    /// From a client to the server.
    pub up: Vec<PartSpec>,
}

impl Kind {
    /// The type of weights in a precision.
    pub fn of<T: Real>() -> Self {
        if size_of::<T>() == size_of::<f32>() { Self::F32 } else { Self::F64 }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::F64 => "f64",
            Self::U64 => "u64",
        }
    }

    /// Bytes per number.
    pub fn width(self) -> usize {
        match self {
            Self::F32 => size_of::<f32>(),
            Self::F64 => size_of::<f64>(),
            Self::U64 => size_of::<u64>(),
        }
    }
}

impl PartSpec {
    /// Declares a required part.
    pub fn new(name: impl Into<String>, shape: &[usize], kind: Kind) -> Self {
        Self { name: name.into(), shape: shape.to_vec(), kind, optional: false }
    }

    /// Makes the part optional.
    #[must_use]
    pub fn optional(self) -> Self {
        Self { optional: true, ..self }
    }

    /// The mean loss of a client's last epoch.
    pub fn loss() -> Self {
        Self::new(LOSS, &[], Kind::F64).optional()
    }

    /// Bytes of its numbers.
    fn bytes(&self) -> usize {
        size_of_shape(&self.shape).unwrap_or(usize::MAX).saturating_mul(self.kind.width())
    }
}

/// Bytes of the numbers of a message, without optional parts, because these only report on
/// training.
pub(crate) fn bytes(declared: &[PartSpec]) -> usize {
    declared.iter().filter(|spec| !spec.optional).map(PartSpec::bytes).sum()
}

impl Numbers {
    /// Weights in their own precision.
    pub fn of<T: Real>(values: &[T]) -> Self {
        match Kind::of::<T>() {
            Kind::F32 => Self::F32(values.iter().map(|value| value.to_f64() as f32).collect()),
            _ => Self::F64(T::widen(values).into_owned()),
        }
    }

    /// Their type.
    pub fn kind(&self) -> Kind {
        match self {
            Self::F32(_) => Kind::F32,
            Self::F64(_) => Kind::F64,
            Self::U64(_) => Kind::U64,
        }
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        match self {
            Self::F32(values) => values.len(),
            Self::F64(values) => values.len(),
            Self::U64(values) => values.len(),
        }
    }

    /// Whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The real numbers in double precision; empty for integers.
    pub fn widened(&self) -> Cow<'_, [f64]> {
        match self {
            Self::F32(values) => Cow::Owned(values.iter().map(|&value| value.into()).collect()),
            Self::F64(values) => Cow::Borrowed(values),
            Self::U64(_) => Cow::Borrowed(&[]),
        }
    }

    /// The first value that is not finite, if any.
    pub fn not_finite(&self) -> Option<f64> {
        match self {
            Self::F32(values) => values.iter().find(|value| !value.is_finite()).map(|&value| value.into()),
            Self::F64(values) => values.iter().find(|value| !value.is_finite()).copied(),
            Self::U64(_) => None,
        }
    }
}

impl Part {
    /// A part of real numbers.
    pub fn real<T: Real>(name: impl Into<String>, shape: &[usize], values: &[T]) -> Self {
        Self { name: name.into(), shape: shape.to_vec(), numbers: Numbers::of(values) }
    }

    /// A part of integers.
    pub fn ring(name: impl Into<String>, shape: &[usize], values: Vec<u64>) -> Self {
        Self { name: name.into(), shape: shape.to_vec(), numbers: Numbers::U64(values) }
    }

    /// The mean loss of a client's last epoch.
    pub fn loss(loss: f64) -> Self {
        Self::real(LOSS, &[], &[loss])
    }
}

impl Message {
    /// A message of these parts.
    pub fn new(parts: Vec<Part>) -> Self {
        Self { parts }
    }

    /// Its parts, in order.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Its parts by value.
    pub fn into_parts(self) -> Vec<Part> {
        self.parts
    }

    /// Appends a part.
    pub fn push(&mut self, part: Part) {
        self.parts.push(part);
    }

    /// The numbers of the part with that name.
    pub fn get(&self, name: &str) -> Option<&Numbers> {
        self.parts.iter().find(|part| part.name == name).map(|part| &part.numbers)
    }

    /// The real numbers of a part; none if there is no such part.
    pub fn real(&self, name: &str) -> Option<Cow<'_, [f64]>> {
        self.get(name).map(Numbers::widened)
    }

    /// The single real number of a part; none if there is no such part.
    pub fn number(&self, name: &str) -> Option<f64> {
        self.real(name).and_then(|values| values.first().copied())
    }

    /// Checks that the message has the declared parts and no others, each as declared.
    ///
    /// # Errors
    /// The first fault: a part that is missing, unknown, duplicate, of the wrong shape or type, or
    /// a number of a required part that is not finite.
    pub fn check(&self, declared: &[PartSpec]) -> Result<(), Fault> {
        for (place, part) in self.parts.iter().enumerate() {
            let name = || part.name.clone();
            let Some(spec) = declared.iter().find(|spec| spec.name == part.name) else {
                return Err(Fault::UnknownPart { part: name() });
            };
            if self.parts[..place].iter().any(|before| before.name == part.name) {
                return Err(Fault::PartTwice { part: name() });
            }
            let different = |found: String, expected: String| {
                let difference = format!("{found} where {expected} were expected");
                Err(Fault::PartShape { part: name(), difference })
            };
            let numbers = &part.numbers;
            if part.shape != spec.shape || numbers.kind() != spec.kind {
                let described =
                    |shape: &[usize], kind: Kind| format!("shape {shape:?} and type {}", kind.name());
                let found = described(&part.shape, numbers.kind());
                return different(found, described(&spec.shape, spec.kind));
            }
            let size = size_of_shape(&part.shape);
            if size != Some(numbers.len()) {
                return different(
                    format!("{} numbers", numbers.len()),
                    size.unwrap_or(usize::MAX).to_string(),
                );
            }
            if let (false, Some(value)) = (spec.optional, numbers.not_finite()) {
                return Err(Fault::NotFinite { parameter: name(), value });
            }
        }
        let missing = |spec: &&PartSpec| !spec.optional && self.get(&spec.name).is_none();
        match declared.iter().find(missing) {
            Some(spec) => Err(Fault::MissingPart { part: spec.name.clone() }),
            None => Ok(()),
        }
    }
}

fn size_of_shape(shape: &[usize]) -> Option<usize> {
    shape.iter().try_fold(1_usize, |size, &n| size.checked_mul(n))
}
