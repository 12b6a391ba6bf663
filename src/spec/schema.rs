//! The JSON Schema of the pipeline file, by which editors complete and files are checked.

use std::sync::LazyLock;

use serde_json::{Map, Value, json};

use super::pipeline::Pipeline;

/// JSON Schema (draft 2020-12) of the pipeline file, for editors; ends with a line break.
pub fn json_schema() -> String {
    let mut schema = SCHEMA.clone();
    let properties = schema["properties"]
        .as_object_mut()
        .expect("the pipeline is a table");
    properties.insert(
        "scale".to_owned(),
        json!({
            "description": "Name of the entry of `scales` that is applied, unless `--set scale=NAME` gives another.",
            "type": "string",
            "default": "default",
        }),
    );
    properties.insert(
        "scales".to_owned(),
        json!({
            "description": "Variants of the shot, such as sizes: each is a table of key paths, such as \"body.bunny.packing.elements\", and the values that they get.",
            "type": "object",
            "additionalProperties": { "type": "object" },
        }),
    );
    format!("{schema:#}\n")
}

/// The schema of a file whose scale has been applied.
pub(super) static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    let mut schema = schemars::schema_for!(Pipeline).to_value();
    schema["title"] = json!("cullet pipeline");
    drop_null(&mut schema);
    schema
});

/// Removes null from a schema: TOML has none, a key is absent instead.
fn drop_null(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(drop_null),
        Value::Object(object) => {
            object.retain(|_, value| !value.is_null());
            if let Some(Value::Array(types)) = object.get_mut("type") {
                types.retain(|kind| kind != "null");
                if let [only] = types.as_slice() {
                    let only = only.clone();
                    object.insert("type".to_owned(), only);
                }
            }
            object.values_mut().for_each(drop_null);
        }
        _ => {}
    }
}

/// Whether a `[[body]]` has this key.
pub(super) fn is_body_key(key: &str) -> bool {
    let list = SchemaRule::root()
        .fields()
        .and_then(|fields| fields.get("body"));
    let body = list.and_then(|list| SchemaRule::of(list).0.get("items"));
    let fields = body.and_then(|body| SchemaRule::of(body).fields());
    fields.is_some_and(|fields| fields.contains_key(key))
}

/// The part of the schema for one value, with references resolved.
#[derive(Clone, Copy)]
pub(super) struct SchemaRule(pub &'static Map<String, Value>);

impl SchemaRule {
    /// The rule of the whole file.
    pub fn root() -> Self {
        SchemaRule::of(&SCHEMA)
    }

    /// The rule that a value of the schema holds; follows `$ref`.
    pub fn of(value: &'static Value) -> Self {
        let rule = value.as_object().expect("a schema is an object");
        match rule.get("$ref").and_then(Value::as_str) {
            Some(reference) => {
                let target = reference
                    .strip_prefix('#')
                    .and_then(|at| SCHEMA.pointer(at));
                SchemaRule::of(target.expect("references stay inside the schema"))
            }
            None => SchemaRule(rule),
        }
    }

    /// String at a key of the schema.
    pub fn text(self, key: &str) -> Option<&'static str> {
        self.0.get(key)?.as_str()
    }

    /// The fields of a table.
    pub fn fields(self) -> Option<&'static Map<String, Value>> {
        self.0.get("properties")?.as_object()
    }

    /// The words of a choice.
    pub fn words(self) -> Option<Vec<&'static str>> {
        if let Some(words) = self.0.get("enum") {
            return words.as_array()?.iter().map(Value::as_str).collect();
        }
        let cases = self.0.get("oneOf")?.as_array()?.iter().map(SchemaRule::of);
        cases
            .map(|case| match case.text("const") {
                Some(word) => Some(vec![word]),
                None => case.words(),
            })
            .collect::<Option<Vec<_>>>()
            .map(|groups| groups.concat())
    }

    /// The cases of a table whose fields depend on its `type`.
    pub fn cases(self) -> Option<Vec<(&'static str, SchemaRule)>> {
        let cases = self.0.get("oneOf")?.as_array()?.iter().map(SchemaRule::of);
        cases
            .map(|case| {
                Some((
                    SchemaRule::of(case.fields()?.get("type")?).text("const")?,
                    case,
                ))
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_names_units_and_takes_strings() {
        let schema: Value = serde_json::from_str(&json_schema()).expect("JSON");
        assert_eq!(
            schema["$defs"]["PositivePressure"],
            json!({
                "description": "A pressure, > 0: a number in Pa, or a string with unit such as \"70 GPa\".",
                "type": ["number", "string"],
                "exclusiveMinimum": 0.0,
                "x-dimension": "a pressure",
            })
        );
        let young = &schema["$defs"]["Material"]["properties"]["young"];
        assert_eq!(young["description"], "Young's modulus, Pa.");
        assert!(schema["properties"]["scales"].is_object());
        assert!(!json_schema().contains("null"));
    }

    #[test]
    fn every_field_is_described() {
        fn visit(value: &Value, path: &str) {
            match value {
                Value::Array(items) => items.iter().for_each(|item| visit(item, path)),
                Value::Object(object) => {
                    let fields = object.get("properties").and_then(Value::as_object);
                    for (key, field) in fields.into_iter().flatten() {
                        let described =
                            field.get("description").is_some() || field.get("const").is_some();
                        assert!(described, "{path}/{key} has no description");
                    }
                    for (key, value) in object {
                        visit(value, &format!("{path}/{key}"));
                    }
                }
                _ => {}
            }
        }
        visit(&SCHEMA, "");
    }
}
