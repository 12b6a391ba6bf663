//! Bonds as a packing lists them.

use crate::math::Scalar;
use crate::simulate::bonded::column::Differing;

/// A bond of the packing.
#[derive(Clone, Copy, Debug)]
pub struct BondRow<S> {
    /// Elements that it connects; the direction points from the first to the second.
    pub ends: [u32; 2],
    /// Rest direction.
    pub direction: [S; 3],
    /// Rest length, m.
    pub length: S,
    /// Index of the bond class.
    pub class: u32,
    /// Tensile strength, Pa.
    pub sigma_c: S,
    /// Shear strength, Pa.
    pub tau_c: S,
    /// Id in the packing.
    pub id: u32,
}

/// What has to be known of all bonds before the first can be put into columns: their ends, and which of their values
/// differ.
#[derive(Clone, Debug, Default)]
pub struct BondOutline<S> {
    /// Ends, in the order of the packing.
    pub(super) ends: Vec<[u32; 2]>,
    pub(super) length: Differing<S>,
    pub(super) class: Differing<u32>,
    pub(super) sigma_c: Differing<S>,
    pub(super) tau_c: Differing<S>,
}

impl<S: Scalar> BondOutline<S> {
    /// No bonds, with room for `all`.
    pub fn with_capacity(all: usize) -> Self {
        BondOutline {
            ends: Vec::with_capacity(all),
            ..BondOutline::default()
        }
    }

    /// Adds a bond.
    pub fn add(&mut self, row: &BondRow<S>) {
        self.ends.push(row.ends);
        self.length.add(row.length);
        self.class.add(row.class);
        self.sigma_c.add(row.sigma_c);
        self.tau_c.add(row.tau_c);
    }
}
