//! Arrays of a prim: the constant attributes of a fragment's surface, and its samples in each frame.

use std::collections::BTreeMap;
use std::io;

use glam::{DVec3, Vec3};

use crate::export::birth::Birth;
use crate::export::epochs::EpochRecorder;
use crate::export::materials::{FaceMaterial, faces_by_material};
use crate::export::names::identifier;
use crate::export::rigid_state::RigidState;
use crate::export::layer::{Array, ArraySpool, Digits, Layer, Prim, StoredArray, Value};
use crate::export::space::bounds;
use crate::geometry::corners::DistinctCorners;
use crate::store::corner_normals::Fans;
use crate::store::{FragmentRange, SurfaceFrame};

/// Time samples of an attribute: time, in frames, and value.
pub type TimeSamples = Vec<(f64, StoredArray)>;

/// Arrays of an epoch: constant attributes and time samples.
pub struct PrimArrays {
    /// Constant attributes.
    pub at_rest: RestArrays,
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

/// Arrays of the constant attributes.
pub struct RestArrays {
    /// Bounding box at rest, relative to the centre of mass.
    pub bounds: [[f32; 3]; 2],
    vertex_counts: StoredArray,
    indices: StoredArray,
    inside: StoredArray,
    /// Names of the materials and indices of the faces that have them.
    faces: Vec<(String, StoredArray)>,
    /// Vertex positions at rest, in the coordinates of the shot.
    rest: StoredArray,
    /// Vertex positions at rest, relative to the centre of mass.
    points: StoredArray,
    extent: StoredArray,
    normals: StoredArray,
    /// Index of the normal of each corner.
    corners: StoredArray,
    /// Texture coordinates, and the index of those of each corner.
    st: Option<[StoredArray; 2]>,
    /// Colours, and the index of that of each corner.
    colours: Option<[StoredArray; 2]>,
}

/// Records the arrays of epochs.
pub struct PrimWriter {
    /// Keeps the arrays.
    pub spool: ArraySpool,
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
    type Record = PrimArrays;

