//! Configurations that are part of the program, by name.

/// Name and text of each.
const BUILT_IN: [(&str, &str); 1] = [("sample", include_str!("../../../../presets/sample.toml"))];

/// The text of a built-in configuration.
pub fn builtin(name: &str) -> Option<&'static str> {
    BUILT_IN.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// The names of the built-in configurations.
pub fn builtin_names() -> Vec<&'static str> {
    BUILT_IN.iter().map(|(name, _)| *name).collect()
}
