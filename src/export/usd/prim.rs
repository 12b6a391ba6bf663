//! Texts of a prim: the constant attributes of a fragment's surface, and its samples in each frame.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::text::{TimeSamples, integers, unit_vectors, vectors, write_constant};
use glam::{DVec3, Vec3};

use crate::export::birth::Birth;
use crate::export::epochs::EpochRecorder;
use crate::export::materials::{FaceMaterial, faces_by_material};
use crate::export::names::identifier;
use crate::export::rigid_state::RigidState;
use crate::export::space::bounds;
use crate::export::spool::{Spool, SpoolSegment};
use crate::export::text::{
    array, push_f32, push_multiple, push_three_digits, push_tuple, push_u32,
};
use crate::geometry::corners::DistinctCorners;
use crate::store::corner_normals::Fans;
use crate::store::{FragmentRange, SurfaceFrame};

/// Texts of an epoch: constant attributes and time samples.
pub struct PrimTexts {
    /// Constant attributes.
    pub at_rest: RestTexts,
    fans: Fans,
    pub points: TimeSamples,
    pub normals: TimeSamples,
    pub velocities: TimeSamples,
    pub accelerations: TimeSamples,
    pub stress: TimeSamples,
    pub extents: TimeSamples,
    /// Frames and points of the last two frames, or fewer: an acceleration needs the points of three frames.
    recent: Vec<(f64, Vec<[f32; 3]>)>,
}

/// Texts of the constant attributes.
pub struct RestTexts {
    /// Bounding box at rest, relative to the centre of mass.
    pub bounds: [[f32; 3]; 2],
    vertex_counts: SpoolSegment,
    indices: SpoolSegment,
    inside: SpoolSegment,
    /// Names of the materials and indices of the faces that have them.
    faces: Vec<(String, SpoolSegment)>,
    /// Vertex positions at rest, in the coordinates of the shot.
    rest: SpoolSegment,
    /// Vertex positions at rest, relative to the centre of mass.
    points: SpoolSegment,
    extent: SpoolSegment,
    normals: SpoolSegment,
    /// Index of the normal of each corner.
    corners: SpoolSegment,
    /// Texture coordinates, and the index of those of each corner.
    st: Option<[SpoolSegment; 2]>,
    /// Colours, and the index of that of each corner.
    colours: Option<[SpoolSegment; 2]>,
}

/// Records the texts of epochs.
pub struct PrimWriter {
    /// Spool of the texts.
    pub spool: Spool,
    /// Seconds of the event per played second.
    pub time_scale: f64,
    /// Frames per second of the event.
    pub fps: f64,
    /// Times at which the shutter opens and closes, in frames relative to each frame: fragments that bend
    /// have points at those times too.
    pub shutter: Option<[f64; 2]>,
    /// Materials used so far, with identifiers for names.
    pub materials: BTreeMap<FaceMaterial, String>,
}

impl EpochRecorder for PrimWriter {
    type Record = PrimTexts;

    fn begin(
        &mut self,
        surface: &SurfaceFrame,
        piece: &FragmentRange,
        centre: DVec3,
    ) -> io::Result<PrimTexts> {
        let by_material = faces_by_material(surface, piece);
        let named = by_material.iter();
        let named: Vec<_> = named
            .map(|(material, faces)| (self.name_of(material), integers(faces)))
            .collect();
        let spool = &mut self.spool;
        let mut faces = Vec::new();
        for (name, indices) in named {
            faces.push((name, spool.append(&indices)?));
        }
        let vertices = surface.vertex_range(piece);
        let triangles: Vec<[u32; 3]> = surface.local_triangles(piece).collect();
        let inside = &surface.inside[surface.triangle_range(piece)];
        let rest = &surface.rest_positions[vertices];
        let about = |p: &[f32; 3]| (DVec3::from(p.map(f64::from)) - centre).as_vec3();
        let points: Vec<[f32; 3]> = rest.iter().map(|p| about(p).to_array()).collect();
        let fans = Fans::of(surface, piece);
        let st = append_corners(spool, surface.uv_of(piece))?;
        let colours = append_corners(spool, surface.colours_of(piece))?;
        let (low, high) = bounds(&points);
        Ok(PrimTexts {
            at_rest: RestTexts {
                bounds: [low, high],
                vertex_counts: spool.append(&array(&triangles, |out, _| out.push('3')))?,
                indices: spool.append(&integers(triangles.as_flattened()))?,
                inside: spool.append(&array(inside, |out, &flag| push_u32(out, flag.into())))?,
                faces,
                rest: spool.append(&vectors(rest))?,
                points: spool.append(&vectors(&points))?,
                extent: spool.append(&vectors(&[low, high]))?,
                normals: spool.append(&unit_vectors(&fans.normals(&points)))?,
                corners: spool.append(&integers(fans.corners.as_flattened()))?,
                st,
                colours,
            },
            fans,
            points: TimeSamples::new(),
            normals: TimeSamples::new(),
            velocities: TimeSamples::new(),
            accelerations: TimeSamples::new(),
            stress: TimeSamples::new(),
            extents: TimeSamples::new(),
            recent: Vec::new(),
        })
    }

