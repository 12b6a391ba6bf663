//! Parts fragments whose surfaces hang together by a neck of the skin that is thinner than a cell of the grid.
//!
//! A crack is drawn where edges of the grid, or chains of the skin on faces between cells, join points of two
//! sides. In a thin neck it may lie within one cell and cross neither; then two fragments have one surface.
//! Such a surface is cut along edges of its triangles where the owner of the skin changes.

use std::collections::BTreeSet;

use glam::DVec3;

use crate::math::hash::QuickMap;
use crate::math::union_find::UnionFind;
use crate::parallel::prelude::*;
use crate::reconstruct::cracks::field::Cracks;
use crate::reconstruct::cracks::owners::owner_at;
use crate::reconstruct::faces::divide::{NONE, Sheet};
use crate::reconstruct::faces::surface::Surface;
use crate::reconstruct::surface::hold::Hold;

/// Volume over area, radii, up to which triangles of one fragment amid those of others enclose nothing of it:
/// cracks that pass through each other leave such slivers.
const THIN: f64 = 0.05;

/// Cuts every connected surface that has sides of several fragments. Where all but one of them are slivers,
/// it is that one's.
pub fn part(surface: &mut Surface, cracks: &Cracks) {
    let fragments = fragments_of_parts(surface, cracks);
    if fragments.is_empty() {
        return;
    }
    let is_shared = |part: u32| fragments.contains_key(&part);
    let Some(sheet) = Sheet::new(surface, is_shared) else {
        return;
    };
    let shared = Shared {
        surface,
        cracks,
        sheet: &sheet,
    };
    let Some(label) = shared.labels(&fragments) else {
        return;
    };
    let middles = sheet.cut(surface, &label);
    let labelled = sheet.triangles.iter().zip(&label);
    for (&triangle, &label) in labelled.filter(|(_, label)| **label != NONE) {
        for vertex in surface.triangles[triangle as usize] {
            let hold = &mut surface.holds[vertex as usize];
            *hold = within(*hold, cracks, label);
        }
    }
    // What is closed is on a side of its fragment, as other crack faces are.
    for (middle, label) in middles {
        let own = |element: u32| cracks.piece_of[element as usize] == label;
        let x = surface.positions[middle as usize];
        let element = cracks.body.nearest(x, own, 1)[0].1;
        surface.holds[middle as usize] = Hold::of(&[element]);
    }
    surface.find_parts();
}

/// The fragments of the sides of each connected surface that has several. The first is the one that it would
/// go to as it is.
fn fragments_of_parts(surface: &Surface, cracks: &Cracks) -> QuickMap<u32, Vec<u32>> {
    let mut first: QuickMap<u32, u32> = QuickMap::default();
    let mut several: QuickMap<u32, Vec<u32>> = QuickMap::default();
    for (&part, hold) in surface.part.iter().zip(&surface.holds) {
        let Hold::Side(elements) = hold else {
            continue;
        };
        let fragment = cracks.piece_of[elements[0] as usize];
        let known = *first.entry(part).or_insert(fragment);
        if known != fragment {
            let fragments = several.entry(part).or_insert_with(|| vec![known]);
            if !fragments.contains(&fragment) {
                fragments.push(fragment);
            }
        }
    }
    several
}

/// The fragment of the elements of a side; nothing if they are of several.
fn side_of(hold: &Hold, cracks: &Cracks) -> Option<u32> {
    let Hold::Side(elements) = hold else {
        return None;
    };
    let of = |element: u32| cracks.piece_of[element as usize];
    let first = of(elements[0]);
    let mut all = elements.iter();
    all.all(|&element| of(element) == first).then_some(first)
}

/// What of a hold is on a fragment.
fn within(hold: Hold, cracks: &Cracks, fragment: u32) -> Hold {
    let Hold::Side(elements) = hold else {
        return hold;
    };
    let mut own = elements.to_vec();
    own.dedup();
    own.retain(|&element| cracks.piece_of[element as usize] == fragment);
    Hold::of(&own)
}

