//! Binary glTF 2.0 of a range of frames: one animated node per epoch of a fragment.
//!
//! The nodes correspond to the prims of the USD file and have the same names. A fragment that bends has the
//! mean shape of its frames and moves as the best-fitting rigid body; the summary reports how many bend and
//! their largest deviation. A node that does not exist in a frame has scale 0, which every glTF reader
//! supports.
//!
//! With `compress`, vertices are quantized to integers relative to the node's pivot (KHR_mesh_quantization). The
//! scale of the node converts them to lengths, so no second node is needed. All data are compressed
//! (EXT_meshopt_compression). The error of a position is up to 5e-5 of the fragment's size, that of a normal
//! up to a degree. Without it, the file needs no extension.
//!
//! Memory holds one frame, each surface once, and the mean and bounds of each of its vertices.

use std::collections::BTreeMap;

use glam::DQuat;
use serde_json::{Value, json};

use super::file::{self, BYTE, BufferBuilder, COMPRESSION, SHORT, UNSIGNED_SHORT, ViewUsage};
use super::mesh::{FragmentMesh, Materials};
use super::shape::{self, MeanShape, ShapeRecorder};
use crate::export::epochs::{self, Epoch, Epochs};
use crate::export::error::ExportError;
use crate::export::format::{Axes, ExportSummary, FormatEntry, RequiredTables};
use crate::export::job::ExportJob;
use crate::export::space::bounds;
use crate::export::track::Track;
use crate::spec::ExportFormat;

/// Table entry of animated glTF.
pub const FORMAT: FormatEntry = FormatEntry {
    format: ExportFormat::GlbAnimated,
    name: "glb-animated",
    extension: "animated.glb",
    requires: RequiredTables::Surfaces,
    axes: Axes::YUp,
    single_file: true,
    write,
};

fn write(
    job: &ExportJob,
    on_frame: &mut dyn FnMut(usize, usize),
) -> Result<ExportSummary, ExportError> {
    let mut epochs = epochs::gather(job, &mut ShapeRecorder, on_frame)?;
    let stiffened = shape::average_bending(&mut epochs);
    let (mut root, binary) = document(job, &epochs);
    if let Some(reported) = stiffened {
        root["extras"]["stiffened"] =
            json!({"surfaces": reported.surfaces, "off": reported.largest_error});
    }
    file::write(&job.target, &root, &binary)?;
    Ok(ExportSummary {
        stiffened,
        ..ExportSummary::of_clip(job)?
    })
}

