//! A packing whose elements and bonds are computed part by part, as the source of a scene.

use std::borrow::Cow;

use crate::columns::{Bonds, Elements};
use crate::geometry::TriMesh;
use crate::pack::Streamed;
use crate::simulate::source::Source;
use crate::store::{self, CellTables};

impl Source for Streamed {
    fn element_count(&self) -> store::Result<usize> {
        Ok(self.tables.element_count())
    }
    fn elements(&self, part: &mut dyn FnMut(&Elements)) -> store::Result<()> {
        self.tables.elements(&mut |elements| {
            part(elements);
            Ok(())
        })
    }
    fn bond_count(&self) -> store::Result<usize> {
        Ok(self.tables.bond_count())
    }
    fn bonds(&self, part: &mut dyn FnMut(&Bonds)) -> store::Result<()> {
        self.tables.bonds(&mut |bonds| {
            part(bonds);
            Ok(())
        })
    }
    fn collider(&self, number: u32) -> store::Result<Option<TriMesh>> {
        self.packed.packing.collider(number)
    }
    fn cells(&self) -> store::Result<Option<Cow<'_, CellTables>>> {
        self.packed.packing.cells()
    }
}
