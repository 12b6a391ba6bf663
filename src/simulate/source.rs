//! Where a packing is taken from: memory, or a store that gives it part by part.

use std::borrow::Cow;

use arrow_array::Array;
use xxhash_rust::xxh3::Xxh3;

use crate::columns::{Bonds, Elements, Table};
use crate::geometry::TriMesh;
use crate::store::{self, CellTables, Packing, Store};

/// A packing that need not stand in memory as a whole: of a large one the bonds alone, in double precision,
/// would be as large as the run.
///
/// Every method takes what it needs and leaves the rest unread. What a packing may lack is one method here
/// that gives an `Option` and, unless a source says otherwise, `None`; a [`Store`] reads it when it is asked.
/// A method that takes more than elements and bonds adds it to the hash of its scene, for a state to be
/// refused where it changes.
pub trait Source {
    /// The elements.
    fn elements(&self) -> store::Result<Cow<'_, Elements>>;
    /// Number of bonds.
    fn bond_count(&self) -> store::Result<usize>;
    /// The bonds in order, part by part.
    fn bonds(&self, part: &mut dyn FnMut(&Bonds)) -> store::Result<()>;
    /// The mesh of a collider in its own frame, by its number.
    fn collider(&self, number: u32) -> store::Result<Option<TriMesh>>;
    /// The skin of a body at rest, in world coordinates, by its number.
    fn skin(&self, _body: u32) -> store::Result<Option<TriMesh>> {
        Ok(None)
    }
    /// Cells and their faces, where elements are cells.
    fn cells(&self) -> store::Result<Option<Cow<'_, CellTables>>> {
        Ok(None)
    }
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
    fn cells(&self) -> store::Result<Option<Cow<'_, CellTables>>> {
        let has = !self.cells.cells.id.is_empty();
        Ok(has.then_some(Cow::Borrowed(&self.cells)))
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
    fn skin(&self, body: u32) -> store::Result<Option<TriMesh>> {
        self.read_skin(body)
    }
    fn cells(&self) -> store::Result<Option<Cow<'_, CellTables>>> {
        Ok(self.read_cells()?.map(Cow::Owned))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{pack, spec};

    const SHOT: &str = "[time]\nend = 1\nframes_per_second = 24\n\
        [[material]]\nname = \"m\"\ndensity = 1000\nyoung = 1e6\npoisson = 0.2\n\
        [[body]]\nname = \"a\"\nmaterial = \"m\"\nshape = { type = \"box\", size = [1, 1, 1] }\n\
        packing = { type = \"hexagonal\", radius = 0.1 }\n\
        [[body]]\nname = \"b\"\nmaterial = \"m\"\nshape = { type = \"sphere\", radius = 0.5 }\nposition = [0, 3, 0]\n\
        packing = { type = \"hexagonal\", radius = 0.1 }\n";

    #[test]
    fn a_store_gives_the_skins_that_it_has_when_it_is_asked() {
        let pipeline = spec::parse(SHOT, "shot.toml", &[]).unwrap();
        let packed = pack::pack(&pipeline, "".as_ref()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path());
        pack::write(&store, &packed).unwrap();
        let source: &dyn Source = &store;
        let skins = [0, 1].map(|body| source.skin(body).unwrap().expect("packed with skins"));
        // Where the bodies stand: about the origin and 3 m above.
        for (skin, middle) in skins.iter().zip([0.0, 3.0]) {
            let heights = || skin.positions.iter().map(|p| p.y);
            let low = heights().fold(f64::INFINITY, f64::min);
            let high = heights().fold(f64::NEG_INFINITY, f64::max);
            assert!((0.9..1.1).contains(&(high - low)), "{low} to {high}");
            assert!(
                (0.5 * (low + high) - middle).abs() < 0.05,
                "{low} to {high}"
            );
        }
        assert_eq!(skins[0].triangles, packed.shapes[0].triangles);
        assert!(source.skin(2).unwrap().is_none());
        // A packing in memory holds elements, bonds and colliders alone.
        assert!(Source::skin(&packed.packing, 0).unwrap().is_none());
        // A skin is not read before: nothing else minds one that is damaged.
        std::fs::write(store.shape_path(1), "no mesh").unwrap();
        assert_eq!(
            source.elements().unwrap().id.len(),
            packed.packing.elements.id.len()
        );
        assert!(source.skin(0).unwrap().is_some() && source.skin(1).is_err());
    }
}
