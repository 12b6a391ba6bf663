//! The keys of pipeline files as a page of Markdown, made from the schema.

use serde_json::{Map, Value};

use super::schema::SchemaRule;

/// The tables of a pipeline file in the order of the page, and the part of `spec/README.md` that explains each.
const TABLES: &[(&str, &str)] = &[
    ("time", "time-and-world"),
    ("world", "time-and-world"),
    ("material", "materials"),
    ("pair", "materials"),
    ("body", "bodies"),
    ("collider", "colliders"),
    ("attach", "attachments"),
    ("simulate", "simulation"),
    ("stress", "stress-by-boundary-elements"),
    ("output", "output-of-the-simulation"),
    ("reconstruct", "surfaces-export-pictures"),
    ("export", "surfaces-export-pictures"),
    ("preview", "surfaces-export-pictures"),
];

/// Markdown page of all keys: their values, defaults and meanings; ends with a line break.
pub fn keys_page() -> String {
    let mut page = "# All keys of pipeline files\n\n\
        `cullet schema --keys` writes this page from the schema. Do not edit it. The text on the tables is in\n\
        [The pipeline file][pipeline-files]. A quantity is a number in SI units, or a string with a unit.\n"
        .to_owned();
    let root = SchemaRule::root()
        .fields()
        .expect("the pipeline is a table");
    for (name, explained) in TABLES {
        let field = SchemaRule::of(&root[*name]);
        let list = field.text("type") == Some("array");
        let heading = match list {
            true => format!("[[{name}]]"),
            false => format!("[{name}]"),
        };
        let description = root[*name]["description"].as_str().unwrap_or_default();
        page += &format!(
            "\n## `{heading}`\n\n{} [More][pipeline-files-{explained}].\n",
            joined(description)
        );
        let table = match list {
            true => SchemaRule::of(&field.0["items"]),
            false => field,
        };
        let mut cases = Vec::new();
        page += &rows(table, name, &mut cases);
        for (path, rule) in cases {
            page += &choices(&path, rule);
        }
    }
    page += "\n[pipeline-files]: README.md\n";
    let mut parts: Vec<&str> = TABLES.iter().map(|(_, explained)| *explained).collect();
    parts.sort_unstable();
    parts.dedup();
    for part in parts {
        page += &format!("[pipeline-files-{part}]: README.md#{part}\n");
    }
    page
}

/// A table of the fields of a rule. Fields that are tables of their own follow as rows with their path; those whose
/// keys depend on `type` are added to `cases`.
fn rows(rule: SchemaRule, path: &str, cases: &mut Vec<(String, SchemaRule)>) -> String {
    let mut text = "\n| key | value | default | meaning |\n|---|---|---|---|\n".to_owned();
    add_rows(rule, "", path, &mut text, cases);
    text
}

fn add_rows(
    rule: SchemaRule,
    prefix: &str,
    path: &str,
    text: &mut String,
    cases: &mut Vec<(String, SchemaRule)>,
) {
    let fields = rule.fields().expect("a table has fields");
    for key in in_order(rule, fields) {
        let field = &fields[key];
        let target = SchemaRule::of(field);
        let item = target.0.get("items").map(SchemaRule::of);
        let inner = item.unwrap_or(target);
        let default = default_of(rule, key, field);
        let meaning = meaning(field, target);
        *text += &format!(
            "| `{prefix}{key}` | {} | {default} | {meaning} |\n",
            value_of(target)
        );
        if inner.cases().is_some() {
            cases.push((format!("{path}.{prefix}{key}"), inner));
        } else if inner.fields().is_some() {
            add_rows(inner, &format!("{prefix}{key}."), path, text, cases);
        }
    }
}

/// Keys of a table: required ones first, then the others, both as the schema lists them.
fn in_order(rule: SchemaRule, fields: &Map<String, Value>) -> Vec<&str> {
    let mut keys: Vec<&str> = fields.keys().map(String::as_str).collect();
    keys.sort_by_key(|key| !is_required(rule, key));
    keys
}

fn is_required(rule: SchemaRule, key: &str) -> bool {
    let required = rule.0.get("required").and_then(Value::as_array);
    required.is_some_and(|keys| keys.iter().any(|k| k == key))
}

