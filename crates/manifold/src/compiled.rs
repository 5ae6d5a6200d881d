//! Compilation of the heaviest kernels, once for each precision.
//!
//! Generic code is compiled in every crate that calls it. These kernels exist on three instruction
//! sets and in a dozen block shapes, so they took most of the time of a clean build. As methods of
//! `f32` and `f64` they are compiled only here.

use crate::Real;
use crate::dense::Product;
use crate::simd::Simd;
use crate::spectral::{Differentiate, Evaluate, PrepareValues};
use crate::symmetric::{Arrange, Decompose, Prepare};

macro_rules! compiled {
    ($($method:ident($kernel:ty) -> $output:ty;)*) => {
        /// A floating-point type with compiled kernels.
        pub trait Compiled: Sized {
            $(
                #[doc(hidden)]
                fn $method(simd: Simd, kernel: $kernel) -> $output
                where
                    Self: Real;
            )*
        }

        compiled!(f32: $($method($kernel) -> $output;)*);
        compiled!(f64: $($method($kernel) -> $output;)*);
    };
    ($number:ty: $($method:ident($kernel:ty) -> $output:ty;)*) => {
        impl Compiled for $number {
            $(
                fn $method(simd: Simd, kernel: $kernel) -> $output {
                    simd.run(kernel)
                }
            )*
        }
    };
}

compiled! {
    product(Product<'_, Self, false>) -> ();
    transposed_product(Product<'_, Self, true>) -> ();
    arrange(Arrange<'_, Self>) -> ();
    prepare(Prepare<'_, Self>) -> bool;
    decompose(Decompose<'_, Self>) -> bool;
    prepare_values(PrepareValues<'_, Self>) -> ();
    evaluate(Evaluate<'_, Self>) -> bool;
    differentiate(Differentiate<'_, Self>) -> bool;
}
