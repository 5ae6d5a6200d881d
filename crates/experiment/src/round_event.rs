//! What the log says of a round.

use fedspd_federated::RoundReport;
use fedspd_manifold::Real;
use fedspd_nn::Model;
use fedspd_run::{DroppedClient, LayerReport, Round};

use crate::config::Mode;
use crate::course::{Course, Step};
use crate::scores::Score;

/// The scores of a round.
pub(crate) struct RoundScores {
    /// For the results.
    pub(crate) scores: Vec<Score>,
    pub(crate) validation_loss: f64,
    pub(crate) validation_f1: f64,
    /// In rounds that are tested.
    pub(crate) test_f1: Option<f64>,
}

/// A round of all courses, as the log has it.
pub(crate) fn round_event<T: Real, M: Model<T>>(
    seed: u64,
    round: u32,
    mode: Mode,
    courses: &[Course<'_, T, M>],
    steps: Vec<Step>,
    scored: &RoundScores,
) -> Round {
    let mut participants = Vec::new();
    let mut reports: Vec<RoundReport> = Vec::new();
    for (course, step) in courses.iter().zip(steps) {
        let Some(report) = step.report else { continue };
        let members = course.federation.server().members();
        participants.extend(report.participants.iter().map(|&client| members[client].name.clone()));
        reports.push(report);
    }
    // At one place nothing is sent.
    let sent = |bytes: fn(&RoundReport) -> u64| match mode {
        Mode::Federated => reports.iter().map(bytes).sum(),
        Mode::Centralised | Mode::Local => 0,
    };
    let layers = || reports.iter().flat_map(|report| &report.layers);
    Round {
        seed,
        round,
        learning_rate: reports.first().map_or(f64::NAN, |report| report.learning_rate),
        participants,
        dropped: reports
            .iter()
            .flat_map(|report| &report.dropped)
            .map(|dropped| DroppedClient { client: dropped.name.clone(), reason: dropped.reason.clone() })
            .collect(),
        train_loss: mean(reports.iter().filter_map(|report| report.train_loss)),
        validation_loss: scored.validation_loss,
        validation_f1: Some(scored.validation_f1),
        test_f1: scored.test_f1,
        bytes_up: sent(|report| report.bytes_up),
        bytes_down: sent(|report| report.bytes_down),
        fallback: layers().any(|layer| layer.fell_back),
        layers: layers().filter(|_| mode == Mode::Federated).map(layer).collect(),
    }
}

/// NaN of nothing.
fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let values: Vec<f64> = values.collect();
    values.iter().sum::<f64>() / values.len() as f64
}

fn layer(layer: &fedspd_federated::LayerReport) -> LayerReport {
    LayerReport {
        name: layer.name.clone(),
        consensus: layer.consensus,
        drift_mean: layer.drift_mean,
        drift_max: layer.drift_max,
        proj_rl_distance: layer.proj_rl_distance.unwrap_or(f64::NAN),
    }
}
