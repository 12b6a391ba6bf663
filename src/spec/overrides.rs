//! Applies scales and `--set` overrides to a document.

use std::collections::BTreeMap;

use super::document::{DocumentNode, NodeData, SourceTexts, TableEntry, ValueOrigin};
use super::error::{Hint, MAX_REPORTED, SpecError, SpecFault};
use super::schema::SchemaRule;

/// Greatest number of keys in a path, as documents are walked by recursion.
const MAX_PATH_KEYS: usize = 32;

type LocatedErrors = Vec<(ValueOrigin, SpecError)>;

/// Removes `scale` and `scales` from the document, applies the chosen scale, then the overrides.
pub(super) fn apply(document: &mut DocumentNode, sources: &SourceTexts<'_>) -> LocatedErrors {
    let mut errors = LocatedErrors::new();
    let mut changes = Vec::new();
    let NodeData::Table(root) = &mut document.data else {
        unreachable!("a document is a table");
    };
    let scales = root.remove("scales").map(|entry| entry.node);
    let mut scale = root.remove("scale").map(|entry| entry.node);
    for (index, text) in sources.sets.iter().enumerate() {
        let at = ValueOrigin::Set(index);
        match text.split_once('=') {
            Some((key, value)) if key.trim() == "scale" => scale = Some(parse_value(value, at)),
            Some((key, value)) if !key.trim().is_empty() => {
                changes.push((key.trim().to_owned(), at, parse_value(value, at)));
            }
            _ => errors.push((at, sources.error(at, "", SpecFault::NotKeyValue))),
        }
    }
    for (path, entry) in scale_changes(scale, scales, sources, &mut errors) {
        merge_value(
            document,
            &path,
            entry.key_at,
            entry.node,
            sources,
            &mut errors,
        );
    }
    for (path, at, value) in changes {
        merge_value(document, &path, at, value, sources, &mut errors);
    }
    errors
}

/// A TOML value, or else a string, so that strings need no quotes in a shell.
fn parse_value(text: &str, at: ValueOrigin) -> DocumentNode {
    let parsed = DocumentNode::parse(&format!("v = {text}"), &|_| at).map(|node| node.data);
    let data = match parsed {
        Ok(NodeData::Table(mut table)) if table.len() == 1 => table.remove("v"),
        _ => None,
    };
    data.map_or_else(
        || DocumentNode {
            data: NodeData::Text(text.trim().to_owned()),
            at,
        },
        |entry| entry.node,
    )
}

/// Paths and values of the chosen scale.
fn scale_changes(
    scale: Option<DocumentNode>,
    scales: Option<DocumentNode>,
    sources: &SourceTexts<'_>,
    errors: &mut LocatedErrors,
) -> BTreeMap<String, TableEntry> {
    let mut wrong_type = |node: &DocumentNode, path: &str, expected: &str| {
        let fault = SpecFault::WrongType {
            found: node.kind(),
            expected: expected.to_owned(),
        };
        errors.push((node.at, sources.error(node.at, path, fault)));
        BTreeMap::new()
    };
    let mut tables = match scales.map(|node| (node.at, node.data)) {
        None => BTreeMap::new(),
        Some((_, NodeData::Table(tables))) => tables,
        Some((at, data)) => {
            let node = DocumentNode { data, at };
            return wrong_type(&node, "scales", "a table of tables, [scales.NAME]");
        }
    };
    let name = match scale.as_ref().map(|scale| &scale.data) {
        None => "default",
        Some(NodeData::Text(name)) => name,
        Some(_) => {
            let scale = scale.expect("matched");
            return wrong_type(&scale, "scale", "the name of a scale");
        }
    };
    match (tables.remove(name).map(|entry| entry.node), scale.as_ref()) {
        (None, Some(scale)) if name != "default" => {
            let names = tables.keys().map(String::as_str);
            let others = names.filter(|name| *name != "default");
            let fault = SpecFault::UnknownName {
                what: "scale",
                name: name.to_owned(),
                hint: Hint::new(name, std::iter::once("default").chain(others), "scale"),
            };
            errors.push((scale.at, sources.error(scale.at, "scale", fault)));
            BTreeMap::new()
        }
        (None, _) => BTreeMap::new(),
        (Some(node), _) => match node.data {
            NodeData::Table(changes) => changes,
            _ => wrong_type(
                &node,
                &format!("scales.{name}"),
                "a table of key paths and values",
            ),
        },
    }
}

