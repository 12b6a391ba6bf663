//! Panels: the flat triangles of a closed mesh, each with its centroid, normal and area.

use glam::DVec3;

use super::triangle::{Triangle, Vec3d};
use crate::geometry::check::{MeshDefect, require_solid};
use crate::geometry::mass::Mass;
use crate::geometry::mesh::TriMesh;
use crate::math::{UnionFind, Vec3};

/// Smallest ratio of twice a panel's area to the square of its longest edge: below it the normal is a
/// rounding error.
const MIN_AREA_RATIO: f64 = 1e-9;

/// Smallest ratio of a panel's height to its longest edge for which a crack may begin on the panel.
const MIN_CRACK_HEIGHT: f64 = 0.1;
/// Largest cosine of the angle between the surface's normal and the largest principal stress for which a
/// crack may begin.
const MAX_CRACK_COSINE: f64 = 0.7;

/// Why boundary elements cannot use a mesh.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SurfaceError {
    /// The mesh has no triangles.
    #[error("the mesh has no triangles")]
    Empty,
    /// A coordinate is NaN or infinite.
    #[error("vertex {vertex} is not finite")]
    NotFinite {
        /// Index of the vertex or triangle.
        vertex: usize,
    },
    /// The corners of a triangle lie on a line.
    #[error("triangle {triangle} is degenerate: its corners lie on a line; remove it")]
    Degenerate {
        /// Index of the vertex or triangle.
        triangle: usize,
    },
    /// The mesh is open, inconsistently wound, or intersects itself.
    #[error(transparent)]
    Defect(#[from] MeshDefect),
    /// Normals point into the solid.
    #[error("{triangles} triangles are wound inward, the first is {first}; reverse them")]
    Inverted {
        /// Number of such triangles.
        triangles: usize,
        /// Index of the first.
        first: usize,
    },
    /// The mesh bounds several solids that are not connected.
    #[error("the mesh bounds {0} solids that are not connected; solve one at a time")]
    Several(usize),
    /// The mesh is flat as a whole and has no inertia.
    #[error("the mesh bounds no volume")]
    Flat,
    /// A vertex belongs to no triangle.
    #[error("vertex {vertex} belongs to no triangle; remove it")]
    Unused {
        /// Index of the vertex or triangle.
        vertex: usize,
    },
}

/// Converts to the vector type of the laws.
pub fn to_vec3(v: DVec3) -> Vec3d {
    Vec3::from_f64(v.to_array())
}

/// Panels of the surface of one solid, which may have cavities.
#[derive(Clone, Debug)]
pub struct Surface {
    /// The mesh.
    pub mesh: TriMesh,
    /// Exact integrals over each panel.
    pub triangles: Vec<Triangle>,
    /// Gradients of each panel's three linear shape functions, in its plane, 1/m.
    pub shapes: Vec<[DVec3; 3]>,
    /// Centroid of each panel, m.
    pub centroids: Vec<DVec3>,
    /// Unit normal of each panel, out of the solid.
    pub normals: Vec<DVec3>,
    /// Area of each panel, m².
    pub areas: Vec<f64>,
    /// Longest edge of each panel, m.
    pub sizes: Vec<f64>,
    /// Area of all panels, m².
    pub area: f64,
    /// Volume, centre and moments of inertia of the solid at density 1.
    pub mass: Mass,
}

impl Surface {
    /// Panels of a mesh that bounds one solid and is wound outward.
    pub fn new(mesh: &TriMesh) -> Result<Self, SurfaceError> {
        if mesh.triangles.is_empty() {
            return Err(SurfaceError::Empty);
        }
        if let Some(vertex) = mesh.positions.iter().position(|p| !p.is_finite()) {
            return Err(SurfaceError::NotFinite { vertex });
        }
        let count = mesh.triangles.len();
        let mut surface = Surface {
            mesh: mesh.clone(),
            triangles: Vec::with_capacity(count),
            shapes: Vec::with_capacity(count),
            centroids: Vec::with_capacity(count),
            normals: Vec::with_capacity(count),
            areas: Vec::with_capacity(count),
            sizes: Vec::with_capacity(count),
            area: 0.0,
            mass: Mass {
                volume: 0.0,
                centre: DVec3::ZERO,
                inertia: glam::DMat3::ZERO,
            },
        };
        for t in 0..count {
            surface.push(t)?;
        }
        let mut is_used = vec![false; mesh.positions.len()];
        for vertex in mesh.triangles.iter().flatten() {
            is_used[*vertex as usize] = true;
        }
        if let Some(vertex) = is_used.iter().position(|used| !used) {
            return Err(SurfaceError::Unused { vertex });
        }
        require_outward(mesh)?;
        require_one(mesh)?;
        surface.area = surface.areas.iter().sum();
        let corners = (0..count).map(|t| mesh.corners(t));
        let middle = surface.centroids.iter().sum::<DVec3>() / count as f64;
        surface.mass = Mass::within(middle, corners).ok_or(SurfaceError::Flat)?;
        Ok(surface)
    }

    /// Number of panels.
    pub fn len(&self) -> usize {
        self.areas.len()
    }

    /// Whether a crack can begin at the centroid of panel `t`, where the largest principal stress has this
    /// direction. It cannot on a sliver, which cuts leave and whose stress is inaccurate; nor where a load
    /// pulls at the surface itself, where the crack would run along the surface.
    pub fn may_crack(&self, t: usize, direction: DVec3) -> bool {
        let is_thick = 2.0 * self.areas[t] > MIN_CRACK_HEIGHT * self.sizes[t].powi(2);
        is_thick && self.normals[t].dot(direction).abs() < MAX_CRACK_COSINE
    }

