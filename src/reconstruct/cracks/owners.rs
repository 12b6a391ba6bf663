//! Which element owns each grid node near a crack, and which grid edges the cracks cut.
//!
//! Only nodes near open bonds are evaluated, and then nodes along the cracks found there: the work is
//! proportional to the area of the cracks. The owner of a node depends only on elements and bonds near it, so
//! a crack that advances changes nothing far away.

use crate::parallel::prelude::*;
use glam::DVec3;

use super::field::Cracks;
use crate::reconstruct::body::reach::MAX_CANDIDATES;
use crate::reconstruct::body::rest::RestBody;
use crate::reconstruct::body::skin_grid::SkinGrid;

/// Marks a node outside the skin.
pub const OUTSIDE: u32 = u32::MAX;
/// Marks a node that is not near a crack.
pub const FAR: u32 = u32::MAX - 1;

/// Nodes within this distance of the midpoint of an open bond are evaluated first, cells: some of them lie on
/// each side of the crack.
const BAND_WIDTH: f64 = 1.25;
/// An element that is farther from a node than the nearest element by more than this does not own it, radii.
const OWNER_SLACK: f64 = 1.0;
/// Greatest height of a blade over the width of a fragment that carries it.
const CARRY: f64 = 1.5;
/// Initial search radius for elements around a node, radii. The holes of a close packing reach √2.
const SEARCH_RADIUS: f64 = 2.4;

/// Owners of all nodes, and the grid edges between different owners.
#[derive(Debug)]
pub struct NodeOwners {
    /// Owner of each node: an element, [`OUTSIDE`] or [`FAR`].
    pub owner: Vec<u32>,
    /// Nodes that are owned by elements, ascending.
    nodes: Vec<u32>,
    /// Edges whose ends, both inside the skin, lie on different sides of a crack: three times the lower node
    /// plus the axis, ascending.
    pub cut_edges: Vec<u64>,
}

impl NodeOwners {
    /// Finds the owners of the nodes near the cracks.
    pub fn new(skin_grid: &SkinGrid, cracks: &Cracks) -> Self {
        let search = OwnerSearch { skin_grid, cracks };
        let (owner, nodes) = search.near_open_bonds();
        let mut owners = NodeOwners {
            owner,
            nodes: Vec::new(),
            cut_edges: Vec::new(),
        };
        owners.add_nodes(search, nodes);
        owners
    }

    /// Also finds the owners of all nodes of `cells`. Returns whether any of them was new.
    pub fn extend(&mut self, skin_grid: &SkinGrid, cracks: &Cracks, cells: &[u32]) -> bool {
        let search = OwnerSearch { skin_grid, cracks };
        let mut fresh: Vec<u32> = cells
            .iter()
            .flat_map(|&cell| skin_grid.corner_nodes(cell as usize))
            .filter(|&node| self.owner[node] == FAR)
            .map(|node| node as u32)
            .collect();
        fresh.sort_unstable();
        fresh.dedup();
        if fresh.is_empty() {
            return false;
        }
        search.evaluate(&mut self.owner, &fresh);
        self.add_nodes(search, fresh);
        true
    }

    /// Follows cracks from `fresh`, nodes that have just got their owners, in ascending order.
    fn add_nodes(&mut self, search: OwnerSearch, fresh: Vec<u32>) {
        let followed = search.follow_cracks(&mut self.owner, fresh);
        self.nodes.extend(followed);
        self.nodes.par_sort_unstable();
        search.drop_islands(&mut self.owner, &self.nodes);
        self.cut_edges = search.cut_edges(&self.owner, &self.nodes);
    }
}

/// Finds the elements that may own the point `x`, as (squared distance, element), nearest first. Returns
/// false if all are farther away than [`SEARCH_RADIUS`]; then the nearest of them are found.
fn find_candidates(body: &RestBody, x: DVec3, found: &mut Vec<(f64, u32)>) -> bool {
    let r = body.radius;
    let mut reach = SEARCH_RADIUS * r;
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
        let wanted = least.sqrt() + OWNER_SLACK * r;
        if wanted <= reach {
            found.retain(|&(squared, _)| squared <= wanted * wanted);
            break;
        }
        if found.is_empty() {
            *found = body.nearest(x, |_| true, MAX_CANDIDATES);
            return false;
        }
        reach = wanted;
    }
    found.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    true
}

