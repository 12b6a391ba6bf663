//! The texts of a prim: what of a fragment's surface stays, and what follows it from frame to frame.

use std::io::{self, Write};

use super::text::{MATERIALS, Samples, numbers, plain, units, vectors};
use crate::export::epochs::Keep;
use crate::export::space::bounds;
use crate::export::spool::{Segment, Spool};
use crate::export::text::{array, push_f32, push_rough, push_tuple, push_u32};
use crate::geometry::corners::Corners;
use crate::store::corner_normals::Fans;
use crate::store::{Piece, SurfaceFrame};

/// Texts of an epoch.
pub struct Texts {
    /// What does not change.
    pub at_rest: AtRest,
    fans: Fans,
    pub points: Samples,
    pub normals: Samples,
    pub velocities: Samples,
    pub stress: Samples,
    pub extents: Samples,
}

/// Texts of what does not change.
pub struct AtRest {
    /// Lowest and highest coordinates.
    pub bounds: [[f32; 3]; 2],
    counts: Segment,
    indices: Segment,
    inside: Segment,
    /// Faces of the skin, and of cracks.
    faces: [Option<Segment>; 2],
    points: Segment,
    extent: Segment,
    normals: Segment,
    /// The corners' normals by number.
    corners: Segment,
    /// Texture coordinates, and the corners' by number.
    st: Option<[Segment; 2]>,
}

impl Keep for Spool {
    type Kept = Texts;

    fn begin(&mut self, surface: &SurfaceFrame, piece: &Piece) -> io::Result<Texts> {
        let vertices = surface.vertex_range(piece);
        let triangles: Vec<[u32; 3]> = surface.local_triangles(piece).collect();
        let inside = &surface.inside[surface.triangle_range(piece)];
        let rest = &surface.rest_positions[vertices];
        let fans = Fans::of(surface, piece);
        let faces = [0, 1].map(|flag| -> Vec<u32> {
            let with = |face: &u32| inside[*face as usize] == flag;
            (0..inside.len() as u32).filter(with).collect()
        });
        let [skin, cracks] = faces;
        let mut subset = |faces: &[u32]| match faces {
            [] => Ok(None),
            faces => self.append(&numbers(faces)).map(Some),
        };
        let faces = [subset(&skin)?, subset(&cracks)?];
        let st = match surface.uv_of(piece) {
            [] => None,
            uv => {
                let corners = Corners::of_texture(uv);
                let values = array(&corners.uv(), |out, uv| push_tuple(out, uv, push_f32));
                let corners = numbers(corners.numbers.as_flattened());
                Some([self.append(&values)?, self.append(&corners)?])
            }
        };
        let (low, high) = bounds(rest);
        Ok(Texts {
            at_rest: AtRest {
                bounds: [low, high],
                counts: self.append(&array(&triangles, |out, _| out.push('3')))?,
                indices: self.append(&numbers(triangles.as_flattened()))?,
                inside: self.append(&array(inside, |out, &flag| push_u32(out, flag.into())))?,
                faces,
                points: self.append(&vectors(rest))?,
                extent: self.append(&vectors(&[low, high]))?,
                normals: self.append(&units(&fans.normals(rest)))?,
                corners: self.append(&numbers(fans.corners.as_flattened()))?,
                st,
            },
            fans,
            points: Samples::new(),
            normals: Samples::new(),
            velocities: Samples::new(),
            stress: Samples::new(),
            extents: Samples::new(),
        })
    }

    fn follow(
        &mut self,
        texts: &mut Texts,
        surface: &SurfaceFrame,
        piece: &Piece,
    ) -> io::Result<()> {
        let (frame, vertices) = (surface.frame, surface.vertex_range(piece));
        let now = &surface.positions[vertices.clone()];
        let normals = texts.fans.normals(now);
        let velocities = &surface.velocities[vertices.clone()];
        let stress = array(&surface.stress[vertices], |out, s| push_rough(out, *s));
        let extent = <[_; 2]>::from(bounds(now));
        for (samples, text) in [
            (&mut texts.points, vectors(now)),
            (&mut texts.normals, units(&normals)),
            (&mut texts.velocities, vectors(velocities)),
            (&mut texts.stress, stress),
            (&mut texts.extents, vectors(&extent)),
        ] {
            samples.push((frame, self.append(&text)?));
        }
        Ok(())
    }
}

const BINDING: &str =
    "(\n                prepend apiSchemas = [\"MaterialBindingAPI\"]\n            )";

impl AtRest {
    /// What a mesh has whether it moves as one body or not.
    pub fn topology(&self, spool: &mut Spool, out: &mut impl Write) -> io::Result<()> {
        write!(
            out,
            "            uniform token orientation = \"rightHanded\"\n            \
             uniform token subdivisionScheme = \"none\"\n            \
             uniform token subsetFamily:materialBind:familyType = \"partition\"\n"
        )?;
        plain(spool, out, "int[] faceVertexCounts", self.counts, "")?;
        plain(spool, out, "int[] faceVertexIndices", self.indices, "")?;
        plain(spool, out, "int[] primvars:inside", self.inside, "uniform")?;
        plain(spool, out, "point3f[] primvars:rest", self.points, "vertex")?;
        if let Some([st, corners]) = self.st {
            plain(spool, out, "texCoord2f[] primvars:st", st, "faceVarying")?;
            plain(spool, out, "int[] primvars:st:indices", corners, "")?;
        }
        let corners = "int[] primvars:normals:indices";
        plain(spool, out, corners, self.corners, "")
    }

    /// Its points and normals at rest.
    pub fn shape(&self, spool: &mut Spool, out: &mut impl Write) -> io::Result<()> {
        let normals = "normal3f[] primvars:normals";
        plain(spool, out, "float3[] extent", self.extent, "")?;
        plain(spool, out, "point3f[] points", self.points, "")?;
        plain(spool, out, normals, self.normals, "faceVarying")
    }

    /// Its faces by material.
    pub fn subsets(&self, spool: &mut Spool, out: &mut impl Write) -> io::Result<()> {
        for ((name, _), faces) in MATERIALS.iter().zip(self.faces) {
            let Some(faces) = faces else { continue };
            write!(
                out,
                "            def GeomSubset \"{name}\" {BINDING}\n            {{\n                \
                 uniform token elementType = \"face\"\n                uniform token familyName = \"materialBind\"\n                \
                 rel material:binding = </World/materials/{name}>\n                int[] indices = "
            )?;
            spool.copy(faces, out)?;
            writeln!(out, "\n            }}")?;
        }
        Ok(())
    }
}
