//! Meshes of a scene.

use std::io::{self, Seek, Write};

use super::archive::{self, Header, Object, Properties, Type};
use super::ogawa::Child;
use super::scene::{SHAPE, Scene, schema};
use crate::export::epochs::Epoch;
use crate::export::layer::StoredArray;
use crate::export::surface_arrays::{SurfaceArrays, TimeSamples};

/// Metadata of a property of vertices, corners, faces or whole meshes.
fn parameter(scope: &str, interpretation: &str, kind: Type) -> String {
    let (name, extent) = kind.numbers();
    let interpretation = match interpretation {
        "" => String::new(),
        name => format!("interpretation={name};"),
    };
    format!(
        "arrayExtent=1;geoScope={scope};{interpretation}isGeomParam=true;podExtent={extent};podName={name}"
    )
}

/// Values of corners as distinct values with indices.
struct Indexed<'a> {
    name: &'a str,
    interpretation: &'a str,
    kind: Type,
    /// Index of each corner's value.
    corners: StoredArray,
}

impl<W: Write + Seek> Scene<'_, W> {
    /// Writes a mesh with a set of faces for each material, and returns its place.
    pub fn mesh(&mut self, label: u32, epoch: &Epoch<SurfaceArrays>) -> io::Result<Child> {
        let (arrays, rest) = (&epoch.record, &epoch.record.at_rest);
        let corners = self.clockwise(rest.indices)?;
        let faces = corners.len() / 12;
        let still = [(0.0, rest.shape.points)];
        let is_rigid = epoch.is_rigid();
        let points = if is_rigid { &still } else { &arrays.points[..] };
        let mut geometry = Properties::default();
        let vertices = rest.shape.points.size() / 12;
        let vector = |name, metadata| Header {
            name,
            metadata,
            kind: Type::F32X3,
        };
        let places = vector("P", "geoScope=vtx;interpretation=point");
        self.add_samples(&mut geometry, places, vertices, points, None)?;
        let still = [(0.0, rest.shape.extent)];
        let extents = if is_rigid {
            &still
        } else {
            &arrays.extents[..]
        };
        self.add_bounds(&mut geometry, extents)?;
        for (name, count, bytes) in [
            (".faceIndices", 3 * faces, corners),
            (".faceCounts", faces, self.spool.read(rest.vertex_counts)?),
        ] {
            let header = Header {
                name,
                metadata: "",
                kind: Type::I32,
            };
            self.archive
                .add_array(&mut geometry, header, count, &bytes)?;
        }
        if !is_rigid {
            let velocities = vector(".velocities", "interpretation=vector");
            let at = Some(&arrays.points);
            self.add_samples(&mut geometry, velocities, vertices, &arrays.velocities, at)?;
        }
        let normals = Indexed {
            name: "N",
            interpretation: "normal",
            kind: Type::F32X3,
            corners: rest.corners,
        };
        let at_rest = [(0.0, rest.shape.normals)];
        match is_rigid || arrays.has_constant_normals() {
            true => self.add_indexed(&mut geometry, normals, &at_rest, None)?,
            false => {
                let at = Some(&arrays.points);
                self.add_indexed(&mut geometry, normals, &arrays.normals, at)?;
            }
        }
        if let Some([values, corners]) = rest.st {
            let uv = Indexed {
                name: "uv",
                interpretation: "vector",
                kind: Type::F32X2,
                corners,
            };
            self.add_indexed(&mut geometry, uv, &[(0.0, values)], None)?;
        }
        self.add_others(&mut geometry, label, arrays, (vertices, faces))?;
        let [_, schema] = schema("AbcGeom_PolyMesh_v1", ".geom", SHAPE);
        let mut properties = Properties::default();
        self.archive
            .add_compound(&mut properties, (".geom", &schema), geometry)?;
        let sets = self.face_sets(arrays)?;
        self.archive.object(properties, &sets)
    }

    /// Adds stress, places at rest, crack faces, the fragment's label and colours.
    fn add_others(
        &mut self,
        to: &mut Properties,
        label: u32,
        arrays: &SurfaceArrays,
        (vertices, faces): (usize, usize),
    ) -> io::Result<()> {
        let rest = &arrays.at_rest;
        let mut others = Properties::default();
        let stress = Header {
            name: "stress",
            metadata: &parameter("vtx", "", Type::F32),
            kind: Type::F32,
        };
        self.add_samples(&mut others, stress, vertices, &arrays.stress, None)?;
        let places = Header {
            name: "rest",
            metadata: &parameter("vtx", "point", Type::F32X3),
            kind: Type::F32X3,
        };
        self.add_samples(&mut others, places, vertices, &[(0.0, rest.rest)], None)?;
        let inside = Header {
            name: "inside",
            metadata: &parameter("uni", "", Type::I32),
            kind: Type::I32,
        };
        self.add_samples(&mut others, inside, faces, &[(0.0, rest.inside)], None)?;
        let fragment = Header {
            name: "fragment",
            metadata: &parameter("con", "", Type::I32),
            kind: Type::I32,
        };
        self.archive
            .add_array(&mut others, fragment, 1, &label.to_le_bytes())?;
        if let Some([values, corners]) = rest.colours {
            let colours = Indexed {
                name: "Cs",
                interpretation: "rgb",
                kind: Type::F32X3,
                corners,
            };
            self.add_indexed(&mut others, colours, &[(0.0, values)], None)?;
        }
        self.archive
            .add_compound(to, (".arbGeomParams", ""), others)
    }

    /// A set of faces for each material.
    fn face_sets(&mut self, arrays: &SurfaceArrays) -> io::Result<Vec<Object>> {
        let mut sets = Vec::new();
        for (name, faces) in &arrays.at_rest.faces {
            let bytes = self.spool.read(*faces)?;
            let header = Header {
                name: ".faces",
                metadata: "",
                kind: Type::I32,
            };
            let mut set = Properties::default();
            let count = bytes.len() / 4;
            self.archive.add_array(&mut set, header, count, &bytes)?;
            // Readers expect a box: that of the whole mesh at rest.
            self.add_bounds(&mut set, &[(0.0, arrays.at_rest.shape.extent)])?;
            let [metadata, schema] = schema("AbcGeom_FaceSet_v1", ".faceset", SHAPE);
            let mut properties = Properties::default();
            self.archive
                .add_compound(&mut properties, (".faceset", &schema), set)?;
            sets.push(Object {
                name: name.clone(),
                metadata,
                place: self.archive.object(properties, &[])?,
            });
        }
        Ok(sets)
    }

    /// Adds bounding boxes by time.
    fn add_bounds(
        &mut self,
        to: &mut Properties,
        extents: &[(f64, StoredArray)],
    ) -> io::Result<()> {
        let mut boxes = Vec::new();
        for (_, extent) in extents {
            let singles = self.spool.read(*extent)?;
            let (singles, _) = singles.as_chunks();
            let singles = singles.iter().map(|one| f32::from_le_bytes(*one));
            let bytes: Vec<u8> = singles
                .flat_map(|one| f64::from(one).to_le_bytes())
                .collect();
            boxes.push(self.archive.sample(&bytes)?);
        }
        let times = self.times_of(extents);
        let header = Header {
            name: ".selfBnds",
            metadata: "interpretation=box",
            kind: Type::F64X6,
        };
        self.archive.add_scalars(to, header, times, &boxes)
    }

    /// Index of the times of samples; those of one sample do not matter.
    fn times_of(&mut self, samples: &[(f64, StoredArray)]) -> u32 {
        match samples.len() {
            1 => archive::STILL,
            _ => self.times(samples.iter().map(|(time, _)| *time)),
        }
    }

    /// Adds arrays of `count` values by time; at the times of other samples, if readers expect both at the same.
    fn add_samples(
        &mut self,
        to: &mut Properties,
        header: Header,
        count: usize,
        samples: &[(f64, StoredArray)],
        at: Option<&TimeSamples>,
    ) -> io::Result<()> {
        let mut arrays = Vec::new();
        for (_, array) in samples {
            arrays.push(self.written(*array)?);
        }
        if let Some(at) = at {
            let nearest = |time: f64| {
                let later = samples.partition_point(|(other, _)| *other < time);
                let later = later.min(samples.len() - 1);
                match later.checked_sub(1) {
                    Some(before) if time - samples[before].0 < samples[later].0 - time => before,
                    _ => later,
                }
            };
            arrays = at.iter().map(|(time, _)| arrays[nearest(*time)]).collect();
        }
        let times = self.times_of(at.map_or(samples, |at| &at[..]));
        self.archive.add_arrays(to, header, (times, count), &arrays)
    }

    /// Writes an array, unless it is in the file already.
    fn written(&mut self, array: StoredArray) -> io::Result<Child> {
        if let Some(&known) = self.written.get(&array.key()) {
            return Ok(known);
        }
        let bytes = self.spool.read(array)?;
        let child = self.archive.sample(&bytes)?;
        self.written.insert(array.key(), child);
        Ok(child)
    }

    /// Adds values of corners.
    fn add_indexed(
        &mut self,
        to: &mut Properties,
        indexed: Indexed,
        samples: &[(f64, StoredArray)],
        at: Option<&TimeSamples>,
    ) -> io::Result<()> {
        let metadata = parameter("fvr", indexed.interpretation, indexed.kind);
        let (_, extent) = indexed.kind.numbers();
        let count = samples[0].1.size() / (4 * extent as usize);
        let values = Header {
            name: ".vals",
            metadata: &metadata,
            kind: indexed.kind,
        };
        let mut both = Properties::default();
        self.add_samples(&mut both, values, count, samples, at)?;
        let corners = self.clockwise(indexed.corners)?;
        let indices = Header {
            name: ".indices",
            metadata: "",
            kind: Type::U32,
        };
        let count = corners.len() / 4;
        self.archive
            .add_array(&mut both, indices, count, &corners)?;
        self.archive
            .add_compound(to, (indexed.name, &metadata), both)
    }

    /// Indices of the corners of triangles, in the other direction.
    fn clockwise(&mut self, indices: StoredArray) -> io::Result<Vec<u8>> {
        let mut bytes = self.spool.read(indices)?;
        let (triangles, _) = bytes.as_chunks_mut::<12>();
        for triangle in triangles {
            let (_, others) = triangle.split_at_mut(4);
            let (second, third) = others.split_at_mut(4);
            second.swap_with_slice(third);
        }
        Ok(bytes)
    }
}
