//! The references of configurations and definitions are generated from the types via the JSON
//! Schema, in the order of the template or the example.

use std::fmt::Write;

use fedspd_eeg::Definition;
use fedspd_experiment::config::{Config, template};
use serde_json::Value;

use super::{page, root};

const HEAD: &str = "# Configuration

An experiment is one TOML file. Only `data.name` is required; every other key has the default shown
here. `fedspd new NAME` writes a file with all keys, and `--set KEY=VALUE` changes one key.
`fedspd new --schema` prints the JSON Schema, with which editors complete and check the file.

Paths in the file are relative to its folder. Paths of `--set` are relative to the working
directory. A run folder stores absolute paths.

This page is generated from the types of the program. To write it again, run
`FEDSPD_BLESS=1 cargo test -p fedspd --test book configuration`.
";

/// A definition with all keys; those that exclude others are commented out.
const EXAMPLE: &str = include_str!("definition.toml");

const DEFINITION_HEAD: &str = "# Dataset definition

A definition says where the recordings of a dataset are and how trials are cut from them. It is one
TOML file; [Your own data](own-data.md) explains how to write one. `fedspd data prepare FILE.toml`
converts its recordings, and `data.name = \"FILE.toml\"` uses it in an experiment. Files lie beside
the definition, or in the folder given by `--root` or `data.root`.

Ids of sessions, runs and excluded subjects are texts or whole numbers. A whole number stands for its
plain decimal text: `4` is \"4\", not \"04\". A placeholder with a width, such as `{run:2}`, yields such
plain numbers: the file `R04.edf` is run 4.

This page is generated from the types of the program. To write it again, run
`FEDSPD_BLESS=1 cargo test -p fedspd --test book definition`.

An example with every key:
";

#[test]
fn the_configuration_is_up_to_date() {
    is_up_to_date("configuration.md", reference());
}

#[test]
fn the_definition_is_up_to_date() {
    is_up_to_date("definition.md", definition_reference());
}

fn is_up_to_date(file: &str, made: String) {
    if std::env::var_os("FEDSPD_BLESS").is_some() {
        std::fs::write(root().join("docs/src").join(file), made).unwrap();
        return;
    }
    assert!(page(file) == made, "out of date: run this test with FEDSPD_BLESS=1");
}

fn reference() -> String {
    let (schema, template) = (Config::schema(), template("x"));
    let mut text = HEAD.to_owned();
    section(&mut text, &template, "", &schema);
    for (_, table) in tables(&template) {
        let value = table.split('.').fold(&schema, |value, step| &value["properties"][step]);
        write!(text, "\n## [{table}]\n\n{}\n", value["description"].as_str().unwrap()).unwrap();
        section(&mut text, &template, &table, value);
    }
    text
}

fn definition_reference() -> String {
    let schema = Definition::schema();
    let mut text = format!("{DEFINITION_HEAD}\n```toml\n{EXAMPLE}```\n\n## Top level\n");
    section(&mut text, EXAMPLE, "", &schema);
    for (header, table) in tables(EXAMPLE) {
        let item =
            |value: &Value| if value["items"].is_null() { value.clone() } else { value["items"].clone() };
        let key =
            table.split('.').fold(schema.clone(), |value, step| item(&value)["properties"][step].clone());
        write!(text, "\n## {header}\n\n{}\n", key["description"].as_str().unwrap()).unwrap();
        section(&mut text, EXAMPLE, &table, &item(&key));
    }
    text
}

/// The tables of a template in its order: the header, such as `[[events]]`, and the name.
fn tables(template: &str) -> Vec<(String, String)> {
    let headers = template.lines().filter(|line| line.starts_with('['));
    headers.map(|header| (header.to_owned(), table_name(header))).collect()
}

fn table_name(header: &str) -> String {
    header.trim_matches(['[', ']']).to_owned()
}

/// Writes the keys of a table in the order of the template, which must have all of them.
fn section(text: &mut String, template: &str, table: &str, value: &Value) {
    let properties = value["properties"].as_object().unwrap();
    let is_table = |value: &Value| !value["properties"].is_null() || !value["items"]["properties"].is_null();
    let simple = properties.iter().filter(|(_, value)| !is_table(value));
    let place = |key: &str| {
        let place = keys(template, table).iter().position(|found| found == key);
        place.unwrap_or_else(|| panic!("`{table}.{key}` is not in the template"))
    };
    let mut simple: Vec<_> = simple.map(|(key, value)| (place(key), key, value)).collect();
    simple.sort_unstable_by_key(|(place, ..)| *place);
    let required = value["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let required: Vec<&str> = required.collect();
    text.push('\n');
    for (_, key, value) in simple {
        let default = match &value["default"] {
            Value::Null if required.contains(&&**key) => " (required)".to_owned(),
            Value::Null => String::new(),
            default => format!(" = `{default}`"),
        };
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

/// Returns the keys of a table of a template, commented out or not.
fn keys(template: &str, table: &str) -> Vec<String> {
    let (mut here, mut keys) = (String::new(), Vec::new());
    for line in template.lines() {
        if line.starts_with('[') {
            here = table_name(line);
        } else if let Some((key, _)) = line.trim_start_matches("# ").split_once(" = ")
            && here == table
            && key.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
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
