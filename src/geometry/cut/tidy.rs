//! Takes slivers out of a cut: short edges are collapsed and bad diagonals flipped, with the sheet and the
//! body's surface still joined.
//!
//! No vertex of the body moves and no point of the line of intersection leaves its triangles, so that the
//! body keeps its shape; the sheet changes for both pieces.

use std::collections::BTreeSet;

use glam::DVec3;

use super::facet::{Facet, Origin};

/// Shortest edge of a triangle over its longest, below which it is collapsed.
const SHORT: f64 = 0.15;
/// Cosine of the angle by which a triangle may turn, at least; of that between triangles whose diagonal is flipped.
const TURN: f64 = 0.5;
const FLAT: f64 = 0.95;
/// Roundness that is good enough after a collapse, and factor by which a flip must better it.
const ROUND: f64 = 0.1;
const BETTER: f64 = 1.2;
/// Passes over all edges, at most.
const PASSES: u32 = 8;

/// Triangles and the ones about each vertex.
struct Complex<'a> {
    facets: Vec<Option<Facet>>,
    about: Vec<BTreeSet<u32>>,
    places: &'a [DVec3],
}

/// Better triangles of the same surfaces.
pub fn tidy(facets: Vec<Facet>, places: &[DVec3]) -> Vec<Facet> {
    let mut about = vec![BTreeSet::new(); places.len()];
    for (k, facet) in (0..).zip(&facets) {
        for v in facet.corners {
            about[v as usize].insert(k);
        }
    }
    let mut complex = Complex {
        facets: facets.into_iter().map(Some).collect(),
        about,
        places,
    };
    for _ in 0..PASSES {
        let changed = complex.collapse_all() | complex.flip_all();
        if !changed {
            break;
        }
    }
    complex.facets.into_iter().flatten().collect()
}

