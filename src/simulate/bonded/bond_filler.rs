//! Puts the bonds of a packing into columns. They are read twice, so that they are never in memory twice: first their
//! ends, from which their owners follow, and which of their values differ; then everything.

use crate::math::Scalar;
use crate::simulate::bonded::bond_rows::{BondOutline, BondRow};
use crate::simulate::bonded::bonds::{BLOCK, Bonds};
use crate::simulate::bonded::orient::{balanced, even};
use crate::simulate::bonded::rigid_mask::RigidMask;

impl<S: Scalar> Bonds<S> {
    /// The bonds of these rows between `padded` elements, a multiple of [`BLOCK`]; see [`filler`](Self::filler).
    pub fn new(padded: usize, rows: &[BondRow<S>], mask: &RigidMask) -> Self {
        let mut outline = BondOutline::with_capacity(rows.len());
        rows.iter().for_each(|row| outline.add(row));
        let mut filler = Self::filler(padded, outline);
        rows.iter().for_each(|row| filler.put(row));
        filler.finish(mask)
    }

    /// Columns to be filled with the bonds of an outline; ownership is balanced per element.
    pub fn filler(padded: usize, outline: BondOutline<S>) -> BondFiller<S> {
        let from_second = balanced(padded, &outline.ends);
        BondFiller::new(padded, outline, from_second)
    }

    /// Like [`filler`](Self::filler), but every element owns about as many bonds as any other, however many it has.
    pub fn even_filler(padded: usize, outline: BondOutline<S>) -> BondFiller<S> {
        let from_second = even(padded, &outline.ends);
        BondFiller::new(padded, outline, from_second)
    }
}

/// Columns of bonds that are being filled.
#[derive(Debug)]
pub struct BondFiller<S> {
    bonds: Bonds<S>,
    /// Whether the second end owns each bond, else the first.
    from_second: Vec<bool>,
    /// Place in `foreign` of the next bond that ends at each element and is owned by the other end.
    next_foreign: Vec<u32>,
    /// Number of bonds so far.
    count: usize,
}

impl<S: Scalar> BondFiller<S> {
    /// Columns for the bonds of an outline between `padded` elements, a multiple of [`BLOCK`].
    fn new(padded: usize, outline: BondOutline<S>, from_second: Vec<bool>) -> Self {
        let mut owned = vec![0u32; padded];
        let mut foreign_start = vec![0u32; padded + 1];
        for (ends, &second) in outline.ends.iter().zip(&from_second) {
            let [owner, other] = owner_first(*ends, second);
            owned[owner] += 1;
            foreign_start[other + 1] += 1;
        }
        for i in 0..padded {
            foreign_start[i + 1] += foreign_start[i];
        }
        let slots = owned.iter().copied().max().unwrap_or(0) as usize;
        let entries = slots * padded;
        // `owned` is reused.
        let mut next_foreign = owned;
        next_foreign.copy_from_slice(&foreign_start[..padded]);
        let BondOutline {
            ends,
            length,
            class,
            sigma_c,
            tau_c,
        } = outline;
        let count = ends.len();
        // Their memory is free for the columns.
        drop(ends);
        let (one, zero) = (S::splat(1.0), S::default());
        let bonds = Bonds {
            slots,
            other: (0..entries)
                .map(|entry| (entry / (BLOCK * slots) * BLOCK + entry % BLOCK) as u32)
                .collect(),
            // Empty entries get a direction and a length too: otherwise their meaningless lanes could trigger the
            // slow branch for rare angles.
            direction: [one, zero, zero].map(|d| vec![d; entries]),
            length: length.column(entries, one),
            class: class.column(entries, 0),
            sigma_c: sigma_c.column(entries, zero),
            tau_c: tau_c.column(entries, zero),
            id: vec![0; entries],
            whole: vec![0; padded],
            foreign: vec![0; count],
            foreign_start,
            ..Bonds::default()
        };
        BondFiller {
            bonds,
            from_second,
            next_foreign,
            count: 0,
        }
    }

    /// Puts the next bond of the packing into its entry.
    pub fn put(&mut self, row: &BondRow<S>) {
        let (bonds, second) = (&mut self.bonds, self.from_second[self.count]);
        self.count += 1;
        let [owner, other] = owner_first(row.ends, second);
        let slot = bonds.whole[owner].count_ones();
        bonds.whole[owner] |= 1 << slot;
        let entry = bonds.at(slot as usize, owner);
        bonds.other[entry] = other as u32;
        bonds.id[entry] = row.id;
        for (column, d) in bonds.direction.iter_mut().zip(row.direction) {
            column[entry] = if second { -d } else { d };
        }
        bonds.length.put(entry, row.length);
        bonds.class.put(entry, row.class);
        bonds.sigma_c.put(entry, row.sigma_c);
        bonds.tau_c.put(entry, row.tau_c);
        let place = &mut self.next_foreign[other];
        bonds.foreign[*place as usize] = entry as u32;
        *place += 1;
    }

    /// The bonds, once all are put.
    ///
    /// # Panics
    /// If one is missing.
    pub fn finish(mut self, mask: &RigidMask) -> Bonds<S> {
        assert_eq!(
            self.count,
            self.from_second.len(),
            "both reads find the same bonds"
        );
        self.bonds.set_rigid(mask);
        self.bonds
    }
}

/// The owner of a bond and its other end.
fn owner_first(ends: [u32; 2], second: bool) -> [usize; 2] {
    let [first, last] = ends.map(|end| end as usize);
    if second { [last, first] } else { [first, last] }
}
