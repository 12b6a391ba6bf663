//! Cells and faces as columns, beside those of elements and bonds: a face stands where its bond does.

use glam::DVec3;

use crate::laws::cell::FaceStiffness;
use crate::math::lanes::Row;
use crate::math::{Lanes, Scalar, Vec3, prefetch};
use crate::simulate::bonded::bonds::{BLOCK, Bonds};
use crate::simulate::bonded::rest::Principal;

/// A number of each element of a block.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Lane<S>([S; BLOCK]);

/// Numbers of faces by entry of their bonds, those of a block's slot side by side: a pass reads one stream,
/// however many there are.
#[derive(Clone, Debug)]
pub struct Fields<S> {
    fields: usize,
    lanes: Vec<Lane<S>>,
}

impl<S: Scalar> Fields<S> {
    fn new(entries: usize, fields: usize) -> Self {
        Fields {
            fields,
            lanes: vec![Lane([S::default(); BLOCK]); entries / BLOCK * fields],
        }
    }

    fn set(&mut self, entry: usize, field: usize, value: f64) {
        self.lanes[entry / BLOCK * self.fields + field].0[entry % BLOCK] = S::from_f64(value);
    }

    fn set_vector(&mut self, entry: usize, field: usize, values: [f64; 3]) {
        for (k, value) in values.into_iter().enumerate() {
            self.set(entry, field + k, value);
        }
    }

    /// A number of one entry.
    #[inline(always)]
    pub fn get(&self, entry: usize, field: usize) -> f64 {
        self.lanes[entry / BLOCK * self.fields + field].0[entry % BLOCK].to_f64()
    }

    /// A vector of one entry.
    #[inline(always)]
    pub fn vector(&self, entry: usize, field: usize) -> DVec3 {
        DVec3::new(
            self.get(entry, field),
            self.get(entry, field + 1),
            self.get(entry, field + 2),
        )
    }

    /// Asks for the first numbers of an entry's slot, so that they are near when they are loaded.
    #[inline(always)]
    pub fn ask(&self, entry: usize, fields: usize) {
        let first = self
            .lanes
            .as_ptr()
            .wrapping_add(entry / BLOCK * self.fields);
        for field in 0..fields.min(self.fields) {
            prefetch(first, field * size_of::<Lane<S>>());
        }
    }

    /// The numbers of these entries, one behind the other, filled up to whole blocks.
    fn these(&self, entries: &[u32]) -> Self {
        let mut these = Self::new(entries.len().next_multiple_of(BLOCK), self.fields);
        for (to, &from) in entries.iter().enumerate() {
            for field in 0..self.fields {
                these.set(to, field, self.get(from as usize, field));
            }
        }
        these
    }

    /// A number of consecutive entries.
    #[inline(always)]
    pub fn lanes<L: Lanes<Scalar = S>>(&self, entry: usize, field: usize) -> L {
        L::load(&self.lanes[entry / BLOCK * self.fields + field].0[entry % BLOCK..])
    }

    /// A vector of consecutive entries.
    #[inline(always)]
    pub fn vectors<L: Lanes<Scalar = S>>(&self, entry: usize, field: usize) -> Vec3<L> {
        Vec3::new(
            self.lanes(entry, field),
            self.lanes(entry, field + 1),
            self.lanes(entry, field + 2),
        )
    }
}

/// The numbers of a row of faces at rest but those of damping, looked up once.
#[derive(Clone, Copy)]
pub struct RestLanes<'a, S> {
    lanes: &'a [Lane<S>; field::DAMPING],
    /// First lane.
    at: usize,
}

impl<'a, S: Scalar> RestLanes<'a, S> {
    /// Of consecutive entries.
    #[inline(always)]
    pub fn of<L: Lanes<Scalar = S>>(faces: &'a Faces<S>, entry: usize) -> Self {
        let (rest, at) = (&faces.rest, entry % BLOCK);
        let lanes = rest.lanes[entry / BLOCK * rest.fields..].first_chunk();
        assert!(at + L::WIDTH <= BLOCK, "a row of lanes within a block");
        RestLanes {
            lanes: lanes.expect("every face has these"),
            at,
        }
    }

