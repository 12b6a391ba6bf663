//! The uniform displacement in a box, set apart from the downward equivalent densities.
//!
//! A uniform displacement has no stress, and that of forces far away is nearly uniform in a small box.
//! Densities stand for it within the accuracy of the method, and the stress of this error, displacement over
//! size of the box, may be as large as the whole stress of these forces. So the means of P and the slope of Q
//! are carried from box to box exactly.

use glam::DVec3;

use super::product::Row;
use super::surface::INNER;

/// Potentials `P = p`, `Q = slope·x`, with x in halves of the box from its centre. A constant Q does nothing
/// and is left out.
#[derive(Clone, Copy, Debug, Default)]
pub struct Uniform {
    /// P.
    pub p: DVec3,
    /// Gradient of Q.
    pub slope: DVec3,
}

impl Uniform {
    /// Takes it out of the potentials at the points of the downward check surface, which stand in four
    /// columns. `points` are those of the unit cube.
    pub fn split_off(rows: &mut [Row], column: usize, points: &[Vec<f64>; 3]) -> Self {
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
        Uniform {
            p: DVec3::new(means[0], means[1], means[2]),
            slope,
        }
    }

    /// In a child, which measures lengths in halves of its own side.
    pub fn in_child(self) -> Self {
        Uniform {
            p: self.p * 0.5,
            slope: self.slope * 0.5,
        }
    }
}

impl std::ops::AddAssign for Uniform {
    fn add_assign(&mut self, other: Self) {
        self.p += other.p;
        self.slope += other.slope;
    }
}
