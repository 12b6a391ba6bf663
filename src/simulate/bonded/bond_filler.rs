//! Puts the bonds of a packing into columns. They are read twice, so that they are never in memory twice: first their
//! ends, from which their owners follow, and which of their values differ; then everything.

use std::ops::Range;

use crate::math::Scalar;
use crate::simulate::bonded::bond_rows::{BondOutline, BondRow};
use crate::simulate::bonded::bonds::Bonds;
use crate::simulate::bonded::orient::{balanced, even};
use crate::simulate::bonded::owned::OwnedChunks;
use crate::simulate::bonded::rigid_mask::RigidMask;

/// Number of elements, a multiple of [`BLOCK`](super::bonds::BLOCK), and of elements per chunk.
type Size = (usize, usize);

impl<S: Scalar> Bonds<S> {
    /// The bonds of these rows between `padded` elements; see [`filler`](Self::filler).
    pub fn new(padded: usize, rows: &[BondRow<S>], mask: &RigidMask) -> Self {
        let mut outline = BondOutline::with_capacity(rows.len());
        rows.iter().for_each(|row| outline.add(row));
        let size = (padded, padded.max(1));
        let mut filler = Self::filler(size, outline, OwnedChunks::default());
        rows.iter().for_each(|row| filler.put(row));
        filler.finish(mask)
    }

    /// Columns to be filled with the bonds of an outline; only those of elements of the chunks `needed` will be held.
    /// Ownership is balanced per element.
    pub fn filler(size: Size, outline: BondOutline<S>, needed: OwnedChunks) -> BondFiller<S> {
        let from_second = balanced(size.0, &outline.ends);
        BondFiller::new(size, outline, (from_second, needed))
    }

    /// Like [`filler`](Self::filler) for all bonds, but every element owns about as many as any other, however many it
    /// has.
    pub fn even_filler(size: Size, outline: BondOutline<S>) -> BondFiller<S> {
        let from_second = even(size.0, &outline.ends);
        BondFiller::new(size, outline, (from_second, OwnedChunks::default()))
    }

    /// No bonds yet between `padded` elements that own up to `slots`. The system gives zeros no memory until they are
    /// written.
    pub(super) fn zeros(slots: usize, padded: usize) -> Self {
        let entries = slots * padded;
        Bonds {
            slots,
            other: vec![0; entries],
            direction: [(); 3].map(|()| vec![S::default(); entries]),
            id: vec![0; entries],
            whole: vec![0; padded],
            ..Bonds::default()
        }
    }

    /// Makes the entries of some chunks ready for passes, which read lanes without a bond too: these have the element
    /// itself as other end, and a direction and a length that do not trigger the slow branch for rare angles.
    pub(super) fn ready(&mut self, chunks: impl Iterator<Item = Range<usize>>) {
        let one = S::splat(1.0);
        for elements in chunks {
            let entries = elements.start * self.slots..elements.end * self.slots;
            self.direction[0][entries.clone()].fill(one);
            self.length.fill(entries, one);
            for element in elements {
                for slot in 0..self.slots {
                    let entry = self.at(slot, element);
                    self.other[entry] = element as u32;
                }
            }
        }
    }
}

/// Columns of bonds that are being filled.
#[derive(Debug)]
pub struct BondFiller<S> {
    bonds: Bonds<S>,
    /// Whether the second end owns each bond, else the first.
    from_second: Vec<bool>,
    /// Chunks whose bonds are held, and elements per chunk.
    needed: (OwnedChunks, usize),
    /// Number of bonds so far that each element owns, held or not.
    slots: Vec<u8>,
    /// Place in `foreign` of the next held bond that ends at each element and is owned by the other end.
    next_foreign: Vec<u32>,
    /// Number of bonds so far.
    count: usize,
}

impl<S: Scalar> BondFiller<S> {
    /// Columns for the bonds of an outline; `needed` are the chunks whose bonds are held.
    fn new(
        (padded, chunk): Size,
        outline: BondOutline<S>,
        (from_second, needed): (Vec<bool>, OwnedChunks),
    ) -> Self {
        let mut owned = vec![0u8; padded];
        let mut foreign_start = vec![0u32; padded + 1];
        for (ends, &second) in outline.ends.iter().zip(&from_second) {
            let [owner, other] = owner_first(*ends, second);
            owned[owner] += 1;
            foreign_start[other + 1] += u32::from(needed.contain_any([owner, other], chunk));
        }
        for i in 0..padded {
            foreign_start[i + 1] += foreign_start[i];
        }
        let slots = owned.iter().copied().max().unwrap_or(0) as usize;
        // `owned` is reused.
        owned.fill(0);
        let BondOutline {
            ends,
            length,
            class,
            sigma_c,
            tau_c,
        } = outline;
        // Their memory is free for the columns.
        drop(ends);
        let held = foreign_start.last().copied().unwrap_or(0);
        let entries = slots * padded;
        let mut bonds = Bonds {
            length: length.column(entries),
            class: class.column(entries),
            sigma_c: sigma_c.column(entries),
            tau_c: tau_c.column(entries),
            foreign: vec![0; held as usize],
            foreign_start,
            ..Bonds::zeros(slots, padded)
        };
        bonds.ready(needed.elements(chunk, padded));
        BondFiller {
            next_foreign: bonds.foreign_start[..padded].to_vec(),
            bonds,
            from_second,
            needed: (needed, chunk),
            slots: owned,
            count: 0,
        }
    }

    /// Puts the next bond of the packing into its entry, if it is held.
    pub fn put(&mut self, row: &BondRow<S>) {
        let (bonds, second) = (&mut self.bonds, self.from_second[self.count]);
        self.count += 1;
        let [owner, other] = owner_first(row.ends, second);
        let slot = self.slots[owner];
        self.slots[owner] += 1;
        let (needed, chunk) = &self.needed;
        if !needed.contain_any([owner, other], *chunk) {
            return;
        }
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
        if !self.needed.0.are_all() {
            self.bonds.held = Some(self.bonds.whole.clone());
        }
        self.bonds.set_rigid(mask);
        self.bonds
    }
}

/// The owner of a bond and its other end.
fn owner_first(ends: [u32; 2], second: bool) -> [usize; 2] {
    let [first, last] = ends.map(|end| end as usize);
    if second { [last, first] } else { [first, last] }
}
