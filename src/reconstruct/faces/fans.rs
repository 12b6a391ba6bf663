//! Splits vertices so that each has a single fan of triangles.
//!
//! A loop has one vertex, and all faces of its side of the crack meet there. Where the skin passes through
//! the cell, that side continues along the skin, and not always as its border on the cell's faces suggests:
//! there may be an island, or a strip that joins two stretches of the border that belong to different loops,
//! or both sides may be one. The triangles around the vertex then form several fans, each closed by itself,
//! and each fan gets its own vertex at the same position. A closed surface stays closed, and no two parts of
//! it are pinched together at a vertex.

use super::surface::BodySurface;
use crate::math::union_find::UnionFind;
use crate::parallel::prelude::*;

/// A corner of a triangle: its vertex, the next vertex of the triangle, the previous one, and the triangle.
type FanCorner = (u32, u32, u32, u32);

fn corners_of(t: u32, [a, b, c]: [u32; 3]) -> [FanCorner; 3] {
    [(a, b, c, t), (b, c, a, t), (c, a, b, t)]
}

/// Whether the corners at a vertex, sorted, form one closed fan.
fn is_one_fan(corners: &[FanCorner]) -> bool {
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

/// For each of the sorted triangle corners at a vertex, the index of the first corner of its fan. Triangles that
/// share an edge belong to one fan.
fn fans(corners: &[FanCorner]) -> Vec<u32> {
    let mut fans = UnionFind::new(corners.len());
    for (own, corner) in (0..).zip(corners) {
        let first = corners.partition_point(|other| other.1 < corner.2);
        let adjacent = corners[first..].iter().take_while(|c| c.1 == corner.2);
        (first as u32..).zip(adjacent).for_each(|(other, _)| {
            fans.join(own, other);
        });
    }
    fans.roots()
}

/// Whether the triangles around every vertex form one closed fan.
pub fn have_single_fans<'a>(triangles: impl Iterator<Item = &'a [u32; 3]>) -> bool {
    let numbered = (0..).zip(triangles);
    let mut corners: Vec<FanCorner> = numbered.flat_map(|(t, own)| corners_of(t, *own)).collect();
    corners.sort_unstable();
    corners.chunk_by(|a, b| a.0 == b.0).all(is_one_fan)
}

/// Gives each fan around the `wanted` vertices its own vertex. Vertices beyond the end of `wanted` are left
/// as they are.
pub fn split_fans(surface: &mut BodySurface, wanted: &[bool]) {
    let is_wanted = |vertex: u32| wanted.get(vertex as usize) == Some(&true);
    let triangles = surface.triangles.par_iter().enumerate().with_min_len(1024);
    let corners = triangles.flat_map_iter(|(t, own)| corners_of(t as u32, *own));
    let mut corners: Vec<FanCorner> = corners.filter(|own| is_wanted(own.0)).collect();
    corners.par_sort_unstable();
    // In the order of the vertices, so that new vertices get the same indices for any number of threads.
    let of_vertices = corners.chunk_by(|a, b| a.0 == b.0);
    for own in of_vertices.filter(|own| !is_one_fan(own)) {
        let vertex = own[0].0;
        // Vertex of each fan seen so far; the first fan keeps the existing vertex.
        let mut known = vec![(0, vertex)];
        for (corner, fan) in own.iter().zip(fans(own)) {
            let number = known.iter().find(|(known, _)| *known == fan);
            let number = number.map(|(_, number)| *number).unwrap_or_else(|| {
                let number = surface.positions.len() as u32;
                surface.positions.push(surface.positions[vertex as usize]);
                surface.bindings.push(surface.bindings[vertex as usize]);
                known.push((fan, number));
                number
            });
            let triangle = &mut surface.triangles[corner.3 as usize];
            let corner_vertex = triangle.iter_mut().find(|v| **v == vertex);
            corner_vertex.into_iter().for_each(|v| *v = number);
        }
    }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;
    use crate::reconstruct::surface::binding::Binding;

    #[test]
    fn fans_that_meet_in_a_vertex_are_parted_and_a_single_one_stays() {
        let one = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]];
        let other = one.map(|t| t.map(|v| if v == 0 { 0 } else { v + 3 }));
        let mut surface = BodySurface {
            positions: (0..7).map(|v| DVec3::splat(f64::from(v))).collect(),
            bindings: vec![Binding::Nearest; 7],
            triangles: [one, other].concat(),
            ..BodySurface::default()
        };
        assert!(!have_single_fans(surface.triangles.iter()));
        split_fans(&mut surface, &[false, true, true, true, true]);
        assert_eq!(surface.positions.len(), 7);
        split_fans(&mut surface, &[true]);
        assert!(have_single_fans(surface.triangles.iter()));
        assert_eq!((surface.positions.len(), surface.bindings.len()), (8, 8));
        assert_eq!(surface.positions[7], surface.positions[0]);
        assert_eq!(surface.triangles[..4], one);
    }
}
