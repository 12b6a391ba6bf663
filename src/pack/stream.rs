//! The bonds of all bodies, part by part.

use std::ops::Range;

use super::bonds::BodyBonds;
use crate::columns::{Bonds, Elements};
use crate::spec::Law;
use crate::store::parts::ROWS_PER_PART;

/// The bonds of a packing, which are computed whenever they are read.
#[derive(Clone, Debug)]
pub struct BondStream {
    bodies: Vec<BodyBonds>,
    /// Law that is stored with the bonds.
    pub law: Law,
}

impl BondStream {
    /// The bonds of these bodies, in order.
    pub(super) fn new(bodies: Vec<BodyBonds>, law: Law) -> Self {
        BondStream { bodies, law }
    }

    /// Number of bonds.
    pub fn count(&self) -> usize {
        self.bodies.last().map_or(0, |body| body.ids().end)
    }

    /// Passes the bonds to `part` in order, [`ROWS_PER_PART`] at a time; `elements` are those of the packing.
    ///
    /// # Errors
    /// The first error of `part`.
    pub fn each_part<E>(
        &self,
        elements: &Elements,
        part: &mut dyn FnMut(&Bonds) -> Result<(), E>,
    ) -> Result<(), E> {
        let count = self.count();
        let mut firsts = (0..count).step_by(ROWS_PER_PART);
        firsts.try_for_each(|first| {
            let mut bonds = Bonds::default();
            let ids = first..count.min(first + ROWS_PER_PART);
            self.append(elements, ids, &mut bonds);
            part(&bonds)
        })
    }

    /// The table of all bonds.
    pub fn table(&self, elements: &Elements) -> Bonds {
        let mut bonds = Bonds::default();
        self.append(elements, 0..self.count(), &mut bonds);
        bonds
    }

    /// Appends the bonds with these ids.
    fn append(&self, elements: &Elements, ids: Range<usize>, bonds: &mut Bonds) {
        for body in &self.bodies {
            let own = body.ids();
            let within = own.start.max(ids.start)..own.end.min(ids.end);
            if !within.is_empty() {
                body.append(elements, within, bonds);
            }
        }
        bonds.law.resize(bonds.id.len(), self.law);
    }
}

#[cfg(test)]
mod tests {
    use crate::store::Store;
    use crate::{pack, spec};

    #[test]
    fn parts_that_span_bodies_make_the_same_file() {
        let text = "[time]\nend = 1\nframes_per_second = 24\n\
            [[material]]\nname = \"m\"\ndensity = 1000\nyoung = 1e6\ntensile_strength = 10\nweibull_modulus = 8\n\
            [[body]]\nname = \"block\"\nmaterial = \"m\"\nshape = { type = \"block\", rows = [30, 30, 30] }\n\
            packing = { type = \"hexagonal\", radius = 0.1 }\n\
            cracks = [{ points = [[-9, -9, 0.01], [9, -9, 0.01], [9, 9, 0.01], [-9, 9, 0.01]] }]\n\
            [[body]]\nname = \"ball\"\nmaterial = \"m\"\nshape = { type = \"sphere\", radius = 1 }\n\
            position = [0, 9, 0]\npacking = { type = \"random\", radius = 0.1 }\n";
        let shot = spec::parse(text, "shot.toml", &[]).expect("a shot");
        let streamed = pack::stream(&shot, "".as_ref()).expect("packed");
        let [block, ball] = [0, 1].map(|body| streamed.packed.bodies[body].bonds);
        assert!(block % super::ROWS_PER_PART != 0 && block > super::ROWS_PER_PART && ball > 0);
        let folder = tempfile::tempdir().expect("a folder");
        let [parts, whole] = ["parts", "whole"].map(|name| Store::at(folder.path().join(name)));
        pack::write_streamed(&parts, &streamed).expect("written");
        pack::write(&whole, &streamed.whole()).expect("written");
        let [parts, whole] = [parts, whole]
            .map(|store| std::fs::read(store.path("packing/bonds.parquet")).expect("there"));
        assert!(parts == whole, "{} and {} bytes", parts.len(), whole.len());
    }
}
