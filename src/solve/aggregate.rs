//! Aggregates of neighbouring rows (Vaněk, Mandel, Brezina 1996): each with all its neighbours where none of
//! them is taken, then what is left over to where it borders.

use super::matrix::BlockMatrix;

/// No aggregate: the row stands alone.
pub const ALONE: u32 = u32::MAX;

/// Aggregate of each row, and how many there are. Rows without neighbours are [`ALONE`].
pub fn aggregates(matrix: &BlockMatrix) -> (Vec<u32>, usize) {
    const FREE: u32 = u32::MAX - 1;
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
                FREE
            }
        })
        .collect();
    let mut count = 0;
    for row in 0..rows {
        if of[row] == FREE && neighbours(row).all(|k| of[k] == FREE) {
            of[row] = count;
            neighbours(row).for_each(|k| of[k] = count);
            count += 1;
        }
    }
    let first = of.clone();
    for row in (0..rows).filter(|&row| first[row] == FREE) {
        // The aggregate that most neighbours are of, the lower of equal ones.
        let mut near: Vec<u32> = neighbours(row)
            .map(|k| first[k])
            .filter(|&a| a < FREE)
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
        if of[row] == FREE {
            of[row] = count;
            for k in neighbours(row) {
                if of[k] == FREE {
                    of[k] = count;
                }
            }
            count += 1;
        }
    }
    (of, count as usize)
}
