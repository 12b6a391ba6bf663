//! Checks a document against the schema, finding every fault, and turns quantities into SI numbers on the way.
//!
//! What does not fit is reported and [mended](super::mend), so that the document can be read whatever was
//! wrong with it.

use serde_json::Value;

use super::document::{Data, Entry, Node, Origin, Sources};
use super::error::{Fault, Hint, SpecError, TOLD};
use super::mend::Mended;
use super::quantity::{DIMENSION, WORD};
use super::schema::Rule;
use crate::units::{self, Dimension};

/// Checks `document`, which fits the schema and has SI numbers for quantities afterwards. The faults, and
/// what was put in their places.
pub(super) fn conform(
    document: &mut Node,
    sources: &Sources<'_>,
) -> (Vec<(Origin, SpecError)>, Mended) {
    let mut walk = Walk {
        sources,
        errors: Vec::new(),
        mended: Mended::default(),
    };
    let root = Path {
        shown: String::new(),
        exact: String::new(),
    };
    walk.visit(document, Rule::root(), &root);
    (walk.errors, walk.mended)
}

struct Walk<'a> {
    sources: &'a Sources<'a>,
    errors: Vec<(Origin, SpecError)>,
    mended: Mended,
}

/// Keys with dots between.
struct Path {
    /// With the names of entries of lists, for messages.
    shown: String,
    /// With their places.
    exact: String,
}

impl Path {
    fn key(&self, key: &str) -> Path {
        self.entry(key, key)
    }

    fn entry(&self, name: &str, place: &str) -> Path {
        let join = |path: &str, key: &str| match path {
            "" => key.to_owned(),
            _ => format!("{path}.{key}"),
        };
        Path {
            shown: join(&self.shown, name),
            exact: join(&self.exact, place),
        }
    }
}

/// A node that cannot stay as it is; its fault has been told.
struct Unfit;

type Fit = Result<(), Unfit>;

