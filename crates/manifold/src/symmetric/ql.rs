//! Eigenvalues and eigenvectors of symmetric tridiagonal matrices, one matrix per lane.

use super::rows::{self, Sweep};
use crate::simd::{Lanes, RowsMut, as_numbers, elementary::constant};
use crate::{Real, tolerance};

/// Number of sweeps whose rotations are collected before they are applied. From n = 22 the
/// eigenvectors do not fit in the first-level cache. One pass over them then does the work of
/// several.
const SWEEPS: usize = 4;

/// Vectors of scratch per row of the matrix for [`Rotations`].
pub(super) const ROTATION_ROWS: usize = 2 * SWEEPS;

/// The largest number of hardware vectors in one vector.
const MOST_PARTS: usize = 2;

/// The rotations of the last few sweeps.
pub(super) struct Rotations<'a, V> {
    n: usize,
    /// In sweep `s`, the cosine of the rotation of columns `i` and `i + 1` is at `s * n + i`.
    cosines: &'a mut [V],
    sines: &'a mut [V],
    /// The rotations `start .. end` of each sweep in any lane of each hardware vector. A range is
    /// empty if its end is not after its start.
    ranges: [[(usize, usize); MOST_PARTS]; SWEEPS],
    count: usize,
}

impl<'a, V: Lanes> Rotations<'a, V> {
    /// Creates an empty set of rotations, with scratch of length [`ROTATION_ROWS`] times `n`.
    pub(super) fn new(n: usize, scratch: &'a mut [V]) -> Self {
        let (cosines, sines) = scratch[..ROTATION_ROWS * n].split_at_mut(SWEEPS * n);
        Self { n, cosines, sines, ranges: [[(0, 0); MOST_PARTS]; SWEEPS], count: 0 }
    }

    /// Applies the rotations to every row of the matrices of hardware vector `part`, one matrix per
    /// lane.
    #[inline(always)]
    pub(super) fn apply(&self, part: usize, z: &mut [V::Vector]) {
        let n = self.n;
        let rows = z.len() / n;
        let mut first = 0;
        while first < rows {
            let block = &mut z[first * n..];
            first += match rows - first {
                6.. if V::REGISTERS >= 32 => self.rotate_rows::<6>(part, block),
                4.. => self.rotate_rows::<4>(part, block),
                3 => self.rotate_rows::<3>(part, block),
                2 => self.rotate_rows::<2>(part, block),
                _ => self.rotate_rows::<1>(part, block),
            };
        }
    }

    /// Rotates the first `R` rows and returns `R`. A register carries the entry that two successive
    /// rotations share. A single row would wait for it (eight cycles for two of work).
    #[inline(always)]
    fn rotate_rows<const R: usize>(&self, part: usize, rows: &mut [V::Vector]) -> usize {
        let n = self.n;
        let mut rows = RowsMut::<_, R>::new(rows, n, n);
        for (sweep, ranges) in self.ranges[..self.count].iter().enumerate() {
            // Lanes of other hardware vectors may have worked on other columns.
            let (start, end) = ranges[part];
            if start >= end {
                continue;
            }
            let of_part = sweep * n * V::WIDTH + part * V::Vector::WIDTH;
            let cosines = &as_numbers(self.cosines)[of_part..];
            let sines = &as_numbers(self.sines)[of_part..];
            let mut carried = rows.column(end);
            for i in (start..end).rev() {
                let (c, s) =
                    (V::Vector::load(&cosines[i * V::WIDTH..]), V::Vector::load(&sines[i * V::WIDTH..]));
                let (entries, mut rotated) = (rows.column(i), [V::Vector::zero(); R]);
                for r in 0..R {
                    rotated[r] = s.mul_add(entries[r], c * carried[r]);
                    carried[r] = c.mul_add(entries[r], -(s * carried[r]));
                }
                rows.set_column(i + 1, rotated);
            }
            rows.set_column(start, carried);
        }
        R
    }

    /// Applies the rotations of a single matrix to its transposed eigenvectors: `n` rows of
    /// `stride` entries, with lanes along them.
    #[inline(always)]
    pub(super) fn apply_to_rows<P: Lanes<Scalar = V::Scalar>>(
        &self,
        stride: usize,
        matrix: &mut [P::Scalar],
    ) {
        for (sweep, &[(start, end), ..]) in self.ranges[..self.count].iter().enumerate() {
            let of_sweep = sweep * self.n * V::WIDTH..(sweep + 1) * self.n * V::WIDTH;
            let cosines = &as_numbers(self.cosines)[of_sweep.clone()];
            let sines = &as_numbers(self.sines)[of_sweep];
            rows::rotate::<P>(stride, matrix, &Sweep { cosines, sines, start, end });
        }
    }
}

