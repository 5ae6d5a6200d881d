//! Assignment of subjects to clients.

use std::collections::BTreeSet;

use fedspd_experiment::SharingError;
use fedspd_experiment::split::partition::{Assignment, Partition, partition};
use fedspd_nn::Seed;
use proptest::prelude::*;

use crate::support::{about, cases, design, origin, physionet};

fn strings<const N: usize>(words: [&str; N]) -> Vec<String> {
    words.map(str::to_owned).to_vec()
}

fn map<const N: usize>(clients: [(&str, &[&str]); N]) -> Assignment {
    let client = |(name, subjects): (&str, &[&str])| {
        (name.to_owned(), subjects.iter().map(|&subject| subject.to_owned()).collect())
    };
    Assignment::Map(clients.map(client).to_vec())
}

fn members(partition: &Partition) -> Vec<(&str, Vec<&str>)> {
    partition
        .clients
        .iter()
        .map(|client| (&*client.name, client.subjects.iter().map(String::as_str).collect()))
        .collect()
}

#[test]
fn fixed_clients_are_consecutive_subjects_in_the_order_of_their_numbers() {
    // As text, 10 sorts before 2.
    let about = about(2, [10, 2, 1, 11, 3, 2].map(|subject| origin(subject, 0, 0)).to_vec());
    let fixed = Assignment::Fixed { subjects_per_client: 2 };
    let shared = partition(&about, &fixed, &[], Seed(0)).unwrap();
    assert_eq!(
        members(&shared),
        [("client 1", vec!["1", "2"]), ("client 2", vec!["3", "10"]), ("client 3", vec!["11"])]
    );
    assert_eq!(shared.clients[0].trials, [1, 2, 5]);
    assert_eq!(shared, partition(&about, &fixed, &[], Seed(1)).unwrap());

    let shared = partition(&about, &fixed, &strings(["10", "1"]), Seed(0)).unwrap();
    assert_eq!(members(&shared), [("client 1", vec!["2", "3"]), ("client 2", vec!["11"])]);
    let held_out: Vec<(&str, &[usize])> =
        shared.held_out.iter().map(|held_out| (&*held_out.subject, &*held_out.trials)).collect();
    assert_eq!(held_out, [("1", &[2][..]), ("10", &[0])]);
}

#[test]
fn shuffled_clients_depend_on_the_seed_alone() {
    let about = physionet(10);
    let shuffled = Assignment::Shuffled { subjects_per_client: 2 };
    let of_seed = |seed: u64| partition(&about, &shuffled, &[], Seed(seed)).unwrap();
    assert_eq!(of_seed(0), of_seed(0));
    let different: BTreeSet<Vec<String>> =
        (0..10).map(|seed| of_seed(seed).clients[0].subjects.clone()).collect();
    assert!(different.len() > 3, "{different:?}");
}

#[test]
fn maps_are_followed_and_say_who_is_left() {
    let about = physionet(4);
    let by_site = map([("Lyon", &["3"]), ("Rennes", &["4", "1"])]);
    let shared = partition(&about, &by_site, &[], Seed(0)).unwrap();
    assert_eq!(members(&shared), [("Lyon", vec!["3"]), ("Rennes", vec!["4", "1"])]);
    assert_eq!(shared.unused, ["2"]);
    let shared = partition(&about, &by_site, &strings(["2"]), Seed(0)).unwrap();
    assert!(shared.unused.is_empty());
}

#[test]
fn every_fault_is_named() {
    let about = physionet(10);
    let none: &[&str] = &[];
    let fixed = |subjects_per_client: usize| Assignment::Fixed { subjects_per_client };
    let everyone: Vec<String> = (1..=10).map(|subject| subject.to_string()).collect();
    let cases = [
        (fixed(2), strings(["12"]), "the held-out list names subject `12`, which has no trials"),
        (map([("a", &["1", "x"])]), vec![], "client `a` names subject `x`, which has no trials"),
        (
            map([("a", &["1"]), ("b", &["2", "1"])]),
            vec![],
            "subject `1` is named twice, by client `a` and by client `b`",
        ),
        (
            map([("a", &["1", "2"])]),
            strings(["2"]),
            "subject `2` is named twice, by the held-out list and by client `a`",
        ),
        (
            fixed(2),
            strings(["2", "2"]),
            "subject `2` is named twice, by the held-out list and by the held-out list",
        ),
        (map([]), vec![], "the map of clients is empty"),
        (map([("a", &["1"]), ("b", none)]), vec![], "client `b` has no trials"),
        (map([("a", &["1"]), ("a", &["2"])]), vec![], "two clients are called `a`"),
        (map([("worst", &["1"])]), vec![], "a client cannot be called `worst`"),
        (fixed(2), everyone, "no subject is left for training: 10 subjects held out"),
        (fixed(0), vec![], "`subjects_per_client` is 0; it must be 1 or more"),
    ];
    for (assignment, held_out, message) in cases {
        let error = partition(&about, &assignment, &held_out, Seed(0)).unwrap_err();
        assert_eq!(error.to_string(), message);
        if !matches!(error, SharingError::ClientTwice { .. } | SharingError::Setting { .. }) {
            assert!(error.hint().is_some(), "{error}");
        }
    }
    let error = partition(&about, &fixed(2), &strings(["12"]), Seed(0)).unwrap_err();
    assert_eq!(error.hint().unwrap(), "available: 1, 2, 3, 4, 5, 6, 7, 8 and 2 more");
    let empty = crate::support::about(2, Vec::new());
    assert_eq!(partition(&empty, &fixed(2), &[], Seed(0)), Err(SharingError::NoTrials));
}

proptest! {
    #![proptest_config(cases(128))]

    /// Every trial has exactly one owner, and so has every subject.
    #[test]
    fn trials_and_subjects_have_one_place(
        about in design(),
        size in 1_usize..4,
        shuffled: bool,
        holding_out: bool,
        seed: u64,
    ) {
        let assignment = if shuffled {
            Assignment::Shuffled { subjects_per_client: size }
        } else {
            Assignment::Fixed { subjects_per_client: size }
        };
        let subjects = about.subjects();
        let hold_out = holding_out && subjects.len() > 1;
        let held_out: Vec<String> = subjects.iter().take(usize::from(hold_out)).map(|&who| who.to_owned()).collect();
        let shared = partition(&about, &assignment, &held_out, Seed(seed)).unwrap();
        prop_assert!(shared.unused.is_empty());
        prop_assert_eq!(shared.clients.len(), (subjects.len() - held_out.len()).div_ceil(size));
        let mut trials: Vec<usize> = Vec::new();
        let mut people = Vec::new();
        for (place, client) in shared.clients.iter().enumerate() {
            prop_assert_eq!(&client.name, &format!("client {}", place + 1));
            prop_assert!(client.trials.is_sorted() && client.subjects.len() <= size);
            for &trial in &client.trials {
                prop_assert!(client.subjects.contains(&about.origins[trial].subject));
            }
            trials.extend(&client.trials);
            people.extend(client.subjects.clone());
        }
        for held_out in &shared.held_out {
            prop_assert_eq!(&held_out.trials, &about.trials_of(&held_out.subject));
            trials.extend(&held_out.trials);
            people.push(held_out.subject.clone());
        }
        trials.sort_unstable();
        prop_assert_eq!(trials, (0..about.origins.len()).collect::<Vec<_>>());
        people.sort();
        let mut everyone: Vec<String> = subjects.iter().map(|&who| who.to_owned()).collect();
        everyone.sort();
        prop_assert_eq!(people, everyone);
    }
}