    fn add_birth(
        &mut self,
        texts: &mut PrimTexts,
        birth: &Birth,
        positions: &[[f32; 3]],
    ) -> io::Result<()> {
        let points = birth.half_way(positions);
        let extent = <[_; 2]>::from(bounds(&points));
        for (samples, values) in [
            (&mut texts.points, &points[..]),
            (&mut texts.extents, &extent),
        ] {
            samples.push((birth.time(), self.spool.append(&vectors(values))?));
        }
        Ok(())
    }

    fn add_frame(
        &mut self,
        texts: &mut PrimTexts,
        surface: &SurfaceFrame,
        piece: &FragmentRange,
        state: &RigidState,
    ) -> io::Result<()> {
        let (frame, vertices) = (f64::from(surface.frame), surface.vertex_range(piece));
        let positions = &surface.positions[vertices.clone()];
        let velocities = &surface.velocities[vertices.clone()];
        let now: Vec<[f32; 3]> = positions
            .iter()
            .map(|p| state.body_position(*p).as_vec3().to_array())
            .collect();
        let moving: Vec<DVec3> = positions
            .iter()
            .zip(velocities)
            .map(|(p, v)| state.relative_velocity(*p, *v))
            .collect();
        let played = |velocity: &DVec3| (*velocity * self.time_scale).as_vec3().to_array();
        let velocities: Vec<[f32; 3]> = moving.iter().map(played).collect();
        let normals = texts.fans.normals(&now);
        let velocities = rounded(&velocities, self.rounding_step(texts, 1));
        let stress = array(&surface.stress[vertices], |out, s| {
            push_three_digits(out, *s)
        });
        let extent = <[_; 2]>::from(bounds(&now));
        let [open, close] = self.shutter.unwrap_or_default();
        for at in [open, 0.0, close] {
            let known = texts.points.last();
            if known.is_some_and(|(time, _)| *time >= frame + at) {
                continue;
            }
            let ahead = at / self.fps;
            let there = now.iter().zip(&moving).map(|(p, v)| {
                let ahead = (*v * ahead).as_vec3();
                (Vec3::from(*p) + ahead).to_array()
            });
            let text = vectors(&there.collect::<Vec<_>>());
            texts.points.push((frame + at, self.spool.append(&text)?));
        }
        for (samples, text) in [
            (&mut texts.normals, unit_vectors(&normals)),
            (&mut texts.velocities, velocities),
            (&mut texts.stress, stress),
            (&mut texts.extents, vectors(&extent)),
        ] {
            samples.push((frame, self.spool.append(&text)?));
        }
        self.accelerate(texts, frame, now)
    }

    fn end(&mut self, texts: &mut PrimTexts) -> io::Result<()> {
        let Some((last, points)) = std::mem::take(&mut texts.recent).pop() else {
            return Ok(());
        };
        self.add_accelerations(texts, last, &vec![[0.0; 3]; points.len()])
    }
}

/// Appends the distinct values of corners and the index of each corner's; `None` without values.
fn append_corners<const N: usize>(
    spool: &mut Spool,
    values: &[[[f32; N]; 3]],
) -> io::Result<Option<[SpoolSegment; 2]>> {
    if values.is_empty() {
        return Ok(None);
    }
    let corners = DistinctCorners::of_values(values);
    let values = array(&corners.values(), |out, value| {
        push_tuple(out, value, push_f32)
    });
    let corners = integers(corners.numbers.as_flattened());
    Ok(Some([spool.append(&values)?, spool.append(&corners)?]))
}

impl PrimWriter {
    /// Name of a material, an identifier.
    fn name_of(&mut self, material: &FaceMaterial) -> String {
        if let Some(known) = self.materials.get(material) {
            return known.clone();
        }
        let number = self.materials.len();
        let mut name = identifier(&material.name(), &format!("material_{number}"));
        // Different names can become the same identifier; the number makes them distinct.
        if self.materials.values().any(|taken| *taken == name) {
            name = format!("{name}_{number}");
        }
        self.materials.insert(material.clone(), name.clone());
        name
    }

    /// Takes the points of a frame and adds the accelerations of the frame before. They are second
    /// differences of points, because differences of velocities would be noise where waves are faster than
    /// frames. They are 0 in the first and in the last frame of an epoch.
    fn accelerate(
        &mut self,
        texts: &mut PrimTexts,
        frame: f64,
        now: Vec<[f32; 3]>,
    ) -> io::Result<()> {
        if let Some((last, middle)) = texts.recent.last() {
            let last = *last;
            let before = texts.recent.iter().rev().nth(1);
            let played = self.time_scale * self.fps / (frame - last);
            let accelerations: Vec<[f32; 3]> = match before {
                Some((first, before)) if last - first == frame - last => {
                    let all = before.iter().zip(middle).zip(&now);
                    all.map(|((a, b), c)| second_difference(*a, *b, *c, played))
                        .collect()
                }
                _ => vec![[0.0; 3]; now.len()],
            };
            self.add_accelerations(texts, last, &accelerations)?;
        }
        if texts.recent.len() == 2 {
            texts.recent.remove(0);
        }
        texts.recent.push((frame, now));
        Ok(())
    }

