//! Rounds shares to whole numbers of trials of each group for training, validation and test.
//!
//! Rounding every group by itself accumulates errors: 53 clients with 2.2 validation trials per
//! group would all have 2. Instead, the totals are rounded first, then the rows within the totals.
//! Each entry is rounded up or down to a neighbouring whole number.
//!
//! For three columns this is always possible. Row `g` has one or two units for its entries that are
//! not whole. By Gale's theorem only one condition remains: the total of a column lies between the
//! sums of its entries rounded down and rounded up. It holds if the total itself is a rounding of
//! its share.

/// The number of splits.
pub(crate) const SPLITS: usize = 3;

/// Shares are whole multiples of 1/`UNITS`. The arithmetic is exact; sums of floating-point shares
/// would differ from those of the rows.
const UNITS: u64 = 1_000_000_000_000;

/// Shares of the splits that add up to one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shares([u64; SPLITS]);

impl Shares {
    /// Creates shares. They must not be negative and must add up to one, up to rounding.
    pub(crate) fn new(shares: [f64; SPLITS]) -> Option<Self> {
        let sum: f64 = shares.iter().sum();
        if !shares.iter().all(|&share| share >= 0.0) || !((sum - 1.0).abs() < 1e-9) {
            return None;
        }
        let mut units = shares.map(|share| (share * UNITS as f64).round() as u64);
        // The largest share absorbs the rounding error of about 1e-12.
        let largest = (0..SPLITS).max_by_key(|&split| units[split])?;
        let others: u64 = units.iter().sum::<u64>() - units[largest];
        units[largest] = UNITS.checked_sub(others)?;
        Some(Self(units))
    }

    /// Whether the share of a split is zero.
    pub(crate) fn is_none(self, split: usize) -> bool {
        self.0[split] == 0
    }

    /// Returns the share of a split in this many trials, not rounded.
    pub(crate) fn target(self, trials: usize, split: usize) -> f64 {
        trials as f64 * (self.0[split] as f64 / UNITS as f64)
    }

    /// Returns the whole part and the remainder in units. A share such as 1/28 has an error of a
    /// unit or two, which each trial multiplies. A product within this error of a whole number
    /// counts as whole, because otherwise it could be rounded down.
    fn parts(self, trials: usize, split: usize) -> (usize, u64) {
        let (units, slack) = (u128::from(UNITS), 2 * trials as u128);
        let product = trials as u128 * u128::from(self.0[split]) + slack;
        let remainder = product % units;
        let left = if remainder <= 2 * slack { 0 } else { remainder - slack };
        ((product / units) as usize, left as u64)
    }

    /// Splits a total by the largest remainders.
    pub(crate) fn totals(self, trials: usize) -> [usize; SPLITS] {
        let mut counts = std::array::from_fn(|split| self.parts(trials, split).0);
        let mut order: [usize; SPLITS] = std::array::from_fn(|split| split);
        // The sort is stable: for equal remainders, training comes first.
        order.sort_by_key(|&split| std::cmp::Reverse(self.parts(trials, split).1));
        let missing = trials - counts.iter().sum::<usize>();
        for &split in order.iter().take(missing) {
            counts[split] += 1;
        }
        counts
    }

    /// Splits every row. The counts add up to the row and to the totals, and each is its share
    /// rounded up or down. `totals` must be such a rounding for all rows together.
    pub(crate) fn rows(self, rows: &[usize], totals: [usize; SPLITS]) -> Vec<[usize; SPLITS]> {
        let mut matching = Matching::new(self, rows, totals);
        matching.fill_by_remainder();
        matching.fill_by_exchange();
        debug_assert_eq!(matching.wanted, [0; SPLITS], "rows {rows:?}, totals {totals:?}");
        matching.counts()
    }
}

/// Assignment of units from rows to columns. A row gives a column at most one unit, and only if its
/// share is not whole.
struct Matching {
    floors: Vec<[usize; SPLITS]>,
    remainders: Vec<[u64; SPLITS]>,
    given: Vec<[bool; SPLITS]>,
    /// Units that each row has left.
    spare: Vec<usize>,
    /// Units that each column needs.
    wanted: [usize; SPLITS],
}

impl Matching {
    fn new(shares: Shares, rows: &[usize], totals: [usize; SPLITS]) -> Self {
        let parts: Vec<[(usize, u64); SPLITS]> =
            rows.iter().map(|&trials| std::array::from_fn(|split| shares.parts(trials, split))).collect();
        let floors: Vec<[usize; SPLITS]> = parts.iter().map(|row| row.map(|(floor, _)| floor)).collect();
        let spare = rows.iter().zip(&floors).map(|(&trials, floors)| trials - floors.iter().sum::<usize>());
        let wanted =
            std::array::from_fn(|split| totals[split] - floors.iter().map(|row| row[split]).sum::<usize>());
        Self {
            remainders: parts.iter().map(|row| row.map(|(_, remainder)| remainder)).collect(),
            given: vec![[false; SPLITS]; rows.len()],
            spare: spare.collect(),
            floors,
            wanted,
        }
    }

