//! Seven unknowns an element: a place and a quaternion of any length.
//!
//! Bonds, contacts and outer forces see the rotation u = q/|q|; inertia is that of M_s = diag(m, m, m, 4 I)
//! in ℝ⁷ (Lu 2025, eq. 1 and 6); lengths are held by C = |q|² − 1. With Φ the energy on the manifold, s =
//! |q|, c = u·q̂,
//!
//! ```text
//! Ψ = Φ(p, u) + 2I/h² (|q − q̂|² − |u − q̂|²) + Σ λ C + ½ κ C²
//! dθ = 2 Im(dq q̄)/s²             to second order − Re(dq q̄)/s² dθ more
//! ∇²(2I/h² |u − q̂|²) = 4I/(h² s²) (u q̂ᵀ + q̂ uᵀ + c 1 − 3 c u uᵀ)
//! ```
//! so that gradient and Hessian follow from those of Φ in six unknowns. Quaternions are taken times twice the
//! radius: all unknowns are lengths, and at unit quaternions a change along the sphere is as long as the
//! rotation that it is.

use crate::parallel::prelude::*;

use crate::math::{Quat, Vec3};
use crate::simulate::bonded::system::System;
use crate::simulate::methods::implicit::bonds::Form;
use crate::simulate::methods::implicit::start::{Start, conjugate, set_rotation};
use crate::solve::block::{self, Block, Six};
use crate::solve::{BlockMatrix, Operator, Precondition};

/// Unknowns of an element.
pub type Seven = [f64; 7];
type Four = [f64; 4];
type Square<const N: usize> = [[f64; N]; N];

/// Quaternions of all elements, and what holds their lengths.
#[derive(Clone, Debug)]
pub struct Free {
    /// The system has their directions.
    pub q: Vec<Quat<f64>>,
    /// λ, J.
    pub multiplier: Vec<f64>,
    /// κ, J.
    pub stiffness: Vec<f64>,
}

fn components(q: Quat<f64>) -> Four {
    [q.v.x, q.v.y, q.v.z, q.w]
}

fn quaternion(four: &[f64]) -> Quat<f64> {
    Quat::new(four[0], four[1], four[2], four[3])
}

fn scaled(q: Quat<f64>, by: f64) -> Quat<f64> {
    Quat {
        v: q.v * by,
        w: q.w * by,
    }
}

/// How changes of a quaternion and of its direction go with each other.
#[derive(Clone, Copy)]
struct Lift {
    q: Quat<f64>,
    /// |q|².
    square: f64,
}

impl Lift {
    fn new(q: Quat<f64>) -> Self {
        Lift {
            q,
            square: q.dot(q),
        }
    }

    /// The rotation that a change of the quaternion is.
    #[inline(always)]
    fn lower(&self, change: &[f64]) -> Vec3<f64> {
        quaternion(change).product(conjugate(self.q)).v * (1.0 / self.square)
    }

    /// The derivative by the quaternion that goes with one by rotations.
    #[inline(always)]
    fn raise(&self, torque: Vec3<f64>) -> Four {
        let turn = Quat { v: torque, w: 0.0 };
        components(scaled(turn.product(self.q), 1.0 / self.square))
    }

    #[inline(always)]
    fn lower_all(&self, x: &Seven) -> Six {
        let turn = self.lower(&x[3..]);
        [x[0], x[1], x[2], turn.x, turn.y, turn.z]
    }

    #[inline(always)]
    fn raise_all(&self, y: &Six) -> Seven {
        let [a, b, c, d] = self.raise(Vec3::new(y[3], y[4], y[5]));
        [y[0], y[1], y[2], a, b, c, d]
    }
}

/// `a += factor (b cᵀ + c bᵀ)/2`.
fn add_outer(a: &mut Square<4>, factor: f64, b: &Four, c: &Four) {
    for (i, column) in a.iter_mut().enumerate() {
        for (j, value) in column.iter_mut().enumerate() {
            *value += 0.5 * factor * (b[i] * c[j] + c[i] * b[j]);
        }
    }
}

