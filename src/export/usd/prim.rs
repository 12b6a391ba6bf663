//! The texts of a prim: what of a fragment's surface stays, and what follows it from frame to frame.

use std::io::{self, Write};

use super::text::{MATERIALS, Samples, numbers, plain, units, vectors};
use glam::{DVec3, Vec3};

use crate::export::birth::Birth;
use crate::export::epochs::Keep;
use crate::export::moment::Moment;
use crate::export::space::bounds;
use crate::export::spool::{Segment, Spool};
use crate::export::text::{array, push_f32, push_multiple, push_rough, push_tuple, push_u32};
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
    pub accelerations: Samples,
    pub stress: Samples,
    pub extents: Samples,
    /// Points of the last frames, two at most, with their frames: an acceleration needs those of three.
    recent: Vec<(f64, Vec<[f32; 3]>)>,
}

/// Texts of what does not change.
pub struct AtRest {
    /// Lowest and highest coordinates about the centre of mass.
    pub bounds: [[f32; 3]; 2],
    counts: Segment,
    indices: Segment,
    inside: Segment,
    /// Faces of the skin, and of cracks.
    faces: [Option<Segment>; 2],
    /// Where the vertices are at rest in the shot.
    rest: Segment,
    /// About the centre of mass.
    points: Segment,
    extent: Segment,
    normals: Segment,
    /// The corners' normals by number.
    corners: Segment,
    /// Texture coordinates, and the corners' by number.
    st: Option<[Segment; 2]>,
}

/// Makes texts.
pub struct Writer {
    /// Where they wait.
    pub spool: Spool,
    /// Seconds of the event in a second that is played.
    pub pace: f64,
    /// Frames a second of the event.
    pub fps: f64,
    /// When a shutter opens and closes, in frames about each frame: what bends has points at those times too.
    pub shutter: Option<[f64; 2]>,
}

impl Keep for Writer {
    type Kept = Texts;

    fn begin(&mut self, surface: &SurfaceFrame, piece: &Piece, centre: DVec3) -> io::Result<Texts> {
        let spool = &mut self.spool;
        let vertices = surface.vertex_range(piece);
        let triangles: Vec<[u32; 3]> = surface.local_triangles(piece).collect();
        let inside = &surface.inside[surface.triangle_range(piece)];
        let rest = &surface.rest_positions[vertices];
        let about = |p: &[f32; 3]| (DVec3::from(p.map(f64::from)) - centre).as_vec3();
        let points: Vec<[f32; 3]> = rest.iter().map(|p| about(p).to_array()).collect();
        let fans = Fans::of(surface, piece);
        let faces = [0, 1].map(|flag| -> Vec<u32> {
            let with = |face: &u32| inside[*face as usize] == flag;
            (0..inside.len() as u32).filter(with).collect()
        });
        let [skin, cracks] = faces;
        let mut subset = |faces: &[u32]| match faces {
            [] => Ok(None),
            faces => spool.append(&numbers(faces)).map(Some),
        };
        let faces = [subset(&skin)?, subset(&cracks)?];
        let st = match surface.uv_of(piece) {
            [] => None,
            uv => {
                let corners = Corners::of_texture(uv);
                let values = array(&corners.uv(), |out, uv| push_tuple(out, uv, push_f32));
                let corners = numbers(corners.numbers.as_flattened());
                Some([spool.append(&values)?, spool.append(&corners)?])
            }
        };
        let (low, high) = bounds(&points);
        Ok(Texts {
            at_rest: AtRest {
                bounds: [low, high],
                counts: spool.append(&array(&triangles, |out, _| out.push('3')))?,
                indices: spool.append(&numbers(triangles.as_flattened()))?,
                inside: spool.append(&array(inside, |out, &flag| push_u32(out, flag.into())))?,
                faces,
                rest: spool.append(&vectors(rest))?,
                points: spool.append(&vectors(&points))?,
                extent: spool.append(&vectors(&[low, high]))?,
                normals: spool.append(&units(&fans.normals(&points)))?,
                corners: spool.append(&numbers(fans.corners.as_flattened()))?,
                st,
            },
            fans,
            points: Samples::new(),
            normals: Samples::new(),
            velocities: Samples::new(),
            accelerations: Samples::new(),
            stress: Samples::new(),
            extents: Samples::new(),
            recent: Vec::new(),
        })
    }

    fn born(&mut self, texts: &mut Texts, birth: &Birth, places: &[[f32; 3]]) -> io::Result<()> {
        let points = birth.half_way(places);
        let extent = <[_; 2]>::from(bounds(&points));
        for (samples, values) in [
            (&mut texts.points, &points[..]),
            (&mut texts.extents, &extent),
        ] {
            samples.push((birth.time(), self.spool.append(&vectors(values))?));
        }
        Ok(())
    }

