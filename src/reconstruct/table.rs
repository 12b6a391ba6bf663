//! The 256 cases of marching cubes, made by rule.
//!
//! Corner `c` of a cell lies at bits (x, y, z) = (c & 1, c >> 1 & 1, c >> 2 & 1). Edge `4 a + u + 2 v` runs along axis
//! `a` at offsets `u`, `v` on the two axes that follow it cyclically. On every face the crossed edges are joined in
//! pairs; on a face whose corners alternate, each inside corner is cut off by itself. The rule looks at the face alone,
//! so both cells of a face agree, and the joined edges close to loops: the polygons of marching cubes.

use std::sync::LazyLock;

/// Marks an edge that the surface does not cross.
pub const NOT_CROSSED: u8 = u8::MAX;

/// The polygons of one case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Case {
    /// Number of polygons, at most 4.
    pub loops: u8,
    /// For each edge, the polygon that crosses it, or [`NOT_CROSSED`].
    pub loop_of_edge: [u8; 12],
}

/// The cases, indexed by the set of inside corners (bit `c` for corner `c`).
pub static CASES: LazyLock<[Case; 256]> =
    LazyLock::new(|| std::array::from_fn(|inside| case(inside as u8)));

/// Both corners of an edge, the first with the lower coordinate.
pub const fn edge_corners(edge: usize) -> [usize; 2] {
    let axis = edge / 4;
    let (u, v) = (edge & 1, edge >> 1 & 1);
    let start = u << ((axis + 1) % 3) | v << ((axis + 2) % 3);
    [start, start | 1 << axis]
}

/// The edge between two corners that differ in one coordinate.
const fn edge_between(a: usize, b: usize) -> usize {
    let axis = (a ^ b).trailing_zeros() as usize;
    let (u, v) = (a >> ((axis + 1) % 3) & 1, a >> ((axis + 2) % 3) & 1);
    4 * axis + u + 2 * v
}

/// Corners of the face at `side` (0 or 1) of `axis`, in order around it.
const fn face_corners(axis: usize, side: usize) -> [usize; 4] {
    let (u, v) = (1 << ((axis + 1) % 3), 1 << ((axis + 2) % 3));
    let base = side << axis;
    [base, base | u, base | u | v, base | v]
}

/// The segments that the surface draws on a face: pairs of edges, each with the inside corner between them if it is alone there.
fn segments(inside: u8, axis: usize, side: usize) -> Vec<[usize; 2]> {
    let corners = face_corners(axis, side);
    let is_in = |m: usize| inside >> corners[m % 4] & 1 == 1;
    let edge = |m: usize| edge_between(corners[m % 4], corners[(m + 1) % 4]);
    let crossed: Vec<usize> = (0..4).filter(|&m| is_in(m) != is_in(m + 1)).collect();
    match crossed.len() {
        2 => vec![[edge(crossed[0]), edge(crossed[1])]],
        4 => (0..4)
            .filter(|&m| is_in(m))
            .map(|m| [edge(m + 3), edge(m)])
            .collect(),
        _ => Vec::new(),
    }
}

fn case(inside: u8) -> Case {
    let crossed = |e: usize| {
        let [a, b] = edge_corners(e);
        inside >> a & 1 != inside >> b & 1
    };
    // Each edge takes the smallest edge number that it is joined to.
    let mut joined: [usize; 12] = std::array::from_fn(|e| e);
    let pairs: Vec<[usize; 2]> = (0..6)
        .flat_map(|face| segments(inside, face / 2, face % 2))
        .collect();
    for _ in 0..12 {
        for &[a, b] in &pairs {
            let least = joined[a].min(joined[b]);
            (joined[a], joined[b]) = (least, least);
        }
    }
    let mut result = Case {
        loops: 0,
        loop_of_edge: [NOT_CROSSED; 12],
    };
    for e in (0..12).filter(|&e| crossed(e)) {
        if joined[e] == e {
            result.loop_of_edge[e] = result.loops;
            result.loops += 1;
        } else {
            result.loop_of_edge[e] = result.loop_of_edge[joined[e]];
        }
    }
    result
}

/// If the corners of the face at `side` of `axis` alternate and one polygon draws both segments on it, that polygon.
pub fn doubled_face(inside: u8, axis: usize, side: usize) -> Option<u8> {
    let corners = face_corners(axis, side);
    let is_in = |m: usize| inside >> corners[m] & 1 == 1;
    let alternates = is_in(0) == is_in(2) && is_in(1) == is_in(3) && is_in(0) != is_in(1);
    if !alternates {
        return None;
    }
    let of = |m: usize| {
        CASES[inside as usize].loop_of_edge[edge_between(corners[m], corners[(m + 1) % 4])]
    };
    let first = of(0);
    (1..4).all(|m| of(m) == first).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_crossed_edge_has_a_loop_of_at_least_three() {
        for inside in 0..=255_u8 {
            let case = CASES[inside as usize];
            for polygon in 0..case.loops {
                let edges = case.loop_of_edge.iter().filter(|&&l| l == polygon).count();
                assert!((3..=12).contains(&edges), "case {inside}");
            }
            for e in 0..12 {
                let [a, b] = edge_corners(e);
                let crossed = inside >> a & 1 != inside >> b & 1;
                assert_eq!(
                    crossed,
                    case.loop_of_edge[e] != NOT_CROSSED,
                    "case {inside}"
                );
                assert_eq!(edge_between(a, b), e);
            }
        }
        assert_eq!(CASES[0b0110_1001].loops, 4);
        assert_eq!(CASES[0b1001_0110].loops, 4);
    }
}
