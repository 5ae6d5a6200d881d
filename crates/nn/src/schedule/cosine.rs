//! Cosine schedule.

use std::f64::consts::PI;

/// Returns the share of the first rate at a step: `f + (1 - f)(1 + cos(pi step/steps))/2`.
pub(super) fn share(step: u64, steps: u64, final_share: f64) -> f64 {
    let x = step.min(steps) as f64 / steps as f64;
    // cos(pi x) = -sin(pi (x - 1/2)) by its Taylor series on [-pi/2, pi/2], because the platform's
    // cosine may differ in the last bit.
    let y = PI * (x - 0.5);
    let (mut term, mut sine) = (y, y);
    for k in 1..=13_u32 {
        term = -term * y * y / f64::from(2 * k * (2 * k + 1));
        sine += term;
    }
    final_share + (1.0 - final_share) * 0.5 * (1.0 - sine.min(1.0))
}

#[cfg(test)]
mod tests {
    use super::share;

    #[test]
    fn it_is_the_cosine_from_one_to_the_final_share() {
        for step in 0..=40_u32 {
            let cosine = (std::f64::consts::PI * f64::from(step) / 40.0).cos();
            let expected = 0.05 + 0.95 * 0.5 * (1.0 + cosine);
            assert!((share(u64::from(step), 40, 0.05) - expected).abs() < 1e-15);
        }
        for steps in 1..2000 {
            assert!(share(steps, steps, 0.0) >= 0.0 && share(steps, steps, 0.0) < 1e-15);
        }
        assert_eq!(share(0, 40, 0.05), 1.0);
        assert!((share(41, 40, 0.05) - 0.05).abs() < 1e-15);
    }
}
