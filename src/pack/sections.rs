//! Sections and strengths of the bonds of a random packing that is to have the strength of its material.
//!
//! Elements at the skin have fewer bonds, which makes thin bodies weaker: bars 8 and 16 elements across by 21 and 10 %
//! than one 32 across. So bonds of elements with few of them are thicker and stronger.

use std::f64::consts::PI;

use crate::laws::bond::BondRadiusRule;
use crate::laws::strength;

/// Bonds of a body: the elements that they join, the distance of the ends of a bond (m), and the radii of the elements
/// (m).
#[derive(Clone, Copy)]
pub(super) struct BondedElements<'a, L> {
    pub pairs: &'a [[u32; 2]],
    pub length: L,
    pub radii: &'a [f64],
}

/// What makes the bonds of a random packing as stiff and as strong as its material. It is stored by element, as bonds
/// are several times as many.
#[derive(Clone, Debug)]
pub(super) struct BondSections {
    rule: BondRadiusRule,
    /// For each element, ½ Σ S l0 over its bonds, over the volume of its ball, before bonds are thickened.
    shares: Vec<f64>,
    /// As `shares`, with the mean radius of both ends for each bond, if that is another rule.
    mean_shares: Option<Vec<f64>>,
    /// Mean of `mean_shares` far from any border.
    usual: f64,
    /// Factor on all radii.
    factor: f64,
}

impl<L: Fn([u32; 2]) -> f64> BondedElements<'_, L> {
    /// ½ Σ S l0 over the bonds of each element, over the volume of its ball; radii of bonds follow `rule`.
    fn shares(&self, rule: BondRadiusRule) -> Vec<f64> {
        let mut shares = vec![0.0; self.radii.len()];
        for &pair in self.pairs {
            let length = (self.length)(pair);
            let radius = self.radius(rule, pair);
            for end in pair.map(|end| end as usize) {
                let ball = 4.0 / 3.0 * PI * self.radii[end].powi(3);
                shares[end] += 0.5 * PI * radius.powi(2) * length / ball;
            }
        }
        shares
    }

    /// Sections with which the bonds of every element together are as stiff, and Σ S l0 / (3V) of all is `fabric`.
    /// `volume`: volume V of the body, m³; `usual`: mean share of an element far from any border, as
    /// [`mean_share`](Self::mean_share) has it.
    pub fn sections(
        &self,
        rule: BondRadiusRule,
        (fabric, volume, usual): (f64, f64, f64),
    ) -> BondSections {
        let mut sections = BondSections {
            rule,
            shares: self.shares(rule),
            mean_shares: (!rule.is_mean()).then(|| self.shares(BondRadiusRule::Mean)),
            usual,
            factor: 1.0,
        };
        let mut sum = 0.0;
        for &pair in self.pairs {
            let radius = sections.radius(pair, self.radii);
            sum += PI * radius.powi(2) * (self.length)(pair);
        }
        sections.factor = (3.0 * volume * fabric / sum).sqrt();
        sections
    }

    /// Mean over all elements of ½ Σ S l0 over the bonds of an element, over the volume of its ball, with the mean
    /// radius of both ends for each bond.
    pub fn mean_share(&self) -> f64 {
        let shares = self.shares(BondRadiusRule::Mean);
        shares.iter().sum::<f64>() / shares.len() as f64
    }

    /// Radius of a bond by this rule, before it is thickened, m.
    fn radius(&self, rule: BondRadiusRule, pair: [u32; 2]) -> f64 {
        let [a, b] = pair.map(|end| self.radii[end as usize]);
        rule.radius(a, b)
    }
}

impl BondSections {
    /// Radius of the bond of a pair, m; `radii`: of all elements of the body, m.
    pub fn radius(&self, pair: [u32; 2], radii: &[f64]) -> f64 {
        let [a, b] = pair.map(|end| radii[end as usize]);
        let [first, second] = pair.map(|end| self.shares[end as usize].recip());
        self.rule.radius(a, b) * (0.5 * (first + second)).sqrt() * self.factor
    }

    /// Factor on the strengths of a bond.
    pub fn stronger(&self, pair: [u32; 2]) -> f64 {
        let shares = self.mean_shares.as_ref().unwrap_or(&self.shares);
        strength::of_weaker_end(pair.map(|end| shares[end as usize] / self.usual))
    }
}
