//! The event log, also after a kill.

use std::fs;
use std::path::Path;

use fedspd_run::{DroppedClient, Error, Event, EventLog, LayerReport, Round, Stage, Unit};

fn round(seed: u64, round: u32) -> Event {
    Event::Round(Round {
        unit: seed.into(),
        round,
        learning_rate: 1e-3 / f64::from(round),
        participants: vec!["client 1".into(), "client 2".into()],
        dropped: vec![DroppedClient { client: "client 2".into(), reason: "NaN in `bimap.0`".into() }],
        train_loss: 1.0 / 3.0,
        validation_loss: 0.1 + 0.2,
        validation_f1: round.is_multiple_of(2).then_some(0.4),
        test_f1: None,
        bytes_up: 19_616,
        bytes_down: 39_232,
        layers: vec![LayerReport {
            name: "bimap.0".into(),
            consensus: 0.99,
            drift_mean: 0.1,
            drift_max: 0.2,
            proj_rl_distance: 1e-4,
        }],
        fallback: false,
        metrics: std::collections::BTreeMap::new(),
    })
}

fn write(path: &Path, events: &[Event]) -> Vec<u8> {
    let mut log = EventLog::open(path).unwrap();
    for event in events {
        log.append(event).unwrap();
    }
    log.sync().unwrap();
    fs::read(path).unwrap()
}

#[test]
fn events_come_back_as_they_were_tagged_by_kind() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.jsonl");
    let events = [
        Event::Started,
        round(0, 1),
        Event::Warning { text: "a \"line\"\nand another".into() },
        Event::Interrupted { unit: 0.into(), round: 1 },
        Event::Resumed { unit: 0.into(), round: 1 },
        round(0, 2),
        Event::Finished,
    ];
    // In two sessions.
    write(&path, &events[..3]);
    let text = String::from_utf8(write(&path, &events[3..])).unwrap();
    assert_eq!(EventLog::read(&path).unwrap(), events);
    let kinds = ["started", "round", "warning", "interrupted", "resumed", "round", "finished"];
    assert_eq!(text.lines().count(), kinds.len());
    for (line, kind) in text.lines().zip(kinds) {
        assert!(line.starts_with(&format!("{{\"event\":\"{kind}\"")), "{line}");
    }
}

#[test]
fn what_is_not_finite_is_null() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.jsonl");
    let Event::Round(mut event) = round(0, 1) else { unreachable!() };
    event.train_loss = f64::NAN;
    event.validation_loss = f64::INFINITY;
    let text = String::from_utf8(write(&path, &[Event::Round(event)])).unwrap();
    assert!(text.contains("\"train_loss\":null,\"validation_loss\":null"), "{text}");
    let [Event::Round(event)] = &EventLog::read(&path).unwrap()[..] else { panic!("{text}") };
    assert!(event.train_loss.is_nan() && event.validation_loss.is_nan());
}

/// A log that is cut anywhere and resumed has the rounds of an uncut one. The disk is slow, so cuts
/// are near line ends and at some other bytes.
#[test]
fn a_log_cut_anywhere_and_resumed_has_the_same_rounds() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.jsonl");
    let rounds: Vec<Event> = (0..2).flat_map(|seed| (1..=3).map(move |number| round(seed, number))).collect();
    let whole = write(&path, &rounds);
    let ends = whole.iter().enumerate().filter(|&(_, &byte)| byte == b'\n').map(|(place, _)| place);
    for cut in ends.flat_map(|end| [end - 1, end, end + 1]).chain((0..whole.len()).step_by(61)) {
        fs::write(&path, &whole[..cut]).unwrap();
        let done = whole[..cut].split(|&byte| byte == b'\n').count() - 1;
        assert_eq!(EventLog::read(&path).unwrap(), rounds[..done]);
        // The checkpoint may be a round behind the log.
        let done = done.saturating_sub(1);
        let mut log = EventLog::open(&path).unwrap();
        log.rewind(done as u64).unwrap();
        assert_eq!(log.lasting(), done as u64);
        for event in &rounds[done..] {
            log.append(event).unwrap();
        }
        assert_eq!(fs::read(&path).unwrap(), whole, "cut at byte {cut}");
    }
}

#[test]
fn events_after_the_checkpoint_are_taken_away() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.jsonl");
    let warning = |text: &str| Event::Warning { text: text.into() };
    let events = [
        Event::Started,
        warning("kept"),
        round(0, 1),
        Event::Interrupted { unit: 0.into(), round: 1 },
        round(0, 2),
        warning("of round 3"),
        round(0, 3),
        Event::Interrupted { unit: 0.into(), round: 3 },
        Event::Finished,
    ];
    write(&path, &events);
    let mut log = EventLog::open(&path).unwrap();
    assert_eq!(log.lasting(), 6);
    assert_eq!((log.lasting_until(0, 2).unwrap(), log.lasting_until(1, 2).unwrap()), (4, 0));
    log.rewind(4).unwrap();
    log.append(&Event::Resumed { unit: 0.into(), round: 2 }).unwrap();
    log.append(&warning("of round 3")).unwrap();
    assert_eq!(log.lasting(), 5);
    let kept = [0, 1, 2, 3, 4, 7].map(|place| events[place].clone());
    let mut expected = kept.to_vec();
    expected.extend([Event::Resumed { unit: 0.into(), round: 2 }, warning("of round 3")]);
    assert_eq!(EventLog::read(&path).unwrap(), expected);
}

#[test]
fn a_line_that_is_no_event_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.jsonl");
    for line in ["nonsense", "", "{\"event\":\"party\"}", "{\"event\":\"round\",\"seed\":0}"] {
        fs::write(&path, format!("{{\"event\":\"started\"}}\n{line}\n{{\"event\":\"finished\"}}\n")).unwrap();
        let before = fs::read(&path).unwrap();
        for error in [EventLog::read(&path).unwrap_err(), EventLog::open(&path).unwrap_err()] {
            assert!(matches!(error, Error::EventLine { line: 2, .. }), "{error}");
            assert!(error.to_string().contains("line 2 is not an event"), "{error}");
            assert!(error.hint().is_some());
        }
        assert_eq!(fs::read(&path).unwrap(), before);
    }
}

/// The log of a run without folds has no fold. Rounds of one number differ by fold and stage.
#[test]
fn folds_and_stages_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("events.jsonl");
    let text = String::from_utf8(write(&path, &[round(4, 1)])).unwrap();
    assert!(text.starts_with("{\"event\":\"round\",\"seed\":4,\"round\":1,"), "{text}");
    fs::remove_file(&path).unwrap();
    let of = |fold, stage| {
        let Event::Round(round) = round(0, 2) else { unreachable!() };
        Event::Round(Round { unit: Unit { seed: 0, fold, stage }, ..round })
    };
    let chosen = Some(Stage::Choose);
    let events = [of(Some(0), None), of(Some(1), None), of(Some(1), chosen), of(None, None)];
    let text = String::from_utf8(write(&path, &events)).unwrap();
    assert!(text.contains("\"seed\":0,\"fold\":1,\"stage\":\"choose\","), "{text}");
    assert_eq!(EventLog::read(&path).unwrap(), events);
    let log = EventLog::open(&path).unwrap();
    for (events, (fold, stage)) in
        (1..).zip([(Some(0), None), (Some(1), None), (Some(1), chosen), (None, None)])
    {
        assert_eq!(log.lasting_until(Unit { seed: 0, fold, stage }, 2).unwrap(), events);
    }
}
