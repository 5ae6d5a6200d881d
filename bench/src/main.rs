use fedspd_manifold::SymmetricEigen;
use std::time::Instant;
fn main() {
    let mut s = 12345u64;
    let mut r = || { s = s.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407); ((s >> 11) as f64) / (1u64 << 53) as f64 - 0.5 };
    for n in [18usize, 22, 64] {
        let b = 64;
        let mut a = vec![0.0; b * n * n];
        for m in 0..b {
            let x: Vec<f64> = (0..n * 3 * n).map(|_| r()).collect();
            for i in 0..n { for j in 0..n { a[m*n*n+i*n+j] = (0..3*n).map(|t| x[i*3*n+t]*x[j*3*n+t]).sum(); } }
        }
        let mut v = vec![0.0; b * n]; let mut u = vec![0.0; b * n * n];
        let mut eig = SymmetricEigen::<f64>::new(n).unwrap();
        eig.decompose(&a, &mut v, &mut u).unwrap();
        let mut err = 0f64;
        for m in 0..b { for i in 0..n { for j in 0..n {
            let t: f64 = (0..n).map(|k| u[m*n*n+i*n+k]*v[m*n+k]*u[m*n*n+j*n+k]).sum();
            err = err.max((t - a[m*n*n+i*n+j]).abs());
        }}}
        let mut best = f64::MAX;
        for _ in 0..200 { let t = Instant::now(); eig.decompose(&a, &mut v, &mut u).unwrap(); best = best.min(t.elapsed().as_secs_f64()); }
        let q: Vec<f64> = fedspd_manifold::symmetric::ql::T.iter().map(|x| x.swap(0, std::sync::atomic::Ordering::Relaxed) as f64).collect();
        println!("scan {:.0} sweep {:.0} rotate {:.0} tri {:.0} cycles/chunk; sweeps {:.1} avg len {:.1}", q[0]/q[6], q[1]/q[6], q[2]/q[6], q[5]/q[6], q[3]/q[6], q[4]/q[3]);
        let a32: Vec<f32> = a.iter().map(|&x| x as f32).collect();
        let mut v3 = vec![0.0; b * n]; let mut u3 = vec![0.0; b * n * n];
        let mut eig = SymmetricEigen::<f32>::new(n).unwrap();
        let mut best3 = f64::MAX;
        for _ in 0..200 { let t = Instant::now(); eig.decompose(&a32, &mut v3, &mut u3).unwrap(); best3 = best3.min(t.elapsed().as_secs_f64()); }
        println!("n {n} err {err:e} f64 {:.2} us f32 {:.2} us", best / b as f64 * 1e6, best3 / b as f64 * 1e6);
    }
}
