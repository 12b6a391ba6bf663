//! How far a crack opens in a loaded body, and the stress then.
//!
//! The field is that of the jump across the sheet in a solid without bounds, and that of the uncut body under
//! what the jump leaves of the loads on its surface (Bilby and Eshelby 1968; van der Giessen and Needleman
//! 1995). The sheet stands out of the body, and its jump goes on there, so that what is left on the surface
//! is smooth. The jump frees the sheet of traction in the mean about each vertex (Galerkin, three points a
//! triangle); it is zero on the rim inside. The body keeps its mesh and its matrix while the crack grows.
//! Faces that the load presses on each other may overlap: contact is not modelled.

use std::cell::RefCell;

use glam::{DMat3, DVec3};

use super::jump::{JumpField, vector};
use super::sheet::Sheet;
use super::unknowns::Unknowns;
use crate::bem::elastic::Elastic;
use crate::bem::field::Field;
use crate::bem::layers::add_times;
use crate::bem::loads::{Balance, Loads};
use crate::bem::solution::Solution;
use crate::bem::solver::{SolveError, Solver};
use crate::bem::surface::Surface;
use crate::math::{Mat3, Vec3};
use crate::parallel::prelude::*;
use crate::solve::{Lu, Operator, Recycled, gmres};

/// Traction that is left on the sheet over the load's, at most, and iterations.
const LIMITS: (f64, u32) = (1e-3, 80);
/// Barycentric coordinates of the points of a triangle, one corner each: exact to second degree.
const POINTS: [f64; 2] = [2.0 / 3.0, 1.0 / 6.0];

/// A body, its solver and its loads.
pub struct Body<'a> {
    /// Its panels.
    pub surface: &'a Surface,
    /// Their equations.
    pub solver: &'a Solver<'a>,
    /// Moduli.
    pub elastic: Elastic,
}

/// A loaded body with an open crack.
pub struct Opened<'a> {
    field: JumpField,
    corners: Vec<[u32; 3]>,
    jumps: Vec<[f64; 3]>,
    /// The uncut body under its loads.
    base: &'a Solution<'a>,
    /// The uncut body under what takes the jump's tractions off its surface.
    answer: Solution<'a>,
    elastic: Elastic,
    work: f64,
    area: f64,
}

/// A point of the sheet inside the body.
struct Point {
    place: DVec3,
    triangle: usize,
    /// Shape functions of its triangle's corners.
    shapes: [f64; 3],
    /// Area that it stands for, m².
    area: f64,
}

fn points(sheet: &Sheet, contains: impl Fn(DVec3) -> bool) -> Vec<Point> {
    let mut points = Vec::new();
    for triangle in 0..sheet.mesh.triangles.len() {
        let corners = sheet.mesh.corners(triangle);
        for near in 0..3 {
            let shapes = [0, 1, 2].map(|c| POINTS[usize::from(c != near)]);
            let place = (0..3).map(|c| corners[c] * shapes[c]).sum();
            if contains(place) {
                points.push(Point {
                    place,
                    triangle,
                    shapes,
                    area: sheet.mesh.area_of(triangle) / 3.0,
                });
            }
        }
    }
    points
}

/// Rows of blocks: tractions at targets by the unknown jumps.
struct Rows {
    blocks: Vec<[[f64; 3]; 3]>,
    rows: usize,
    columns: usize,
}

impl Rows {
    fn new(
        field: &JumpField,
        corners: &[[u32; 3]],
        unknowns: &Unknowns,
        targets: &[(DVec3, DVec3)],
    ) -> Self {
        let columns = unknowns.count;
        let row = |(x, n): &(DVec3, DVec3)| {
            let mut row = vec![Mat3::diagonal(0.0); columns];
            for (t, corners) in corners.iter().enumerate() {
                if corners
                    .iter()
                    .all(|v| unknowns.follows[*v as usize].is_empty())
                {
                    continue;
                }
                let blocks = field.tractions(t, *x, *n);
                for (v, block) in corners.iter().zip(blocks) {
                    for (k, weight) in &unknowns.follows[*v as usize] {
                        row[*k as usize] = row[*k as usize] + block * *weight;
                    }
                }
            }
            row.into_iter().map(|block| block.rows.map(Vec3::to_f64))
        };
        Rows {
            blocks: targets.par_iter().flat_map_iter(row).collect(),
            rows: targets.len(),
            columns,
        }
    }

    fn row(&self, row: usize) -> &[[[f64; 3]; 3]] {
        &self.blocks[row * self.columns..(row + 1) * self.columns]
    }

