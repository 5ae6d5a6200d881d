//! Eigenvalues and eigenvectors of symmetric tridiagonal matrices, one matrix per lane.

use crate::simd::{Array, Lanes, elementary::constant};
use crate::{Real, tolerance};

/// Sweeps whose rotations are kept before they are applied: each pass over the eigenvectors, which do not fit the first-level
/// cache from n = 22 on, then does the work of several.
const SWEEPS: usize = 4;

/// Vectors of scratch per row of the matrix that [`Rotations`] needs.
pub(super) const ROTATION_ROWS: usize = 2 * SWEEPS;

/// Rows of eigenvectors rotated together: enough independent chains to hide latency, few enough to stay in registers.
const ROWS: usize = 2;

/// The rotations of the last few sweeps.
pub(super) struct Rotations<'a, V> {
    n: usize,
    /// Of sweep `s`, the cosine of the rotation of columns `i` and `i + 1` is at `s * n + i`.
    cosines: &'a mut [V],
    sines: &'a mut [V],
    /// The columns that the sweeps touched: rotations `start .. end`.
    ranges: [(usize, usize); SWEEPS],
    count: usize,
}

impl<'a, V: Lanes> Rotations<'a, V> {
    /// No rotations yet, with scratch of length [`ROTATION_ROWS`] times `n`.
    pub(super) fn new(n: usize, scratch: &'a mut [V]) -> Self {
        let (cosines, sines) = scratch[..ROTATION_ROWS * n].split_at_mut(SWEEPS * n);
        Self { n, cosines, sines, ranges: [(0, 0); SWEEPS], count: 0 }
    }

    /// Applies the rotations to every row of a row-major matrix, one matrix per lane.
    #[inline(always)]
    pub(super) fn apply(&self, z: &mut [V]) {
        let n = self.n;
        let rows = z.len() / n;
        let mut first = 0;
        while first < rows {
            let height = if first + ROWS <= rows { ROWS } else { 1 };
            let block = &mut z[first * n..(first + height) * n];
            for sweep in 0..self.count {
                if height == ROWS {
                    self.rotate_rows::<ROWS>(sweep, block);
                } else {
                    self.rotate_rows::<1>(sweep, block);
                }
            }
            first += height;
        }
    }

    /// Rotates `R` rows. The entry that two successive rotations share is carried in a register.
    #[inline(always)]
    fn rotate_rows<const R: usize>(&self, sweep: usize, rows: &mut [V]) {
        let n = self.n;
        let (start, end) = self.ranges[sweep];
        let (cosines, sines) = (&self.cosines[sweep * n..], &self.sines[sweep * n..]);
        // Loops, because the closures of `array::from_fn` are not inlined into kernels.
        let mut carried = [V::zero(); R];
        for r in 0..R {
            carried[r] = rows[r * n + end];
        }
        for i in (start..end).rev() {
            let (c, s) = (cosines[i], sines[i]);
            for r in 0..R {
                let entry = rows[r * n + i];
                rows[r * n + i + 1] = s.mul_add(entry, c * carried[r]);
                carried[r] = c.mul_add(entry, -(s * carried[r]));
            }
        }
        for r in 0..R {
            rows[r * n + start] = carried[r];
        }
    }
}

/// Column blocks of the transposed eigenvectors of a single matrix that are rotated together.
const BLOCKS: usize = 3;

impl<T: Real> Rotations<'_, Array<T, 1>> {
    /// The same for a single matrix, with lanes across its rows: `transposed` holds one column of `z` after the other, each padded to
    /// `stride` entries, a multiple of the width of `W`. Every entry sees the operations that it sees in [`Rotations::apply`].
    #[inline(always)]
    pub(super) fn apply_transposed<W: Lanes<Scalar = T>>(&self, transposed: &mut [T], stride: usize) {
        let mut first = 0;
        while first < stride {
            let together = first + BLOCKS * W::WIDTH <= stride;
            for sweep in 0..self.count {
                if together {
                    self.rotate_blocks::<W, BLOCKS>(sweep, transposed, stride, first);
                } else {
                    self.rotate_blocks::<W, 1>(sweep, transposed, stride, first);
                }
            }
            first += if together { BLOCKS * W::WIDTH } else { W::WIDTH };
        }
    }

    #[inline(always)]
    fn rotate_blocks<W: Lanes<Scalar = T>, const B: usize>(
        &self,
        sweep: usize,
        transposed: &mut [T],
        stride: usize,
        first: usize,
    ) {
        let (start, end) = self.ranges[sweep];
        let place = |i: usize, b: usize| i * stride + first + b * W::WIDTH;
        let mut carried = [W::zero(); B];
        for b in 0..B {
            carried[b] = W::load(&transposed[place(end, b)..]);
        }
        for i in (start..end).rev() {
            let Array([c]) = self.cosines[sweep * self.n + i];
            let Array([s]) = self.sines[sweep * self.n + i];
            let (c, s) = (W::splat(c), W::splat(s));
            for b in 0..B {
                let entry = W::load(&transposed[place(i, b)..]);
                s.mul_add(entry, c * carried[b]).store(&mut transposed[place(i + 1, b)..]);
                carried[b] = c.mul_add(entry, -(s * carried[b]));
            }
        }
        for b in 0..B {
            carried[b].store(&mut transposed[place(start, b)..]);
        }
    }
}

