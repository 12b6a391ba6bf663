//! Walls of one layer of cells: where faces twist and bend as a plate does, not as a solid.

use std::collections::VecDeque;

use glam::DVec3;

use crate::columns::{Faces, NONE};
use crate::laws::cell::plate_torsion;

/// Cosine of the angle up to which two free faces of a cell lie on opposite sides of it, or an axis of a face
/// points through a wall.
const OPPOSITE: f64 = 0.9;

/// A face of a wall, or of a bar.
#[derive(Clone, Copy, Debug, Default)]
pub struct ThinFace {
    /// Torsion constant, m⁴.
    pub torsion: f64,
    /// Of a wall, which principal axis points through it: 0 for s, 1 for t; none of a bar.
    pub wall: Option<usize>,
    /// That axis; all of a wall point to the same side. Zero of a bar.
    pub through: DVec3,
    /// Thickness of the wall, m; 0 of a bar.
    pub thickness: f64,
}

/// The faces of a packing that are part of a wall or a bar, by row of the table.
pub fn thin_faces(table: &Faces, cells: usize) -> Vec<Option<ThinFace>> {
    let mut normals = vec![Vec::new(); cells];
    for row in table.free() {
        normals[table.i[row] as usize].push(table.normal(row));
    }
    let between = |row: usize| table.bond[row] != NONE;
    let mut found: Vec<Option<ThinFace>> = (0..table.id.len())
        .map(|row| {
            if between(row) {
                of_face(table, row, &normals)
            } else {
                None
            }
        })
        .collect();
    orient(table, cells, &mut found);
    found
}

/// Free sides of a cell towards an axis, 0 to 2.
fn free_sides(normals: &[DVec3], axis: DVec3) -> u32 {
    let along = |sign: f64| {
        let mut normals = normals.iter();
        u32::from(normals.any(|normal| sign * normal.dot(axis) > OPPOSITE))
    };
    along(1.0) + along(-1.0)
}

fn of_face(table: &Faces, row: usize, normals: &[Vec<DVec3>]) -> Option<ThinFace> {
    let ends = [table.i[row], table.j[row]].map(|cell| &normals[cell as usize]);
    let s = table.axis(row);
    let axes = [s, table.normal(row).cross(s)];
    // Edges of the rectangle of its area and moments.
    let edge = |second: f64| (12.0 * second / table.area[row]).sqrt();
    let edges = [edge(table.second_s[row]), edge(table.second_t[row])];
    let is_through = axes.map(|axis| ends.iter().all(|normals| free_sides(normals, axis) == 2));
    let wall = match is_through {
        [false, false] => return None,
        // The shorter edge is the thickness of a bar.
        [true, true] => {
            let [a, b] = edges;
            return Some(ThinFace {
                torsion: plate_torsion(a.max(b), a.min(b), 2.0),
                ..ThinFace::default()
            });
        }
        [true, false] => 0,
        [false, true] => 1,
    };
    let sides = ends.map(|normals| f64::from(free_sides(normals, axes[1 - wall])));
    Some(ThinFace {
        torsion: plate_torsion(edges[1 - wall], edges[wall], 0.5 * (sides[0] + sides[1])),
        wall: Some(wall),
        through: axes[wall],
        thickness: edges[wall],
    })
}

/// Lets the axes through a wall point to the same side all over it. Where that is not possible, as on a band
/// with one side, a face is left out.
fn orient(table: &Faces, cells: usize, faces: &mut [Option<ThinFace>]) {
    let mut around = vec![Vec::new(); cells];
    for (row, face) in faces.iter().enumerate() {
        if face.is_some_and(|face| face.wall.is_some()) {
            for cell in [table.i[row], table.j[row]] {
                around[cell as usize].push(row);
            }
        }
    }
    let mut side: Vec<Option<DVec3>> = vec![None; cells];
    let mut queue = VecDeque::new();
    for start in 0..cells {
        let Some(&first) = around[start].first() else {
            continue;
        };
        if side[start].is_some() {
            continue;
        }
        side[start] = faces[first].map(|face| face.through);
        queue.push_back(start);
        while let Some(cell) = queue.pop_front() {
            let own = side[cell].expect("set before it is queued");
            for &row in &around[cell] {
                let other = (table.i[row] + table.j[row]) as usize - cell;
                let Some(face) = faces[row].as_mut() else {
                    continue;
                };
                if face.through.dot(own) < 0.0 {
                    face.through = -face.through;
                }
                match side[other] {
                    None => {
                        side[other] = Some(face.through);
                        queue.push_back(other);
                    }
                    Some(there) if there.dot(face.through) < 0.0 => {
                        face.through = DVec3::ZERO;
                        face.wall = None;
                    }
                    Some(_) => {}
                }
            }
        }
    }
}
