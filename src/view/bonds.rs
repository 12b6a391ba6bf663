//! Bonds, with the frames in which they break.

use super::arrays::Arrays;
use super::error::ViewError;
use super::viewed::ViewedStore;

/// Frame number of bonds that are intact.
const INTACT: u32 = u32::MAX;

/// Ends of each bond, and the first frame that shows it broken.
pub fn bonds(viewed: &ViewedStore) -> Result<Vec<u8>, ViewError> {
    let store = viewed.view()?.store;
    let bonds = store
        .read_packing_columns(&[], &["i", "j", "sigma_c", "tau_c"])?
        .bonds;
    let mut broken_in = vec![INTACT; bonds.i.len()];
    for (bond, frame) in broken_in.iter_mut().enumerate() {
        let is_zero = |column: &[f64]| column.get(bond) == Some(&0.0);
        if is_zero(&bonds.sigma_c) && is_zero(&bonds.tau_c) {
            *frame = 0;
        }
    }
    for number in store.numbers("breaks", "parquet")? {
        for bond in store.read_broken(number, bonds.i.len())? {
            let frame = &mut broken_in[bond as usize];
            *frame = (*frame).min(number);
        }
    }
    let mut arrays = Arrays::default();
    arrays.add("i", &bonds.i);
    arrays.add("j", &bonds.j);
    arrays.add("frame", &broken_in);
    Ok(arrays.finish())
}
