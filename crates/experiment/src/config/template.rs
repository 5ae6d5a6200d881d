//! The file that `fedspd new` writes.

const TEMPLATE: &str = include_str!("template.toml");

/// A commented file with every key and its default, for an experiment of this name.
pub fn template(name: &str) -> String {
    // The name stands in comments, which end with the line.
    let name: String = name.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    TEMPLATE.replace("NAME", &name)
}
