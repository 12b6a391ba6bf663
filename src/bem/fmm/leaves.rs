//! Values at the targets of leaves: due to sources nearby (P2P), smaller boxes (list W) and the leaf's own
//! downward densities (L2P).

use glam::DVec3;

use super::convolution::Four;
use super::kernels::{Charge, Strength, TargetKernel};
use super::pairs::{Kernel, LANES, SourcesAndTargets};
use super::passes::Downward;
use super::plan::{FIRST_LEVEL, FmmPlan};
use super::surface::{INNER, OUTER};
use super::tree::Node;
use crate::parallel::prelude::*;

/// Sums of a kernel at the targets, in the tree's order.
pub fn evaluate<S: Strength, K: TargetKernel<C> + Kernel<S, C>, const C: usize>(
    plan: &FmmPlan,
    kernel: K,
    strengths: &[S],
    upward: &[Four],
    downward: &Downward,
) -> Vec<[f64; C]> {
    type Scratch<S, const C: usize> = (
        SourcesAndTargets<S>,
        SourcesAndTargets<Charge>,
        Vec<[[f64; LANES]; C]>,
    );
    let leaf = |(near, points, sums): &mut Scratch<S, C>, at: &u32| {
        let node = &plan.tree.nodes[*at as usize];
        let targets = &plan.targets[node.targets.start as usize..node.targets.end as usize];
        sums.clear();
        near.set_targets(targets.iter().map(|x| x.to_array()));
        for other in &plan.lists.direct[*at as usize] {
            for (place, strength) in plan.sources_in(*other, strengths) {
                near.push_source(place.to_array(), strength);
            }
        }
        near.add_to(kernel, sums);
        let centre = plan.tree.centre(node);
        points.set_targets(targets.iter().map(|x| (*x - centre).to_array()));
        if node.level as usize >= FIRST_LEVEL {
            add_surface(plan, *at, (OUTER, centre), &downward.densities, points);
        }
        for other in &plan.lists.smaller[*at as usize] {
            add_surface(plan, *other, (INNER, centre), upward, points);
        }
        points.add_to(kernel, sums);
        let uniform = &downward.uniform[*at as usize];
        let shared = kernel.uniform(uniform, plan.tree.half(node));
        for group in sums.iter_mut() {
            (0..C).for_each(|c| group[c].iter_mut().for_each(|sum| *sum += shared[c]));
        }
        let value = |k: usize| std::array::from_fn(|c| sums[k / LANES][c][k % LANES]);
        (0..targets.len()).map(value).collect::<Vec<[f64; C]>>()
    };
    plan.leaves
        .par_iter()
        .map_init(Default::default, leaf)
        .collect::<Vec<_>>()
        .concat()
}

/// Appends the equivalent densities of a box on its surface of this half size as sources, relative to a
/// centre.
fn add_surface(
    plan: &FmmPlan,
    at: u32,
    (half_size, centre): (f64, DVec3),
    densities: &[Four],
    points: &mut SourcesAndTargets<Charge>,
) {
    let node: &Node = &plan.tree.nodes[at as usize];
    let (offset, half) = (plan.tree.centre(node) - centre, plan.tree.half(node));
    let surface = &plan.operators.surface;
    let densities = &densities[at as usize * surface.len()..][..surface.len()];
    for (k, [x, y, z, q]) in densities.iter().enumerate() {
        let place = DVec3::from_array(surface.point(k, half_size));
        let force = DVec3::new(*x, *y, *z);
        // Q minus the moment of the force is a centre of dilatation.
        let charge = Charge {
            dilatation: half * (q - place.dot(force)),
            ..Charge::force(force)
        };
        points.push_source((offset + half * place).to_array(), charge);
    }
}
