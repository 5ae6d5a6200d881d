//! Transposition by tiles.

/// Rows and columns of a tile: its rows are read, and written, a cache line at a time.
const TILE: usize = 8;

/// Writes the transpose of a matrix whose rows begin every `stride` entries; those of the result
/// begin every `target_stride` entries.
#[inline(always)]
pub(crate) fn transpose<T: Copy>(
    (rows, columns): (usize, usize),
    (source, stride): (&[T], usize),
    (target, target_stride): (&mut [T], usize),
) {
    let (whole_rows, whole_columns) = (rows / TILE * TILE, columns / TILE * TILE);
    for i in (0..whole_rows).step_by(TILE) {
        for j in (0..whole_columns).step_by(TILE) {
            let mut tile = [[source[0]; TILE]; TILE];
            for (r, row) in tile.iter_mut().enumerate() {
                row.copy_from_slice(&source[(i + r) * stride + j..][..TILE]);
            }
            for c in 0..TILE {
                let column: &mut [T] = &mut target[(j + c) * target_stride + i..][..TILE];
                for r in 0..TILE {
                    column[r] = tile[r][c];
                }
            }
        }
    }
    let mut rest = |rows: std::ops::Range<usize>, columns: std::ops::Range<usize>| {
        for i in rows {
            for j in columns.clone() {
                target[j * target_stride + i] = source[i * stride + j];
            }
        }
    };
    rest(0..whole_rows, whole_columns..columns);
    rest(whole_rows..rows, 0..columns);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_and_what_is_left_of_them_are_transposed() {
        for (rows, columns) in [(1, 1), (7, 9), (8, 8), (16, 3), (3, 16), (19, 26)] {
            let (stride, target_stride) = (columns + 2, rows + 3);
            let source: Vec<usize> = (0..rows * stride).collect();
            let mut target = vec![usize::MAX; columns * target_stride];
            transpose((rows, columns), (&source, stride), (&mut target, target_stride));
            for (place, &entry) in target.iter().enumerate() {
                let (j, i) = (place / target_stride, place % target_stride);
                assert_eq!(entry, if i < rows { i * stride + j } else { usize::MAX }, "{rows} x {columns}");
            }
        }
    }
}
