//! A TOML document in which each value holds its origin: a place in the file, or an override.

use std::collections::BTreeMap;

use serde_json::Value;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::{SourceLocation, SpecError, SpecFault};

/// Where a value was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ValueOrigin {
    /// Byte offset in the file.
    File(usize),
    /// Index of the override.
    Set(usize),
}

/// A value of the document and its origin.
#[derive(Clone, Debug)]
pub(super) struct DocumentNode {
    pub data: NodeData,
    pub at: ValueOrigin,
}

#[derive(Clone, Debug)]
pub(super) enum NodeData {
    Table(BTreeMap<String, TableEntry>),
    Array(Vec<DocumentNode>),
    Text(String),
    Integer(i64),
    Float(f64),
    Boolean(bool),
    /// A value that no key takes, such as a date or an integer beyond 64 bits; its description with article.
    Other(&'static str),
}

/// A value of a table and the origin of its key.
#[derive(Clone, Debug)]
pub(super) struct TableEntry {
    pub key_at: ValueOrigin,
    pub node: DocumentNode,
}

impl DocumentNode {
    /// Parses a whole document, or returns all syntax errors. `origin` converts byte offsets to origins.
    pub fn parse(
        text: &str,
        origin: &dyn Fn(usize) -> ValueOrigin,
    ) -> Result<Self, Vec<(ValueOrigin, String)>> {
        let (table, errors) = DeTable::parse_recoverable(text);
        if !errors.is_empty() {
            let fault = |error: &toml::de::Error| {
                let start = error.span().map_or(0, |span| span.start);
                (origin(start), error.message().replace('\n', "; "))
            };
            return Err(errors.iter().map(fault).collect());
        }
        Ok(DocumentNode {
            at: origin(0),
            data: table_data(table.get_ref(), origin),
        })
    }

    /// Value of a table at `key`, or of an array at the index `key`.
    pub fn get(&self, key: &str) -> Option<&DocumentNode> {
        match &self.data {
            NodeData::Table(table) => table.get(key).map(|entry| &entry.node),
            NodeData::Array(items) => items.get(key.parse::<usize>().ok()?),
            _ => None,
        }
    }

    /// String at `key`.
    pub fn text(&self, key: &str) -> Option<&str> {
        match &self.get(key)?.data {
            NodeData::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Follows `path` (keys and indices joined by dots) as far as it exists. Returns the origin there, and the
    /// path with names of entries in place of indices, for messages.
    pub fn locate(&self, path: &str) -> (ValueOrigin, String) {
        let (mut node, mut at, mut shown) = (Some(self), self.at, Vec::new());
        for key in path.split('.') {
            let next = node.and_then(|node| node.get(key));
            let named = matches!(node.map(|node| &node.data), Some(NodeData::Array(_)));
            shown.push(match next.and_then(|next| next.text("name")) {
                Some(name) if named => name.to_owned(),
                _ => key.to_owned(),
            });
            at = next.map_or(at, |next| next.at);
            node = next;
        }
        (at, shown.join("."))
    }

    /// Description of the value for messages, with article.
    pub fn kind(&self) -> String {
        match &self.data {
            NodeData::Table(_) => "a table".to_owned(),
            NodeData::Array(_) => "an array".to_owned(),
            NodeData::Text(text) => format!("the string \"{text}\""),
            NodeData::Integer(value) => format!("the integer {value}"),
            NodeData::Float(value) => format!("the number {value}"),
            NodeData::Boolean(value) => format!("the boolean {value}"),
            NodeData::Other(kind) => (*kind).to_owned(),
        }
    }

    /// The document as JSON, for serde. Values that JSON cannot hold become null.
    pub fn to_json(&self) -> Value {
        match &self.data {
            NodeData::Table(table) => table
                .iter()
                .map(|(key, entry)| (key.clone(), entry.node.to_json()))
                .collect(),
            NodeData::Array(items) => items.iter().map(DocumentNode::to_json).collect(),
            NodeData::Text(text) => Value::from(text.as_str()),
            NodeData::Integer(value) => Value::from(*value),
            NodeData::Float(value) => Value::from(*value),
            NodeData::Boolean(value) => Value::from(*value),
            NodeData::Other(_) => Value::Null,
        }
    }
}

fn table_data(table: &DeTable<'_>, origin: &dyn Fn(usize) -> ValueOrigin) -> NodeData {
    let entries = table.iter().map(|(key, value)| {
        let entry = TableEntry {
            key_at: origin(key.span().start),
            node: node(value, origin),
        };
        (key.get_ref().to_string(), entry)
    });
    NodeData::Table(entries.collect())
}

fn node(value: &Spanned<DeValue<'_>>, origin: &dyn Fn(usize) -> ValueOrigin) -> DocumentNode {
    let data = match value.get_ref() {
        DeValue::Table(table) => table_data(table, origin),
        DeValue::Array(items) => {
            NodeData::Array(items.iter().map(|item| node(item, origin)).collect())
        }
        DeValue::String(text) => NodeData::Text(text.to_string()),
        DeValue::Integer(text) => match i64::from_str_radix(text.as_str(), text.radix()) {
            Ok(value) => NodeData::Integer(value),
            Err(_) => NodeData::Other("an integer beyond 64 bits"),
        },
        DeValue::Float(text) => match text.as_str().parse() {
            Ok(value) => NodeData::Float(value),
            Err(_) => NodeData::Other("a number that cannot be read"),
        },
        DeValue::Boolean(value) => NodeData::Boolean(*value),
        DeValue::Datetime(_) => NodeData::Other("a date or time"),
    };
    DocumentNode {
        data,
        at: origin(value.span().start),
    }
}

/// The texts that origins refer to.
pub(super) struct SourceTexts<'a> {
    /// Name of the file in messages.
    pub name: &'a str,
    /// Text of the file.
    pub text: &'a str,
    /// Overrides, `key=value`.
    pub sets: &'a [String],
}

impl SourceTexts<'_> {
    /// The error for a fault at an origin.
    pub fn error(
        &self,
        at: ValueOrigin,
        path: impl Into<String>,
        fault: impl Into<SpecFault>,
    ) -> SpecError {
        let location = match at {
            ValueOrigin::Set(index) => SourceLocation::Set(self.sets[index].clone()),
            ValueOrigin::File(byte) => {
                // The offset of a fault at the end of the text may lie after it or inside a character.
                let before = &self.text.as_bytes()[..byte.min(self.text.len())];
                let line_start = before
                    .iter()
                    .rposition(|b| *b == b'\n')
                    .map_or(0, |n| n + 1);
                SourceLocation::File {
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
            location,
            path: path.into(),
            fault: fault.into(),
        }
    }
}
