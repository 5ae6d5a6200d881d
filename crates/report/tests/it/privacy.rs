//! Reports name nobody unless asked to.

use fedspd_report::{Format, Report};
use tempfile::tempdir;

use crate::support::Plan;

#[test]
fn no_file_names_a_subject_a_client_or_a_place_unless_asked() {
    let root = tempdir().unwrap();
    let run = Plan { subject: "patient-", ..Plan::default() }.write(root.path(), "run");
    for (name, text) in Report::new(&[&run], false).unwrap().files(&Format::ALL) {
        for word in ["patient", "site A", "site B", "/home/someone"] {
            assert!(!text.contains(word), "{word} is in {name}");
        }
    }
    let page = Report::new(&[&run], false).unwrap().html();
    assert!(
        page.contains("1: recorded at 128 Hz instead of 160 Hz")
            && page.contains("1: recording … is damaged")
    );
    assert!(page.contains("1 warning"));
}

/// A name of two words is removed too.
#[test]
fn a_name_within_a_reason_is_not_told() {
    let root = tempdir().unwrap();
    let run = Plan { subject: "Anna Mueller ", ..Plan::default() }.write(root.path(), "run");
    for (name, text) in Report::new(&[&run], false).unwrap().files(&Format::ALL) {
        assert!(!text.contains("Anna") && !text.contains("Mueller"), "{name}");
    }
}

#[test]
fn who_asks_gets_the_names() {
    let root = tempdir().unwrap();
    let run = Plan { subject: "patient-", ..Plan::default() }.write(root.path(), "run");
    let page = Report::new(&[run], true).unwrap().html();
    for name in
        ["patient-1, patient-2", "site A", "(patient-99)", "patient-77", "subject patient-5 has no client"]
    {
        assert!(page.contains(name), "{name}");
    }
}
