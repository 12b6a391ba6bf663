//! Result of a mesh format's parser: triangles, or what is wrong with the file.

use super::mesh::TriMesh;

/// What a parser found wrong and in which line; the caller adds the file name.
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

/// Vertices and triangles as in the file.
pub(super) type ParseResult = Result<TriMesh, FormatFault>;
