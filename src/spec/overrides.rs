//! Scales and `--set`: values that replace those of the file.

use std::collections::BTreeMap;

use super::document::{Data, Entry, Node, Origin, Sources};
use super::error::{Fault, Hint, SpecError};
use super::schema::Rule;

type Errors = Vec<(Origin, SpecError)>;

/// Takes `scale` and `scales` out of the document, applies the scale chosen, then the overrides.
pub(super) fn apply(document: &mut Node, sources: &Sources<'_>) -> Errors {
    let mut errors = Errors::new();
    let mut changes = Vec::new();
    let Data::Table(root) = &mut document.data else {
        unreachable!("a document is a table");
    };
    let scales = root.remove("scales").map(|entry| entry.node);
    let mut scale = root.remove("scale").map(|entry| entry.node);
    for (index, text) in sources.sets.iter().enumerate() {
        let at = Origin::Set(index);
        match text.split_once('=') {
            Some((key, value)) if key.trim() == "scale" => scale = Some(parse_value(value, at)),
            Some((key, value)) if !key.trim().is_empty() => {
                changes.push((key.trim().to_owned(), at, parse_value(value, at)));
            }
            _ => errors.push((at, sources.error(at, "", Fault::NoValue))),
        }
    }
    match chosen(scale, scales, sources) {
        Ok(of_scale) => {
            for (path, entry) in of_scale {
                put(
                    document,
                    &path,
                    entry.key_at,
                    entry.node,
                    sources,
                    &mut errors,
                );
            }
        }
        Err(error) => errors.push(error),
    }
    for (path, at, value) in changes {
        put(document, &path, at, value, sources, &mut errors);
    }
    errors
}

/// A TOML value, or else a string: shells make quotes a nuisance.
fn parse_value(text: &str, at: Origin) -> Node {
    let parsed = Node::parse(&format!("v = {text}"), &|_| at).map(|node| node.data);
    let data = match parsed {
        Ok(Data::Table(mut table)) if table.len() == 1 => table.remove("v"),
        _ => None,
    };
    data.map_or_else(
        || Node {
            data: Data::Text(text.trim().to_owned()),
            at,
        },
        |entry| entry.node,
    )
}

/// The changes of the scale chosen.
fn chosen(
    scale: Option<Node>,
    scales: Option<Node>,
    sources: &Sources<'_>,
) -> Result<BTreeMap<String, Entry>, (Origin, SpecError)> {
    let wrong = |node: &Node, path: &str, wanted: &str| {
        let fault = Fault::WrongType {
            found: node.kind(),
            wanted: wanted.to_owned(),
        };
        (node.at, sources.error(node.at, path, fault))
    };
    let mut tables = match scales {
        None => BTreeMap::new(),
        Some(Node {
            data: Data::Table(tables),
            ..
        }) => tables,
        Some(node) => return Err(wrong(&node, "scales", "a table of tables, [scales.NAME],")),
    };
    let Some(scale) = scale else {
        return Ok(take(&mut tables, "default", &wrong)?.unwrap_or_default());
    };
    let Data::Text(name) = &scale.data else {
        return Err(wrong(&scale, "scale", "the name of a scale"));
    };
    if let Some(changes) = take(&mut tables, name, &wrong)? {
        return Ok(changes);
    }
    if name == "default" {
        return Ok(BTreeMap::new());
    }
    let names = tables.keys().map(String::as_str);
    let fault = Fault::UnknownName {
        what: "scale",
        name: name.clone(),
        hint: Hint::list(std::iter::once("default").chain(names.filter(|name| *name != "default"))),
    };
    Err((scale.at, sources.error(scale.at, "scale", fault)))
}

fn take<E>(
    tables: &mut BTreeMap<String, Entry>,
    name: &str,
    wrong: &dyn Fn(&Node, &str, &str) -> E,
) -> Result<Option<BTreeMap<String, Entry>>, E> {
    match tables.remove(name).map(|entry| entry.node) {
        None => Ok(None),
        Some(Node {
            data: Data::Table(changes),
            ..
        }) => Ok(Some(changes)),
        Some(node) => Err(wrong(
            &node,
            &format!("scales.{name}"),
            "a table of key paths and values",
        )),
    }
}

/// Puts a value at a path. Tables are merged key by key, except those that bring a `type` of their own.
fn put(
    document: &mut Node,
    path: &str,
    key_at: Origin,
    value: Node,
    sources: &Sources<'_>,
    errors: &mut Errors,
) {
    match value.data {
        Data::Table(table) if !table.contains_key("type") => {
            for (key, entry) in table {
                let path = format!("{path}.{key}");
                put(document, &path, entry.key_at, entry.node, sources, errors);
            }
        }
        _ => {
            if let Err(fault) = set(document, path, key_at, value) {
                errors.push((key_at, sources.error(key_at, path, fault)));
            }
        }
    }
}

/// Sets one value, making tables on the way; a key that should not be there is found when the document is checked.
fn set(document: &mut Node, path: &str, key_at: Origin, value: Node) -> Result<(), Fault> {
    if let Some((list, rest)) = path.split_once('.')
        && document.get(list).is_none()
        && let Some(what) = list_name(list)
    {
        return Err(Fault::UnknownName {
            what,
            name: rest.split('.').next().unwrap_or_default().to_owned(),
            hint: Hint::new("", [], &format!("[[{what}]] in this file")),
        });
    }
    let mut node = document;
    let mut list = "";
    for key in path.split('.') {
        let before = std::mem::replace(&mut list, key);
        if !matches!(node.data, Data::Array(_) | Data::Table(_)) {
            return Err(Fault::WrongType {
                found: node.kind(),
                wanted: format!("a table with a key `{key}`"),
            });
        }
        node = match &mut node.data {
            Data::Array(items) => {
                let named = items.iter().position(|item| item.text("name") == Some(key));
                let index = named.or_else(|| key.parse().ok().filter(|at| *at < items.len()));
                match index {
                    Some(index) => &mut items[index],
                    None => {
                        let names: Vec<&str> =
                            items.iter().filter_map(|item| item.text("name")).collect();
                        return Err(Fault::UnknownName {
                            what: list_name(before).unwrap_or("entry"),
                            name: key.to_owned(),
                            hint: Hint::new(key, names, "such name"),
                        });
                    }
                }
            }
            Data::Table(table) => {
                &mut table
                    .entry(key.to_owned())
                    .or_insert_with(|| Entry {
                        key_at,
                        node: Node {
                            data: Data::Table(BTreeMap::new()),
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

/// The list of the file's top level that has this name.
fn list_name(key: &str) -> Option<&'static str> {
    let fields = Rule::root().fields().expect("the file is a table");
    let (name, field) = fields.get_key_value(key)?;
    (Rule::of(field).text("type") == Some("array")).then_some(name)
}
