//! Refines the triangulation of a hole to the size of the triangles around it, and moves its inner vertices so that
//! it continues the surface (Liepa 2003; Kobbelt et al. 1998).

use std::collections::BTreeMap;

use glam::DVec3;

use crate::geometry::check::sorted_edges;
use crate::geometry::repair::repair_mesh::RepairMesh;

/// Mean of 1 − cosine of the angles at the border, above which a hole is closed by flat pieces: 40°. The end of a
/// tube is such a hole.
const MAX_BEND: f64 = 0.234;
/// A triangle is divided if its centre is farther from its corners than the edges there are long, over this.
const DENSITY: f64 = std::f64::consts::SQRT_2;
/// Rounds of division; each at most triples the number of triangles.
const MAX_ROUNDS: usize = 8;
/// Largest number of triangles that a hole is refined to.
const MAX_TRIANGLES: usize = 20_000;
/// Steps of fairing. Patches are a few edges deep, so they converge in far fewer.
const FAIRING_STEPS: usize = 300;

/// New triangles: indices into `vertices` followed by `inner`.
pub struct Patch {
    /// Vertices of the mesh along the border.
    pub vertices: Vec<u32>,
    /// The triangles.
    pub triangles: Vec<[usize; 3]>,
    /// Positions of new vertices.
    pub inner: Vec<DVec3>,
}

/// Divides the triangles of a patch and fairs it, unless it meets the surface at large angles; `bend` is the mean of
/// 1 − cosine of these angles.
pub fn refine_and_fair(work: &RepairMesh, patch: &mut Patch, bend: f64) {
    if bend > MAX_BEND {
        return;
    }
    refine(work, patch);
    if !patch.inner.is_empty() {
        fair(work, patch);
    }
}

/// Mean length of the edges of the mesh at each vertex of the border.
fn edge_lengths(work: &RepairMesh, patch: &Patch) -> Vec<f64> {
    let mut sums: BTreeMap<u32, (f64, f64)> =
        patch.vertices.iter().map(|v| (*v, (0.0, 0.0))).collect();
    for (a, b, ..) in sorted_edges(&work.mesh) {
        let [p, q] = [a, b].map(|v| work.mesh.positions[v as usize]);
        for v in [a, b] {
            if let Some(sum) = sums.get_mut(&v) {
                sum.0 += p.distance(q);
                sum.1 += 1.0;
            }
        }
    }
    let mean = |v: &u32| sums[v].0 / sums[v].1;
    patch.vertices.iter().map(mean).collect()
}

fn refine(work: &RepairMesh, patch: &mut Patch) {
    let mut size = edge_lengths(work, patch);
    let border = patch.vertices.len();
    let mut places: Vec<DVec3> = patch
        .vertices
        .iter()
        .map(|v| work.mesh.positions[*v as usize])
        .collect();
    for _ in 0..MAX_ROUNDS {
        let before = patch.triangles.len();
        for t in 0..before {
            let corners = patch.triangles[t];
            let centre = corners.iter().map(|v| places[*v]).sum::<DVec3>() / 3.0;
            let own = corners.iter().map(|v| size[*v]).sum::<f64>() / 3.0;
            let is_large = corners
                .iter()
                .all(|v| DENSITY * centre.distance(places[*v]) > own.max(size[*v]));
            if !is_large || patch.triangles.len() + 2 > MAX_TRIANGLES {
                continue;
            }
            let new = places.len();
            places.push(centre);
            size.push(own);
            let [a, b, c] = corners;
            patch.triangles[t] = [a, b, new];
            patch.triangles.extend([[b, c, new], [c, a, new]]);
        }
        let flips = flip_edges(&mut patch.triangles, &places);
        if patch.triangles.len() == before && flips == 0 {
            break;
        }
    }
    patch.inner = places.split_off(border);
}