fn add_unit(a: &mut Square<4>, factor: f64) {
    for (k, column) in a.iter_mut().enumerate() {
        column[k] += factor;
    }
}

impl Free {
    /// Unit quaternions that nothing holds.
    pub fn new(system: &System<f64>) -> Self {
        Free {
            q: (0..system.count).map(|i| system.quaternion(i)).collect(),
            multiplier: vec![0.0; system.count],
            stiffness: vec![0.0; system.count],
        }
    }

    /// C of an element.
    pub fn violation(&self, i: usize) -> f64 {
        self.q[i].dot(self.q[i]) - 1.0
    }

    /// Largest error of a length.
    pub fn worst(&self) -> f64 {
        let errors = self.q.iter().map(|q| (q.dot(*q).sqrt() - 1.0).abs());
        errors.fold(0.0, f64::max)
    }

    /// λ + κ C of an element, J.
    fn hold(&self, i: usize) -> f64 {
        self.multiplier[i] + self.stiffness[i] * self.violation(i)
    }

    /// Moves elements and quaternions by `factor` times what was found.
    pub fn displace(&mut self, system: &mut System<f64>, found: &[Seven], factor: f64) {
        for (i, by) in found.iter().enumerate() {
            if by.iter().all(|&value| value == 0.0) {
                continue;
            }
            let [x, y, z, ..] = by.map(|value| value * factor);
            let p = system.position(i) + glam::DVec3::new(x, y, z);
            system.set_position(i, p);
            let change = scaled(quaternion(&by[3..]), factor / (2.0 * system.radius(i)));
            let q = &mut self.q[i];
            *q = Quat {
                v: q.v + change.v,
                w: q.w + change.w,
            };
            set_rotation(&mut system.motion[i], q.normalised());
        }
    }

    /// Derivatives of Ψ, N, from those on the manifold.
    pub fn gradient(&self, system: &System<f64>, start: &Start, six: &[Six]) -> Vec<Seven> {
        let of = |i: usize| {
            if start.is_held(i) {
                return [0.0; 7];
            }
            let (q, r) = (self.q[i], system.radius(i));
            let lift = Lift::new(q);
            let size = lift.square.sqrt();
            let (inertia, ahead) = start.free_inertia(i, q);
            let cosine = q.dot(ahead) / size;
            let mut seven = lift.raise_all(&six[i]);
            let (q, ahead) = (components(q), components(ahead));
            for k in 0..4 {
                let free = q[k] - ahead[k] + (ahead[k] - cosine * q[k] / size) / size;
                seven[3 + k] += inertia / (2.0 * r) * free + self.hold(i) / r * q[k];
            }
            seven
        };
        let all = (0..system.count).into_par_iter().with_min_len(256).map(of);
        all.collect()
    }

    /// Second derivatives of Ψ from those on the manifold; `six` are its first ones. Unless `form` is exact
    /// they have no negative part but what `matrix` has.
    pub fn matrix<'a>(
        &self,
        (system, start): (&System<f64>, &Start),
        (matrix, six): (&'a BlockMatrix, &[Six]),
        form: Form,
    ) -> FreeMatrix<'a> {
        let own = |i: usize| {
            let mut own = [[0.0; 4]; 4];
            let (q, r) = (self.q[i], system.radius(i));
            let lift = Lift::new(q);
            if start.is_held(i) {
                add_unit(&mut own, 1.0);
                return (lift, own);
            }
            let (inertia, ahead) = start.free_inertia(i, q);
            let stiff = inertia / (4.0 * r * r);
            let unit = components(scaled(q, 1.0 / lift.square.sqrt()));
            let hold = self.hold(i) / (2.0 * r * r);
            if form == Form::Exact {
                let torque = lift.raise(Vec3::new(six[i][3], six[i][4], six[i][5]));
                let chord = -1.0 / (r * lift.square);
                add_outer(&mut own, chord, &components(q), &torque);
                let ahead = components(ahead);
                let cosine: f64 = unit.iter().zip(&ahead).map(|(a, b)| a * b).sum();
                add_unit(&mut own, stiff * (1.0 - cosine / lift.square) + hold);
                add_outer(&mut own, -2.0 * stiff / lift.square, &unit, &ahead);
                add_outer(&mut own, 3.0 * stiff * cosine / lift.square, &unit, &unit);
            } else {
                add_outer(&mut own, stiff, &unit, &unit);
                add_unit(&mut own, hold.max(0.0));
            }
            let along = components(q);
            add_outer(&mut own, self.stiffness[i] / (r * r), &along, &along);
            (lift, own)
        };
        let all = (0..system.count).into_par_iter().with_min_len(256).map(own);
        let (lift, own) = all.unzip();
        FreeMatrix {
            six: matrix,
            lift,
            own,
        }
    }
}

