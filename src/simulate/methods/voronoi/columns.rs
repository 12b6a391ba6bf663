//! Cells and faces as columns, beside those of elements and bonds: a face stands where its bond does.

use glam::DVec3;

use crate::laws::cell::FaceStiffness;
use crate::math::lanes::Row;
use crate::math::{Lanes, Scalar, Vec3};
use crate::simulate::bonded::bonds::Bonds;
use crate::simulate::bonded::rest::Principal;

/// Three columns of a vector.
pub type Vectors<S> = [Vec<S>; 3];

/// A face at rest, seen from the cell that owns its bond.
#[derive(Clone, Copy, Debug)]
pub struct FaceRow {
    /// From the centre of the owner, and from that of the other cell, to the face's, m.
    pub arms: [DVec3; 2],
    /// Unit normal out of the owner.
    pub normal: DVec3,
    /// First principal axis.
    pub second: DVec3,
    /// S, m².
    pub area: f64,
    /// Stiffnesses.
    pub stiffness: FaceStiffness,
    /// c/J, c/I_s, c/I_t, 1/m³.
    pub moduli: [f64; 3],
    /// Coefficients of damping, N s/m and N m s.
    pub damping: [f64; 2],
}

/// Faces between cells, by entry of their bonds.
#[derive(Clone, Debug)]
pub struct Faces<S> {
    /// From the owner's centre, m.
    pub arm_i: Vectors<S>,
    /// From the other cell's centre, m.
    pub arm_j: Vectors<S>,
    /// Unit normal out of the owner.
    pub normal: Vectors<S>,
    /// First principal axis.
    pub second: Vectors<S>,
    /// S/2, m².
    pub half_area: Vec<S>,
    /// S E/((1 + ν) D₀), N/m.
    pub traction: Vec<S>,
    /// k_n, k_s, k_t, N m.
    pub bending: Vectors<S>,
    /// c/J, c/I_s, c/I_t, 1/m³.
    pub moduli: Vectors<S>,
    /// Coefficients of damping; empty where there is none.
    pub damping: Option<[Vec<S>; 2]>,
}

fn set<S: Scalar>(columns: &mut [Vec<S>], entry: usize, values: impl IntoIterator<Item = f64>) {
    for (column, value) in columns.iter_mut().zip(values) {
        column[entry] = S::from_f64(value);
    }
}

impl<S: Scalar> Faces<S> {
    /// Without faces, for as many entries as the bonds have.
    pub fn new(bonds: &Bonds<S>, damped: bool) -> Self {
        let entries = bonds.other.len();
        let column = |_| vec![S::default(); entries];
        // Lanes without a face must not divide by nothing or have axes without a direction.
        let axis = |along: usize| {
            [0, 1, 2].map(|k| vec![S::splat(f64::from(u8::from(k == along))); entries])
        };
        Faces {
            arm_i: [0, 1, 2].map(column),
            arm_j: [0, 1, 2].map(column),
            normal: axis(0),
            second: axis(1),
            half_area: column(0),
            traction: column(0),
            bending: [0, 1, 2].map(column),
            moduli: [0, 1, 2].map(column),
            damping: damped.then(|| [0, 1].map(column)),
        }
    }

    /// Sets the face of an entry.
    pub fn put(&mut self, entry: usize, row: &FaceRow) {
        set(&mut self.arm_i, entry, row.arms[0].to_array());
        set(&mut self.arm_j, entry, row.arms[1].to_array());
        set(&mut self.normal, entry, row.normal.to_array());
        set(&mut self.second, entry, row.second.to_array());
        self.half_area[entry] = S::from_f64(0.5 * row.area);
        self.traction[entry] = S::from_f64(row.stiffness.traction);
        set(&mut self.bending, entry, row.stiffness.bending);
        set(&mut self.moduli, entry, row.moduli);
        if let Some(damping) = &mut self.damping {
            set(damping, entry, row.damping);
        }
    }

    /// Volume of the pyramid over the face of an entry from either cell's centre, m³: owner, other.
    pub fn pyramids(&self, entry: usize) -> [f64; 2] {
        let at =
            |columns: &Vectors<S>| DVec3::from_array([0, 1, 2].map(|k| columns[k][entry].to_f64()));
        let third = 2.0 * self.half_area[entry].to_f64() / 3.0;
        let normal = at(&self.normal);
        [
            third * normal.dot(at(&self.arm_i)),
            -third * normal.dot(at(&self.arm_j)),
        ]
    }

