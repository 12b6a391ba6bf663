//! What was done to a mesh.

/// Counts of what was done; [`Display`](std::fmt::Display) gives them as a sentence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Repairs {
    /// Vertices of no triangle, removed.
    pub unused_vertices: usize,
    /// Vertices at the place of another one, which took their triangles.
    pub merged_vertices: usize,
    /// Triangles without three different vertices, removed.
    pub degenerate_triangles: usize,
    /// Triangles with the vertices of another one, and walls of two such, removed.
    pub duplicate_triangles: usize,
    /// Triangles of open sheets on a closed surface, removed.
    pub fin_triangles: usize,
    /// Triangles of closed surfaces without a thickness, removed.
    pub flat_triangles: usize,
    /// Vertices in the middle of a neighbour's edge, made its vertices too.
    pub joined_vertices: usize,
    /// Needles, removed by collapsing their shortest edge.
    pub collapsed_edges: usize,
    /// Flat triangles, removed by flipping their longest edge.
    pub flipped_edges: usize,
    /// Triangles that were wound the wrong way.
    pub turned_triangles: usize,
    /// Vertices and edges where a surface touched itself: copies of vertices, moved apart.
    pub split_vertices: usize,
}

impl std::fmt::Display for Repairs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let steps = [
            (
                self.unused_vertices,
                "removed",
                "unused vertex",
                "unused vertices",
            ),
            (
                self.merged_vertices,
                "merged",
                "double vertex",
                "double vertices",
            ),
            (
                self.degenerate_triangles,
                "removed",
                "degenerate triangle",
                "degenerate triangles",
            ),
            (
                self.duplicate_triangles,
                "removed",
                "duplicate triangle",
                "duplicate triangles",
            ),
            (
                self.fin_triangles,
                "removed",
                "triangle of fins",
                "triangles of fins",
            ),
            (
                self.flat_triangles,
                "removed",
                "triangle of flat shells",
                "triangles of flat shells",
            ),
            (
                self.joined_vertices,
                "joined",
                "vertex with the edge it lay on",
                "vertices with the edges they lay on",
            ),
            (self.collapsed_edges, "collapsed", "needle", "needles"),
            (
                self.flipped_edges,
                "flipped",
                "flat triangle",
                "flat triangles",
            ),
            (
                self.turned_triangles,
                "turned",
                "triangle round",
                "triangles round",
            ),
            (
                self.split_vertices,
                "parted",
                "vertex where the surface touched itself",
                "vertices where the surface touched itself",
            ),
        ];
        let mut is_first = true;
        for (count, verb, one, many) in steps.into_iter().filter(|step| step.0 > 0) {
            let comma = if is_first { "" } else { ", " };
            let noun = if count == 1 { one } else { many };
            write!(f, "{comma}{verb} {count} {noun}")?;
            is_first = false;
        }
        if is_first {
            write!(f, "nothing to repair")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repairs_read_as_a_sentence() {
        let mut done = Repairs::default();
        assert_eq!(done.to_string(), "nothing to repair");
        done.merged_vertices = 12;
        done.duplicate_triangles = 1;
        done.turned_triangles = 40;
        assert_eq!(
            done.to_string(),
            "merged 12 double vertices, removed 1 duplicate triangle, turned 40 triangles round"
        );
    }
}
