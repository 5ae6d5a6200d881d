//! The blocks for one matrix of a trial, for a few trials at a time.

use fedspd_manifold::simd::Simd;
use fedspd_manifold::{
    Error, Left, Real, SpectralFunction, SpectralTape, Triangle, multiply, multiply_add, multiply_symmetric,
    multiply_transposed_and_fetch,
};

/// One BiRe block, with the data of its forward pass for its backward pass.
struct Block<T: Real> {
    p: usize,
    k: usize,
    tape: SpectralTape<T>,
    /// `Y^T = W^T X` of every trial. The forward pass needs it for `Y^T W`, the backward pass for
    /// `dW^T = 2 G Y^T`. Its rows are as long as those of `X` and fill whole vectors; those of `Y`
    /// do not. (`X` is exactly symmetric.)
    products: Vec<T>,
    /// The output of every trial; empty in the last block, where the tape holds the output.
    outputs: Vec<T>,
}

/// All blocks of one input.
pub(super) struct Chain<T: Real> {
    simd: Simd,
    threshold: T,
    blocks: Vec<Block<T>>,
    /// One square matrix per trial.
    squares: Vec<T>,
    /// `W G` of a trial, and `W^T`; empty if there is only one block.
    tall: [Vec<T>; 2],
}

impl<T: Real> Chain<T> {
    /// Creates blocks of these dimensions for up to `trials` trials.
    pub(super) fn new(simd: Simd, dimensions: &[usize], threshold: T, trials: usize) -> Result<Self, Error> {
        let count = dimensions.len() - 1;
        let blocks = dimensions.windows(2).enumerate().map(|(index, pair)| {
            let (p, k) = (pair[0], pair[1]);
            let outputs = if index + 1 < count { trials * k * k } else { 0 };
            Ok(Block {
                p,
                k,
                tape: SpectralTape::with_simd(k, simd)?,
                products: vec![T::ZERO; trials * p * k],
                outputs: vec![T::ZERO; outputs],
            })
        });
        // Sizes never increase.
        let widest = dimensions[1];
        let tall = || vec![T::ZERO; if count > 1 { widest * widest } else { 0 }];
        Ok(Self {
            simd,
            threshold,
            blocks: blocks.collect::<Result<_, Error>>()?,
            squares: vec![T::ZERO; trials * widest * widest],
            tall: [tall(), tall()],
        })
    }

    /// Runs the forward pass of `count` trials. `input` returns their matrices; `weights` holds all
    /// weights contiguously.
    ///
    /// An error names the trial by its index here.
    pub(super) fn forward<'a>(
        &mut self,
        weights: &[T],
        count: usize,
        input: impl Fn(usize) -> &'a [T],
    ) -> Result<(), Error> {
        let (simd, last) = (self.simd, self.blocks.len() - 1);
        let mut rest = weights;
        for index in 0..self.blocks.len() {
            let (before, here) = self.blocks.split_at_mut(index);
            let Block { p, k, tape, products, outputs } = &mut here[0];
            let (p, k) = (*p, *k);
            let w;
            (w, rest) = rest.split_at(p * k);
            tape.begin(count)?;
            for trial in 0..count {
                let (x, next) = match before.last() {
                    None if trial + 1 < count => (input(trial), input(trial + 1)),
                    None => (input(trial), &[][..]),
                    Some(block) => (&block.outputs[trial * p * p..(trial + 1) * p * p], &[][..]),
                };
                let y = &mut products[trial * p * k..(trial + 1) * p * k];
                multiply_transposed_and_fetch(simd, (k, p, p), w, x, y, next);
                let s = &mut self.squares[trial * k * k..(trial + 1) * k * k];
                multiply_symmetric(simd, Left::Plain, Triangle::Upper, (k, p), y, w, s);
            }
            tape.put_triangles(Triangle::Upper, &self.squares[..count * k * k])?;
            if index == last {
                tape.apply(SpectralFunction::LogClamp { floor: self.threshold })?;
            } else {
                tape.apply(SpectralFunction::Clamp { floor: self.threshold })?;
                tape.matrices(&mut outputs[..count * k * k])?;
            }
        }
        Ok(())
    }

    /// Writes the lower triangles of the logarithms. A triangle starts every `stride` numbers.
    pub(super) fn logarithms(&self, out: &mut [T], stride: usize) -> Result<(), Error> {
        self.blocks[self.blocks.len() - 1].tape.triangles(out, stride)
    }

    /// Returns the eigenvalues of a trial at the first `ReEig`.
    pub(super) fn first_eigenvalues(&self, trial: usize) -> impl Iterator<Item = Result<T, Error>> {
        let block = &self.blocks[0];
        (0..block.k).map(move |i| block.tape.eigenvalue(trial, i))
    }

    /// Sets the gradients of the loss with respect to the logarithms from their lower triangles. A
    /// triangle starts every `stride` numbers.
    pub(super) fn put_gradients(&mut self, triangles: &[T], stride: usize) -> Result<(), Error> {
        let last = self.blocks.len() - 1;
        self.blocks[last].tape.put_gradient_triangles(triangles, stride)
    }

    /// Runs the backward pass. It adds half of the gradient of trial `i` with respect to the
    /// weights, transposed, to the numbers from `i * stride`.
    ///
    /// ```text
    /// dW = 2 X W G = 2 Y G,    dX = W G W^T
    /// ```
    pub(super) fn backward(
        &mut self,
        weights: &[T],
        count: usize,
        gradients: &mut [T],
        stride: usize,
    ) -> Result<(), Error> {
        let simd = self.simd;
        let mut end = weights.len();
        for index in (0..self.blocks.len()).rev() {
            let (before, here) = self.blocks.split_at_mut(index);
            let Block { p, k, tape, products, .. } = &mut here[0];
            let (p, k) = (*p, *k);
            let start = end - p * k;
            let w = &weights[start..end];
            let [wg, w_transposed] = &mut self.tall;
            if index > 0 {
                for (i, row) in w.chunks_exact(k).enumerate() {
                    for (j, &entry) in row.iter().enumerate() {
                        w_transposed[j * p + i] = entry;
                    }
                }
            }
            tape.pull_back()?;
            let squares = &mut self.squares[..count * k * k];
            tape.matrices(squares)?;
            for (trial, g) in squares.chunks_exact(k * k).enumerate() {
                let y = &products[trial * p * k..(trial + 1) * p * k];
                let target = &mut gradients[trial * stride + start..trial * stride + end];
                multiply_add(simd, Left::Plain, (k, k, p), g, y, target);
                if let Some(block) = before.last_mut() {
                    multiply(simd, Left::Plain, (p, k, k), w, g, wg);
                    // The output is no longer needed, so its gradient overwrites it.
                    let dx = &mut block.outputs[trial * p * p..(trial + 1) * p * p];
                    multiply_symmetric(simd, Left::Plain, Triangle::Lower, (p, k), wg, w_transposed, dx);
                    block.tape.put_gradient(trial, dx)?;
                }
            }
            end = start;
        }
        Ok(())
    }
}
