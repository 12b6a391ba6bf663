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
        let mut taken = BTreeSet::new();
        let bodies = pipeline
            .map_or(&[][..], |pipeline| &pipeline.bodies)
            .iter()
            .enumerate()
            .map(|(at, body)| {
                let plain = identifier(&body.name, &format!("body_{at}"));
                // Different names can become the same identifier; the number makes them distinct.
                let name = if taken.contains(&plain) {
                    format!("{plain}_{at}")
                } else {
                    plain
                };
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

#[cfg(test)]
mod tests {
    use super::identifier;

    #[test]
    fn identifiers_are_ascii_and_start_with_no_digit() {
        assert_eq!(identifier("left wall-2", "b"), "left_wall_2");
        assert_eq!(identifier("3rd", "b"), "_3rd");
        assert_eq!(identifier("…", "body_4"), "body_4");
    }
}
