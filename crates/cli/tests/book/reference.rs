//! The configuration reference is generated from the types via the JSON Schema, in the order of the
//! template.

use std::fmt::Write;

use fedspd_experiment::config::{Config, template};
use serde_json::Value;

use super::{page, root};

const HEAD: &str = "# Configuration

An experiment is one TOML file. Only `data.name` is required; every other key has the default shown
here. `fedspd new NAME` writes a file with all keys, and `--set KEY=VALUE` changes one key.
`fedspd new --schema` prints the JSON Schema, with which editors complete and check the file.

This page is generated from the types of the program. To write it again, run
`FEDSPD_BLESS=1 cargo test -p fedspd --test book configuration`.
";

#[test]
fn the_configuration_is_up_to_date() {
    let made = reference();
    if std::env::var_os("FEDSPD_BLESS").is_some() {
        std::fs::write(root().join("docs/src/configuration.md"), made).unwrap();
        return;
    }
    assert!(page("configuration.md") == made, "out of date: run this test with FEDSPD_BLESS=1");
}

fn reference() -> String {
    let schema = Config::schema();
    let mut text = HEAD.to_owned();
    section(&mut text, "", &schema);
    for table in tables() {
        let value = table.split('.').fold(&schema, |value, step| &value["properties"][step]);
        write!(text, "\n## [{table}]\n\n{}\n", value["description"].as_str().unwrap()).unwrap();
        section(&mut text, &table, value);
    }
    text
}

/// The tables in the order of the template.
fn tables() -> Vec<String> {
    let template = template("x");
    template.lines().filter_map(|line| Some(line.strip_prefix('[')?.strip_suffix(']')?.to_owned())).collect()
}

/// Writes the keys of a table in the order of the template, which must have all of them.
fn section(text: &mut String, table: &str, value: &Value) {
    let properties = value["properties"].as_object().unwrap();
    let simple = properties.iter().filter(|(_, value)| value["properties"].is_null());
    let place = |key: &str| {
        let place = keys(table).iter().position(|found| found == key);
        place.unwrap_or_else(|| panic!("`{table}.{key}` is not in the template"))
    };
    let mut simple: Vec<_> = simple.map(|(key, value)| (place(key), key, value)).collect();
    simple.sort_unstable_by_key(|(place, ..)| *place);
    text.push('\n');
    for (_, key, value) in simple {
        let default =
            if value["default"].is_null() { String::new() } else { format!(" = `{}`", value["default"]) };
        let description = value["description"].as_str().unwrap();
        item(text, "- ", &format!("**`{key}`**{default}: {description}{}", range(value)));
        for choice in value["oneOf"].as_array().into_iter().flatten() {
            let meaning = choice["description"].as_str().unwrap();
            item(text, "  - ", &format!("`{}`: {meaning}", choice["const"]));
        }
    }
}

/// Writes an item of a list, wrapped at 100 characters.
fn item(text: &mut String, mark: &str, content: &str) {
    let (mut line, hanging) = (mark.trim_end().to_owned(), " ".repeat(mark.len()));
    for word in content.split_whitespace() {
        if line.chars().count() + 1 + word.chars().count() > 100 {
            writeln!(text, "{line}").unwrap();
            line = format!("{hanging}{word}");
        } else {
            line = format!("{line} {word}");
        }
    }
    writeln!(text, "{line}").unwrap();
}

/// Returns the keys of a table of the template, commented out or not.
fn keys(table: &str) -> Vec<String> {
    let (template, mut here, mut keys) = (template("x"), String::new(), Vec::new());
    for line in template.lines() {
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            name.clone_into(&mut here);
        } else if let Some((key, _)) = line.trim_start_matches("# ").split_once(" = ")
            && here == table
            && key.chars().all(|letter| letter.is_ascii_lowercase() || letter == '_')
        {
            keys.push(key.to_owned());
        }
    }
    keys
}

/// Describes the range of a number in words.
fn range(value: &Value) -> String {
    let bound = |key: &str, words: &str| (!value[key].is_null()).then(|| format!("{words} {}", value[key]));
    let bounds = [
        bound("minimum", "at least"),
        bound("exclusiveMinimum", "more than"),
        bound("maximum", "at most"),
        bound("exclusiveMaximum", "less than"),
    ];
    let bounds: Vec<String> = bounds.into_iter().flatten().collect();
    if bounds.is_empty() { String::new() } else { format!(" ({})", bounds.join(", ")) }
}