    /// A number.
    #[inline(always)]
    pub fn get<L: Lanes<Scalar = S>>(&self, field: usize) -> L {
        L::load(&self.lanes[field].0[self.at..])
    }

    /// A vector.
    #[inline(always)]
    pub fn vector<L: Lanes<Scalar = S>>(&self, field: usize) -> Vec3<L> {
        Vec3::new(self.get(field), self.get(field + 1), self.get(field + 2))
    }
}

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
    /// Axis through the wall that it is a face of; zero where it is none.
    pub through: DVec3,
}

/// A face at rest as columns have it, seen from one of its cells.
#[derive(Clone, Copy, Debug)]
pub struct FaceSide {
    /// From the centre of this cell, and from that of the other, to the face's, m.
    pub arms: [DVec3; 2],
    /// Unit normal out of this cell.
    pub normal: DVec3,
    /// First principal axis.
    pub second: DVec3,
    /// S/2, m².
    pub half_area: f64,
    /// S E/((1 + ν) D₀), N/m.
    pub traction: f64,
    /// k_n, k_s, k_t, N m.
    pub bending: DVec3,
    /// c/J, c/I_s, c/I_t, 1/m³.
    pub moduli: DVec3,
    /// Coefficients of damping, N s/m and N m s.
    pub damping: [f64; 2],
    /// Axis through the wall that it is a face of; zero where it is none.
    pub through: DVec3,
}

/// What of [`Faces::rest`] stands where; vectors take three.
pub mod field {
    /// From the owner's centre to the face's, m.
    pub const ARM_I: usize = 0;
    /// From the other cell's centre to the face's, m.
    pub const ARM_J: usize = 3;
    /// S/2, m².
    pub const HALF_AREA: usize = 6;
    /// Those above alone say how much a face adds to the dilation of its cells.
    pub const OF_DILATION: usize = 7;
    /// S E/((1 + ν) D₀), N/m.
    pub const TRACTION: usize = 7;
    /// Unit normal out of the owner.
    pub const NORMAL: usize = 8;
    /// First principal axis.
    pub const SECOND: usize = 11;
    /// k_n, k_s, k_t, N m.
    pub const BENDING: usize = 14;
    /// Coefficients of damping of translation, N s/m, and of rotation, N m s; there where anything is damped.
    pub const DAMPING: usize = 17;
}

/// Faces between cells, by entry of their bonds.
#[derive(Clone, Debug)]
pub struct Faces<S> {
    /// Faces at rest.
    pub rest: Fields<S>,
    /// c/J, c/I_s, c/I_t, 1/m³.
    pub moduli: Fields<S>,
    /// Axes through the walls of one layer that they are faces of; none where there are no walls.
    pub through: Option<Fields<S>>,
    /// Whether any is damped.
    pub damped: bool,
}

impl<S: Scalar> Faces<S> {
    /// Without faces, for as many entries as the bonds have.
    pub fn new(bonds: &Bonds<S>, damped: bool, walls: bool) -> Self {
        let entries = bonds.other.len();
        let mut rest = Fields::new(entries, field::DAMPING + if damped { 2 } else { 0 });
        // Lanes without a face must not divide by nothing or have axes without a direction.
        for entry in 0..entries {
            rest.set(entry, field::NORMAL, 1.0);
            rest.set(entry, field::SECOND + 1, 1.0);
            rest.set(entry, field::HALF_AREA, 1.0);
        }
        Faces {
            rest,
            moduli: Fields::new(entries, 3),
            through: walls.then(|| Fields::new(entries, 3)),
            damped,
        }
    }