/// What one scan of the matrices finds: in each lane the first unreduced block `[l, m]` and the shift.
struct Block<V: Lanes> {
    /// The first index of the block (`n` if the lane has none).
    l: V,
    /// The last index of the block (zero if the lane has none).
    m: V,
    /// Where the first rotation starts from: `d_m` less the shift.
    g: V,
    /// The union of the blocks of all lanes.
    union: std::ops::Range<usize>,
}

/// Implicit QL with Wilkinson's shift: on exit `d` holds the eigenvalues, in no order. `e[i]` is the entry `(i, i + 1)`,
/// destroyed. `rotate` is called with the rotations of every few sweeps, to be applied to the columns of the eigenvectors.
///
/// The lanes whose eigenvalues did not converge within `sweeps` sweeps are returned.
///
/// After Dubrulle, Martin and Wilkinson, "The implicit QL algorithm", Numer. Math. 12 (1968). Each lane works
/// on its own block; lanes outside of theirs are rotated by the identity, which changes no bit but the sign of a zero.
#[inline(always)]
pub(super) fn diagonalise<V: Lanes>(
    d: &mut [V],
    e: &mut [V],
    mut rotations: Rotations<'_, V>,
    sweeps: usize,
    mut rotate: impl FnMut(&Rotations<'_, V>),
) -> Option<V::Mask> {
    let n = rotations.n;
    let mut first = 0;
    let mut unconverged = None;
    for done in 0..=sweeps {
        let block = if V::WIDTH == 1 { find_only_block(n, first, d, e) } else { find_block(n, first, d, e) };
        // There is one call of `rotate`, so that its code is there once.
        if rotations.count == SWEEPS || block.is_none() || done == sweeps {
            rotate(&rotations);
            rotations.count = 0;
        }
        let Some(block) = block else { break };
        if done == sweeps {
            unconverged = Some(block.l.lt(block.m));
            break;
        }
        first = block.union.start;
        sweep(&block, d, e, &mut rotations);
    }
    unconverged
}

/// Whether an off-diagonal entry between two diagonal ones is zero to rounding.
#[inline(always)]
fn is_negligible<V: Lanes>(entry: V, before: V, after: V) -> V::Mask {
    let epsilon = V::splat(V::Scalar::EPSILON);
    let floor = epsilon * constant(tolerance::NEGLIGIBLE_OFF_DIAGONAL);
    entry.abs().le((before.abs() + after.abs()).mul_add(epsilon, floor))
}

/// Where the first rotation of a block starts from: its last diagonal entry less Wilkinson's shift at its first two.
#[inline(always)]
fn start<V: Lanes>(d_l: V, d_next: V, e_l: V, d_m: V) -> V {
    let ratio = (d_next - d_l) / (e_l + e_l);
    let root = ratio.mul_add(ratio, V::one()).sqrt();
    d_m - d_l + e_l / (ratio + root.copysign(ratio))
}

/// [`find_block`] for a single lane, which need not look beyond the end of its block.
#[inline(always)]
fn find_only_block<V: Lanes>(n: usize, first: usize, d: &[V], e: &mut [V]) -> Option<Block<V>> {
    let (d, e) = (&d[..n], &mut e[..n]);
    let negligible = |i: usize, e: &[V]| i + 1 == n || V::any(is_negligible(e[i], d[i], d[i + 1]));
    let mut l = first;
    while negligible(l, e) {
        e[l] = V::zero();
        l += 1;
        if l == n {
            return None;
        }
    }
    let mut m = l + 1;
    while !negligible(m, e) {
        m += 1;
    }
    e[m] = V::zero();
    let g = start(d[l], d[l + 1], e[l], d[m]);
    Some(Block { l: constant(l as f64), m: constant(m as f64), g, union: l..m })
}

/// Sets negligible off-diagonal entries to zero and finds the first unreduced block of each lane, from `first` on.
#[inline(always)]
fn find_block<V: Lanes>(n: usize, first: usize, d: &[V], e: &mut [V]) -> Option<Block<V>> {
    let (d, e) = (&d[..n], &mut e[..n]);
    let never = V::one().lt(V::zero());
    let (mut started, mut ended) = (never, never);
    // A lane without a block keeps l = n, m = 0.
    let (mut l, mut m) = (constant::<V>(n as f64), V::zero());
    let (mut d_l, mut d_next, mut e_l, mut d_m) = (V::zero(), V::zero(), V::one(), V::zero());
    let mut index = constant::<V>(first as f64);
    for i in first..n {
        // The entry after the last one is zero, which ends any block.
        let next = d[(i + 1).min(n - 1)];
        let negligible = is_negligible(e[i], d[i], next);
        e[i] = V::select(negligible, V::zero(), e[i]);

        let starts = !(negligible | started);
        l = V::select(starts, index, l);
        d_l = V::select(starts, d[i], d_l);
        d_next = V::select(starts, next, d_next);
        e_l = V::select(starts, e[i], e_l);
        let ends = negligible & started & !ended;
        m = V::select(ends, index, m);
        d_m = V::select(ends, d[i], d_m);
        started = started | starts;
        ended = ended | ends;
        index = index + V::one();
    }
    let union = l.smallest().to_f64() as usize..m.largest().to_f64() as usize;
    if union.is_empty() {
        return None;
    }
    Some(Block { l, m, g: start(d_l, d_next, e_l, d_m), union })
}

/// One QL sweep: chases the bulge from the bottom of each lane's block to its top and keeps the rotations.
#[inline(always)]
fn sweep<V: Lanes>(block: &Block<V>, d: &mut [V], e: &mut [V], rotations: &mut Rotations<'_, V>) {
    let (count, n) = (rotations.count, rotations.n);
    let (cosines, sines) = (&mut rotations.cosines[count * n..], &mut rotations.sines[count * n..]);
    rotations.ranges[count] = (block.union.start, block.union.end);
    rotations.count += 1;
    // A sum of squares below `tiny` may have lost digits to underflow: those lanes are scaled by a power of two.
    let tiny = V::splat(V::Scalar::MIN_POSITIVE * V::Scalar::from_f64(1e8) / V::Scalar::EPSILON);
    let large = constant::<V>(if V::Scalar::MANTISSA_BITS > 32 { TWO_500 } else { TWO_60 });
    let mut g = block.g;
    let (mut c, mut s, mut p) = (V::one(), V::one(), V::zero());
    let mut index = constant::<V>(block.union.end as f64);
    for i in block.union.clone().rev() {
        index = index - V::one();
        let inside = block.l.le(index) & index.lt(block.m);
        // A single lane is inside wherever the loop is.
        let pick = |mask, yes, no| if V::WIDTH == 1 { yes } else { V::select(mask, yes, no) };
        let f = s * e[i];
        let b = c * e[i];
        let mut sum = f.mul_add(f, g * g);
        let (mut scaled_f, mut scaled_g, mut unscale) = (f, g, V::one());
        let small = sum.lt(tiny);
        if V::any(small) {
            let scale = V::select(small, large, V::one());
            (scaled_f, scaled_g, unscale) = (f * scale, g * scale, V::one() / scale);
            sum = scaled_f.mul_add(scaled_f, scaled_g * scaled_g);
        }
        let zero = sum.eq(V::zero());
        // The root and the quotient do not wait for each other: a sweep is one long chain of these.
        let (root, quotient) = (sum.sqrt(), V::one() / V::select(zero, V::one(), sum));
        let inverse = root * quotient;
        let sine = scaled_f * inverse;
        let cosine = V::select(zero, V::one(), scaled_g * inverse);

        // The entry below the block stays zero.
        let below = inside & (index + V::one()).lt(block.m);
        e[i + 1] = V::select(below, root * unscale, e[i + 1]);
        let shifted = d[i + 1] - p;
        let r = (d[i] - shifted).mul_add(sine, (b + b) * cosine);
        let step = sine * r;
        d[i + 1] = pick(inside, shifted + step, d[i + 1]);
        let bulge = cosine.mul_add(r, -b);

        c = pick(inside, cosine, c);
        s = pick(inside, sine, s);
        p = pick(inside, step, p);
        g = pick(inside, bulge, g);
        cosines[i] = pick(inside, cosine, V::one());
        sines[i] = pick(inside, sine, V::zero());

        if V::WIDTH > 1 || i == block.union.start {
            let top = inside & index.le(block.l);
            d[i] = V::select(top, d[i] - p, d[i]);
            e[i] = V::select(top, g, e[i]);
        }
    }
}

const TWO_500: f64 = f64::from_bits((1023 + 500) << 52);
const TWO_60: f64 = f64::from_bits((1023 + 60) << 52);
