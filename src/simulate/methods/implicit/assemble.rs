//! The matrix of a Newton iteration: second derivatives of inertia, bonds and contacts, rotations taken times
//! the radius.

use crate::parallel::prelude::*;

use super::bonds::{BondRoom, Form};
use super::start::Start;
use super::touch::{Touch, Touching};
use crate::laws::tangent::Tangent;
use crate::math::Mat3;
use crate::simulate::bonded::system::System;
use crate::simulate::contact::chunk::COLLIDER;
use crate::solve::BlockMatrix;
use crate::solve::block::{self, Block};
use crate::solve::matrix::rows_mut;

/// Quarters of a block: by translation and translation, translation and rotation, rotation and translation,
/// rotation and rotation.
type Quarters = [Mat3<f64>; 4];

/// A block from quarters, rotations of row and column as lengths.
#[inline(always)]
pub(super) fn block_of(quarters: &Quarters, [row, column]: [f64; 2]) -> Block {
    let scale = [1.0, 1.0 / column, 1.0 / row, 1.0 / (row * column)];
    let rows: [[[f64; 3]; 3]; 4] =
        std::array::from_fn(|k| std::array::from_fn(|r| (quarters[k].rows[r] * scale[k]).to_f64()));
    std::array::from_fn(|c| std::array::from_fn(|r| rows[2 * (r / 3) + c / 3][r % 3][c % 3]))
}

fn minus(m: Mat3<f64>) -> Mat3<f64> {
    m * -1.0
}

/// A bond's block on the diagonal of its owner, or of its other end.
fn own(t: &Tangent<f64>, owner: bool) -> Quarters {
    if owner {
        [t.ww, minus(t.wi), minus(t.wi.transposed()), t.ii]
    } else {
        [t.ww, t.wj, t.wj.transposed(), t.jj]
    }
}

/// A bond's block in the row of its owner, or of its other end.
fn other(t: &Tangent<f64>, owner: bool) -> Quarters {
    if owner {
        [minus(t.ww), minus(t.wj), t.wi.transposed(), t.ij]
    } else {
        [
            minus(t.ww),
            t.wi,
            minus(t.wj.transposed()),
            t.ij.transposed(),
        ]
    }
}

/// How a contact point goes with its element: displacement, and lever of its rotation.
fn levers(pair: &Touching, second: bool) -> (f64, Mat3<f64>) {
    let sign = if second { -1.0 } else { 1.0 };
    (sign, Mat3::cross(pair.n) * pair.arms[usize::from(second)])
}

/// Block of a contact between both ends, or of one end with itself.
pub(super) fn contact(pair: &Touching, row: bool, column: bool, form: Form) -> Quarters {
    let ((s, down), (t, right)) = (levers(pair, row), levers(pair, column));
    let k = pair.tangent();
    let mut moved = k;
    if form == Form::Exact {
        // The normal turns with the centres.
        let flat = Mat3::diagonal(1.0) - Mat3::outer(pair.n, pair.n);
        moved = moved - flat * pair.drive;
    }
    [
        moved * (s * t),
        k.product(right) * s,
        down.transposed().product(k) * t,
        down.transposed().product(k.product(right)),
    ]
}

/// Rows whose columns are listed together.
const ROWS: usize = 256;

/// Gives each row its columns: the element itself, those that it is bonded to and those that it touches. Held
/// elements stand alone. Blocks are as they may be, for [`fill`] writes all of them.
pub fn pattern(matrix: &mut BlockMatrix, system: &System<f64>, start: &Start, touch: &Touch) {
    let row = |i: usize, columns: &mut Vec<u32>| {
        let first = columns.len();
        columns.push(i as u32);
        if !start.is_held(i) {
            let bonded = system.bonds.active_sides(i).map(|side| side.other as u32);
            let touched = touch
                .of(i)
                .map(|(pair, second)| if second { pair.i } else { pair.j });
            let near = bonded.chain(touched.filter(|&j| j < COLLIDER));
            columns.extend(near.filter(|&j| !start.is_held(j as usize)));
            columns[first..].sort_unstable();
            // Two may be bonded and touch.
            let mut kept = first;
            for at in first..columns.len() {
                if at == first || columns[at] != columns[kept - 1] {
                    columns[kept] = columns[at];
                    kept += 1;
                }
            }
            columns.truncate(kept);
        }
        (columns.len() - first) as u32
    };
    let rows = |chunk: usize| {
        let all = chunk * ROWS..((chunk + 1) * ROWS).min(system.count);
        let mut columns = Vec::new();
        let counts: Vec<u32> = all.map(|i| row(i, &mut columns)).collect();
        (counts, columns)
    };
    let chunks = (0..system.count.div_ceil(ROWS)).into_par_iter().map(rows);
    let BlockMatrix {
        start: first,
        column,
        value,
    } = matrix;
    first.clear();
    first.push(0);
    column.clear();
    for (counts, columns) in chunks.collect::<Vec<_>>() {
        for count in counts {
            first.push(first[first.len() - 1] + count);
        }
        column.extend(columns);
    }
    value.resize(column.len(), block::ZERO);
}

/// Fills the blocks of a pattern. Bonds have their second derivatives of that form in `bonds`.
pub fn fill(
    matrix: &mut BlockMatrix,
    system: &System<f64>,
    start: &Start,
    (bonds, form): (&BondRoom, Form),
    touch: &Touch,
) {
    let BlockMatrix {
        start: first,
        column,
        value,
    } = matrix;
    let rows = rows_mut(first, value);
    rows.into_par_iter()
        .with_min_len(64)
        .enumerate()
        .for_each(|(i, row)| {
            let columns = &column[first[i] as usize..first[i + 1] as usize];
            let place = |j: usize| columns.binary_search(&(j as u32));
            let mut diagonal = block::ZERO;
            // Bonds write their blocks, contacts add to theirs.
            if touch.of(i).next().is_some() {
                row.fill(block::ZERO);
            }
            if start.is_held(i) {
                row[0] = block::diagonal(1.0);
                return;
            }
            let r = system.radius(i);
            let [push, turn] = start.inertia(system, i).stiffness;
            for k in 0..3 {
                diagonal[k][k] += push;
                diagonal[3 + k][3 + k] += turn / (r * r);
            }
            for side in system.bonds.active_sides(i) {
                let tangent = bonds.tangent(side.entry);
                block::add(&mut diagonal, &block_of(&own(tangent, side.owned), [r, r]));
                if let Ok(at) = place(side.other) {
                    let both = [r, system.radius(side.other)];
                    row[at] = block_of(&other(tangent, side.owned), both);
                }
            }
            for (pair, second) in touch.of(i) {
                block::add(
                    &mut diagonal,
                    &block_of(&contact(pair, second, second, form), [r, r]),
                );
                let j = if second { pair.i } else { pair.j } as usize;
                if pair.j < COLLIDER
                    && let Ok(at) = place(j)
                {
                    let both = [r, system.radius(j)];
                    block::add(
                        &mut row[at],
                        &block_of(&contact(pair, second, !second, form), both),
                    );
                }
            }
            let at = place(i).expect("every row has its own column");
            row[at] = diagonal;
        });
}
