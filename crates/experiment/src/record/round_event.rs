//! The event of a round.

use std::collections::BTreeMap;

use fedspd_federated::{Member, RoundReport};
use fedspd_run::{DroppedClient, Metric, Round, Unit};

use crate::config::Mode;
use crate::evaluate::RoundScores;

/// Creates the event of a round of several servers, each with its clients.
pub(crate) fn round_event(
    unit: Unit,
    round: u32,
    mode: Mode,
    played: Vec<(&[Member], RoundReport)>,
    scored: &RoundScores,
) -> Round {
    let mut participants = Vec::new();
    let mut reports: Vec<RoundReport> = Vec::new();
    for (members, report) in played {
        participants.extend(report.participants.iter().map(|&client| members[client].name.clone()));
        reports.push(report);
    }
    // Centralised and local training sends nothing.
    let sent = |bytes: fn(&RoundReport) -> u64| match mode {
        Mode::Federated => reports.iter().map(bytes).sum(),
        Mode::Centralised | Mode::Local => 0,
    };
    Round {
        unit,
        round,
        learning_rate: reports.first().map_or(f64::NAN, |report| report.learning_rate),
        participants,
        dropped: reports
            .iter()
            .flat_map(|report| &report.dropped)
            .map(|dropped| DroppedClient { client: dropped.name.clone(), reason: dropped.reason.clone() })
            .collect(),
        train_loss: mean(reports.iter().filter_map(|report| report.train_loss)),
        validation_loss: scored.validation.map_or(f64::NAN, |validation| validation.loss),
        validation_f1: scored.validation.map(|validation| validation.f1),
        test_f1: scored.test_f1,
        bytes_up: sent(|report| report.bytes_up),
        bytes_down: sent(|report| report.bytes_down),
        fallback: reports.iter().any(|report| report.fallback),
        metrics: match &reports[..] {
            [report] => report.metrics.iter().map(|(name, &value)| (name.clone(), Metric(value))).collect(),
            // The methods of clients that train alone report nothing in common.
            _ => BTreeMap::new(),
        },
        layers: match mode {
            Mode::Federated => reports.into_iter().flat_map(|report| report.layers).collect(),
            Mode::Centralised | Mode::Local => Vec::new(),
        },
    }
}

/// Returns the mean, or NaN without values.
fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let values: Vec<f64> = values.collect();
    values.iter().sum::<f64>() / values.len() as f64
}