    fn may_give(&self, row: usize, split: usize) -> bool {
        self.remainders[row][split] > 0 && !self.given[row][split]
    }

    /// Fills each column from the rows with the largest remainders.
    fn fill_by_remainder(&mut self) {
        let mut order: Vec<usize> = (0..self.spare.len()).collect();
        for split in 0..SPLITS {
            order.sort_by_key(|&row| (std::cmp::Reverse(self.remainders[row][split]), row));
            for &row in &order {
                if self.wanted[split] > 0 && self.spare[row] > 0 && self.may_give(row, split) {
                    self.given[row][split] = true;
                    self.spare[row] -= 1;
                    self.wanted[split] -= 1;
                }
            }
        }
    }

    /// Fills the remaining columns by augmenting paths. A column takes a unit from another column,
    /// which takes one from another row.
    fn fill_by_exchange(&mut self) {
        for split in 0..SPLITS {
            while self.wanted[split] > 0 && self.exchange(split) {
                self.wanted[split] -= 1;
            }
        }
    }

    fn exchange(&mut self, start: usize) -> bool {
        // The previous column and the row on the path to each column.
        let mut reached: [Option<(usize, usize)>; SPLITS] = [None; SPLITS];
        let mut queue = vec![start];
        let mut next = 0;
        while let Some(&column) = queue.get(next) {
            next += 1;
            let giver = (0..self.spare.len()).find(|&row| self.spare[row] > 0 && self.may_give(row, column));
            if let Some(row) = giver {
                self.spare[row] -= 1;
                self.given[row][column] = true;
                let mut at = column;
                while let Some((before, row)) = reached[at] {
                    self.given[row][at] = false;
                    self.given[row][before] = true;
                    at = before;
                }
                return true;
            }
            for other in 0..SPLITS {
                if other == start || reached[other].is_some() {
                    continue;
                }
                let changer =
                    (0..self.spare.len()).find(|&row| self.given[row][other] && self.may_give(row, column));
                if let Some(row) = changer {
                    reached[other] = Some((column, row));
                    queue.push(other);
                }
            }
        }
        false
    }

    fn counts(&self) -> Vec<[usize; SPLITS]> {
        let count = |(floors, given): (&[usize; SPLITS], &[bool; SPLITS])| {
            std::array::from_fn(|split| floors[split] + usize::from(given[split]))
        };
        self.floors.iter().zip(&self.given).map(count).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_are_largest_remainders() {
        let shares = Shares::new([0.75, 0.10, 0.15]).unwrap();
        assert_eq!(shares.totals(22), [17, 2, 3]);
        assert_eq!(shares.totals(180), [135, 18, 27]);
        assert_eq!(shares.totals(0), [0, 0, 0]);
        assert_eq!(shares.totals(1), [1, 0, 0]);
        assert_eq!(Shares::new([1.0 / 3.0; 3]).unwrap().totals(4).iter().sum::<usize>(), 4);
    }

    #[test]
    fn shares_are_of_a_whole() {
        for shares in
            [[0.5, 0.5, 0.1], [1.1, -0.1, 0.0], [f64::NAN, 0.5, 0.5], [0.0; 3], [f64::INFINITY, 0.0, 0.0]]
        {
            assert!(Shares::new(shares).is_none(), "{shares:?}");
        }
        assert!(Shares::new([0.7, 0.1, 0.2]).is_some());
    }

    #[test]
    fn a_share_of_one_trial_is_one_trial() {
        for whole in 2..200 {
            let shares = Shares::new([(whole - 2) as f64, 1.0, 1.0].map(|part| part / whole as f64)).unwrap();
            for times in 1..50 {
                assert_eq!(shares.totals(whole * times), [(whole - 2) * times, times, times]);
            }
        }
    }

    /// Eight groups of 22 trials have 17.6 validation trials together. Rounding each alone would
    /// give 16.
    #[test]
    fn remainders_do_not_add_up() {
        let shares = Shares::new([0.75, 0.10, 0.15]).unwrap();
        let rows = shares.rows(&[22; 8], shares.totals(176));
        let column = |split: usize| rows.iter().map(|row| row[split]).sum::<usize>();
        assert_eq!([column(0), column(1), column(2)], [132, 18, 26]);
        for row in rows {
            assert!(
                [16, 17].contains(&row[0]) && [2, 3].contains(&row[1]) && [3, 4].contains(&row[2]),
                "{row:?}"
            );
        }
    }
}
