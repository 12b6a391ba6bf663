//! Cuts closed surfaces along edges between triangles, and closes what gapes then.
//!
//! Rims of the cut that share a vertex have one middle, and each is closed by a fan about it. So the fans of
//! both sides lie on each other, whatever the rims look like, and the volumes of the parts add up to what
//! there was.

use glam::DVec3;

use super::surface::Surface;
use crate::math::hash::QuickMap;
use crate::math::union_find::UnionFind;
use crate::reconstruct::surface::hold::Hold;

/// A triangle that is not to be cut off from anything.
pub const NONE: u32 = u32::MAX;

/// Triangles of closed surfaces and what is beside them.
pub struct Sheet {
    /// Their numbers, ascending. Other lists go by place in this one.
    pub triangles: Vec<u32>,
    /// The places of the triangles beyond the edges of each, from each corner to the next.
    pub beside: Vec<[u32; 3]>,
}

impl Sheet {
    /// The triangles of the connected surfaces that are wanted; nothing if an edge has not one triangle on either side.
    pub fn new(surface: &Surface, is_wanted: impl Fn(u32) -> bool) -> Option<Self> {
        let all = (0_u32..).zip(&surface.triangles);
        let wanted = all.filter(|(_, corners)| is_wanted(surface.part[corners[0] as usize]));
        let triangles: Vec<u32> = wanted.map(|(triangle, _)| triangle).collect();
        let edges = |triangle: u32| {
            let [a, b, c] = surface.triangles[triangle as usize];
            [(a, b), (b, c), (c, a)]
        };
        let mut at_edge: QuickMap<(u32, u32), u32> = QuickMap::default();
        for (place, &triangle) in (0..).zip(&triangles) {
            for edge in edges(triangle) {
                if at_edge.insert(edge, place).is_some() {
                    return None;
                }
            }
        }
        let beyond = |(a, b): (u32, u32)| at_edge.get(&(b, a)).copied();
        let beside = triangles.iter().map(|&triangle| {
            let [a, b, c] = edges(triangle).map(beyond);
            Some([a?, b?, c?])
        });
        Some(Sheet {
            beside: beside.collect::<Option<_>>()?,
            triangles,
        })
    }

    /// The corners of a triangle.
    pub fn corners(&self, surface: &Surface, place: usize) -> [u32; 3] {
        surface.triangles[self.triangles[place] as usize]
    }

    /// Cuts between triangles of different labels and closes both sides. Gives the middles of the fans that
    /// do so, with their labels.
    pub fn cut(&self, surface: &mut Surface, label: &[u32]) -> Vec<(u32, u32)> {
        let origin = self.split(surface, label);
        // The start of each edge of a rim, by its end: a fan runs against the triangles around it.
        let mut before: QuickMap<u32, u32> = QuickMap::default();
        let mut ends = Vec::new();
        let mut rims = UnionFind::new(origin.len());
        for (place, beside) in self.beside.iter().enumerate() {
            let corners = self.corners(surface, place);
            for (m, &other) in beside.iter().enumerate() {
                if label[other as usize] != label[place] {
                    let (from, to) = (corners[m], corners[(m + 1) % 3]);
                    before.insert(to, from);
                    ends.push((to, label[place]));
                    rims.join(origin[from as usize], origin[to as usize]);
                }
            }
        }
        let mut rim_of = |vertex: u32| rims.root(origin[vertex as usize]);
        let mut sums: QuickMap<u32, (DVec3, f64)> = QuickMap::default();
        for &(end, _) in &ends {
            let (sum, count) = sums.entry(rim_of(end)).or_default();
            *sum += surface.positions[end as usize];
            *count += 1.0;
        }
        let mut middles = Vec::new();
        for (end, label) in ends {
            let mut rim = Vec::new();
            let mut at = end;
            while let Some(from) = before.remove(&at) {
                rim.push(at);
                at = from;
            }
            if rim.is_empty() {
                continue; // it is on the rim of an earlier one
            }
            let (sum, count) = sums[&rim_of(end)];
            let middle = surface.positions.len() as u32;
            surface.positions.push(sum / count);
            surface.holds.push(Hold::Near);
            middles.push((middle, label));
            let fan = (0..rim.len()).map(|m| [rim[m], rim[(m + 1) % rim.len()], middle]);
            surface.triangles.extend(fan);
        }
        surface.inside.resize(surface.triangles.len(), 1);
        let count = surface.triangles.len();
        surface.sources.resize(count, u32::MAX);
        middles
    }

