//! Keys without effect: settings that the value of another key switches off.
//!
//! A value of an override that has no effect is an error. A value of a file is an error if it
//! differs from its default, unless the deciding key comes from an override: presets have variants.
//! A resolved configuration lists every key and is exempt.

use toml::Value;

use super::clients::Clients;
use super::conflict::Conflict;
use super::place::Place;
use super::tree::Node;
use super::{AlignKind, Config, Mode, SchedulerKind};
use fedspd_nn::Input;

/// A key: its table and its name.
type Key = [&'static str; 2];

/// Keys of federated training.
const FEDERATED: &[Key] = &[
    ["federated", "participation"],
    ["federated", "rounds"],
    ["federated", "method"],
    ["federated", "aggregation"],
    ["federated", "weights"],
    ["federated", "epochs_local"],
    ["federated", "carry_state"],
    ["federated", "prox_mu"],
    ["federated", "server_momentum"],
    ["federated", "server_lr"],
];

/// Keys that resolved configurations of former versions lack.
const LATER: &[Key] = &[
    ["run", "select"],
    ["run", "validate_every"],
    ["split", "refit"],
    ["federated", "method"],
    ["align", "population"],
];

/// Keys that the value of another key switches off.
struct Idle {
    keys: &'static [Key],
    /// The deciding key.
    deciding: &'static [&'static str],
    /// Its value in words.
    with: String,
    /// Where the keys act.
    acts: &'static str,
}

impl Config {
    /// Checks that every key that was set has an effect.
    pub(super) fn check_effects(&self, root: &Node) -> Result<(), Conflict> {
        let (Ok(own), Ok(default)) = (Value::try_from(self), Value::try_from(Self::new(&*self.data.name)))
        else {
            return Ok(());
        };
        let resolved = is_resolved(root, &own);
        for Idle { keys, deciding, with, acts } in self.idle() {
            let varied = root.find(deciding).is_some_and(|node| is_override(&node.place));
            for key in keys {
                let Some(node) = root.find(key) else { continue };
                let same = value(&own, key) == value(&default, key);
                if is_override(&node.place) || !(resolved || varied || same) {
                    let found = format!("`{}` is {} with {with}", key.join("."), node.shown);
                    let hint = format!("remove it, or change `{}`", deciding.join("."));
                    return Err(Conflict::new(key, found, format!("it acts only {acts}")).hint(hint));
                }
            }
        }
        Ok(())
    }

    /// Returns the keys that have no effect here.
    fn idle(&self) -> Vec<Idle> {
        let mut idle = Vec::new();
        let mut add = |keys, deciding, with, acts| idle.push(Idle { keys, deciding, with, acts });
        let mode = format!("the mode \"{}\"", self.mode.name());
        if self.mode == Mode::Federated {
            const KEYS: &[Key] = &[["train", "epochs"], ["train", "early_stop"]];
            add(KEYS, &["mode"], mode, "in the modes \"centralised\" and \"local\"");
        } else {
            add(FEDERATED, &["mode"], mode, "in the mode \"federated\"");
        }
        if self.mode == Mode::Centralised {
            const KEYS: &[Key] = &[["federated", "on_client_failure"]];
            add(KEYS, &["mode"], format!("the mode \"{}\"", self.mode.name()), "with several clients");
        }
        if matches!(self.federated.clients, Clients::Explicit(_)) {
            const KEYS: &[Key] = &[["federated", "subjects_per_client"]];
            let with = "a table of clients".into();
            add(KEYS, &["federated", "clients"], with, "with clients that are \"fixed\" or \"shuffled\"");
        }
        let schedule = self.train.scheduler;
        let scheduled = || format!("the schedule \"{}\"", schedule.name());
        if schedule != SchedulerKind::Plateau {
            const KEYS: &[Key] = &[["train", "patience"], ["train", "factor"]];
            add(KEYS, &["train", "scheduler"], scheduled(), "with the schedule \"plateau\"");
        }
        if schedule != SchedulerKind::Cosine {
            const KEYS: &[Key] = &[["train", "final_share"]];
            add(KEYS, &["train", "scheduler"], scheduled(), "with the schedule \"cosine\"");
        }
        let model = format!("the model \"{}\"", self.model.kind.name());
        match self.model.kind.reads() {
            Input::Covariances => {
                const KEYS: &[Key] = &[["model", "fedbn"], ["model", "z_score"]];
                add(KEYS, &["model", "kind"], model, "with the model \"eegnet\"");
            }
            Input::Samples => {
                const KEYS: &[Key] = &[
                    ["model", "dims"],
                    ["model", "epsilon"],
                    ["model", "head"],
                    ["covariance", "estimator"],
                    ["covariance", "shrinkage"],
                    ["covariance", "windows"],
                    ["covariance", "bands"],
                    ["federated", "aggregation"],
                ];
                add(KEYS, &["model", "kind"], model, "with the model \"spdnet\"");
            }
        }
        let split = format!("the split \"{}\"", self.split.kind.name());
        if self.split.kind.has_folds() {
            const KEYS: &[Key] = &[["split", "train"], ["split", "val"], ["split", "test"]];
            add(KEYS, &["split", "kind"], split, "with the split \"stratified\"");
        } else {
            const KEYS: &[Key] = &[["split", "fold"], ["split", "folds"]];
            add(KEYS, &["split", "kind"], split, "with leave-out splits, such as \"leave-run-out\"");
        }
        if self.align.kind == AlignKind::None {
            const KEYS: &[Key] = &[["align", "fit"], ["align", "population"]];
            add(KEYS, &["align", "kind"], "no alignment".into(), "with an alignment");
            if !self.model.kind.has_statistics() {
                const KEYS: &[Key] = &[["align", "calibration"]];
                let acts = "with an alignment or a network with statistics";
                add(KEYS, &["align", "kind"], "no alignment".into(), acts);
            }
        }
        idle
    }
}

fn is_override(place: &Place) -> bool {
    matches!(place, Place::Override(_))
}

fn value<'a>(config: &'a Value, [table, key]: &Key) -> Option<&'a Value> {
    config.get(table)?.get(key)
}

/// Whether a configuration lists every key with a value, as the program writes it.
fn is_resolved(root: &Node, own: &Value) -> bool {
    let tables = own.as_table().into_iter().flatten();
    let mut keys = tables.flat_map(|(table, content)| {
        content.as_table().into_iter().flatten().map(move |(key, _)| [table.as_str(), key.as_str()])
    });
    keys.all(|key| LATER.contains(&key) || root.find(&key).is_some())
}
