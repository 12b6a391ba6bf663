//! Critical time step of cells, by Lanczos iteration on their faces linearised at rest.
//!
//! With the gap g = u_j − u_i + θ_j × a_j − θ_i × a_i and the dilations Σ ½ S g·e, a face exerts on its cells
//!
//! ```text
//! G = k g + ½ S π e        on i, − on j; torques a_i × G, − a_j × G
//! B = Σ κ (δ − k (k·δ))    on i, − on j, δ = θ_j − θ_i, over the axes k = n, s, t
//! C = ½ S ω (n × z)         on i, − on j, in walls of one layer: ω what their bending puts on both cells, from Σ ½ S δ·(n × z)
//! ```

use glam::DVec3;

use super::columns::{Cells, Faces, field, inertia};
use crate::math::Scalar;
use crate::parallel::prelude::*;
use crate::simulate::bonded::bonds::BondSide;
use crate::simulate::bonded::rest::Principal;
use crate::simulate::bonded::system::System;
use crate::solve::lanczos;

/// The cells, linearised at rest.
pub struct LinearisedCells<'a, S> {
    system: &'a System<S>,
    faces: &'a Faces<S>,
    cells: &'a Cells<S>,
    /// Inverse square roots of the masses; 0 if held.
    scale: Vec<f64>,
    /// Principal axes and inverse square roots of the principal moments; 0 if held.
    turns: Vec<(Principal, DVec3)>,
    /// Stiffness of the stiffest contact that each cell may have with a collider, N/m.
    ground: Vec<f64>,
}

/// Displacement and rotation of each cell.
pub type State = Vec<[DVec3; 2]>;

/// A face seen from one of its cells.
struct FaceView {
    arms: [DVec3; 2],
    direction: DVec3,
    axes: [DVec3; 3],
    half_area: f64,
    traction: f64,
    bending: DVec3,
    /// n × z; zero if there is no wall.
    across: DVec3,
}

impl<'a, S: Scalar> LinearisedCells<'a, S> {
    /// Linearised cells with these inverse masses, 1/kg, each on a spring of stiffness `ground`, N/m, where
    /// colliders may touch it.
    pub fn new(
        system: &'a System<S>,
        (faces, cells): (&'a Faces<S>, &'a Cells<S>),
        inverse_mass: &[f64],
        ground: Vec<f64>,
    ) -> Self {
        let turn = |row: &crate::math::lanes::LaneRow<S, 16>| {
            let at = |k: usize| row.0[k].to_f64();
            let vector = |k: usize| DVec3::new(at(k), at(k + 1), at(k + 2));
            let axes = inertia::AXES;
            let principal = Principal {
                moments: vector(inertia::MOMENTS),
                axes: glam::DQuat::from_xyzw(at(axes), at(axes + 1), at(axes + 2), at(axes + 3)),
            };
            let roots = vector(inertia::INVERSE).to_array().map(f64::sqrt);
            (principal, DVec3::from_array(roots))
        };
        LinearisedCells {
            scale: inverse_mass.iter().map(|inverse| inverse.sqrt()).collect(),
            turns: cells.inertia[..system.count].iter().map(turn).collect(),
            ground,
            system,
            faces,
            cells,
        }
    }

    fn face_view(&self, cell: usize, side: BondSide) -> FaceView {
        let (rest, entry) = (&self.faces.rest, side.entry);
        let at = |of: usize| rest.vector(entry, of);
        let (mut arms, mut normal) = ([at(field::ARM_I), at(field::ARM_J)], at(field::NORMAL));
        let second = at(field::SECOND);
        if !side.owned {
            arms.swap(0, 1);
            normal = -normal;
        }
        debug_assert_ne!(cell, side.other);
        FaceView {
            direction: (arms[0] - arms[1]).normalize(),
            arms,
            axes: [normal, second, normal.cross(second)],
            half_area: rest.get(entry, field::HALF_AREA),
            traction: rest.get(entry, field::TRACTION),
            bending: at(field::BENDING),
            // The other cell sees both n and its rotation reversed.
            across: self.faces.through.as_ref().map_or(DVec3::ZERO, |through| {
                normal.cross(through.vector(entry, 0))
            }),
        }
    }