    fn times(&self, x: &[[f64; 3]]) -> Vec<DVec3> {
        let product = |row: usize| {
            let mut sum = [0.0; 3];
            for (block, x) in self.row(row).iter().zip(x) {
                add_times(block, x, &mut sum);
            }
            DVec3::from(sum)
        };
        (0..self.rows).map(product).collect()
    }
}

/// The equations of the jump, made well conditioned by those of the solid without bounds.
struct Equations<'a> {
    body: &'a Body<'a>,
    points: &'a [Point],
    normals: Vec<DVec3>,
    corners: &'a [[u32; 3]],
    unknowns: &'a Unknowns,
    /// Tractions on the body's panels.
    panels: Rows,
    /// Tractions at the points.
    own: Rows,
    inverse: Lu,
    recycled: RefCell<Recycled<3>>,
    error: RefCell<Option<SolveError>>,
}

impl Equations<'_> {
    /// Means about the unknown vertices of tractions at the points, times area.
    fn test(&self, tractions: &[DVec3]) -> Vec<f64> {
        tested(self.points, self.corners, self.unknowns, tractions)
    }

    /// Tractions at the points when the body bears these on its panels instead of its loads.
    fn answer(&self, tractions: &[DVec3]) -> Result<Vec<DVec3>, SolveError> {
        let mut recycled = self.recycled.borrow_mut();
        let loads = alone(tractions);
        let solution = self.body.solver.solve(&loads, &mut recycled)?;
        Ok(self.across(&solution))
    }

    /// Traction across the sheet of a solution of the uncut body: at the middle of each triangle's points,
    /// where it is smooth enough.
    fn across(&self, solution: &Solution) -> Vec<DVec3> {
        let groups = self.points.chunk_by(|a, b| a.triangle == b.triangle);
        let places: Vec<DVec3> = groups
            .clone()
            .map(|group| group.iter().map(|p| p.place).sum::<DVec3>() / group.len() as f64)
            .collect();
        let fields = solution.inside(&places);
        let pairs = groups.zip(fields);
        pairs
            .flat_map(|(group, field)| {
                let traction = field.stress * self.normals[group[0].triangle];
                group.iter().map(move |_| traction)
            })
            .collect()
    }
}

/// Loads of nothing but these tractions.
fn alone(tractions: &[DVec3]) -> Loads<'_> {
    Loads {
        tractions,
        density: 0.0,
        gravity: DVec3::ZERO,
        spin: DVec3::ZERO,
        balance: Balance::Inertia,
    }
}

fn tested(
    points: &[Point],
    corners: &[[u32; 3]],
    unknowns: &Unknowns,
    tractions: &[DVec3],
) -> Vec<f64> {
    let mut sums = vec![[0.0; 3]; unknowns.count];
    for (point, traction) in points.iter().zip(tractions) {
        for (v, shape) in corners[point.triangle].iter().zip(point.shapes) {
            for (k, weight) in &unknowns.follows[*v as usize] {
                for (sum, part) in sums[*k as usize].iter_mut().zip(traction.to_array()) {
                    *sum += part * (weight * shape * point.area);
                }
            }
        }
    }
    sums.as_flattened().to_vec()
}

impl Operator<3> for Equations<'_> {
    fn times(&self, x: &[[f64; 3]], y: &mut [[f64; 3]]) {
        let left: Vec<DVec3> = self.panels.times(x).iter().map(|t| -*t).collect();
        let answer = self.answer(&left).unwrap_or_else(|error| {
            *self.error.borrow_mut() = Some(error);
            vec![DVec3::ZERO; self.points.len()]
        });
        let own = self.own.times(x);
        let sum: Vec<DVec3> = own.iter().zip(&answer).map(|(a, b)| *a + *b).collect();
        let found = self.inverse.solve(&self.test(&sum));
        y.as_flattened_mut().copy_from_slice(&found);
    }
}

