//! Constant attributes of a fragment's surface.

use std::io;

use crate::export::layer::{Array, ArraySpool, Digits, StoredArray};
use crate::export::space::bounds;
use crate::geometry::corners::DistinctCorners;
use crate::store::corner_normals::Fans;
use crate::store::{FragmentRange, SurfaceFrame};

/// Stored points with what follows from them.
#[derive(Clone, Copy)]
pub struct StoredShape {
    /// Vertex positions relative to the centre of mass.
    pub points: StoredArray,
    /// Normals of the fans of corners.
    pub normals: StoredArray,
    /// Their bounding box.
    pub extent: StoredArray,
}

/// Arrays of the constant attributes.
pub struct RestArrays {
    /// Bounding box at rest, relative to the centre of mass.
    pub bounds: [[f32; 3]; 2],
    /// Number of corners of each face: 3.
    pub vertex_counts: StoredArray,
    /// Vertices of the corners.
    pub indices: StoredArray,
    /// 1 for each crack face, 0 for others.
    pub inside: StoredArray,
    /// Names of the materials and indices of the faces that have them.
    pub faces: Vec<(String, StoredArray)>,
    /// Vertex positions at rest, in the coordinates of the shot.
    pub rest: StoredArray,
    /// Shape at rest.
    pub shape: StoredShape,
    /// Index of the normal of each corner.
    pub corners: StoredArray,
    /// Texture coordinates, and the index of those of each corner.
    pub st: Option<[StoredArray; 2]>,
    /// Colours, and the index of that of each corner.
    pub colours: Option<[StoredArray; 2]>,
}

impl RestArrays {
    /// Stores the arrays of a piece of a surface. Its points at rest relative to the centre of mass, the fans of their
    /// corners and the normals of these are given, as are the names of materials and the faces that have them.
    pub fn new(
        (surface, piece): (&SurfaceFrame, &FragmentRange),
        (points, fans, normals): (&[[f32; 3]], &Fans, &[[f32; 3]]),
        named: Vec<(String, &Vec<u32>)>,
        spool: &mut ArraySpool,
    ) -> io::Result<Self> {
        let triangles: Vec<[u32; 3]> = surface.local_triangles(piece).collect();
        let inside = surface.inside[surface.triangle_range(piece)].iter();
        let inside: Vec<u32> = inside.map(|&flag| flag.into()).collect();
        let colours = surface.colours_of(piece);
        let (low, high) = bounds(points);
        let mut faces = Vec::new();
        for (name, indices) in named {
            faces.push((name, spool.store(&Array::Ints(indices))?));
        }
        let rest = &surface.rest_positions[surface.vertex_range(piece)];
        Ok(RestArrays {
            bounds: [low, high],
            vertex_counts: spool.store(&Array::Ints(&vec![3; triangles.len()]))?,
            indices: spool.store(&Array::Ints(triangles.as_flattened()))?,
            inside: spool.store(&Array::Ints(&inside))?,
            faces,
            rest: spool.store(&Array::vectors(rest))?,
            shape: StoredShape {
                points: spool.store(&Array::vectors(points))?,
                normals: spool.store(&Array::Vec3f(normals, Digits::Unit))?,
                extent: spool.store(&Array::vectors(&[low, high]))?,
            },
            corners: spool.store(&Array::Ints(fans.corners.as_flattened()))?,
            st: store_corners(spool, surface.uv_of(piece), |st| Array::Vec2f(st))?,
            colours: store_corners(spool, colours, |colours| Array::vectors(colours))?,
        })
    }
}

/// Stores the distinct values of corners and the index of each corner's; `None` without values.
fn store_corners<const N: usize>(
    spool: &mut ArraySpool,
    values: &[[[f32; N]; 3]],
    array: impl Fn(&[[f32; N]]) -> Array,
) -> io::Result<Option<[StoredArray; 2]>> {
    if values.is_empty() {
        return Ok(None);
    }
    let corners = DistinctCorners::of_values(values);
    let indices = Array::Ints(corners.numbers.as_flattened());
    let values = spool.store(&array(&corners.values()))?;
    Ok(Some([values, spool.store(&indices)?]))
}
