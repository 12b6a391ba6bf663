//! Report of the repairs of a mesh.

/// Number of repairs of each kind; [`Display`](std::fmt::Display) prints them as a sentence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Repairs {
    /// Unused vertices that were removed.
    pub unused_vertices: usize,
    /// Vertices merged with another one at the same position.
    pub merged_vertices: usize,
    /// Triangles without three different vertices that were removed.
    pub degenerate_triangles: usize,
    /// Triangles with the same vertices as another one, and double walls, that were removed.
    pub duplicate_triangles: usize,
    /// Triangles of open sheets on a closed surface that were removed.
    pub fin_triangles: usize,
    /// Triangles of small loose parts that were removed.
    pub loose_triangles: usize,
    /// Vertices at gaps that were merged with one on the other side.
    pub gap_vertices: usize,
    /// Triangles of walls inside that were removed.
    pub wall_triangles: usize,
    /// Triangles of closed surfaces without thickness that were removed.
    pub flat_triangles: usize,
    /// Vertices on the edge of a neighbour that were inserted into that edge.
    pub joined_vertices: usize,
    /// Needles removed by collapsing their shortest edge.
    pub collapsed_edges: usize,
    /// Flat triangles removed by flipping their longest edge.
    pub flipped_edges: usize,
    /// Triangles whose winding was reversed.
    pub turned_triangles: usize,
    /// Holes that were filled.
    pub filled_holes: usize,
    /// Triangles in these holes.
    pub hole_triangles: usize,
    /// Vertices at which a surface touched itself, which were split and moved apart.
    pub split_vertices: usize,
}

impl Repairs {
    /// Adds repairs that were done after.
    pub fn follow(&mut self, later: &Repairs) {
        self.unused_vertices += later.unused_vertices;
        self.merged_vertices += later.merged_vertices;
        self.degenerate_triangles += later.degenerate_triangles;
        self.duplicate_triangles += later.duplicate_triangles;
        self.fin_triangles += later.fin_triangles;
        self.loose_triangles += later.loose_triangles;
        self.gap_vertices += later.gap_vertices;
        self.wall_triangles += later.wall_triangles;
        self.flat_triangles += later.flat_triangles;
        self.joined_vertices += later.joined_vertices;
        self.collapsed_edges += later.collapsed_edges;
        self.flipped_edges += later.flipped_edges;
        self.turned_triangles += later.turned_triangles;
        self.filled_holes += later.filled_holes;
        self.hole_triangles += later.hole_triangles;
        self.split_vertices += later.split_vertices;
    }
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
                "duplicate vertex",
                "duplicate vertices",
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
                "fin triangle",
                "fin triangles",
            ),
            (
                self.loose_triangles,
                "removed",
                "loose triangle",
                "loose triangles",
            ),
            (
                self.gap_vertices,
                "merged",
                "vertex across a gap",
                "vertices across gaps",
            ),
            (
                self.wall_triangles,
                "removed",
                "triangle of a wall inside",
                "triangles of walls inside",
            ),
            (
                self.flat_triangles,
                "removed",
                "triangle of a flat shell",
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
            (self.turned_triangles, "reversed", "triangle", "triangles"),
            (self.filled_holes, "filled", "hole", "holes"),
            (
                self.hole_triangles,
                "added",
                "triangle in them",
                "triangles in them",
            ),
            (
                self.split_vertices,
                "split",
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
            "merged 12 duplicate vertices, removed 1 duplicate triangle, reversed 40 triangles"
        );
    }
}