/// Target of the rotations. It is a trait because a closure cannot be marked inline.
pub(super) trait Rotate<V: Lanes> {
    /// Applies the rotations to the columns of the eigenvectors.
    fn rotate(&mut self, rotations: &Rotations<'_, V>);
}

/// Result of one scan of the matrices: the first unreduced block `[l, m]` and the shift, in each
/// lane.
struct Block<V: Lanes> {
    /// The first index of the block (`n` if the lane has none).
    l: V,
    /// The last index of the block (zero if the lane has none).
    m: V,
    /// Start value of the first rotation: `d_m` minus the shift.
    g: V,
    /// The union of the blocks of the lanes of each hardware vector, first and last index.
    ranges: [(usize, usize); MOST_PARTS],
    /// The union of the blocks of all lanes.
    union: std::ops::Range<usize>,
}

/// Runs implicit QL with Wilkinson's shift. On exit `d` holds the unsorted eigenvalues. `e[i]` is
/// the entry `(i, i + 1)`; it is overwritten. `eigenvectors` receives the rotations every few
/// sweeps.
///
/// Returns the lanes whose eigenvalues did not converge within `sweeps` sweeps.
///
/// After Dubrulle, Martin and Wilkinson, "The implicit QL algorithm", Numer. Math. 12 (1968). Each
/// lane works on its own block. Outside its block, a lane is rotated by the identity, which changes
/// no bit except the sign of a zero.
#[inline(always)]
pub(super) fn diagonalise<V: Lanes>(
    d: &mut [V],
    e: &mut [V],
    mut rotations: Rotations<'_, V>,
    sweeps: usize,
    eigenvectors: &mut impl Rotate<V>,
) -> Option<V::Mask> {
    let n = rotations.n;
    let mut first = 0;
    let mut unconverged = None;
    for done in 0..=sweeps {
        let block = if V::WIDTH == 1 { find_only_block(n, first, d, e) } else { find_block(n, first, d, e) };
        // Called in one place only, so that its code is compiled once.
        if rotations.count == SWEEPS || block.is_none() || done == sweeps {
            eigenvectors.rotate(&rotations);
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

/// Returns whether an off-diagonal entry between two diagonal ones is zero to rounding.
#[inline(always)]
fn is_negligible<V: Lanes>(entry: V, before: V, after: V) -> V::Mask {
    let epsilon = V::splat(V::Scalar::EPSILON);
    let floor = epsilon * constant(tolerance::NEGLIGIBLE_OFF_DIAGONAL);
    entry.abs().le((before.abs() + after.abs()).mul_add(epsilon, floor))
}

/// Returns the start value of the first rotation of a block: its last diagonal entry minus
/// Wilkinson's shift at its first two.
#[inline(always)]
fn start<V: Lanes>(d_l: V, d_next: V, e_l: V, d_m: V) -> V {
    let ratio = (d_next - d_l) / (e_l + e_l);
    let root = ratio.mul_add(ratio, V::one()).sqrt();
    d_m - d_l + e_l / (ratio + root.copysign(ratio))
}

/// Finds the block as [`find_block`] does, for a single lane. The scan stops at the end of the
/// block.
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
    let ranges = [(l, m); MOST_PARTS];
    Some(Block { l: constant(l as f64), m: constant(m as f64), g, ranges, union: l..m })
}

/// Sets negligible off-diagonal entries to zero and finds the first unreduced block of each lane
/// from `first`.
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
        let entry = V::select(negligible, V::zero(), e[i]);
        e[i] = entry;

        let starts = !(negligible | started);
        l = V::select(starts, index, l);
        d_l = V::select(starts, d[i], d_l);
        d_next = V::select(starts, next, d_next);
        e_l = V::select(starts, entry, e_l);
        let ends = negligible & started & !ended;
        m = V::select(ends, index, m);
        d_m = V::select(ends, d[i], d_m);
        started = started | starts;
        ended = ended | ends;
        index = index + V::one();
    }
    let (mut ranges, mut union) = ([(n, 0); MOST_PARTS], n..0);
    for part in 0..V::VECTORS {
        let (l, m) = (l.part(part).smallest().to_f64() as usize, m.part(part).largest().to_f64() as usize);
        ranges[part] = (l, m);
        union = union.start.min(l)..union.end.max(m);
    }
    if union.is_empty() {
        return None;
    }
    Some(Block { l, m, g: start(d_l, d_next, e_l, d_m), ranges, union })
}

/// Runs one QL sweep: chases the bulge from the bottom of each lane's block to its top and stores
/// the rotations.
///
/// A rotation maps `(f, g)` to its length: `h = f^2 + g^2`, `s = f/sqrt(h)`, `c = g/sqrt(h)`. Let
/// `t` be the difference of the diagonal entries, `b = c e`, and `u = (t f + 2 b g)/h`. Then the
/// textbook's `s r` is `f u`, and its `c r - b` is `g u - b`.
///
/// A sweep is one long chain of rotations. In this form the next `h` waits only for a quotient,
/// about 24 cycles, because the next `f^2` is `(f^2/h) e^2`. Through `s` and `c` it would wait for
/// a root and five products, about 44 cycles. In lanes the divider limits the speed, because it
/// computes both root and quotient for a vector.
#[inline(always)]
fn sweep<V: Lanes>(block: &Block<V>, d: &mut [V], e: &mut [V], rotations: &mut Rotations<'_, V>) {
    let (count, n) = (rotations.count, rotations.n);
    let (cosines, sines) = (&mut rotations.cosines[count * n..], &mut rotations.sines[count * n..]);
    rotations.ranges[count] = block.ranges;
    rotations.count += 1;
    // A sum of squares below `tiny` may have lost digits to underflow. Those lanes are scaled by a
    // power of two.
    let tiny = V::splat(V::Scalar::MIN_POSITIVE * V::Scalar::from_f64(1e8) / V::Scalar::EPSILON);
    let large = constant::<V>(if V::Scalar::MANTISSA_BITS > 32 { TWO_500 } else { TWO_60 });
    let mut g = block.g;
    let (mut c, mut s, mut s_squared, mut p) = (V::one(), V::one(), V::one(), V::zero());
    let mut index = constant::<V>(block.union.end as f64);
    // Values for the next step stay in registers. A pair stored as two halves cannot be loaded
    // before both stores have left the pipeline.
    let (mut d_below, mut e_below) = (d[block.union.end], e[block.union.end]);
    for i in block.union.clone().rev() {
        let (mut d_here, mut e_here) = (d[i], e[i]);
        index = index - V::one();
        let inside = block.l.le(index) & index.lt(block.m);
        // A single lane is always inside its block in this loop.
        let pick = |mask, yes, no| if V::WIDTH == 1 { yes } else { V::select(mask, yes, no) };
        let f = s * e_here;
        let b = c * e_here;
        // Not f * f, which would wait for the root of the last rotation.
        let mut sum = g.mul_add(g, s_squared * (e_here * e_here));
        let (mut scaled_f, mut scaled_g, mut unscale) = (f, g, V::one());
        let small = sum.lt(tiny);
        if V::any(small) {
            let scale = V::select(small, large, V::one());
            (scaled_f, scaled_g, unscale) = (f * scale, g * scale, V::one() / scale);
            sum = V::select(small, scaled_g.mul_add(scaled_g, scaled_f * scaled_f), sum);
            // Nothing to rotate: use the identity, and a root of zero.
            let zero = sum.eq(V::zero());
            sum = V::select(zero, V::one(), sum);
            scaled_f = V::select(zero, scaled_f * V::zero(), scaled_f);
            scaled_g = V::select(zero, V::one(), scaled_g);
            unscale = V::select(zero, V::zero(), unscale);
        }
        let (root, quotient) = (sum.sqrt(), V::one() / sum);
        let (f_over_sum, g_over_sum) = (scaled_f * quotient, scaled_g * quotient);
        let (sine, cosine) = (f_over_sum * root, g_over_sum * root);

        // The entry below the block stays zero.
        let below = inside & (index + V::one()).lt(block.m);
        e[i + 1] = V::select(below, root * unscale, e_below);
        let shifted = d_below - p;
        let slope = (d_here - shifted).mul_add(scaled_f, (b + b) * scaled_g) * quotient;
        let step = scaled_f * slope;
        d[i + 1] = pick(inside, shifted + step, d_below);
        let bulge = scaled_g.mul_add(slope, -b);

        c = pick(inside, cosine, c);
        s = pick(inside, sine, s);
        s_squared = pick(inside, scaled_f * f_over_sum, s_squared);
        p = pick(inside, step, p);
        g = pick(inside, bulge, g);
        cosines[i] = pick(inside, cosine, V::one());
        sines[i] = pick(inside, sine, V::zero());

        if V::WIDTH > 1 || i == block.union.start {
            let top = inside & index.le(block.l);
            d_here = V::select(top, d_here - p, d_here);
            e_here = V::select(top, g, e_here);
        }
        (d_below, e_below) = (d_here, e_here);
    }
    d[block.union.start] = d_below;
    e[block.union.start] = e_below;
}

const TWO_500: f64 = f64::from_bits((1023 + 500) << 52);
const TWO_60: f64 = f64::from_bits((1023 + 60) << 52);
