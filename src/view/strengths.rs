//! How near the bonds of an element are to breaking.

use crate::columns::Frames;
use crate::store::{Result, Store};

/// The smallest strengths, Pa, of the bonds at each element at rest; infinite without bonds that can break.
pub struct Strengths {
    tensile: Vec<f32>,
    shear: Vec<f32>,
}

impl Strengths {
    /// Reads the bonds of a packing. Those that are broken from the start do not count.
    pub fn read(store: &Store) -> Result<Self> {
        let packing = store.read_packing_columns(&[], &["i", "j", "sigma_c", "tau_c"])?;
        let elements = packing.elements.id.len();
        let mut strengths = Strengths {
            tensile: vec![f32::INFINITY; elements],
            shear: vec![f32::INFINITY; elements],
        };
        let bonds = &packing.bonds;
        for (at, ends) in bonds.i.iter().zip(&bonds.j).enumerate() {
            // Stores of other programs may lack strengths.
            let strength = |column: &[f64]| column.get(at).map_or(f64::INFINITY, |s| *s) as f32;
            let (sigma, tau) = (strength(&bonds.sigma_c), strength(&bonds.tau_c));
            if sigma == 0.0 && tau == 0.0 {
                continue;
            }
            for end in [*ends.0 as usize, *ends.1 as usize] {
                strengths.tensile[end] = strengths.tensile[end].min(sigma);
                strengths.shear[end] = strengths.shear[end].min(tau);
            }
        }
        Ok(strengths)
    }

    /// The larger of normal and shear stress of each element over its smallest strength. As the largest stress and the
    /// smallest strength may be those of different bonds, this is an upper bound. 0 where nothing can break.
    pub fn use_of_strength(&self, rows: &Frames) -> Vec<f32> {
        let of = |row: usize| {
            let tension = rows.sigma[row] / self.tensile[row];
            (rows.tau[row] / self.shear[row]).max(tension).max(0.0)
        };
        (0..rows.sigma.len()).map(of).collect()
    }
}
