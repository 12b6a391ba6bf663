//! Which fragment owns each grid node.
//!
//! The formula stands in [`super::sources`]; here it is evaluated at the nodes near a crack, and what lies far from new
//! breaks is kept from one state to the next.

use rayon::prelude::*;

use super::body::{BIN, Body, Solid};
use super::sources::{POINT_REACH, Sources};

/// Owner of a node outside the skin.
pub const OUTSIDE: u32 = u32::MAX;

/// Owners of all nodes and the fields where fragments meet.
#[derive(Debug)]
pub struct Field {
    /// Piece of each node, or [`OUTSIDE`].
    pub owner: Vec<u32>,
    /// Range of each node in `values`; empty where one fragment is alone.
    first: Vec<u32>,
    /// Piece and F there, ordered by piece.
    values: Vec<(u32, f32)>,
    /// What the next state of the body can keep.
    basis: Basis,
}

/// What a field was made from, and its owners before islands were dropped.
#[derive(Debug, Default)]
struct Basis {
    owner: Vec<u32>,
    piece_of: Vec<u32>,
    names: Vec<u32>,
    falloff: Vec<f64>,
}

impl Field {
    /// F of `piece` at `node`, if it is near.
    pub fn value(&self, node: usize, piece: u32) -> Option<f64> {
        self.values[self.first[node] as usize..self.first[node + 1] as usize]
            .iter()
            .find(|(known, _)| *known == piece)
            .map(|(_, value)| f64::from(*value))
    }

    /// A field with given owners and nothing known about where they meet.
    #[cfg(test)]
    pub fn of_owners(owner: Vec<u32>) -> Self {
        Field {
            first: vec![0; owner.len() + 1],
            owner,
            values: Vec::new(),
            basis: Basis::default(),
        }
    }

    /// Frees the owners, which only the surfaces need.
    pub fn forget_owners(&mut self) {
        self.owner = Vec::new();
    }

    /// Fields of a body whose element `i` belongs to piece `piece_of[i]`, labelled `names[piece_of[i]]`; `names` ascends.
    ///
    /// What `previous` found far from any change is kept; the result is the same without it, bit by bit.
    pub fn evaluate(
        body: &Body,
        solid: &Solid,
        piece_of: &[u32],
        names: &[u32],
        previous: Option<&Field>,
    ) -> Self {
        let sources = Sources::new(body, piece_of);
        let kept = previous.map(|field| Kept::new(field, &sources, names));
        let grid = &solid.grid;
        let layer = grid.nodes[0] * grid.nodes[1];
        let near = 1.8 * grid.spacing; // nodes of cells that the skin crosses
        let layers: Vec<Layer> = (0..grid.nodes[2])
            .into_par_iter()
            .map(|k| {
                let (mut owner, mut counts) = (vec![OUTSIDE; layer], vec![0_u32; layer]);
                let mut values = Vec::new();
                let mut scratch = Vec::new();
                for (at, owner) in owner.iter_mut().enumerate() {
                    let node = k * layer + at;
                    let s = f64::from(solid.distance[node]);
                    if s > near {
                        continue;
                    }
                    let x = grid.position(grid.coords(node));
                    let before = values.len();
                    let kept = kept.as_ref();
                    if let Some(kept) = kept.filter(|kept| kept.unchanged[body.bins.flat_of(x)]) {
                        *owner = kept.copy(node, &mut values);
                        counts[at] = (values.len() - before) as u32;
                        continue;
                    }
                    let winner = sources.owner(x, &mut scratch, &mut values);
                    counts[at] = (values.len() - before) as u32;
                    if s < 0.0 {
                        *owner = winner;
                    }
                }
                Layer {
                    owner,
                    counts,
                    values,
                }
            })
            .collect();
        let mut field = Field {
            owner: Vec::with_capacity(grid.len()),
            first: Vec::with_capacity(grid.len() + 1),
            values: Vec::with_capacity(layers.iter().map(|layer| layer.values.len()).sum()),
            basis: Basis::default(),
        };
        let mut first = 0;
        for Layer {
            owner,
            counts,
            values,
        } in layers
        {
            field.owner.extend(owner);
            field.values.extend(values);
            for count in counts {
                field.first.push(first);
                first += count;
            }
        }
        field.first.push(first);
        field.basis = Basis {
            owner: field.owner.clone(),
            piece_of: piece_of.to_vec(),
            names: names.to_vec(),
            falloff: sources.falloff,
        };
        field.drop_islands(body, solid, piece_of);
        field
    }

