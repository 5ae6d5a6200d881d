//! Rules for single values: known keys, types, choices and ranges. They come from the JSON Schema
//! of the types, so editors and the parser apply the same rules.

use fedspd_eeg::dataset::Selection;
use fedspd_eeg::{Estimator, nearest};
use serde_json::Value as Json;
use toml::Value;

use super::covariance::ESTIMATORS;
use super::data::unknown_source;
use super::error::ConfigError;
use super::seeds::Seeds;
use super::source::Source;
use super::tree::{Kind, Node, item_path, key_path};

/// The rules of a schema.
pub(crate) struct Rules {
    schema: Json,
}

impl Rules {
    pub(crate) fn new(schema: Json) -> Self {
        Self { schema }
    }

    /// Checks a whole configuration.
    ///
    /// # Errors
    /// The first fault, in the order of the file; a missing key after all others.
    pub(crate) fn check(&self, root: &Node, file: &str) -> Result<(), ConfigError> {
        self.check_form(&self.schema, root, "")?;
        check_required(&self.schema, Some(root), "", file)
    }

    /// Whether the value at a path must be text.
    pub(crate) fn wants_text(&self, path: &[String]) -> bool {
        let mut schema = &self.schema;
        for step in path {
            match schema.get("properties").and_then(|keys| keys.get(step)) {
                Some(next) => schema = next,
                None => return false,
            }
        }
        forms(schema).iter().all(|form| types(form) == ["string"])
    }

    fn check_value(&self, schema: &Json, node: &Node, path: &str) -> Result<(), ConfigError> {
        let forms = forms(schema);
        if let Some(form) = forms.iter().find(|form| accepts(form, node)) {
            return self.check_form(form, node, path);
        }
        let expected = forms.iter().map(|form| describe(form)).collect::<Vec<_>>().join(", or ");
        Err(refusal(node, path, expected, rewritten(&forms, node, path)))
    }

    /// Checks a value of the right type.
    fn check_form(&self, form: &Json, node: &Node, path: &str) -> Result<(), ConfigError> {
        match &node.value {
            Kind::Table(_) => self.check_table(form, node, path)?,
            Kind::Array(items) => {
                if let Some(item) = form.get("items") {
                    for (index, node) in items.iter().enumerate() {
                        self.check_value(item, node, &item_path(path, index))?;
                    }
                }
            }
            Kind::Leaf(Value::Integer(number)) => check_range(form, node, path, *number as f64)?,
            Kind::Leaf(Value::Float(number)) => check_range(form, node, path, *number)?,
            Kind::Leaf(Value::String(text)) => check_choice(form, node, path, text)?,
            Kind::Leaf(_) => {}
        }
        check_format(form, node, path)?;
        check_length(form, node, path)
    }

    fn check_table(&self, form: &Json, node: &Node, path: &str) -> Result<(), ConfigError> {
        let Kind::Table(entries) = &node.value else { return Ok(()) };
        for entry in entries {
            let key = key_path(path, &entry.key);
            let schema = form.get("properties").and_then(|keys| keys.get(&entry.key));
            let others = form.get("additionalProperties").filter(|schema| schema.is_object());
            let Some(schema) = schema.or(others) else {
                let choices = names(form);
                return Err(ConfigError::UnknownKey {
                    key,
                    place: Box::new(entry.place.clone()),
                    nearest: self.meant(&entry.key, &choices),
                    table: path.to_owned(),
                    choices,
                });
            };
            self.check_value(schema, &entry.node, &key)?;
        }
        Ok(())
    }

