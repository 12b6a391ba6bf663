//! Wavefront OBJ: one file per frame, one object per body, one group per fragment.
//!
//! Skin and crack faces have the materials `outside` and `inside`, or skins those of their meshes. Normals and texture
//! coordinates belong to corners and have indices of their own, separate from those of the vertices. Colours belong to
//! vertices; on the rim of a crack they are those of the skin.

use crate::parallel::prelude::*;

use super::error::ExportError;
use super::format::{Axes, ExportSummary, FormatEntry, RequiredTables};
use super::job::ExportJob;
use super::materials::faces_by_material;
use super::sequence;
use super::text::{format_all, push_f32, push_u32, push_unit};
use crate::geometry::corners::DistinctCorners;
use crate::spec::ExportFormat;
use crate::store::corner_normals::Fans;
use crate::store::{FragmentRange, SurfaceFrame};

/// Table entry of OBJ.
pub const FORMAT: FormatEntry = FormatEntry {
    format: ExportFormat::Obj,
    name: "obj",
    extension: "obj",
    requires: RequiredTables::Surfaces,
    axes: Axes::Chosen,
    single_file: false,
    write,
};

fn write(
    job: &ExportJob,
    on_frame: &mut dyn FnMut(usize, usize),
) -> Result<ExportSummary, ExportError> {
    sequence::write(job, FORMAT.extension, on_frame, bytes)
}

fn bytes(job: &ExportJob, surface: &SurfaceFrame) -> Vec<Vec<u8>> {
    let line = |keyword: &'static str, push: fn(&mut String, f32)| {
        move |out: &mut String, values: &[f32]| {
            out.push_str(keyword);
            for &value in values {
                out.push(' ');
                push(out, value);
            }
            out.push('\n');
        }
    };
    let position = line("v", push_f32);
    let texture = line("vt", push_f32);
    let normal = line("vn", push_unit);
    let mut parts = vec![format!(
        "# {}; frame {}, {} s\n",
        job.space.describe(),
        surface.frame,
        surface.time
    )];
    match vertex_colours(surface)[..] {
        [] => parts.extend(format_all(&surface.positions, |out, p| position(out, p))),
        ref colours => {
            let both = surface.positions.iter().zip(colours);
            let both: Vec<[f32; 6]> = both
                .map(|([x, y, z], [r, g, b])| [*x, *y, *z, *r, *g, *b])
                .collect();
            parts.extend(format_all(&both, |out, p| position(out, p)));
        }
    }
    let corners = |piece: &FragmentRange| {
        let fans = Fans::of(surface, piece);
        let normals = fans.normals(&surface.positions[surface.vertex_range(piece)]);
        (
            fans.corners,
            normals,
            DistinctCorners::of_values(surface.uv_of(piece)),
        )
    };
    let corners: Vec<_> = surface.pieces.par_iter().map(corners).collect();
    for (_, _, textures) in &corners {
        parts.extend(format_all(&textures.values(), |out, uv| texture(out, uv)));
    }
    for (_, normals, _) in &corners {
        parts.extend(format_all(normals, |out, n| normal(out, n)));
    }
    let (mut body, mut before, mut textures_before) = (None, 0, 0);
    for (piece, (fans, normals, textures)) in surface.pieces.iter().zip(corners) {
        if body.replace(piece.body) != Some(piece.body) {
            parts.push(format!("o {}\n", job.names.body(piece.body)));
        }
        parts.push(format!("g fragment_{}\n", piece.fragment));
        let range = surface.triangle_range(piece);
        for (material, faces) in faces_by_material(surface, piece) {
            parts.push(format!("usemtl {}\n", material.name()));
            parts.extend(format_all(&faces, |out, &face| {
                let face = face as usize;
                let textures = textures.numbers.get(face);
                push_face(
                    out,
                    surface.triangles[range.start + face],
                    textures.map(|numbers| numbers.map(|uv| textures_before + uv)),
                    fans[face].map(|fan| before + fan),
                );
            }));
        }
        before += normals.len() as u32;
        textures_before += textures.distinct.len() as u32;
    }
    parts.into_iter().map(String::into_bytes).collect()
}

/// Colour of each vertex: of a corner on the skin, if it has one, else white; empty if the surface has no colours.
fn vertex_colours(surface: &SurfaceFrame) -> Vec<[f32; 3]> {
    let mut colours = match surface.colours[..] {
        [] => return Vec::new(),
        _ => vec![[1.0; 3]; surface.positions.len()],
    };
    let all = surface.triangles.iter().zip(&surface.colours);
    for ((triangle, own), _) in all.zip(&surface.inside).filter(|(_, inside)| **inside == 0) {
        for (vertex, colour) in triangle.iter().zip(own) {
            colours[*vertex as usize] = *colour;
        }
    }
    colours
}

/// Appends a face; indices in OBJ start at 1.
fn push_face(out: &mut String, vertices: [u32; 3], textures: Option<[u32; 3]>, normals: [u32; 3]) {
    out.push('f');
    for m in 0..3 {
        out.push(' ');
        push_u32(out, vertices[m] + 1);
        out.push('/');
        if let Some(textures) = textures {
            push_u32(out, textures[m] + 1);
        }
        out.push('/');
        push_u32(out, normals[m] + 1);
    }
    out.push('\n');
}