/// Sets the value at a path. Tables are merged key by key, except those with a key `type`.
fn merge_value(
    document: &mut DocumentNode,
    path: &str,
    key_at: ValueOrigin,
    value: DocumentNode,
    sources: &SourceTexts<'_>,
    errors: &mut LocatedErrors,
) {
    match value.data {
        NodeData::Table(table) if !table.contains_key("type") => {
            for (key, entry) in table {
                let path = format!("{path}.{key}");
                merge_value(document, &path, entry.key_at, entry.node, sources, errors);
            }
        }
        _ => {
            let result = set_value(document, path, key_at, value);
            // One more than is reported, to know that there are more.
            if let Err(fault) = result
                && errors.len() <= MAX_REPORTED
            {
                let path = match fault {
                    SpecFault::TooDeep { .. } => "",
                    _ => path,
                };
                errors.push((key_at, sources.error(key_at, path, fault)));
            }
        }
    }
}

/// Sets one value and creates the tables around it. Unknown keys are found later, when the document is checked.
fn set_value(
    document: &mut DocumentNode,
    path: &str,
    key_at: ValueOrigin,
    value: DocumentNode,
) -> Result<(), SpecFault> {
    let found = path.split('.').count();
    if found > MAX_PATH_KEYS {
        let most = MAX_PATH_KEYS;
        return Err(SpecFault::TooDeep { found, most });
    }
    if let Some((list, rest)) = path.split_once('.')
        && document.get(list).is_none()
        && let Some(what) = list_name(list)
    {
        return Err(SpecFault::UnknownName {
            what,
            name: rest.split('.').next().unwrap_or_default().to_owned(),
            hint: Hint::new("", [], &format!("[[{what}]] in this file")),
        });
    }
    let mut node = document;
    let mut list = "";
    for key in path.split('.') {
        let before = std::mem::replace(&mut list, key);
        if !matches!(node.data, NodeData::Array(_) | NodeData::Table(_)) {
            return Err(SpecFault::WrongType {
                found: node.kind(),
                expected: format!("a table with a key `{key}`"),
            });
        }
        node = match &mut node.data {
            NodeData::Array(items) => {
                let named = items.iter().position(|item| item.text("name") == Some(key));
                let index = named.or_else(|| key.parse().ok().filter(|at| *at < items.len()));
                match index {
                    Some(index) => &mut items[index],
                    None => {
                        let names: Vec<&str> =
                            items.iter().filter_map(|item| item.text("name")).collect();
                        return Err(SpecFault::UnknownName {
                            what: list_name(before).unwrap_or("entry"),
                            name: key.to_owned(),
                            hint: Hint::new(key, names, "such name"),
                        });
                    }
                }
            }
            NodeData::Table(table) => {
                &mut table
                    .entry(key.to_owned())
                    .or_insert_with(|| TableEntry {
                        key_at,
                        node: DocumentNode {
                            data: NodeData::Table(BTreeMap::new()),
                            at: key_at,
                        },
                    })
                    .node
            }
            _ => unreachable!("refused above"),
        };
    }
    *node = value;
    Ok(())
}

/// The name of a list at the top level of the file, if `key` is one.
fn list_name(key: &str) -> Option<&'static str> {
    let fields = SchemaRule::root().fields().expect("the file is a table");
    let (name, field) = fields.get_key_value(key)?;
    (SchemaRule::of(field).text("type") == Some("array")).then_some(name)
}