    /// Suggests a key: a similar one of this table, the same one of another table, or a similar one
    /// of another table.
    fn meant(&self, word: &str, choices: &[String]) -> Option<String> {
        let mut all = Vec::new();
        collect_keys(&self.schema, "", &mut all);
        let leaf = |path: &str| path.rsplit('.').next().unwrap_or(path).to_owned();
        let near = |choices: &[String]| nearest(word, choices.iter().map(String::as_str)).map(str::to_owned);
        let elsewhere = || all.iter().find(|path| leaf(path) == word).cloned();
        let alike = || {
            let leaves: Vec<_> = all.iter().map(|path| leaf(path)).collect();
            let meant = near(&leaves)?;
            leaves.iter().position(|leaf| *leaf == meant).map(|index| all[index].clone())
        };
        near(choices).or_else(elsewhere).or_else(alike)
    }
}

/// Returns the allowed forms of a value.
fn forms(schema: &Json) -> Vec<&Json> {
    match schema.get("anyOf").and_then(Json::as_array) {
        Some(list) => list.iter().flat_map(forms).collect(),
        None => vec![schema],
    }
}

/// Returns the choices of a form.
fn choices(form: &Json) -> Vec<String> {
    let word = |value: &Json| value.as_str().map(str::to_owned);
    if let Some(words) = form.get("enum").and_then(Json::as_array) {
        return words.iter().filter_map(word).collect();
    }
    let variants = form.get("oneOf").and_then(Json::as_array).into_iter().flatten();
    variants.filter_map(|variant| variant.get("const").and_then(word)).collect()
}

fn types(form: &Json) -> Vec<&str> {
    match form.get("type") {
        Some(Json::String(name)) => vec![name],
        Some(Json::Array(names)) => names.iter().filter_map(Json::as_str).collect(),
        _ if !choices(form).is_empty() => vec!["string"],
        _ => Vec::new(),
    }
}

fn accepts(form: &Json, node: &Node) -> bool {
    let types = types(form);
    let any = |names: &[&str]| names.iter().any(|name| types.contains(name));
    match &node.value {
        Kind::Table(_) => any(&["object"]),
        Kind::Array(_) => any(&["array"]),
        Kind::Leaf(Value::String(_)) => any(&["string"]),
        Kind::Leaf(Value::Integer(_)) => any(&["integer", "number"]),
        Kind::Leaf(Value::Float(_)) => any(&["number"]),
        Kind::Leaf(Value::Boolean(_)) => any(&["boolean"]),
        Kind::Leaf(_) => false,
    }
}

fn names(form: &Json) -> Vec<String> {
    let keys = form.get("properties").and_then(Json::as_object).into_iter().flatten();
    keys.map(|(key, _)| key.clone()).collect()
}

fn collect_keys(schema: &Json, path: &str, all: &mut Vec<String>) {
    for (key, schema) in schema.get("properties").and_then(Json::as_object).into_iter().flatten() {
        let path = key_path(path, key);
        collect_keys(schema, &path, all);
        all.push(path);
    }
}

fn refusal(node: &Node, path: &str, expected: String, hint: Option<String>) -> ConfigError {
    ConfigError::Value {
        key: path.to_owned(),
        value: node.shown.clone(),
        place: Box::new(node.place.clone()),
        expected,
        hint,
    }
}

/// Checks the range of a number. TOML allows NaN and infinities, but no key does.
fn check_range(form: &Json, node: &Node, path: &str, number: f64) -> Result<(), ConfigError> {
    let limit = |name: &str| form.get(name).and_then(Json::as_f64);
    let inside = number.is_finite()
        && limit("minimum").is_none_or(|limit| number >= limit)
        && limit("exclusiveMinimum").is_none_or(|limit| number > limit)
        && limit("maximum").is_none_or(|limit| number <= limit)
        && limit("exclusiveMaximum").is_none_or(|limit| number < limit);
    if inside { Ok(()) } else { Err(refusal(node, path, describe(form), None)) }
}

fn check_choice(form: &Json, node: &Node, path: &str, text: &str) -> Result<(), ConfigError> {
    let choices = choices(form);
    if choices.is_empty() || choices.iter().any(|choice| choice == text) {
        return Ok(());
    }
    Err(unknown_value(node, path, text, choices))
}

