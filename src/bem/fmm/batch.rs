//! Potentials and densities of up to eight boxes side by side, in the layout that the matrices of the
//! operators expect.

use glam::DVec3;

use super::convolution::Four;
use super::kernels::{PotentialKernel, Strength};
use super::pairs::{LANES, SourcesAndTargets};
use super::plan::FmmPlan;
use super::product::{BOXES, BatchRow, COLUMNS};
use super::tree::Node;
use super::uniform::UniformPart;

/// Buffers of a batch of boxes. `rows` holds potentials or densities at the points of a surface.
#[derive(Debug)]
pub struct Batch<S> {
    /// One row for each point, four columns for each box.
    pub rows: Vec<BatchRow>,
    /// Translations to be done: where the densities of the source box begin, its octant, and the column of
    /// the box of the batch on which it acts.
    translations: Vec<(usize, usize, usize)>,
    input: Vec<BatchRow>,
    scratch: [Vec<BatchRow>; 2],
    output: Vec<BatchRow>,
    points: SourcesAndTargets<S>,
    sums: Vec<[[f64; LANES]; 4]>,
}

impl<S> Default for Batch<S> {
    fn default() -> Self {
        Batch {
            rows: Vec::new(),
            translations: Vec::new(),
            input: Vec::new(),
            scratch: Default::default(),
            output: Vec::new(),
            points: SourcesAndTargets::default(),
            sums: Vec::new(),
        }
    }
}

impl<S: Strength> Batch<S> {
    /// Sets all potentials to zero and removes all translations.
    pub fn clear(&mut self, plan: &FmmPlan) {
        let n = plan.points();
        for rows in [&mut self.rows, &mut self.input, &mut self.output] {
            rows.clear();
            rows.resize(n, [0.0; COLUMNS]);
        }
        self.translations.clear();
    }

    /// Copies values, one for each point, into the columns of a box.
    pub fn copy_in(&mut self, column: usize, values: &[Four]) {
        for (row, value) in self.rows.iter_mut().zip(values) {
            row[4 * column..4 * column + 4].copy_from_slice(value);
        }
    }

    /// Copies the columns of a box to `values`.
    pub fn copy_out(&self, column: usize, values: &mut [Four]) {
        for (row, value) in self.rows.iter().zip(values) {
            value.copy_from_slice(&row[4 * column..4 * column + 4]);
        }
    }

    /// Adds to a box the potentials of the sources of other boxes, on the check surface of this half size
    /// (P2M, and P2L of list X).
    pub fn add_sources(
        &mut self,
        plan: &FmmPlan,
        strengths: &[S],
        (column, node): (usize, &Node),
        half_size: f64,
        sources: &[u32],
    ) {
        let surface = &plan.operators.surface;
        let (centre, scale) = (plan.tree.centre(node), 1.0 / plan.tree.half(node));
        self.points
            .set_targets((0..surface.len()).map(|k| surface.point(k, half_size)));
        for source in sources {
            for (place, strength) in plan.sources_in(*source, strengths) {
                let place = (place - centre) * scale;
                self.points
                    .push_source(place.to_array(), strength.scaled(scale));
            }
        }
        self.sums.clear();
        self.points
            .add_to(PotentialKernel(plan.poisson), &mut self.sums);
        for (k, row) in self.rows.iter_mut().enumerate() {
            for c in 0..4 {
                row[4 * column + c] += self.sums[k / LANES][c][k % LANES];
            }
        }
    }

    /// Adds a translation to the box in `column`. `at`: where the densities of the source box begin;
    /// `octant`: octant of the child, which is the source in M2M and the target in L2L.
    pub fn add_translation(&mut self, at: usize, octant: usize, column: usize) {
        self.translations.push((at, octant, column));
    }

    /// M2M: adds the potentials of the children in the batch's translations on the upward check surfaces of
    /// the batch.
    pub fn translate_up(&mut self, plan: &FmmPlan, densities: &[Four]) {
        // Q of a child is relative to its own centre, and lengths are in halves of its side.
        let about = |offset: DVec3, [x, y, z, q]: Four| {
            [x, y, z, 0.5 * q + offset.dot(DVec3::new(x, y, z))]
        };
        self.translate_boxes(plan, densities, about, |plan, input, output| {
            plan.operators.up.multiply(input, output);
        });
    }

    /// L2L: adds the potentials of the parents in the batch's translations on the downward check surfaces of
    /// the batch.
    pub fn translate_down(&mut self, plan: &FmmPlan, densities: &[Four]) {
        let about = |offset: DVec3, [x, y, z, q]: Four| {
            [x, y, z, 2.0 * (q - offset.dot(DVec3::new(x, y, z)))]
        };
        self.translate_boxes(plan, densities, about, |plan, input, output| {
            plan.operators.down.multiply(input, output);
        });
    }

    /// Does the translations, eight boxes at a time. Every octant is a reflection of octant 0, so one matrix
    /// serves all.
    fn translate_boxes(
        &mut self,
        plan: &FmmPlan,
        densities: &[Four],
        about: impl Fn(DVec3, Four) -> Four,
        multiply: impl Fn(&FmmPlan, &[BatchRow], &mut [BatchRow]),
    ) {
        let n = plan.points();
        let images = &plan.operators.surface.images;
        for boxes in self.translations.chunks(BOXES) {
            for (k, (at, octant, _)) in boxes.iter().enumerate() {
                let bit = |axis: usize| (octant >> axis & 1) as f64 - 0.5;
                let offset = DVec3::new(bit(0), bit(1), bit(2));
                let densities = &densities[*at..at + n];
                for (row, image) in self.input.iter_mut().zip(&images[*octant]) {
                    let from = about(offset, densities[*image as usize]);
                    row[4 * k..4 * k + 4].copy_from_slice(&from);
                }
            }
            multiply(plan, &self.input, &mut self.output);
            for (k, (_, octant, column)) in boxes.iter().enumerate() {
                for (row, image) in self.output.iter().zip(&images[*octant]) {
                    let to = &mut self.rows[*image as usize];
                    (0..4).for_each(|c| to[4 * column + c] += row[4 * k + c]);
                }
            }
        }
    }

    /// Replaces upward check potentials by equivalent densities.
    pub fn invert_upward(&mut self, plan: &FmmPlan) {
        let inverse = &plan.operators.from_upward;
        inverse.apply(&mut self.rows, &mut self.scratch);
    }

    /// Replaces downward check potentials by equivalent densities, and stores the uniform part of each box,
    /// which is split off before.
    pub fn invert_downward(&mut self, plan: &FmmPlan, uniform: &mut [UniformPart]) {
        let points = &plan.operators.surface.points;
        for (column, part) in uniform.iter_mut().enumerate() {
            *part = UniformPart::split_off(&mut self.rows, 4 * column, points);
        }
        let inverse = &plan.operators.from_downward;
        inverse.apply(&mut self.rows, &mut self.scratch);
    }
}
