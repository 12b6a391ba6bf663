//! A packing whose bonds are read part by part, as the source of a scene.

use std::borrow::Cow;

use crate::columns::{Bonds, Elements};
use crate::geometry::TriMesh;
use crate::pack::Streamed;
use crate::simulate::source::Source;
use crate::store::{self, CellTables};

impl Source for Streamed {
    fn elements(&self) -> store::Result<Cow<'_, Elements>> {
        self.packed.packing.elements()
    }
    fn bond_count(&self) -> store::Result<usize> {
        Ok(self.bonds.count())
    }
    fn bonds(&self, part: &mut dyn FnMut(&Bonds)) -> store::Result<()> {
        Streamed::bonds(self, &mut |bonds| {
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
