//! Removes slivers from a cut by collapsing short edges and flipping bad diagonals. Sheet and body surface
//! stay connected.
//!
//! No vertex of the body moves, and no point on the line of intersection leaves its triangles of the body, so
//! that the body keeps its shape. The sheet changes in the same way for both pieces.

use std::collections::BTreeSet;

use glam::DVec3;

use super::facet::{Facet, FacetOrigin};

/// Ratio of shortest to longest edge of a triangle below which the shortest edge is collapsed.
const SHORT_EDGE_RATIO: f64 = 0.15;
/// Minimum cosine of the angle by which a triangle may turn.
const MIN_TURN_COSINE: f64 = 0.5;
/// Minimum cosine of the angle between two triangles whose diagonal is flipped.
const MIN_FLIP_COSINE: f64 = 0.95;
/// Roundness that is sufficient after a collapse.
const GOOD_ROUNDNESS: f64 = 0.1;
/// Factor by which a flip must improve the roundness.
const MIN_IMPROVEMENT: f64 = 1.2;
/// Maximum number of passes over all edges.
const MAX_PASSES: u32 = 8;

/// Triangles, and for each vertex the triangles about it.
struct TriangleComplex<'a> {
    facets: Vec<Option<Facet>>,
    about: Vec<BTreeSet<u32>>,
    places: &'a [DVec3],
}

/// Returns the same surfaces with better shaped triangles.
pub fn remove_slivers(facets: Vec<Facet>, places: &[DVec3]) -> Vec<Facet> {
    let mut about = vec![BTreeSet::new(); places.len()];
    for (k, facet) in (0..).zip(&facets) {
        for v in facet.corners {
            about[v as usize].insert(k);
        }
    }
    let mut complex = TriangleComplex {
        facets: facets.into_iter().map(Some).collect(),
        about,
        places,
    };
    for _ in 0..MAX_PASSES {
        let changed = complex.collapse_all() | complex.flip_all();
        if !changed {
            break;
        }
    }
    complex.facets.into_iter().flatten().collect()
}

impl TriangleComplex<'_> {
    fn place(&self, v: u32) -> DVec3 {
        self.places[v as usize]
    }

    fn area(&self, corners: [u32; 3]) -> DVec3 {
        let [a, b, c] = corners.map(|v| self.place(v));
        (b - a).cross(c - a)
    }

    /// Shape of a triangle: twice the area over the squared longest edge.
    fn roundness(&self, corners: [u32; 3]) -> f64 {
        let [a, b, c] = corners.map(|v| self.place(v));
        let longest = [a - b, b - c, c - a].map(DVec3::length_squared);
        self.area(corners).length() / longest.into_iter().fold(f64::MIN_POSITIVE, f64::max)
    }

    fn around(&self, v: u32) -> impl Iterator<Item = Facet> + '_ {
        let about = self.about[v as usize].iter();
        about.filter_map(|k| self.facets[*k as usize])
    }

    /// Triangles of the body that a vertex lies on.
    fn owners(&self, v: u32) -> BTreeSet<u32> {
        let own = |facet: Facet| match facet.origin {
            FacetOrigin::Body(t) => Some(t),
            FacetOrigin::Sheet(_) => None,
        };
        self.around(v).filter_map(own).collect()
    }

    /// Whether a triangle belongs to the sheet and has all corners on the body's surface, so that it could
    /// lie in that surface or cross it.
    fn lies_on_body(&self, origin: FacetOrigin, corners: [u32; 3]) -> bool {
        matches!(origin, FacetOrigin::Sheet(_))
            && corners.iter().all(|v| !self.owners(*v).is_empty())
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
                length(*edge) < SHORT_EDGE_RATIO * longest
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

    /// Moves `from` onto its neighbour `to` if that keeps the surfaces.
    fn collapse(&mut self, from: u32, to: u32) -> bool {
        let (near, far) = (self.neighbours(from), self.neighbours(to));
        if !near.contains(&to) || !self.owners(from).is_subset(&self.owners(to)) {
            return false;
        }
        // A vertex on the line of intersection has triangles of both body and sheet; one with body triangles
        // only stays.
        if self
            .around(from)
            .all(|f| matches!(f.origin, FacetOrigin::Body(_)))
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
        let enough = before.fold(GOOD_ROUNDNESS, f64::min);
        for facet in self.around(from) {
            if facet.corners.contains(&to) {
                continue;
            }
            let moved = facet.corners.map(|v| if v == from { to } else { v });
            let (old, new) = (self.area(facet.corners), self.area(moved));
            let turned = old.dot(new) < MIN_TURN_COSINE * old.length() * new.length();
            let lies_on_body = self.lies_on_body(facet.origin, moved)
                && !self.lies_on_body(facet.origin, facet.corners);
            if turned || lies_on_body || self.roundness(moved) <= enough {
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

    /// Flips the common edge of two triangles of the sheet, or of two parts of one triangle of the body.
    fn flip(&mut self, [a, b]: [u32; 2]) -> bool {
        let both = self.about[a as usize].intersection(&self.about[b as usize]);
        let both: Vec<u32> = both.copied().collect();
        let [k, l] = both[..] else { return false };
        let (Some(first), Some(second)) = (self.facets[k as usize], self.facets[l as usize]) else {
            return false;
        };
        let alike = match (first.origin, second.origin) {
            (FacetOrigin::Body(s), FacetOrigin::Body(t)) => s == t,
            (FacetOrigin::Sheet(_), FacetOrigin::Sheet(_)) => true,
            _ => false,
        };
        let apex = |facet: Facet| facet.corners.into_iter().find(|v| *v != a && *v != b);
        let (Some(c), Some(d)) = (apex(first), apex(second)) else {
            return false;
        };
        let (m, n) = (self.area(first.corners), self.area(second.corners));
        let whole = m + n;
        if !alike || c == d || m.dot(n) < MIN_FLIP_COSINE * m.length() * n.length() {
            return false;
        }
        if !self.about[c as usize].is_disjoint(&self.about[d as usize]) {
            return false;
        }
        // The first triangle keeps the corner after c, the second the one before c.
        let at = first.corners.iter().position(|v| *v == c).unwrap_or(0);
        let (p, q) = (first.corners[(at + 1) % 3], first.corners[(at + 2) % 3]);
        let new = [[c, p, d], [c, d, q]];
        let quality = |[x, y]: [[u32; 3]; 2]| self.roundness(x).min(self.roundness(y));
        let good = new.iter().all(|corners| {
            self.area(*corners).dot(whole) > 0.0 && !self.lies_on_body(first.origin, *corners)
        });
        if !good || quality(new) <= MIN_IMPROVEMENT * quality([first.corners, second.corners]) {
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
