//! [Rules](super::rules) for the tables of cells and of their faces.

use super::rules::{SchemaFaults, UNIT_TOLERANCE, finite, ids, positive, unit_vectors};
use crate::columns::{Cells, Faces, NONE};

/// Checks rows of `packing/cells.parquet` of a packing of `elements` elements. `last` is the element of the previous
/// row.
pub fn cells(
    part: &Cells,
    first: usize,
    elements: usize,
    last: &mut Option<u32>,
    faults: &mut SchemaFaults,
) {
    for (row, &id) in (first..).zip(&part.id) {
        if id as usize >= elements {
            let what = format_args!("is element {id}; the packing has {elements} elements");
            faults.add("id", row, what);
        }
        if let Some(last) = last.filter(|last| id <= *last) {
            let what = format_args!("is {id} after {last}; ids must ascend");
            faults.add("id", row, what);
        }
        *last = Some(id);
    }
    finite(part, &[], first, faults);
    positive("free", &part.free, true, "m^3", first, faults);
    for (name, moments) in [("i1", &part.i1), ("i2", &part.i2), ("i3", &part.i3)] {
        positive(name, moments, false, "kg m^2", first, faults);
    }
    let axes: [&[f64]; 4] = [&part.qx, &part.qy, &part.qz, &part.qw];
    unit_vectors("qx", axes, UNIT_TOLERANCE, first, faults);
}

/// Checks rows of `packing/faces.parquet` of a packing of `elements` elements and `bonds`, if these are
/// known. `previous` is the bond and the first cell of the previous row.
pub fn faces(
    part: &Faces,
    first: usize,
    elements: usize,
    bonds: Option<&[[u32; 2]]>,
    previous: &mut Option<[u32; 2]>,
    faults: &mut SchemaFaults,
) {
    ids(&part.id, first, faults);
    let ends = part.i.iter().zip(&part.j).zip(&part.bond);
    for (row, ((&i, &j), &bond)) in (first..).zip(ends) {
        for (name, end) in [("i", i), ("j", j)] {
            if end as usize >= elements && (name == "i" || end != NONE) {
                let what = format_args!("is element {end}; the packing has {elements} elements");
                faults.add(name, row, what);
            }
        }
        if (j == NONE) != (bond == NONE) {
            let what = format_args!("is {bond} and j is {j}; a free face has neither, {NONE}");
            faults.add("bond", row, what);
        } else if bond != NONE
            && let Some(bonds) = bonds
        {
            match bonds.get(bond as usize) {
                None => {
                    let what = format_args!("is {bond}; the packing has {} bonds", bonds.len());
                    faults.add("bond", row, what);
                }
                Some(&[a, b]) if [i, j] != [a, b] => {
                    let what = format_args!("is {i} and j is {j}; bond {bond} joins {a} and {b}");
                    faults.add("i", row, what);
                }
                Some(_) => {}
            }
        }
        let own = [bond, i];
        if let Some(previous) = previous.filter(|previous| !in_order(*previous, own)) {
            let what = format_args!(
                "is {bond} after {}; faces between cells come in the order of the bonds, then the free ones by cell",
                previous[0]
            );
            faults.add("bond", row, what);
        }
        *previous = Some(own);
    }
    finite(part, &[], first, faults);
    positive("area", &part.area, false, "m^2", first, faults);
    unit_vectors(
        "nx",
        [&part.nx, &part.ny, &part.nz],
        UNIT_TOLERANCE,
        first,
        faults,
    );
    unit_vectors(
        "sx",
        [&part.sx, &part.sy, &part.sz],
        UNIT_TOLERANCE,
        first,
        faults,
    );
    for (name, moments) in [("second_s", &part.second_s), ("second_t", &part.second_t)] {
        positive(name, moments, true, "m^4", first, faults);
    }
}

/// Whether a face with the second bond and first cell may follow one with the first.
fn in_order([bond, i]: [u32; 2], [next, cell]: [u32; 2]) -> bool {
    bond < next || (bond == NONE && next == NONE && i <= cell)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::rules::SchemaFault;

    fn messages(check: impl FnOnce(&mut SchemaFaults)) -> Vec<String> {
        let mut faults = SchemaFaults::new(100);
        check(&mut faults);
        faults.kept.iter().map(SchemaFault::to_string).collect()
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
            messages(|faults| cells(&part, 0, 3, &mut None, faults)),
            [
                "column id, row 1: is 1 after 1; ids must ascend",
                "column id, row 2: is element 7; the packing has 3 elements",
                "column free, row 1: is -1 m^3; it must be at least 0",
                "column i1, row 2: is 0 kg m^2; it must be above 0",
            ]
        );
        let next = messages(|faults| cells(&part, 3, 8, &mut Some(0), faults));
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
            |part: &Faces| messages(|faults| faces(part, 0, 3, Some(&bonds), &mut None, faults));
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
