//! The file that `fedspd new` writes.

const TEMPLATE: &str = include_str!("template.toml");

/// Returns a commented file with every key and its default, for an experiment of this name.
pub fn template(name: &str) -> String {
    // The name is part of a comment, so it must not contain a line break.
    let name: String = name.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    TEMPLATE.replace("NAME", &name)
}
