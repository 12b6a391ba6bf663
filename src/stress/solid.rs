//! A body for boundary elements: its surface, its material, and the points inside at which stress is
//! computed.

use glam::DVec3;

use super::error::StressError;
use crate::bem::solver::{MAX_QUADRATIC_TRIANGLES, order};
use crate::bem::{Elastic, Order, Surface};
use crate::columns::Elements;
use crate::geometry::TriMesh;
use crate::geometry::inside::InsideTest;
use crate::geometry::remesh::{Quality, RemeshError, equilateral, remesh_or_finer};
use crate::geometry::repair::{Repairs, repair};
use crate::spec::{Body, Material, Pipeline};
use crate::units::show::{figures, quantity};

/// A body to be solved.
pub struct Solid {
    /// Index in the pipeline.
    pub number: usize,
    /// Name in the pipeline.
    pub name: String,
    /// Its surface.
    pub surface: Surface,
    /// Its moduli.
    pub elastic: Elastic,
    /// Density, kg/m³.
    pub density: f64,
    /// Tensile strength, Pa.
    pub strength: Option<f64>,
    /// Ids of the elements inside.
    pub ids: Vec<u32>,
    /// Their centres, m.
    pub points: Vec<DVec3>,
    /// Mean radius of its elements, m; 0 where there are none.
    pub radius: f64,
    /// Relative error of the fast multipole method.
    pub accuracy: f64,
    /// Notes on repairs and remeshing of the surface.
    pub notes: Vec<String>,
}

impl Solid {
    /// Body number `number` of a packing, with its surface `skin` at rest.
    pub fn new(
        skin: Option<TriMesh>,
        pipeline: &Pipeline,
        elements: &Elements,
        number: usize,
    ) -> Result<Self, StressError> {
        let body = &pipeline.bodies[number];
        let named = || body.name.clone();
        if let Some((_, why)) = body.boundary_element_refusal() {
            return Err(StressError::NotOneSolid { body: named(), why });
        }
        let skin = skin.ok_or_else(|| StressError::NoSkin { body: named() })?;
        let settings = pipeline.stress.clone().unwrap_or_default();
        let mut notes = Vec::new();
        // The store may have been written by another program.
        let (skin, repairs) = repair(&skin).map_err(|source| StressError::Repair {
            body: named(),
            source,
        })?;
        if repairs != Repairs::default() {
            notes.push(format!("its surface was repaired: {repairs}"));
        }
        let mesh = remeshed_if_needed(skin, settings.size, &mut notes).map_err(|source| {
            StressError::Remesh {
                body: named(),
                source,
            }
        })?;
        let surface = Surface::new(&mesh).map_err(|source| StressError::Surface {
            body: named(),
            source,
        })?;
        let material = material(pipeline, body);
        let elastic = Elastic::new(material.young, material.poisson_ratio());
        let rows: Vec<usize> = (0..elements.id.len())
            .filter(|row| elements.body[*row] as usize == number)
            .collect();
        let radii: f64 = rows.iter().map(|row| elements.r[*row]).sum();
        let inside = InsideTest::new(&surface.mesh);
        let place = |row: usize| DVec3::new(elements.x[row], elements.y[row], elements.z[row]);
        let (ids, points) = rows
            .iter()
            .map(|&row| (elements.id[row], place(row)))
            .filter(|(_, place)| inside.contains(*place))
            .unzip();
        Ok(Solid {
            number,
            name: named(),
            elastic: elastic.map_err(|source| StressError::Elastic {
                material: material.name.clone(),
                source,
            })?,
            density: material.density,
            strength: material.tensile_strength,
            ids,
            points,
            radius: radii / rows.len().max(1) as f64,
            accuracy: settings.accuracy(),
            notes,
            surface,
        })
    }
}

/// Approximate number of triangles of a remeshed body if no size is given.
const DEFAULT_TRIANGLES: f64 = 3000.0;
/// Smallest number of triangles of a surface that is used without remeshing.
const MIN_TRIANGLES: usize = 1000;

