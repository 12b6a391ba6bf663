//! The elements of a body, whose rows are computed when they are read: as a table they take three times the memory.

use std::f64::consts::PI;
use std::iter::repeat_n;
use std::ops::Range;

use crate::parallel::prelude::*;
use glam::DVec3;

use super::body::PackedBody;
use super::inputs::Inputs;
use crate::columns::{Elements, Shape};
use crate::geometry::mass::Mass;
use crate::spec::MassModel;

/// The elements of a body.
#[derive(Clone, Debug)]
pub(super) struct BodyElements {
    /// Number of the body.
    body: u32,
    /// Number of its first element in the packing.
    first: u32,
    /// Centres in the world, m.
    pub centres: Vec<DVec3>,
    /// Radii, m.
    pub radii: Vec<f64>,
    /// Materials, by their numbers in the pipeline.
    pub materials: Vec<u32>,
    /// Densities of all materials of the pipeline, kg/m³.
    densities: Vec<f64>,
    /// Volume, m³, and mean moment of inertia at density 1, m⁵, of each element if they are cells.
    cells: Option<Vec<[f64; 2]>>,
    /// What the mass of a ball follows from.
    mass_model: MassModel,
    /// Mean radius, m.
    radius: f64,
    /// Sum over all elements of the cube of their radius over the mean one.
    cubes: f64,
    /// Volume of the body, m³.
    body_volume: f64,
    /// Centre of mass, m.
    centre: DVec3,
    /// m/s.
    velocity: DVec3,
    /// rad/s.
    spin: DVec3,
}

impl BodyElements {
    /// Takes centres and radii of the elements of body number `index`, of these `materials`; `first`: number of its
    /// first element.
    pub fn new(
        inputs: &Inputs,
        index: usize,
        packed: &mut PackedBody,
        materials: Vec<u32>,
        first: u32,
    ) -> Self {
        let body = &inputs.bodies[index];
        let of_cell = |mass: &Mass| {
            let moments = [0, 1, 2].map(|k| mass.inertia.col(k)[k]);
            [mass.volume, moments.iter().sum::<f64>() / 3.0]
        };
        let cells = packed.cells.as_ref();
        let cells = cells.map(|cells| cells.masses.iter().map(of_cell).collect());
        let mut elements = BodyElements {
            body: index as u32,
            first,
            centres: std::mem::take(&mut packed.centres),
            radii: std::mem::take(&mut packed.radii),
            materials,
            densities: inputs.materials.iter().map(|one| one.density).collect(),
            cells,
            mass_model: body.mass,
            radius: packed.radius,
            cubes: 0.0,
            body_volume: packed.volume,
            centre: DVec3::ZERO,
            velocity: body.velocity.into(),
            spin: body.spin.into(),
        };
        elements.cubes = elements.radii.iter().map(|r| elements.cube(*r)).sum();
        elements.centre = elements.centre_of_mass();
        elements
    }

    /// Ids of the elements.
    pub fn ids(&self) -> Range<usize> {
        let first = self.first as usize;
        first..first + self.centres.len()
    }

    /// Appends the rows of the elements with these ids to a table.
    pub fn append(&self, ids: Range<usize>, elements: &mut Elements) {
        let first = self.first as usize;
        let rows = ids.start - first..ids.end - first;
        let count = rows.len();
        elements.id.extend(ids.map(|id| id as u32));
        elements.body.extend(repeat_n(self.body, count));
        let materials = &self.materials[rows.clone()];
        elements.material.extend_from_slice(materials);
        for (axis, (column, speeds)) in [
            (&mut elements.x, &mut elements.vx),
            (&mut elements.y, &mut elements.vy),
            (&mut elements.z, &mut elements.vz),
        ]
        .into_iter()
        .enumerate()
        {
            let centres = self.centres[rows.clone()].par_iter();
            column.par_extend(centres.clone().map(|p| p[axis]));
            speeds.par_extend(centres.map(|p| self.moving(*p)[axis]));
        }
        let kind = match self.cells {
            Some(_) => Shape::Cell,
            None => Shape::Sphere,
        };
        elements.kind.extend(repeat_n(kind, count));
        elements.r.extend_from_slice(&self.radii[rows.clone()]);
        let rows = rows.into_par_iter();
        elements
            .mass
            .par_extend(rows.clone().map(|row| self.mass(row)));
        elements
            .inertia
            .par_extend(rows.clone().map(|row| self.inertia(row)));
        elements.volume.par_extend(rows.map(|row| self.volume(row)));
        for (column, value) in [
            (&mut elements.wx, self.spin.x),
            (&mut elements.wy, self.spin.y),
            (&mut elements.wz, self.spin.z),
        ] {
            column.extend(repeat_n(value, count));
        }
    }

    /// Cube of a radius (m) over the mean one: exactly 1 where all radii are equal.
    fn cube(&self, r: f64) -> f64 {
        (r / self.radius).powi(3)
    }

    /// kg/m³.
    fn density(&self, row: usize) -> f64 {
        self.densities[self.materials[row] as usize]
    }

    /// m. Masses are proportional to density × cube, whatever their model.
    fn centre_of_mass(&self) -> DVec3 {
        let (mut weighted, mut weights) = (DVec3::ZERO, 0.0);
        for (row, (p, r)) in self.centres.iter().zip(&self.radii).enumerate() {
            let weight = self.cube(*r) * self.density(row);
            weighted += *p * weight;
            weights += weight;
        }
        weighted / weights
    }

    /// m/s.
    fn moving(&self, p: DVec3) -> DVec3 {
        self.velocity + self.spin.cross(p - self.centre)
    }

    /// The cell's own volume, or the body's volume divided in proportion to the volumes of the balls, m³.
    fn volume(&self, row: usize) -> f64 {
        match &self.cells {
            Some(cells) => cells[row][0],
            None => self.body_volume * self.cube(self.radii[row]) / self.cubes,
        }
    }

    /// kg.
    fn mass(&self, row: usize) -> f64 {
        match (self.mass_model, &self.cells) {
            (MassModel::Bulk, _) | (_, Some(_)) => self.volume(row) * self.density(row),
            (MassModel::Sphere, None) => {
                4.0 / 3.0 * PI * self.radii[row].powi(3) * self.density(row)
            }
        }
    }

    /// kg m².
    fn inertia(&self, row: usize) -> f64 {
        let r = self.radii[row];
        match &self.cells {
            Some(cells) => cells[row][1] * self.density(row),
            None => 0.4 * self.mass(row) * r * r,
        }
    }
}
