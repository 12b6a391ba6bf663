//! Meshes of a packing, by their numbers in the pipeline. Collider meshes, `packing/colliders/NNNNNN.ply`, are in the
//! collider's own frame; skins of bodies, `packing/shapes/N.ply`, in world coordinates.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::atomic;
use super::error::{Result, StoreError};
use super::folder::{COLLIDERS, Store};
use crate::geometry::{TriMesh, ply, read};

impl Store {
    /// Path of the mesh of collider number `collider` (binary PLY).
    pub fn collider_path(&self, collider: u32) -> PathBuf {
        self.numbered(COLLIDERS, collider, "ply")
    }

    /// Reads the mesh of a collider.
    pub fn read_collider(&self, collider: u32) -> Result<TriMesh> {
        self.read_mesh(self.collider_path(collider))
    }

    /// Reads the skin of a body at rest, in world coordinates; `None` if the packing lacks it, as those of
    /// other programs may.
    pub fn read_skin(&self, body: u32) -> Result<Option<TriMesh>> {
        let path = self.shape_path(body as usize);
        match path.is_file() {
            true => self.read_mesh(path).map(Some),
            false => Ok(None),
        }
    }

    /// Reads the surface that the stress tables refer to.
    pub fn read_stress_shape(&self, body: u32) -> Result<TriMesh> {
        self.read_mesh_of(self.stress_shape_path(body as usize), "stress")
    }

    fn read_mesh(&self, path: PathBuf) -> Result<TriMesh> {
        self.read_mesh_of(path, "pack")
    }

    fn read_mesh_of(&self, path: PathBuf, stage: &'static str) -> Result<TriMesh> {
        let path = self.checked(path, stage)?;
        read::read(&path)
            .map_err(|error| StoreError::invalid(&path, read::without_path(&error, &path)))
    }

    /// Reads all collider meshes, by collider number.
    pub(super) fn read_colliders(&self) -> Result<BTreeMap<u32, TriMesh>> {
        let numbers = self.numbers(COLLIDERS, "ply")?.into_iter();
        numbers
            .map(|number| Ok((number, self.read_collider(number)?)))
            .collect()
    }

    pub(super) fn write_collider(&self, collider: u32, mesh: &TriMesh) -> Result<()> {
        let path = self.collider_path(collider);
        atomic::write(&path, |out| ply::write_ply(mesh, out))
    }
}
