//! From the configuration to what the lower crates call things.

use fedspd_federated::{Aggregation, LocalEpochs, LocalWork, Method, MethodConfig, ServerConfig, Wire};
use fedspd_manifold::{Real, RetractionKind, Vectorisation};
use fedspd_nn::schedule::{Mode as ScheduleMode, ScheduleConfig};
use fedspd_nn::{AdamSettings, EegNetConfig, FedBn, OptimiserConfig, SpdNetConfig};

use crate::Error;
use crate::config::{self, Config, Head, Mode, OptimiserKind, SchedulerKind};

/// The SPDnet for matrices of a size.
pub(crate) fn spdnet(config: &Config, channels: usize, inputs: usize, classes: usize) -> SpdNetConfig {
    let model = &config.model;
    let dimensions = std::iter::once(channels).chain(model.dims.iter().copied()).collect();
    let head = match model.head {
        Head::Vec => Vectorisation::Vec,
        Head::Vech => Vectorisation::Vech,
        Head::IsometricVech => Vectorisation::IsometricVech,
    };
    SpdNetConfig::new(dimensions, classes)
        .inputs(inputs)
        .threshold(model.epsilon)
        .head(head)
        .dropout(model.resolved_dropout())
}

/// The EEGNet for trials of a shape.
pub(crate) fn eegnet(
    config: &Config,
    channels: usize,
    samples: usize,
    sfreq: f64,
    classes: usize,
) -> EegNetConfig {
    EegNetConfig {
        dropout: config.model.resolved_dropout(),
        fedbn: match config.model.fedbn {
            config::FedBn::All => FedBn::All,
            config::FedBn::Statistics => FedBn::Statistics,
        },
        ..EegNetConfig::new(channels, samples, sfreq, classes)
    }
}

/// How many rounds a course has at most.
pub(crate) fn rounds(config: &Config) -> u32 {
    let rounds = if config.mode == Mode::Federated { config.federated.rounds } else { config.train.epochs };
    u32::try_from(rounds).unwrap_or(u32::MAX)
}

/// The settings of the server. Training at one place is a federation of one client that works one epoch a round.
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

/// The method, both halves of it. At one place it is the plain average of the one client.
pub(crate) fn method<T: Real>(config: &Config, wire: &Wire) -> Result<Method<T>, Error> {
    let mu = config.federated.prox_mu;
    let method = match config.mode {
        Mode::Federated if mu > 0.0 => MethodConfig::FedProx { mu },
        Mode::Federated | Mode::Centralised | Mode::Local => MethodConfig::FedAvg,
    };
    Ok(method.build(local_epochs(config), &server(config), wire)?)
}

/// The epochs of a client in a round. At one place the moments go on from epoch to epoch.
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