/// Element that owns the point `x`: the nearest element of the side with the smallest field there. `found` is
/// a scratch buffer.
pub fn owner_at(cracks: &Cracks, x: DVec3, found: &mut Vec<(f64, u32)>) -> u32 {
    let body = cracks.body;
    let is_near = find_candidates(body, x, found);
    let foot = body.keep_own_side(x, found);
    if let Some(foot) = foot {
        let height = x.distance(foot);
        let width = |count: u32| 2.0 * body.radius * f64::from(count).cbrt();
        let is_wide = |element: u32| CARRY * width(cracks.fragment_size(element)) >= height;
        body.find_wide(foot, is_wide, found);
        let wanted = found[0].0.sqrt() + OWNER_SLACK * body.radius;
        found.retain(|&(squared, _)| squared <= wanted * wanted);
    } else if !is_near {
        return found[0].1;
    }
    let x = foot.unwrap_or(x);
    // The nearest element of every side.
    let mut sides = [found[0].1; 8];
    let mut count = 1;
    for &(_, element) in &found[1..] {
        let known = &sides[..count];
        if count < sides.len() && known.iter().all(|&side| cracks.separates(side, element)) {
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
struct OwnerSearch<'a> {
    skin_grid: &'a SkinGrid,
    cracks: &'a Cracks<'a>,
}

impl OwnerSearch<'_> {
    /// Owners of all nodes: those near open bonds are evaluated, all others are [`FAR`] or [`OUTSIDE`]. Also
    /// returns the evaluated nodes, ascending.
    fn near_open_bonds(self) -> (Vec<u32>, Vec<u32>) {
        let (grid, inside) = (&self.skin_grid.grid, &self.skin_grid.occupancy.inside);
        let reach = BAND_WIDTH * grid.spacing;
        let mut of_layer: Vec<Vec<DVec3>> = vec![Vec::new(); grid.nodes[2]];
        for &bond in &self.cracks.open {
            let p = self.cracks.midpoint(bond);
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

    /// Evaluates the nodes of all cells around cut edges until none of them is [`FAR`]. Returns all evaluated
    /// nodes.
    fn follow_cracks(self, owner: &mut [u32], mut nodes: Vec<u32>) -> Vec<u32> {
        let grid = &self.skin_grid.grid;
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
            self.evaluate(owner, &next);
            nodes.extend(&next);
            fresh = next;
        }
        nodes
    }

    fn is_cut(self, owners: [u32; 2]) -> bool {
        let [a, b] = owners;
        a < FAR && b < FAR && self.cracks.separates(a, b)
    }

    /// Finds the owners of `nodes`.
    fn evaluate(self, owner: &mut [u32], nodes: &[u32]) {
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
        let grid = &self.skin_grid.grid;
        owner_at(self.cracks, grid.position(grid.coords(node)), found)
    }

    /// The cut edges between `nodes`, ascending.
    fn cut_edges(self, owner: &[u32], nodes: &[u32]) -> Vec<u64> {
        let strides = self.skin_grid.grid.strides();
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

    /// Assigns nodes that cracks cut off from every element to the side next to them: beyond the outermost
    /// elements the extrapolated fields can turn over.
    fn drop_islands(self, owner: &mut [u32], nodes: &[u32]) {
        let (grid, body) = (&self.skin_grid.grid, self.cracks.body);
        let strides = grid.strides();
        let around = |node: usize| strides.into_iter().flat_map(move |s| [node + s, node - s]);
        // A node is attached if it is close to its element, if no crack is near, or if it is connected to an
        // attached node.
        let mut attached = vec![false; owner.len()];
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
            attached[node as usize] = true;
        }
        for &node in &loose {
            attached[node as usize] = false;
        }
        loop {
            let joined: Vec<bool> = loose
                .par_iter()
                .with_min_len(256)
                .map(|&node| {
                    around(node as usize).any(|other| {
                        attached[other] && !self.is_cut([owner[node as usize], owner[other]])
                    })
                })
                .collect();
            let before = loose.len();
            for (&node, &joined) in loose.iter().zip(&joined) {
                attached[node as usize] = joined;
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
                        .filter(|&other| attached[other])
                        .map(|other| owner[other]);
                    let squared = |e: u32| x.distance_squared(body.positions[e as usize]);
                    let best = owners
                        .min_by(|&a, &b| squared(a).total_cmp(&squared(b)).then(a.cmp(&b)))?;
                    Some((node, best))
                })
                .collect();
            if taken.is_empty() {
                break; // a part of the inside without any element
            }
            for &(node, element) in &taken {
                owner[node as usize] = element;
                attached[node as usize] = true;
            }
            loose.retain(|&node| !attached[node as usize]);
        }
    }
}
