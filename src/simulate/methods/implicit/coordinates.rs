//! Coordinates in which Newton's method solves a step.
//!
//! Gradient and second derivatives are first those of positions and of rotations from the current ones, and are then
//! converted. Runs use [`Geodesics`], which need no conversion.

use std::borrow::Cow;

use super::bonds::HessianForm;
use super::start;
use crate::simulate::bonded::system::System;
use crate::solve::{BlockMatrix, Six, vector};

/// Six coordinates per element, all lengths.
pub trait Coordinates {
    /// Form of the second derivatives, unless they are found to be indefinite.
    fn form(&self) -> HessianForm {
        HessianForm::Exact
    }

    /// Moves elements by `factor` times a direction.
    fn displace(&mut self, system: &mut System<f64>, direction: &[Six], factor: f64);

    /// The gradient with respect to these coordinates.
    fn gradient<'a>(&self, gradient: &'a [Six]) -> Cow<'a, [Six]>;

    /// Converts second derivatives to those with respect to these coordinates. `gradient` is not converted.
    fn convert(&self, matrix: &mut BlockMatrix, gradient: &[Six], form: HessianForm);

    /// Derivative of the energy along a direction.
    fn slope(&self, gradient: &[Six], direction: &[Six]) -> f64 {
        vector::dot(&self.gradient(gradient), direction)
    }
}

/// Positions, and rotations along geodesics that start at the current rotations.
pub struct Geodesics;

impl Coordinates for Geodesics {
    fn displace(&mut self, system: &mut System<f64>, direction: &[Six], factor: f64) {
        start::displace(system, direction, factor);
    }

    fn gradient<'a>(&self, gradient: &'a [Six]) -> Cow<'a, [Six]> {
        Cow::Borrowed(gradient)
    }

    fn convert(&self, _matrix: &mut BlockMatrix, _gradient: &[Six], _form: HessianForm) {}
}
