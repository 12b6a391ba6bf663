//! Sources of a packing: memory, or a store that is read in batches.

use std::borrow::Cow;

use arrow_array::Array;
use xxhash_rust::xxh3::Xxh3;

use crate::columns::{Bonds, Elements, Table};
use crate::geometry::TriMesh;
use crate::store::{self, CellTables, Packing, Store};

/// A packing that need not be in memory as a whole: the bonds of a large one alone would take as much memory
/// in double precision as the run.
///
/// Every method reads only what it needs. Each optional part of a packing has one method here that returns an
/// `Option`, `None` by default; a [`Store`] reads it on request. A method that uses more than elements and
/// bonds must add it to the hash of its scene, so that a state is refused if it changes.
pub trait Source {
    /// Number of elements.
    fn element_count(&self) -> store::Result<usize>;
    /// Passes the elements to `part` in order, in batches.
    fn elements(&self, part: &mut dyn FnMut(&Elements)) -> store::Result<()>;
    /// Number of bonds.
    fn bond_count(&self) -> store::Result<usize>;
    /// Passes the bonds to `part` in order, in batches.
    fn bonds(&self, part: &mut dyn FnMut(&Bonds)) -> store::Result<()>;
    /// Mesh of a collider in its own frame, by the number of the collider.
    fn collider(&self, number: u32) -> store::Result<Option<TriMesh>>;
    /// Skin of a body at rest in world coordinates, by the number of the body.
    fn skin(&self, _body: u32) -> store::Result<Option<TriMesh>> {
        Ok(None)
    }
    /// Cells and their faces, if elements are cells.
    fn cells(&self) -> store::Result<Option<Cow<'_, CellTables>>> {
        Ok(None)
    }
}

impl Source for Packing {
    fn element_count(&self) -> store::Result<usize> {
        Ok(self.elements.id.len())
    }
    fn elements(&self, part: &mut dyn FnMut(&Elements)) -> store::Result<()> {
        part(&self.elements);
        Ok(())
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
    fn element_count(&self) -> store::Result<usize> {
        Store::element_count(self)
    }
    fn elements(&self, part: &mut dyn FnMut(&Elements)) -> store::Result<()> {
        self.read_element_parts(part)
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

/// Hash of a table that is read in batches. It does not depend on how columns of numbers are divided; columns of words
/// have offsets that begin at zero in each batch.
#[derive(Default)]
pub struct TableHash {
    columns: Vec<Xxh3>,
}

impl TableHash {
    /// Adds a batch.
    pub fn add<T: Table>(&mut self, part: &T) {
        self.add_except(part, None);
    }

    /// Adds a batch without the column of words of this name, which is to be [added](Self::add_words) as a whole.
    /// Returns the place of this column, if it is there.
    pub fn add_except<T: Table>(&mut self, part: &T, left_out: Option<&str>) -> Option<usize> {
        let columns = T::columns();
        let present: Vec<usize> = (0..columns.len()).filter(|&at| part.has(at)).collect();
        self.columns.resize_with(present.len(), Xxh3::new);
        let left_out = left_out.and_then(|name| {
            let mut names = present.iter().map(|&at| columns[at].name);
            names.position(|one| one == name)
        });
        // One column at a time is copied to an Arrow array.
        let hashes = self.columns.iter_mut().zip(present).enumerate();
        for (_, (hash, at)) in hashes.filter(|(place, _)| Some(*place) != left_out) {
            for buffer in part.array(at, 0..part.rows()).to_data().buffers() {
                hash.update(buffer.as_slice());
            }
        }
        left_out
    }

    /// Adds all words of a column, as they are in one Arrow array: offsets, then letters.
    pub fn add_words<'a>(&mut self, place: usize, words: impl Iterator<Item = &'a str> + Clone) {
        let hash = &mut self.columns[place];
        let mut end: i32 = 0;
        hash.update(&end.to_le_bytes());
        for word in words.clone() {
            // As many elements as overflow it have no array to agree with.
            end = end.wrapping_add(word.len() as i32);
            hash.update(&end.to_le_bytes());
        }
        words.for_each(|word| hash.update(word.as_bytes()));
    }

    /// Hash of all batches.
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
    use crate::columns::{Named, Shape};
    use crate::{pack, spec};

    const SHOT: &str = "[time]\nend = 1\nframes_per_second = 24\n\
        [[material]]\nname = \"m\"\ndensity = 1000\nyoung = 1e6\npoisson = 0.2\n\
        [[body]]\nname = \"a\"\nmaterial = \"m\"\nshape = { type = \"box\", size = [1, 1, 1] }\n\
        packing = { type = \"hexagonal\", radius = 0.1 }\n\
        [[body]]\nname = \"b\"\nmaterial = \"m\"\nshape = { type = \"sphere\", radius = 0.5 }\nposition = [0, 3, 0]\n\
        packing = { type = \"hexagonal\", radius = 0.1 }\n";

    #[test]
    fn a_hash_does_not_depend_on_batches_if_words_are_added_at_the_end() {
        let elements = |ids: std::ops::Range<u32>| {
            let kind = |id: u32| {
                if id % 3 == 2 {
                    Shape::Cell
                } else {
                    Shape::Sphere
                }
            };
            let numbers: Vec<f64> = ids.clone().map(|id| f64::from(id).sqrt()).collect();
            Elements {
                id: ids.clone().collect(),
                body: ids.clone().collect(),
                kind: ids.map(kind).collect(),
                x: numbers.clone(),
                y: numbers.clone(),
                z: numbers.clone(),
                r: numbers.clone(),
                mass: numbers,
                ..Elements::default()
            }
        };
        let mut whole = TableHash::default();
        whole.add(&elements(0..90));
        let mut parted = TableHash::default();
        let mut place = None;
        for ids in [0..20, 20..21, 21..90] {
            place = parted.add_except(&elements(ids), Some("kind"));
        }
        let kinds = elements(0..90).kind;
        parted.add_words(place.unwrap(), kinds.iter().map(|kind| kind.name()));
        assert_eq!(parted.digest(), whole.digest());
    }

    #[test]
    fn a_store_gives_the_skins_that_it_has_when_it_is_asked() {
        let pipeline = spec::parse(SHOT, "shot.toml", &[]).unwrap();
        let packed = pack::pack(&pipeline, "".as_ref()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path());
        pack::write(&store, &packed).unwrap();
        let source: &dyn Source = &store;
        let skins = [0, 1].map(|body| source.skin(body).unwrap().expect("packed with skins"));
        // The bodies are centred at the origin and 3 m above it.
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
        // A packing in memory holds only elements, bonds and colliders.
        assert!(Source::skin(&packed.packing, 0).unwrap().is_none());
        // Skins are read only on request: a damaged one causes no other error.
        std::fs::write(store.shape_path(1), "no mesh").unwrap();
        let mut elements = 0;
        source
            .elements(&mut |part| elements += part.id.len())
            .unwrap();
        assert_eq!(elements, packed.packing.elements.id.len());
        assert_eq!(source.element_count().unwrap(), elements);
        assert!(source.skin(0).unwrap().is_some() && source.skin(1).is_err());
    }
}