/// Surfaces that several fragments have in common.
struct Shared<'a> {
    surface: &'a Surface,
    cracks: &'a Cracks<'a>,
    sheet: &'a Sheet,
}

/// What is known of a triangle: the fragment that it belongs to, or [`NONE`], and whether a side tells so.
type Found = (u32, bool);

/// Triangles of one fragment that hang together by edges.
#[derive(Clone, Copy, Default)]
struct Island {
    /// Whether there is a side of the fragment.
    has_side: bool,
    /// Points of its rim: their sum and number.
    rim: (DVec3, f64),
    area: f64,
    /// What it encloses with a fan about the middle of its rim.
    volume: f64,
}

impl Shared<'_> {
    /// The fragment of each triangle, [`NONE`] on surfaces that may stay as they are; nothing if all of them may.
    fn labels(&self, fragments: &QuickMap<u32, Vec<u32>>) -> Option<Vec<u32>> {
        let triangles = self.sheet.triangles.par_iter().with_min_len(256);
        let found = triangles.map_init(Vec::new, |near, &triangle| {
            let part = self.surface.part[self.surface.triangles[triangle as usize][0] as usize];
            self.find(triangle, &fragments[&part], near)
        });
        let mut label = self.settle(found.collect());
        let part = |place: usize| self.surface.part[self.corners(place)[0] as usize];
        let at_cut = (0..label.len()).filter(|&place| {
            let mut beside = self.sheet.beside[place].iter();
            beside.any(|&other| label[other as usize] != label[place])
        });
        let divided: BTreeSet<u32> = at_cut.map(part).collect();
        for (place, label) in label.iter_mut().enumerate() {
            let part = part(place);
            if !divided.contains(&part) && *label == fragments[&part][0] {
                *label = NONE;
            }
        }
        label.iter().any(|&label| label != NONE).then_some(label)
    }

    fn corners(&self, place: usize) -> [u32; 3] {
        self.sheet.corners(self.surface, place)
    }

    /// Which of these fragments a triangle belongs to: that of its corners if all of them that are on a side
    /// agree, and on the skin else that of the element that owns its middle. `near` is memory for the search.
    fn find(&self, triangle: u32, fragments: &[u32], near: &mut Vec<(f64, u32)>) -> Found {
        let corners = self.surface.triangles[triangle as usize];
        let holds = corners.map(|v| self.surface.holds[v as usize]);
        let mut sides = holds.iter().filter_map(|hold| side_of(hold, self.cracks));
        if let Some(first) = sides.next()
            && sides.all(|other| other == first)
        {
            return (first, true);
        }
        // A crack has both its faces at one place, which tells nothing of their owners.
        if self.surface.inside[triangle as usize] == 1 {
            return (NONE, false);
        }
        let points = corners.map(|v| self.surface.positions[v as usize]);
        let owner = owner_at(self.cracks, points.iter().sum::<DVec3>() / 3.0, near);
        let fragment = self.cracks.piece_of[owner as usize];
        let is_known = fragments.contains(&fragment);
        (if is_known { fragment } else { NONE }, false)
    }

    /// The fragment of each triangle. Those of islands that have no side of their fragment, or enclose next
    /// to nothing, and those that are of none, go to what is around them.
    fn settle(&self, found: Vec<Found>) -> Vec<u32> {
        let (mut label, on_side): (Vec<u32>, Vec<bool>) = found.into_iter().unzip();
        let thin = THIN * self.cracks.body.radius;
        let (island_of, islands) = self.islands(&label, &on_side);
        let mut reached: Vec<u32> = Vec::with_capacity(label.len());
        for (place, label) in label.iter_mut().enumerate() {
            let island = &islands[island_of[place] as usize];
            if island.has_side && island.volume.abs() > thin * island.area {
                reached.push(place as u32);
            } else {
                *label = NONE;
            }
        }
        let mut at = 0;
        while let Some(&place) = reached.get(at) {
            at += 1;
            for &other in &self.sheet.beside[place as usize] {
                if label[other as usize] == NONE {
                    label[other as usize] = label[place as usize];
                    reached.push(other);
                }
            }
        }
        label
    }

    /// The number of the island of each triangle, and the islands by number.
    fn islands(&self, label: &[u32], on_side: &[bool]) -> (Vec<u32>, Vec<Island>) {
        let beside = &self.sheet.beside;
        let mut joined = UnionFind::new(label.len());
        for (place, beside) in (0..).zip(beside) {
            for &other in beside {
                if label[other as usize] == label[place as usize] {
                    joined.join(place, other);
                }
            }
        }
        let island_of = joined.roots();
        let points = |place: usize| {
            self.corners(place)
                .map(|v| self.surface.positions[v as usize])
        };
        let mut islands = vec![Island::default(); label.len()];
        for place in 0..label.len() {
            let island = &mut islands[island_of[place] as usize];
            island.has_side |= on_side[place];
            for (from, &other) in points(place).iter().zip(&beside[place]) {
                if label[other as usize] != label[place] {
                    island.rim.0 += from;
                    island.rim.1 += 1.0;
                }
            }
        }
        for place in 0..label.len() {
            let island = &mut islands[island_of[place] as usize];
            // Triangles of the fan have no part in the volume about its middle.
            let middle = island.rim.0 / island.rim.1.max(1.0);
            let [a, b, c] = points(place).map(|p| p - middle);
            let normal = (b - a).cross(c - a);
            island.area += normal.length() / 2.0;
            island.volume += a.dot(normal) / 6.0;
        }
        (island_of, islands)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::geometry::check::require_solid;
    use crate::geometry::{TriMesh, icosphere};
    use crate::reconstruct::body::bins::ElementBins;
    use crate::reconstruct::body::rest::{Body, RestBond};

    /// Two elements on the x axis.
    fn body() -> Body {
        let positions = vec![DVec3::NEG_X, DVec3::X];
        let bond = RestBond {
            i: 0,
            j: 1,
            half: DVec3::X,
            row: 0,
        };
        Body {
            index: 0,
            rows: vec![0, 1],
            bins: ElementBins::new(&positions, 2.0),
            positions,
            radius: 1.0,
            bonds: vec![bond],
            anchors: Vec::new(),
            solid: None,
            world: None,
            cells: None,
        }
    }

    /// A ball drawn out along x, with a neck at its middle. What is farther out than `end` is on the side of
    /// the element there.
    fn dumbbell(end: f64) -> Surface {
        let mesh = icosphere(4);
        let narrow = |p: DVec3| DVec3::new(2.0, 0.1 + p.x.abs(), 0.1 + p.x.abs());
        let positions: Vec<DVec3> = mesh.positions.iter().map(|&p| p * narrow(p)).collect();
        let hold = |p: &DVec3| match p.x {
            x if x.abs() < end => Hold::Near,
            x => Hold::of(&[u32::from(x > 0.0)]),
        };
        let mut surface = Surface {
            holds: positions.iter().map(hold).collect(),
            inside: vec![0; mesh.triangles.len()],
            sources: (0..mesh.triangles.len() as u32).collect(),
            triangles: mesh.triangles,
            positions,
            part: Vec::new(),
        };
        surface.find_parts();
        surface
    }

    fn mesh_of(surface: &Surface, triangles: impl Fn(&&[u32; 3]) -> bool) -> TriMesh {
        let mut number: QuickMap<u32, u32> = QuickMap::default();
        let mut mesh = TriMesh::default();
        for triangle in surface.triangles.iter().filter(triangles) {
            mesh.triangles.push(triangle.map(|v| {
                *number.entry(v).or_insert_with(|| {
                    mesh.positions.push(surface.positions[v as usize]);
                    mesh.positions.len() as u32 - 1
                })
            }));
        }
        mesh
    }

    #[test]
    fn a_surface_with_sides_of_two_fragments_comes_apart_at_its_neck() {
        let body = body();
        let cracks = Cracks::new(&body, &[0, 1], &[true]);
        let mut surface = dumbbell(1.5);
        let whole = mesh_of(&surface, |_| true).volume();
        let before = surface.triangles.len();
        part(&mut surface, &cracks);
        let parts: BTreeSet<u32> = surface.part.iter().copied().collect();
        assert_eq!(parts.len(), 2);
        let (mut sum, mut elements) = (0.0, Vec::new());
        for &part in &parts {
            let mut half = mesh_of(&surface, |t| surface.part[t[0] as usize] == part);
            let volume = half.volume();
            assert!((volume / whole - 0.5).abs() < 0.01, "{volume} of {whole}");
            require_solid(&mut half).unwrap();
            assert_eq!(half.volume(), volume, "turned inside out");
            sum += volume;
            let holds = surface.part.iter().zip(&surface.holds);
            let own = holds.filter(|(other, _)| **other == part);
            let sides: BTreeSet<u32> = own.filter_map(|(_, hold)| side_of(hold, &cracks)).collect();
            assert_eq!(sides.len(), 1);
            let element = sides.first().copied().unwrap();
            let outward = if element == 1 { 1.0 } else { -1.0 };
            assert!(half.positions.iter().all(|p| p.x * outward > -0.3));
            elements.push(element);
        }
        assert!((sum / whole - 1.0).abs() < 1e-12);
        elements.sort_unstable();
        assert_eq!(elements, [0, 1]);
        for t in before..surface.triangles.len() {
            assert_eq!((surface.inside[t], surface.sources[t]), (1, u32::MAX));
            let far = surface.triangles[t].map(|v| surface.positions[v as usize].x.abs());
            assert!(far.iter().all(|&x| x < 0.3), "{far:?}");
        }
    }

    /// A dumbbell whose ends are on the side of element 0, with a speck about `place` that is on that of element 1.
    fn with_speck(place: DVec3) -> Surface {
        let mut surface = dumbbell(1.0);
        for (p, hold) in surface.positions.iter().zip(&mut surface.holds) {
            if p.distance(place) < 0.2 {
                *hold = Hold::of(&[1]);
            } else if p.x > 0.0 {
                *hold = Hold::of(&[0]);
            }
        }
        surface
    }

    #[test]
    fn a_surface_without_a_neck_stays_as_it_is() {
        let body = body();
        let mut mixed = dumbbell(1.0);
        for (p, hold) in mixed.positions.iter().zip(&mut mixed.holds) {
            if p.x > 0.0 {
                *hold = Hold::of(&[0, 1]);
            }
        }
        let speck = with_speck(DVec3::new(-1.0, 0.0, 0.52));
        let cracks = |piece_of| Cracks::new(&body, piece_of, &[true]);
        for (cracks, mut surface) in [
            (cracks(&[0, 0]), dumbbell(1.0)),
            (cracks(&[0, 1]), mixed),
            (cracks(&[0, 1]), speck),
        ] {
            let before = (surface.positions.clone(), surface.triangles.clone());
            let holds = format!("{:?}", surface.holds);
            part(&mut surface, &cracks);
            assert_eq!((surface.positions, surface.triangles), before);
            assert_eq!(format!("{:?}", surface.holds), holds);
        }
    }

    #[test]
    fn a_surface_does_not_go_to_the_fragment_of_a_speck() {
        let body = body();
        let cracks = Cracks::new(&body, &[0, 1], &[true]);
        let first = dumbbell(1.0).positions[0];
        let mut surface = with_speck(first);
        assert_eq!(side_of(&surface.holds[0], &cracks), Some(1));
        let before = surface.triangles.clone();
        part(&mut surface, &cracks);
        assert_eq!(surface.triangles, before);
        let mut sides = surface
            .holds
            .iter()
            .filter_map(|hold| side_of(hold, &cracks));
        assert!(sides.all(|fragment| fragment == 0));
    }
}
