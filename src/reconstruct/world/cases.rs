//! The cases of marching cubes (Lorensen & Cline 1987), made by a rule rather than typed in.
//!
//! On a face of a cell, each run of inside corners gets one segment, from where a walk round the face enters
//! it to where it leaves: inside corners across a diagonal stay apart. The rule asks for the face alone, so
//! both cells at a face draw the same segments, in opposite directions, and the polygons that segments close
//! into make a surface without holes. No diagonal of a polygon lies in a face, where the next cell might draw
//! it too: every edge has two triangles, one each way.

use std::sync::LazyLock;

/// The edges of a cell by their lower corner and axis. A corner is its three coordinates as bits, x the lowest.
pub const EDGES: [(u8, u8); 12] = {
    let mut edges = [(0, 0); 12];
    let (mut count, mut axis) = (0, 0);
    while axis < 3 {
        let mut corner = 0;
        while corner < 8 {
            if corner >> axis & 1 == 0 {
                edges[count] = (corner, axis);
                count += 1;
            }
            corner += 1;
        }
        axis += 1;
    }
    edges
};

/// For each set of inside corners, as bits, the triangles: three edges each, counter-clockwise from outside.
pub static CASES: LazyLock<Vec<Vec<[u8; 3]>>> =
    LazyLock::new(|| (0..=255).map(triangles).collect());

/// The corners of each face, counter-clockwise seen from outside the cell.
fn faces() -> [[u8; 4]; 6] {
    std::array::from_fn(|face| {
        let (axis, upper) = (face / 2, (face % 2) as u8);
        let (u, v) = (1 << ((axis + 1) % 3), 1 << ((axis + 2) % 3));
        let base = upper << axis;
        let mut corners = [base, base | u, base | u | v, base | v];
        if upper == 0 {
            corners.reverse();
        }
        corners
    })
}

/// The edge between neighbouring corners.
fn edge_between(a: u8, b: u8) -> u8 {
    let wanted = (a.min(b), (a ^ b).trailing_zeros() as u8);
    let found = EDGES.iter().position(|&edge| edge == wanted);
    found.expect("corners are neighbours") as u8
}

/// Whether two edges of a cell have a face in common.
fn share_face(a: u8, b: u8) -> bool {
    let (a, b) = (EDGES[a as usize], EDGES[b as usize]);
    (0..3).any(|axis| axis != a.1 && axis != b.1 && (a.0 ^ b.0) >> axis & 1 == 0)
}

fn triangles(case: u8) -> Vec<[u8; 3]> {
    let is_inside = |corner: u8| case >> corner & 1 == 1;
    let mut next = [None; 12];
    for face in faces() {
        for enter in 0..4 {
            let at = |m: usize| face[(enter + m) % 4];
            if is_inside(at(0)) || !is_inside(at(1)) {
                continue;
            }
            let run = (1..4).take_while(|&m| is_inside(at(m))).count();
            next[edge_between(at(0), at(1)) as usize] = Some(edge_between(at(run), at(run + 1)));
        }
    }
    let mut triangles = Vec::new();
    for first in 0..12 {
        let mut polygon = Vec::new();
        let mut edge = first;
        while let Some(following) = next[edge as usize].take() {
            polygon.push(edge);
            edge = following;
        }
        if !polygon.is_empty() {
            let found = triangulate(&polygon, &mut triangles);
            assert!(found, "case {case}: every diagonal lies in a face");
        }
    }
    triangles
}

/// Adds triangles of a polygon whose diagonals lie in no face; whether there are such. The first and last
/// corner are the base.
fn triangulate(polygon: &[u8], triangles: &mut Vec<[u8; 3]>) -> bool {
    let [first, .., last] = *polygon else {
        return true;
    };
    if polygon.len() == 2 {
        return true;
    }
    let end = polygon.len() - 1;
    (1..end).any(|apex| {
        let is_free =
            |from: usize, to: usize| to - from == 1 || !share_face(polygon[from], polygon[to]);
        let known = triangles.len();
        triangles.push([first, polygon[apex], last]);
        let found = is_free(0, apex)
            && is_free(apex, end)
            && triangulate(&polygon[..=apex], triangles)
            && triangulate(&polygon[apex..], triangles);
        if !found {
            triangles.truncate(known);
        }
        found
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_corner_alone_has_one_triangle_that_faces_away_from_it() {
        // Edges along x, y, z from the origin.
        let expected = [0, 1, 2].map(|axis| edge_between(0, 1 << axis));
        let mut found = CASES[1][0];
        assert_eq!(CASES[1].len(), 1);
        while found[0] != expected[0] {
            found.rotate_left(1);
        }
        assert_eq!(found, expected);
    }

    #[test]
    fn every_case_uses_its_crossed_edges_and_no_diagonal_lies_in_a_face() {
        for (case, triangles) in CASES.iter().enumerate() {
            for (e, &(corner, axis)) in EDGES.iter().enumerate() {
                let ends = [corner, corner | 1 << axis].map(|c| case >> c & 1);
                let used = triangles.iter().flatten().any(|&used| used as usize == e);
                assert_eq!(used, ends[0] != ends[1], "case {case}, edge {e}");
            }
            // An edge of a triangle within a face is a segment: the other triangle there belongs to the next cell.
            let directed = || {
                let edges = triangles
                    .iter()
                    .flat_map(|&[a, b, c]| [(a, b), (b, c), (c, a)]);
                edges.collect::<Vec<_>>()
            };
            for (a, b) in directed() {
                let back = directed().iter().filter(|&&edge| edge == (b, a)).count();
                let segment = share_face(a, b);
                assert_eq!(back, usize::from(!segment), "case {case}, {a}-{b}");
            }
        }
    }
}
