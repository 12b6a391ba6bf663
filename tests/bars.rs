//! Bars that are pulled, bent or twisted slowly until they break, and strips with a crack that are torn.

use cullet::calibrate::{Curve, Specimen, Torn};
use cullet::laws::softening::fracture_energy;
use cullet::spec;

/// Width of a bar, m.
const WIDTH: f64 = 0.02;
/// Density, kg/m³, Young's modulus and tensile strength, Pa.
const MATERIAL: (f64, f64, f64) = (2000.0, 1e9, 2.5e6);

/// Part of the tensile strength up to which no bond of a bent or twisted bar breaks. Many bonds break before its
/// largest load.
const INTACT: f64 = 0.7;

/// A bar.
#[derive(Clone, Debug)]
pub struct Bar {
    /// Fields of its packing besides the radius.
    pub packing: String,
    /// Elements across its width.
    pub across: f64,
    /// Axis along which it is long: 0, 1, 2.
    pub axis: usize,
    /// Seed of random packings.
    pub seed: u64,
    /// Poisson's ratio.
    pub poisson: f64,
    /// Further keys of its material.
    pub material: String,
}

/// What was found about a bar.
#[derive(Clone, Copy, Debug)]
pub struct Tested {
    /// Number of elements.
    pub elements: usize,
    /// Young's modulus over that of the material; the shear modulus if it was twisted.
    pub modulus: f64,
    /// Poisson's ratio; 0 if it was twisted.
    pub poisson: f64,
    /// Largest stress over the tensile strength of the material; if it was bent or twisted, that of the surface by
    /// elastic theory.
    pub strength: f64,
}

impl Bar {
    /// Pulls the bar until its load has fallen to half of the largest.
    pub fn pull(&self) -> Tested {
        let curve = self.specimen("").pull().unwrap();
        tested(&curve, curve.strength(), MATERIAL.1)
    }

    /// Bends the bar until its load has fallen by 5 %.
    pub fn bend(&self) -> Tested {
        let curve = self.specimen("").bend().unwrap();
        tested(&curve, INTACT * MATERIAL.2, MATERIAL.1)
    }

    /// Twists the bar until its load has fallen by 5 %.
    pub fn twist(&self) -> Tested {
        let curve = self.specimen("").twist().unwrap();
        let shear = 0.5 * MATERIAL.1 / (1.0 + self.poisson);
        tested(&curve, INTACT * MATERIAL.2, shear)
    }

    /// Tears a strip of its packing, as many elements high as the bar has across, with a softening zone K²/f² of
    /// `zone` elements. Returns its toughness and the energy of its crack over those of the material.
    pub fn tear(&self, zone: f64) -> Torn {
        let (_, young, strength) = MATERIAL;
        let toughness = strength * (zone * WIDTH / self.across).sqrt();
        let mut torn = self
            .specimen(&format!("toughness = {toughness}\n"))
            .tear(self.across, (young, self.poisson))
            .unwrap();
        torn.toughness = torn.toughness.map(|found| found / toughness);
        torn.energy /= fracture_energy(toughness, young, self.poisson);
        torn
    }

    fn specimen(&self, keys: &str) -> Specimen {
        let (density, young, strength) = MATERIAL;
        let text = format!(
            "[time]\nend = 1\nframes_per_second = 24\n[[material]]\nname = \"m\"\ndensity = {density}\n\
             young = {young}\npoisson = {poisson}\ntensile_strength = {strength}\nshear_strength = 1e9\n{material}\n\
             {keys}[[body]]\nname = \"bar\"\nmaterial = \"m\"\nshape = {{ type = \"sphere\", radius = 1 }}\n\
             packing = {{ {packing}, radius = 1 }}\n",
            poisson = self.poisson,
            material = self.material,
            packing = self.packing,
        );
        let shot = spec::parse(&text, "bar", &[]).unwrap();
        let material = shot.materials[0].clone();
        let size = (WIDTH / self.across, self.across);
        let (body, place) = (&shot.bodies[0], (self.axis, self.seed));
        Specimen::new(&shot, body, material, size, place)
    }
}

/// What a curve says, its modulus from stresses of a fifth to four fifths of `most`, Pa; `modulus`: that of the
/// material, Pa.
fn tested(curve: &Curve, most: f64, modulus: f64) -> Tested {
    let (found, poisson) = curve.moduli_below(curve.strength().min(most));
    Tested {
        elements: curve.elements,
        modulus: found / modulus,
        poisson,
        strength: curve.strength() / MATERIAL.2,
    }
}
