//! Aggregates of neighbouring rows (Vaněk, Mandel, Brezina 1996): a row and all its neighbours form an
//! aggregate if none of them is in one yet; remaining rows join an adjacent aggregate.

use super::matrix::BlockMatrix;

/// The row is in no aggregate.
pub const ALONE: u32 = u32::MAX;

/// Aggregate of each row, and number of aggregates. Rows without neighbours are [`ALONE`].
pub fn aggregates(matrix: &BlockMatrix) -> (Vec<u32>, usize) {
    const UNASSIGNED: u32 = u32::MAX - 1;
    let rows = matrix.rows();
    let neighbours = |row: usize| {
        let columns = &matrix.column[matrix.range(row)];
        columns
            .iter()
            .map(|&c| c as usize)
            .filter(move |&c| c != row)
    };
    let mut of: Vec<u32> = (0..rows)
        .map(|row| {
            if neighbours(row).next().is_none() {
                ALONE
            } else {
                UNASSIGNED
            }
        })
        .collect();
    let mut count = 0;
    for row in 0..rows {
        if of[row] == UNASSIGNED && neighbours(row).all(|k| of[k] == UNASSIGNED) {
            of[row] = count;
            neighbours(row).for_each(|k| of[k] = count);
            count += 1;
        }
    }
    let first = of.clone();
    for row in (0..rows).filter(|&row| first[row] == UNASSIGNED) {
        // The aggregate of most neighbours; of several, the one with the lower number.
        let mut near: Vec<u32> = neighbours(row)
            .map(|k| first[k])
            .filter(|&a| a < UNASSIGNED)
            .collect();
        near.sort_unstable();
        let largest = near
            .chunk_by(|a, b| a == b)
            .rev()
            .max_by_key(|same| same.len());
        if let Some(same) = largest {
            of[row] = same[0];
        }
    }
    for row in 0..rows {
        if of[row] == UNASSIGNED {
            of[row] = count;
            for k in neighbours(row) {
                if of[k] == UNASSIGNED {
                    of[k] = count;
                }
            }
            count += 1;
        }
    }
    (of, count as usize)
}
