//! Replaces values that do not fit the schema by valid ones, so that all other values can be checked in the same run.

use serde_json::{Map, Value, json};

use super::document::{DocumentNode, NodeData, TableEntry, ValueOrigin};
use super::quantity::DIMENSION_KEY;
use super::schema::SchemaRule;

/// Paths of the values that were replaced, with entries of lists by index. The replacements have no meaning.
#[derive(Debug, Default)]
pub(super) struct Replacements(Vec<String>);

impl Replacements {
    /// Replaces the value `node` at `path` by one that fits `rule`.
    pub fn replace(&mut self, node: &mut DocumentNode, rule: SchemaRule, path: &str) {
        node.data = data(&sample(rule), node.at);
        self.0.push(path.to_owned());
    }

    /// Whether the value at `path` was replaced, or one inside or around it.
    pub fn affects(&self, path: &str) -> bool {
        let mut replaced_paths = self.0.iter();
        replaced_paths.any(|replaced_path| {
            path_below(replaced_path, path).is_some() || path_below(path, replaced_path).is_some()
        })
    }

    /// Whether a contradiction at `path` may be due to a replaced value, there or in the same table.
    pub fn may_explain(&self, path: &str) -> bool {
        let mut replaced_paths = self.0.iter();
        self.affects(path)
            || replaced_paths.any(|replaced_path| table_of(replaced_path) == table_of(path))
    }

    /// Whether a name in a list at the top level of the file may have been replaced.
    pub fn may_hide_names(&self, list: &str) -> bool {
        self.0.iter().any(|replaced_path| {
            path_below(replaced_path, list)
                .is_some_and(|rest| !rest.contains('.') || rest.ends_with(".name"))
        })
    }
}

/// The rest of the path `inner` after `outer`, if `inner` is `outer` or lies inside it.
fn path_below<'p>(inner: &'p str, outer: &str) -> Option<&'p str> {
    let rest = inner.strip_prefix(outer)?;
    match rest {
        "" => Some(rest),
        _ => rest.strip_prefix('.'),
    }
}

/// Path of the table that holds a key. The entries of a list belong to one table, except those of the lists at
/// the top level, each of which is a table of its own.
fn table_of(path: &str) -> Vec<&str> {
    let mut keys: Vec<&str> = path.split('.').collect();
    let drop_places = |keys: &mut Vec<&str>| {
        while keys.len() > 2 && keys.last().is_some_and(|key| key.parse::<usize>().is_ok()) {
            keys.pop();
        }
    };
    drop_places(&mut keys);
    keys.pop();
    drop_places(&mut keys);
    keys
}

/// A value that fits a rule, with its required keys only.
fn sample(rule: SchemaRule) -> Value {
    if rule.text(DIMENSION_KEY).is_some() {
        return json!(0.2);
    }
    if let Some(words) = rule.words() {
        return json!(words.first());
    }
    if let Some((name, rule)) = rule.cases().and_then(|cases| cases.first().copied()) {
        let mut table = sample(rule);
        table["type"] = json!(name);
        return table;
    }
    if let Some(fields) = rule.fields() {
        let required = rule.0.get("required").and_then(Value::as_array);
        let keys = required.into_iter().flatten().filter_map(Value::as_str);
        let entry = |key: &str| Some((key.to_owned(), sample(SchemaRule::of(fields.get(key)?))));
        return Value::Object(keys.filter_map(entry).collect::<Map<_, _>>());
    }
    if let Some(items) = rule.0.get("items") {
        let count = rule.0.get("minItems").and_then(Value::as_u64).unwrap_or(0);
        return (0..count).map(|_| sample(SchemaRule::of(items))).collect();
    }
    match rule.text("type") {
        Some("integer") => json!(20),
        Some("boolean") => json!(true),
        _ => json!("a"),
    }
}

/// JSON as data of a document; all values get the origin `at`.
fn data(value: &Value, at: ValueOrigin) -> NodeData {
    let node = |value: &Value| DocumentNode {
        data: data(value, at),
        at,
    };
    match value {
        Value::Object(map) => {
            let entry = |(key, value): (&String, &Value)| {
                let entry = TableEntry {
                    key_at: at,
                    node: node(value),
                };
                (key.clone(), entry)
            };
            NodeData::Table(map.iter().map(entry).collect())
        }
        Value::Array(items) => NodeData::Array(items.iter().map(node).collect()),
        Value::String(text) => NodeData::Text(text.clone()),
        Value::Bool(value) => NodeData::Boolean(*value),
        Value::Number(number) => match number.as_i64() {
            Some(value) => NodeData::Integer(value),
            None => NodeData::Float(number.as_f64().unwrap_or(0.0)),
        },
        Value::Null => NodeData::Other("nothing"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replaced(path: &str) -> Replacements {
        Replacements(vec![path.to_owned()])
    }

    #[test]
    fn only_faults_near_a_replaced_value_are_explained() {
        for (replaced_path, path, explained) in [
            ("time.end", "time.end", true),
            ("time.frames_per_second", "time.end", true),
            ("time.end", "simulate.drag", false),
            ("body.0.shape", "body.0.shape.file", true),
            ("body.0.packing.radius", "body.0.packing", true),
            ("body.0.mass", "body.0.shape.file", false),
            ("body.0.mass", "body.1.name", false),
            ("world.bounds.min.0", "world.bounds.max.1", true),
            ("collider.0.keys.1.time", "collider.0.keys.2.time", true),
            ("collider.0.keys.1.time", "collider.0.shape.normal", false),
            ("material.1", "material.10.shear", false),
        ] {
            assert_eq!(
                replaced(replaced_path).may_explain(path),
                explained,
                "{replaced_path}: {path}"
            );
        }
    }

    #[test]
    fn names_are_hidden_where_an_entry_or_its_name_was_replaced() {
        for (replaced_path, hidden) in [
            ("material", true),
            ("material.1", true),
            ("material.1.name", true),
            ("material.1.young", false),
            ("materials.1.name", false),
        ] {
            assert_eq!(
                replaced(replaced_path).may_hide_names("material"),
                hidden,
                "{replaced_path}"
            );
        }
    }
}
