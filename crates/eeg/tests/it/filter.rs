//! Filters and resampling: responses, phase and reference values.

use fedspd_eeg::filter::{Band, ZeroPhase, band_pass, resample};
use fedspd_manifold::simd::Simd;

use crate::support::{array, distance, noise, transposed};

const PAPER: Band = Band { low: 8.0, high: 32.0 };

fn filtered(band: Band, sfreq: f64, channels: usize, samples: &[f64]) -> Vec<f64> {
    let mut samples = samples.to_vec();
    ZeroPhase::band_pass(band, sfreq).unwrap().apply(Simd::detect().unwrap(), channels, &mut samples);
    samples
}

#[test]
fn sections_are_those_that_scipy_designs() {
    let printed = [
        (
            200.0,
            99,
            [
                [
                    0.008_914_457_239,
                    0.017_828_914_479,
                    0.008_914_457_239,
                    -0.990_578_321_553,
                    0.361_327_453_847,
                ],
                [1.0, 2.0, 1.0, -1.526_768_633_196, 0.623_148_300_219],
                [1.0, -2.0, 1.0, -0.925_841_661_732, 0.662_801_560_503],
                [1.0, -2.0, 1.0, -1.819_640_170_238, 0.882_360_947_589],
            ],
        ),
        (
            160.0,
            79,
            [
                [
                    0.018_563_010_627,
                    0.037_126_021_254,
                    0.018_563_010_627,
                    -0.717_599_478_155,
                    0.265_274_992_549,
                ],
                [1.0, 2.0, 1.0, -1.403_499_718_486, 0.544_850_452_899],
                [1.0, -2.0, 1.0, -0.543_073_534_046, 0.618_338_186_864],
                [1.0, -2.0, 1.0, -1.756_520_827_315, 0.852_586_684_490],
            ],
        ),
    ];
    for (sfreq, padding, rows) in printed {
        let filter = ZeroPhase::band_pass(PAPER, sfreq).unwrap();
        assert_eq!(filter.padding(), padding);
        for (section, row) in filter.sections().iter().zip(rows) {
            let ours = [section.b[0], section.b[1], section.b[2], section.a[0], section.a[1]];
            for (a, b) in ours.iter().zip(row) {
                assert!((a - b).abs() < 1e-12, "{ours:?}");
            }
        }
    }
    assert_eq!(ZeroPhase::band_pass(PAPER, 128.0).unwrap().padding(), 63);
}

#[test]
fn signals_are_filtered_as_mne_does() {
    let cases = [
        ("paper-160", 160.0, PAPER),
        ("paper-200", 200.0, PAPER),
        ("paper-128", 128.0, PAPER),
        ("slow", 160.0, Band { low: 0.3, high: 8.0 }),
        ("narrow", 250.0, Band { low: 9.5, high: 10.5 }),
        ("wide", 160.0, Band { low: 1.0, high: 79.0 }),
        ("short", 160.0, PAPER),
    ];
    for (name, sfreq, band) in cases {
        let (shape, input) = array::<f64>("eeg", &format!("filter-{name}-in"));
        let (_, expected) = array::<f64>("eeg", &format!("filter-{name}-out"));
        let [channels, length] = shape[..] else { panic!() };
        let ours = filtered(band, sfreq, channels, &transposed(channels, length, &input));
        let far = distance(&transposed(length, channels, &ours), &expected);
        assert!(far < 1e-9, "{name}: {far:e}");
    }
}

/// Each pass halves the power at the edges of the band, so both passes halve the amplitude.
#[test]
fn edges_are_halved_and_the_middle_kept() {
    let gain = |frequency: f64, sfreq: f64| -> f64 {
        let (sin, cos) = (std::f64::consts::TAU * frequency / sfreq).sin_cos();
        let at = |c0: f64, c1: f64, c2: f64| {
            let (re, im) = (c0 + c1 * cos + c2 * (2.0 * cos * cos - 1.0), -c1 * sin - c2 * 2.0 * sin * cos);
            re * re + im * im
        };
        let sections = band_pass(PAPER, sfreq).unwrap();
        sections.iter().map(|s| at(s.b[0], s.b[1], s.b[2]) / at(1.0, s.a[0], s.a[1])).product()
    };
    for sfreq in [128.0, 160.0, 200.0, 1000.0] {
        for edge in [8.0, 32.0] {
            assert!((gain(edge, sfreq) - 0.5).abs() < 1e-9, "{edge} Hz at {sfreq} Hz");
        }
    }
    for sfreq in [160.0, 200.0] {
        let sine: Vec<f64> =
            (0..4000).map(|t| (std::f64::consts::TAU * 20.0 * f64::from(t) / sfreq).sin()).collect();
        let ours = filtered(PAPER, sfreq, 1, &sine);
        assert!(distance(&ours[1000..3000], &sine[1000..3000]) < 0.01);
    }
}

