//! Shapes of any proportions that can be filled: their skin, their volume and their inside.

use std::path::Path;

use glam::DVec3;

use super::error::PackError;
use super::mesh::{self, MeshKeys};
use super::solid::FillRegion;
use crate::geometry::curve::Curve;
use crate::geometry::revolve::Profile;
use crate::geometry::{TriMesh, check, shapes};
use crate::spec::{Body, BodyShape, Fill, NEEDS_CUBIC_PACKING, NEEDS_ROWS};

/// How the inside of a shape is determined.
pub(super) enum OutlineForm {
    Ball { radius: f64 },
    Cuboid { half: DVec3 },
    Cylinder { radius: f64, height: f64 },
    Revolved { profile: Profile, segments: u32 },
    Closed,
    Wound,
}

/// A shape in its own frame.
pub(super) struct Outline {
    pub form: OutlineForm,
    pub skin: TriMesh,
    /// Volume, m³.
    pub volume: f64,
}

/// Name of a body in messages.
fn owner(body: &Body) -> String {
    format!("body {:?}", body.name)
}

pub(super) fn positive(body: &Body, key: &'static str, value: f64) -> Result<f64, PackError> {
    mesh::positive(&owner(body), key, value)
}

/// Axis of a tube of this radius (m).
pub(super) fn curve(body: &Body, points: &[[f64; 3]], radius: f64) -> Result<Curve, PackError> {
    Curve::new(points, radius).map_err(|source| PackError::InvalidTube {
        body: body.name.clone(),
        source,
    })
}

impl Outline {
    /// The shape of a body that does not consist of a given number of rows or layers; `base` is the folder
    /// that mesh paths are relative to.
    pub fn of(body: &Body, base: &Path) -> Result<Self, PackError> {
        let (form, skin) = match &body.shape {
            BodyShape::Mesh { .. } => return Outline::of_mesh(body, base),
            BodyShape::Sphere { radius } => {
                let radius = positive(body, "shape.radius", *radius)?;
                (OutlineForm::Ball { radius }, shapes::sphere(radius))
            }
            BodyShape::Cylinder { radius, height } => {
                let radius = positive(body, "shape.radius", *radius)?;
                let height = positive(body, "shape.height", *height)?;
                let skin = shapes::cylinder(radius, height);
                (OutlineForm::Cylinder { radius, height }, skin)
            }
            BodyShape::Box { size } => {
                for edge in size {
                    positive(body, "shape.size", *edge)?;
                }
                let size = DVec3::from_array(*size);
                let half = size / 2.0;
                (OutlineForm::Cuboid { half }, shapes::cuboid(size))
            }
            BodyShape::Revolved { profile, segments } => {
                let segments = (*segments).max(3);
                let profile =
                    Profile::new(profile).map_err(|source| PackError::InvalidProfile {
                        body: body.name.clone(),
                        source,
                    })?;
                let skin = profile.skin(segments);
                (OutlineForm::Revolved { profile, segments }, skin)
            }
            BodyShape::Tube { points, radius } => {
                let radius = positive(body, "shape.radius", *radius)?;
                let mut skin = curve(body, points, radius)?.skin(radius);
                check::require_solid(&mut skin).map_err(|_| PackError::UnsuitableShape {
                    body: body.name.clone(),
                    what: "the tube meets itself; move its points apart or give a smaller radius",
                })?;
                (OutlineForm::Closed, skin)
            }
            BodyShape::CylinderShell { .. } | BodyShape::SphereShell { .. } => {
                return Err(PackError::UnsuitableShape {
                    body: body.name.clone(),
                    what: NEEDS_CUBIC_PACKING,
                });
            }
            BodyShape::Plate { .. } | BodyShape::Block { .. } => {
                return Err(PackError::UnsuitableShape {
                    body: body.name.clone(),
                    what: NEEDS_ROWS,
                });
            }
        };
        Ok(Outline {
            volume: positive(body, "volume of the shape", skin.volume())?,
            form,
            skin,
        })
    }

    fn of_mesh(body: &Body, base: &Path) -> Result<Self, PackError> {
        let BodyShape::Mesh {
            file,
            object,
            each: _,
            up,
            unit,
            scale,
            height,
            fill,
        } = &body.shape
        else {
            unreachable!("called only for meshes");
        };
        let (owner, path) = (owner(body), base.join(file));
        let keys = MeshKeys {
            object: object.as_deref(),
            up: *up,
            unit: *unit,
            scale: *scale,
            height: *height,
        };
        let skin = mesh::read(&owner, &path, keys, Some(*fill))?;
        let bounds = skin.bounds().unwrap_or_default();
        let (form, volume) = match fill {
            Fill::Closed | Fill::Repair => (OutlineForm::Closed, skin.volume()),
            Fill::Winding => (
                OutlineForm::Wound,
                FillRegion::wound(&skin).sampled_volume(bounds),
            ),
        };
        mesh::require_volume(&owner, &path, bounds, volume)?;
        Ok(Outline { form, skin, volume })
    }

    /// The inside of the shape.
    pub fn region(&self) -> FillRegion<'_> {
        match self.form {
            OutlineForm::Ball { radius } => FillRegion::Ball { radius },
            OutlineForm::Cuboid { half } => FillRegion::Cuboid { half },
            OutlineForm::Cylinder { radius, height } => FillRegion::Cylinder { radius, height },
            OutlineForm::Revolved { .. } | OutlineForm::Closed => FillRegion::closed(&self.skin),
            OutlineForm::Wound => FillRegion::wound(&self.skin),
        }
    }

    /// Corners of its bounding box.
    pub fn bounds(&self) -> (DVec3, DVec3) {
        self.skin.bounds().unwrap_or_default()
    }
}
