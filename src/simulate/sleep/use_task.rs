//! Task of the bond pass: the largest stress over strength of the bonds of each element.

use crate::laws::failure;
use crate::math::{Lanes, Real, Scalar};
use crate::simulate::bonded::bond_pass::{BondLanes, BondTask};
use crate::simulate::bonded::rows::lane_buffer;

/// Finds the largest stress over strength of the bonds of each element of a chunk.
pub struct UseTask<'a> {
    /// Result per element; zero at the start.
    pub uses: &'a mut [f64],
}

impl<L: Lanes> BondTask<L> for UseTask<'_> {
    type Sum = L;
    const ENERGY: bool = false;

    #[inline(always)]
    fn zero() -> L {
        L::zero()
    }

    #[inline(always)]
    fn bond(&mut self, sum: &mut L, bond: &BondLanes<L>, mask: L::Mask) -> [L; 8] {
        let (sigma, tau) = failure::stress(&bond.load, &bond.class.section);
        let (sigma_c, tau_c) = bond.strength;
        let used = (sigma / sigma_c).max(tau / tau_c).max(L::zero());
        let used = L::select(mask, used, L::zero());
        *sum = sum.max(used);
        let mut row = [L::zero(); 8];
        row[0] = used;
        row
    }

    #[inline(always)]
    fn inspect(&mut self, _: &BondLanes<L>, _: u32, _: usize, _: usize, _: &[u32]) {}

    #[inline(always)]
    fn store_owned(&mut self, local: usize, sum: L) {
        let mut lanes = lane_buffer::<L>();
        sum.store(&mut lanes);
        // The last row of lanes may extend past the last element.
        let to = self.uses.iter_mut().skip(local);
        for (to, used) in to.take(L::WIDTH).zip(lanes) {
            *to = used.to_f64();
        }
    }

    #[inline(always)]
    fn accumulate(sum: &mut [L::Scalar; 8], row: &[L::Scalar; 8]) {
        sum[0] = Real::max(sum[0], row[0]);
    }

    #[inline(always)]
    fn add_foreign(&mut self, local: usize, sum: [L::Scalar; 8]) {
        if let Some(to) = self.uses.get_mut(local) {
            *to = to.max(sum[0].to_f64());
        }
    }
}
