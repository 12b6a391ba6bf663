//! Replaces a body whose mesh has `each = true` by one body per object of its file.

use std::collections::BTreeMap;
use std::path::Path;

use super::document::{DocumentNode, NodeData, SourceTexts, TableEntry, ValueOrigin};
use super::error::{SpecError, SpecFault};
use crate::geometry::read;

type LocatedErrors = Vec<(ValueOrigin, SpecError)>;

/// Expands the bodies of a document, after overrides and before its check. The bodies get the names BODY.OBJECT
/// and the key `shape.object`. A table of a body with the name of an object, such as `[body.lid]`, holds what is
/// different for that object. A file that does not exist is left for the check to report.
pub(super) fn expand(
    document: &mut DocumentNode,
    folder: &Path,
    sources: &SourceTexts<'_>,
) -> LocatedErrors {
    let mut errors = LocatedErrors::new();
    let NodeData::Table(root) = &mut document.data else {
        unreachable!("a document is a table");
    };
    let Some(NodeData::Array(bodies)) = root.get_mut("body").map(|entry| &mut entry.node.data)
    else {
        return errors;
    };
    let mut expanded = Vec::with_capacity(bodies.len());
    for body in std::mem::take(bodies) {
        match objects(&body, folder) {
            Ok(None) => expanded.push(body),
            Ok(Some(names)) => expanded.extend(copies(&body, &names)),
            Err((key, fault)) => {
                let shape = body.get("shape");
                let at = shape
                    .and_then(|shape| shape.get(key))
                    .map_or(body.at, |node| node.at);
                let path = format!("body.{}.shape.{key}", body.text("name").unwrap_or_default());
                errors.push((at, sources.error(at, path, fault)));
                expanded.push(body);
            }
        }
    }
    *bodies = expanded;
    errors
}

/// Names of the objects that a body stands for, if it stands for several; else the key at fault.
fn objects(
    body: &DocumentNode,
    folder: &Path,
) -> Result<Option<Vec<String>>, (&'static str, SpecFault)> {
    let Some(shape) = body.get("shape") else {
        return Ok(None);
    };
    let each = shape.get("each").map(|node| &node.data);
    let (Some(NodeData::Boolean(true)), Some(file), Some("mesh")) =
        (each, shape.text("file"), shape.text("type"))
    else {
        return Ok(None);
    };
    let invalid = |what: &str| SpecFault::Invalid(what.to_owned());
    if shape.get("object").is_some() {
        let what = "`object` names one object and `each` takes all; give one of them";
        return Err(("object", invalid(what)));
    }
    if shape.get("height").is_some() {
        let what =
            "`height` would scale every object by itself; with `each` give `unit` or `scale`";
        return Err(("height", invalid(what)));
    }
    let path = folder.join(file);
    if !path.is_file() {
        return Ok(None);
    }
    match read::open(&path) {
        Ok(file) if file.names().is_empty() => Err(("file", invalid("the file has no triangles"))),
        Ok(file) => Ok(Some(file.names().to_vec())),
        Err(error) => Err(("file", SpecFault::Invalid(error.to_string()))),
    }
}

/// The body once per object.
fn copies(body: &DocumentNode, objects: &[String]) -> Vec<DocumentNode> {
    let mut common = body.clone();
    let mut own = BTreeMap::new();
    if let NodeData::Table(table) = &mut common.data {
        // Longer names first: a table of "Cube.001" is inside that of "Cube".
        let mut longest: Vec<&String> = objects.iter().collect();
        longest.sort_by_key(|object| std::cmp::Reverse(object.len()));
        for object in longest {
            // The name of an object may also be a key of bodies, which then keeps its meaning.
            let is_key = super::schema::is_body_key(object.split('.').next().unwrap_or(object));
            if let Some(entry) = (!is_key).then(|| take(table, object)).flatten() {
                own.insert(object, entry);
            }
        }
    }
    let copy = |object: &String| {
        let mut copy = common.clone();
        if let Some(entry) = own.get(object) {
            merge(&mut copy, &entry.node);
        }
        let name = format!("{}.{object}", body.text("name").unwrap_or_default());
        set(&mut copy, "name", name);
        if let NodeData::Table(table) = &mut copy.data
            && let Some(shape) = table.get_mut("shape").map(|entry| &mut entry.node)
        {
            set(shape, "object", object.clone());
            if let NodeData::Table(shape) = &mut shape.data {
                shape.remove("each");
            }
        }
        copy
    };
    objects.iter().map(copy).collect()
}

/// Takes the entry of a name that may contain dots, which also separate the keys of a path.
fn take(table: &mut BTreeMap<String, TableEntry>, name: &str) -> Option<TableEntry> {
    if let Some(entry) = table.remove(name) {
        return Some(entry);
    }
    for (dot, _) in name.match_indices('.') {
        let (head, tail) = (&name[..dot], &name[dot + 1..]);
        let Some(NodeData::Table(inner)) = table.get_mut(head).map(|entry| &mut entry.node.data)
        else {
            continue;
        };
        if let Some(found) = take(inner, tail) {
            if inner.is_empty() {
                table.remove(head);
            }
            return Some(found);
        }
    }
    None
}

