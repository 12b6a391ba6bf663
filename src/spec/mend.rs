//! What stands in for values that do not fit the schema, so that the sense of all others is checked in the same go.

use serde_json::{Map, Value, json};

use super::document::{Data, Entry, Node, Origin};
use super::quantity::DIMENSION;
use super::schema::Rule;

/// Paths of what was replaced, indices and no names in them: it says nothing.
#[derive(Debug, Default)]
pub(super) struct Mended(Vec<String>);

impl Mended {
    /// Puts something valid at `path`.
    pub fn replace(&mut self, node: &mut Node, rule: Rule, path: &str) {
        node.data = data(&sample(rule), node.at);
        self.0.push(path.to_owned());
    }

    /// Whether the value at `path` was replaced, or one in or around it.
    pub fn holds(&self, path: &str) -> bool {
        let mut places = self.0.iter();
        places.any(|place| below(place, path).is_some() || below(path, place).is_some())
    }

    /// Whether a contradiction at `path` may come from something replaced, there or beside it.
    pub fn explains(&self, path: &str) -> bool {
        let mut places = self.0.iter();
        self.holds(path) || places.any(|place| table_of(place) == table_of(path))
    }

    /// Whether a name in this list of the file's top level may be one that was replaced.
    pub fn hides_names(&self, list: &str) -> bool {
        self.0.iter().any(|place| {
            below(place, list).is_some_and(|rest| !rest.contains('.') || rest.ends_with(".name"))
        })
    }
}

/// What of `inner` comes after `outer`, where it is that or lies in it.
fn below<'p>(inner: &'p str, outer: &str) -> Option<&'p str> {
    let rest = inner.strip_prefix(outer)?;
    match rest {
        "" => Some(rest),
        _ => rest.strip_prefix('.'),
    }
}

/// The table that a key stands in. Places of a list count as one key, but for those of the top level, which
/// are tables of their own.
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

/// Something that fits a rule, with no more keys than must be there.
fn sample(rule: Rule) -> Value {
    if rule.text(DIMENSION).is_some() {
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
        let entry = |key: &str| Some((key.to_owned(), sample(Rule::of(fields.get(key)?))));
        return Value::Object(keys.filter_map(entry).collect::<Map<_, _>>());
    }
    if let Some(items) = rule.0.get("items") {
        let count = rule.0.get("minItems").and_then(Value::as_u64).unwrap_or(0);
        return (0..count).map(|_| sample(Rule::of(items))).collect();
    }
    match rule.text("type") {
        Some("integer") => json!(20),
        Some("boolean") => json!(true),
        _ => json!("a"),
    }
}

/// JSON as a document has it, all written at one place.
fn data(value: &Value, at: Origin) -> Data {
    let node = |value: &Value| Node {
        data: data(value, at),
        at,
    };
    match value {
        Value::Object(map) => {
            let entry = |(key, value): (&String, &Value)| {
                let entry = Entry {
                    key_at: at,
                    node: node(value),
                };
                (key.clone(), entry)
            };
            Data::Table(map.iter().map(entry).collect())
        }
        Value::Array(items) => Data::Array(items.iter().map(node).collect()),
        Value::String(text) => Data::Text(text.clone()),
        Value::Bool(value) => Data::Boolean(*value),
        Value::Number(number) => match number.as_i64() {
            Some(value) => Data::Integer(value),
            None => Data::Float(number.as_f64().unwrap_or(0.0)),
        },
        Value::Null => Data::Other("nothing"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mended(path: &str) -> Mended {
        Mended(vec![path.to_owned()])
    }

    #[test]
    fn faults_beside_in_and_around_are_explained_and_no_others() {
        for (place, path, explained) in [
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
            assert_eq!(mended(place).explains(path), explained, "{place}: {path}");
        }
    }

    #[test]
    fn names_are_hidden_where_an_entry_or_its_name_was_replaced() {
        for (place, hidden) in [
            ("material", true),
            ("material.1", true),
            ("material.1.name", true),
            ("material.1.young", false),
            ("materials.1.name", false),
        ] {
            assert_eq!(mended(place).hides_names("material"), hidden, "{place}");
        }
    }
}
