//! One vertex for each fan of triangles.
//!
//! A loop has one vertex, and all faces of its side of the crack meet there. Where the skin passes through
//! the cell, the side goes on along the skin, and not always as its border on the cell's faces tells: there
//! may be an island of it, or a strip that joins two stretches of the border that belong to different loops,
//! or both sides may be one. The triangles about the vertex then form several fans, each closed by itself,
//! and each fan gets a vertex of its own at the same place. A closed surface stays closed, and no vertex
//! pinches two parts of it together.

use super::surface::Surface;
use crate::math::union_find::UnionFind;
use crate::parallel::prelude::*;

/// A corner of a triangle: its vertex, the next vertex of the triangle, the one before, and the triangle.
type Corner = (u32, u32, u32, u32);

fn corners_of(t: u32, [a, b, c]: [u32; 3]) -> [Corner; 3] {
    [(a, b, c, t), (b, c, a, t), (c, a, b, t)]
}

/// Whether the corners of a vertex, ascending, are one closed fan.
fn is_single(corners: &[Corner]) -> bool {
    let (mut at, mut length) = (corners[0].1, 0);
    while length < corners.len() {
        let next = corners.partition_point(|corner| corner.1 < at);
        match corners.get(next).filter(|corner| corner.1 == at) {
            Some(corner) => (at, length) = (corner.2, length + 1),
            None => return false,
        }
        if at == corners[0].1 {
            break;
        }
    }
    length == corners.len()
}

/// For each corner of a vertex, ascending, the first corner of its fan. Triangles that share an edge are in one fan.
fn fans(corners: &[Corner]) -> Vec<u32> {
    let mut fans = UnionFind::new(corners.len());
    for (own, corner) in (0..).zip(corners) {
        let first = corners.partition_point(|other| other.1 < corner.2);
        let beside = corners[first..].iter().take_while(|c| c.1 == corner.2);
        (first as u32..).zip(beside).for_each(|(other, _)| {
            fans.join(own, other);
        });
    }
    fans.roots()
}

/// Whether the triangles about every vertex are one closed fan.
pub fn are_single<'a>(triangles: impl Iterator<Item = &'a [u32; 3]>) -> bool {
    let numbered = (0..).zip(triangles);
    let mut corners: Vec<Corner> = numbered.flat_map(|(t, own)| corners_of(t, *own)).collect();
    corners.sort_unstable();
    corners.chunk_by(|a, b| a.0 == b.0).all(is_single)
}

/// Gives each fan about these vertices a vertex of its own. `wanted` is by vertex; those beyond its end are
/// left as they are.
pub fn part_fans(surface: &mut Surface, wanted: &[bool]) {
    let is_wanted = |vertex: u32| wanted.get(vertex as usize) == Some(&true);
    let triangles = surface.triangles.par_iter().enumerate().with_min_len(1024);
    let corners = triangles.flat_map_iter(|(t, own)| corners_of(t as u32, *own));
    let mut corners: Vec<Corner> = corners.filter(|own| is_wanted(own.0)).collect();
    corners.par_sort_unstable();
    // In the order of the vertices, so that new vertices have the same numbers on any number of threads.
    let of_vertices = corners.chunk_by(|a, b| a.0 == b.0);
    for own in of_vertices.filter(|own| !is_single(own)) {
        let vertex = own[0].0;
        // The vertex of each fan met so far; the first fan keeps the one there is.
        let mut known = vec![(0, vertex)];
        for (corner, fan) in own.iter().zip(fans(own)) {
            let number = known.iter().find(|(known, _)| *known == fan);
            let number = number.map(|(_, number)| *number).unwrap_or_else(|| {
                let number = surface.positions.len() as u32;
                surface.positions.push(surface.positions[vertex as usize]);
                surface.holds.push(surface.holds[vertex as usize]);
                known.push((fan, number));
                number
            });
            let triangle = &mut surface.triangles[corner.3 as usize];
            let place = triangle.iter_mut().find(|v| **v == vertex);
            place.into_iter().for_each(|v| *v = number);
        }
    }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;
    use crate::reconstruct::surface::hold::Hold;

    #[test]
    fn fans_that_meet_in_a_vertex_are_parted_and_a_single_one_stays() {
        let one = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]];
        let other = one.map(|t| t.map(|v| if v == 0 { 0 } else { v + 3 }));
        let mut surface = Surface {
            positions: (0..7).map(|v| DVec3::splat(f64::from(v))).collect(),
            holds: vec![Hold::Near; 7],
            triangles: [one, other].concat(),
            ..Surface::default()
        };
        assert!(!are_single(surface.triangles.iter()));
        part_fans(&mut surface, &[false, true, true, true, true]);
        assert_eq!(surface.positions.len(), 7);
        part_fans(&mut surface, &[true]);
        assert!(are_single(surface.triangles.iter()));
        assert_eq!((surface.positions.len(), surface.holds.len()), (8, 8));
        assert_eq!(surface.positions[7], surface.positions[0]);
        assert_eq!(surface.triangles[..4], one);
    }
}
