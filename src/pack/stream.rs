//! The tables of elements and bonds, part by part.

use std::ops::Range;

use super::bonds::BodyBonds;
use super::elements::BodyElements;
use crate::columns::{Bonds, Elements};
use crate::spec::Law;
use crate::store::parts::ROWS_PER_PART;

/// Elements and bonds of each body, in order; bodies that are not bonded have none.
pub(super) type Bodies = Vec<(BodyElements, Option<BodyBonds>)>;

/// The elements and bonds of a packing, whose rows are computed whenever they are read.
#[derive(Clone, Debug)]
pub struct TableStream {
    bodies: Bodies,
    /// Law that is stored with the bonds.
    pub law: Law,
}

impl TableStream {
    /// The elements and bonds of these bodies.
    pub(super) fn new(bodies: Bodies, law: Law) -> Self {
        TableStream { bodies, law }
    }

    /// Number of elements.
    pub fn element_count(&self) -> usize {
        self.bodies.last().map_or(0, |(own, _)| own.ids().end)
    }

    /// Number of bonds.
    pub fn bond_count(&self) -> usize {
        let mut bonds = self.bodies.iter().rev().filter_map(|(_, own)| own.as_ref());
        bonds.next().map_or(0, |own| own.ids().end)
    }

    /// Passes the elements to `part` in order, [`ROWS_PER_PART`] at a time.
    ///
    /// # Errors
    /// The first error of `part`.
    pub fn elements<E>(&self, part: &mut dyn FnMut(&Elements) -> Result<(), E>) -> Result<(), E> {
        parts(self.element_count()).try_for_each(|ids| part(&self.elements_of(ids)))
    }

    /// Passes the bonds to `part` in order, [`ROWS_PER_PART`] at a time.
    ///
    /// # Errors
    /// The first error of `part`.
    pub fn bonds<E>(&self, part: &mut dyn FnMut(&Bonds) -> Result<(), E>) -> Result<(), E> {
        parts(self.bond_count()).try_for_each(|ids| part(&self.bonds_of(ids)))
    }

    /// The table of all elements.
    pub fn element_table(&self) -> Elements {
        self.elements_of(0..self.element_count())
    }

    /// The table of all bonds.
    pub fn bond_table(&self) -> Bonds {
        self.bonds_of(0..self.bond_count())
    }

    /// The elements with these ids.
    fn elements_of(&self, ids: Range<usize>) -> Elements {
        let mut elements = Elements::default();
        for (own, _) in &self.bodies {
            if let Some(within) = both(&own.ids(), &ids) {
                own.append(within, &mut elements);
            }
        }
        elements
    }

    /// The bonds with these ids.
    fn bonds_of(&self, ids: Range<usize>) -> Bonds {
        let mut bonds = Bonds::default();
        for (elements, own) in &self.bodies {
            let Some(own) = own else { continue };
            if let Some(within) = both(&own.ids(), &ids) {
                own.append(elements, within, &mut bonds);
            }
        }
        bonds.law.resize(bonds.id.len(), self.law);
        bonds
    }
}

/// Ids of the parts of this many rows.
fn parts(count: usize) -> impl Iterator<Item = Range<usize>> {
    let firsts = (0..count).step_by(ROWS_PER_PART);
    firsts.map(move |first| first..count.min(first + ROWS_PER_PART))
}

/// The ids that are in both ranges, if there are any.
fn both(a: &Range<usize>, b: &Range<usize>) -> Option<Range<usize>> {
    let both = a.start.max(b.start)..a.end.min(b.end);
    (!both.is_empty()).then_some(both)
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use crate::columns::{Bonds, Elements, Table};
    use crate::store::Store;
    use crate::{pack, spec};

    /// Ranges of this many numbers, of which the last may be shorter.
    fn ranges(count: usize, each: usize) -> impl Iterator<Item = Range<usize>> {
        let firsts = (0..count).step_by(each);
        firsts.map(move |first| first..count.min(first + each))
    }

    /// Fails unless rows of `part` are those of `whole` from `first` on.
    fn same_rows<T: Table>(part: &T, whole: &T, first: usize) {
        let rows = part.rows();
        for column in 0..T::columns().len() {
            let found = part.array(column, 0..rows);
            let expected = whole.array(column, first..first + rows);
            assert_eq!(&found, &expected, "column {column} from row {first} on");
        }
    }

    #[test]
    fn rows_do_not_depend_on_how_tables_are_divided() {
        let body = |name: &str, at: u32, shape: &str, rest: &str| {
            format!(
                "[[body]]\nname = \"{name}\"\nmaterial = \"m\"\nshape = {{ {shape} }}\nposition = [0, {at}, 0]\n{rest}\n"
            )
        };
        let box_of = "type = \"box\", size = [1, 1, 1]";
        let packing = |kind: &str| format!("packing = {{ type = \"{kind}\", radius = 0.1 }}");
        let mut text = String::from(
            "[time]\nend = 1\nframes_per_second = 24\n[[material]]\nname = \"m\"\ndensity = 1000\nyoung = 1e6\n\
             tensile_strength = 10\nweibull_modulus = 8\n",
        );
        text += &body(
            "loose",
            0,
            box_of,
            &(packing("random") + "\nbonded = false"),
        );
        let spin = "\nspin = [1, 2, 3]\nvelocity = [4, 5, 6]";
        text += &body("lattice", 2, box_of, &(packing("hexagonal") + spin));
        text += &body("random", 4, box_of, &(packing("random") + spin));
        text += &body(
            "last",
            6,
            box_of,
            &(packing("hexagonal") + "\nbonded = false"),
        );
        let shot = spec::parse(&text, "shot.toml", &[]).expect("a shot");
        let streamed = pack::stream(&shot, "".as_ref()).expect("packed");
        let tables = &streamed.tables;
        let (elements, bonds): (Elements, Bonds) = (tables.element_table(), tables.bond_table());
        let counts = [elements.rows(), bonds.rows()];
        assert_eq!(counts, [tables.element_count(), tables.bond_count()]);
        assert!(counts[0] > 300 && counts[1] > 700, "{counts:?}");
        for ids in ranges(counts[0], 37) {
            same_rows(&tables.elements_of(ids.clone()), &elements, ids.start);
        }
        for ids in ranges(counts[1], 53) {
            same_rows(&tables.bonds_of(ids.clone()), &bonds, ids.start);
        }
    }

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
        for table in ["elements", "bonds"] {
            let file = format!("packing/{table}.parquet");
            let [parts, whole] =
                [&parts, &whole].map(|store| std::fs::read(store.path(&file)).expect("there"));
            assert!(
                parts == whole,
                "{table}: {} and {} bytes",
                parts.len(),
                whole.len()
            );
        }
    }
}
