//! A TOML document whose every value remembers where it was written: in the file or in an override.

use std::collections::BTreeMap;

use serde_json::Value;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::{Fault, Place, SpecError};

/// Where a value was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Origin {
    /// Byte of the file.
    File(usize),
    /// Index of the override.
    Set(usize),
}

/// A value.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub data: Data,
    pub at: Origin,
}

#[derive(Clone, Debug)]
pub(super) enum Data {
    Table(BTreeMap<String, Entry>),
    Array(Vec<Node>),
    Text(String),
    Integer(i64),
    Float(f64),
    Boolean(bool),
    /// A date or an integer beyond 64 bits, which nothing here takes.
    Other(&'static str),
}

/// A value of a table, and where its key was written.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub key_at: Origin,
    pub node: Node,
}

impl Node {
    /// Parses a whole document, or finds every place that is no TOML. `origin` makes origins of bytes.
    pub fn parse(
        text: &str,
        origin: &dyn Fn(usize) -> Origin,
    ) -> Result<Self, Vec<(Origin, String)>> {
        let (table, errors) = DeTable::parse_recoverable(text);
        if !errors.is_empty() {
            let fault = |error: &toml::de::Error| {
                let start = error.span().map_or(0, |span| span.start);
                (origin(start), error.message().replace('\n', "; "))
            };
            return Err(errors.iter().map(fault).collect());
        }
        Ok(Node {
            at: origin(0),
            data: table_data(table.get_ref(), origin),
        })
    }

    /// The table's value at `key`.
    pub fn get(&self, key: &str) -> Option<&Node> {
        match &self.data {
            Data::Table(table) => table.get(key).map(|entry| &entry.node),
            Data::Array(items) => items.get(key.parse::<usize>().ok()?),
            _ => None,
        }
    }

    /// The text at `key`.
    pub fn text(&self, key: &str) -> Option<&str> {
        match &self.get(key)?.data {
            Data::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Follows `path` (keys and indices, dots between) as far as it exists. Gives the origin there and the
    /// path in the user's terms, with names for indices.
    pub fn locate(&self, path: &str) -> (Origin, String) {
        let (mut node, mut at, mut shown) = (Some(self), self.at, Vec::new());
        for key in path.split('.') {
            let next = node.and_then(|node| node.get(key));
            let named = matches!(node.map(|node| &node.data), Some(Data::Array(_)));
            shown.push(match next.and_then(|next| next.text("name")) {
                Some(name) if named => name.to_owned(),
                _ => key.to_owned(),
            });
            at = next.map_or(at, |next| next.at);
            node = next;
        }
        (at, shown.join("."))
    }

    /// With article.
    pub fn kind(&self) -> String {
        match &self.data {
            Data::Table(_) => "a table".to_owned(),
            Data::Array(_) => "an array".to_owned(),
            Data::Text(text) => format!("the string \"{text}\""),
            Data::Integer(value) => format!("the integer {value}"),
            Data::Float(value) => format!("the number {value}"),
            Data::Boolean(value) => format!("the boolean {value}"),
            Data::Other(kind) => (*kind).to_owned(),
        }
    }

    /// For serde. Origins are lost; what JSON cannot hold becomes null.
    pub fn to_json(&self) -> Value {
        match &self.data {
            Data::Table(table) => table
                .iter()
                .map(|(key, entry)| (key.clone(), entry.node.to_json()))
                .collect(),
            Data::Array(items) => items.iter().map(Node::to_json).collect(),
            Data::Text(text) => Value::from(text.as_str()),
            Data::Integer(value) => Value::from(*value),
            Data::Float(value) => Value::from(*value),
            Data::Boolean(value) => Value::from(*value),
            Data::Other(_) => Value::Null,
        }
    }
}

fn table_data(table: &DeTable<'_>, origin: &dyn Fn(usize) -> Origin) -> Data {
    let entries = table.iter().map(|(key, value)| {
        let entry = Entry {
            key_at: origin(key.span().start),
            node: node(value, origin),
        };
        (key.get_ref().to_string(), entry)
    });
    Data::Table(entries.collect())
}

fn node(value: &Spanned<DeValue<'_>>, origin: &dyn Fn(usize) -> Origin) -> Node {
    let data = match value.get_ref() {
        DeValue::Table(table) => table_data(table, origin),
        DeValue::Array(items) => Data::Array(items.iter().map(|item| node(item, origin)).collect()),
        DeValue::String(text) => Data::Text(text.to_string()),
        DeValue::Integer(text) => match i64::from_str_radix(text.as_str(), text.radix()) {
            Ok(value) => Data::Integer(value),
            Err(_) => Data::Other("an integer beyond 64 bits"),
        },
        DeValue::Float(text) => match text.as_str().parse() {
            Ok(value) => Data::Float(value),
            Err(_) => Data::Other("a number that cannot be read"),
        },
        DeValue::Boolean(value) => Data::Boolean(*value),
        DeValue::Datetime(_) => Data::Other("a date or time"),
    };
    Node {
        data,
        at: origin(value.span().start),
    }
}

/// What origins refer to.
pub(super) struct Sources<'a> {
    /// Name of the file as messages give it.
    pub name: &'a str,
    /// Its text.
    pub text: &'a str,
    /// The overrides.
    pub sets: &'a [String],
}

impl Sources<'_> {
    /// The error of a fault at an origin.
    pub fn error(&self, at: Origin, path: impl Into<String>, fault: impl Into<Fault>) -> SpecError {
        let place = match at {
            Origin::Set(index) => Place::Set(self.sets[index].clone()),
            Origin::File(byte) => {
                // A fault at the end of the text may lie behind it or inside a character.
                let before = &self.text.as_bytes()[..byte.min(self.text.len())];
                let line_start = before
                    .iter()
                    .rposition(|b| *b == b'\n')
                    .map_or(0, |n| n + 1);
                Place::File {
                    file: self.name.to_owned(),
                    line: before.iter().filter(|byte| **byte == b'\n').count() + 1,
                    column: String::from_utf8_lossy(&before[line_start..])
                        .chars()
                        .count()
                        + 1,
                }
            }
        };
        SpecError {
            place,
            path: path.into(),
            fault: fault.into(),
        }
    }
}
