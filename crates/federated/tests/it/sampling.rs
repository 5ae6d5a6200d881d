//! Client sampling: equal frequency for all clients, no repeats, and the same clients for a seed.

use fedspd_federated::participants;
use fedspd_nn::Seed;

#[test]
fn every_client_is_asked_as_often_as_any_other() {
    let (clients, rounds) = (53, 4000);
    let mut counts = vec![0_u32; clients];
    for round in 0..rounds {
        let asked = participants(Seed(3), round, clients, 0.5);
        assert_eq!(asked.len(), 26);
        assert!(asked.is_sorted_by(|a, b| a < b) && asked[25] < clients);
        assert_eq!(asked, participants(Seed(3), round, clients, 0.5));
        for client in asked {
            counts[client] += 1;
        }
    }
    // The counts of a draw without replacement vary less than independent ones: chi-square with 52
    // degrees of freedom, times 1 - M/N.
    let share = 26.0 / 53.0;
    let expected = f64::from(rounds) * share;
    let chi_square: f64 = counts.iter().map(|&c| (f64::from(c) - expected).powi(2) / expected).sum();
    // 5 standard deviations around the mean.
    assert!((chi_square / (1.0 - share) - 53.0).abs() < 5.0 * (2.0 * 52.0_f64).sqrt(), "{chi_square}");
    assert_ne!(participants(Seed(3), 0, clients, 0.5), participants(Seed(4), 0, clients, 0.5));
    assert_ne!(participants(Seed(3), 0, clients, 0.5), participants(Seed(3), 1, clients, 0.5));
}

#[test]
fn at_least_one_and_at_most_all_are_asked() {
    for (clients, participation, expected) in [
        (5, 0.5, 2),
        (5, 0.01, 1),
        (1, 1.0, 1),
        (53, 1.0, 53),
        (100, 0.29, 29),
        (10, 0.7, 7),
        (3, 1.0 / 3.0, 1),
    ] {
        assert_eq!(
            participants(Seed(0), 0, clients, participation).len(),
            expected,
            "{clients} {participation}"
        );
    }
    assert_eq!(participants(Seed(0), 9, 4, 1.0), [0, 1, 2, 3]);
}