    /// Whether there are no panels, which never happens.
    pub fn is_empty(&self) -> bool {
        self.areas.is_empty()
    }

    fn push(&mut self, t: usize) -> Result<(), SurfaceError> {
        let corners = self.mesh.corners(t);
        let [a, b, c] = corners;
        let twice = (b - a).cross(c - a);
        let size = a.distance(b).max(b.distance(c)).max(c.distance(a));
        // `<=`, not `<`: this refuses a triangle whose squared size underflows to zero, too.
        if twice.length() <= MIN_AREA_RATIO * size * size {
            return Err(SurfaceError::Degenerate { triangle: t });
        }
        let normal = twice / twice.length();
        self.triangles
            .push(Triangle::new(corners.map(to_vec3), to_vec3(normal)));
        let opposite = [c - b, a - c, b - a];
        self.shapes
            .push(opposite.map(|edge| normal.cross(edge) / twice.length()));
        self.centroids.push((a + b + c) / 3.0);
        self.normals.push(normal);
        self.areas.push(twice.length() / 2.0);
        self.sizes.push(size);
        Ok(())
    }
}

fn require_outward(mesh: &TriMesh) -> Result<(), SurfaceError> {
    let mut outward = mesh.clone();
    require_solid(&mut outward)?;
    let pairs = mesh.triangles.iter().zip(&outward.triangles);
    let mut wrong = (0..).zip(pairs).filter(|(_, (a, b))| a != b);
    match wrong.next() {
        None => Ok(()),
        Some((first, _)) => Err(SurfaceError::Inverted {
            triangles: 1 + wrong.count(),
            first,
        }),
    }
}

/// For each vertex, the smallest vertex of its connected part of the mesh.
pub fn connected_parts(mesh: &TriMesh) -> Vec<u32> {
    let mut joined = UnionFind::new(mesh.positions.len());
    for &[a, b, c] in &mesh.triangles {
        joined.join(a, b);
        joined.join(b, c);
    }
    joined.roots()
}

/// Refuses meshes of several solids. Each outer surface bounds a solid; surfaces of cavities have negative
/// volumes.
fn require_one(mesh: &TriMesh) -> Result<(), SurfaceError> {
    let root = connected_parts(mesh);
    let mut volume = vec![0.0; mesh.positions.len()];
    for (t, [a, ..]) in mesh.triangles.iter().enumerate() {
        let part = root[*a as usize] as usize;
        let [a, b, c] = mesh.corners(t).map(|p| p - mesh.positions[part]);
        volume[part] += a.dot(b.cross(c));
    }
    match volume.iter().filter(|&&v| v > 0.0).count() {
        0 | 1 => Ok(()),
        several => Err(SurfaceError::Several(several)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::shapes;

    #[test]
    fn areas_normals_and_mass_are_those_of_a_box() {
        let mesh = shapes::cuboid(DVec3::new(1.0, 2.0, 3.0));
        let surface = Surface::new(&mesh).unwrap();
        assert_eq!(surface.len(), 12);
        assert!((surface.area - 22.0).abs() < 1e-12);
        assert!((surface.mass.volume - 6.0).abs() < 1e-12);
        for (centroid, normal) in surface.centroids.iter().zip(&surface.normals) {
            assert!(centroid.dot(*normal) > 0.4 && (normal.length() - 1.0).abs() < 1e-15);
        }
    }

    #[test]
    fn cracks_begin_neither_along_the_surface_nor_on_slivers() {
        let surface = Surface::new(&shapes::cuboid(DVec3::new(1.0, 1.0, 30.0))).unwrap();
        for t in 0..surface.len() {
            let normal = surface.normals[t];
            let is_end = normal.z.abs() > 0.5;
            assert_eq!(
                surface.may_crack(t, normal.any_orthonormal_vector()),
                is_end
            );
            assert!(!surface.may_crack(t, normal));
        }
    }

    #[test]
    fn meshes_that_bound_no_single_solid_are_refused() {
        let cube = shapes::cuboid(DVec3::ONE);
        let mut open = cube.clone();
        open.triangles.pop();
        assert!(matches!(
            Surface::new(&open),
            Err(SurfaceError::Defect(MeshDefect::Open { edges: 3, .. }))
        ));
        let mut inverted = cube.clone();
        crate::geometry::check::flip(&mut inverted);
        let error = Surface::new(&inverted).unwrap_err();
        assert_eq!(
            error,
            SurfaceError::Inverted {
                triangles: 12,
                first: 0
            }
        );
        let mut two = cube.clone();
        let mut far = cube.clone();
        far.positions.iter_mut().for_each(|p| p.x += 3.0);
        two.append(far);
        assert_eq!(Surface::new(&two).unwrap_err(), SurfaceError::Several(2));
        let mut flat = cube.clone();
        flat.positions[0] = flat.positions[1];
        assert!(matches!(
            Surface::new(&flat),
            Err(SurfaceError::Degenerate { .. })
        ));
        let mut strange = cube;
        strange.positions[3].y = f64::NAN;
        assert_eq!(
            Surface::new(&strange).unwrap_err(),
            SurfaceError::NotFinite { vertex: 3 }
        );
        assert_eq!(
            Surface::new(&TriMesh::default()).unwrap_err(),
            SurfaceError::Empty
        );
    }
}
