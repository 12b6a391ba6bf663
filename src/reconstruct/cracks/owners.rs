//! Which element owns each grid node near a crack, and the grid edges that cracks cut.
//!
//! Only nodes near open bonds are looked at, and those that the cracks found there lead on to: the work
//! follows the cracks' area. What a node gets depends on elements and bonds near it alone, so a crack that
//! advances changes nothing far away.

use crate::parallel::prelude::*;
use glam::DVec3;

use super::field::Cracks;
use crate::reconstruct::body::solid::Solid;

/// Owner of a node outside the skin.
pub const OUTSIDE: u32 = u32::MAX;
/// Owner of a node that no crack is near.
pub const FAR: u32 = u32::MAX - 1;

/// Nodes this near to the middle of an open bond are looked at first, cells: some lie on both sides of the crack there.
const BAND: f64 = 1.25;
/// An element that is this much farther from a node than the nearest does not own it, radii.
const SLACK: f64 = 1.0;
/// Elements within this of a node are looked at first, radii. Holes of a close packing reach √2.
const REACH: f64 = 2.4;

/// Owners of all nodes, and the edges cut between them.
#[derive(Debug)]
pub struct Owners {
    /// Element that owns each node, [`OUTSIDE`] or [`FAR`].
    pub owner: Vec<u32>,
    /// The nodes that elements own, ascending.
    nodes: Vec<u32>,
    /// Edges whose ends, both inside, lie on different sides of a crack: three times the lower node plus the
    /// axis, ascending.
    pub cut: Vec<u64>,
}

impl Owners {
    /// Owners of the nodes near the cracks.
    pub fn new(solid: &Solid, cracks: &Cracks) -> Self {
        let search = Search { solid, cracks };
        let (owner, nodes) = search.band();
        let mut owners = Owners {
            owner,
            nodes: Vec::new(),
            cut: Vec::new(),
        };
        owners.take_in(search, nodes);
        owners
    }

    /// Looks at all nodes of these cells too. Whether there was one not seen before.
    pub fn extend(&mut self, solid: &Solid, cracks: &Cracks, cells: &[u32]) -> bool {
        let search = Search { solid, cracks };
        let mut fresh: Vec<u32> = cells
            .iter()
            .flat_map(|&cell| solid.corners(cell as usize))
            .filter(|&node| self.owner[node] == FAR)
            .map(|node| node as u32)
            .collect();
        fresh.sort_unstable();
        fresh.dedup();
        if fresh.is_empty() {
            return false;
        }
        search.look(&mut self.owner, &fresh);
        self.take_in(search, fresh);
        true
    }

    /// Follows cracks from nodes newly looked at, ascending.
    fn take_in(&mut self, search: Search, fresh: Vec<u32>) {
        let followed = search.follow(&mut self.owner, fresh);
        self.nodes.extend(followed);
        self.nodes.par_sort_unstable();
        search.drop_islands(&mut self.owner, &self.nodes);
        self.cut = search.cut_edges(&self.owner, &self.nodes);
    }
}

/// Element that owns the point `x`: the nearest one of the side with the smallest field there. `found` is
/// memory for the search.
pub fn owner_at(cracks: &Cracks, x: DVec3, found: &mut Vec<(f64, u32)>) -> u32 {
    let body = cracks.body;
    let r = body.radius;
    let mut reach = REACH * r;
    loop {
        found.clear();
        let mut least = f64::INFINITY;
        body.bins.each_bin(x, reach, |bin| {
            for &element in body.bins.points(bin) {
                let squared = x.distance_squared(body.positions[element as usize]);
                if squared <= reach * reach {
                    found.push((squared, element));
                    least = least.min(squared);
                }
            }
        });
        let wanted = least.sqrt() + SLACK * r;
        if wanted <= reach {
            found.retain(|&(squared, _)| squared <= wanted * wanted);
            break;
        }
        if found.is_empty() {
            return body.nearest(x, |_| true, 1)[0].1;
        }
        reach = wanted;
    }
    found.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    // The nearest of every side.
    let mut sides = [found[0].1; 8];
    let mut count = 1;
    for &(_, element) in &found[1..] {
        let known = &sides[..count];
        if count < sides.len() && known.iter().all(|&side| cracks.parts(side, element)) {
            sides[count] = element;
            count += 1;
        }
    }
    if count == 1 {
        return sides[0];
    }
    let fields = sides[..count]
        .iter()
        .map(|&element| (cracks.field(x, element).value, element));
    let best = fields.min_by(|a, b| a.0.total_cmp(&b.0));
    best.map_or(sides[0], |(_, element)| element)
}

