//! Names of the shot and its bodies; names of bodies are valid identifiers in every format.

use std::collections::BTreeSet;

use crate::spec::Pipeline;
use crate::store::Store;

/// Names of the shot and its bodies.
pub struct ShotNames {
    shot: String,
    bodies: Vec<String>,
}

impl ShotNames {
    /// Takes the names of bodies from the pipeline, or numbers them without one; the shot has the name of its
    /// folder.
    pub fn new(store: &Store, pipeline: Option<&Pipeline>) -> Self {
        let folder = store.root().canonicalize().ok();
        let folder = folder.as_deref().and_then(|path| path.file_name());
        let shot = folder.map_or("shot".into(), |name| name.to_string_lossy());
        // USD has the materials next to the bodies.
        let mut taken = BTreeSet::from(["materials".to_owned()]);
        let bodies = pipeline
            .map_or(&[][..], |pipeline| &pipeline.bodies)
            .iter()
            .enumerate()
            .map(|(at, body)| {
                let plain = identifier(&body.name, &format!("body_{at}"));
                let name = distinct(plain, |name| taken.contains(name));
                taken.insert(name.clone());
                name
            })
            .collect();
        ShotNames {
            shot: shot.into_owned(),
            bodies,
        }
    }

    /// Name of the shot, for file names.
    pub fn shot(&self) -> &str {
        &self.shot
    }

    /// Name of body number `body`, a valid identifier.
    pub fn body(&self, body: u32) -> String {
        let known = self.bodies.get(body as usize);
        known.map_or_else(|| format!("body_{body}"), String::clone)
    }
}

/// `name` with all but ASCII letters and digits replaced by `_`; `fallback` if it has neither letters nor
/// digits.
pub fn identifier(name: &str, fallback: &str) -> String {
    if !name.chars().any(|c| c.is_ascii_alphanumeric()) {
        return fallback.to_owned();
    }
    let mut text: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
        .collect();
    if text.starts_with(|c: char| c.is_ascii_digit()) {
        text.insert(0, '_');
    }
    text
}

/// A name that is not taken: this one, or with a number, since different names can become the same identifier.
pub fn distinct(name: String, is_taken: impl Fn(&str) -> bool) -> String {
    if !is_taken(&name) {
        return name;
    }
    let mut numbered = (1..).map(|number| format!("{name}_{number}"));
    let free = numbered.find(|name| !is_taken(name));
    free.expect("there are more numbers than names")
}

#[cfg(test)]
mod tests {
    use super::{distinct, identifier};

    #[test]
    fn names_are_numbered_until_one_is_free() {
        let taken = ["a", "a_1"];
        let free = |name: &str| distinct(name.to_owned(), |name| taken.contains(&name));
        assert_eq!([free("b"), free("a")], ["b", "a_2"]);
    }

    #[test]
    fn identifiers_are_ascii_and_start_with_no_digit() {
        assert_eq!(identifier("left wall-2", "b"), "left_wall_2");
        assert_eq!(identifier("3rd", "b"), "_3rd");
        assert_eq!(identifier("…", "body_4"), "body_4");
    }
}
