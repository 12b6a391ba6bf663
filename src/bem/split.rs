//! The layers as sums over quadrature points by the fast multipole method, with a sparse correction near each
//! node.
//!
//! ```text
//! A u ≈ Σ_q Tᵀ(x, y_q) u_q A_q  +  (exact − points) of near panels  −  ∮ W (dl × u) along the rim of these
//! V t ≈ Σ_q U(x, y_q) t_q A_q   +  (exact − points) of near panels
//! ```
//!
//! y_q: the [quadrature points](super::points) of the panels. The exact integrals are those of
//! [`panel`](super::panel), to which the [rim] integrals belong. The error of each row for a rigid
//! translation is subtracted from the diagonal, so that translations are mapped to zero exactly.

use std::sync::Arc;

use glam::DVec3;

use super::basis::{Basis, MAX_NODES};
use super::elastic::Elastic;
use super::fmm::Fmm;
use super::layers::{Layers, add_times};
use super::near::NearPanels;
use super::panel::{double_layer, single_layer};
use super::points::{PanelPoint, QuadraturePoints};
use super::precision::Precision;
use super::rim;
use super::surface::to_vec3;
use super::traction::Traction;
use super::triangle::Mat3d;
use crate::laws::{double_layer as law, kelvin, papkovich};
use crate::math::{Mat3, Vec3};
use crate::parallel::prelude::*;
use crate::solve::Operator;

/// Columns and blocks of the near correction of one node, the diagonal first.
type NearRow = Vec<(u32, [[f64; 3]; 3])>;

/// Near corrections, and the fast multipole sums.
pub struct MultipoleLayers<'a> {
    basis: Arc<Basis<'a>>,
    elastic: Elastic,
    points: QuadraturePoints,
    /// Panels near each node.
    panels: Vec<Vec<u32>>,
    near: Vec<NearRow>,
    far: Fmm,
}

impl<'a> MultipoleLayers<'a> {
    /// Integrates near panels and prepares the sums, for an accuracy from 1e-3 to 1e-8: the relative L2 error
    /// of products.
    pub fn new(basis: &Arc<Basis<'a>>, elastic: Elastic, accuracy: f64) -> Self {
        let precision = Precision::of_nodes(basis.order, accuracy);
        let points = QuadraturePoints::new(basis, precision.rule);
        let near = NearPanels::new(basis.surface, &basis.edges, precision.near);
        let panels: Vec<Vec<u32>> = basis.places.par_iter().map(|x| near.panels(*x)).collect();
        let row = |(node, panels): (usize, &Vec<u32>)| {
            near_row(basis, elastic.poisson, (&points, &near), node, panels)
        };
        let rows = panels.par_iter().enumerate().map(row).collect();
        let far = Fmm::new(
            &points.places,
            &basis.places,
            elastic.poisson,
            precision.fmm_accuracy,
        );
        let mut split = MultipoleLayers {
            basis: basis.clone(),
            elastic,
            points,
            panels,
            near: rows,
            far,
        };
        split.make_translations_zero();
        split
    }

    /// Corrects the diagonal so that rigid translations are mapped to zero.
    fn make_translations_zero(&mut self) {
        let count = self.near.len();
        for axis in 0..3 {
            let shift: [f64; 3] = std::array::from_fn(|k| if k == axis { 1.0 } else { 0.0 });
            let mut left = vec![[0.0; 3]; count];
            self.times(&vec![shift; count], &mut left);
            for (row, left) in self.near.iter_mut().zip(left) {
                (0..3).for_each(|k| row[0].1[k][axis] -= left[k]);
            }
        }
    }
}

/// Near correction of a node: exact integrals over near panels minus their quadrature points, and the rim
/// integrals, as a block for each of the panels' nodes.
fn near_row(
    basis: &Basis,
    poisson: f64,
    (points, near): (&QuadraturePoints, &NearPanels),
    node: usize,
    panels: &[u32],
) -> NearRow {
    let x = basis.places[node];
    let mut blocks = vec![(node as u32, Mat3::diagonal(0.0))];
    for t in panels.iter().map(|t| *t as usize) {
        let exact = double_layer(basis, poisson, node, t);
        let by_points = point_double(basis, poisson, points, x, t);
        for (c, other) in basis.of_panel(t).iter().enumerate() {
            blocks.push((*other, exact.nodes[c] - by_points[c]));
        }
    }
    for (t, k) in near.rim(x, panels) {
        let of_side = rim::displacement(basis, x, (t, k), poisson);
        for c in basis.of_side(k) {
            blocks.push((basis.of_panel(t)[c], of_side[c] * -1.0));
        }
    }
    // The diagonal stays first, the others are sorted by column; blocks of the same column are summed in the
    // order above.
    blocks[1..].sort_by_key(|(column, _)| *column);
    let mut row = NearRow::new();
    for group in blocks.chunk_by(|a, b| a.0 == b.0) {
        let sum = group
            .iter()
            .fold(Mat3::diagonal(0.0), |sum, (_, b)| sum + *b);
        row.push((group[0].0, sum.rows.map(Vec3::to_f64)));
    }
    row.shrink_to_fit();
    row
}

