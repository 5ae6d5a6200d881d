//! What each average of Stiefel matrices does, on random clients.

use std::io::Write;
use std::time::{Duration, Instant};

use fedspd_manifold::average::{StiefelSum, karcher_mean, proj_avg, qr_avg, ret_avg, rl_avg};
use fedspd_manifold::{
    Error, IterationLimits, Matrix, Retraction, RetractionKind, Stiefel, StiefelMetric, fill_standard_normal,
    simd::Simd,
};
use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};

use super::Arguments;
use crate::failure::Failure;
use crate::table::Table;

/// How far clients are from their common start, as the norm of a tangent vector.
const SPREADS: [f64; 4] = [0.1, 0.3, 1.0, 3.0];

/// One average of the clients around a starting point.
type Average = fn(&Matrix<f64>, &[Matrix<f64>]) -> Result<Matrix<f64>, Error>;

const AVERAGES: [(&str, Average); 5] = [
    ("Euclidean mean", |_, points| sum(points)?.mean()),
    ("ProjAvg", |_, points| Ok(proj_avg(&sum(points)?)?.point)),
    ("RLAvg", |start, points| Ok(rl_avg(start, &sum(points)?)?.point)),
    ("QR average", |_, points| Ok(qr_avg(&sum(points)?)?.point)),
    ("RetAvg", |start, points| Ok(ret_avg(RetractionKind::Polar, start, points, None)?.point)),
];

fn karcher(points: &[Matrix<f64>]) -> Result<Matrix<f64>, Error> {
    let limits = IterationLimits { tolerance: 1e-10, iterations: 200 };
    Ok(karcher_mean(StiefelMetric::Embedded, points, None, limits)?.point)
}

pub(super) fn run(arguments: &Arguments, out: &mut impl Write) -> Result<(), Failure> {
    let (p, k) = (usize::from(arguments.rows), usize::from(arguments.columns));
    let mut stiefel = Stiefel::new(p, k)?;
    let mut rng = ChaCha8Rng::seed_from_u64(arguments.seed);
    let start = stiefel.random(&mut rng)?;
    writeln!(
        out,
        "{} clients start from one {p} x {k} matrix W with orthonormal columns and move a distance apart.\n\
         What does each average make of them? (seed {}, {} instructions)\n",
        arguments.clients,
        arguments.seed,
        Simd::detect()?.name()
    )?;
    let mut table = Table::new(2, &["spread", "average", "|WᵀW − I|", "to the Karcher mean", "time"]);
    for spread in SPREADS {
        let points = clients(&mut rng, &start, spread, arguments.clients)?;
        let (reference, karcher_time) = timed(|| karcher(&points));
        let mut add = |name: &str,
                       average: &Result<Matrix<f64>, Error>,
                       time: Duration|
         -> Result<(), Error> {
            let (feasibility, distance) = match (average, &reference) {
                (Ok(average), Ok(reference)) => (
                    number(stiefel.feasibility_error(average.as_slice())?),
                    number(average.zip(reference, |a, b| a - b).norm()),
                ),
                (Ok(average), Err(_)) => (number(stiefel.feasibility_error(average.as_slice())?), "–".into()),
                (Err(_), _) => ("undefined".into(), "–".into()),
            };
            table.row(vec![spread.to_string(), name.into(), feasibility, distance, duration(time)]);
            Ok(())
        };
        for (name, average) in AVERAGES {
            let (average, time) = timed(|| average(&start, &points));
            add(name, &average, time)?;
        }
        add("Karcher mean", &reference, karcher_time)?;
        table.gap();
    }
    table.write(out)?;
    writeln!(
        out,
        "The Euclidean mean leaves the manifold: its columns are no longer orthonormal. ProjAvg and RLAvg stay on it to\n\
         rounding, approach the Karcher mean with the third power of the spread, and cost next to nothing."
    )?;
    Ok(())
}

/// Points reached from `start` by random tangent vectors of norm `spread`.
fn clients(
    rng: &mut ChaCha8Rng,
    start: &Matrix<f64>,
    spread: f64,
    count: u16,
) -> Result<Vec<Matrix<f64>>, Error> {
    let (p, k) = (start.rows(), start.columns());
    let mut stiefel = Stiefel::new(p, k)?;
    let mut retraction = Retraction::new(RetractionKind::Polar, p, k)?;
    let (mut noise, mut tangent) = (Matrix::zeros(p, k), Matrix::zeros(p, k));
    (0..count)
        .map(|_| {
            fill_standard_normal(rng, noise.as_mut_slice());
            stiefel.project(start.as_slice(), noise.as_slice(), tangent.as_mut_slice())?;
            let norm = tangent.norm();
            let scale = spread / norm;
            let step = tangent.map(|x| x * scale);
            let mut point = Matrix::zeros(p, k);
            retraction.retract(start.as_slice(), step.as_slice(), point.as_mut_slice())?;
            Ok(point)
        })
        .collect()
}

fn sum(points: &[Matrix<f64>]) -> Result<StiefelSum, Error> {
    let (p, k) = points.first().map_or((0, 0), |first| (first.rows(), first.columns()));
    let mut sum = StiefelSum::new(p, k)?;
    for point in points {
        sum.add(1.0, point.as_slice())?;
    }
    Ok(sum)
}

/// The result of a computation and its median time: once if it is slow, several times if it is quick.
fn timed<R>(compute: impl Fn() -> R) -> (R, Duration) {
    const BUDGET: Duration = Duration::from_millis(20);
    const REPETITIONS: usize = 25;
    let (start, mut times) = (Instant::now(), Vec::new());
    loop {
        let once = Instant::now();
        let result = compute();
        times.push(once.elapsed());
        if start.elapsed() > BUDGET || times.len() == REPETITIONS {
            times.sort_unstable();
            return (result, times[times.len() / 2]);
        }
    }
}

fn number(x: f64) -> String {
    format!("{x:.1e}")
}

fn duration(time: Duration) -> String {
    let microseconds = time.as_secs_f64() * 1e6;
    match microseconds {
        x if x < 1e3 => format!("{x:.0} µs"),
        x if x < 1e6 => format!("{:.1} ms", x / 1e3),
        x => format!("{:.1} s", x / 1e6),
    }
}
