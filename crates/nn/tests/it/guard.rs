//! The check for wrong units: data in volts are an error.

use crate::support::all;
use fedspd_nn::{ClampReport, Error, Model, Seed, SpdNet, SpdNetConfig, SpdTrials, SyntheticTask, Trainer};

fn report(dimensions: &[usize], scale: f64) -> ClampReport {
    let net = SpdNet::<f64>::new(SpdNetConfig::new(dimensions.to_vec(), 3).threshold(1e-2)).unwrap();
    let data: SpdTrials<f64> = SyntheticTask::new(8, 3).client(Seed(0), 0).unwrap();
    let scaled = data.matrices().iter().map(|x| x * scale).collect();
    let data = SpdTrials::new(8, 1, 3, scaled, data.labels().to_vec()).unwrap();
    let examples = net.prepare(data).unwrap();
    let parameters = net.initial(Seed(0)).unwrap();
    net.workspace(1).unwrap().clamp_report(&parameters, &examples, &all(&examples)).unwrap()
}

#[test]
fn volts_are_an_error_with_numbers_and_a_hint() {
    for dimensions in [&[8][..], &[8, 4], &[8, 6, 4]] {
        let good = report(dimensions, 1.0);
        assert_eq!((good.share, good.check().unwrap()), (0.0, None));
        assert!(good.median > 0.1 && good.median < 10.0);

        let volts = report(dimensions, 1e-12);
        assert_eq!(volts.share, 1.0);
        let error = volts.check().unwrap_err();
        assert!(matches!(error, Error::AllClamped { .. }));
        assert!(
            error.to_string().starts_with("100.0% of the eigenvalues are below the threshold 1e-2"),
            "{error}"
        );
        assert!(error.hint().unwrap().contains("volts instead of microvolts"));
    }
}

#[test]
fn a_threshold_in_the_middle_is_a_warning() {
    let report = |share| ClampReport { share, median: 0.5, threshold: 1.0 };
    assert_eq!(report(0.5).check().unwrap(), None);
    assert!(report(0.51).check().unwrap().unwrap().starts_with("51.0% of the eigenvalues"));
    assert!(report(0.99).check().unwrap().is_some());
    assert!(report(0.991).check().is_err());
}

/// All inputs count, and data without information are refused.
#[test]
fn training_refuses_what_the_guard_refuses() {
    let net = SpdNet::<f64>::new(SpdNetConfig::new(vec![4, 3], 2).inputs(2).threshold(1e-2)).unwrap();
    let scaled = |scales: [f64; 2]| {
        let data: SpdTrials<f64> = SyntheticTask::new(4, 2).inputs(2).trials(10).client(Seed(0), 0).unwrap();
        let matrices = data.matrices().chunks_exact(16).enumerate();
        let matrices = matrices.flat_map(|(i, m)| m.iter().map(move |x| x * scales[i % 2])).collect();
        net.prepare(SpdTrials::new(4, 2, 2, matrices, data.labels().to_vec()).unwrap()).unwrap()
    };
    let parameters = net.initial(Seed(0)).unwrap();
    let mut workspace = net.workspace(1).unwrap();
    for scales in [[1.0, 1e-12], [1e-12, 1.0]] {
        assert_eq!(workspace.clamp_report(&parameters, &scaled(scales), &[0, 3, 7]).unwrap().share, 0.5);
    }
    let mut trainer = Trainer::new(&net, 64, 1).unwrap();
    let volts = scaled([1e-12, 1e-12]);
    let good = scaled([1.0, 1.0]);
    assert!(matches!(trainer.check(&parameters, &volts, &[0, 1]), Err(Error::AllClamped { .. })));
    assert_eq!(trainer.check(&parameters, &good, &[0, 1]).unwrap(), None);
}

/// Counted by hand: two of four eigenvalues are at or below the threshold.
#[test]
fn the_share_is_counted_at_and_below_the_threshold() {
    let net = SpdNet::<f64>::new(SpdNetConfig::new(vec![2], 2).threshold(1.0)).unwrap();
    let matrices = vec![0.5, 0.0, 0.0, 1.0, 2.0, 0.0, 0.0, 3.0];
    let examples = net.prepare(SpdTrials::new(2, 1, 2, matrices, vec![0, 1]).unwrap()).unwrap();
    let report =
        net.workspace(1).unwrap().clamp_report(&net.initial(Seed(0)).unwrap(), &examples, &[0, 1]).unwrap();
    assert_eq!((report.share, report.median, report.threshold), (0.5, 2.0, 1.0));
}
