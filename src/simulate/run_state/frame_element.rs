//! What a frame records of an element.

use glam::{DQuat, DVec3};

use crate::math::Scalar;
use crate::simulate::bonded::bond_tasks::StressAndEnergy;
use crate::simulate::bonded::breaks::BrokenSides;
use crate::simulate::bonded::rest::RestData;
use crate::simulate::bonded::system::System;

/// What a frame records of an element, at the end of a step.
#[derive(Clone, Copy, Debug)]
pub struct FrameElement {
    /// Position, m.
    pub position: DVec3,
    /// Velocity, m/s.
    pub velocity: DVec3,
    /// Angular velocity, rad/s.
    pub spin: DVec3,
    /// Rotation since packing.
    pub rotation: DQuat,
    /// Radius, m.
    pub radius: f64,
    /// Mass, kg.
    pub mass: f64,
    /// Volume, m³.
    pub volume: f64,
    /// Body.
    pub body: u32,
    /// Inverse mass in the run, 1/kg; 0 if clamped.
    pub inverse_mass: f64,
    /// Angular momentum about its centre, kg m²/s; zero if clamped.
    pub momentum: DVec3,
    /// Stress and energy of its bonds.
    pub carried: StressAndEnergy,
    /// Its broken bonds.
    pub broken: BrokenSides,
}

/// The columns that [`FrameElement`]s are read from.
#[derive(Clone, Copy)]
pub struct FrameColumns<'a, S> {
    /// Motion and bonds.
    pub system: &'a System<S>,
    /// Data that do not change during the run.
    pub rest: &'a RestData,
    /// Stress and energy of the bonds of each element.
    pub carried: &'a [StressAndEnergy],
}

impl<S: Scalar> FrameColumns<'_, S> {
    /// An element that this process holds.
    pub fn element(&self, i: usize) -> FrameElement {
        let (system, rest) = (self.system, self.rest);
        let (rotation, spin) = (system.rotation(i), system.spin(i));
        let inverse_mass = rest.inverse_mass[i];
        FrameElement {
            position: system.position(i),
            velocity: system.velocity(i),
            spin,
            rotation,
            radius: system.radius(i),
            mass: rest.mass[i],
            volume: rest.volume[i],
            body: rest.body[i],
            inverse_mass,
            momentum: match inverse_mass == 0.0 {
                true => DVec3::ZERO,
                false => rest.momentum(i, rotation, spin),
            },
            carried: self.carried[i],
            broken: system.broken_sides(i),
        }
    }
}