fn unknown_value(node: &Node, path: &str, text: &str, choices: Vec<String>) -> ConfigError {
    ConfigError::UnknownValue {
        key: path.to_owned(),
        value: node.shown.clone(),
        place: Box::new(node.place.clone()),
        nearest: nearest(text, choices.iter().map(String::as_str)).map(str::to_owned),
        choices,
    }
}

/// Checks texts with a syntax of their own. Other formats are for editors.
fn check_format(form: &Json, node: &Node, path: &str) -> Result<(), ConfigError> {
    let format = form.get("format").and_then(Json::as_str);
    match (format, &node.value) {
        (Some("source"), Kind::Leaf(Value::String(name))) if Source::of_name(name).is_none() => {
            Err(unknown_source(path, name, node.shown.clone(), node.place.clone()))
        }
        (Some("selection"), Kind::Leaf(Value::String(text))) => match text.parse::<Selection>() {
            Ok(_) => Ok(()),
            Err(fault) => Err(refusal(node, path, "subjects such as \"1-10,12\"".to_owned(), Some(fault))),
        },
        (Some("estimator"), Kind::Leaf(Value::String(text))) if text.parse::<Estimator>().is_err() => {
            if text.starts_with("shrinkage:") {
                let expected = "\"shrinkage:S\" with a share S between 0 and 1".to_owned();
                return Err(refusal(node, path, expected, None));
            }
            Err(unknown_value(node, path, text, ESTIMATORS.map(str::to_owned).to_vec()))
        }
        (Some("seeds"), _) => {
            match node.to_value().try_into::<Seeds>().map_err(|error| error.message().to_owned()) {
                Ok(_) => Ok(()),
                Err(fault) => {
                    let expected = "seeds such as [0, 1, 2], \"0..3\" or 4".to_owned();
                    Err(refusal(node, path, expected, Some(fault)))
                }
            }
        }
        _ => Ok(()),
    }
}

fn check_length(form: &Json, node: &Node, path: &str) -> Result<(), ConfigError> {
    let Kind::Array(items) = &node.value else { return Ok(()) };
    let limit = |name: &str| form.get(name).and_then(Json::as_u64);
    let length = items.len() as u64;
    let inside = limit("minItems").is_none_or(|least| length >= least)
        && limit("maxItems").is_none_or(|most| length <= most);
    if inside { Ok(()) } else { Err(refusal(node, path, describe(form), None)) }
}

/// Checks required keys, including those of missing tables.
fn check_required(schema: &Json, node: Option<&Node>, path: &str, file: &str) -> Result<(), ConfigError> {
    for key in schema.get("required").and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str)
    {
        let path = key_path(path, key);
        let found = node.and_then(|node| node.find(&[key]));
        let Some(schema) = schema.get("properties").and_then(|keys| keys.get(key)) else { continue };
        if found.is_none() && types(schema) != ["object"] {
            let hint = (schema.get("format").and_then(Json::as_str) == Some("source")).then(|| {
                let names = Source::names().join(", ");
                format!("name the data: {names}, or the path of a .toml or .npz file")
            });
            return Err(ConfigError::Missing { key: path, file: file.to_owned(), hint });
        }
        check_required(schema, found, &path, file)?;
    }
    Ok(())
}

/// Describes the allowed values in words.
fn describe(form: &Json) -> String {
    let choices = choices(form);
    if !choices.is_empty() {
        let quoted: Vec<_> = choices.iter().map(|choice| format!("{choice:?}")).collect();
        return match quoted.split_last() {
            Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
            _ => quoted.concat(),
        };
    }
    let only = form.get("minimum").filter(|low| form.get("maximum") == Some(low));
    let one = |name: &&str| match *name {
        "string" => "text in quotes".to_owned(),
        "integer" if only.is_some() => only.map_or(String::new(), Json::to_string),
        "integer" => format!("a whole number{}", range(form)),
        "number" => format!("a number{}", range(form)),
        "boolean" => "true or false".to_owned(),
        "array" => format!("a list of {}", members(form)),
        _ => "a table".to_owned(),
    };
    types(form).iter().map(one).collect::<Vec<_>>().join(" or ")
}

