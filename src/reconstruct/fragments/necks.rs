//! Separates fragments whose surfaces are connected by a neck of the skin that is thinner than a cell of the
//! grid.
//!
//! A crack is found where grid edges, or chains of the skin on faces between cells, connect points on two
//! sides. In a thin neck it may lie within one cell and cross neither; then two fragments have one common
//! surface. Such a surface is cut along edges of its triangles where the owner of the skin changes.

use std::collections::BTreeSet;

use glam::DVec3;

use crate::math::hash::QuickMap;
use crate::math::union_find::UnionFind;
use crate::parallel::prelude::*;
use crate::reconstruct::cracks::field::Cracks;
use crate::reconstruct::cracks::owners::owner_at;
use crate::reconstruct::faces::divide::{TriangleAdjacency, UNLABELLED};
use crate::reconstruct::faces::surface::BodySurface;
use crate::reconstruct::surface::binding::Binding;

/// Maximum ratio of volume to area, radii, at which triangles of one fragment among those of others count as
/// a sliver: cracks that pass through each other leave such slivers.
const SLIVER_THICKNESS: f64 = 0.05;

/// Cuts every component that has sides of several fragments. If all of them except one are slivers, the whole
/// component belongs to that one.
pub fn cut_necks(surface: &mut BodySurface, cracks: &Cracks) {
    let fragments = shared_components(surface, cracks);
    if fragments.is_empty() {
        return;
    }
    let is_shared = |part: u32| fragments.contains_key(&part);
    let Some(adjacency) = TriangleAdjacency::new(surface, is_shared) else {
        return;
    };
    let shared = SharedComponents {
        surface,
        cracks,
        adjacency: &adjacency,
    };
    let Some(label) = shared.labels(&fragments) else {
        return;
    };
    let middles = adjacency.cut(surface, &label);
    let labelled = adjacency.triangles.iter().zip(&label);
    for (&triangle, &label) in labelled.filter(|(_, label)| **label != UNLABELLED) {
        for vertex in surface.triangles[triangle as usize] {
            let binding = &mut surface.bindings[vertex as usize];
            *binding = restricted_to(*binding, cracks, label);
        }
    }
    // The new faces are bound to an element of their fragment, as other crack faces are.
    for (middle, label) in middles {
        let own = |element: u32| cracks.fragment_of[element as usize] == label;
        let x = surface.positions[middle as usize];
        let element = cracks.body.nearest(x, own, 1)[0].1;
        surface.bindings[middle as usize] = Binding::to(&[element]);
    }
    surface.find_components();
}

