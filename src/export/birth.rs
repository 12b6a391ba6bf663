//! The shape of a new fragment half a frame before its first frame, while it was part of something larger:
//! its vertices follow the elements near them.

use glam::{DQuat, DVec3};

use super::moment::Moment;
use super::turning::Crowd;
use crate::geometry::cell_grid::CellGrid;
use crate::parallel::prelude::*;

/// How far elements carry a vertex, over the radius of the largest: some layers, so that gaps between
/// neighbours do not show.
const REACH: f64 = 2.5;

/// Elements of a frame, and of the frame before.
pub struct Crowds<'a> {
    pub now: &'a Crowd<'a>,
    pub before: &'a Crowd<'a>,
}

/// A fragment in its first frame.
pub struct Birth {
    /// How it moves in its first frame.
    moment: Moment,
    /// How its elements stand and move together in the frame before.
    pub earlier: Moment,
    /// Where its elements are in its first frame, units of the file.
    places: Vec<DVec3>,
    /// Where they are in the frame before, and how far they turn on the way there.
    earlier_places: Vec<(DVec3, DQuat)>,
    reach: f64,
}

impl Birth {
    /// That of a fragment which moves by `moment`; nothing where frames do not have it.
    pub fn of(fragment: u32, moment: &Moment, crowds: &Crowds) -> Option<Self> {
        let earlier = crowds.now.elsewhere(fragment, moment, crowds.before)?;
        let rows = crowds.now.rows(fragment)?;
        let now = crowds.now.poses(rows);
        let then = crowds.before.poses(rows);
        let turned = |((_, now), (place, then)): (&(_, DQuat), &(DVec3, DQuat))| {
            (*place, *then * now.inverse())
        };
        Some(Birth {
            moment: *moment,
            earlier,
            places: now.iter().map(|(place, _)| *place).collect(),
            earlier_places: now.iter().zip(&then).map(turned).collect(),
            reach: REACH * crowds.now.largest(rows),
        })
    }

    /// When the fragment is shown first, frames.
    pub fn time(&self) -> f64 {
        0.5 * (f64::from(self.moment.frame) + f64::from(self.earlier.frame))
    }

    /// Places of vertices half-way to the frame before, as the body sees them; `places` are those of the
    /// first frame, in the world.
    pub fn half_way(&self, places: &[[f32; 3]]) -> Vec<[f32; 3]> {
        let grid = CellGrid::new(&self.places, self.reach);
        let half_way = |place: &[f32; 3]| {
            let now = self.moment.local(*place);
            let earlier = self.carried(&grid, DVec3::from(place.map(f64::from)));
            let earlier = earlier.map_or(now, |place| {
                self.earlier.rotation.inverse() * (place - self.earlier.at)
            });
            (0.5 * (now + earlier)).as_vec3().to_array()
        };
        places.par_iter().map(half_way).collect()
    }

    /// Where the elements about a place carry it on their way to the frame before; nothing where there are none.
    fn carried(&self, grid: &CellGrid, place: DVec3) -> Option<DVec3> {
        let (mut sum, mut weights) = (DVec3::ZERO, 0.0);
        grid.around(place, |element| {
            let arm = place - self.places[element as usize];
            let near = (1.0 - arm.length_squared() / (self.reach * self.reach)).max(0.0);
            let (earlier, turned) = self.earlier_places[element as usize];
            sum += (earlier + turned * arm) * (near * near);
            weights += near * near;
        });
        (weights > 0.0).then(|| sum / weights)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(frame: u32, at: DVec3, rotation: DQuat) -> Moment {
        Moment {
            frame,
            at,
            rotation,
            velocity: DVec3::ZERO,
            spin: DVec3::ZERO,
        }
    }

    /// A row of elements along x that was bent upwards in the frame before.
    fn bent(height: f64) -> Birth {
        let places: Vec<DVec3> = (-4..=4).map(|x| DVec3::X * f64::from(x)).collect();
        let turn = DQuat::from_rotation_y(0.4);
        let raised = |p: &DVec3| {
            let slope = DQuat::from_rotation_z((2.0 * height * p.x).atan());
            let raised = *p + DVec3::Y * height * p.x * p.x;
            (DVec3::X * 7.0 + turn * raised, turn * slope)
        };
        Birth {
            moment: moment(5, DVec3::ZERO, DQuat::IDENTITY),
            earlier: moment(4, DVec3::X * 7.0, turn),
            earlier_places: places.iter().map(raised).collect(),
            places,
            reach: 1.25,
        }
    }

    #[test]
    fn a_body_that_only_moves_keeps_its_shape() {
        let places = [[0.5f32, 0.5, 0.0], [-4.0, -0.5, 0.2], [90.0, 0.0, 0.0]];
        let birth = bent(0.0);
        assert_eq!(birth.time(), 4.5);
        for (found, expected) in birth
            .half_way(&places)
            .iter()
            .flatten()
            .zip(places.as_flattened())
        {
            assert!(
                (found - expected).abs() < 1e-6,
                "{found} and not {expected}"
            );
        }
    }

    #[test]
    fn half_way_it_is_bent_half_as_much() {
        let places = [[2.0f32, 0.0, 0.0], [-3.0, 0.0, 0.0], [0.0, 0.5, 0.0]];
        let found = bent(0.02).half_way(&places);
        for (found, [x, y, _]) in found.iter().zip(places) {
            let expected = y + 0.5 * 0.02 * x * x;
            assert!((found[1] - expected).abs() < 3e-3, "{found:?}: {expected}");
        }
    }
}
