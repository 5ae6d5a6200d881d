//! Design of Butterworth band-pass filters as second-order sections.

use num_complex::Complex64;

use super::Band;
use crate::Error;

/// The number of poles of the low-pass prototype, as in MNE's `method="iir"`. The band-pass has 8.
const ORDER: u8 = 4;

/// One second-order section, `(b0 + b1/z + b2/z^2) / (1 + a1/z + a2/z^2)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Section {
    /// The numerator.
    pub b: [f64; 3],
    /// The denominator after its leading 1.
    pub a: [f64; 2],
}

/// Designs a Butterworth band-pass of order 4 per edge, with the gain in the first section.
///
/// The prototype's poles `-exp(i pi m / 8)`, `m = -3, -1, 1, 3`, are moved to the band by
/// `s -> (s^2 + w0^2) / (s bw)` with warped edges. The bilinear transform then maps them into the
/// unit circle. Poles are paired with the nearest zeros. The pairing begins at the pole nearest the
/// unit circle, which goes to the last section. This is the rule of `scipy.signal.zpk2sos`, so that
/// the sections can be compared.
///
/// # Errors
/// [`Error::Band`] unless `0 < low < high < sfreq / 2`.
pub fn band_pass(band: Band, sfreq: f64) -> Result<Vec<Section>, Error> {
    let Band { low, high } = band;
    if !(low > 0.0 && low < high && high < sfreq / 2.0 && sfreq.is_finite()) {
        return Err(Error::Band { low, high, sfreq });
    }
    // In units of twice the sampling rate, where the bilinear transform is z = (1 + s) / (1 - s).
    let warp = |frequency: f64| (std::f64::consts::PI * frequency / sfreq).tan();
    let (bandwidth, centre_squared) = (warp(high) - warp(low), warp(low) * warp(high));

    let mut poles = Vec::with_capacity(ORDER.into());
    let mut gain = Complex64::from(bandwidth.powi(ORDER.into()));
    for m in [-3.0, -1.0, 1.0, 3.0] {
        let prototype = -Complex64::cis(std::f64::consts::PI * m / f64::from(2 * ORDER));
        let half = prototype * (bandwidth / 2.0);
        let root = (half * half - centre_squared).sqrt();
        for s in [half + root, half - root] {
            gain /= 1.0 - s;
            let pole = (1.0 + s) / (1.0 - s);
            if pole.im > 0.0 {
                poles.push(pole);
            }
        }
    }
    // The pole nearest to the unit circle comes last.
    poles.sort_by(|p, q| (1.0 - q.norm()).total_cmp(&(1.0 - p.norm())));

    // Four zeros at 1 (from s = 0) and four at -1 (from infinity), taken two at a time.
    let mut left = [(1.0, ORDER / 2), (-1.0, ORDER / 2)];
    let mut sections: Vec<Section> = Vec::with_capacity(ORDER.into());
    for pole in poles.iter().rev() {
        let nearer = usize::from(pole.re < 0.0);
        let choice = if left[nearer].1 > 0 { nearer } else { 1 - nearer };
        left[choice].1 -= 1;
        let zero: f64 = left[choice].0;
        sections.push(Section { b: [1.0, -2.0 * zero, 1.0], a: [-2.0 * pole.re, pole.norm_sqr()] });
    }
    sections.reverse();
    for b in &mut sections[0].b {
        *b *= gain.re;
    }
    Ok(sections)
}
