//! Wavefront OBJ: one file a frame, one object a body, one group a fragment.
//!
//! Skin and crack faces are told apart by the material names `outside` and `inside`. Normals are those of corners, and numbered apart from
//! the vertices.

use rayon::prelude::*;

use super::corner_normals::Fans;
use super::text::{format_all, push_f32, push_u32, push_unit};
use super::{Axes, ExportError, ExportSummary, Format, Job, Needs, sequence};
use crate::spec::ExportFormat;
use crate::store::{Piece, SurfaceFrame};

/// OBJ.
pub const FORMAT: Format = Format {
    format: ExportFormat::Obj,
    name: "obj",
    extension: "obj",
    needs: Needs::Surfaces,
    space: Axes::Chosen,
    single: false,
    write,
};

fn write(job: &Job, on_frame: &mut dyn FnMut(usize, usize)) -> Result<ExportSummary, ExportError> {
    sequence::write(job, FORMAT.extension, on_frame, bytes)
}

fn bytes(job: &Job, surface: &SurfaceFrame) -> Vec<Vec<u8>> {
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
    parts.extend(format_all(&surface.positions, |out, p| position(out, p)));
    parts.extend(format_all(&surface.uv, |out, uv| texture(out, uv)));
    let smooth = |piece: &Piece| {
        let fans = Fans::of(surface, piece);
        let normals = fans.normals(&surface.positions[surface.vertex_range(piece)]);
        (fans.corners, normals)
    };
    let smooth: Vec<_> = surface.pieces.par_iter().map(smooth).collect();
    for (_, normals) in &smooth {
        parts.extend(format_all(normals, |out, n| normal(out, n)));
    }
    let (mut body, mut before) = (None, 0);
    for (piece, (corners, normals)) in surface.pieces.iter().zip(smooth) {
        if body.replace(piece.body) != Some(piece.body) {
            parts.push(format!("o {}\n", job.names.body(piece.body)));
        }
        parts.push(format!("g fragment_{}\n", piece.fragment));
        let range = surface.triangle_range(piece);
        for (flag, material) in [(false, "outside"), (true, "inside")] {
            let faces: Vec<([u32; 3], [u32; 3])> = range
                .clone()
                .zip(&corners)
                .filter(|(triangle, _)| (surface.inside[*triangle] != 0) == flag)
                .map(|(triangle, fans)| (surface.triangles[triangle], fans.map(|fan| before + fan)))
                .collect();
            if !faces.is_empty() {
                parts.push(format!("usemtl {material}\n"));
                parts.extend(format_all(&faces, |out, (vertices, normals)| {
                    push_face(out, vertices, normals, !surface.uv.is_empty());
                }));
            }
        }
        before += normals.len() as u32;
    }
    parts.into_iter().map(String::into_bytes).collect()
}

/// Position and texture coordinate share their number; numbers start at 1.
fn push_face(out: &mut String, vertices: &[u32; 3], normals: &[u32; 3], textured: bool) {
    out.push('f');
    for (vertex, normal) in vertices.iter().zip(normals) {
        out.push(' ');
        push_u32(out, vertex + 1);
        out.push('/');
        if textured {
            push_u32(out, vertex + 1);
        }
        out.push('/');
        push_u32(out, normal + 1);
    }
    out.push('\n');
}
