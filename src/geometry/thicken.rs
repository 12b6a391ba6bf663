//! Gives a sheet a thickness: a copy of it on each side and a rim along its borders bound a solid.

use glam::DVec3;

use super::check::{same_edge, sorted_edges};
use super::mesh::{TriMesh, corner_angle};
use crate::math::eigen;

/// Largest distance that a vertex moves, in thicknesses: limits the spikes of sharp edges.
const MITRE_LIMIT: f64 = 4.0;
/// Eigenvalues of the sum of n nᵀ below this fraction of the largest count as 0: along such directions a vertex
/// does not move.
const MIN_EIGENVALUE: f64 = 1e-3;

/// The solid between two copies of a sheet that `repair::sheet` returned, moved by `front` and `back` (m, front > back)
/// along its normals: wound outward, closed.
///
/// Every face is moved by that distance. Where the sheet is curved more sharply, the solid may cut itself. Both copies
/// keep the texture coordinates of the sheet; the rim has those of the border.
pub fn thicken(sheet: &TriMesh, front: f64, back: f64) -> TriMesh {
    let unit = unit_offsets(sheet);
    let count = sheet.positions.len() as u32;
    let moved = |by: f64| {
        let pairs = sheet.positions.iter().zip(&unit);
        // Vertices that stay keep every bit.
        pairs.map(move |(p, offset)| if by == 0.0 { *p } else { *p + *offset * by })
    };
    let mut solid = TriMesh {
        positions: moved(front).chain(moved(back)).collect(),
        triangles: sheet.triangles.clone(),
        uv: sheet.uv.clone(),
        ..TriMesh::default()
    };
    let backs = sheet.triangles.iter();
    solid
        .triangles
        .extend(backs.map(|[a, b, c]| [*a, *c, *b].map(|v| v + count)));
    let backs = sheet.uv.iter();
    solid.uv.extend(backs.map(|[a, b, c]| [*a, *c, *b]));
    add_rim(sheet, count, &mut solid);
    solid
}

/// Two triangles per border edge, between the copies.
fn add_rim(sheet: &TriMesh, count: u32, solid: &mut TriMesh) {
    let edges = sorted_edges(sheet);
    for border in edges.chunk_by(same_edge).filter(|edge| edge.len() == 1) {
        let t = border[0].3 as usize;
        let corners = sheet.triangles[t];
        let ends = [border[0].0, border[0].1];
        let m = (0..3).find(|&m| !ends.contains(&corners[(m + 2) % 3]));
        let m = m.expect("the edge is of this triangle");
        // The triangle runs from a to b, so the rim runs from b to a.
        let [a, b] = [corners[m], corners[(m + 1) % 3]];
        solid
            .triangles
            .extend([[b, a, a + count], [b, a + count, b + count]]);
        if let Some(uv) = sheet.uv.get(t) {
            let [a, b] = [uv[m], uv[(m + 1) % 3]];
            solid.uv.extend([[b, a, a], [b, a, b]]);
        }
    }
}

