//! Where a packing is taken from: memory, or a store that gives it part by part.

use std::borrow::Cow;

use arrow_array::Array;
use xxhash_rust::xxh3::Xxh3;

use crate::columns::{Bonds, Elements, Table};
use crate::geometry::TriMesh;
use crate::store::{self, Packing, Store};

/// A packing that need not stand in memory as a whole: of a large one the bonds alone, in double precision, would be as large as the run.
pub trait Source {
    /// The elements.
    fn elements(&self) -> store::Result<Cow<'_, Elements>>;
    /// Number of bonds.
    fn bond_count(&self) -> store::Result<usize>;
    /// The bonds in order, part by part.
    fn bonds(&self, part: &mut dyn FnMut(&Bonds)) -> store::Result<()>;
    /// The mesh of a collider in its own frame, by its number.
    fn collider(&self, number: u32) -> store::Result<Option<TriMesh>>;
}

impl Source for Packing {
    fn elements(&self) -> store::Result<Cow<'_, Elements>> {
        Ok(Cow::Borrowed(&self.elements))
    }
    fn bond_count(&self) -> store::Result<usize> {
        Ok(self.bonds.id.len())
    }
    fn bonds(&self, part: &mut dyn FnMut(&Bonds)) -> store::Result<()> {
        part(&self.bonds);
        Ok(())
    }
    fn collider(&self, number: u32) -> store::Result<Option<TriMesh>> {
        Ok(self.colliders.get(&number).cloned())
    }
}

impl Source for Store {
    fn elements(&self) -> store::Result<Cow<'_, Elements>> {
        Ok(Cow::Owned(self.read_elements()?))
    }
    fn bond_count(&self) -> store::Result<usize> {
        Store::bond_count(self)
    }
    fn bonds(&self, part: &mut dyn FnMut(&Bonds)) -> store::Result<()> {
        self.read_bonds(part)
    }
    fn collider(&self, number: u32) -> store::Result<Option<TriMesh>> {
        self.read_collider(number).map(Some)
    }
}

/// Hash of a mesh.
pub fn mesh_hash(mesh: &TriMesh) -> u64 {
    let mut hash = Xxh3::new();
    for position in &mesh.positions {
        for value in position.to_array() {
            hash.update(&value.to_le_bytes());
        }
    }
    for vertex in mesh.triangles.as_flattened() {
        hash.update(&vertex.to_le_bytes());
    }
    hash.digest()
}

/// Hash of a table that comes in parts: the same however it is cut.
#[derive(Default)]
pub struct TableHash {
    columns: Vec<Xxh3>,
}

impl TableHash {
    /// Takes one more part.
    pub fn add<T: Table>(&mut self, part: &T) {
        let columns = part.to_arrays();
        self.columns.resize_with(columns.len(), Xxh3::new);
        for (hash, column) in self.columns.iter_mut().zip(&columns) {
            for buffer in column.to_data().buffers() {
                hash.update(buffer.as_slice());
            }
        }
    }

    /// Of all parts.
    pub fn digest(&self) -> u64 {
        let mut all = Xxh3::new();
        for column in &self.columns {
            all.update(&column.digest().to_le_bytes());
        }
        all.digest()
    }
}