/// The filter has zero phase.
#[test]
fn impulses_become_symmetric() {
    let mut impulse = vec![0.0; 2001];
    impulse[1000] = 1.0;
    let mut response = filtered(PAPER, 160.0, 1, &impulse);
    let peak = response[1000];
    let forward = response.clone();
    response.reverse();
    assert!(distance(&response, &forward) < 1e-12);
    assert!(response.iter().all(|h| h.abs() <= peak));
}

#[test]
fn channels_do_not_disturb_each_other_and_bits_are_the_same_on_every_path() {
    let (channels, length) = (19, 300);
    let samples = noise(1, channels * length);
    let filter = ZeroPhase::band_pass(PAPER, 160.0).unwrap();
    let together = filtered(PAPER, 160.0, channels, &samples);
    for simd in Simd::available() {
        let mut own = samples.clone();
        filter.apply(simd, channels, &mut own);
        assert_eq!(own, together, "{}", simd.name());
    }
    for channel in [0, 7, 8, 18] {
        let alone: Vec<f64> = samples[channel..].iter().step_by(channels).copied().collect();
        let column: Vec<f64> = together[channel..].iter().step_by(channels).copied().collect();
        assert_eq!(filtered(PAPER, 160.0, 1, &alone), column);
    }
}

#[test]
fn one_sample_and_none_are_no_trouble() {
    assert!(filtered(PAPER, 160.0, 3, &[]).is_empty());
    assert!(filtered(PAPER, 160.0, 3, &[1.0, 2.0, 3.0]).iter().all(|x| x.is_finite()));
}

#[test]
fn impossible_bands_are_refused_with_their_numbers() {
    for (low, high) in [(0.0, 32.0), (8.0, 80.0), (32.0, 8.0), (f64::NAN, 32.0), (8.0, 8.0), (-1.0, 4.0)] {
        let error = ZeroPhase::band_pass(Band { low, high }, 160.0).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "the band {low}-{high} Hz must have increasing edges between 0 and 80 Hz, half the sampling rate"
            )
        );
    }
}

/// With poles at 1 up to rounding, a filter would output rounding or NaN.
#[test]
fn bands_too_narrow_or_too_low_for_numbers_are_refused() {
    for (low, high) in [(1e-9, 32.0), (8.0, 8.000_000_1)] {
        let error = ZeroPhase::band_pass(Band { low, high }, 160.0).unwrap_err();
        let expected = format!(
            "the band {low}-{high} Hz is too narrow or too low at 160 Hz: the filter response exceeds 1e6 samples"
        );
        assert_eq!(error.to_string(), expected);
        assert_eq!(
            error.hint().unwrap(),
            "take a wider band, and keep its edges away from 0 Hz and half the sampling rate"
        );
    }
    for (low, high) in [(0.001, 0.01), (20.0, 20.01), (0.01, 79.99)] {
        let sections = ZeroPhase::band_pass(Band { low, high }, 160.0).unwrap();
        assert!(
            filtered(Band { low, high }, 160.0, 1, &[1.0; 900]).iter().all(|x| x.is_finite()),
            "{sections:?}"
        );
    }
    for (low, high, hint) in [
        (0.0, 32.0, "begin the band above 0 Hz"),
        (f64::NAN, 32.0, "begin the band above 0 Hz"),
        (32.0, 8.0, "write the lower edge first"),
        (8.0, 80.0, "choose a lower band with --band"),
    ] {
        let error = ZeroPhase::band_pass(Band { low, high }, 160.0).unwrap_err();
        assert_eq!(error.hint().unwrap(), hint);
    }
}

#[test]
fn signals_are_resampled_as_scipy_does() {
    for (from, to) in [(128, 160), (200, 160), (250, 160), (160, 128)] {
        let (shape, input) = array::<f64>("eeg", &format!("resample-{from}-{to}-in"));
        let (expected_shape, expected) = array::<f64>("eeg", &format!("resample-{from}-{to}-out"));
        let [channels, length] = shape[..] else { panic!() };
        let samples = transposed(channels, length, &input);
        let ours = resample(channels, &samples, f64::from(from), f64::from(to)).unwrap();
        assert_eq!(ours.len() / channels, expected_shape[1]);
        let far = distance(&transposed(ours.len() / channels, channels, &ours), &expected);
        assert!(far < 1e-12, "{from} to {to}: {far:e}");
    }
}

#[test]
fn rates_without_a_small_ratio_are_refused() {
    for (from, to) in [(160.0, 160.000_01), (0.0, 160.0), (f64::NAN, 160.0), (1.0, 5000.0), (-128.0, 160.0)] {
        let error = resample(1, &[1.0, 2.0], from, to).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "{from} Hz cannot be resampled to {to} Hz: their ratio must be at most 16, and a fraction of whole numbers up to 1000"
            )
        );
    }
    assert!(resample(1, &[], 128.0, 160.0).unwrap().is_empty());
}
