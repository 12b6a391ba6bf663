//! What the reader of a mesh format gives: triangles, or what is wrong with the file.

use super::mesh::TriMesh;

/// What a format's reader found wrong, file name aside.
pub(super) struct Fault {
    pub line: Option<usize>,
    pub what: String,
}

impl Fault {
    pub fn new(line: Option<usize>, what: impl Into<String>) -> Self {
        Fault {
            line,
            what: what.into(),
        }
    }
}

/// Vertices and triangles as the file has them.
pub(super) type Parsed = Result<TriMesh, Fault>;
