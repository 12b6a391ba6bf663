//! The layers as sums over points by the fast multipole method, and a sparse correction near each vertex.
//!
//! ```text
//! A u ≈ Σ_q Tᵀ(x, y_q) u_q A_q  +  (exact − points) of near panels  −  ∮ W (dl × u) along the rim of these
//! V t ≈ Σ_q U(x, y_q) t_q A_q   +  (exact − points) of near panels
//! ```
//!
//! y_q: the [points](super::nodes) of the panels; the exact integrals are those of [`panel`](super::panel), whose [rim] belongs to them. What the row
//! of a rigid shift leaves goes on the diagonal, so that shifts are taken to nothing exactly.

use glam::DVec3;

use super::edges::Edges;
use super::elastic::Elastic;
use super::fmm::Fmm;
use super::layers::{Layers, add_times};
use super::near::Near;
use super::nodes::Nodes;
use super::panel::{double_layer, single_layer};
use super::precision::Precision;
use super::rim;
use super::surface::{Surface, plain};
use super::triangle::M;
use crate::laws::{double_layer as law, kelvin, papkovich};
use crate::math::{Mat3, Vec3};
use crate::parallel::prelude::*;
use crate::solve::Operator;

/// Column and block of a vertex's near correction, the diagonal first.
type Row = Vec<(u32, [[f64; 3]; 3])>;

/// Near blocks, and the sums of the rest.
pub struct Split<'a> {
    surface: &'a Surface,
    elastic: Elastic,
    nodes: Nodes,
    /// Near panels of each vertex.
    panels: Vec<Vec<u32>>,
    near: Vec<Row>,
    far: Fmm,
}

impl<'a> Split<'a> {
    /// Integrates near panels and prepares the sums, for an accuracy from 1e-3 to 1e-8: the relative L2 error of products.
    pub fn new(surface: &'a Surface, elastic: Elastic, accuracy: f64) -> Self {
        let precision = Precision::of_vertices(accuracy);
        let edges = Edges::new(surface);
        let nodes = Nodes::new(surface, &edges, precision.rule);
        let near = Near::new(surface, &edges, precision.near);
        let vertices = &surface.mesh.positions;
        let panels: Vec<Vec<u32>> = vertices.par_iter().map(|x| near.panels(*x)).collect();
        let row = |(vertex, panels): (usize, &Vec<u32>)| {
            near_row(surface, elastic.poisson, (&nodes, &near), vertex, panels)
        };
        let rows = panels.par_iter().enumerate().map(row).collect();
        let far = Fmm::new(&nodes.places, vertices, elastic.poisson, precision.sums);
        let mut split = Split {
            surface,
            elastic,
            nodes,
            panels,
            near: rows,
            far,
        };
        split.balance();
        split
    }

    /// Makes rigid shifts nothing by the diagonal.
    fn balance(&mut self) {
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

/// Exact less points of near panels and what these leave at their rim: what each corner adds at a vertex.
fn near_row(
    surface: &Surface,
    poisson: f64,
    (nodes, near): (&Nodes, &Near),
    vertex: usize,
    panels: &[u32],
) -> Row {
    let x = surface.mesh.positions[vertex];
    let mut blocks = vec![(vertex as u32, Mat3::diagonal(0.0))];
    for t in panels.iter().map(|t| *t as usize) {
        let exact = double_layer(surface, poisson, vertex, t);
        let points = point_double(surface, poisson, nodes, x, t);
        for (c, corner) in surface.mesh.triangles[t].into_iter().enumerate() {
            blocks.push((corner, exact.corners[c] - points[c]));
        }
    }
    for side in near.rim(x, panels) {
        let ends = side.map(|end| surface.mesh.positions[end as usize]);
        for (end, block) in side.into_iter().zip(rim::displacement(x, ends, poisson)) {
            blocks.push((end, block * -1.0));
        }
    }
    // The diagonal stays first, others by column; equal ones in the order above.
    blocks[1..].sort_by_key(|(column, _)| *column);
    let mut row = Row::new();
    for group in blocks.chunk_by(|a, b| a.0 == b.0) {
        let sum = group
            .iter()
            .fold(Mat3::diagonal(0.0), |sum, (_, b)| sum + *b);
        row.push((group[0].0, sum.rows.map(Vec3::to_f64)));
    }
    row.shrink_to_fit();
    row
}

/// Blocks of a panel's corners as the point sums have them.
fn point_double(surface: &Surface, poisson: f64, nodes: &Nodes, x: DVec3, t: usize) -> [M; 3] {
    let factor = papkovich::displacement_factor(0.5, poisson);
    let mut corners = [Mat3::diagonal(0.0); 3];
    for (place, area, weights) in nodes.of_panel(surface, t) {
        let r = x - place;
        let inverse = r.length_recip();
        let n = plain(r * inverse);
        let of = |axis| law::displacement(n, inverse, plain(axis), area, poisson) * factor;
        let [a, b, c] = DVec3::AXES.map(of);
        let block = Mat3::new(a, b, c).transposed();
        for (corner, weight) in corners.iter_mut().zip(weights) {
            *corner = *corner + block * weight;
        }
    }
    corners
}

impl Operator<3> for Split<'_> {
    fn times(&self, x: &[[f64; 3]], y: &mut [[f64; 3]]) {
        let far = self.far.double_layer(&self.nodes.jumps(x));
        let rows = self.near.par_iter().zip(&far);
        y.par_iter_mut().zip(rows).for_each(|(y, (near, far))| {
            *y = far.to_array();
            for (column, block) in near {
                add_times(block, &x[*column as usize], y);
            }
        });
    }
}

impl Layers for Split<'_> {
    fn single(&self, tractions: &[DVec3]) -> Vec<[f64; 3]> {
        let (surface, elastic) = (self.surface, self.elastic);
        let forces = self.nodes.forces(surface, tractions);
        let far = self.far.displacement(&forces, elastic.shear);
        let row = |((vertex, panels), far): ((usize, &Vec<u32>), DVec3)| {
            let x = surface.mesh.positions[vertex];
            let of = |t: &u32| {
                let t = *t as usize;
                let exact = single_layer(surface, elastic, vertex, t, tractions[t]);
                let nodes = self.nodes.of_panel(surface, t);
                nodes.fold(exact, |left, (place, area, _)| {
                    let force = plain(tractions[t]) * area.norm();
                    let r = plain(x - place);
                    left - kelvin::displacement(r, force, elastic.shear, elastic.poisson)
                })
            };
            let near = panels.iter().map(of).fold(Vec3::zero(), |sum, u| sum + u);
            (far + DVec3::from(near.to_f64())).to_array()
        };
        let vertices = self.panels.par_iter().enumerate().zip(far);
        vertices.map(row).collect()
    }

    fn diagonal(&self) -> Vec<[[f64; 3]; 3]> {
        let own = |row: &Row, vertex: u32| {
            let mut sum = [[0.0; 3]; 3];
            for (column, block) in row {
                if *column == vertex {
                    let pairs = sum.as_flattened_mut().iter_mut().zip(block.as_flattened());
                    pairs.for_each(|(sum, b)| *sum += b);
                }
            }
            sum
        };
        (0..).zip(&self.near).map(|(v, row)| own(row, v)).collect()
    }
}
