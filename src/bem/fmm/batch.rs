//! Potentials and densities of up to eight boxes side by side, as the matrices of the operators take them.

use glam::DVec3;

use super::convolution::Four;
use super::kernels::{Potentials, Strength};
use super::pairs::{LANES, Points};
use super::plan::Plan;
use super::product::{BOXES, COLUMNS, Row};
use super::tree::Node;
use super::uniform::Uniform;

/// Memory of a batch. `rows` is what stands at each point of a surface.
#[derive(Debug)]
pub struct Batch<S> {
    /// A row a point, four columns a box.
    pub rows: Vec<Row>,
    /// Boxes to be translated: where their densities begin, their octant, and the box of the batch that they act on.
    waiting: Vec<(usize, usize, usize)>,
    input: Vec<Row>,
    scratch: [Vec<Row>; 2],
    output: Vec<Row>,
    points: Points<S>,
    sums: Vec<[[f64; LANES]; 4]>,
}

impl<S> Default for Batch<S> {
    fn default() -> Self {
        Batch {
            rows: Vec::new(),
            waiting: Vec::new(),
            input: Vec::new(),
            scratch: Default::default(),
            output: Vec::new(),
            points: Points::default(),
            sums: Vec::new(),
        }
    }
}

impl<S: Strength> Batch<S> {
    /// Forgets everything: all potentials are zero.
    pub fn clear(&mut self, plan: &Plan) {
        let n = plan.points();
        for rows in [&mut self.rows, &mut self.input, &mut self.output] {
            rows.clear();
            rows.resize(n, [0.0; COLUMNS]);
        }
        self.waiting.clear();
    }

    /// Copies a row a point into the columns of a box.
    pub fn put(&mut self, column: usize, values: &[Four]) {
        for (row, value) in self.rows.iter_mut().zip(values) {
            row[4 * column..4 * column + 4].copy_from_slice(value);
        }
    }

    /// Copies the columns of a box.
    pub fn take(&self, column: usize, values: &mut [Four]) {
        for (row, value) in self.rows.iter().zip(values) {
            value.copy_from_slice(&row[4 * column..4 * column + 4]);
        }
    }

    /// Adds to a box the potentials of the sources of others, on the check surface of this half size (P2M,
    /// and P2L of the list X).
    pub fn add_sources(
        &mut self,
        plan: &Plan,
        strengths: &[S],
        (column, node): (usize, &Node),
        half_size: f64,
        sources: &[u32],
    ) {
        let surface = &plan.operators.surface;
        let (centre, scale) = (plan.tree.centre(node), 1.0 / plan.tree.half(node));
        self.points
            .aim((0..surface.len()).map(|k| surface.point(k, half_size)));
        for source in sources {
            for (place, strength) in plan.acting(*source, strengths) {
                let place = (place - centre) * scale;
                self.points.push(place.to_array(), strength.scaled(scale));
            }
        }
        self.sums.clear();
        self.points.add(Potentials(plan.poisson), &mut self.sums);
        for (k, row) in self.rows.iter_mut().enumerate() {
            for c in 0..4 {
                row[4 * column + c] += self.sums[k / LANES][c][k % LANES];
            }
        }
    }

    /// Asks for a translation: `at` is where the densities of the box in `octant` of the other begin.
    pub fn translate(&mut self, at: usize, octant: usize, column: usize) {
        self.waiting.push((at, octant, column));
    }

    /// M2M: adds what the children asked for do on the upward check surfaces of the batch.
    pub fn up(&mut self, plan: &Plan, densities: &[Four]) {
        // Q of a child is about its own centre and in halves of its side.
        let about = |offset: DVec3, [x, y, z, q]: Four| {
            [x, y, z, 0.5 * q + offset.dot(DVec3::new(x, y, z))]
        };
        self.run(plan, densities, about, |plan, input, output| {
            plan.operators.up.multiply(input, output);
        });
    }

    /// L2L: adds what the parents asked for do on the downward check surfaces of the batch.
    pub fn down(&mut self, plan: &Plan, densities: &[Four]) {
        let about = |offset: DVec3, [x, y, z, q]: Four| {
            [x, y, z, 2.0 * (q - offset.dot(DVec3::new(x, y, z)))]
        };
        self.run(plan, densities, about, |plan, input, output| {
            plan.operators.down.multiply(input, output);
        });
    }

    /// Translates eight boxes at a time. Every octant is octant 0 reflected, so one matrix serves all.
    fn run(
        &mut self,
        plan: &Plan,
        densities: &[Four],
        about: impl Fn(DVec3, Four) -> Four,
        multiply: impl Fn(&Plan, &[Row], &mut [Row]),
    ) {
        let n = plan.points();
        let images = &plan.operators.surface.images;
        for boxes in self.waiting.chunks(BOXES) {
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
    pub fn invert_upward(&mut self, plan: &Plan) {
        let inverse = &plan.operators.from_upward;
        inverse.apply(&mut self.rows, &mut self.scratch);
    }

    /// Replaces downward check potentials by equivalent densities and what is set apart of each box.
    pub fn invert_downward(&mut self, plan: &Plan, uniform: &mut [Uniform]) {
        let points = &plan.operators.surface.points;
        for (column, apart) in uniform.iter_mut().enumerate() {
            *apart = Uniform::split_off(&mut self.rows, 4 * column, points);
        }
        let inverse = &plan.operators.from_downward;
        inverse.apply(&mut self.rows, &mut self.scratch);
    }
}
