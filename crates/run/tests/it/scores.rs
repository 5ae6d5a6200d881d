//! Scores against numbers computed by hand.

use fedspd_run::{Confusion, ConfusionFault, Summary, summary};

fn confusion(classes: usize, counts: &[u64]) -> Confusion {
    let mut confusion = Confusion::new(classes);
    for (place, &count) in counts.iter().enumerate() {
        for _ in 0..count {
            confusion.add(place / classes, place % classes).unwrap();
        }
    }
    assert_eq!(confusion.counts(), counts);
    confusion
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-15
}

/// A constant predictor on K balanced classes has macro-F1 `2/(K (K + 1))`: 1/10 for 4 classes and
/// 1/28 for 7.
#[test]
fn a_constant_predictor_scores_what_theory_says() {
    for (classes, expected) in [(4, 1.0 / 10.0), (7, 1.0 / 28.0)] {
        for constant in 0..classes {
            let mut constantly = Confusion::new(classes);
            for trial in 0..classes * 23 {
                constantly.add(trial % classes, constant).unwrap();
            }
            assert!(close(constantly.macro_f1(), expected), "{}", constantly.macro_f1());
            assert!(close(constantly.accuracy(), 1.0 / classes as f64));
            assert!(close(constantly.kappa(), 0.0));
        }
    }
}

#[test]
fn scores_equal_those_computed_by_hand() {
    // Truth: 4, 3, 3; predicted: 3, 5, 2.
    let three = confusion(3, &[2, 1, 1, 0, 3, 0, 1, 1, 1]);
    assert_eq!(three.support(), [4, 3, 3]);
    assert_eq!((three.classes(), three.total()), (3, 10));
    assert!(close(three.accuracy(), 0.6));
    // Chance: (4 x 3 + 3 x 5 + 3 x 2) / 100.
    assert!(close(three.kappa(), (0.6 - 0.33) / 0.67));
    let f1 = [4.0 / 7.0, 6.0 / 8.0, 2.0 / 5.0];
    assert!(three.f1_per_class().iter().zip(f1).all(|(&a, b)| close(a, b)));
    assert!(close(three.macro_f1(), f1.iter().sum::<f64>() / 3.0));

    let perfect = confusion(2, &[5, 0, 0, 3]);
    assert_eq!([perfect.accuracy(), perfect.kappa(), perfect.macro_f1()], [1.0; 3]);
}

/// As in scikit-learn with `labels` set to all classes and `zero_division=0`.
#[test]
fn a_class_that_nobody_saw_counts_as_zero() {
    let unseen = confusion(3, &[5, 0, 0, 0, 5, 0, 0, 0, 0]);
    assert_eq!(unseen.f1_per_class(), [1.0, 1.0, 0.0]);
    assert!(close(unseen.macro_f1(), 2.0 / 3.0));
    assert_eq!(unseen.support(), [5, 5, 0]);
    assert!(confusion(2, &[5, 0, 0, 0]).kappa().is_nan());
}

#[test]
fn nothing_measured_is_not_a_number() {
    for empty in [Confusion::new(4), Confusion::new(0)] {
        assert!([empty.accuracy(), empty.kappa(), empty.macro_f1()].iter().all(|value| value.is_nan()));
    }
    assert_eq!(Confusion::new(2).f1_per_class(), [0.0, 0.0]);
}

#[test]
fn confusions_add_up() {
    let mut pooled = confusion(2, &[1, 2, 3, 4]);
    pooled.merge(&confusion(2, &[10, 20, 30, 40])).unwrap();
    assert_eq!(pooled.counts(), [11, 22, 33, 44]);
    let error = pooled.merge(&Confusion::new(3)).unwrap_err();
    assert_eq!(error.to_string(), "a confusion matrix of 3 classes cannot be added to one of 2");
    let error = pooled.add(0, 2).unwrap_err();
    assert_eq!(error, ConfusionFault::Class { class: 2, role: "predicted", classes: 2 });
    assert_eq!(
        error.to_string(),
        "class 2 was predicted, but classes are counted from 0 and their number is 2"
    );
    assert!(pooled.add(5, 0).unwrap_err().to_string().starts_with("class 5 was true"));
    assert_eq!(pooled.total(), 110);
}

#[test]
fn summaries_are_of_a_sample() {
    assert_eq!(summary(&[2.0, 4.0, 6.0]), Summary { mean: 4.0, std: 2.0, count: 3 });
    let one = summary(&[0.4]);
    assert!(one.mean == 0.4 && one.std.is_nan() && one.count == 1);
    let none = summary(&[]);
    assert!(none.mean.is_nan() && none.std.is_nan() && none.count == 0);
    assert!(summary(&[1.0, f64::NAN]).mean.is_nan());
}