#[derive(Clone, Copy)]
struct Search<'a> {
    solid: &'a Solid,
    cracks: &'a Cracks<'a>,
}

impl Search<'_> {
    /// The owners of the nodes about open bonds, all others [`FAR`] or [`OUTSIDE`]; and those nodes, ascending.
    fn band(self) -> (Vec<u32>, Vec<u32>) {
        let (grid, inside) = (&self.solid.grid, &self.solid.occupancy.inside);
        let reach = BAND * grid.spacing;
        let mut of_layer: Vec<Vec<DVec3>> = vec![Vec::new(); grid.nodes[2]];
        for &bond in &self.cracks.open {
            let p = self.cracks.middle(bond);
            for k in grid.span(2, p.z - reach, p.z + reach) {
                of_layer[k].push(p);
            }
        }
        let layer = grid.nodes[0] * grid.nodes[1];
        let mut owner = vec![OUTSIDE; grid.len()];
        let nodes: Vec<Vec<u32>> = owner
            .par_chunks_mut(layer)
            .enumerate()
            .map(|(k, owner)| {
                let mut near = vec![false; layer];
                for p in &of_layer[k] {
                    for j in grid.span(1, p.y - reach, p.y + reach) {
                        for i in grid.span(0, p.x - reach, p.x + reach) {
                            let at = j * grid.nodes[0] + i;
                            near[at] = near[at]
                                || grid.position([i, j, k]).distance_squared(*p) <= reach * reach;
                        }
                    }
                }
                let mut nodes = Vec::new();
                let mut found = Vec::new();
                for (at, owner) in owner.iter_mut().enumerate() {
                    let node = k * layer + at;
                    if !inside[node] {
                        continue;
                    }
                    *owner = FAR;
                    if near[at] {
                        *owner = self.owner(node, &mut found);
                        nodes.push(node as u32);
                    }
                }
                nodes
            })
            .collect();
        (owner, nodes.concat())
    }

    /// Looks at the nodes of all cells about cut edges until these hold no more that are [`FAR`]. Gives all
    /// nodes looked at.
    fn follow(self, owner: &mut [u32], mut nodes: Vec<u32>) -> Vec<u32> {
        let grid = &self.solid.grid;
        let strides = grid.strides();
        let mut fresh = nodes.clone();
        while !fresh.is_empty() {
            let known = &*owner;
            let mut next: Vec<u32> = fresh
                .par_iter()
                .with_min_len(256)
                .flat_map_iter(|&node| {
                    let node = node as usize;
                    let mut wanted = Vec::new();
                    for (axis, stride) in strides.into_iter().enumerate() {
                        for low in [node, node - stride] {
                            let ends = [known[low], known[low + stride]];
                            if ends.contains(&OUTSIDE) || !self.is_cut(ends) {
                                continue;
                            }
                            let (u, v) = (strides[(axis + 1) % 3], strides[(axis + 2) % 3]);
                            let corner = low - u - v;
                            for (a, b, c) in (0..18).map(|m| (m % 3, m / 3 % 3, m / 9)) {
                                let at = corner + a * u + b * v + c * stride;
                                if known[at] == FAR {
                                    wanted.push(at as u32);
                                }
                            }
                        }
                    }
                    wanted
                })
                .collect();
            next.par_sort_unstable();
            next.dedup();
            self.look(owner, &next);
            nodes.extend(&next);
            fresh = next;
        }
        nodes
    }

    fn is_cut(self, owners: [u32; 2]) -> bool {
        let [a, b] = owners;
        a < FAR && b < FAR && self.cracks.parts(a, b)
    }

    /// Finds the owners of these nodes.
    fn look(self, owner: &mut [u32], nodes: &[u32]) {
        let owners: Vec<u32> = nodes
            .par_iter()
            .with_min_len(64)
            .map_init(Vec::new, |found, &node| self.owner(node as usize, found))
            .collect();
        for (&node, found) in nodes.iter().zip(owners) {
            owner[node as usize] = found;
        }
    }

    /// Element that owns `node`.
    fn owner(self, node: usize, found: &mut Vec<(f64, u32)>) -> u32 {
        let grid = &self.solid.grid;
        owner_at(self.cracks, grid.position(grid.coords(node)), found)
    }

    /// The cut edges between these nodes, ascending.
    fn cut_edges(self, owner: &[u32], nodes: &[u32]) -> Vec<u64> {
        let strides = self.solid.grid.strides();
        nodes
            .par_iter()
            .with_min_len(256)
            .flat_map_iter(|&node| {
                let edges = (0..3).filter(move |&axis| {
                    let node = node as usize;
                    self.is_cut([owner[node], owner[node + strides[axis]]])
                });
                edges.map(move |axis| 3 * u64::from(node) + axis as u64)
            })
            .collect()
    }

    /// Gives nodes that cracks cut off from every element to the side beside them: fields carried on beyond
    /// the outermost elements can turn over there.
    fn drop_islands(self, owner: &mut [u32], nodes: &[u32]) {
        let (grid, body) = (&self.solid.grid, self.cracks.body);
        let strides = grid.strides();
        let around = |node: usize| strides.into_iter().flat_map(move |s| [node + s, node - s]);
        // A node is held beside its element, where no crack is near, and by whatever node it is joined to that is.
        let mut held = vec![false; owner.len()];
        let mut loose: Vec<u32> = nodes
            .par_iter()
            .with_min_len(256)
            .map(|&node| node)
            .filter(|&node| {
                let node = node as usize;
                let element = body.positions[owner[node] as usize];
                let away = (grid.position(grid.coords(node)) - element).abs();
                away.max_element() >= grid.spacing && around(node).all(|other| owner[other] != FAR)
            })
            .collect();
        for &node in nodes {
            held[node as usize] = true;
        }
        for &node in &loose {
            held[node as usize] = false;
        }
        loop {
            let joined: Vec<bool> = loose
                .par_iter()
                .with_min_len(256)
                .map(|&node| {
                    around(node as usize).any(|other| {
                        held[other] && !self.is_cut([owner[node as usize], owner[other]])
                    })
                })
                .collect();
            let before = loose.len();
            for (&node, &joined) in loose.iter().zip(&joined) {
                held[node as usize] = joined;
            }
            let mut joined = joined.iter();
            loose.retain(|_| joined.next() == Some(&false));
            if loose.len() == before {
                break;
            }
        }
        while !loose.is_empty() {
            let taken: Vec<(u32, u32)> = loose
                .iter()
                .filter_map(|&node| {
                    let x = grid.position(grid.coords(node as usize));
                    let owners = around(node as usize)
                        .filter(|&other| held[other])
                        .map(|other| owner[other]);
                    let squared = |e: u32| x.distance_squared(body.positions[e as usize]);
                    let best = owners
                        .min_by(|&a, &b| squared(a).total_cmp(&squared(b)).then(a.cmp(&b)))?;
                    Some((node, best))
                })
                .collect();
            if taken.is_empty() {
                break; // a part of the skin without any element
            }
            for &(node, element) in &taken {
                owner[node as usize] = element;
                held[node as usize] = true;
            }
            loose.retain(|&node| !held[node as usize]);
        }
    }
}
