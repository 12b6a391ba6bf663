//! Checks a document against the schema, finds every fault, and converts quantities to SI numbers.
//!
//! A value that does not fit is reported and [replaced](super::replacements) by a valid one, so that the document
//! can be read in spite of its faults.

use serde_json::Value;

use super::document::{DocumentNode, NodeData, SourceTexts, TableEntry, ValueOrigin};
use super::error::{Hint, MAX_REPORTED, SpecError, SpecFault};
use super::quantity::{DIMENSION_KEY, WORD_KEY};
use super::replacements::Replacements;
use super::schema::SchemaRule;
use crate::units::{self, Dimension};

/// Checks `document`, which afterwards fits the schema and holds quantities as SI numbers. Returns the faults
/// and which values were replaced.
pub(super) fn conform(
    document: &mut DocumentNode,
    sources: &SourceTexts<'_>,
) -> (Vec<(ValueOrigin, SpecError)>, Replacements) {
    let mut walk = SchemaWalk {
        sources,
        errors: Vec::new(),
        replaced: Replacements::default(),
    };
    let root = KeyPath {
        shown: String::new(),
        exact: String::new(),
    };
    walk.visit(document, SchemaRule::root(), &root);
    (walk.errors, walk.replaced)
}

struct SchemaWalk<'a> {
    sources: &'a SourceTexts<'a>,
    errors: Vec<(ValueOrigin, SpecError)>,
    replaced: Replacements,
}

/// Path of a key: keys joined by dots.
struct KeyPath {
    /// Path with entries of lists by their names, for messages.
    shown: String,
    /// Path with entries of lists by their indices.
    exact: String,
}

impl KeyPath {
    fn key(&self, key: &str) -> KeyPath {
        self.entry(key, key)
    }

    fn entry(&self, name: &str, index: &str) -> KeyPath {
        let join = |path: &str, key: &str| match path {
            "" => key.to_owned(),
            _ => format!("{path}.{key}"),
        };
        KeyPath {
            shown: join(&self.shown, name),
            exact: join(&self.exact, index),
        }
    }
}

/// The value does not fit and must be replaced; its fault has been reported.
struct Misfit;

type Fit = Result<(), Misfit>;

