//! The addresses of the data: from the path of a request to an answer.

use serde_json::{Value, json};

use super::error::ViewError;
use super::viewed::ViewedStore;
use super::{bonds, colliders, frames, overview, surfaces, tables};

/// The address that describes the stores.
pub const STORES: &str = "/api/stores";

/// An answer.
pub enum Answer {
    /// Text in JSON.
    Json(Value),
    /// [Arrays](super::arrays).
    Arrays(Vec<u8>),
}

impl Answer {
    /// The bytes of the answer.
    pub fn into_bytes(self) -> Vec<u8> {
        match self {
            Answer::Json(value) => value.to_string().into_bytes(),
            Answer::Arrays(bytes) => bytes,
        }
    }
}

/// Answers a request for data about these stores. Nothing in an address is used as a path of a file.
pub fn answer(stores: &[ViewedStore], path: &str, query: &str) -> Result<Answer, ViewError> {
    let unknown = || ViewError::NoSuchAddress(path.to_owned());
    if path == STORES {
        let described: Value = stores.iter().map(overview::overview).collect();
        let version = env!("CARGO_PKG_VERSION");
        return Ok(Answer::Json(
            json!({ "version": version, "stores": described }),
        ));
    }
    let rest = path
        .strip_prefix(STORES)
        .and_then(|rest| rest.strip_prefix('/'));
    let parts: Vec<&str> = rest.ok_or_else(unknown)?.split('/').collect();
    let number = |text: &str| text.parse::<u32>().map_err(|_| unknown());
    let viewed = number(parts[0])?;
    let viewed = stores.get(viewed as usize).ok_or_else(unknown)?;
    match parts[1..] {
        ["elements"] => frames::elements(viewed).map(Answer::Arrays),
        ["colliders"] => colliders::meshes(viewed).map(Answer::Arrays),
        ["bonds"] => bonds::bonds(viewed).map(Answer::Arrays),
        ["frames", frame] => {
            frames::frame(viewed, number(frame)?, &columns(query)).map(Answer::Arrays)
        }
        ["surfaces", frame] => surfaces::surfaces(viewed, number(frame)?).map(Answer::Arrays),
        ["tables", kind] => tables::of_all_frames(viewed, kind).map(Answer::Json),
        ["tables", kind, frame] => tables::of_frame(viewed, kind, number(frame)?).map(Answer::Json),
        _ => Err(unknown()),
    }
}

/// The names in `columns=a,b`. Commas may be escaped.
fn columns(query: &str) -> Vec<&str> {
    let mut pairs = query
        .split('&')
        .filter_map(|pair| pair.strip_prefix("columns="));
    let names = pairs.next().unwrap_or_default();
    let names = names.split("%2C").flat_map(|names| names.split(','));
    names.filter(|name| !name.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_split_and_empty_names_dropped() {
        assert_eq!(
            columns("columns=sigma,tau%2Cspeed,"),
            ["sigma", "tau", "speed"]
        );
        assert_eq!(columns("x=1&columns=vx"), ["vx"]);
        assert!(columns("").is_empty());
    }

    #[test]
    fn unknown_addresses_are_refused() {
        for path in [
            "/api/stores/0",
            "/api/stores/0/elements",
            "/api/stores/../../etc/passwd",
            "/api/stores/-1/frames/0",
            "/api",
            "/x",
        ] {
            let answer = answer(&[], path, "");
            assert!(matches!(answer, Err(ViewError::NoSuchAddress(_))), "{path}");
        }
    }
}
