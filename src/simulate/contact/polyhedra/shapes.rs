//! The polyhedra of the elements that have one.

use glam::DVec3;

use crate::columns::{Cells, Faces};
use crate::geometry::polyhedron::Polyhedron;
use crate::math::Scalar;
use crate::parallel::prelude::*;
use crate::simulate::bonded::system::System;
use crate::simulate::error::SimulateError;

/// How far beyond its farthest face's centre a cell may reach, over that distance: where faces too small to
/// transmit anything were left out, others meet farther off.
const BOUND: f64 = 2.0;

/// An element's polyhedron, in the axes that it has at rest.
#[derive(Clone, Debug)]
pub struct Shape {
    /// About the element's centre.
    pub solid: Polyhedron,
    /// Largest area of its projection along the normal of a face, m².
    pub area: f64,
    /// Inverse of its smallest moment of inertia, 1/(kg m²).
    pub inverse_inertia: f64,
    /// Whether it has a face beyond which there is no cell at rest.
    pub is_at_skin: bool,
}

/// Polyhedra by element.
#[derive(Clone, Debug)]
pub struct Shapes {
    of: Vec<Option<Box<Shape>>>,
    largest_reach: f64,
}

impl Shapes {
    /// Of the cells of a packing whose centres are those of the system at rest.
    ///
    /// # Errors
    /// A cell whose faces bound nothing.
    pub fn new<S: Scalar>(
        cells: &Cells,
        faces: &Faces,
        system: &System<S>,
    ) -> Result<Self, SimulateError> {
        let mut planes: Vec<Vec<(DVec3, f64)>> = vec![Vec::new(); system.count];
        let mut is_at_skin = vec![false; system.count];
        for row in 0..faces.id.len() {
            let (normal, centre) = (faces.normal(row), faces.centre(row));
            let free = faces.is_free(row);
            let mut add = |cell: u32, normal: DVec3| {
                let cell = cell as usize;
                planes[cell].push((normal, normal.dot(centre - system.position(cell))));
                is_at_skin[cell] |= free;
            };
            add(faces.i[row], normal);
            if !free {
                add(faces.j[row], -normal);
            }
        }
        let farthest = |planes: &[(DVec3, f64)], reach: f64| {
            let offsets = planes.iter().map(|(_, offset)| offset.abs());
            BOUND * offsets.fold(reach, f64::max)
        };
        let made: Vec<Option<Polyhedron>> = cells
            .id
            .par_iter()
            .with_min_len(64)
            .map(|&id| {
                let cell = id as usize;
                let bound = farthest(&planes[cell], system.radius(cell));
                Polyhedron::behind(&planes[cell], bound)
            })
            .collect();
        let mut of: Vec<Option<Box<Shape>>> = vec![None; system.count];
        let mut largest_reach = 0.0f64;
        for (row, solid) in made.into_iter().enumerate() {
            let cell = cells.id[row] as usize;
            let smallest = cells.i1[row].min(cells.i2[row]).min(cells.i3[row]);
            let Some(solid) = solid else {
                let what = format!("the faces of cell {cell} bound nothing; pack again");
                return Err(SimulateError::Packing(what));
            };
            largest_reach = largest_reach.max(solid.reach());
            of[cell] = Some(Box::new(Shape {
                area: solid.largest_projection(),
                inverse_inertia: 1.0 / smallest,
                is_at_skin: is_at_skin[cell],
                solid,
            }));
        }
        Ok(Shapes { of, largest_reach })
    }

    /// The shape of an element; none of a ball.
    #[inline]
    pub fn get(&self, element: usize) -> Option<&Shape> {
        self.of[element].as_deref()
    }

    /// Distance from an element's centre to the farthest point of it, m.
    #[inline]
    pub fn reach<S: Scalar>(&self, system: &System<S>, element: usize) -> f64 {
        match self.get(element) {
            Some(shape) => shape.solid.reach(),
            None => system.radius(element),
        }
    }

    /// How much stiffer the contacts of an element may be than those of a ball of its radius.
    pub fn stiffer<S: Scalar>(&self, system: &System<S>, element: usize) -> f64 {
        let r = system.radius(element);
        self.get(element).map_or(1.0, |shape| {
            let disc = std::f64::consts::PI * r * r;
            (shape.area / disc).max(1.0)
        })
    }

    /// Largest distance from the centre of a polyhedron to a corner of it, m.
    pub fn largest_reach(&self) -> f64 {
        self.largest_reach
    }
}
