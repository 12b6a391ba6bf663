//! Scales and `--set`: values that replace those of the file.

use std::collections::BTreeMap;

use super::document::{Data, Entry, Node, Origin, Sources};
use super::error::{Fault, Hint, SpecError, TOLD};
use super::schema::Rule;

/// Keys of a path: documents are walked by recursion.
const DEEPEST: usize = 32;

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
    for (path, entry) in chosen(scale, scales, sources, &mut errors) {
        put(
            document,
            &path,
            entry.key_at,
            entry.node,
            sources,
            &mut errors,
        );
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
    errors: &mut Errors,
) -> BTreeMap<String, Entry> {
    let mut wrong = |node: &Node, path: &str, wanted: &str| {
        let fault = Fault::WrongType {
            found: node.kind(),
            wanted: wanted.to_owned(),
        };
        errors.push((node.at, sources.error(node.at, path, fault)));
        BTreeMap::new()
    };
    let mut tables = match scales.map(|node| (node.at, node.data)) {
        None => BTreeMap::new(),
        Some((_, Data::Table(tables))) => tables,
        Some((at, data)) => {
            let node = Node { data, at };
            return wrong(&node, "scales", "a table of tables, [scales.NAME],");
        }
    };
    let name = match scale.as_ref().map(|scale| &scale.data) {
        None => "default",
        Some(Data::Text(name)) => name,
        Some(_) => {
            let scale = scale.expect("matched");
            return wrong(&scale, "scale", "the name of a scale");
        }
    };
    match (tables.remove(name).map(|entry| entry.node), scale.as_ref()) {
        (None, Some(scale)) if name != "default" => {
            let names = tables.keys().map(String::as_str);
            let others = names.filter(|name| *name != "default");
            let fault = Fault::UnknownName {
                what: "scale",
                name: name.to_owned(),
                hint: Hint::new(name, std::iter::once("default").chain(others), "scale"),
            };
            errors.push((scale.at, sources.error(scale.at, "scale", fault)));
            BTreeMap::new()
        }
        (None, _) => BTreeMap::new(),
        (Some(node), _) => match node.data {
            Data::Table(changes) => changes,
            _ => wrong(
                &node,
                &format!("scales.{name}"),
                "a table of key paths and values,",
            ),
        },
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
            let result = set(document, path, key_at, value);
            // One more than is told, to know of it.
            if let Err(fault) = result
                && errors.len() <= TOLD
            {
                let path = match fault {
                    Fault::TooDeep { .. } => "",
                    _ => path,
                };
                errors.push((key_at, sources.error(key_at, path, fault)));
            }
        }
    }
}

/// Sets one value, making tables on the way; a key that should not be there is found when the document is checked.
fn set(document: &mut Node, path: &str, key_at: Origin, value: Node) -> Result<(), Fault> {
    let found = path.split('.').count();
    if found > DEEPEST {
        let deepest = DEEPEST;
        return Err(Fault::TooDeep { found, deepest });
    }
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