    fn begin(
        &mut self,
        surface: &SurfaceFrame,
        piece: &FragmentRange,
        centre: DVec3,
    ) -> io::Result<PrimArrays> {
        let by_material = faces_by_material(surface, piece);
        let named = by_material.iter();
        let named: Vec<_> = named
            .map(|(material, faces)| (self.name_of(material), faces))
            .collect();
        let spool = &mut self.spool;
        let mut faces = Vec::new();
        for (name, indices) in named {
            faces.push((name, spool.store(&Array::Ints(indices))?));
        }
        let vertices = surface.vertex_range(piece);
        let triangles: Vec<[u32; 3]> = surface.local_triangles(piece).collect();
        let inside = surface.inside[surface.triangle_range(piece)].iter();
        let inside: Vec<u32> = inside.map(|&flag| flag.into()).collect();
        let rest = &surface.rest_positions[vertices];
        let about = |p: &[f32; 3]| (DVec3::from(p.map(f64::from)) - centre).as_vec3();
        let points: Vec<[f32; 3]> = rest.iter().map(|p| about(p).to_array()).collect();
        let fans = Fans::of(surface, piece);
        let st = store_corners(spool, surface.uv_of(piece), |st| Array::Vec2f(st))?;
        let colours = surface.colours_of(piece);
        let colours = store_corners(spool, colours, |c| Array::vectors(c))?;
        let (low, high) = bounds(&points);
        Ok(PrimArrays {
            at_rest: RestArrays {
                bounds: [low, high],
                vertex_counts: spool.store(&Array::Ints(&vec![3; triangles.len()]))?,
                indices: spool.store(&Array::Ints(triangles.as_flattened()))?,
                inside: spool.store(&Array::Ints(&inside))?,
                faces,
                rest: spool.store(&Array::vectors(rest))?,
                points: spool.store(&Array::vectors(&points))?,
                extent: spool.store(&Array::vectors(&[low, high]))?,
                normals: spool.store(&Array::Vec3f(&fans.normals(&points), Digits::Unit))?,
                corners: spool.store(&Array::Ints(fans.corners.as_flattened()))?,
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
        arrays: &mut PrimArrays,
        birth: &Birth,
        positions: &[[f32; 3]],
    ) -> io::Result<()> {
        let points = birth.half_way(positions);
        let extent = <[_; 2]>::from(bounds(&points));
        for (samples, values) in [
            (&mut arrays.points, &points[..]),
            (&mut arrays.extents, &extent),
        ] {
            let values = Array::vectors(values);
            samples.push((birth.time(), self.spool.store(&values)?));
        }
        Ok(())
    }

    fn add_frame(
        &mut self,
        arrays: &mut PrimArrays,
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
        let normals = arrays.fans.normals(&now);
        let velocity_digits = Digits::MultiplesOf(self.rounding_step(arrays, 1));
        let extent = <[_; 2]>::from(bounds(&now));
        let [open, close] = self.shutter.unwrap_or_default();
        for at in [open, 0.0, close] {
            let known = arrays.points.last();
            if known.is_some_and(|(time, _)| *time >= frame + at) {
                continue;
            }
            let ahead = at / self.fps;
            let there = now.iter().zip(&moving).map(|(p, v)| {
                let ahead = (*v * ahead).as_vec3();
                (Vec3::from(*p) + ahead).to_array()
            });
            let there: Vec<[f32; 3]> = there.collect();
            let points = self.spool.store(&Array::vectors(&there))?;
            arrays.points.push((frame + at, points));
        }
        let stress = &surface.stress[vertices];
        for (samples, values) in [
            (&mut arrays.normals, Array::Vec3f(&normals, Digits::Unit)),
            (
                &mut arrays.velocities,
                Array::Vec3f(&velocities, velocity_digits),
            ),
            (&mut arrays.stress, Array::Floats(stress, Digits::Three)),
            (&mut arrays.extents, Array::vectors(&extent)),
        ] {
            samples.push((frame, self.spool.store(&values)?));
        }
        self.accelerate(arrays, frame, now)
    }

    fn end(&mut self, arrays: &mut PrimArrays) -> io::Result<()> {
        let Some((last, points)) = std::mem::take(&mut arrays.recent).pop() else {
            return Ok(());
        };
        self.add_accelerations(arrays, last, &vec![[0.0; 3]; points.len()])
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
        arrays: &mut PrimArrays,
        frame: f64,
        now: Vec<[f32; 3]>,
    ) -> io::Result<()> {
        if let Some((last, middle)) = arrays.recent.last() {
            let last = *last;
            let before = arrays.recent.iter().rev().nth(1);
            let played = self.time_scale * self.fps / (frame - last);
            let accelerations: Vec<[f32; 3]> = match before {
                Some((first, before)) if last - first == frame - last => {
                    let all = before.iter().zip(middle).zip(&now);
                    all.map(|((a, b), c)| second_difference(*a, *b, *c, played))
                        .collect()
                }
                _ => vec![[0.0; 3]; now.len()],
            };
            self.add_accelerations(arrays, last, &accelerations)?;
        }
        if arrays.recent.len() == 2 {
            arrays.recent.remove(0);
        }
        arrays.recent.push((frame, now));
        Ok(())
    }

    fn add_accelerations(
        &mut self,
        arrays: &mut PrimArrays,
        frame: f64,
        accelerations: &[[f32; 3]],
    ) -> io::Result<()> {
        let digits = Digits::MultiplesOf(self.rounding_step(arrays, 2));
        let stored = self.spool.store(&Array::Vec3f(accelerations, digits))?;
        arrays.accelerations.push((frame, stored));
        Ok(())
    }

    /// The power of ten to whose multiples velocities (order 1) or accelerations (order 2) are rounded: it
    /// moves a point by less than [`ROUNDING_TOLERANCE`] of the fragment's size in half a frame.
    fn rounding_step(&self, arrays: &PrimArrays, order: i32) -> f64 {
        let [low, high] = arrays.at_rest.bounds.map(Vec3::from);
        let half = 0.5 / (self.time_scale * self.fps);
        let most = ROUNDING_TOLERANCE * f64::from((high - low).length()) * f64::from(order)
            / half.powi(order);
        10f64.powi(most.max(f64::MIN_POSITIVE).log10().floor() as i32)
    }
}

/// Largest error of a point by rounded velocities and accelerations, over the fragment's size: a fiftieth of
/// a pixel of a fragment that fills a picture.
const ROUNDING_TOLERANCE: f64 = 2e-5;

/// Second time derivative of a point from its positions at three equidistant times, `rate` of them per played
/// second.
fn second_difference(a: [f32; 3], b: [f32; 3], c: [f32; 3], rate: f64) -> [f32; 3] {
    let double = |p: [f32; 3]| DVec3::from(p.map(f64::from));
    let bent = double(a) + double(c) - 2.0 * double(b);
    (bent * (rate * rate)).as_vec3().to_array()
}

impl RestArrays {
    /// Writes the attributes that rigid and bending meshes have in common.
    pub fn write_topology(&self, layer: &mut dyn Layer) -> io::Result<()> {
        for (declaration, word) in [
            ("uniform token orientation", "rightHanded"),
            ("uniform token subdivisionScheme", "none"),
            (
                "uniform token subsetFamily:materialBind:familyType",
                "partition",
            ),
        ] {
            layer.set(declaration, Value::Token(word))?;
        }
        layer.set_stored("int[] faceVertexCounts", "", self.vertex_counts)?;
        layer.set_stored("int[] faceVertexIndices", "", self.indices)?;
        layer.set_stored("int[] primvars:inside", "uniform", self.inside)?;
        layer.set_stored("point3f[] primvars:rest", "vertex", self.rest)?;
        if let Some([st, corners]) = self.st {
            layer.set_stored("texCoord2f[] primvars:st", "faceVarying", st)?;
            layer.set_stored("int[] primvars:st:indices", "", corners)?;
        }
        if let Some([colours, corners]) = self.colours {
            let name = "color3f[] primvars:displayColor";
            layer.set_stored(name, "faceVarying", colours)?;
            layer.set_stored("int[] primvars:displayColor:indices", "", corners)?;
        }
        layer.set_stored("int[] primvars:normals:indices", "", self.corners)
    }

    /// Writes the points at rest, relative to the centre of mass, and their normals.
    pub fn write_shape(&self, layer: &mut dyn Layer) -> io::Result<()> {
        layer.set_stored("float3[] extent", "", self.extent)?;
        layer.set_stored("point3f[] points", "", self.points)?;
        let normals = "normal3f[] primvars:normals";
        layer.set_stored(normals, "faceVarying", self.normals)
    }

    /// Writes the subsets of faces with their materials.
    pub fn write_subsets(&self, layer: &mut dyn Layer) -> io::Result<()> {
        for (name, faces) in &self.faces {
            layer.begin(Prim {
                api: Some("MaterialBindingAPI"),
                ..Prim::new("GeomSubset", name)
            })?;
            layer.set("uniform token elementType", Value::Token("face"))?;
            layer.set("uniform token familyName", Value::Token("materialBind"))?;
            layer.relationship("material:binding", &[format!("/World/materials/{name}")])?;
            layer.set_stored("int[] indices", "", *faces)?;
            layer.end()?;
        }
        Ok(())
    }
}