    /// Bytes of a face that a step reads, strengths left out.
    pub fn bytes(&self) -> u64 {
        let more = 2 * usize::from(self.damping.is_some());
        ((17 + more) * size_of::<S>() + 4) as u64
    }
}

/// A vector of consecutive entries.
#[inline(always)]
pub fn load<L: Lanes>(columns: &Vectors<L::Scalar>, entry: usize) -> Vec3<L> {
    Vec3::new(
        L::load(&columns[0][entry..]),
        L::load(&columns[1][entry..]),
        L::load(&columns[2][entry..]),
    )
}

/// Columns of a row of [`Cells::inertia`].
pub mod inertia {
    /// Principal moments.
    pub const MOMENTS: usize = 0;
    /// Inverse principal moments; 0 where the cell is held.
    pub const INVERSE: usize = 4;
    /// Principal axes, a quaternion.
    pub const AXES: usize = 8;
}

/// Volumes of a cell at rest.
#[derive(Clone, Copy, Debug, Default)]
pub struct Volumes {
    /// The cell's, m³.
    pub all: f64,
    /// That of the pyramids over the faces that are free from the start, m³.
    pub free: f64,
    /// 3ν/(1 − 2ν).
    pub ratio: f64,
}

/// Cells.
#[derive(Clone, Debug)]
pub struct Cells<S> {
    /// Moments and axes.
    pub inertia: Vec<Row<S, 16>>,
    /// Angular momentum about the centre, world frame, kg m²/s.
    pub momentum: Vec<Row<S, 4>>,
    /// Left-over rotation, and λ ε, Pa.
    pub pressure: Vec<Row<S, 4>>,
    /// λ/V, Pa/m³: 0 of elements without a face.
    pub bulk: Vec<S>,
    /// Volumes of each.
    pub volumes: Vec<Volumes>,
    /// λ of each, Pa.
    pub lame: Vec<f64>,
}

impl<S: Scalar> Cells<S> {
    /// Padded to `padded` rows; those beyond are held.
    pub fn new(padded: usize) -> Self {
        let mut idle = Row::default();
        for k in 0..3 {
            idle.0[inertia::MOMENTS + k] = S::splat(1.0);
        }
        idle.0[inertia::AXES + 3] = S::splat(1.0);
        Cells {
            inertia: vec![idle; padded],
            momentum: vec![Row::default(); padded],
            pressure: vec![Row::default(); padded],
            bulk: vec![S::default(); padded],
            volumes: vec![Volumes::default(); padded],
            lame: vec![0.0; padded],
        }
    }

    /// Sets moments and axes of a cell; a held one has no inverse moments.
    pub fn put_inertia(&mut self, cell: usize, principal: Principal, held: bool) {
        let row = &mut self.inertia[cell].0;
        let moments = principal.moments.to_array();
        for (k, moment) in moments.into_iter().enumerate() {
            row[inertia::MOMENTS + k] = S::from_f64(moment);
            let inverse = if held { 0.0 } else { 1.0 / moment };
            row[inertia::INVERSE + k] = S::from_f64(inverse);
        }
        for (k, value) in principal.axes.to_array().into_iter().enumerate() {
            row[inertia::AXES + k] = S::from_f64(value);
        }
    }

    /// Brings λ/V of a cell up to date with the faces that have broken.
    pub fn refresh(&mut self, cell: usize, bonds: &Bonds<S>, faces: &Faces<S>) {
        let Volumes { all, free, ratio } = self.volumes[cell];
        let broken = bonds.sides(cell).filter(|side| !bonds.is_whole(side.entry));
        let more = broken.map(|side| faces.pyramids(side.entry)[usize::from(!side.owned)]);
        let free = free + more.sum::<f64>();
        if all > 0.0 {
            self.bulk[cell] = S::from_f64(self.lame[cell] / (all + ratio * free));
        }
    }

    /// Energy of a cell by its dilation, J: ½ V (λε)²/λ.
    pub fn dilation_energy(&self, cell: usize) -> f64 {
        let (pressure, bulk) = (self.pressure[cell].0[3].to_f64(), self.bulk[cell].to_f64());
        if bulk == 0.0 {
            return 0.0;
        }
        // λε = (λ/V) Σ, so that ½ λ V ε² = ½ (λε)²/(λ/V).
        0.5 * pressure * pressure / bulk
    }
}