/// The double layer of a panel by its quadrature points: a block for each of its nodes.
fn point_double(
    basis: &Basis,
    poisson: f64,
    points: &QuadraturePoints,
    x: DVec3,
    t: usize,
) -> [Mat3d; MAX_NODES] {
    let factor = papkovich::displacement_factor(0.5, poisson);
    let mut nodes = [Mat3::diagonal(0.0); MAX_NODES];
    for point in points.of_panel(basis.surface, t) {
        let r = x - point.place;
        let inverse = r.length_recip();
        let n = to_vec3(r * inverse);
        let of = |axis| law::displacement(n, inverse, to_vec3(axis), point.area, poisson) * factor;
        let [a, b, c] = DVec3::AXES.map(of);
        let block = Mat3::new(a, b, c).transposed();
        for (node, value) in nodes[..basis.count()].iter_mut().zip(point.values) {
            *node = *node + block * value;
        }
    }
    nodes
}

impl Operator<3> for MultipoleLayers<'_> {
    fn times(&self, x: &[[f64; 3]], y: &mut [[f64; 3]]) {
        let far = self.far.double_layer(&self.points.jumps(&self.basis, x));
        let rows = self.near.par_iter().zip(&far);
        y.par_iter_mut().zip(rows).for_each(|(y, (near, far))| {
            *y = far.to_array();
            for (column, block) in near {
                add_times(block, &x[*column as usize], y);
            }
        });
    }
}

impl Layers for MultipoleLayers<'_> {
    fn single(&self, tractions: &[Traction]) -> Vec<[f64; 3]> {
        let (basis, elastic) = (&*self.basis, self.elastic);
        let forces = self.points.forces(basis.surface, tractions);
        let far = self.far.displacement(&forces, elastic.shear);
        let row = |((node, panels), far): ((usize, &Vec<u32>), DVec3)| {
            let x = basis.places[node];
            let of = |t: &u32| {
                let t = *t as usize;
                let exact = single_layer(basis, elastic, node, t, &tractions[t]);
                let points = self.points.of_panel(basis.surface, t);
                points.fold(exact, |left, point: PanelPoint| {
                    let force = to_vec3(tractions[t].at(point.coordinates)) * point.area.norm();
                    let r = to_vec3(x - point.place);
                    left - kelvin::displacement(r, force, elastic.shear, elastic.poisson)
                })
            };
            let near = panels.iter().map(of).fold(Vec3::zero(), |sum, u| sum + u);
            (far + DVec3::from(near.to_f64())).to_array()
        };
        let nodes = self.panels.par_iter().enumerate().zip(far);
        nodes.map(row).collect()
    }

    fn diagonal(&self) -> Vec<[[f64; 3]; 3]> {
        let basis = &*self.basis;
        let mut sums = vec![Mat3::diagonal(0.0); basis.len()];
        // Contribution of the quadrature points of a node's own panels, and the near correction.
        for t in 0..basis.surface.len() {
            for (c, node) in basis.of_panel(t).iter().enumerate() {
                let node = *node as usize;
                let x = basis.places[node];
                let points = point_double(basis, self.elastic.poisson, &self.points, x, t);
                sums[node] = sums[node] + points[c];
            }
        }
        for (node, (sum, row)) in (0..).zip(sums.iter_mut().zip(&self.near)) {
            for (_, block) in row.iter().filter(|(column, _)| *column == node) {
                let [a, b, c] = block.map(Vec3::from_f64);
                *sum = *sum + Mat3::new(a, b, c);
            }
        }
        let to_rows = |sum: Mat3<f64>| sum.rows.map(Vec3::to_f64);
        sums.into_iter().map(to_rows).collect()
    }
}