/// For each component with sides of several fragments, these fragments. The first is the one to which the
/// component would belong without a cut.
fn shared_components(surface: &BodySurface, cracks: &Cracks) -> QuickMap<u32, Vec<u32>> {
    let mut first: QuickMap<u32, u32> = QuickMap::default();
    let mut several: QuickMap<u32, Vec<u32>> = QuickMap::default();
    for (&part, binding) in surface.component.iter().zip(&surface.bindings) {
        let Binding::Elements(elements) = binding else {
            continue;
        };
        let fragment = cracks.fragment_of[elements[0] as usize];
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

/// Fragment of the elements of a binding; `None` if they are of several fragments.
fn fragment_of_binding(binding: &Binding, cracks: &Cracks) -> Option<u32> {
    let Binding::Elements(elements) = binding else {
        return None;
    };
    let of = |element: u32| cracks.fragment_of[element as usize];
    let first = of(elements[0]);
    let mut all = elements.iter();
    all.all(|&element| of(element) == first).then_some(first)
}

/// The binding restricted to the elements of a fragment.
fn restricted_to(binding: Binding, cracks: &Cracks, fragment: u32) -> Binding {
    let Binding::Elements(elements) = binding else {
        return binding;
    };
    let mut own = elements.to_vec();
    own.dedup();
    own.retain(|&element| cracks.fragment_of[element as usize] == fragment);
    Binding::to(&own)
}

/// Components that several fragments have in common.
struct SharedComponents<'a> {
    surface: &'a BodySurface,
    cracks: &'a Cracks<'a>,
    adjacency: &'a TriangleAdjacency,
}

/// The fragment of a triangle, or [`UNLABELLED`], and whether its corners are bound to elements of that
/// fragment.
type LabelledTriangle = (u32, bool);

/// Triangles of one fragment that are connected by edges.
#[derive(Clone, Copy, Default)]
struct Island {
    /// Whether any corner is bound to elements of the fragment.
    has_side: bool,
    /// Sum and number of the points on its rim.
    rim: (DVec3, f64),
    area: f64,
    /// Volume that it encloses together with a fan around the middle of its rim.
    volume: f64,
}

impl SharedComponents<'_> {
    /// The fragment of each triangle; [`UNLABELLED`] on components that need no change. Returns `None` if no
    /// component needs a change.
    fn labels(&self, fragments: &QuickMap<u32, Vec<u32>>) -> Option<Vec<u32>> {
        let triangles = self.adjacency.triangles.par_iter().with_min_len(256);
        let found = triangles.map_init(Vec::new, |near, &triangle| {
            let part =
                self.surface.component[self.surface.triangles[triangle as usize][0] as usize];
            self.label_triangle(triangle, &fragments[&part], near)
        });
        let mut label = self.merge_islands(found.collect());
        let part = |index: usize| self.surface.component[self.corners(index)[0] as usize];
        let at_cut = (0..label.len()).filter(|&index| {
            let mut neighbours = self.adjacency.neighbours[index].iter();
            neighbours.any(|&other| label[other as usize] != label[index])
        });
        let divided: BTreeSet<u32> = at_cut.map(part).collect();
        for (index, label) in label.iter_mut().enumerate() {
            let part = part(index);
            if !divided.contains(&part) && *label == fragments[&part][0] {
                *label = UNLABELLED;
            }
        }
        label
            .iter()
            .any(|&label| label != UNLABELLED)
            .then_some(label)
    }

    fn corners(&self, index: usize) -> [u32; 3] {
        self.adjacency.corners(self.surface, index)
    }

    /// Which of these fragments a triangle belongs to: the fragment of its bound corners if they agree,
    /// otherwise, on the skin, that of the element that owns its centre. `near` is a scratch buffer for the
    /// search.
    fn label_triangle(
        &self,
        triangle: u32,
        fragments: &[u32],
        near: &mut Vec<(f64, u32)>,
    ) -> LabelledTriangle {
        let corners = self.surface.triangles[triangle as usize];
        let bindings = corners.map(|v| self.surface.bindings[v as usize]);
        let mut sides = bindings
            .iter()
            .filter_map(|binding| fragment_of_binding(binding, self.cracks));
        if let Some(first) = sides.next()
            && sides.all(|other| other == first)
        {
            return (first, true);
        }
        // Both faces of a crack coincide, so the position does not reveal their owners.
        if self.surface.inside[triangle as usize] == 1 {
            return (UNLABELLED, false);
        }
        let points = corners.map(|v| self.surface.positions[v as usize]);
        let owner = owner_at(self.cracks, points.iter().sum::<DVec3>() / 3.0, near);
        let fragment = self.cracks.fragment_of[owner as usize];
        let is_known = fragments.contains(&fragment);
        (if is_known { fragment } else { UNLABELLED }, false)
    }

    /// The fragment of each triangle. Islands without a bound corner, slivers, and triangles without a
    /// fragment take the label of their neighbours.
    fn merge_islands(&self, found: Vec<LabelledTriangle>) -> Vec<u32> {
        let (mut label, on_side): (Vec<u32>, Vec<bool>) = found.into_iter().unzip();
        let thin = SLIVER_THICKNESS * self.cracks.body.radius;
        let (island_of, islands) = self.islands(&label, &on_side);
        let mut reached: Vec<u32> = Vec::with_capacity(label.len());
        for (index, label) in label.iter_mut().enumerate() {
            let island = &islands[island_of[index] as usize];
            if island.has_side && island.volume.abs() > thin * island.area {
                reached.push(index as u32);
            } else {
                *label = UNLABELLED;
            }
        }
        let mut at = 0;
        while let Some(&index) = reached.get(at) {
            at += 1;
            for &other in &self.adjacency.neighbours[index as usize] {
                if label[other as usize] == UNLABELLED {
                    label[other as usize] = label[index as usize];
                    reached.push(other);
                }
            }
        }
        label
    }

    /// Index of the island of each triangle, and the islands by index.
    fn islands(&self, label: &[u32], on_side: &[bool]) -> (Vec<u32>, Vec<Island>) {
        let neighbours = &self.adjacency.neighbours;
        let mut joined = UnionFind::new(label.len());
        for (index, neighbours) in (0..).zip(neighbours) {
            for &other in neighbours {
                if label[other as usize] == label[index as usize] {
                    joined.join(index, other);
                }
            }
        }
        let island_of = joined.roots();
        let points = |index: usize| {
            self.corners(index)
                .map(|v| self.surface.positions[v as usize])
        };
        let mut islands = vec![Island::default(); label.len()];
        for index in 0..label.len() {
            let island = &mut islands[island_of[index] as usize];
            island.has_side |= on_side[index];
            for (from, &other) in points(index).iter().zip(&neighbours[index]) {
                if label[other as usize] != label[index] {
                    island.rim.0 += from;
                    island.rim.1 += 1.0;
                }
            }
        }
        for index in 0..label.len() {
            let island = &mut islands[island_of[index] as usize];
            // Measured from the middle of the rim, triangles of the fan add nothing to the volume.
            let middle = island.rim.0 / island.rim.1.max(1.0);
            let [a, b, c] = points(index).map(|p| p - middle);
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
    use crate::reconstruct::body::rest::{RestBody, RestBond};

    /// Two elements on the x axis.
    fn body() -> RestBody {
        let positions = vec![DVec3::NEG_X, DVec3::X];
        let bond = RestBond {
            i: 0,
            j: 1,
            half: DVec3::X,
            row: 0,
        };
        RestBody {
            index: 0,
            rows: vec![0, 1],
            bins: ElementBins::new(&positions, 2.0),
            positions,
            radius: 1.0,
            bonds: vec![bond],
            nearest_elements: Vec::new(),
            reach: None,
            skin_grid: None,
            world: None,
            cells: None,
        }
    }

    /// A ball stretched along x, with a neck in the middle. Vertices farther out than `end` are bound to the
    /// element there.
    fn dumbbell(end: f64) -> BodySurface {
        let mesh = icosphere(4);
        let narrow = |p: DVec3| DVec3::new(2.0, 0.1 + p.x.abs(), 0.1 + p.x.abs());
        let positions: Vec<DVec3> = mesh.positions.iter().map(|&p| p * narrow(p)).collect();
        let binding = |p: &DVec3| match p.x {
            x if x.abs() < end => Binding::Nearest,
            x => Binding::to(&[u32::from(x > 0.0)]),
        };
        let mut surface = BodySurface {
            bindings: positions.iter().map(binding).collect(),
            inside: vec![0; mesh.triangles.len()],
            sources: (0..mesh.triangles.len() as u32).collect(),
            triangles: mesh.triangles,
            positions,
            component: Vec::new(),
        };
        surface.find_components();
        surface
    }

    fn mesh_of(surface: &BodySurface, triangles: impl Fn(&&[u32; 3]) -> bool) -> TriMesh {
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
        cut_necks(&mut surface, &cracks);
        let parts: BTreeSet<u32> = surface.component.iter().copied().collect();
        assert_eq!(parts.len(), 2);
        let (mut sum, mut elements) = (0.0, Vec::new());
        for &part in &parts {
            let mut half = mesh_of(&surface, |t| surface.component[t[0] as usize] == part);
            let volume = half.volume();
            assert!((volume / whole - 0.5).abs() < 0.01, "{volume} of {whole}");
            require_solid(&mut half).unwrap();
            assert_eq!(half.volume(), volume, "turned inside out");
            sum += volume;
            let bindings = surface.component.iter().zip(&surface.bindings);
            let own = bindings.filter(|(other, _)| **other == part);
            let sides: BTreeSet<u32> = own
                .filter_map(|(_, binding)| fragment_of_binding(binding, &cracks))
                .collect();
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

    /// A dumbbell whose ends are bound to element 0, with a speck around `index` that is bound to element 1.
    fn with_speck(centre: DVec3) -> BodySurface {
        let mut surface = dumbbell(1.0);
        for (p, binding) in surface.positions.iter().zip(&mut surface.bindings) {
            if p.distance(centre) < 0.2 {
                *binding = Binding::to(&[1]);
            } else if p.x > 0.0 {
                *binding = Binding::to(&[0]);
            }
        }
        surface
    }

    #[test]
    fn a_surface_without_a_neck_stays_as_it_is() {
        let body = body();
        let mut mixed = dumbbell(1.0);
        for (p, binding) in mixed.positions.iter().zip(&mut mixed.bindings) {
            if p.x > 0.0 {
                *binding = Binding::to(&[0, 1]);
            }
        }
        let speck = with_speck(DVec3::new(-1.0, 0.0, 0.52));
        let cracks = |fragment_of| Cracks::new(&body, fragment_of, &[true]);
        for (cracks, mut surface) in [
            (cracks(&[0, 0]), dumbbell(1.0)),
            (cracks(&[0, 1]), mixed),
            (cracks(&[0, 1]), speck),
        ] {
            let before = (surface.positions.clone(), surface.triangles.clone());
            let bindings = format!("{:?}", surface.bindings);
            cut_necks(&mut surface, &cracks);
            assert_eq!((surface.positions, surface.triangles), before);
            assert_eq!(format!("{:?}", surface.bindings), bindings);
        }
    }

    #[test]
    fn a_surface_does_not_go_to_the_fragment_of_a_speck() {
        let body = body();
        let cracks = Cracks::new(&body, &[0, 1], &[true]);
        let first = dumbbell(1.0).positions[0];
        let mut surface = with_speck(first);
        assert_eq!(fragment_of_binding(&surface.bindings[0], &cracks), Some(1));
        let before = surface.triangles.clone();
        cut_necks(&mut surface, &cracks);
        assert_eq!(surface.triangles, before);
        let mut sides = surface
            .bindings
            .iter()
            .filter_map(|binding| fragment_of_binding(binding, &cracks));
        assert!(sides.all(|fragment| fragment == 0));
    }
}
