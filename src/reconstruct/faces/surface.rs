//! Closed surfaces of all fragments of a body at rest.

use glam::DVec3;

use crate::math::union_find::UnionFind;
use crate::reconstruct::body::skin_grid::SkinGrid;
use crate::reconstruct::surface::binding::Binding;

/// Closed surfaces of all fragments of a body at rest.
#[derive(Debug, Default)]
pub struct BodySurface {
    /// Vertices, m.
    pub positions: Vec<DVec3>,
    /// The elements that each vertex moves with.
    pub bindings: Vec<Binding>,
    /// Triangles, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
    /// For each triangle: 1 on a crack face, 0 on the skin.
    pub inside: Vec<u8>,
    /// For each triangle, the triangle of the skin that it is a part of; `u32::MAX` on a crack face.
    pub sources: Vec<u32>,
    /// For each vertex, the smallest vertex of its connected component.
    pub component: Vec<u32>,
}

impl BodySurface {
    /// The uncracked skin.
    pub fn uncracked(skin_grid: &SkinGrid) -> Self {
        let mesh = &skin_grid.skin.mesh;
        let mut surface = BodySurface {
            positions: mesh.positions.clone(),
            bindings: (0..mesh.positions.len() as u32)
                .map(Binding::SkinVertex)
                .collect(),
            triangles: mesh.triangles.clone(),
            inside: vec![0; mesh.triangles.len()],
            sources: (0..mesh.triangles.len() as u32).collect(),
            component: Vec::new(),
        };
        surface.find_components();
        surface
    }

    /// Drops internal cracks of a fragment that are smaller than the cross-section of an element. `radius` is
    /// that of an element.
    pub fn drop_small_cracks(&mut self, radius: f64) {
        // Area, volume and whether there is skin, per component.
        let mut seen: Vec<(f64, f64, bool)> = vec![(0.0, 0.0, false); self.positions.len()];
        for (triangle, &inside) in self.triangles.iter().zip(&self.inside) {
            let part = self.component[triangle[0] as usize] as usize;
            let origin = self.positions[part];
            let [a, b, c] = triangle.map(|v| self.positions[v as usize] - origin);
            let normal = (b - a).cross(c - a);
            let (area, volume, skin) = &mut seen[part];
            *area += normal.length() / 2.0;
            *volume += a.dot(normal) / 6.0;
            *skin |= inside == 0;
        }
        // Both faces of a crack count towards the area; a fragment has a volume.
        let section = 2.0 * std::f64::consts::PI * radius * radius;
        let kept = |triangle: &[u32; 3]| {
            let (area, volume, skin) = seen[self.component[triangle[0] as usize] as usize];
            skin || area > section || volume.abs() > 0.1 * area * radius
        };
        let kept: Vec<bool> = self.triangles.iter().map(kept).collect();
        let mut flags = kept.iter();
        self.triangles.retain(|_| flags.next() == Some(&true));
        let mut flags = kept.iter();
        self.inside.retain(|_| flags.next() == Some(&true));
        let mut flags = kept.iter();
        self.sources.retain(|_| flags.next() == Some(&true));
    }

    /// Finds the connected components.
    pub fn find_components(&mut self) {
        let mut parts = UnionFind::new(self.positions.len());
        for [a, b, c] in &self.triangles {
            parts.join(*a, *b);
            parts.join(*b, *c);
        }
        self.component = parts.roots();
    }
}
