//! Volume, centre of mass and moments of inertia of what a closed mesh bounds, of density 1.

use glam::{DMat3, DVec3};

/// Of density 1: a volume is a mass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mass {
    /// Volume, m³.
    pub volume: f64,
    /// Centre of mass.
    pub centre: DVec3,
    /// Moments of inertia about the centre, m⁵.
    pub inertia: DMat3,
}

/// A tetrahedron with flatter moments than this, over those of a ball of its size, says nothing of how it turns.
const FLAT: f64 = 1e-9;

impl Mass {
    /// Of what closed, outward triangles bound; of the points alone, each of the same mass, where that is
    /// flat or turned inside out.
    pub fn of(points: &[[f32; 3]], triangles: impl Iterator<Item = [u32; 3]>) -> Self {
        let vector = |p: &[f32; 3]| DVec3::from(p.map(f64::from));
        let count = points.len().max(1) as f64;
        let middle = points.iter().map(vector).sum::<DVec3>() / count;
        let corners = triangles.map(|triangle| triangle.map(|v| vector(&points[v as usize])));
        if let Some(mass) = Mass::within(middle, corners) {
            return mass;
        }
        let second = points.iter().map(|p| square(vector(p) - middle));
        Mass {
            volume: 0.0,
            centre: middle,
            inertia: inertia(second.fold(DMat3::ZERO, |sum, one| sum + one)),
        }
    }

    /// Of what closed, outward triangles about a place bound; nothing where that is flat or turned inside out.
    pub fn within(middle: DVec3, triangles: impl Iterator<Item = [DVec3; 3]>) -> Option<Self> {
        // Tetrahedra from each triangle to the middle: far from the origin nothing is lost.
        let (mut volume, mut first, mut second) = (0.0, DVec3::ZERO, DMat3::ZERO);
        for triangle in triangles {
            let [a, b, c] = triangle.map(|corner| corner - middle);
            let six = a.dot(b.cross(c));
            let sum = a + b + c;
            volume += six / 6.0;
            first += sum * (six / 24.0);
            second += (square(sum) + square(a) + square(b) + square(c)) * (six / 120.0);
        }
        let offset = first / volume;
        let mass = Mass {
            volume,
            centre: middle + offset,
            inertia: inertia(second - square(offset) * volume),
        };
        mass.is_solid().then_some(mass)
    }

    fn is_solid(&self) -> bool {
        let trace = [0, 1, 2]
            .map(|k| self.inertia.col(k)[k])
            .iter()
            .sum::<f64>()
            / 3.0;
        self.volume > 0.0 && self.inertia.determinant() > FLAT * trace.powi(3)
    }
}

/// Moments of inertia of a point of mass 1 about the origin: |r|² 1 − r rᵀ.
pub fn of_point(r: DVec3) -> DMat3 {
    DMat3::from_diagonal(DVec3::splat(r.length_squared())) - square(r)
}

/// v vᵀ.
fn square(v: DVec3) -> DMat3 {
    DMat3::from_cols(v * v.x, v * v.y, v * v.z)
}

/// From second moments.
fn inertia(second: DMat3) -> DMat3 {
    let trace = [0, 1, 2].map(|k| second.col(k)[k]).iter().sum();
    DMat3::from_diagonal(DVec3::splat(trace)) - second
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::shapes;

    #[test]
    fn a_brick_far_from_the_origin_has_its_textbook_moments() {
        let size = DVec3::new(2.0, 3.0, 0.5);
        let mesh = shapes::cuboid(size);
        let at = DVec3::new(64.0, -32.0, 16.0);
        let points: Vec<[f32; 3]> = mesh
            .positions
            .iter()
            .map(|p| (*p + at).as_vec3().to_array())
            .collect();
        let found = Mass::of(&points, mesh.triangles.iter().copied());
        let [x, y, z] = size.to_array();
        let squares = DVec3::new(y * y + z * z, x * x + z * z, x * x + y * y);
        let expected = squares * (x * y * z / 12.0);
        assert!((found.volume - 3.0).abs() < 1e-12, "{found:?}");
        assert!(found.centre.distance(at) < 1e-6, "{found:?}");
        let off = found.inertia - DMat3::from_diagonal(expected);
        assert!(
            off.to_cols_array().iter().all(|v| v.abs() < 1e-10),
            "{found:?}"
        );
    }

    #[test]
    fn a_flat_sheet_has_the_moments_of_its_points() {
        let points = [
            [0.0, 0.0, 1.0],
            [2.0, 0.0, 1.0],
            [2.0, 2.0, 1.0],
            [0.0, 2.0, 1.0],
        ];
        let found = Mass::of(&points, [[0, 1, 2], [0, 2, 3]].into_iter());
        assert_eq!(found.centre, DVec3::new(1.0, 1.0, 1.0));
        assert_eq!(
            found.inertia,
            DMat3::from_diagonal(DVec3::new(4.0, 4.0, 8.0))
        );
        assert_eq!(found.volume, 0.0);
    }
}
