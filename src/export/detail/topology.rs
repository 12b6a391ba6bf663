//! Where a mesh is not a closed manifold.

use crate::math::hash::QuickMap;

/// Vertices, in order, of edges without exactly one triangle on either side, and vertices around which triangles form
/// several fans.
pub fn defects(triangles: &[[u32; 3]]) -> Vec<u32> {
    let mut edges: QuickMap<(u32, u32), u32> = QuickMap::default();
    let around = |t: &[u32; 3]| {
        let t = *t;
        (0..3).map(move |m| (t[m], t[(m + 1) % 3], t[(m + 2) % 3]))
    };
    let corners = || triangles.iter().flat_map(around);
    for (a, b, _) in corners() {
        *edges.entry((a, b)).or_insert(0) += 1;
    }
    let is_one = |a, b| edges.get(&(a, b)) == Some(&1);
    let mut found: Vec<u32> = corners()
        .filter(|&(a, b, _)| !(is_one(a, b) && is_one(b, a)))
        .flat_map(|(a, b, _)| [a, b])
        .collect();
    let mut sorted: Vec<(u32, u32, u32)> = corners().collect();
    sorted.sort_unstable();
    let fans = sorted.chunk_by(|a, b| a.0 == b.0);
    found.extend(fans.filter(|own| !is_one_fan(own)).map(|own| own[0].0));
    found.sort_unstable();
    found.dedup();
    found
}

/// Whether the corners at a vertex, sorted by the next vertex of their triangles, form one closed fan. Fans of two are
/// two triangles back to back, without a volume.
fn is_one_fan(corners: &[(u32, u32, u32)]) -> bool {
    if corners.len() < 3 {
        return false;
    }
    let mut at = corners[0].1;
    for step in 1..=corners.len() {
        let Ok(next) = corners.binary_search_by_key(&at, |corner| corner.1) else {
            return false;
        };
        at = corners[next].2;
        if at == corners[0].1 {
            return step == corners.len();
        }
    }
    false
}