impl SchemaWalk<'_> {
    fn report(&mut self, at: ValueOrigin, path: &KeyPath, fault: impl Into<SpecFault>) {
        // One more than is reported, to know that there are more.
        if self.errors.len() <= MAX_REPORTED {
            let error = self.sources.error(at, path.shown.as_str(), fault);
            self.errors.push((at, error));
        }
    }

    fn fault(&mut self, at: ValueOrigin, path: &KeyPath, fault: impl Into<SpecFault>) -> Fit {
        self.report(at, path, fault);
        Err(Misfit)
    }

    fn wrong_type(&mut self, node: &DocumentNode, path: &KeyPath, expected: &str) -> Fit {
        let fault = SpecFault::WrongType {
            found: node.kind(),
            expected: expected.to_owned(),
        };
        self.fault(node.at, path, fault)
    }

    fn visit(&mut self, node: &mut DocumentNode, rule: SchemaRule, path: &KeyPath) {
        if self.fit(node, rule, path).is_err() {
            self.replaced.replace(node, rule, &path.exact);
        }
    }

    fn fit(&mut self, node: &mut DocumentNode, rule: SchemaRule, path: &KeyPath) -> Fit {
        if let Some(name) = rule.text(DIMENSION_KEY) {
            let dimension = Dimension::from_name(name).expect("the schema names dimensions");
            return self.quantity(node, rule, path, dimension);
        }
        if let Some(words) = rule.words() {
            return self.choice(node, &words, path);
        }
        if let Some(cases) = rule.cases() {
            return self.tagged(node, &cases, path);
        }
        if rule.fields().is_some() {
            return self.table(node, rule, path);
        }
        if let Some(items) = rule.0.get("items") {
            return self.array(node, rule, SchemaRule::of(items), path);
        }
        match (rule.text("type"), &node.data) {
            (Some("string"), NodeData::Text(_)) | (Some("boolean"), NodeData::Boolean(_)) => Ok(()),
            (Some("integer"), NodeData::Integer(value)) => {
                let value = *value;
                if rule.text("format") == Some("uint32") && value > i64::from(u32::MAX) {
                    let fault = SpecFault::OutOfRange {
                        value: value.to_string(),
                        bounds: format!("≤ {}", u32::MAX),
                    };
                    return self.fault(node.at, path, fault);
                }
                self.range(node.at, rule, path, value as f64, &value.to_string())
            }
            (Some("string"), _) => self.wrong_type(node, path, "a string"),
            (Some("boolean"), _) => self.wrong_type(node, path, "true or false"),
            (Some("integer"), _) => self.wrong_type(node, path, "an integer"),
            _ => unreachable!("the schema has no other rules: {}", path.exact),
        }
    }

    fn quantity(
        &mut self,
        node: &mut DocumentNode,
        rule: SchemaRule,
        path: &KeyPath,
        dimension: Dimension,
    ) -> Fit {
        let (value, written) = match &node.data {
            NodeData::Integer(value) => (*value as f64, value.to_string()),
            NodeData::Float(value) if !value.is_finite() => {
                let fault = SpecFault::NotFinite(*value);
                return self.fault(node.at, path, fault);
            }
            NodeData::Float(value) => (*value, value.to_string()),
            NodeData::Text(text) if rule.text(WORD_KEY) == Some(text) => return Ok(()),
            NodeData::Text(text) => match units::parse(text, dimension) {
                Ok(value) => (value, format!("\"{text}\"")),
                Err(error) => return self.fault(node.at, path, error),
            },
            _ => {
                let expected = format!("{dimension}, e.g. \"{}\"", dimension.example());
                return self.wrong_type(node, path, &expected);
            }
        };
        node.data = NodeData::Float(value);
        self.range(node.at, rule, path, value, &written)
    }

    fn range(
        &mut self,
        at: ValueOrigin,
        rule: SchemaRule,
        path: &KeyPath,
        value: f64,
        written: &str,
    ) -> Fit {
        let bound = |key| rule.0.get(key).and_then(Value::as_f64);
        let mut texts = Vec::new();
        let mut in_range = true;
        for (key, sign) in [
            ("exclusiveMinimum", ">"),
            ("minimum", "≥"),
            ("exclusiveMaximum", "<"),
            ("maximum", "≤"),
        ] {
            if let Some(bound) = bound(key) {
                texts.push(format!("{sign} {bound}"));
                in_range &= match sign {
                    ">" => value > bound,
                    "≥" => value >= bound,
                    "<" => value < bound,
                    _ => value <= bound,
                };
            }
        }
        if in_range {
            return Ok(());
        }
        let fault = SpecFault::OutOfRange {
            value: written.to_owned(),
            bounds: texts.join(" and "),
        };
        self.fault(at, path, fault)
    }

    fn choice(&mut self, node: &DocumentNode, words: &[&'static str], path: &KeyPath) -> Fit {
        match &node.data {
            NodeData::Text(text) if words.contains(&text.as_str()) => Ok(()),
            NodeData::Text(text) => {
                let fault = SpecFault::UnknownChoice {
                    value: text.clone(),
                    hint: Hint::new(text, words.iter().copied(), "choice"),
                };
                self.fault(node.at, path, fault)
            }
            _ => self.wrong_type(node, path, &format!("one of {}", words.join(", "))),
        }
    }

    fn tagged(
        &mut self,
        node: &mut DocumentNode,
        cases: &[(&'static str, SchemaRule)],
        path: &KeyPath,
    ) -> Fit {
        if !matches!(node.data, NodeData::Table(_)) {
            return self.wrong_type(node, path, "a table with a `type`");
        }
        let words: Vec<&str> = cases.iter().map(|case| case.0).collect();
        let Some(tag) = node.get("type") else {
            let fault = SpecFault::Missing {
                key: "type".to_owned(),
                what: format!("one of {}", words.join(", ")),
            };
            return self.fault(node.at, path, fault);
        };
        let case = node
            .text("type")
            .and_then(|word| cases.iter().find(|case| case.0 == word));
        match case {
            Some((_, rule)) => self.table(node, *rule, path),
            None => self.choice(tag, &words, &path.key("type")),
        }
    }

    fn table(&mut self, node: &mut DocumentNode, rule: SchemaRule, path: &KeyPath) -> Fit {
        let fields = rule.fields().expect("only called for tables");
        let NodeData::Table(table) = &mut node.data else {
            return self.wrong_type(node, path, "a table");
        };
        let mut unknown = Vec::new();
        for (key, entry) in table.iter_mut() {
            match fields.get(key) {
                // The tag has already been matched.
                Some(field) if field.get("const").is_some() => {}
                Some(field) => self.visit(&mut entry.node, SchemaRule::of(field), &path.key(key)),
                None => {
                    let fault = SpecFault::UnknownKey {
                        key: key.clone(),
                        hint: Hint::new(key, fields.keys().map(String::as_str), "key"),
                    };
                    self.report(entry.key_at, path, fault);
                    unknown.push(key.clone());
                }
            }
        }
        for key in unknown {
            table.remove(&key);
        }
        let required = rule.0.get("required").and_then(Value::as_array);
        let required = required.into_iter().flatten().filter_map(Value::as_str);
        for key in required {
            if table.contains_key(key) {
                continue;
            }
            let field = fields.get(key).expect("what is required is a field");
            let what = field.get("description").and_then(Value::as_str);
            let fault = SpecFault::Missing {
                key: key.to_owned(),
                what: what.unwrap_or_default().replace('\n', " "),
            };
            self.report(node.at, path, fault);
            let entry = table.entry(key.to_owned()).or_insert_with(|| TableEntry {
                key_at: node.at,
                node: DocumentNode {
                    data: NodeData::Boolean(false),
                    at: node.at,
                },
            });
            let path = path.key(key);
            self.replaced
                .replace(&mut entry.node, SchemaRule::of(field), &path.exact);
        }
        Ok(())
    }

    fn array(
        &mut self,
        node: &mut DocumentNode,
        rule: SchemaRule,
        item_rule: SchemaRule,
        path: &KeyPath,
    ) -> Fit {
        let count = rule.0.get("minItems").and_then(Value::as_u64);
        let NodeData::Array(items) = &mut node.data else {
            let expected = match count {
                Some(count) => format!("an array of {count} values"),
                None if item_rule.fields().is_some() => {
                    format!("an array of tables, [[{}]]", path.shown)
                }
                None => "an array".to_owned(),
            };
            return self.wrong_type(node, path, &expected);
        };
        if let Some(expected) = count.map(|count| count as usize)
            && expected != items.len()
        {
            let fault = SpecFault::WrongCount {
                found: items.len(),
                expected,
            };
            return self.fault(node.at, path, fault);
        }
        for (index, item) in items.iter_mut().enumerate() {
            let name = item.text("name").map(str::to_owned);
            let position = index.to_string();
            let path = path.entry(name.as_ref().unwrap_or(&position), &position);
            self.visit(item, item_rule, &path);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::Pipeline;
    use super::*;
    use serde::Deserialize;
    use serde_json::json;

    /// A document with every key. Tagged tables take their case number `case`, or the last if they have fewer.
    fn sample(rule: SchemaRule, case: usize) -> Value {
        if rule.text(DIMENSION_KEY).is_some() {
            let bound = |key| rule.0.get(key).and_then(Value::as_f64);
            let most = bound("maximum").unwrap_or(f64::INFINITY);
            return json!(bound("minimum").unwrap_or(0.0).max(0.2).min(most));
        }
        if let Some(words) = rule.words() {
            return json!(words[case.min(words.len() - 1)]);
        }
        if let Some(cases) = rule.cases() {
            let (name, rule) = cases[case.min(cases.len() - 1)];
            let mut table = sample(rule, case);
            table["type"] = json!(name);
            return table;
        }
        if let Some(fields) = rule.fields() {
            let fields = fields
                .iter()
                .filter(|(_, field)| field.get("const").is_none());
            return fields
                .map(|(key, field)| (key.clone(), sample(SchemaRule::of(field), case)))
                .collect();
        }
        if let Some(items) = rule.0.get("items") {
            let count = rule.0.get("minItems").and_then(Value::as_u64).unwrap_or(1);
            return (0..count)
                .map(|_| sample(SchemaRule::of(items), case))
                .collect();
        }
        match rule.text("type") {
            Some("integer") => json!(20),
            Some("boolean") => json!(true),
            _ => json!("a"),
        }
    }

    #[test]
    fn what_the_schema_allows_is_what_the_structs_take() {
        for case in 0..6 {
            let text = toml::to_string(&sample(SchemaRule::root(), case)).expect("TOML");
            let mut document = DocumentNode::parse(&text, &ValueOrigin::File).expect("TOML");
            let sources = SourceTexts {
                name: "sample",
                text: &text,
                sets: &[],
            };
            assert_eq!(conform(&mut document, &sources).0, [], "{text}");
            let shot = Pipeline::deserialize(document.to_json()).expect("a pipeline");
            let written = serde_json::to_value(&shot).expect("JSON");
            assert_eq!(written, document.to_json());
        }
    }
}
