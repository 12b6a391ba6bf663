//! Binary glTF 2.0 of a range of frames: a node a fragment while its surface stays the same, moved in time.
//!
//! The nodes are the prims of the USD file, called alike. A fragment that bends has the mean shape of its
//! frames and is moved as the rigid body nearest to it; the summary says how many do and by how much they are
//! off. A node that is not there in a frame has no size, which every reader of glTF understands. Vertices are
//! whole numbers about the node's pivot (KHR_mesh_quantization), which the node's own scale makes lengths
//! again, so that no second node is needed; all numbers are compressed (EXT_meshopt_compression). A place is
//! off by up to 5e-5 of the fragment's size, a normal by a degree. Memory holds one frame, each surface once,
//! and for each of its vertices where it was in the mean and at most.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::file::{self, BYTE, Buffers, COMPRESSION, SHORT, Usage};
use super::part::{Materials, Part};
use super::shape::{self, Shape, Shapes};
use crate::export::epochs::{self, Epoch, Epochs};
use crate::export::error::ExportError;
use crate::export::format::{Axes, ExportSummary, Format, Needs, Stiffened};
use crate::export::job::Job;
use crate::export::space::bounds;
use crate::export::track::Track;
use crate::spec::ExportFormat;

/// Binary glTF, animated.
pub const FORMAT: Format = Format {
    format: ExportFormat::GlbAnimated,
    name: "glb-animated",
    extension: "animated.glb",
    needs: Needs::Surfaces,
    space: Axes::YUp,
    single: true,
    write,
};

fn write(job: &Job, on_frame: &mut dyn FnMut(usize, usize)) -> Result<ExportSummary, ExportError> {
    let mut epochs = epochs::gather(job, &mut Shapes, on_frame)?;
    let stiffened = shape::bend(&mut epochs);
    let (mut root, binary) = document(job, &epochs);
    if let Some(Stiffened { surfaces, off, .. }) = stiffened {
        root["extras"]["stiffened"] = json!({"surfaces": surfaces, "off": off});
    }
    file::write(&job.target, &root, &binary)?;
    let mut summary = ExportSummary {
        slow_motion: Some(1.0 / job.pace()),
        stiffened,
        ..ExportSummary::default()
    };
    summary.add(job.target.clone())?;
    Ok(summary)
}

/// The document and the binary chunk.
fn document(job: &Job, epochs: &Epochs<Shape>) -> (Value, Vec<u8>) {
    let parts = epochs.values().flatten().map(|epoch| &epoch.kept.part);
    let materials = Materials::new(parts);
    let mut scene = Scene::new(job);
    let mut bodies: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (&(body, fragment), turns) in epochs {
        for (turn, epoch) in turns.iter().enumerate() {
            if !epoch.kept.part.positions.is_empty() {
                let node = scene.add(&epochs::name(fragment, turn), epoch, &materials);
                bodies.entry(body).or_default().push(node);
            }
        }
    }
    let mut children = Vec::new();
    for (body, nodes) in bodies {
        children.push(scene.nodes.len());
        let body = json!({"name": job.names.body(body), "children": nodes});
        scene.nodes.push(body);
    }
    let mut root = file::root();
    let last = job.frames[job.frames.len() - 1];
    root["extras"] = json!({
        "frames": [job.frames[0], last], "framesPerSecond": job.playback,
        "eventFramesPerSecond": job.fps, "slowMotion": 1.0 / job.pace(),
    });
    // glTF allows no empty lists.
    if !children.is_empty() {
        let extensions = json!([COMPRESSION, "KHR_mesh_quantization"]);
        root["extensionsUsed"] = extensions.clone();
        root["extensionsRequired"] = extensions;
        scene.nodes[0]["children"] = children.into();
        root["meshes"] = scene.meshes.into();
        root["materials"] = materials.entries.into();
    }
    if !scene.channels.is_empty() {
        root["animations"] = json!([{
            "name": job.names.shot(), "channels": scene.channels, "samplers": scene.samplers,
        }]);
    }
    root["nodes"] = scene.nodes.into();
    let binary = scene.buffers.finish(&mut root, true);
    (root, binary)
}