    fn follow(
        &mut self,
        texts: &mut Texts,
        surface: &SurfaceFrame,
        piece: &Piece,
        moment: &Moment,
    ) -> io::Result<()> {
        let (frame, vertices) = (f64::from(surface.frame), surface.vertex_range(piece));
        let positions = &surface.positions[vertices.clone()];
        let velocities = &surface.velocities[vertices.clone()];
        let now: Vec<[f32; 3]> = positions
            .iter()
            .map(|p| moment.local(*p).as_vec3().to_array())
            .collect();
        let moving: Vec<DVec3> = positions
            .iter()
            .zip(velocities)
            .map(|(p, v)| moment.local_velocity(*p, *v))
            .collect();
        let played = |velocity: &DVec3| (*velocity * self.pace).as_vec3().to_array();
        let velocities: Vec<[f32; 3]> = moving.iter().map(played).collect();
        let normals = texts.fans.normals(&now);
        let velocities = rounded(&velocities, self.step(texts, 1));
        let stress = array(&surface.stress[vertices], |out, s| push_rough(out, *s));
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
            (&mut texts.normals, units(&normals)),
            (&mut texts.velocities, velocities),
            (&mut texts.stress, stress),
            (&mut texts.extents, vectors(&extent)),
        ] {
            samples.push((frame, self.spool.append(&text)?));
        }
        self.accelerate(texts, frame, now)
    }

    fn end(&mut self, texts: &mut Texts) -> io::Result<()> {
        let Some((last, points)) = std::mem::take(&mut texts.recent).pop() else {
            return Ok(());
        };
        self.add_accelerations(texts, last, &vec![[0.0; 3]; points.len()])
    }
}

impl Writer {
    /// Takes the points of a frame and adds the accelerations of the frame before: second differences of
    /// points, as those of velocities would be noise where waves are faster than frames. The first frame of
    /// an epoch and its last have none.
    fn accelerate(&mut self, texts: &mut Texts, frame: f64, now: Vec<[f32; 3]>) -> io::Result<()> {
        if let Some((last, middle)) = texts.recent.last() {
            let last = *last;
            let before = texts.recent.iter().rev().nth(1);
            let played = self.pace * self.fps / (frame - last);
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
        texts: &mut Texts,
        frame: f64,
        accelerations: &[[f32; 3]],
    ) -> io::Result<()> {
        let text = rounded(accelerations, self.step(texts, 2));
        texts.accelerations.push((frame, self.spool.append(&text)?));
        Ok(())
    }

    /// The power of ten whose multiples are written for velocities (order 1) or accelerations (order 2): it
    /// moves a point by less than `UNSEEN` of the fragment's size in half a frame.
    fn step(&self, texts: &Texts, order: i32) -> f64 {
        let [low, high] = texts.at_rest.bounds.map(Vec3::from);
        let half = 0.5 / (self.pace * self.fps);
        let most = UNSEEN * f64::from((high - low).length()) * f64::from(order) / half.powi(order);
        10f64.powi(most.max(f64::MIN_POSITIVE).log10().floor() as i32)
    }
}

/// How far a point may be off by rounded velocities and accelerations, over the fragment's size: a fiftieth
/// of a pixel of a fragment that fills a picture.
const UNSEEN: f64 = 2e-5;

fn rounded(vectors: &[[f32; 3]], step: f64) -> Vec<String> {
    let push = |out: &mut String, value| push_multiple(out, value, step);
    array(vectors, |out, vector| push_tuple(out, vector, push))
}

/// Of points at equal times, `rate` of them a second that is played.
fn second_difference(a: [f32; 3], b: [f32; 3], c: [f32; 3], rate: f64) -> [f32; 3] {
    let double = |p: [f32; 3]| DVec3::from(p.map(f64::from));
    let bent = double(a) + double(c) - 2.0 * double(b);
    (bent * (rate * rate)).as_vec3().to_array()
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
        plain(spool, out, "point3f[] primvars:rest", self.rest, "vertex")?;
        if let Some([st, corners]) = self.st {
            plain(spool, out, "texCoord2f[] primvars:st", st, "faceVarying")?;
            plain(spool, out, "int[] primvars:st:indices", corners, "")?;
        }
        let corners = "int[] primvars:normals:indices";
        plain(spool, out, corners, self.corners, "")
    }

    /// Its points about the centre of mass, and normals, at rest.
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
