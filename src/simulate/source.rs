//! Where a packing is taken from: memory, or a store that gives it part by part.

use std::borrow::Cow;

use arrow_array::Array;
use xxhash_rust::xxh3::Xxh3;

use crate::columns::{Bonds, Elements, Table};
use crate::store::{self, Packing, Store};

/// A packing that need not stand in memory as a whole: of a large one the bonds alone, in double precision, would be as large as the run.
pub trait Source {
    /// The elements.
    fn elements(&self) -> store::Result<Cow<'_, Elements>>;
    /// Number of bonds.
    fn bond_count(&self) -> store::Result<usize>;
    /// The bonds in order, part by part.
    fn bonds(&self, part: &mut dyn FnMut(&Bonds)) -> store::Result<()>;
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