/// Nodes, meshes and one animation under construction; node 0 is the shot.
struct Scene<'a> {
    job: &'a Job<'a>,
    nodes: Vec<Value>,
    meshes: Vec<Value>,
    channels: Vec<Value>,
    samplers: Vec<Value>,
    buffers: Buffers,
    views: Views,
    /// Accessors of times, by the bits of the times: objects that come and go together share them.
    times: BTreeMap<Vec<u32>, usize>,
}

/// Buffer views by number.
struct Views {
    positions: usize,
    normals: usize,
    texture: usize,
    times: usize,
    places: usize,
    rotations: usize,
    sizes: usize,
}

impl<'a> Scene<'a> {
    fn new(job: &'a Job<'a>) -> Self {
        let mut buffers = Buffers::new();
        let views = Views {
            positions: buffers.view(Usage::Vertices, 8, None),
            normals: buffers.view(Usage::Vertices, 4, Some("OCTAHEDRAL")),
            texture: buffers.view(Usage::Vertices, 8, Some("EXPONENTIAL")),
            times: buffers.view(Usage::Keys, 4, None),
            places: buffers.view(Usage::Keys, 12, None),
            // The filter for quaternions does not keep their signs, and so not the way round between them.
            rotations: buffers.view(Usage::Keys, 8, None),
            sizes: buffers.view(Usage::Keys, 12, None),
        };
        Scene {
            job,
            nodes: vec![json!({"name": job.names.shot()})],
            meshes: Vec::new(),
            channels: Vec::new(),
            samplers: Vec::new(),
            buffers,
            views,
            times: BTreeMap::new(),
        }
    }

    /// Adds the node of an epoch, its mesh and its tracks. The node is as it is in the first frame, for
    /// readers that play nothing.
    fn add(&mut self, name: &str, epoch: &Epoch<Shape>, materials: &Materials) -> usize {
        let part = &epoch.kept.part;
        let (low, high) = bounds(&part.positions);
        let reach = low.iter().chain(&high).fold(0.0f32, |r, x| r.max(x.abs()));
        // What is one point needs a size too.
        let scale = if reach > 0.0 { reach } else { 1.0 };
        let attributes = self.attributes(part, scale);
        let keys = epoch.keys(&self.job.frames, self.job.fps);
        let track = Track::new(&keys, epoch.size);
        let life = epoch.life(&self.job.frames);
        let ((_, at), (_, rotation)) = (track.places[0], track.turns[0]);
        let shown = if life[0].is_none() { scale } else { 0.0 };
        let number = self.nodes.len();
        let mut node = json!({
            "name": name, "mesh": self.meshes.len(), "scale": file::short([shown; 3]),
        });
        // What is not there yet need not be anywhere but by its tracks.
        if shown > 0.0 || track.places.len() == 1 {
            node["translation"] = json!(file::short(at.as_vec3().to_array()));
        }
        if shown > 0.0 || track.turns.len() == 1 {
            node["rotation"] = json!(file::short(rotation.as_quat().to_array()));
        }
        self.nodes.push(node);
        // Meshes have no names: of the mesh `fragment_1` three.js would make a child `fragment_1_1`, and move
        // it instead of the node.
        let mesh = part.mesh(&attributes, materials, &mut self.buffers);
        self.meshes.push(mesh);
        self.animate(number, &track);
        self.appear(number, life, scale);
        number
    }

