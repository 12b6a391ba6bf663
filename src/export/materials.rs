//! Materials of a surface's faces: `outside` and `inside`, or those of the mesh that a body was made of.

use std::collections::BTreeMap;

use crate::store::{FragmentRange, SurfaceFrame};

/// Material of a face.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FaceMaterial {
    /// The skin of a body without materials.
    Outside,
    /// Crack faces.
    Inside,
    /// A material of the body's mesh, with its name.
    Named(String),
}

impl FaceMaterial {
    /// Name of the material in files.
    pub fn name(&self) -> String {
        match self {
            FaceMaterial::Outside => "outside".to_owned(),
            FaceMaterial::Inside => "inside".to_owned(),
            // The name of a mesh's material may be taken.
            FaceMaterial::Named(name) if name == "outside" || name == "inside" => {
                format!("{name}_of_mesh")
            }
            FaceMaterial::Named(name) => name.clone(),
        }
    }
}

/// The faces of a fragment, counted from its first, by material.
pub fn faces_by_material(
    surface: &SurfaceFrame,
    piece: &FragmentRange,
) -> BTreeMap<FaceMaterial, Vec<u32>> {
    let mut by_number: BTreeMap<(bool, Option<u32>), Vec<u32>> = BTreeMap::new();
    for (face, t) in (0..).zip(surface.triangle_range(piece)) {
        let is_inside = surface.inside[t] != 0;
        let number = surface.materials.get(t).copied().filter(|_| !is_inside);
        by_number.entry((is_inside, number)).or_default().push(face);
    }
    let mut faces: BTreeMap<FaceMaterial, Vec<u32>> = BTreeMap::new();
    for ((is_inside, _), own) in by_number {
        let t = surface.triangle_range(piece).start + own[0] as usize;
        let material = match (is_inside, surface.material_of(t)) {
            (true, _) => FaceMaterial::Inside,
            (false, None) => FaceMaterial::Outside,
            (false, Some(name)) => FaceMaterial::Named(name.to_owned()),
        };
        faces.entry(material).or_default().extend(own);
    }
    faces
}
