//! Bonds as a packing lists them.

use crate::math::Scalar;
use crate::simulate::bonded::column::Column;

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

/// Bonds in the order of the packing, in working precision.
#[derive(Clone, Debug, Default)]
pub struct BondRows<S> {
    all: usize,
    pub(super) ends: Vec<[u32; 2]>,
    pub(super) direction: Vec<[S; 3]>,
    pub(super) id: Vec<u32>,
    pub(super) length: Column<S>,
    pub(super) class: Column<u32>,
    pub(super) sigma_c: Column<S>,
    pub(super) tau_c: Column<S>,
}

impl<S: Scalar> BondRows<S> {
    /// An empty list with capacity for `all` bonds.
    pub fn with_capacity(all: usize) -> Self {
        BondRows {
            all,
            ends: Vec::with_capacity(all),
            direction: Vec::with_capacity(all),
            id: Vec::with_capacity(all),
            ..BondRows::default()
        }
    }

    /// Adds a bond.
    pub fn push(&mut self, row: BondRow<S>) {
        let (len, all) = (self.ends.len(), self.all);
        self.ends.push(row.ends);
        self.direction.push(row.direction);
        self.id.push(row.id);
        self.length.push(row.length, len, all);
        self.class.push(row.class, len, all);
        self.sigma_c.push(row.sigma_c, len, all);
        self.tau_c.push(row.tau_c, len, all);
    }
}
