//! Result of a mesh format's parser: triangles and the objects they belong to, or what is wrong with the file.

use std::path::Path;

use super::mesh::TriMesh;

/// What a parser found wrong and in which line; the caller adds the file name.
#[derive(Debug)]
pub(super) struct FormatFault {
    pub line: Option<usize>,
    pub what: String,
}

impl FormatFault {
    pub fn new(line: Option<usize>, what: impl Into<String>) -> Self {
        FormatFault {
            line,
            what: what.into(),
        }
    }
}

/// A file to parse.
pub(super) struct FormatSource<'a> {
    pub bytes: &'a [u8],
    /// Path of the file, for files next to it and for advice.
    pub path: &'a Path,
}

/// Axis that points up in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpAxis {
    /// y, as in cullet.
    Y,
    /// z.
    Z,
}

/// Contents of a mesh file.
#[derive(Debug, Default)]
pub(super) struct ParsedFile {
    /// Vertices and triangles as in the file.
    pub mesh: TriMesh,
    /// Names of the objects; several may be equal.
    pub names: Vec<String>,
    /// Index of each triangle's object; empty in formats without objects.
    pub object_of: Vec<u32>,
    /// Length of the file's unit, m, where the file says it.
    pub metres_per_unit: Option<f64>,
    /// Axis that points up, where the file says it.
    pub up: Option<UpAxis>,
}

impl From<TriMesh> for ParsedFile {
    fn from(mesh: TriMesh) -> Self {
        ParsedFile {
            mesh,
            ..ParsedFile::default()
        }
    }
}

/// Contents of a file, or its fault.
pub(super) type ParseResult = Result<ParsedFile, FormatFault>;
