//! Errors of a pipeline file and their locations.

use std::fmt;
use std::path::PathBuf;

use crate::units::UnitError;

/// Location of a fault.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SourceLocation {
    /// A file as a whole.
    Whole(String),
    /// A place in a file; line and column count from 1.
    File {
        /// Name of the file as the user gave it.
        file: String,
        /// Line.
        line: usize,
        /// Column, in characters.
        column: usize,
    },
    /// An override, `key=value`.
    Set(String),
}

impl fmt::Display for SourceLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SourceLocation::Whole(file) => f.write_str(file),
            SourceLocation::File { file, line, column } => write!(f, "{file}:{line}:{column}"),
            SourceLocation::Set(text) => write!(f, "--set {text}"),
        }
    }
}

/// A fault of a pipeline file.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SpecFault {
    /// The file cannot be read.
    #[error("cannot be read: {0}")]
    Unreadable(String),
    /// The text is not valid TOML.
    #[error("{0}")]
    Syntax(String),
    /// An override without `=`.
    #[error("an override has the form key=value")]
    NotKeyValue,
    /// A key that does not exist.
    #[error("unknown key `{key}`; {hint}")]
    UnknownKey {
        /// The key.
        key: String,
        /// The key that was probably meant, or all keys.
        hint: Hint,
    },
    /// A name that no entry has.
    #[error("no {what} `{name}`; {hint}")]
    UnknownName {
        /// Kind of entry, such as "material".
        what: &'static str,
        /// The name.
        name: String,
        /// The name that was probably meant, or all names.
        hint: Hint,
    },
    /// A word that is none of the choices.
    #[error("unknown value \"{value}\"; {hint}")]
    UnknownChoice {
        /// The word.
        value: String,
        /// The word that was probably meant, or all choices.
        hint: Hint,
    },
    /// A required key is missing.
    #[error("key `{key}` is missing: {what}")]
    Missing {
        /// The key.
        key: String,
        /// Meaning of the key.
        what: String,
    },
    /// A value of a wrong type.
    #[error("found {found}; expected {expected}")]
    WrongType {
        /// Description of the value found, with article.
        found: String,
        /// Description of the value expected, with article.
        expected: String,
    },
    /// An array of a wrong length.
    #[error("found {found} values; expected {expected}")]
    WrongCount {
        /// Number of values found.
        found: usize,
        /// Number of values expected.
        expected: usize,
    },
    /// A string that is not a quantity of the right dimension.
    #[error(transparent)]
    Unit(#[from] UnitError),
    /// NaN or infinite.
    #[error("{0} is not a finite number")]
    NotFinite(f64),
    /// A number outside its range.
    #[error("{value} is out of range; it must be {bounds}")]
    OutOfRange {
        /// The value as written.
        value: String,
        /// The allowed range.
        bounds: String,
    },
    /// Two entries have the same name.
    #[error("an earlier entry already has the name \"{0}\"")]
    DuplicateName(String),
    /// A mesh file that does not exist.
    #[error("there is no mesh file {}", .0.display())]
    MissingMeshFile(PathBuf),
    /// A path with more keys than that of any value.
    #[error("a path of {found} keys; no value has more than {most}")]
    TooDeep {
        /// Number of keys.
        found: usize,
        /// Greatest number allowed.
        most: usize,
    },
    /// There are more faults than are reported.
    #[error("there are more errors; these are the first {MAX_REPORTED}")]
    TooManyFaults,
    /// A value that is impossible or contradicts another.
    #[error("{0}")]
    Invalid(String),
}

/// Faults reported per file at most: a file that is no pipeline at all would have one per line.
pub(super) const MAX_REPORTED: usize = 50;
/// Words that a hint lists at most.
const MAX_LISTED: usize = 40;
/// Characters of the longest word that is compared with the user's.
const MAX_COMPARED_LENGTH: usize = 64;

/// Advice on an unknown word: the word that was probably meant, or all allowed words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint(String);

impl Hint {
    /// The most similar word of `allowed`, or all of them. If there are none, `label` says of what: "material in
    /// this file".
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
            // Memory and time of the distance grow with the product of both lengths.
            .filter(|(count, _)| *count <= MAX_COMPARED_LENGTH && count.abs_diff(length) <= 3)
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

    /// Lists all allowed words.
    pub(super) fn list<'a>(allowed: impl IntoIterator<Item = &'a str>) -> Self {
        let mut allowed: Vec<&str> = allowed.into_iter().collect();
        let more = match allowed.len().saturating_sub(MAX_LISTED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        allowed.truncate(MAX_LISTED);
        Hint(format!("there are {}{more}", allowed.join(", ")))
    }
}

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A fault with its location and key.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{location}: {}{fault}", if .path.is_empty() { String::new() } else { format!("{path}: ") })]
pub struct SpecError {
    /// Location of the fault.
    pub location: SourceLocation,
    /// Path of the key, such as `material.gypsum.young`; empty for the file as a whole.
    pub path: String,
    /// The fault.
    pub fault: SpecFault,
}

/// All faults of a file, in its order, printed one per line; of very many only the first.
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
