//! Objects of a scene: bodies, and fragments with their motion.

use std::collections::HashMap;
use std::io::{self, Seek, Write};

use super::archive::{Archive, Header, Object, Properties, STILL, Type};
use super::ogawa::Child;
use super::poses::Poses;
use crate::export::epochs::{self, Epoch, Epochs};
use crate::export::job::ExportJob;
use crate::export::layer::{ArrayKey, ArraySpool};
use crate::export::surface_arrays::SurfaceArrays;

/// Metadata of an object, and of the property that holds its schema.
pub fn schema(name: &str, property: &str, base: &str) -> [String; 2] {
    let schema = format!("schema={name}{base}");
    let title = format!("{schema};schemaObjTitle={name}:{property}");
    [title, schema]
}

/// What schemas of shapes have in common.
pub const SHAPE: &str = ";schemaBaseType=AbcGeom_GeomBase_v1";

/// The archive under construction.
pub struct Scene<'a, W> {
    /// What is exported.
    pub job: &'a ExportJob<'a>,
    /// The file.
    pub archive: Archive<'a, W>,
    /// Arrays of the surfaces, bare.
    pub spool: &'a mut ArraySpool,
    /// Arrays that are in the file already.
    pub written: HashMap<ArrayKey, Child>,
}

impl<W: Write + Seek> Scene<'_, W> {
    /// Writes all objects and returns the place of the one that contains them.
    pub fn write(&mut self, surfaces: &Epochs<SurfaceArrays>) -> io::Result<Child> {
        let mut bodies: Vec<(u32, Vec<Object>)> = Vec::new();
        for (&(body, fragment), fragment_epochs) in surfaces {
            if bodies.last().is_none_or(|(last, _)| *last != body) {
                bodies.push((body, Vec::new()));
            }
            for (index, epoch) in fragment_epochs.iter().enumerate() {
                let name = epochs::name(fragment, index);
                let object = self.fragment((name, fragment), epoch)?;
                bodies.last_mut().expect("just added").1.push(object);
            }
        }
        let mut objects = Vec::new();
        for (body, fragments) in bodies {
            let [metadata, schema] = schema("AbcGeom_Xform_v3", ".xform", "");
            let mut still = Properties::default();
            self.inherit(&mut still, (STILL, 1))?;
            let mut properties = Properties::default();
            self.archive
                .add_compound(&mut properties, (".xform", &schema), still)?;
            objects.push(Object {
                name: self.job.names.body(body),
                metadata,
                place: self.archive.object(properties, &fragments)?,
            });
        }
        self.archive.object(Properties::default(), &objects)
    }

    /// Says that a transform is relative to that of its parent. Readers take the times and the number of samples of a
    /// transform from here.
    fn inherit(&mut self, to: &mut Properties, (times, count): (u32, usize)) -> io::Result<()> {
        let header = Header {
            name: ".inherits",
            metadata: "",
            kind: Type::BOOL,
        };
        let inherits = self.archive.sample(&[1])?;
        let samples = vec![inherits; count];
        self.archive.add_scalars(to, header, times, &samples)
    }

    /// Index of times of samples, given in frames.
    pub fn times(&mut self, frames: impl Iterator<Item = f64>) -> u32 {
        let playback = self.job.playback;
        self.archive.times(frames.map(|f| f / playback).collect())
    }

    /// Writes a transform with a mesh.
    fn fragment(
        &mut self,
        (name, label): (String, u32),
        epoch: &Epoch<SurfaceArrays>,
    ) -> io::Result<Object> {
        let mesh = self.mesh(label, epoch)?;
        let mut properties = Properties::default();
        self.add_transform(&mut properties, epoch)?;
        let [metadata, _] = schema("AbcGeom_PolyMesh_v1", ".geom", SHAPE);
        let shape = Object {
            name: format!("{name}Shape"),
            metadata,
            place: mesh,
        };
        let [metadata, _] = schema("AbcGeom_Xform_v3", ".xform", "");
        let place = self.archive.object(properties, &[shape])?;
        Ok(Object {
            name,
            metadata,
            place,
        })
    }

    /// Adds the animated matrix, and when the fragment is visible.
    fn add_transform(
        &mut self,
        to: &mut Properties,
        epoch: &Epoch<SurfaceArrays>,
    ) -> io::Result<()> {
        let poses = Poses::of(epoch, self.job);
        let times = self.times(poses.matrices.iter().map(|(time, _)| *time));
        let mut matrices = Vec::new();
        for (_, matrix) in &poses.matrices {
            let bytes: Vec<u8> = matrix
                .iter()
                .flat_map(|number| number.to_le_bytes())
                .collect();
            matrices.push(self.archive.sample(&bytes)?);
        }
        let header = |name, kind| Header {
            name,
            metadata: "",
            kind,
        };
        let mut transform = Properties::default();
        self.inherit(&mut transform, (times, matrices.len()))?;
        let archive = &mut self.archive;
        // One operation, a matrix; all of its numbers may change.
        archive.add_scalar(&mut transform, header(".ops", Type::U8), &[3 << 4])?;
        archive.add_scalars(
            &mut transform,
            header(".vals", Type::F64X16),
            times,
            &matrices,
        )?;
        let moves = header("isNotConstantIdentity", Type::BOOL);
        archive.add_scalar(&mut transform, moves, &[1])?;
        let numbers: Vec<u8> = (0..16u32).flat_map(u32::to_le_bytes).collect();
        let channels = header(".animChans", Type::U32);
        archive.add_array(&mut transform, channels, 16, &numbers)?;
        let [_, schema] = schema("AbcGeom_Xform_v3", ".xform", "");
        archive.add_compound(to, (".xform", &schema), transform)?;
        if !poses.visible.is_empty() {
            let times = self.times(poses.visible.iter().map(|(time, _)| *time));
            let mut shown = Vec::new();
            for (_, visible) in &poses.visible {
                shown.push(self.archive.sample(&[u8::from(*visible)])?);
            }
            let visible = header("visible", Type::I8);
            self.archive.add_scalars(to, visible, times, &shown)?;
        }
        Ok(())
    }
}
