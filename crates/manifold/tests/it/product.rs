//! Products of dense matrices: every entry is one chain of multiply-adds on every instruction set.

use fedspd_manifold::simd::Simd;
use fedspd_manifold::{Left, Real, Triangle, multiply, multiply_add, multiply_symmetric};

use crate::support::{gaussian, rng};

/// Computes entry `(i, j)` of `C + A B`, with the sum in the order of the inner index.
fn chain<T: Real>(start: T, row: impl Iterator<Item = (T, T)>) -> T {
    row.fold(start, |sum, (a, b)| a.mul_add(b, sum))
}

fn check<T: Real>(simd: Simd, rows: usize, inner: usize, columns: usize) {
    let mut rng = rng((rows * 10000 + inner * 100 + columns) as u64);
    let mut draw = |n: usize| -> Vec<T> {
        gaussian(&mut rng, 1, n).as_slice().iter().map(|&x| T::from_f64(x)).collect()
    };
    let (a, b, c) = (draw(rows * inner), draw(inner * columns), draw(rows * columns));
    for left in [Left::Plain, Left::Transposed] {
        let entry = |i: usize, k: usize| match left {
            Left::Plain => a[i * inner + k],
            Left::Transposed => a[k * rows + i],
        };
        let expected = |start: T, i: usize, j: usize| {
            chain(start, (0..inner).map(|k| (entry(i, k), b[k * columns + j])))
        };
        let (mut replaced, mut added) = (c.clone(), c.clone());
        multiply(simd, left, (rows, inner, columns), &a, &b, &mut replaced);
        multiply_add(simd, left, (rows, inner, columns), &a, &b, &mut added);
        for i in 0..rows {
            for j in 0..columns {
                let place = i * columns + j;
                assert_eq!(replaced[place], expected(T::ZERO, i, j), "{rows} {inner} {columns} {left:?}");
                assert_eq!(added[place], expected(c[place], i, j), "{rows} {inner} {columns} {left:?}");
            }
        }
        if rows == columns {
            let (mut lower, mut upper) = (c.clone(), c.clone());
            multiply_symmetric(simd, left, Triangle::Lower, (rows, inner), &a, &b, &mut lower);
            multiply_symmetric(simd, left, Triangle::Upper, (rows, inner), &a, &b, &mut upper);
            for i in 0..rows {
                for j in 0..columns {
                    let half = if j <= i { &lower } else { &upper };
                    assert_eq!(half[i * columns + j], expected(T::ZERO, i, j), "{rows} {inner} {left:?}");
                }
                assert_eq!(upper[i * columns + i], lower[i * columns + i], "{rows} {inner} {left:?}");
            }
        }
    }
}

#[test]
fn every_entry_is_one_chain_on_every_path() {
    for simd in Simd::available() {
        for rows in [1, 2, 3, 5, 18, 64] {
            for inner in [1, 2, 7, 18] {
                for columns in [1, 2, 3, 4, 5, 8, 9, 16, 18, 22, 33, 64] {
                    check::<f64>(simd, rows, inner, columns);
                    check::<f32>(simd, rows, inner, columns);
                }
            }
        }
        for n in 1..40 {
            check::<f64>(simd, n, 5, n);
            check::<f32>(simd, n, 5, n);
        }
    }
}
