//! Functions that the benchmark programs share.

use std::time::{Duration, Instant};

/// Repeats a computation for a while, at least five times after a first one, and returns the median
/// time in nanoseconds.
///
/// # Errors
/// The first error of the computation.
pub fn median_nanoseconds<E>(
    budget: Duration,
    mut compute: impl FnMut() -> Result<(), E>,
) -> Result<u128, E> {
    compute()?;
    let (start, mut times) = (Instant::now(), Vec::new());
    while start.elapsed() < budget || times.len() < 5 {
        let once = Instant::now();
        compute()?;
        times.push(once.elapsed().as_nanos());
    }
    times.sort_unstable();
    Ok(times[times.len() / 2])
}

/// The largest resident size of this process so far, where the system tells (Linux).
pub fn peak_kilobytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.parse().ok()
}
