//! How cracks pass through a face of the grid.
//!
//! The part of a face inside the skin is bounded by rings: stretches of grid edges and, where the skin
//! passes, chains of segments. A crack that crosses a ring parts it there; both ends of such a *crossing* are
//! its *halves*, numbers `2 c` and `2 c + 1` for crossing `c`. The stretches between one crossing and the
//! next are arcs, and each joins the halves at its ends: they are on one side of the crack as far as this
//! face can tell. A ring with a single crossing has one arc, from the crossing round to itself: there the
//! crack ends, and both its sides are one. The rule looks at the face alone, so the cells on both sides of it
//! agree.

/// A crossing met on the way round a ring: the half on the near side, and the one beyond.
pub type Step = [u32; 2];

/// A stretch of a ring between two crossings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arc {
    /// The halves at its ends, in order round the ring: counter-clockwise seen against the face's axis.
    pub halves: [u32; 2],
    /// Whether a line passes through the face: the tip of a crack, or where several meet.
    pub line: bool,
}

impl Arc {
    /// Whether the surface has an edge through the face here; crossings below `portions` are those of grid
    /// edges. A rim that ends has none.
    pub fn has_edge(&self, portions: u32) -> bool {
        let [a, b] = self.halves.map(|half| half / 2);
        a != b || a < portions
    }
}

/// The arcs of a ring with these crossings, in order round it.
pub fn arcs(steps: &[Step]) -> impl Iterator<Item = Arc> {
    let count = steps.len();
    (0..count).map(move |m| Arc {
        halves: [steps[m][1], steps[(m + 1) % count][0]],
        line: count != 2,
    })
}

/// Both corners of an edge of a cell, the first with the lower coordinate. Corner `c` of a cell lies at bits
/// (x, y, z) = (c & 1, c >> 1 & 1, c >> 2 & 1). Edge `4 a + u + 2 v` runs along axis `a` at offsets `u`, `v`
/// on the two axes that follow it cyclically.
pub const fn edge_corners(edge: usize) -> [usize; 2] {
    let axis = edge / 4;
    let (u, v) = (edge & 1, edge >> 1 & 1);
    let start = u << ((axis + 1) % 3) | v << ((axis + 2) % 3);
    [start, start | 1 << axis]
}

/// Edges of a cell around its face at `side` (0 or 1) of `axis`, in order; the last two are passed from their
/// upper end.
pub const fn face_edges(axis: usize, side: usize) -> [usize; 4] {
    // On the face, edges along the next axis (its own v is this face's axis, u the axis after) and along the
    // one after it (u is the face's axis).
    let (next, after) = (4 * ((axis + 1) % 3), 4 * ((axis + 2) % 3));
    [
        next + 2 * side,
        after + side + 2,
        next + 2 * side + 1,
        after + side,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn face_edges_run_round_the_face() {
        for axis in 0..3 {
            for side in 0..2 {
                let edges = face_edges(axis, side);
                let walk: Vec<usize> = (0..4)
                    .flat_map(|m| {
                        let [low, high] = edge_corners(edges[m]);
                        if m < 2 { [low, high] } else { [high, low] }
                    })
                    .collect();
                for m in 0..4 {
                    assert_eq!(walk[2 * m + 1], walk[(2 * m + 2) % 8]);
                    assert_eq!(walk[2 * m] >> axis & 1, side);
                }
            }
        }
    }

    #[test]
    fn arcs_join_what_lies_between_crossings() {
        let tip: Vec<Arc> = arcs(&[[0, 1]]).collect();
        assert_eq!(
            tip,
            [Arc {
                halves: [1, 0],
                line: true
            }]
        );
        let through: Vec<[u32; 2]> = arcs(&[[0, 1], [3, 2]]).map(|arc| arc.halves).collect();
        assert_eq!(through, [[1, 3], [2, 0]]);
    }
}