/// Builds the document and the binary chunk.
fn document(job: &ExportJob, epochs: &Epochs<MeanShape>) -> (Value, Vec<u8>) {
    let fragment_meshes = epochs
        .values()
        .flatten()
        .map(|epoch| &epoch.record.fragment_mesh);
    let materials = Materials::new(fragment_meshes);
    let mut scene = GltfScene::new(job);
    let mut bodies: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (&(body, fragment), fragment_epochs) in epochs {
        for (index, epoch) in fragment_epochs.iter().enumerate() {
            if !epoch.record.fragment_mesh.positions.is_empty() {
                let node = scene.add(&epochs::name(fragment, index), epoch, &materials);
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
    let mut root = file::new_document();
    let last = job.frames[job.frames.len() - 1];
    root["extras"] = json!({
        "frames": [job.frames[0], last], "framesPerSecond": job.playback,
        "eventFramesPerSecond": job.fps, "slowMotion": 1.0 / job.time_scale(),
    });
    // glTF allows no empty lists.
    if !children.is_empty() {
        if job.compress {
            let extensions = json!([COMPRESSION, "KHR_mesh_quantization"]);
            root["extensionsUsed"] = extensions.clone();
            root["extensionsRequired"] = extensions;
        }
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
    let binary = scene.buffers.finish(&mut root, job.compress);
    (root, binary)
}

/// glTF nodes, meshes and one animation under construction; node 0 is the shot.
struct GltfScene<'a> {
    job: &'a ExportJob<'a>,
    nodes: Vec<Value>,
    meshes: Vec<Value>,
    channels: Vec<Value>,
    samplers: Vec<Value>,
    buffers: BufferBuilder,
    views: BufferViews,
    /// Accessors of times, by the bits of the times: objects that appear and disappear together share them.
    times: BTreeMap<Vec<u32>, usize>,
}

/// Numbers of the buffer views.
struct BufferViews {
    positions: usize,
    normals: usize,
    texture: usize,
    colours: usize,
    times: usize,
    translations: usize,
    rotations: usize,
    scales: usize,
}

impl<'a> GltfScene<'a> {
    fn new(job: &'a ExportJob<'a>) -> Self {
        let mut buffers = BufferBuilder::new();
        let [place, direction, turn] = match job.compress {
            true => [8, 4, 8],
            false => [12, 12, 16],
        };
        let views = BufferViews {
            positions: buffers.add_view(ViewUsage::Vertices, place, None),
            normals: buffers.add_view(ViewUsage::Vertices, direction, Some("OCTAHEDRAL")),
            texture: buffers.add_view(ViewUsage::Vertices, 8, Some("EXPONENTIAL")),
            colours: buffers.add_view(ViewUsage::Vertices, 8, None),
            times: buffers.add_view(ViewUsage::Keyframes, 4, None),
            translations: buffers.add_view(ViewUsage::Keyframes, 12, None),
            // The quaternion filter does not keep signs, which decide the direction of rotation between
            // keyframes.
            rotations: buffers.add_view(ViewUsage::Keyframes, turn, None),
            scales: buffers.add_view(ViewUsage::Keyframes, 12, None),
        };
        GltfScene {
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

    /// Adds the node of an epoch with its mesh and tracks, and returns its number. The node itself has the
    /// pose of the first frame, for readers without animation.
    fn add(&mut self, name: &str, epoch: &Epoch<MeanShape>, materials: &Materials) -> usize {
        let fragment_mesh = &epoch.record.fragment_mesh;
        let (low, high) = bounds(&fragment_mesh.positions);
        let reach = low.iter().chain(&high).fold(0.0f32, |r, x| r.max(x.abs()));
        // A single point needs a scale above 0 too.
        let is_scaled = self.job.compress && reach > 0.0;
        let scale = if is_scaled { reach } else { 1.0 };
        let mut attributes = match self.job.compress {
            true => self.quantized_attributes(fragment_mesh, scale),
            false => self.plain_attributes(fragment_mesh),
        };
        self.add_colours(fragment_mesh, &mut attributes);
        let keyframes = epoch.keyframes(&self.job.frames, self.job.fps);
        let track = Track::new(&keyframes, epoch.size);
        let lifetime = epoch.lifetime(&self.job.frames);
        let ((_, at), (_, rotation)) = (track.translations[0], track.rotations[0]);
        let shown = if lifetime[0].is_none() { scale } else { 0.0 };
        let number = self.nodes.len();
        let mut node = json!({
            "name": name, "mesh": self.meshes.len(), "scale": file::shortest_decimals([shown; 3]),
        });
        // A node that is hidden at first needs a pose only if it has no track.
        if shown > 0.0 || track.translations.len() == 1 {
            node["translation"] = json!(file::shortest_decimals(at.as_vec3().to_array()));
        }
        if shown > 0.0 || track.rotations.len() == 1 {
            node["rotation"] = json!(file::shortest_decimals(rotation.as_quat().to_array()));
        }
        self.nodes.push(node);
        // Meshes have no names: three.js would turn a mesh `fragment_1` into a child `fragment_1_1` and move
        // that instead of the node.
        let mesh = fragment_mesh.mesh(&attributes, materials, &mut self.buffers);
        self.meshes.push(mesh);
        self.add_pose_tracks(number, &track);
        self.add_scale_track(number, lifetime, scale);
        number
    }

    /// Adds positions, normals and texture coordinates in single precision.
    fn plain_attributes(&mut self, fragment_mesh: &FragmentMesh) -> Value {
        let (buffers, views) = (&mut self.buffers, &self.views);
        let (positions, normals) = (&fragment_mesh.positions, &fragment_mesh.normals);
        let mut attributes = json!({
            "POSITION": buffers.add_floats(views.positions, positions, true),
            "NORMAL": buffers.add_floats(views.normals, normals, false),
        });
        if !fragment_mesh.uv.is_empty() {
            let uv = buffers.add_floats(views.texture, &fragment_mesh.uv, false);
            attributes["TEXCOORD_0"] = uv.into();
        }
        attributes
    }

    /// Adds positions over `scale` in 16 bits, normals in 8 bits, and texture coordinates.
    fn quantized_attributes(&mut self, fragment_mesh: &FragmentMesh, scale: f32) -> Value {
        let whole = |x: f32| (x / scale * f32::from(i16::MAX)).round() as i16;
        let rows: Vec<[i16; 4]> = fragment_mesh
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
        let directions: Vec<[f32; 4]> = fragment_mesh
            .normals
            .iter()
            .map(|&[x, y, z]| [x, y, z, 0.0])
            .collect();
        let directions = meshopt::encode_filter_oct::<i8>(&directions, 8);
        let directions = bytemuck::cast_slice(directions.as_flattened());
        let mut attributes = json!({
            "POSITION": self.buffers.add_accessor(self.views.positions, positions, rows),
            "NORMAL": self.buffers.add_accessor(self.views.normals, normals, directions),
        });
        if !fragment_mesh.uv.is_empty() {
            // Precise to a pixel of an image 30 thousand pixels wide.
            let mode = meshopt::EncodeExpMode::Separate;
            let uv = meshopt::encode_filter_exp(&fragment_mesh.uv, 16, mode);
            let accessor = json!({
                "componentType": file::FLOAT, "count": uv.len(), "type": "VEC2",
            });
            let uv = bytemuck::cast_slice(uv.as_flattened());
            attributes["TEXCOORD_0"] = self
                .buffers
                .add_accessor(self.views.texture, accessor, uv)
                .into();
        }
        attributes
    }

    /// Adds the colours, if there are any, in 16 bits.
    fn add_colours(&mut self, fragment_mesh: &FragmentMesh, attributes: &mut Value) {
        if !fragment_mesh.colours.is_empty() {
            let whole = |x: f32| (x.clamp(0.0, 1.0) * f32::from(u16::MAX)).round() as u16;
            let rows = fragment_mesh.colours.iter();
            let rows: Vec<[u16; 4]> = rows
                .map(|&[r, g, b]| [whole(r), whole(g), whole(b), u16::MAX])
                .collect();
            let accessor = json!({
                "componentType": UNSIGNED_SHORT, "normalized": true, "count": rows.len(), "type": "VEC4",
            });
            let rows = bytemuck::cast_slice(rows.as_flattened());
            attributes["COLOR_0"] = self
                .buffers
                .add_accessor(self.views.colours, accessor, rows)
                .into();
        }
    }

    /// Adds the tracks of translation and rotation of a node.
    fn add_pose_tracks(&mut self, node: usize, track: &Track) {
        if track.translations.len() > 1 {
            let (frames, translations): (Vec<f64>, Vec<[f32; 3]>) = track
                .translations
                .iter()
                .map(|(time, at)| (*time, at.as_vec3().to_array()))
                .unzip();
            let translations =
                self.buffers
                    .add_floats(self.views.translations, &translations, false);
            self.add_channel((node, "translation"), None, &frames, translations);
        }
        if track.rotations.len() > 1 {
            let (frames, rotations): (Vec<f64>, Vec<DQuat>) =
                track.rotations.iter().copied().unzip();
            let rotations = self.add_rotations(&rotations);
            self.add_channel((node, "rotation"), None, &frames, rotations);
        }
    }

    /// Adds an accessor to rotations: in 16 bits with compression.
    fn add_rotations(&mut self, rotations: &[DQuat]) -> usize {
        let (buffers, view) = (&mut self.buffers, self.views.rotations);
        if !self.job.compress {
            let rotations = rotations.iter().map(|one| one.as_quat().to_array());
            return buffers.add_floats(view, &rotations.collect::<Vec<_>>(), false);
        }
        let whole = |x: f64| (x * f64::from(i16::MAX)).round() as i16;
        let rows: Vec<[i16; 4]> = rotations
            .iter()
            .map(|one| one.to_array().map(whole))
            .collect();
        let accessor = json!({
            "componentType": SHORT, "normalized": true, "count": rows.len(), "type": "VEC4",
        });
        buffers.add_accessor(view, accessor, bytemuck::cast_slice(rows.as_flattened()))
    }

    /// Adds the track of scale of a node that does not exist in all frames.
    fn add_scale_track(&mut self, node: usize, [birth, death]: [Option<f64>; 2], scale: f32) {
        let mut keyframes = vec![match birth {
            Some(_) => (self.job.frames[0].into(), 0.0),
            None => (self.job.frames[0].into(), scale),
        }];
        keyframes.extend(birth.map(|birth| (birth, scale)));
        keyframes.extend(death.map(|death| (death, 0.0)));
        if keyframes.len() == 1 {
            return;
        }
        let (frames, scales): (Vec<f64>, Vec<[f32; 3]>) = keyframes
            .into_iter()
            .map(|(frame, size)| (frame, [size; 3]))
            .unzip();
        let scales = self.buffers.add_floats(self.views.scales, &scales, false);
        self.add_channel((node, "scale"), Some("STEP"), &frames, scales);
    }

    /// Adds a channel: the property `path` of `node` takes the values of the accessor `output` at the times
    /// `frames`. The first frame of the job is at 0 s.
    fn add_channel(
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
        let add = || buffers.add_floats(self.views.times, &times, true);
        let input = *self.times.entry(bits).or_insert_with(add);
        self.channels.push(json!({
            "sampler": self.samplers.len(), "target": {"node": node, "path": path},
        }));
        let mut sampler = json!({"input": input, "output": output});
        // The default is linear.
        if let Some(name) = interpolation {
            sampler["interpolation"] = name.into();
        }
        self.samplers.push(sampler);
    }
}

#[cfg(test)]
mod tests;