impl Complex<'_> {
    fn place(&self, v: u32) -> DVec3 {
        self.places[v as usize]
    }

    fn area(&self, corners: [u32; 3]) -> DVec3 {
        let [a, b, c] = corners.map(|v| self.place(v));
        (b - a).cross(c - a)
    }

    /// Twice the area over the square of the longest edge.
    fn roundness(&self, corners: [u32; 3]) -> f64 {
        let [a, b, c] = corners.map(|v| self.place(v));
        let longest = [a - b, b - c, c - a].map(DVec3::length_squared);
        self.area(corners).length() / longest.into_iter().fold(f64::MIN_POSITIVE, f64::max)
    }

    fn around(&self, v: u32) -> impl Iterator<Item = Facet> + '_ {
        let about = self.about[v as usize].iter();
        about.filter_map(|k| self.facets[*k as usize])
    }

    /// Triangles of the body that a vertex lies in.
    fn owners(&self, v: u32) -> BTreeSet<u32> {
        let own = |facet: Facet| match facet.origin {
            Origin::Body(t) => Some(t),
            Origin::Sheet(_) => None,
        };
        self.around(v).filter_map(own).collect()
    }

    /// Whether a triangle would be one of the sheet with all corners on the body's surface, where it may lie
    /// in that or cross it.
    fn hugs(&self, origin: Origin, corners: [u32; 3]) -> bool {
        matches!(origin, Origin::Sheet(_)) && corners.iter().all(|v| !self.owners(*v).is_empty())
    }

    fn neighbours(&self, v: u32) -> BTreeSet<u32> {
        let corners = self.around(v).flat_map(|facet| facet.corners);
        corners.filter(|w| *w != v).collect()
    }

    fn edges(&self) -> Vec<[u32; 2]> {
        let mut edges: Vec<[u32; 2]> = self
            .facets
            .iter()
            .flatten()
            .flat_map(|facet| {
                let [a, b, c] = facet.corners;
                [[a, b], [b, c], [c, a]].map(|[a, b]| [a.min(b), a.max(b)])
            })
            .collect();
        edges.sort_unstable();
        edges.dedup();
        edges
    }

    fn collapse_all(&mut self) -> bool {
        let length = |[a, b]: [u32; 2]| self.place(a).distance(self.place(b));
        let mut short: Vec<(f64, [u32; 2])> = self
            .edges()
            .into_iter()
            .filter(|edge| {
                let of = |facet: Facet| facet.corners.contains(&edge[1]).then_some(facet.corners);
                let around = self.around(edge[0]).filter_map(of);
                let longest = around
                    .flat_map(|[a, b, c]| [[a, b], [b, c], [c, a]])
                    .map(length)
                    .fold(0.0, f64::max);
                length(*edge) < SHORT * longest
            })
            .map(|edge| (length(edge), edge))
            .collect();
        short.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let mut changed = false;
        for (_, [a, b]) in short {
            changed |= self.collapse(a, b) || self.collapse(b, a);
        }
        changed
    }

    /// Moves `from` onto its neighbour `to`, if that keeps the surfaces.
    fn collapse(&mut self, from: u32, to: u32) -> bool {
        let (near, far) = (self.neighbours(from), self.neighbours(to));
        if !near.contains(&to) || !self.owners(from).is_subset(&self.owners(to)) {
            return false;
        }
        // A vertex on the line of intersection has both kinds about it; one of the body alone stays.
        if self
            .around(from)
            .all(|f| matches!(f.origin, Origin::Body(_)))
        {
            return false;
        }
        let wings: BTreeSet<u32> = self
            .around(from)
            .filter(|facet| facet.corners.contains(&to))
            .flat_map(|facet| facet.corners)
            .filter(|v| *v != from && *v != to)
            .collect();
        let common: BTreeSet<u32> = near.intersection(&far).copied().collect();
        if common != wings {
            return false;
        }
        let before = self.around(from).map(|facet| self.roundness(facet.corners));
        let enough = before.fold(ROUND, f64::min);
        for facet in self.around(from) {
            if facet.corners.contains(&to) {
                continue;
            }
            let moved = facet.corners.map(|v| if v == from { to } else { v });
            let (old, new) = (self.area(facet.corners), self.area(moved));
            let turned = old.dot(new) < TURN * old.length() * new.length();
            let hugs = self.hugs(facet.origin, moved) && !self.hugs(facet.origin, facet.corners);
            if turned || hugs || self.roundness(moved) <= enough {
                return false;
            }
        }
        for k in std::mem::take(&mut self.about[from as usize]) {
            let Some(facet) = &mut self.facets[k as usize] else {
                continue;
            };
            if facet.corners.contains(&to) {
                for v in facet.corners {
                    self.about[v as usize].remove(&k);
                }
                self.facets[k as usize] = None;
            } else {
                facet.corners = facet.corners.map(|v| if v == from { to } else { v });
                self.about[to as usize].insert(k);
            }
        }
        true
    }

    fn flip_all(&mut self) -> bool {
        let mut changed = false;
        for edge in self.edges() {
            changed |= self.flip(edge);
        }
        changed
    }

    /// Flips the diagonal of two triangles of the sheet or of one triangle of the body.
    fn flip(&mut self, [a, b]: [u32; 2]) -> bool {
        let both = self.about[a as usize].intersection(&self.about[b as usize]);
        let both: Vec<u32> = both.copied().collect();
        let [k, l] = both[..] else { return false };
        let (Some(first), Some(second)) = (self.facets[k as usize], self.facets[l as usize]) else {
            return false;
        };
        let alike = match (first.origin, second.origin) {
            (Origin::Body(s), Origin::Body(t)) => s == t,
            (Origin::Sheet(_), Origin::Sheet(_)) => true,
            _ => false,
        };
        let apex = |facet: Facet| facet.corners.into_iter().find(|v| *v != a && *v != b);
        let (Some(c), Some(d)) = (apex(first), apex(second)) else {
            return false;
        };
        let (m, n) = (self.area(first.corners), self.area(second.corners));
        let whole = m + n;
        if !alike || c == d || m.dot(n) < FLAT * m.length() * n.length() {
            return false;
        }
        if !self.about[c as usize].is_disjoint(&self.about[d as usize]) {
            return false;
        }
        // The first triangle keeps its corner after c, the second the one before.
        let at = first.corners.iter().position(|v| *v == c).unwrap_or(0);
        let (p, q) = (first.corners[(at + 1) % 3], first.corners[(at + 2) % 3]);
        let new = [[c, p, d], [c, d, q]];
        let quality = |[x, y]: [[u32; 3]; 2]| self.roundness(x).min(self.roundness(y));
        let good = new.iter().all(|corners| {
            self.area(*corners).dot(whole) > 0.0 && !self.hugs(first.origin, *corners)
        });
        if !good || quality(new) <= BETTER * quality([first.corners, second.corners]) {
            return false;
        }
        for (k, corners) in [k, l].into_iter().zip(new) {
            if let Some(facet) = &mut self.facets[k as usize] {
                for v in facet.corners {
                    self.about[v as usize].remove(&k);
                }
                facet.corners = corners;
                for v in corners {
                    self.about[v as usize].insert(k);
                }
            }
        }
        true
    }
}