    fn add_accelerations(
        &mut self,
        texts: &mut PrimTexts,
        frame: f64,
        accelerations: &[[f32; 3]],
    ) -> io::Result<()> {
        let text = rounded(accelerations, self.rounding_step(texts, 2));
        texts.accelerations.push((frame, self.spool.append(&text)?));
        Ok(())
    }

    /// The power of ten to whose multiples velocities (order 1) or accelerations (order 2) are rounded: it
    /// moves a point by less than [`ROUNDING_TOLERANCE`] of the fragment's size in half a frame.
    fn rounding_step(&self, texts: &PrimTexts, order: i32) -> f64 {
        let [low, high] = texts.at_rest.bounds.map(Vec3::from);
        let half = 0.5 / (self.time_scale * self.fps);
        let most = ROUNDING_TOLERANCE * f64::from((high - low).length()) * f64::from(order)
            / half.powi(order);
        10f64.powi(most.max(f64::MIN_POSITIVE).log10().floor() as i32)
    }
}

/// Largest error of a point by rounded velocities and accelerations, over the fragment's size: a fiftieth of
/// a pixel of a fragment that fills a picture.
const ROUNDING_TOLERANCE: f64 = 2e-5;

fn rounded(vectors: &[[f32; 3]], rounding_step: f64) -> Vec<String> {
    let push = |out: &mut String, value| push_multiple(out, value, rounding_step);
    array(vectors, |out, vector| push_tuple(out, vector, push))
}

/// Second time derivative of a point from its positions at three equidistant times, `rate` of them per played
/// second.
fn second_difference(a: [f32; 3], b: [f32; 3], c: [f32; 3], rate: f64) -> [f32; 3] {
    let double = |p: [f32; 3]| DVec3::from(p.map(f64::from));
    let bent = double(a) + double(c) - 2.0 * double(b);
    (bent * (rate * rate)).as_vec3().to_array()
}

const BINDING: &str =
    "(\n                prepend apiSchemas = [\"MaterialBindingAPI\"]\n            )";

impl RestTexts {
    /// Writes the attributes that rigid and bending meshes have in common.
    pub fn write_topology(&self, spool: &mut Spool, out: &mut impl Write) -> io::Result<()> {
        write!(
            out,
            "            uniform token orientation = \"rightHanded\"\n            \
             uniform token subdivisionScheme = \"none\"\n            \
             uniform token subsetFamily:materialBind:familyType = \"partition\"\n"
        )?;
        write_constant(spool, out, "int[] faceVertexCounts", self.vertex_counts, "")?;
        write_constant(spool, out, "int[] faceVertexIndices", self.indices, "")?;
        write_constant(spool, out, "int[] primvars:inside", self.inside, "uniform")?;
        write_constant(spool, out, "point3f[] primvars:rest", self.rest, "vertex")?;
        if let Some([st, corners]) = self.st {
            write_constant(spool, out, "texCoord2f[] primvars:st", st, "faceVarying")?;
            write_constant(spool, out, "int[] primvars:st:indices", corners, "")?;
        }
        if let Some([colours, corners]) = self.colours {
            let name = "color3f[] primvars:displayColor";
            write_constant(spool, out, name, colours, "faceVarying")?;
            let name = "int[] primvars:displayColor:indices";
            write_constant(spool, out, name, corners, "")?;
        }
        let corners = "int[] primvars:normals:indices";
        write_constant(spool, out, corners, self.corners, "")
    }

    /// Writes the points at rest, relative to the centre of mass, and their normals.
    pub fn write_shape(&self, spool: &mut Spool, out: &mut impl Write) -> io::Result<()> {
        let normals = "normal3f[] primvars:normals";
        write_constant(spool, out, "float3[] extent", self.extent, "")?;
        write_constant(spool, out, "point3f[] points", self.points, "")?;
        write_constant(spool, out, normals, self.normals, "faceVarying")
    }

    /// Writes the subsets of faces with their materials.
    pub fn write_subsets(&self, spool: &mut Spool, out: &mut impl Write) -> io::Result<()> {
        for (name, faces) in &self.faces {
            write!(
                out,
                "            def GeomSubset \"{name}\" {BINDING}\n            {{\n                \
                 uniform token elementType = \"face\"\n                uniform token familyName = \"materialBind\"\n                \
                 rel material:binding = </World/materials/{name}>\n                int[] indices = "
            )?;
            spool.copy(*faces, out)?;
            writeln!(out, "\n            }}")?;
        }
        Ok(())
    }
}