impl<'a> Opened<'a> {
    /// Opens a sheet in a body, given the body's response without it. `contains`: whether a place is inside
    /// the body.
    pub fn new(
        body: &'a Body<'a>,
        base: &'a Solution<'a>,
        sheet: &Sheet,
        contains: impl Fn(DVec3) -> bool,
    ) -> Result<Self, SolveError> {
        let field = JumpField::new(sheet, body.elastic);
        let corners = sheet.mesh.triangles.clone();
        let is_inside: Vec<bool> = sheet.mesh.positions.iter().map(|p| contains(*p)).collect();
        let unknowns = Unknowns::new(sheet, &is_inside);
        let points = points(sheet, contains);
        let normals: Vec<DVec3> = (0..corners.len()).map(|t| sheet.normal_of(t)).collect();
        let surface = body.surface;
        let panels: Vec<_> = surface
            .centroids
            .iter()
            .copied()
            .zip(surface.normals.iter().copied())
            .collect();
        let targets: Vec<_> = points
            .iter()
            .map(|p| (p.place, normals[p.triangle]))
            .collect();
        let panels = Rows::new(&field, &corners, &unknowns, &panels);
        let own = Rows::new(&field, &corners, &unknowns, &targets);
        let inverse = inverse(&points, &corners, &unknowns, &own);
        let inverse = inverse.ok_or(SolveError::NotConverged {
            residual: 1.0,
            iterations: 0,
        })?;
        let equations = Equations {
            body,
            points: &points,
            normals,
            corners: &corners,
            unknowns: &unknowns,
            panels,
            own,
            inverse,
            recycled: RefCell::default(),
            error: RefCell::default(),
        };
        let load = equations.test(&equations.across(base));
        let right = equations.inverse.solve(&load);
        let right: Vec<[f64; 3]> = right.chunks(3).map(|r| [-r[0], -r[1], -r[2]]).collect();
        let mut free = right.clone();
        let found = gmres(&equations, &right, &mut free, LIMITS);
        if let Some(error) = equations.error.take() {
            return Err(error);
        }
        if found.residual.is_nan() || found.residual > LIMITS.0 {
            return Err(SolveError::NotConverged {
                residual: found.residual,
                iterations: found.iterations,
            });
        }
        let left: Vec<DVec3> = equations.panels.times(&free).iter().map(|t| -*t).collect();
        let mut recycled = equations.recycled.borrow_mut();
        let answer = body.solver.solve(&alone(&left), &mut recycled)?;
        let jumps = unknowns.jumps(&free);
        let pairs = load.iter().zip(free.as_flattened());
        let work = -pairs.map(|(load, jump)| load * jump).sum::<f64>() / 2.0;
        Ok(Opened {
            field,
            corners,
            jumps,
            base,
            answer,
            elastic: body.elastic,
            work,
            area: points.iter().map(|point| point.area).sum(),
        })
    }

    /// Stress, Pa, at places inside the body, off the sheet.
    pub fn stress(&self, places: &[DVec3]) -> Vec<DMat3> {
        let (base, answer) = (self.base.inside(places), self.answer.inside(places));
        let at = |((x, base), answer): ((&DVec3, &Field), &Field)| {
            let mut gradient = Mat3::diagonal(0.0);
            for (t, corners) in self.corners.iter().enumerate() {
                let jumps = corners.map(|v| vector(&self.jumps[v as usize]));
                gradient = gradient + self.field.gradient(t, *x, jumps);
            }
            base.stress + answer.stress + Field::new(DVec3::ZERO, gradient, self.elastic).stress
        };
        places.par_iter().zip(&base).zip(&answer).map(at).collect()
    }

    /// Energy, J, that the crack has set free under the load: half the work that the stress it takes away
    /// does over its opening.
    pub fn work(&self) -> f64 {
        self.work
    }

    /// Area of the crack in the body, m².
    pub fn area(&self) -> f64 {
        self.area
    }

    /// Jump of the displacement across the sheet, from the lower to the upper side, at its vertices, m.
    pub fn jumps(&self) -> Vec<DVec3> {
        self.jumps.iter().map(|jump| -DVec3::from(*jump)).collect()
    }
}

/// Factors of the equations in the solid without bounds; none where they are singular.
fn inverse(points: &[Point], corners: &[[u32; 3]], unknowns: &Unknowns, own: &Rows) -> Option<Lu> {
    let n = 3 * unknowns.count;
    let mut matrix = vec![0.0; n * n];
    for column in 0..n {
        let tractions: Vec<DVec3> = (0..own.rows)
            .map(|row| {
                let block = own.row(row)[column / 3];
                DVec3::from(block.map(|line| line[column % 3]))
            })
            .collect();
        let sums = tested(points, corners, unknowns, &tractions);
        for (row, sum) in sums.into_iter().enumerate() {
            matrix[row * n + column] = sum;
        }
    }
    // A vertex whose triangles lie outside but for itself stays closed.
    let most = matrix.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
    for row in 0..n {
        if matrix[row * n..(row + 1) * n]
            .iter()
            .all(|v| v.abs() < 1e-9 * most)
        {
            matrix[row * n + row] = most;
        }
    }
    Lu::new(matrix, n)
}
