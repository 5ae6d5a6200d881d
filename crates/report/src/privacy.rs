//! Settings that may identify someone.

use toml::Value;

/// Keys whose values may name subjects, clients or paths.
pub(crate) const NAMING: [&str; 6] = [
    "data.subjects",
    "data.exclude",
    "data.root",
    "split.held_out_subjects",
    "federated.clients",
    "federated.epochs_local",
];

/// Returns whether the value of a key may name someone. A number or a word such as `fixed` names
/// nobody, nor does the name of a built-in dataset. A list, a selection or a path may.
pub(crate) fn may_name(key: &str, value: &Value) -> bool {
    if key == "data.name" {
        return value.as_str().is_some_and(|name| name.contains(['/', '\\']));
    }
    NAMING.contains(&key) && (value.is_table() || !key.starts_with("federated."))
}
