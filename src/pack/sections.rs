//! Sections and strengths of the bonds of a random packing that is to have the strength of its material.
//!
//! Elements at the skin have fewer bonds, which makes thin bodies weaker: bars 8 and 16 elements across by 21 and 10 %
//! than one 32 across. So bonds of elements with few of them are thicker and stronger.

use std::f64::consts::PI;

use crate::laws::bond::BondRadiusRule;
use crate::laws::strength;

/// Bonds of a body with their lengths (m), and the radii of its elements (m).
#[derive(Clone, Copy)]
pub(super) struct BondedElements<'a> {
    pub pairs: &'a [[u32; 2]],
    pub lengths: &'a [f64],
    pub radii: &'a [f64],
}

impl BondedElements<'_> {
    /// ½ Σ S l0 over the bonds of each element, over the volume of its ball; `radius` holds the radii of the bonds, m.
    fn shares(&self, radius: impl Fn(usize) -> f64) -> Vec<f64> {
        let mut shares = vec![0.0; self.radii.len()];
        for (k, (pair, length)) in self.pairs.iter().zip(self.lengths).enumerate() {
            for end in pair.map(|end| end as usize) {
                let ball = 4.0 / 3.0 * PI * self.radii[end].powi(3);
                shares[end] += 0.5 * PI * radius(k).powi(2) * length / ball;
            }
        }
        shares
    }

    /// Changes the radii of the bonds (m) so that those of every element together are as stiff, and Σ S l0 / (3V) of
    /// all is `fabric`; `volume`: volume V of the body, m³.
    pub fn thicken(&self, radius: &mut [f64], fabric: f64, volume: f64) {
        let shares = self.shares(|k| radius[k]);
        let mut sum = 0.0;
        for (k, pair) in self.pairs.iter().enumerate() {
            let [a, b] = pair.map(|end| shares[end as usize].recip());
            radius[k] *= (0.5 * (a + b)).sqrt();
            sum += PI * radius[k].powi(2) * self.lengths[k];
        }
        let factor = (3.0 * volume * fabric / sum).sqrt();
        radius.iter_mut().for_each(|radius| *radius *= factor);
    }

    /// Factors on the strengths of the bonds; `usual`: mean share of an element far from any border, as
    /// [`mean_share`](Self::mean_share) has it.
    pub fn strengths(&self, usual: f64) -> Vec<f64> {
        let shares = self.shares(|k| self.mean_radius(k));
        let factor =
            |pair: &[u32; 2]| strength::of_weaker_end(pair.map(|end| shares[end as usize] / usual));
        self.pairs.iter().map(factor).collect()
    }

    /// Mean over all elements of ½ Σ S l0 over the bonds of an element, over the volume of its ball, with the mean
    /// radius of both ends for each bond.
    pub fn mean_share(&self) -> f64 {
        let shares = self.shares(|k| self.mean_radius(k));
        shares.iter().sum::<f64>() / shares.len() as f64
    }

    fn mean_radius(&self, k: usize) -> f64 {
        let [a, b] = self.pairs[k].map(|end| self.radii[end as usize]);
        BondRadiusRule::Mean.radius(a, b)
    }
}