/// Sets a string of a table; its origin is that of the value it replaces, or of the table.
fn set(table: &mut DocumentNode, key: &str, text: String) {
    let at = table.get(key).map_or(table.at, |node| node.at);
    if let NodeData::Table(table) = &mut table.data {
        let node = DocumentNode {
            data: NodeData::Text(text),
            at,
        };
        table.insert(key.to_owned(), TableEntry { key_at: at, node });
    }
}

/// Merges tables key by key, except those with a key `type`, as overrides do.
fn merge(into: &mut DocumentNode, from: &DocumentNode) {
    match (&mut into.data, &from.data) {
        (NodeData::Table(into), NodeData::Table(from)) if !from.contains_key("type") => {
            for (key, entry) in from {
                match into.get_mut(key) {
                    Some(known) => merge(&mut known.node, &entry.node),
                    None => drop(into.insert(key.clone(), entry.clone())),
                }
            }
        }
        _ => *into = from.clone(),
    }
}

#[cfg(test)]
mod tests {
    use crate::spec::{self, BodyShape};

    const SHOT: &str = "[time]\nend = 1\nframes_per_second = 24\n[[material]]\nname = \"m\"\ndensity = 1\n\
        young = 1e6\n[[body]]\nname = \"robot\"\nmaterial = \"m\"\npacking = { type = \"hexagonal\", elements = 10 }\n";

    fn read(rest: &str, sets: &[&str]) -> Result<spec::Pipeline, String> {
        let folder = tempfile::tempdir().unwrap();
        let parts = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\no arm.001\nf 1 3 2\no arm\nf 1 2 3\no leg\nf 1 2 4\n";
        std::fs::write(folder.path().join("robot.obj"), parts).unwrap();
        let file = folder.path().join("shot.toml");
        std::fs::write(&file, format!("{SHOT}{rest}")).unwrap();
        let sets: Vec<String> = sets.iter().map(|&set| set.to_owned()).collect();
        match spec::read(&file, &sets) {
            Ok(resolved) => Ok(resolved.pipeline),
            Err(errors) => Err(errors.to_string()),
        }
    }

    #[test]
    fn every_object_becomes_a_body() {
        let shape =
            "shape = { type = \"mesh\", file = \"robot.obj\", each = true, unit = \"cm\" }\n";
        let attach = "[[attach]]\nname = \"a\"\nbody = \"robot.leg\"\nregion = { min = [0, 0, 0], max = [1, 1, 1] }\n\
            action = { type = \"clamp\" }\n";
        let own =
            format!("{shape}[body.leg]\nrigid = true\npacking = {{ elements = 7 }}\n{attach}");
        let sets = [
            "body.robot.velocity=[1, 0, 0]",
            "body.robot.arm.packing.elements=30",
        ];
        let shot = read(&own, &sets).unwrap();
        let names: Vec<&str> = shot.bodies.iter().map(|body| body.name.as_str()).collect();
        assert_eq!(names, ["robot.arm.001", "robot.arm", "robot.leg"]);
        for (body, expected) in shot.bodies.iter().zip(["arm.001", "arm", "leg"]) {
            assert_eq!(body.velocity, [1.0, 0.0, 0.0]);
            let BodyShape::Mesh { object, each, .. } = &body.shape else {
                panic!("{:?}", body.shape);
            };
            assert_eq!((object.as_deref(), *each), (Some(expected), false));
        }
        assert!(!shot.bodies[1].rigid && shot.bodies[2].rigid);
        let json = serde_json::to_value(&shot.bodies).unwrap();
        let elements = [0, 1, 2].map(|body| json[body]["packing"]["elements"].as_u64());
        assert_eq!(elements, [Some(10), Some(30), Some(7)]);
        assert_eq!(json[0]["shape"].get("each"), None);
    }

    #[test]
    fn contradictions_are_refused_with_their_place() {
        let shape = |rest: &str| {
            let text = format!("shape = {{ type = \"mesh\", file = \"robot.obj\", {rest} }}\n");
            read(&text, &[]).unwrap_err()
        };
        let error = shape("each = true, object = \"arm\"");
        assert!(
            error.contains("shot.toml:12:") && error.contains("`object` names one"),
            "{error}"
        );
        let error = shape("each = true, height = 1");
        assert!(error.contains("body.robot.shape.height"), "{error}");
        let error = shape("unit = \"cm\", scale = 2");
        assert!(error.contains("`unit` and `scale`"), "{error}");
        let error = shape("unit = \"yard\"");
        assert!(error.contains("\"yard\""), "{error}");
        let error = read(
            "shape = { type = \"mesh\", file = \"no.obj\", each = true }\n",
            &[],
        );
        assert!(error.unwrap_err().contains("there is no mesh file"));
        let error = read(
            "shape = { type = \"mesh\", file = \"shot.toml\", each = true }\n",
            &[],
        );
        assert!(error.unwrap_err().contains("unknown mesh format"));
    }
}