    /// Sets the face of an entry.
    pub fn put(&mut self, entry: usize, row: &FaceRow) {
        let rest = &mut self.rest;
        rest.set_vector(entry, field::ARM_I, row.arms[0].to_array());
        rest.set_vector(entry, field::ARM_J, row.arms[1].to_array());
        rest.set_vector(entry, field::NORMAL, row.normal.to_array());
        rest.set_vector(entry, field::SECOND, row.second.to_array());
        rest.set(entry, field::HALF_AREA, 0.5 * row.area);
        rest.set(entry, field::TRACTION, row.stiffness.traction);
        rest.set_vector(entry, field::BENDING, row.stiffness.bending);
        if self.damped {
            rest.set(entry, field::DAMPING, row.damping[0]);
            rest.set(entry, field::DAMPING + 1, row.damping[1]);
        }
        self.moduli.set_vector(entry, 0, row.moduli);
        if let Some(through) = &mut self.through {
            through.set_vector(entry, 0, row.through.to_array());
        }
    }

    /// The faces of these entries, one behind the other, without what criteria ask for.
    pub fn these(&self, entries: &[u32]) -> Self {
        Faces {
            rest: self.rest.these(entries),
            moduli: Fields::new(0, 0),
            through: self.through.as_ref().map(|through| through.these(entries)),
            damped: self.damped,
        }
    }

    /// The face of an entry, seen from the owner or, `swapped`, from the other cell.
    pub fn side(&self, entry: usize, swapped: bool) -> FaceSide {
        let rest = &self.rest;
        let [own, other] = [field::ARM_I, field::ARM_J].map(|at| rest.vector(entry, at));
        let normal = rest.vector(entry, field::NORMAL);
        let through = self.through.as_ref();
        FaceSide {
            arms: if swapped { [other, own] } else { [own, other] },
            normal: if swapped { -normal } else { normal },
            second: rest.vector(entry, field::SECOND),
            half_area: rest.get(entry, field::HALF_AREA),
            traction: rest.get(entry, field::TRACTION),
            bending: rest.vector(entry, field::BENDING),
            moduli: self.moduli.vector(entry, 0),
            damping: [0, 1].map(|k| match self.damped {
                true => rest.get(entry, field::DAMPING + k),
                false => 0.0,
            }),
            through: through.map_or(DVec3::ZERO, |through| through.vector(entry, 0)),
        }
    }

    /// Volume of the pyramids over the face of an entry from either cell's centre, m³: owner, other.
    pub fn pyramids(&self, entry: usize) -> [f64; 2] {
        let rest = &self.rest;
        let third = 2.0 * rest.get(entry, field::HALF_AREA) / 3.0;
        let normal = rest.vector(entry, field::NORMAL);
        [
            third * normal.dot(rest.vector(entry, field::ARM_I)),
            -third * normal.dot(rest.vector(entry, field::ARM_J)),
        ]
    }

    /// Bytes of a face that both passes of a step read, strengths left out.
    pub fn bytes(&self) -> u64 {
        ((field::OF_DILATION + self.rest.fields) * size_of::<S>() + 2 * 4) as u64
    }
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
    /// Ω λ (h²/12)/V of the cells of walls, N/m: what bending puts on their faces; the rest is not used.
    /// Empty where there are no walls.
    pub folding: Vec<Row<S, 4>>,
    /// h²/12 of the cells of walls, m², 0 of others.
    pub thickness: Vec<f64>,
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
            folding: Vec::new(),
            thickness: vec![0.0; padded],
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

    /// Energy of a cell by its dilation and by the bending of the wall that it is in, J.
    pub fn own_energy(&self, cell: usize) -> f64 {
        let folding = self.folding.get(cell).map_or(0.0, |row| row.0[0].to_f64());
        let compliance = self.bulk[cell].to_f64() * self.thickness[cell];
        let folded = match compliance == 0.0 {
            true => 0.0,
            false => 0.5 * folding * folding / compliance,
        };
        self.dilation_energy(cell) + folded
    }

    /// Energy of a cell by its dilation, J: ½ V (λε)²/λ.
    fn dilation_energy(&self, cell: usize) -> f64 {
        let (pressure, bulk) = (self.pressure[cell].0[3].to_f64(), self.bulk[cell].to_f64());
        if bulk == 0.0 {
            return 0.0;
        }
        // λε = (λ/V) Σ, so that ½ λ V ε² = ½ (λε)²/(λ/V).
        0.5 * pressure * pressure / bulk
    }
}