    /// Gives triangles of one label about a vertex that hang together by edges a vertex of their own. Returns
    /// for each vertex the one it was.
    fn split(&self, surface: &mut Surface, label: &[u32]) -> Vec<u32> {
        // Corners go by number, three a triangle.
        let mut runs = UnionFind::new(3 * label.len());
        for (place, beside) in (0..).zip(&self.beside) {
            let corners = self.corners(surface, place as usize);
            for (m, &other) in beside.iter().enumerate() {
                if label[other as usize] != label[place as usize] {
                    continue;
                }
                let there = self.corners(surface, other as usize);
                for end in [m, (m + 1) % 3] {
                    let mut same = (0..3).filter(|&n| there[n as usize] == corners[end]);
                    if let Some(n) = same.next() {
                        runs.join(3 * place + end as u32, 3 * other + n);
                    }
                }
            }
        }
        let runs = runs.roots();
        let mut origin: Vec<u32> = (0..surface.positions.len() as u32).collect();
        let mut vertex_of: QuickMap<u32, u32> = QuickMap::default();
        let mut is_taken = vec![false; origin.len()];
        let labelled = (0..label.len()).filter(|&place| label[place] != NONE);
        for (place, m) in labelled.flat_map(|place| [0, 1, 2].map(|m| (place, m))) {
            let triangle = self.triangles[place] as usize;
            let vertex = surface.triangles[triangle][m];
            let own = vertex_of.entry(runs[3 * place + m]).or_insert_with(|| {
                // The first run keeps the vertex there is.
                if !std::mem::replace(&mut is_taken[vertex as usize], true) {
                    return vertex;
                }
                surface.positions.push(surface.positions[vertex as usize]);
                surface.holds.push(surface.holds[vertex as usize]);
                origin.push(vertex);
                origin.len() as u32 - 1
            });
            surface.triangles[triangle][m] = *own;
        }
        origin
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::geometry::icosphere;
    use crate::reconstruct::faces::fans::are_single;

    fn ball() -> Surface {
        let mesh = icosphere(2);
        let mut surface = Surface {
            holds: vec![Hold::Near; mesh.positions.len()],
            inside: vec![0; mesh.triangles.len()],
            sources: (0..mesh.triangles.len() as u32).collect(),
            positions: mesh.positions,
            triangles: mesh.triangles,
            part: Vec::new(),
        };
        surface.find_parts();
        surface
    }

    fn volume(surface: &Surface) -> f64 {
        let of = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|v| surface.positions[v as usize]);
            a.dot(b.cross(c)) / 6.0
        };
        surface.triangles.iter().map(of).sum()
    }

    #[test]
    fn whatever_is_cut_off_is_closed_and_volumes_add_up() {
        let whole = volume(&ball());
        let mut state = 1_u32;
        let mut random = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state >> 16
        };
        // Rims that cross themselves and each other, and triangles all by themselves.
        for labels in [2, 3, 7] {
            let mut surface = ball();
            let sheet = Sheet::new(&surface, |_| true).unwrap();
            let label: Vec<u32> = sheet.beside.iter().map(|_| random() % labels).collect();
            let middles = sheet.cut(&mut surface, &label);
            surface.find_parts();
            assert!(middles.len() > 20, "{} rims", middles.len());
            assert!(are_single(surface.triangles.iter()));
            assert!((volume(&surface) / whole - 1.0).abs() < 1e-12);
            let count = surface.triangles.len();
            assert_eq!(
                (surface.inside.len(), surface.sources.len()),
                (count, count)
            );
            assert_eq!(surface.holds.len(), surface.positions.len());
            let mut label_of = vec![None; surface.positions.len()];
            for (place, &label) in label.iter().enumerate() {
                let part = surface.part[sheet.corners(&surface, place)[0] as usize];
                let known = label_of[part as usize].get_or_insert(label);
                assert_eq!(*known, label);
            }
        }
    }

    #[test]
    fn one_label_or_none_cuts_nothing_and_an_open_surface_has_no_sheet() {
        let mut surface = ball();
        let (positions, triangles) = (surface.positions.clone(), surface.triangles.clone());
        let sheet = Sheet::new(&surface, |_| true).unwrap();
        for label in [5, NONE] {
            let labels = vec![label; triangles.len()];
            assert!(sheet.cut(&mut surface, &labels).is_empty());
            assert_eq!(surface.positions, positions);
            assert_eq!(surface.triangles, triangles);
        }
        surface.triangles.pop();
        assert!(Sheet::new(&surface, |_| true).is_none());
        surface.triangles.push(surface.triangles[0]);
        assert!(Sheet::new(&surface, |_| true).is_none());
    }
}
