//! Vector lanes, and the choice of the instruction set at run time.
//!
//! Kernels are generic over [`Lanes`] and compiled for every instruction set. [`Simd::run`] calls
//! the copy for the chosen one. Every operation of [`Lanes`] is one IEEE-754 operation per lane
//! (fused multiply-add included), so a kernel gives the same bits on every path. Operations that
//! would break this rule do not exist here, such as an approximate reciprocal. The only operations
//! across lanes are tests on masks, the extremes of a vector and transpositions.
//!
//! This is the only module of the workspace that allows `unsafe`. The safety argument is the same
//! for all intrinsics. The vector types of an instruction set are private to this module. They
//! reach a kernel only as the type parameter of [`Kernel::run`]. [`Simd::run`] calls it only after
//! it has detected the instruction set. Code that can name the type therefore runs on a machine
//! that has the instructions.
#![allow(unsafe_code)]

/// The arithmetic of a hardware vector, one intrinsic per operator.
#[cfg(target_arch = "x86_64")]
macro_rules! arithmetic {
    ($vector:ident, $($operator:ident::$method:ident = $intrinsic:ident),*) => {$(
        impl $operator for $vector {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                // SAFETY: values of this type exist only on machines with its instruction set (see
                // `simd`).
                Self(unsafe { $intrinsic(self.0, other.0) })
            }
        }
    )*};
}

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod buffer;
pub mod elementary;
mod grid;
mod lanes;
mod portable;

pub use buffer::Buffer;
pub(crate) use grid::{Rows, RowsMut};
pub use lanes::Lanes;
pub(crate) use lanes::{MAX_WIDTH, as_numbers};
pub use portable::Array;

use crate::{Error, Real};
use lanes::Pair;

/// The environment variable that forces a path: `avx512`, `avx2` or `portable`.
pub const SIMD_VARIABLE: &str = "FEDSPD_SIMD";

mod sealed {
    /// Seals [`super::Dispatch`] and [`super::Lanes`]: their safety arguments require that every
    /// implementation is known.
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// A computation written for any vector type.
///
/// Implementations mark `run`, and every function in its hot loops, `#[inline(always)]`: only
/// inlined code is compiled for the instruction set of the path.
pub trait Kernel<T: Real> {
    /// The result of the computation.
    type Output;
    /// Computes with vectors of type `V`.
    fn run<V: Lanes<Scalar = T>>(self) -> Self::Output;
}

/// An instruction set of this machine.
///
/// Only detection creates a value, so a value proves that the instruction set exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Simd(Path);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Path {
    #[cfg(target_arch = "x86_64")]
    Avx512,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    Portable,
}

impl Path {
    /// Every path of this architecture, fastest first.
    const ALL: &[Self] = &[
        #[cfg(target_arch = "x86_64")]
        Self::Avx512,
        #[cfg(target_arch = "x86_64")]
        Self::Avx2,
        Self::Portable,
    ];

    fn is_available(self) -> bool {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => {
                is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx2")
                    && is_x86_feature_detected!("fma")
            }
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
            Self::Portable => true,
        }
    }

    fn name(self) -> &'static str {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => "avx512",
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => "avx2",
            Self::Portable => "portable",
        }
    }
}

impl Simd {
    /// Returns the path named by [`SIMD_VARIABLE`] if it is set and not empty, otherwise the
    /// fastest one.
    ///
    /// # Errors
    /// [`Error::SimdUnavailable`] if the variable names a path that does not exist or that this
    /// machine lacks.
    pub fn detect() -> Result<Self, Error> {
        match std::env::var(SIMD_VARIABLE) {
            Ok(name) if !name.is_empty() => Self::named(&name),
            _ => Ok(Self::available().next().unwrap_or(Self(Path::Portable))),
        }
    }

    /// Returns the path of that name: `avx512`, `avx2` or `portable`.
    ///
    /// # Errors
    /// [`Error::SimdUnavailable`] if there is no such path or this machine lacks it.
    pub fn named(name: &str) -> Result<Self, Error> {
        Self::available()
            .find(|path| path.name() == name)
            .ok_or_else(|| Error::SimdUnavailable { name: name.to_owned() })
    }

    /// Returns the paths that this machine can run, fastest first. They always include the portable
    /// one.
    pub fn available() -> impl Iterator<Item = Self> {
        Path::ALL.iter().copied().filter(|path| path.is_available()).map(Self)
    }

    /// Returns the name of this path, as [`Simd::named`] and [`SIMD_VARIABLE`] expect it.
    pub fn name(self) -> &'static str {
        self.0.name()
    }

    /// Runs a kernel compiled for this instruction set.
    #[inline]
    pub fn run<T: Real, K: Kernel<T>>(self, kernel: K) -> K::Output {
        T::run_on(self, kernel)
    }
}

/// A scalar with its vector types. A method chooses them, not associated types, so that no other
/// code can name them.
pub trait Dispatch: Sized + sealed::Sealed {
    /// Runs a kernel with the vectors of an instruction set.
    #[doc(hidden)]
    fn run_on<K: Kernel<Self>>(simd: Simd, kernel: K) -> K::Output
    where
        Self: Real;
}

/// Implements [`Dispatch`] with pairs of hardware vectors, which hide latency.
macro_rules! dispatch {
    ($scalar:ty, avx512: $avx512:ty, avx2: $avx2:ty, portable: $portable:ty) => {
        impl Dispatch for $scalar {
            #[inline]
            fn run_on<K: Kernel<Self>>(simd: Simd, kernel: K) -> K::Output {
                match simd.0 {
                    #[cfg(target_arch = "x86_64")]
                    // SAFETY: a `Simd` of this path exists only if the features were detected.
                    Path::Avx512 => unsafe { run_avx512::<Pair<$avx512>, K>(kernel) },
                    #[cfg(target_arch = "x86_64")]
                    // SAFETY: as above.
                    Path::Avx2 => unsafe { run_avx2::<Pair<$avx2>, K>(kernel) },
                    Path::Portable => kernel.run::<Pair<$portable>>(),
                }
            }
        }
    };
}

// On `aarch64` the portable vectors compile to NEON.
dispatch!(f64, avx512: avx512::F64x8, avx2: avx2::F64x4, portable: Array<f64, 2>);
dispatch!(f32, avx512: avx512::F32x16, avx2: avx2::F32x8, portable: Array<f32, 4>);

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx2,fma")]
fn run_avx512<V: Lanes, K: Kernel<V::Scalar>>(kernel: K) -> K::Output {
    kernel.run::<V>()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn run_avx2<V: Lanes, K: Kernel<V::Scalar>>(kernel: K) -> K::Output {
    kernel.run::<V>()
}
