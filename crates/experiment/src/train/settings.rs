//! The settings of servers, methods and optimisers, from the configuration.

use fedspd_federated::{
    Aggregation, LocalEpochs, LocalWork, Method, MethodConfig, MethodName, ParameterScopes, ServerConfig,
};
use fedspd_manifold::{Real, RetractionKind};
use fedspd_nn::schedule::{Mode as ScheduleMode, ScheduleConfig};
use fedspd_nn::{AdamSettings, OptimiserConfig};

use crate::Error;
use crate::config::{Config, Mode, OptimiserKind, SchedulerKind};

/// Returns the largest number of rounds. Centralised and local training has one round per epoch.
pub(crate) fn rounds(config: &Config) -> u32 {
    let rounds = if config.mode == Mode::Federated { config.federated.rounds } else { config.train.epochs };
    u32::try_from(rounds).unwrap_or(u32::MAX)
}

/// Returns the settings of the server. Centralised and local training is a federation of one client
/// that trains one epoch a round.
pub(crate) fn server(config: &Config) -> ServerConfig {
    let train = &config.train;
    let schedule = match train.scheduler {
        SchedulerKind::Constant => ScheduleConfig::Constant,
        SchedulerKind::Cosine => {
            ScheduleConfig::Cosine { steps: rounds(config).into(), final_share: train.final_share }
        }
        SchedulerKind::Plateau => ScheduleConfig::Plateau {
            mode: ScheduleMode::Min,
            factor: train.factor,
            patience: train.patience as u64,
        },
    };
    let alone = ServerConfig {
        work: LocalWork::same(1),
        learning_rate: train.lr,
        schedule,
        ..ServerConfig::default()
    };
    if config.mode == Mode::Centralised {
        return alone;
    }
    if config.mode == Mode::Local {
        return ServerConfig { on_client_failure: config.federated.on_client_failure, ..alone };
    }
    let federated = &config.federated;
    let epochs = |epochs: usize| u32::try_from(epochs).unwrap_or(u32::MAX);
    let exceptions = federated.epochs_local.clients.iter();
    ServerConfig {
        aggregation: federated.aggregation,
        server_momentum: federated.server_momentum,
        server_lr: federated.server_lr,
        participation: federated.participation,
        weighting: federated.weights,
        work: LocalWork {
            epochs: epochs(federated.epochs_local.default),
            exceptions: exceptions.map(|(name, &count)| (name.clone(), epochs(count))).collect(),
        },
        on_client_failure: federated.on_client_failure,
        ..alone
    }
}

/// Builds both halves of the method, for a run in one process or for a site. Centralised and local
/// training averages a single client.
pub(crate) fn method<T: Real>(config: &Config, scopes: &ParameterScopes) -> Result<Method<T>, Error> {
    #[cfg(feature = "toys")]
    if let Some(method) = toy(config, scopes) {
        return Ok(method);
    }
    let method = match (config.mode, config.federated.resolved_method()) {
        (Mode::Federated, MethodName::Fedprox) => MethodConfig::FedProx { mu: config.federated.prox_mu },
        (Mode::Federated, MethodName::Fedavg) | (Mode::Centralised | Mode::Local, _) => MethodConfig::FedAvg,
    };
    Ok(method.build(local_epochs(config), &server(config), scopes)?)
}

/// Methods of tests.
#[cfg(feature = "toys")]
#[allow(clippy::unwrap_used, clippy::panic)]
#[path = "../../../federated/tests/toys/mod.rs"]
mod toys;

/// The method of a test that the environment variable `FEDSPD_TOY` names.
#[cfg(feature = "toys")]
fn toy<T: Real>(config: &Config, scopes: &ParameterScopes) -> Option<Method<T>> {
    match &*std::env::var("FEDSPD_TOY").ok()? {
        "control" => Some(toys::control(local_epochs(config), scopes)),
        "two-exchanges" => Some(toys::two_exchanges(local_epochs(config), scopes)),
        _ => None,
    }
}

/// Returns the local training of a client in a round. Centralised and local training keeps the
/// moments of the optimiser between epochs.
pub(crate) fn local_epochs(config: &Config) -> LocalEpochs {
    let (adam, retraction) = (AdamSettings::default(), RetractionKind::Polar);
    let optimiser = match config.train.optimizer {
        OptimiserKind::Adam => OptimiserConfig::default(),
        OptimiserKind::RiemannianAdam => OptimiserConfig::RiemannianAdam { adam, retraction },
        OptimiserKind::RiemannianSgd => {
            OptimiserConfig::RiemannianSgd { momentum: 0.9, weight_decay: 0.0, retraction }
        }
        OptimiserKind::Landing => {
            OptimiserConfig::Landing { attraction: 1.0, safe_distance: 0.5, momentum: 0.9, weight_decay: 0.0 }
        }
    };
    let federated = config.mode == Mode::Federated;
    LocalEpochs {
        optimiser,
        carry_state: !federated || config.federated.carry_state,
        land_first: federated && config.federated.aggregation == Aggregation::Euclidean,
    }
}
