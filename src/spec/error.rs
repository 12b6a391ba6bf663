//! What can be wrong with a pipeline file, and where.

use std::fmt;
use std::path::PathBuf;

use crate::units::UnitError;

/// Where a fault stands.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// In a file as a whole.
    Whole(String),
    /// In a file, line and column from 1.
    File {
        /// The file as it was named.
        file: String,
        /// Line.
        line: usize,
        /// Column, in characters.
        column: usize,
    },
    /// In an override, `key=value`.
    Set(String),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Whole(file) => f.write_str(file),
            Place::File { file, line, column } => write!(f, "{file}:{line}:{column}"),
            Place::Set(text) => write!(f, "--set {text}"),
        }
    }
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// The file cannot be read.
    #[error("cannot be read: {0}")]
    Unreadable(String),
    /// The text is no TOML.
    #[error("{0}")]
    Syntax(String),
    /// An override without `=`.
    #[error("an override is written key=value")]
    NoValue,
    /// A key that does not exist.
    #[error("unknown key `{key}`; {hint}")]
    UnknownKey {
        /// The key.
        key: String,
        /// The key probably meant, or those there are.
        hint: Hint,
    },
    /// A name that nothing has.
    #[error("no {what} `{name}`; {hint}")]
    UnknownName {
        /// What was looked for: "material".
        what: &'static str,
        /// Its name.
        name: String,
        /// The name probably meant, or those there are.
        hint: Hint,
    },
    /// A word that is none of the choices.
    #[error("unknown value \"{value}\"; {hint}")]
    UnknownChoice {
        /// The word.
        value: String,
        /// The word probably meant, or those there are.
        hint: Hint,
    },
    /// A key that must be there.
    #[error("key `{key}` is missing: {what}")]
    Missing {
        /// The key.
        key: String,
        /// What it means.
        what: String,
    },
    /// A value of another type.
    #[error("found {found}; here {wanted} is wanted")]
    WrongType {
        /// With article.
        found: String,
        /// With article.
        wanted: String,
    },
    /// An array of another length.
    #[error("found {found} values; here {wanted} are wanted")]
    WrongCount {
        /// How many there are.
        found: usize,
        /// How many there should be.
        wanted: usize,
    },
    /// A number with unit that does not fit.
    #[error(transparent)]
    Unit(#[from] UnitError),
    /// NaN or infinite.
    #[error("{0} is not a finite number")]
    NotFinite(f64),
    /// A number out of its range.
    #[error("{value} is out of range; it must be {bounds}")]
    OutOfRange {
        /// As written.
        value: String,
        /// The range.
        bounds: String,
    },
    /// Two entries of one name.
    #[error("the name \"{0}\" is taken by an earlier entry")]
    NameTaken(String),
    /// A mesh file that is not there.
    #[error("no mesh file at {}", .0.display())]
    NoMesh(PathBuf),
    /// A path with more keys than any value has.
    #[error("a path of {found} keys; no value lies deeper than {deepest}")]
    TooDeep {
        /// How many there are.
        found: usize,
        /// How many there may be.
        deepest: usize,
    },
    /// What of many faults is not told.
    #[error("there are more faults; these are the first {TOLD}")]
    More,
    /// Values that contradict each other or mean nothing.
    #[error("{0}")]
    Senseless(String),
}

/// Faults of a file that are told: a file that is something else altogether would have one a line.
pub(super) const TOLD: usize = 50;
/// Words that a hint lists.
const LISTED: usize = 40;
/// Characters of the longest word that is compared with what was written.
const LONGEST: usize = 64;

/// What a user probably meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint(String);

impl Hint {
    /// The nearest of `allowed`, or all of them. `label` names them where there are none: "material in this file".
    pub(super) fn new<'a>(
        written: &str,
        allowed: impl IntoIterator<Item = &'a str>,
        label: &str,
    ) -> Self {
        let allowed: Vec<&str> = allowed.into_iter().collect();
        let length = written.chars().count();
        let near = allowed
            .iter()
            .map(|word| (word.chars().count(), *word))
            // The distance takes memory and time by the product of both lengths.
            .filter(|(count, _)| *count <= LONGEST && count.abs_diff(length) <= 3)
            .map(|(count, word)| (count, strsim::damerau_levenshtein(written, word), word))
            .filter(|(count, distance, _)| *distance <= count.div_ceil(3).min(3))
            .map(|(_, distance, word)| (distance, word))
            .min_by_key(|(distance, _)| *distance);
        Hint(match near {
            Some((_, word)) => format!("did you mean `{word}`?"),
            None if allowed.is_empty() => format!("there is no {label}"),
            None => return Hint::list(allowed),
        })
    }

    /// All there are.
    pub(super) fn list<'a>(allowed: impl IntoIterator<Item = &'a str>) -> Self {
        let mut allowed: Vec<&str> = allowed.into_iter().collect();
        let more = match allowed.len().saturating_sub(LISTED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        allowed.truncate(LISTED);
        Hint(format!("there are {}{more}", allowed.join(", ")))
    }
}

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One fault: where, in which key, what.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{place}: {}{fault}", if .path.is_empty() { String::new() } else { format!("{path}: ") })]
pub struct SpecError {
    /// Where it stands.
    pub place: Place,
    /// Path of the key, such as `material.gypsum.young`; empty for the file as a whole.
    pub path: String,
    /// What is wrong.
    pub fault: Fault,
}

/// All faults found, in the order of the file, one a line; of very many the first.
#[derive(Clone, Debug, PartialEq)]
pub struct SpecErrors(pub Vec<SpecError>);

impl fmt::Display for SpecErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self.0.iter().map(SpecError::to_string).collect();
        f.write_str(&lines.join("\n"))
    }
}

impl std::error::Error for SpecErrors {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_name_the_nearest_or_all() {
        let hint = |word| Hint::new(word, ["friction", "density"], "key").to_string();
        assert_eq!(hint("frcition"), "did you mean `friction`?");
        assert_eq!(hint("Density"), "did you mean `density`?");
        assert_eq!(hint("colour"), "there are friction, density");
        assert_eq!(
            Hint::new("x", [], "material in this file").to_string(),
            "there is no material in this file"
        );
    }

    #[test]
    fn hints_stay_short_whatever_the_names() {
        // Compared letter by letter these would take 10 GB.
        let long = ["a", "b"].map(|letter| letter.repeat(50_000));
        let hint = Hint::new(&long[0], [long[1].as_str()], "key");
        assert!(hint.to_string().starts_with("there are bbb"));
        let names: Vec<String> = (0..1000).map(|number| format!("name {number}")).collect();
        let hint = Hint::new("x", names.iter().map(String::as_str), "key").to_string();
        assert!(hint.ends_with("name 39 and 960 more"), "{hint}");
    }
}