/// Describes the members of a list in words.
fn members(form: &Json) -> String {
    let limit = |name: &str| form.get(name).and_then(Json::as_u64);
    let count = match (limit("minItems"), limit("maxItems")) {
        (Some(least), Some(most)) if least == most => format!("{least} "),
        _ => String::new(),
    };
    let Some(item) = form.get("items") else { return count + "values" };
    let one = |name: &&str| match *name {
        "string" => "texts in quotes".to_owned(),
        "integer" => format!("whole numbers{}", range(item)),
        "number" => format!("numbers{}", range(item)),
        "array" => format!("lists of {}", members(item)),
        _ => "tables".to_owned(),
    };
    count + &types(item).iter().map(one).collect::<Vec<_>>().join(" or ")
}

/// Describes a range in words, to follow a noun.
fn range(form: &Json) -> String {
    // Limits as the schema has them, because a 64-bit limit has more digits than a float.
    let limit = |name: &str| match form.get(name)? {
        Json::Number(number) if number.is_f64() => number.as_f64().map(|number| number.to_string()),
        number => Some(number.to_string()),
    };
    let low = limit("minimum").map(|low| (low, true)).or(limit("exclusiveMinimum").map(|low| (low, false)));
    let high =
        limit("maximum").map(|high| (high, true)).or(limit("exclusiveMaximum").map(|high| (high, false)));
    match (low, high) {
        (None, None) => String::new(),
        (Some((low, true)), None) => format!(" of at least {low}"),
        (Some((low, false)), None) => format!(" above {low}"),
        (None, Some((high, true))) => format!(" of at most {high}"),
        (None, Some((high, false))) => format!(" below {high}"),
        (Some((low, true)), Some((high, true))) => format!(" between {low} and {high}"),
        (Some((low, true)), Some((high, false))) => format!(" of at least {low} and below {high}"),
        (Some((low, false)), Some((high, true))) => format!(" above {low} and at most {high}"),
        (Some((low, false)), Some((high, false))) => format!(" above {low} and below {high}"),
    }
}

/// Suggests how to write a value of the wrong type, if the meaning is clear.
fn rewritten(forms: &[&Json], node: &Node, path: &str) -> Option<String> {
    let fits = |value: Value| {
        let node = Node::of_program(value);
        forms.iter().any(|form| accepts(form, &node))
    };
    match &node.value {
        Kind::Leaf(Value::String(text)) => {
            let inner = toml::from_str::<toml::Table>(&format!("value = {text}")).ok()?.remove("value")?;
            fits(inner).then(|| format!("write it without quotes: {text}"))
        }
        Kind::Leaf(Value::Float(number)) if number.fract() == 0.0 && fits(Value::Integer(0)) => {
            Some(format!("write it without a point: {number}"))
        }
        Kind::Leaf(Value::Integer(_) | Value::Float(_)) if fits(Value::Array(Vec::new())) => {
            let pairs = forms.iter().any(|form| form.get("minItems").is_some());
            match (pairs, path.ends_with(']')) {
                (true, true) => {
                    Some("write a single one in two pairs of brackets, as in [[8, 32]]".to_owned())
                }
                (true, false) => None,
                (false, _) => Some(format!("write it in brackets: [{}]", node.shown)),
            }
        }
        Kind::Leaf(_) if fits(Value::String(String::new())) => {
            let words = forms.iter().any(|form| !choices(form).is_empty());
            (!words).then(|| format!("write it in quotes: \"{}\"", node.shown))
        }
        Kind::Array(_) if node.shown == format!("[[{path}]]") => {
            Some(format!("write it in single brackets: [{path}]"))
        }
        _ => None,
    }
}