    /// Gives nodes that are cut off from every element of their owner to a fragment beside them: fields carried on
    /// beyond the outermost elements can turn over there.
    fn drop_islands(&mut self, body: &Body, solid: &Solid, piece_of: &[u32]) {
        let grid = &solid.grid;
        let strides = grid.strides();
        let neighbours = |node: usize| {
            let up = strides.map(|stride| node + stride);
            let down = strides.map(|stride| node.wrapping_sub(stride));
            // The border of the grid lies outside, so nodes within have all six.
            up.into_iter().chain(down)
        };
        let mut held = vec![false; self.owner.len()];
        let mut queue = Vec::new();
        for (&p, &piece) in body.positions.iter().zip(piece_of) {
            let at = ((p - grid.origin) / grid.spacing).floor();
            let at: [usize; 3] =
                std::array::from_fn(|a| at[a].clamp(0.0, grid.nodes[a] as f64 - 2.0) as usize);
            for corner in 0..8 {
                let node = grid.index(std::array::from_fn(|a| at[a] + (corner >> a & 1)));
                if self.owner[node] == piece && !held[node] {
                    held[node] = true;
                    queue.push(node);
                }
            }
        }
        while let Some(node) = queue.pop() {
            for other in neighbours(node) {
                if self.owner[other] == self.owner[node] && !held[other] {
                    held[other] = true;
                    queue.push(other);
                }
            }
        }
        let mut islands: Vec<usize> = (0..self.owner.len())
            .filter(|&node| self.owner[node] != OUTSIDE && !held[node])
            .collect();
        while !islands.is_empty() {
            let taken: Vec<(usize, u32)> = islands
                .iter()
                .filter_map(|&node| {
                    let around = neighbours(node).filter(|&other| held[other]);
                    let field = |piece: u32| self.value(node, piece).unwrap_or(f64::INFINITY);
                    let best = around
                        .map(|other| self.owner[other])
                        .min_by(|&a, &b| field(a).total_cmp(&field(b)).then(a.cmp(&b)))?;
                    Some((node, best))
                })
                .collect();
            if taken.is_empty() {
                break; // a part of the skin without any element
            }
            for &(node, piece) in &taken {
                self.owner[node] = piece;
                held[node] = true;
            }
            islands.retain(|&node| !held[node]);
        }
    }
}

/// A layer of the grid's nodes.
struct Layer {
    owner: Vec<u32>,
    counts: Vec<u32>,
    values: Vec<(u32, f32)>,
}

/// What an earlier field still knows.
struct Kept<'a> {
    field: &'a Field,
    /// Piece now of each piece then; nodes in unchanged bins name none that is gone.
    now: Vec<u32>,
    /// For each bin, whether all that a point in it can see is as it was.
    unchanged: Vec<bool>,
}

impl<'a> Kept<'a> {
    fn new(field: &'a Field, sources: &Sources, names: &[u32]) -> Self {
        let (body, then) = (sources.body, &field.basis);
        let label = |element: usize| names[sources.piece_of[element] as usize];
        let label_then = |element: usize| then.names[then.piece_of[element] as usize];
        let mut changed: Vec<bool> = (0..sources.piece_of.len())
            .map(|element| {
                let (now, then_piece) = (sources.piece_of[element], then.piece_of[element]);
                label(element) != label_then(element)
                    || sources.falloff[now as usize] != then.falloff[then_piece as usize]
            })
            .collect();
        // A fracture point appears on both ends of a bond.
        let relabelled: Vec<bool> = (0..changed.len())
            .map(|element| label(element) != label_then(element))
            .collect();
        for bond in &body.bonds {
            let (i, j) = (bond.i as usize, bond.j as usize);
            changed[i] |= relabelled[j];
            changed[j] |= relabelled[i];
        }
        // Per bin: whether it has elements, and whether one of them changed. Then the same of all that is in reach.
        let seen: Vec<(bool, bool)> = (0..body.bins.count())
            .map(|bin| {
                let points = body.bins.points(bin);
                let any = points.iter().any(|&element| changed[element as usize]);
                (!points.is_empty(), any)
            })
            .collect();
        let widen = |seen: Vec<(bool, bool)>| -> Vec<(bool, bool)> {
            (0..seen.len())
                .into_par_iter()
                .map(|bin| {
                    let mut all = (false, false);
                    body.bins.each_around(bin, |other| {
                        all = (all.0 | seen[other].0, all.1 | seen[other].1);
                    });
                    all
                })
                .collect()
        };
        const { assert!(POINT_REACH <= 2.0 * BIN) };
        let seen = widen(widen(seen));
        Kept {
            field,
            now: then
                .names
                .iter()
                .map(|name| names.binary_search(name).map_or(OUTSIDE, |at| at as u32))
                .collect(),
            // Without elements in reach the nearest decides, which may be anywhere.
            unchanged: seen.iter().map(|&(some, any)| some && !any).collect(),
        }
    }

    /// Owner of `node`; its fields are appended to `values`.
    fn copy(&self, node: usize, values: &mut Vec<(u32, f32)>) -> u32 {
        let range = self.field.first[node] as usize..self.field.first[node + 1] as usize;
        let now = |piece: u32| self.now[piece as usize];
        let own = self.field.values[range].iter();
        values.extend(own.map(|&(piece, value)| (now(piece), value)));
        match self.field.basis.owner[node] {
            OUTSIDE => OUTSIDE,
            piece => now(piece),
        }
    }
}
