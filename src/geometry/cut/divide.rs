//! Divides triangles along chains of segments, and triangulates the parts.

use glam::{DVec2, DVec3};

use super::error::CutError;

/// Angles whose sine is at most this count as zero.
const ZERO_SINE: f64 = 1e-12;

/// A polygon as the indices of its corners, counterclockwise.
pub type Polygon = Vec<u32>;

/// Joins segments into chains. Each starts at a point where no segment ends and ends where none starts.
pub fn chains(segments: &[[u32; 2]]) -> Result<Vec<Vec<u32>>, CutError> {
    let mut left = segments.to_vec();
    let mut chains = Vec::new();
    let begins = |p: u32| segments.iter().all(|[_, end]| *end != p);
    for [first, _] in segments.iter().filter(|[start, _]| begins(*start)) {
        let mut chain = vec![*first];
        let mut at = *first;
        while let Some(k) = left.iter().position(|[start, _]| *start == at) {
            at = left.swap_remove(k)[1];
            chain.push(at);
        }
        chains.push(chain);
    }
    if left.is_empty() {
        Ok(chains)
    } else {
        Err(CutError::Loop)
    }
}

/// Divides a polygon along chains that start and end on its outline and do not cross.
pub fn divide(outline: Polygon, chains: &[Vec<u32>]) -> Result<Vec<Polygon>, CutError> {
    let mut polygons = vec![outline];
    for chain in chains {
        let (first, last) = (chain[0], chain[chain.len() - 1]);
        let place = |polygon: &Polygon| {
            let at = |p: u32| polygon.iter().position(|q| *q == p);
            Some((at(first)?, at(last)?))
        };
        let found = (0..polygons.len()).find_map(|k| Some((k, place(&polygons[k])?)));
        let (k, (from, to)) = found.ok_or(CutError::NotGeneral)?;
        let whole = polygons.swap_remove(k);
        let round = |start: usize, end: usize| {
            let count = whole.len();
            let steps = (end + count - start) % count;
            (1..steps).map(move |s| (start + s) % count)
        };
        let mut left = chain.clone();
        left.extend(round(to, from).map(|k| whole[k]));
        let mut right: Polygon = chain.iter().rev().copied().collect();
        right.extend(round(from, to).map(|k| whole[k]));
        polygons.extend([left, right]);
    }
    Ok(polygons)
}

/// Triangulates a polygon in the plane of a normal by removing ears, the best shaped first.
pub fn triangulate(polygon: &[u32], places: &[DVec3], normal: DVec3) -> Vec<[u32; 3]> {
    let (s, t) = normal.any_orthonormal_pair();
    let flat = |p: u32| {
        let x = places[p as usize] - places[polygon[0] as usize];
        DVec2::new(x.dot(s), x.dot(t))
    };
    let mut left: Vec<(u32, DVec2)> = polygon.iter().map(|p| (*p, flat(*p))).collect();
    let mut triangles = Vec::new();
    while left.len() > 3 {
        let count = left.len();
        let ear = |k: usize| [(k + count - 1) % count, k, (k + 1) % count];
        let quality = |k: usize| {
            let corners = ear(k).map(|k| left[k].1);
            let shape = roundness(corners);
            let holds = |(_, p): &(u32, DVec2)| !corners.contains(p) && contains(corners, *p);
            if shape > ZERO_SINE && left.iter().any(holds) {
                shape - 2.0
            } else {
                shape
            }
        };
        let mut best = (0, f64::NEG_INFINITY);
        for k in 0..count {
            let quality = quality(k);
            if quality > best.1 {
                best = (k, quality);
            }
        }
        triangles.push(ear(best.0).map(|k| left[k].0));
        left.remove(best.0);
    }
    triangles.push([0, 1, 2].map(|k| left[k].0));
    triangles
}

/// Shape of a triangle: twice the area over the squared longest side.
fn roundness([a, b, c]: [DVec2; 3]) -> f64 {
    let longest = [a - b, b - c, c - a].map(DVec2::length_squared);
    (b - a).perp_dot(c - a) / longest.into_iter().fold(f64::MIN_POSITIVE, f64::max)
}

/// Whether a triangle contains a point or its outline passes within rounding of it.
fn contains([a, b, c]: [DVec2; 3], p: DVec2) -> bool {
    let is_left = |a: DVec2, b: DVec2| {
        (b - a).perp_dot(p - a) >= -ZERO_SINE * a.distance(b) * (a.distance(p) + b.distance(p))
    };
    is_left(a, b) && is_left(b, c) && is_left(c, a)
}
