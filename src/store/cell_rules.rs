//! The [`rules`](super::rules) for the tables of cells and their faces.

use super::rules::{Faults, UNIT, finite, ids, positive, unit};
use crate::columns::{Cells, Faces, NONE};

/// Rows of `packing/cells.parquet` of a packing of `elements` elements; `last` is the element of the row before.
pub fn cells(
    part: &Cells,
    first: usize,
    elements: usize,
    last: &mut Option<u32>,
    faults: &mut Faults,
) {
    for (row, &id) in (first..).zip(&part.id) {
        if id as usize >= elements {
            let what = format_args!("is element {id}; the packing has {elements} elements");
            faults.tell("id", row, what);
        }
        if let Some(last) = last.filter(|last| id <= *last) {
            let what = format_args!("is {id} after {last}; ids must ascend");
            faults.tell("id", row, what);
        }
        *last = Some(id);
    }
    finite(part, &[], first, faults);
    positive("free", &part.free, true, "m^3", first, faults);
    for (name, moments) in [("i1", &part.i1), ("i2", &part.i2), ("i3", &part.i3)] {
        positive(name, moments, false, "kg m^2", first, faults);
    }
    let axes: [&[f64]; 4] = [&part.qx, &part.qy, &part.qz, &part.qw];
    unit("qx", axes, UNIT, first, faults);
}

/// Rows of `packing/faces.parquet` of a packing of `elements` elements, and of these bonds where they are
/// known. `before` is the row before: its bond and its first cell.
pub fn faces(
    part: &Faces,
    first: usize,
    elements: usize,
    bonds: Option<&[[u32; 2]]>,
    before: &mut Option<[u32; 2]>,
    faults: &mut Faults,
) {
    ids(&part.id, first, faults);
    let ends = part.i.iter().zip(&part.j).zip(&part.bond);
    for (row, ((&i, &j), &bond)) in (first..).zip(ends) {
        for (name, end) in [("i", i), ("j", j)] {
            if end as usize >= elements && (name == "i" || end != NONE) {
                let what = format_args!("is element {end}; the packing has {elements} elements");
                faults.tell(name, row, what);
            }
        }
        if (j == NONE) != (bond == NONE) {
            let what = format_args!("is {bond} and j is {j}; a free face has neither, {NONE}");
            faults.tell("bond", row, what);
        } else if bond != NONE
            && let Some(bonds) = bonds
        {
            match bonds.get(bond as usize) {
                None => {
                    let what = format_args!("is {bond}; the packing has {} bonds", bonds.len());
                    faults.tell("bond", row, what);
                }
                Some(&[a, b]) if [i, j] != [a, b] => {
                    let what = format_args!("is {i} and j is {j}; bond {bond} joins {a} and {b}");
                    faults.tell("i", row, what);
                }
                Some(_) => {}
            }
        }
        let own = [bond, i];
        if let Some(before) = before.filter(|before| !in_order(*before, own)) {
            let what = format_args!(
                "is {bond} after {}; faces between cells come in the order of the bonds, then the free ones by cell",
                before[0]
            );
            faults.tell("bond", row, what);
        }
        *before = Some(own);
    }
    finite(part, &[], first, faults);
    positive("area", &part.area, false, "m^2", first, faults);
    unit("nx", [&part.nx, &part.ny, &part.nz], UNIT, first, faults);
    unit("sx", [&part.sx, &part.sy, &part.sz], UNIT, first, faults);
    for (name, moments) in [("second_s", &part.second_s), ("second_t", &part.second_t)] {
        positive(name, moments, true, "m^4", first, faults);
    }
}

/// Whether a face of a bond and a first cell may follow another.
fn in_order([bond, i]: [u32; 2], [next, cell]: [u32; 2]) -> bool {
    bond < next || (bond == NONE && next == NONE && i <= cell)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::rules::Fault;

    fn told(check: impl FnOnce(&mut Faults)) -> Vec<String> {
        let mut faults = Faults::new(100);
        check(&mut faults);
        faults.kept.iter().map(Fault::to_string).collect()
    }

    #[test]
    fn cells_are_elements_in_order_with_moments() {
        let part = Cells {
            id: vec![1, 1, 7],
            free: vec![0.0, -1.0, 0.0],
            i1: vec![1.0, 1.0, 0.0],
            ..Cells::default()
        };
        assert_eq!(
            told(|faults| cells(&part, 0, 3, &mut None, faults)),
            [
                "column id, row 1: is 1 after 1; ids must ascend",
                "column id, row 2: is element 7; the packing has 3 elements",
                "column free, row 1: is -1 m^3; it must be at least 0",
                "column i1, row 2: is 0 kg m^2; it must be above 0",
            ]
        );
        let next = told(|faults| cells(&part, 3, 8, &mut Some(0), faults));
        assert_eq!(next[0], "column id, row 4: is 1 after 1; ids must ascend");
    }

    #[test]
    fn faces_follow_bonds_and_then_cells() {
        let mut part = Faces {
            id: vec![0, 1, 2, 3],
            i: vec![0, 1, 0, 2],
            j: vec![1, 2, NONE, NONE],
            bond: vec![0, 1, NONE, NONE],
            area: vec![1.0; 4],
            nx: vec![1.0, 1.0, 1.0, 2.0],
            ny: vec![0.0; 4],
            nz: vec![0.0; 4],
            ..Faces::default()
        };
        let bonds = [[0, 1], [1, 2]];
        let check =
            |part: &Faces| told(|faults| faces(part, 0, 3, Some(&bonds), &mut None, faults));
        let long = "column nx, row 3: begins a vector of length 2.000000; it must be 1";
        assert_eq!(check(&part), [long]);
        part.nx[3] = 1.0;
        part.i[3] = 0;
        assert!(check(&part).is_empty());
        (part.i[2], part.i[3]) = (2, 0);
        part.area[0] = 0.0;
        part.j[1] = 0;
        part.j[2] = 1;
        let free = "faces between cells come in the order of the bonds, then the free ones by cell";
        assert_eq!(
            check(&part),
            [
                "column i, row 1: is 1 and j is 0; bond 1 joins 1 and 2".to_owned(),
                format!(
                    "column bond, row 2: is {NONE} and j is 1; a free face has neither, {NONE}"
                ),
                format!("column bond, row 3: is {NONE} after {NONE}; {free}"),
                "column area, row 0: is 0 m^2; it must be above 0".to_owned(),
            ]
        );
        (part.bond[0], part.bond[1]) = (5, 0);
        let found = check(&part);
        assert_eq!(
            found[0],
            "column bond, row 0: is 5; the packing has 2 bonds"
        );
        let order = format!("column bond, row 1: is 0 after 5; {free}");
        assert!(found.contains(&order), "{found:?}");
    }
}
