//! The uniform part of the displacement in a box, which is separated from the downward equivalent densities.
//!
//! A uniform displacement causes no stress, and the displacement of distant forces is nearly uniform in a
//! small box. Densities represent it only to the accuracy of the method, and the stress of this error, the
//! displacement error over the size of the box, may be as large as the whole stress of these forces.
//! Therefore the mean of P and the slope of Q are translated from box to box exactly.

use glam::DVec3;

use super::product::BatchRow;
use super::surface::INNER;

/// Potentials `P = p`, `Q = slope·x`, with x in half sides of the box from its centre. A constant Q has no
/// effect and is omitted.
#[derive(Clone, Copy, Debug, Default)]
pub struct UniformPart {
    /// The value of P.
    pub p: DVec3,
    /// Gradient of Q, per half side of the box.
    pub slope: DVec3,
}

impl UniformPart {
    /// Removes the uniform part from the potentials at the points of the downward check surface, which are in
    /// four columns from `column` on, and returns it. `points` are those of the unit cube.
    pub fn split_off(rows: &mut [BatchRow], column: usize, points: &[Vec<f64>; 3]) -> Self {
        let mut means = [0.0; 4];
        let (mut moment, mut squares) = (DVec3::ZERO, 0.0);
        let place = |k: usize| INNER * DVec3::new(points[0][k], points[1][k], points[2][k]);
        for (k, row) in rows.iter().enumerate() {
            (0..4).for_each(|c| means[c] += row[column + c]);
            moment += place(k) * row[column + 3];
            squares += place(k).x * place(k).x;
        }
        let means = means.map(|sum| sum / rows.len() as f64);
        let slope = moment / squares;
        for (k, row) in rows.iter_mut().enumerate() {
            (0..4).for_each(|c| row[column + c] -= means[c]);
            row[column + 3] -= slope.dot(place(k));
        }
        UniformPart {
            p: DVec3::new(means[0], means[1], means[2]),
            slope,
        }
    }

    /// The same in a child, whose lengths are in its own half sides.
    pub fn in_child(self) -> Self {
        UniformPart {
            p: self.p * 0.5,
            slope: self.slope * 0.5,
        }
    }
}

impl std::ops::AddAssign for UniformPart {
    fn add_assign(&mut self, other: Self) {
        self.p += other.p;
        self.slope += other.slope;
    }
}
