//! Hash of a fragment's mesh at rest, which tells whether it stays the same from frame to frame.

use xxhash_rust::xxh3::Xxh3;

use crate::store::{FragmentRange, SurfaceFrame};

/// Hash of positions, triangles, crack faces, texture coordinates, colours and materials at rest.
pub fn shape_hash(surface: &SurfaceFrame, piece: &FragmentRange) -> u64 {
    let mut hash = Xxh3::new();
    let rest = &surface.rest_positions[surface.vertex_range(piece)];
    hash.update(bytemuck::cast_slice(rest));
    for triangle in surface.local_triangles(piece) {
        hash.update(bytemuck::cast_slice(&triangle));
    }
    hash.update(&surface.inside[surface.triangle_range(piece)]);
    hash.update(bytemuck::cast_slice(surface.uv_of(piece)));
    hash.update(bytemuck::cast_slice(surface.colours_of(piece)));
    let materials = surface.materials.get(surface.triangle_range(piece));
    hash.update(bytemuck::cast_slice(materials.unwrap_or_default()));
    hash.digest()
}