/// Movement of each vertex for which its faces move by 1 along their normals, in the least-squares sense.
///
/// It minimises Σ w (n · d − 1)² over the faces at the vertex, w being their angles there; of several solutions it
/// is the shortest.
fn unit_offsets(sheet: &TriMesh) -> Vec<DVec3> {
    let mut sums = vec![([[0.0; 3]; 3], DVec3::ZERO); sheet.positions.len()];
    for (t, triangle) in sheet.triangles.iter().enumerate() {
        let corners = sheet.corners(t);
        let [a, b, c] = corners;
        let normal = (b - a).cross(c - a).normalize_or_zero();
        for (m, &v) in triangle.iter().enumerate() {
            let weight = corner_angle(corners, m);
            let (matrix, sum) = &mut sums[v as usize];
            *sum += normal * weight;
            for (row, value) in matrix.iter_mut().zip(normal.to_array()) {
                for (entry, other) in row.iter_mut().zip(normal.to_array()) {
                    *entry += weight * value * other;
                }
            }
        }
    }
    let offset = |(matrix, sum): ([[f64; 3]; 3], DVec3)| {
        let (values, vectors) = eigen(matrix);
        let largest = values.iter().copied().fold(0.0, f64::max);
        let mut offset = DVec3::ZERO;
        for (value, vector) in values.iter().zip(vectors) {
            let vector = DVec3::from_array(vector);
            if *value > MIN_EIGENVALUE * largest {
                offset += vector * (vector.dot(sum) / value);
            }
        }
        offset.clamp_length_max(MITRE_LIMIT)
    };
    sums.into_iter().map(offset).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::check::require_solid;
    use crate::geometry::repair::sheet;
    use crate::geometry::shapes;

    /// A box without its lid, 1 m wide, from outside.
    fn open_box() -> TriMesh {
        let mut mesh = shapes::cuboid(DVec3::ONE);
        let lid = |t: usize| mesh.corners(t).iter().all(|p| p.y == 0.5);
        let kept: Vec<_> = (0..mesh.triangles.len()).filter(|t| !lid(*t)).collect();
        mesh.triangles = kept.iter().map(|t| mesh.triangles[*t]).collect();
        assert_eq!(mesh.triangles.len(), 10);
        mesh
    }

    #[test]
    fn walls_of_a_box_have_the_thickness() {
        let (t, box_volume) = (0.1, 1.0);
        let inside = box_volume - 0.8 * 0.8 * 0.9;
        let outside = 1.2 * 1.2 * 1.1 - box_volume;
        let both = 1.1 * 1.1 * 1.05 - 0.9 * 0.9 * 0.95;
        for ([front, back], volume) in [
            ([0.0, -t], inside),
            ([t, 0.0], outside),
            ([t / 2.0, -t / 2.0], both),
        ] {
            // Some triangles are wound the wrong way round.
            let mut mesh = open_box();
            mesh.flip(0);
            mesh.flip(7);
            let (mesh, done) = sheet(&mesh).unwrap();
            assert_eq!(done.turned_triangles, 2);
            let mut solid = thicken(&mesh, front, back);
            assert!((solid.volume() - volume).abs() < 1e-12, "{front}");
            let before = solid.clone();
            require_solid(&mut solid).unwrap();
            assert_eq!(solid, before, "{front}");
        }
    }

    #[test]
    fn a_pane_has_a_rim_and_a_closed_surface_becomes_hollow() {
        let corners = [[0, 0], [1, 0], [1, 1], [0, 1]];
        let pane = TriMesh {
            positions: corners
                .map(|[x, y]| DVec3::new(f64::from(x), f64::from(y), 2.0))
                .to_vec(),
            triangles: vec![[0, 1, 2], [0, 2, 3]],
            uv: vec![
                [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]],
                [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0]],
            ],
            ..TriMesh::default()
        };
        let mut solid = thicken(&sheet(&pane).unwrap().0, 0.005, -0.005);
        require_solid(&mut solid).unwrap();
        assert_eq!([solid.triangles.len(), solid.uv.len()], [12, 12]);
        assert!((solid.volume() - 0.01).abs() < 1e-15);
        let cube = shapes::cuboid(DVec3::ONE);
        let mut hollow = thicken(&sheet(&cube).unwrap().0, 0.0, -0.1);
        require_solid(&mut hollow).unwrap();
        assert!((hollow.volume() - (1.0 - 0.8_f64.powi(3))).abs() < 1e-12);
    }

    #[test]
    fn three_sheets_at_an_edge_and_one_sided_sheets_are_refused() {
        let fin = TriMesh {
            positions: vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z, -DVec3::Y],
            triangles: vec![[0, 1, 2], [0, 1, 3], [0, 1, 4]],
            ..TriMesh::default()
        };
        let error = sheet(&fin).unwrap_err().to_string();
        assert!(error.contains("3 triangles meet"), "{error}");
        // A strip with half a turn.
        let count = 24_u32;
        let place = |k: u32, side: f64| {
            let turn = std::f64::consts::TAU * f64::from(k) / f64::from(count);
            let out = DVec3::new(turn.cos(), 0.0, turn.sin());
            out + (out * (turn / 2.0).cos() + DVec3::Y * (turn / 2.0).sin()) * (0.3 * side)
        };
        let positions = (0..count).flat_map(|k| [place(k, -1.0), place(k, 1.0)]);
        let strip = (0..count).flat_map(|k| {
            let [a, b] = [2 * k, 2 * k + 1];
            let [c, d] = match k + 1 == count {
                true => [1, 0],
                false => [2 * k + 2, 2 * k + 3],
            };
            [[a, b, d], [a, d, c]]
        });
        let moebius = TriMesh {
            positions: positions.collect(),
            triangles: strip.collect(),
            ..TriMesh::default()
        };
        let error = sheet(&moebius).unwrap_err().to_string();
        assert!(error.contains("only one side"), "{error}");
    }
}
