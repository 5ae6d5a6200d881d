//! Where the heaviest kernels become machine code: here, once for each precision.
//!
//! Generic code is compiled in every crate that calls it. For kernels that exist on three instruction sets and in a dozen block
//! shapes this was most of the time of a clean build. As methods of the two numbers they are generic no longer.

use crate::Real;
use crate::dense::Product;
use crate::simd::Simd;
use crate::spectral::{Differentiate, Evaluate, PrepareValues};
use crate::symmetric::{Arrange, Decompose, Prepare};

macro_rules! compiled {
    ($($method:ident($kernel:ty) -> $output:ty;)*) => {
        /// A number for which the kernels are compiled.
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