/// Flips inner edges whose opposite angles add up to more than 180°. Returns how many.
fn flip_edges(triangles: &mut [[usize; 3]], places: &[DVec3]) -> usize {
    let mut all = 0;
    for _ in 0..MAX_ROUNDS {
        let mut of_edge: BTreeMap<[usize; 2], Vec<usize>> = BTreeMap::new();
        for (t, corners) in triangles.iter().enumerate() {
            for m in 0..3 {
                let (a, b) = (corners[m], corners[(m + 1) % 3]);
                of_edge.entry([a.min(b), a.max(b)]).or_default().push(t);
            }
        }
        let edges: Vec<_> = of_edge.iter().filter(|(_, t)| t.len() == 2).collect();
        let mut is_used = vec![false; triangles.len()];
        let mut flips = 0;
        for ([a, b], pair) in edges {
            let [s, t] = [pair[0], pair[1]];
            if is_used[s] || is_used[t] {
                continue;
            }
            let apex = |t: usize| triangles[t].iter().copied().find(|v| v != a && v != b);
            let (Some(c), Some(d)) = (apex(s), apex(t)) else {
                continue;
            };
            let angle =
                |at: usize| (places[*a] - places[at]).angle_between(places[*b] - places[at]);
            let is_taken = c == d || of_edge.contains_key(&[c.min(d), c.max(d)]);
            if is_taken || angle(c) + angle(d) <= std::f64::consts::PI * (1.0 + 1e-9) {
                continue;
            }
            // In `s` the edge runs from `from` to `to`.
            let m = (0..3).find(|&m| triangles[s][m] == c).unwrap_or(0);
            let [from, to] = [1, 2].map(|step| triangles[s][(m + step) % 3]);
            triangles[s] = [c, from, d];
            triangles[t] = [d, to, c];
            (is_used[s], is_used[t]) = (true, true);
            flips += 1;
        }
        all += flips;
        if flips == 0 {
            break;
        }
    }
    all
}

/// Moves the inner vertices until the second-order umbrella operator vanishes there: the patch has the curvature of
/// what surrounds it.
fn fair(work: &RepairMesh, patch: &mut Patch) {
    let border = patch.vertices.len();
    let count = border + patch.inner.len();
    let mut near: Vec<Vec<usize>> = vec![Vec::new(); count];
    let mut places: Vec<DVec3> = patch
        .vertices
        .iter()
        .map(|v| work.mesh.positions[*v as usize])
        .chain(patch.inner.iter().copied())
        .collect();
    for triangle in &patch.triangles {
        for m in 0..3 {
            let (a, b) = (triangle[m], triangle[(m + 1) % 3]);
            near[a].push(b);
            near[b].push(a);
        }
    }
    // Neighbours of the border in the surface around.
    let local: BTreeMap<u32, usize> = patch.vertices.iter().copied().zip(0..).collect();
    let mut outer: BTreeMap<u32, usize> = BTreeMap::new();
    for (a, b, ..) in sorted_edges(&work.mesh) {
        for (a, b) in [(a, b), (b, a)] {
            let Some(&of) = local.get(&a) else { continue };
            let other = local.get(&b).copied().unwrap_or_else(|| {
                *outer.entry(b).or_insert_with(|| {
                    places.push(work.mesh.positions[b as usize]);
                    places.len() - 1
                })
            });
            near[of].push(other);
        }
    }
    for list in &mut near {
        list.sort_unstable();
        list.dedup();
    }
    let umbrella = |places: &[DVec3], v: usize| {
        near[v].iter().map(|w| places[*w]).sum::<DVec3>() / near[v].len() as f64 - places[v]
    };
    let step: Vec<f64> = (0..count)
        .map(|v| {
            let inverse = |w: &usize| 1.0 / near.get(*w).map_or(6.0, |list| list.len() as f64);
            1.0 / (1.0 + near[v].iter().map(inverse).sum::<f64>() / near[v].len() as f64)
        })
        .collect();
    let mut first = vec![DVec3::ZERO; places.len()];
    for _ in 0..FAIRING_STEPS {
        for (v, value) in first.iter_mut().enumerate().take(count) {
            *value = umbrella(&places, v);
        }
        for v in border..count {
            let second = umbrella(&first, v);
            places[v] -= second * step[v];
        }
    }
    places.truncate(count);
    patch.inner = places.split_off(border);
}