/// Second derivatives in seven unknowns an element, known by their products.
pub struct FreeMatrix<'a> {
    six: &'a BlockMatrix,
    lift: Vec<Lift>,
    /// What each quaternion has for itself.
    own: Vec<Square<4>>,
}

impl FreeMatrix<'_> {
    fn add_own(&self, i: usize, x: &Seven, y: &mut Seven) {
        for (column, &x) in self.own[i].iter().zip(&x[3..]) {
            for (y, &a) in y[3..].iter_mut().zip(column) {
                *y += a * x;
            }
        }
    }

    /// Inverses of the blocks on the diagonal; none where one is not positive definite.
    pub fn inverse_diagonal(&self) -> Option<Blocks> {
        let of = |i: usize| {
            let at = self.six.find(i, i)?;
            let whole: &Block = &self.six.value[at];
            let column = |k: usize| {
                let mut x = [0.0; 7];
                x[k] = 1.0;
                let mut six = [0.0; 6];
                block::add_times(&mut six, whole, &self.lift[i].lower_all(&x));
                let mut y = self.lift[i].raise_all(&six);
                self.add_own(i, &x, &mut y);
                y
            };
            block::inverse::<7>(&std::array::from_fn(column))
        };
        let all = (0..self.lift.len()).into_par_iter().with_min_len(256);
        let inverses: Vec<Option<_>> = all.map(of).collect();
        Some(Blocks(inverses.into_iter().collect::<Option<_>>()?))
    }
}

impl Operator<7> for FreeMatrix<'_> {
    fn times(&self, x: &[Seven], y: &mut [Seven]) {
        let lowered = x.par_iter().with_min_len(256).zip(&self.lift);
        let lowered: Vec<Six> = lowered.map(|(x, lift)| lift.lower_all(x)).collect();
        let mut six = vec![[0.0; 6]; x.len()];
        self.six.times(&lowered, &mut six);
        y.par_iter_mut()
            .with_min_len(256)
            .enumerate()
            .for_each(|(i, y)| {
                *y = self.lift[i].raise_all(&six[i]);
                self.add_own(i, &x[i], y);
            });
    }
}

/// Inverses of blocks on a diagonal.
pub struct Blocks(pub Vec<Square<7>>);

impl Blocks {
    /// `D⁻¹ r` of an element.
    #[inline(always)]
    pub fn apply_at(&self, i: usize, r: &[f64]) -> Seven {
        let mut z = [0.0; 7];
        for (column, &r) in self.0[i].iter().zip(r) {
            for (z, &a) in z.iter_mut().zip(column) {
                *z += a * r;
            }
        }
        z
    }
}

impl Precondition<7> for Blocks {
    fn apply(&mut self, r: &[Seven], z: &mut [Seven]) {
        z.par_iter_mut()
            .with_min_len(256)
            .enumerate()
            .for_each(|(i, z)| *z = self.apply_at(i, &r[i]));
    }
}
