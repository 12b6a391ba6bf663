//! What warnings need to know about a body.

use glam::DVec3;

use crate::columns::{Bonds, Elements};
use crate::spec::{Body, PackingSpec, Pipeline};
use crate::store::Packing;

/// Number of neighbours of an interior element of a close packing.
pub const INNER_NEIGHBOURS: usize = 12;
/// Number of neighbours of interior elements of a random packing: most have as many or one more, and few at
/// the surface do.
const INNER_NEIGHBOURS_RANDOM: usize = 8;
/// Number of bonds from the middle of three layers to their farthest corner.
const THIN_HOPS: usize = 2;

/// Data of a body for warnings.
pub struct BodyFacts<'a> {
    pub body: &'a Body,
    pub elements: usize,
    /// Number of elements more than [`THIN_HOPS`] bonds away from any element with all its neighbours.
    pub thin: usize,
    pub radius: f64,
    /// Mean velocity, m/s.
    pub velocity: DVec3,
    /// Largest difference of an element's velocity from the mean, m/s.
    pub spread: f64,
    /// Height of the highest element, against gravity, m.
    pub top: f64,
    /// Elongation at break of each bond that can break: rest length times the strain at break, m.
    pub stretch: Vec<f64>,
    /// Median rest length of all bonds, m.
    pub length: f64,
    /// Lowest strength of all bonds, Pa; infinite if none can break.
    pub weakest: f64,
}

pub fn body_facts<'a>(packing: &Packing, pipeline: &'a Pipeline) -> Vec<BodyFacts<'a>> {
    let up = up(pipeline);
    let inner_neighbours: Vec<usize> = pipeline.bodies.iter().map(inner_neighbours).collect();
    let thin = thin_elements(&packing.elements, &packing.bonds, &inner_neighbours);
    let mut rows = vec![(Vec::new(), Vec::new()); pipeline.bodies.len()];
    for (i, &body) in packing.elements.body.iter().enumerate() {
        // A body that the pipeline lacks is refused when the run is built.
        if let Some(rows) = rows.get_mut(body as usize) {
            rows.0.push(i);
        }
    }
    // Bonds of rigid bodies transmit no load.
    let rigid = |body: u32| pipeline.bodies.get(body as usize).is_some_and(|b| b.rigid);
    let bonds = packing.bonds.i.iter().enumerate();
    for (k, &i) in bonds.filter(|(_, i)| !rigid(packing.elements.body[**i as usize])) {
        if let Some(rows) = rows.get_mut(packing.elements.body[i as usize] as usize) {
            rows.1.push(k);
        }
    }
    let bodies = pipeline.bodies.iter().zip(&rows);
    bodies
        .filter(|(_, (elements, _))| !elements.is_empty())
        .map(|(body, (elements, bonds))| body_fact(packing, body, (elements, bonds), &thin, up))
        .collect()
}

fn body_fact<'a>(
    packing: &Packing,
    body: &'a Body,
    (rows, own): (&[usize], &[usize]),
    thin: &[bool],
    up: DVec3,
) -> BodyFacts<'a> {
    let (e, b) = (&packing.elements, &packing.bonds);
    let velocity = |i: usize| DVec3::new(e.vx[i], e.vy[i], e.vz[i]);
    let mean = rows.iter().map(|&i| velocity(i)).sum::<DVec3>() / rows.len() as f64;
    let most = |f: &dyn Fn(usize) -> f64| rows.iter().map(|&i| f(i)).fold(f64::MIN, f64::max);
    let strain = |k: usize| (b.sigma_c[k] / b.young[k]).min(b.tau_c[k] / b.shear[k]);
    // Bonds without strength are cracks from the start.
    let breaking = || {
        let own = own.iter().copied();
        own.filter(|&k| b.sigma_c[k] > 0.0 || b.tau_c[k] > 0.0)
    };
    let stretch = breaking().map(|k| strain(k) * b.l0[k]);
    BodyFacts {
        body,
        elements: rows.len(),
        // Grains and rows of a few elements are not solids that could be thick.
        thin: match own.is_empty() || rows.len() <= inner_neighbours(body) {
            true => 0,
            false => rows.iter().filter(|&&i| thin[i]).count(),
        },
        radius: rows.iter().map(|&i| e.r[i]).fold(f64::INFINITY, f64::min),
        velocity: mean,
        spread: most(&|i| velocity(i).distance(mean)),
        top: most(&|i| DVec3::new(e.x[i], e.y[i], e.z[i]).dot(up)),
        stretch: stretch.filter(|stretch| stretch.is_finite()).collect(),
        length: median(own.iter().map(|&k| b.l0[k]).collect()),
        weakest: breaking()
            .map(|k| b.sigma_c[k].min(b.tau_c[k]))
            .fold(f64::INFINITY, f64::min),
    }
}

/// Median, 0 if there are no values.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

/// Unit vector against gravity; y without gravity.
pub fn up(pipeline: &Pipeline) -> DVec3 {
    -DVec3::from_array(pipeline.world.gravity).normalize_or(DVec3::NEG_Y)
}

/// Number of neighbours of an interior element of a body.
fn inner_neighbours(body: &Body) -> usize {
    match body.packing {
        PackingSpec::Hexagonal { .. } => INNER_NEIGHBOURS,
        PackingSpec::Random { .. } => INNER_NEIGHBOURS_RANDOM,
        // Thin by intention, or without bonds.
        PackingSpec::None {}
        | PackingSpec::Loose { .. }
        | PackingSpec::Shell { .. }
        | PackingSpec::Twisted { .. }
        | PackingSpec::Woven { .. } => 0,
        // One layer of cells bends correctly.
        PackingSpec::Voronoi { .. } | PackingSpec::Cubic { .. } => 0,
    }
}

/// Elements that neither have all their neighbours nor are within [`THIN_HOPS`] bonds of one that has: there
/// the body has one or two layers. `inner_neighbours` is the full number of neighbours for each body.
pub fn thin_elements(elements: &Elements, bonds: &Bonds, inner_neighbours: &[usize]) -> Vec<bool> {
    let mut valence = vec![0usize; elements.id.len()];
    let ends = || {
        bonds
            .i
            .iter()
            .zip(&bonds.j)
            .map(|(&i, &j)| [i as usize, j as usize])
    };
    for end in ends().flatten() {
        valence[end] += 1;
    }
    let all = |&body: &u32| {
        inner_neighbours
            .get(body as usize)
            .copied()
            .unwrap_or(INNER_NEIGHBOURS)
    };
    let needed = elements.body.iter().map(all);
    let mut thick: Vec<bool> = valence
        .iter()
        .zip(needed)
        .map(|(&count, needed)| count >= needed)
        .collect();
    for _ in 0..THIN_HOPS {
        let before = thick.clone();
        for [i, j] in ends() {
            thick[i] |= before[j];
            thick[j] |= before[i];
        }
    }
    thick.into_iter().map(|thick| !thick).collect()
}
