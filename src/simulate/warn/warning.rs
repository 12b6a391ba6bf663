//! One warning.

use crate::spec::Body;

/// A warning.
#[derive(Clone, Debug, PartialEq)]
pub struct Warning {
    /// Kind of the warning, for programs.
    pub kind: &'static str,
    /// Name of the body that it is about; `None` if it is about the whole shot.
    pub body: Option<String>,
    /// How bad it is among warnings of its kind.
    pub severity: f64,
    /// One sentence with numbers and a remedy.
    pub text: String,
}

impl Warning {
    /// A warning about a body.
    pub fn about(body: &Body, kind: &'static str, severity: f64, text: String) -> Self {
        Warning {
            kind,
            body: Some(body.name.clone()),
            severity,
            text,
        }
    }
}