impl Walk<'_> {
    fn tell(&mut self, at: Origin, path: &Path, fault: impl Into<Fault>) {
        // One more than is told, to know of it.
        if self.errors.len() <= TOLD {
            let error = self.sources.error(at, path.shown.as_str(), fault);
            self.errors.push((at, error));
        }
    }

    fn fault(&mut self, at: Origin, path: &Path, fault: impl Into<Fault>) -> Fit {
        self.tell(at, path, fault);
        Err(Unfit)
    }

    fn wrong_type(&mut self, node: &Node, path: &Path, wanted: &str) -> Fit {
        let fault = Fault::WrongType {
            found: node.kind(),
            wanted: wanted.to_owned(),
        };
        self.fault(node.at, path, fault)
    }

    fn visit(&mut self, node: &mut Node, rule: Rule, path: &Path) {
        if self.fit(node, rule, path).is_err() {
            self.mended.replace(node, rule, &path.exact);
        }
    }

    fn fit(&mut self, node: &mut Node, rule: Rule, path: &Path) -> Fit {
        if let Some(name) = rule.text(DIMENSION) {
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
            return self.array(node, rule, Rule::of(items), path);
        }
        match (rule.text("type"), &node.data) {
            (Some("string"), Data::Text(_)) | (Some("boolean"), Data::Boolean(_)) => Ok(()),
            (Some("integer"), Data::Integer(value)) => {
                let value = *value;
                if rule.text("format") == Some("uint32") && value > i64::from(u32::MAX) {
                    let fault = Fault::OutOfRange {
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

    fn quantity(&mut self, node: &mut Node, rule: Rule, path: &Path, dimension: Dimension) -> Fit {
        let (value, written) = match &node.data {
            Data::Integer(value) => (*value as f64, value.to_string()),
            Data::Float(value) if !value.is_finite() => {
                let fault = Fault::NotFinite(*value);
                return self.fault(node.at, path, fault);
            }
            Data::Float(value) => (*value, value.to_string()),
            Data::Text(text) if rule.text(WORD) == Some(text) => return Ok(()),
            Data::Text(text) => match units::parse(text, dimension) {
                Ok(value) => (value, format!("\"{text}\"")),
                Err(error) => return self.fault(node.at, path, error),
            },
            _ => {
                let wanted = format!("{dimension}, e.g. \"{}\",", dimension.example());
                return self.wrong_type(node, path, &wanted);
            }
        };
        node.data = Data::Float(value);
        self.range(node.at, rule, path, value, &written)
    }

    fn range(&mut self, at: Origin, rule: Rule, path: &Path, value: f64, written: &str) -> Fit {
        let bound = |key| rule.0.get(key).and_then(Value::as_f64);
        let mut texts = Vec::new();
        let mut holds = true;
        for (key, sign) in [
            ("exclusiveMinimum", ">"),
            ("minimum", "≥"),
            ("exclusiveMaximum", "<"),
            ("maximum", "≤"),
        ] {
            if let Some(bound) = bound(key) {
                texts.push(format!("{sign} {bound}"));
                holds &= match sign {
                    ">" => value > bound,
                    "≥" => value >= bound,
                    "<" => value < bound,
                    _ => value <= bound,
                };
            }
        }
        if holds {
            return Ok(());
        }
        let fault = Fault::OutOfRange {
            value: written.to_owned(),
            bounds: texts.join(" and "),
        };
        self.fault(at, path, fault)
    }

    fn choice(&mut self, node: &Node, words: &[&'static str], path: &Path) -> Fit {
        match &node.data {
            Data::Text(text) if words.contains(&text.as_str()) => Ok(()),
            Data::Text(text) => {
                let fault = Fault::UnknownChoice {
                    value: text.clone(),
                    hint: Hint::new(text, words.iter().copied(), "choice"),
                };
                self.fault(node.at, path, fault)
            }
            _ => self.wrong_type(node, path, &format!("one of {}", words.join(", "))),
        }
    }

    fn tagged(&mut self, node: &mut Node, cases: &[(&'static str, Rule)], path: &Path) -> Fit {
        if !matches!(node.data, Data::Table(_)) {
            return self.wrong_type(node, path, "a table with a `type`");
        }
        let words: Vec<&str> = cases.iter().map(|case| case.0).collect();
        let Some(tag) = node.get("type") else {
            let fault = Fault::Missing {
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

    fn table(&mut self, node: &mut Node, rule: Rule, path: &Path) -> Fit {
        let fields = rule.fields().expect("only called for tables");
        let Data::Table(table) = &mut node.data else {
            return self.wrong_type(node, path, "a table");
        };
        let mut unknown = Vec::new();
        for (key, entry) in table.iter_mut() {
            match fields.get(key) {
                // The tag has been matched already.
                Some(field) if field.get("const").is_some() => {}
                Some(field) => self.visit(&mut entry.node, Rule::of(field), &path.key(key)),
                None => {
                    let fault = Fault::UnknownKey {
                        key: key.clone(),
                        hint: Hint::new(key, fields.keys().map(String::as_str), "key"),
                    };
                    self.tell(entry.key_at, path, fault);
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
            let fault = Fault::Missing {
                key: key.to_owned(),
                what: what.unwrap_or_default().to_owned(),
            };
            self.tell(node.at, path, fault);
            let entry = table.entry(key.to_owned()).or_insert_with(|| Entry {
                key_at: node.at,
                node: Node {
                    data: Data::Boolean(false),
                    at: node.at,
                },
            });
            let path = path.key(key);
            self.mended
                .replace(&mut entry.node, Rule::of(field), &path.exact);
        }
        Ok(())
    }

    fn array(&mut self, node: &mut Node, rule: Rule, item_rule: Rule, path: &Path) -> Fit {
        let count = rule.0.get("minItems").and_then(Value::as_u64);
        let Data::Array(items) = &mut node.data else {
            let wanted = match count {
                Some(count) => format!("an array of {count} values"),
                None if item_rule.fields().is_some() => {
                    format!("an array of tables, [[{}]],", path.shown)
                }
                None => "an array".to_owned(),
            };
            return self.wrong_type(node, path, &wanted);
        };
        if let Some(wanted) = count.map(|count| count as usize)
            && wanted != items.len()
        {
            let fault = Fault::WrongCount {
                found: items.len(),
                wanted,
            };
            return self.fault(node.at, path, fault);
        }
        for (index, item) in items.iter_mut().enumerate() {
            let name = item.text("name").map(str::to_owned);
            let place = index.to_string();
            let path = path.entry(name.as_ref().unwrap_or(&place), &place);
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

    /// A document that has every key, each tagged table in its case number `case` (the last one where there are fewer).
    fn sample(rule: Rule, case: usize) -> Value {
        if rule.text(DIMENSION).is_some() {
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
                .map(|(key, field)| (key.clone(), sample(Rule::of(field), case)))
                .collect();
        }
        if let Some(items) = rule.0.get("items") {
            let count = rule.0.get("minItems").and_then(Value::as_u64).unwrap_or(1);
            return (0..count).map(|_| sample(Rule::of(items), case)).collect();
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
            let text = toml::to_string(&sample(Rule::root(), case)).expect("TOML");
            let mut document = Node::parse(&text, &Origin::File).expect("TOML");
            let sources = Sources {
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