/// What a value may be: `a length, > 0`, `a word`, `true or false`.
fn value_of(rule: SchemaRule) -> String {
    if let Some(item) = rule.0.get("items").map(SchemaRule::of) {
        let one = value_of(item);
        let count = rule.0.get("maxItems").and_then(Value::as_u64);
        return match count {
            Some(3) => format!("`[x, y, z]`: {one}"),
            Some(count) => format!("list of {count}: {one}"),
            None => format!("list: {one}"),
        };
    }
    if rule.words().is_some() {
        return "word".to_owned();
    }
    if rule.cases().is_some() {
        return "table with `type`".to_owned();
    }
    if rule.fields().is_some() || rule.text("type") == Some("object") {
        return "table".to_owned();
    }
    match rule.text("type") {
        Some("boolean") => "`true` or `false`".to_owned(),
        Some("integer") => format!("whole number{}", range(rule)),
        Some("string") => "text".to_owned(),
        _ => quantity(rule),
    }
}

/// ` ≥ 1`, ` from 1 to 23` or nothing.
fn range(rule: SchemaRule) -> String {
    let bound = |key: &str| rule.0.get(key).and_then(Value::as_u64);
    match (bound("minimum"), bound("maximum")) {
        (Some(low), Some(high)) => format!(" from {low} to {high}"),
        (Some(low), None) => format!(" ≥ {low}"),
        _ => String::new(),
    }
}

/// The first words of the description of a quantity: `a pressure, > 0`.
fn quantity(rule: SchemaRule) -> String {
    let text = rule.text("description").unwrap_or("number");
    let end = text.find([':', '.']).unwrap_or(text.len());
    // A decimal point ends nothing.
    let end = match text[end..].starts_with('.') && text[end + 1..].starts_with(char::is_numeric) {
        true => text.find(':').unwrap_or(text.len()),
        false => end,
    };
    let mut kind = text[..end].to_owned();
    if let Some(first) = kind.get_mut(..1) {
        first.make_ascii_lowercase();
    }
    match rule.text("x-word") {
        Some(word) => format!("{kind}, or `\"{word}\"`"),
        None => kind,
    }
}

/// `required`, the default as TOML, or nothing.
fn default_of(rule: SchemaRule, key: &str, field: &Value) -> String {
    if is_required(rule, key) {
        return "required".to_owned();
    }
    match field.get("default") {
        // The fields of a table have rows and defaults of their own.
        None | Some(Value::Object(_)) => String::new(),
        Some(value) => format!("`{value}`"),
    }
}

/// The description of a field, then the words that it may be.
fn meaning(field: &Value, target: SchemaRule) -> String {
    let own = field.get("description").and_then(Value::as_str);
    let mut text = joined(own.or(target.text("description")).unwrap_or_default());
    let words = target.0.get("items").map_or(target, SchemaRule::of);
    if words.words().is_some()
        && let Some(cases) = words.0.get("oneOf").and_then(Value::as_array)
    {
        let cases = cases.iter().map(|case| {
            let case = SchemaRule::of(case);
            let word = case.text("const").unwrap_or_default();
            format!(
                "`{word}`: {}",
                joined(case.text("description").unwrap_or_default())
            )
        });
        text = format!("{text} {}", cases.collect::<Vec<_>>().join(" "));
    }
    text.trim().replace('|', "\\|")
}

/// The kinds of a table whose keys depend on its `type`.
fn choices(path: &str, rule: SchemaRule) -> String {
    let mut text = format!(
        "\n### `{path}`\n\n{}\n\n| `type` | key | value | default | meaning |\n|---|---|---|---|---|\n",
        joined(rule.text("description").unwrap_or_default())
    );
    let mut nested = Vec::new();
    for (word, case) in rule.cases().expect("a table with `type`") {
        let description = joined(case.text("description").unwrap_or_default());
        text += &format!("| `{word}` | | | | {} |\n", description.replace('|', "\\|"));
        let mut rows = String::new();
        add_rows(case, "", path, &mut rows, &mut nested);
        for row in rows.lines().filter(|row| !row.starts_with("| `type` ")) {
            text += &format!("| {row}\n");
        }
    }
    let mut seen = Vec::new();
    for (path, rule) in nested {
        if !seen.contains(&path) {
            text += &choices(&path, rule);
            seen.push(path);
        }
    }
    text
}

/// A description in one line.
fn joined(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_every_table_and_kind() {
        let root = SchemaRule::root().fields().expect("a table");
        let mut all: Vec<&str> = root.keys().map(String::as_str).collect();
        let mut named: Vec<&str> = TABLES.iter().map(|(name, _)| *name).collect();
        all.sort_unstable();
        named.sort_unstable();
        assert_eq!(all, named);
        let page = keys_page();
        for part in [
            "## `[[material]]`",
            "| `young` | a pressure, > 0 | required | Young's modulus, Pa. |",
            "### `body.packing`",
            "| `voronoi` |",
            "### `attach.action.signal`",
        ] {
            assert!(page.contains(part), "{part} is missing in\n{page}");
        }
    }
}