    /// Vertices over `scale`: positions in 16 bits, normals in 8.
    fn attributes(&mut self, part: &Part, scale: f32) -> Value {
        let whole = |x: f32| (x / scale * f32::from(i16::MAX)).round() as i16;
        let rows: Vec<[i16; 4]> = part
            .positions
            .iter()
            .map(|&[x, y, z]| [whole(x), whole(y), whole(z), 0])
            .collect();
        let bound = |pick: fn(i16, i16) -> i16| {
            [0, 1, 2].map(|axis| rows.iter().map(|row| row[axis]).reduce(pick))
        };
        let positions = json!({
            "componentType": SHORT, "normalized": true, "count": rows.len(), "type": "VEC3",
            "min": bound(Ord::min), "max": bound(Ord::max),
        });
        let normals = json!({
            "componentType": BYTE, "normalized": true, "count": rows.len(), "type": "VEC3",
        });
        let rows = bytemuck::cast_slice(rows.as_flattened());
        let directions: Vec<[f32; 4]> = part
            .normals
            .iter()
            .map(|&[x, y, z]| [x, y, z, 0.0])
            .collect();
        let directions = meshopt::encode_filter_oct::<i8>(&directions, 8);
        let directions = bytemuck::cast_slice(directions.as_flattened());
        let mut attributes = json!({
            "POSITION": self.buffers.add(self.views.positions, positions, rows),
            "NORMAL": self.buffers.add(self.views.normals, normals, directions),
        });
        if !part.uv.is_empty() {
            // Of a picture 30 thousand pixels wide, the pixel.
            let mode = meshopt::EncodeExpMode::Separate;
            let uv = meshopt::encode_filter_exp(&part.uv, 16, mode);
            let accessor = json!({
                "componentType": file::FLOAT, "count": uv.len(), "type": "VEC2",
            });
            let uv = bytemuck::cast_slice(uv.as_flattened());
            attributes["TEXCOORD_0"] = self.buffers.add(self.views.texture, accessor, uv).into();
        }
        attributes
    }

    /// The way of a node.
    fn animate(&mut self, node: usize, track: &Track) {
        if track.places.len() > 1 {
            let (frames, places): (Vec<f64>, Vec<[f32; 3]>) = track
                .places
                .iter()
                .map(|(time, at)| (*time, at.as_vec3().to_array()))
                .unzip();
            let places = self.buffers.floats(self.views.places, &places, false);
            self.channel((node, "translation"), None, &frames, places);
        }
        if track.turns.len() > 1 {
            let whole = |x: f64| (x * f64::from(i16::MAX)).round() as i16;
            let (frames, turns): (Vec<f64>, Vec<[i16; 4]>) = track
                .turns
                .iter()
                .map(|(time, turn)| (*time, turn.to_array().map(whole)))
                .unzip();
            let accessor = json!({
                "componentType": SHORT, "normalized": true, "count": turns.len(), "type": "VEC4",
            });
            let turns = bytemuck::cast_slice(turns.as_flattened());
            let turns = self.buffers.add(self.views.rotations, accessor, turns);
            self.channel((node, "rotation"), None, &frames, turns);
        }
    }

    /// When a node that is not there all along has its size.
    fn appear(&mut self, node: usize, [birth, death]: [Option<f64>; 2], scale: f32) {
        let mut keys = vec![match birth {
            Some(_) => (self.job.frames[0].into(), 0.0),
            None => (self.job.frames[0].into(), scale),
        }];
        keys.extend(birth.map(|birth| (birth, scale)));
        keys.extend(death.map(|death| (death, 0.0)));
        if keys.len() == 1 {
            return;
        }
        let (frames, sizes): (Vec<f64>, Vec<[f32; 3]>) = keys
            .into_iter()
            .map(|(frame, size)| (frame, [size; 3]))
            .unzip();
        let sizes = self.buffers.floats(self.views.sizes, &sizes, false);
        self.channel((node, "scale"), Some("STEP"), &frames, sizes);
    }

    /// Adds a track: what of which node goes through the values of an accessor at these frames. The first of
    /// all frames is second 0.
    fn channel(
        &mut self,
        (node, path): (usize, &str),
        interpolation: Option<&str>,
        frames: &[f64],
        output: usize,
    ) {
        let first = f64::from(self.job.frames[0]);
        let seconds = |frame: &f64| [((frame - first) / self.job.playback) as f32];
        let times: Vec<[f32; 1]> = frames.iter().map(seconds).collect();
        let bits = times.iter().map(|[time]| time.to_bits()).collect();
        let buffers = &mut self.buffers;
        let add = || buffers.floats(self.views.times, &times, true);
        let input = *self.times.entry(bits).or_insert_with(add);
        self.channels.push(json!({
            "sampler": self.samplers.len(), "target": {"node": node, "path": path},
        }));
        let mut sampler = json!({"input": input, "output": output});
        // What is not said is linear.
        if let Some(name) = interpolation {
            sampler["interpolation"] = name.into();
        }
        self.samplers.push(sampler);
    }
}

#[cfg(test)]
mod tests;