    /// Restoring force and torque on each cell for displacements and rotations.
    pub fn restoring(&self, x: &[[DVec3; 2]]) -> State {
        let gap = |seen: &FaceView, own: [DVec3; 2], other: [DVec3; 2]| {
            other[0] - own[0] + other[1].cross(seen.arms[1]) - own[1].cross(seen.arms[0])
        };
        let cells = || (0..self.system.count).into_par_iter().with_min_len(64);
        let sides = |i: usize| self.system.bonds.active_sides(i);
        let pressure: Vec<f64> = cells()
            .map(|i| {
                let of = |side: BondSide| {
                    let seen = self.face_view(i, side);
                    seen.half_area * gap(&seen, x[i], x[side.other]).dot(seen.direction)
                };
                self.cells.bulk[i].to_f64() * sides(i).map(of).sum::<f64>()
            })
            .collect();
        let folding: Vec<f64> = cells()
            .map(|i| {
                let of = |side: BondSide| {
                    let seen = self.face_view(i, side);
                    seen.half_area * (x[side.other][1] - x[i][1]).dot(seen.across)
                };
                match self.cells.thickness[i] {
                    0.0 => 0.0,
                    square => {
                        let stiffness = self.cells.bulk[i].to_f64() * square;
                        stiffness * sides(i).map(of).sum::<f64>()
                    }
                }
            })
            .collect();
        cells()
            .map(|i| {
                let (mut force, mut torque) = (-x[i][0] * self.ground[i], DVec3::ZERO);
                for side in sides(i) {
                    let seen = self.face_view(i, side);
                    let squeeze = seen.half_area * (pressure[i] + pressure[side.other]);
                    let gap = gap(&seen, x[i], x[side.other]);
                    let at_face = gap * seen.traction + seen.direction * squeeze;
                    force += at_face;
                    torque += seen.arms[0].cross(at_face);
                    let turn = x[side.other][1] - x[i][1];
                    torque += seen.across * (seen.half_area * (folding[i] + folding[side.other]));
                    for axis in 0..3 {
                        let along = seen.axes[axis];
                        torque += seen.bending[axis] * (turn - along * along.dot(turn));
                    }
                }
                [force, torque]
            })
            .collect()
    }

    /// M^{-1/2} x: converts scaled to physical displacements and rotations, and loads to scaled ones.
    fn scaled(&self, x: &[[DVec3; 2]]) -> State {
        let of = |(i, row): (usize, &[DVec3; 2])| {
            let (principal, roots) = self.turns[i];
            let own = principal.axes.inverse() * row[1];
            [row[0] * self.scale[i], principal.axes * (own * roots)]
        };
        x.iter().enumerate().map(of).collect()
    }

    /// Largest S E/((1 + ν) D₀) (1/m_i + 1/m_j) of a face, 1/s².
    pub fn largest_per_mass(&self, inverse: &[f64]) -> f64 {
        let entries = self.system.bonds.entries();
        let of = entries.map(|(i, side)| {
            self.faces.rest.get(side.entry, field::TRACTION) * (inverse[i] + inverse[side.other])
        });
        of.fold(0.0, f64::max)
    }

    /// λ_max of M⁻¹K, 1/s².
    pub fn largest_eigenvalue(&self) -> f64 {
        let apply = |x: &lanczos::ElementVector| {
            let wide = |row: &[f32; 6]| {
                let [a, b, c, d, e, f] = row.map(f64::from);
                [DVec3::new(a, b, c), DVec3::new(d, e, f)]
            };
            let x: State = x.iter().map(wide).collect();
            let loads = self.scaled(&self.restoring(&self.scaled(&x)));
            let narrow =
                |[u, t]: &[DVec3; 2]| [u.x, u.y, u.z, t.x, t.y, t.z].map(|value| -value as f32);
            loads.iter().map(narrow).collect()
        };
        lanczos::largest(self.system.count, &lanczos::Alone, apply)
    }
}
