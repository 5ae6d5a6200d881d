//! `[federated]`: clients, rounds and aggregation.

use fedspd_eeg::nearest;
use fedspd_federated::MethodName;
pub use fedspd_federated::{Aggregation, OnFailure, Weighting};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::clients::Clients;
use super::conflict::Conflict;
use super::epochs_local::EpochsLocal;
use super::tree::key_path;

/// Clients, rounds and aggregation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Federated {
    /// Assignment of subjects to clients: `fixed` (consecutive), `shuffled` (by the seed), or a
    /// table such as `{ a = [1, 2], b = [3] }`.
    pub clients: Clients,
    /// Subjects per client, unless `clients` is a table.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub subjects_per_client: usize,
    /// Share of clients that train in a round.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1))]
    pub participation: f64,
    /// Number of rounds.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub rounds: usize,
    /// Federated method.
    pub method: MethodName,
    /// Aggregation of Stiefel matrices.
    pub aggregation: Aggregation,
    /// Weights of clients in the average.
    pub weights: Weighting,
    /// Local epochs per round: a number, or a table by client such as `{ default = 2, a = 5 }`.
    pub epochs_local: EpochsLocal,
    /// Whether clients keep the moments of their optimisers between rounds.
    pub carry_state: bool,
    /// Weight of the proximal term of `fedprox`, which keeps a client near the model it received.
    /// A weight above 0 selects `fedprox`.
    #[schemars(range(min = 0))]
    pub prox_mu: f64,
    /// Momentum of the server, for `rl-avg` only.
    #[schemars(extend("minimum" = 0, "exclusiveMaximum" = 1))]
    pub server_momentum: f64,
    /// Step size of the server. Values other than 1 are for `rl-avg` only.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub server_lr: f64,
    /// Reaction to a client that fails or sends a NaN or an update off the manifold.
    pub on_client_failure: OnFailure,
}

impl Default for Federated {
    fn default() -> Self {
        Self {
            clients: Clients::default(),
            subjects_per_client: 2,
            participation: 1.0,
            rounds: 150,
            method: MethodName::default(),
            aggregation: Aggregation::default(),
            weights: Weighting::default(),
            epochs_local: EpochsLocal::default(),
            carry_state: false,
            prox_mu: 0.0,
            server_momentum: 0.0,
            server_lr: 1.0,
            on_client_failure: OnFailure::default(),
        }
    }
}

impl Federated {
    /// The method. Older configurations select `fedprox` by its weight alone.
    pub fn resolved_method(&self) -> MethodName {
        match self.method {
            MethodName::Fedavg if self.prox_mu > 0.0 => MethodName::Fedprox,
            method => method,
        }
    }

    pub(crate) fn check(&self) -> Result<(), Conflict> {
        self.clients.check()?;
        self.check_epochs_local()?;
        if self.method == MethodName::Fedprox && self.prox_mu == 0.0 {
            let found = "`federated.method` is \"fedprox\"".to_owned();
            let rule = "`federated.prox_mu`, the weight of its proximal term, is 0";
            let hint = "try `federated.prox_mu = 0.01`, or use `federated.method = \"fedavg\"`";
            return Err(Conflict::new(&["federated", "method"], found, rule).hint(hint));
        }
        if self.aggregation == Aggregation::RlAvg {
            return Ok(());
        }
        let rule = "the server uses momentum and step size only with the aggregation \"rl-avg\"";
        let hint = "use `federated.aggregation = \"rl-avg\"`";
        if self.server_momentum > 0.0 {
            let found = format!("`federated.server_momentum` is {}", self.server_momentum);
            return Err(Conflict::new(&["federated", "server_momentum"], found, rule).hint(hint));
        }
        if self.server_lr != 1.0 {
            let found = format!("`federated.server_lr` is {}", self.server_lr);
            return Err(Conflict::new(&["federated", "server_lr"], found, rule).hint(hint));
        }
        Ok(())
    }

    /// Checks names of clients against a table of clients, which finds misspelt ones.
    fn check_epochs_local(&self) -> Result<(), Conflict> {
        let Clients::Explicit(map) = &self.clients else { return Ok(()) };
        let Some(name) = self.epochs_local.clients.keys().find(|name| !map.contains_key(*name)) else {
            return Ok(());
        };
        let names = map.keys().map(String::as_str);
        let all = names.clone().collect::<Vec<_>>().join(", ");
        let hint = match nearest(name, names) {
            Some(meant) => format!("did you mean `{meant}`? the clients are {all}"),
            None => format!("the clients are {all}"),
        };
        let found = format!("`{}` is set", key_path("federated.epochs_local", name));
        let rule = "`federated.clients` has no client of that name";
        Err(Conflict::new(&["federated", "epochs_local", name], found, rule).hint(hint))
    }
}