/// The surface, remeshed with triangles of the given size, m. Without a size it is remeshed only if its
/// triangles are few or uneven.
fn remeshed_if_needed(
    skin: TriMesh,
    size: Option<f64>,
    notes: &mut Vec<String>,
) -> Result<TriMesh, RemeshError> {
    let fits = skin.triangles.len() >= MIN_TRIANGLES && !Quality::of(&skin).needs_remesh();
    let wanted = match size {
        Some(size) => Some(size),
        None if fits => None,
        None => Some(equilateral(skin.area() / DEFAULT_TRIANGLES)),
    };
    let mesh = match wanted {
        None => skin,
        Some(size) => {
            let mesh = remesh_or_finer(&skin, size)?;
            notes.push(format!(
                "{} triangles of {} instead of {}",
                mesh.triangles.len(),
                quantity(Quality::of(&mesh).edge, "m"),
                skin.triangles.len()
            ));
            mesh
        }
    };
    notes.extend(note_on_long_triangles(&mesh));
    Ok(mesh)
}

/// Largest ratio of a triangle's edge to the thickness of the walls with which bending is correct to 10 %.
fn max_edge_over_thickness(order: Order) -> f64 {
    match order {
        Order::Quadratic => 1.0,
        Order::Linear => 0.25,
    }
}

/// A note for the user if the triangles of a mesh are too long for the thickness of its walls.
fn note_on_long_triangles(mesh: &TriMesh) -> Option<String> {
    let edge = Quality::of(mesh).edge;
    let wall = 2.0 * mesh.volume().abs() / mesh.area();
    let order = order(mesh.triangles.len());
    let most = max_edge_over_thickness(order) * wall;
    if edge <= most {
        return None;
    }
    let remedy = match order {
        Order::Quadratic => format!("use stress.size = {} or less", figures(most)),
        Order::Linear => {
            // A tenth longer, as remeshing reaches a given length only approximately.
            let coarser = 1.1 * equilateral(mesh.area() / MAX_QUADRATIC_TRIANGLES as f64);
            let coarser = (coarser <= max_edge_over_thickness(Order::Quadratic) * wall)
                .then(|| format!("{} or more, or ", figures(coarser)));
            format!(
                "displacements are linear where there are more than {MAX_QUADRATIC_TRIANGLES} triangles; use stress.size = {}{} or less",
                coarser.unwrap_or_default(),
                figures(most)
            )
        }
    };
    Some(format!(
        "its triangles are {} long and its walls are on average {} thick: the stress of bending is inaccurate; {remedy}",
        quantity(edge, "m"),
        quantity(wall, "m"),
    ))
}

/// The material of a body; the check of the pipeline has ensured that it exists.
fn material<'a>(pipeline: &'a Pipeline, body: &Body) -> &'a Material {
    pipeline
        .material_of(body)
        .expect("the material of a body is in the pipeline")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::shapes;

    /// A plate of 40 × 1 × 40 with triangles of about this edge.
    fn plate(edge: f64) -> TriMesh {
        let plate = shapes::cuboid(DVec3::new(40.0, 1.0, 40.0));
        remeshed_if_needed(plate, Some(edge), &mut Vec::new()).unwrap()
    }

    #[test]
    fn a_note_says_that_triangles_are_too_long_for_the_walls() {
        let coarse = note_on_long_triangles(&plate(2.0)).unwrap();
        assert!(
            coarse.contains("or less") && !coarse.contains("linear"),
            "{coarse}"
        );
        assert_eq!(note_on_long_triangles(&plate(0.7)), None);
        let fine = plate(0.4);
        assert!(fine.triangles.len() > MAX_QUADRATIC_TRIANGLES);
        let linear = note_on_long_triangles(&fine).unwrap();
        let parts = ["linear where there are more than 30000", "or more, or"];
        assert!(parts.iter().all(|part| linear.contains(part)), "{linear}");
    }

    #[test]
    fn the_note_of_remeshing_has_the_edge_that_was_reached() {
        let mut notes = Vec::new();
        let cube = shapes::cuboid(DVec3::ONE);
        let mesh = remeshed_if_needed(cube, Some(0.2), &mut notes).unwrap();
        let edge = quantity(Quality::of(&mesh).edge, "m");
        assert!(notes[0].contains(&edge), "{notes:?}");
    }
}
