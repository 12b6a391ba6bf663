//! Random bodies: shape, packing and settings of surface reconstruction.

use std::path::Path;

use cullet::geometry::{TriMesh, ply};
use cullet::pack::{self, Packed};
use cullet::spec::{self, Pipeline};
use glam::DVec3;

use super::draw::RandomStream;
use super::meshes;

/// Length of a body, m.
const LENGTH: f64 = 0.1;
/// Range of the number of elements of a body.
const FEWEST: f64 = 200.0;
const MOST: f64 = 5_000.0;
/// Attempts to find a packing that fits the shape.
const ATTEMPTS: u32 = 5;

/// A packed body.
pub struct Body {
    pub pipeline: Pipeline,
    pub packed: Packed,
    /// Shape and packing as written in a pipeline file.
    pub text: String,
}

/// Shapes; each seed takes one of them in turn.
pub const SHAPES: [fn(&mut RandomStream) -> Shape; 20] = [
    |draw| {
        let size = (DVec3::splat(0.7) + 0.5 * draw.in_cube()) * LENGTH;
        plain(format!("{{ type = \"box\", size = {} }}", list(size)))
    },
    |_| {
        plain(format!(
            "{{ type = \"sphere\", radius = {} }}",
            0.5 * LENGTH
        ))
    },
    |draw| {
        let (radius, height) = (draw.between(0.2, 0.5), draw.between(0.2, 1.5));
        cylinder(radius * LENGTH, height * LENGTH)
    },
    revolved,
    bowl,
    tube,
    tube,
    |draw| plate(draw, true),
    |draw| plate(draw, false),
    |draw| {
        let rows = [0, 1, 2].map(|_| 2 + draw.below(12));
        let radius = LENGTH / 20.0;
        let shape = format!("{{ type = \"block\", rows = {rows:?} }}");
        Shape {
            packing: Some(format!("{{ type = \"hexagonal\", radius = {radius} }}")),
            ..plain(shape)
        }
    },
    |draw| mesh(meshes::cavities(draw)),
    |draw| {
        // Random packings search the whole bounding box for positions.
        let elements = elements(draw);
        let layers = 1 + draw.below(2);
        let packing = match draw.below(3) {
            0 => format!("{{ type = \"shell\", elements = {elements}, layers = {layers} }}"),
            _ => format!("{{ type = \"hexagonal\", elements = {elements} }}"),
        };
        Shape {
            packing: Some(packing),
            ..mesh(meshes::thin_walls(draw))
        }
    },
    |draw| mesh(meshes::cells(draw)),
    |draw| mesh(meshes::star(draw)),
    |draw| mesh(meshes::wedge(draw)),
    |draw| mesh(meshes::tetrahedron(draw)),
    |draw| mesh(meshes::ring(draw)),
    |draw| mesh(meshes::spikes(draw)),
    |draw| mesh(meshes::cells(draw)),
    file,
];

/// A shape as written in a pipeline file.
pub struct Shape {
    text: String,
    /// Content of `body.ply`, if the shape is a mesh.
    mesh: Option<TriMesh>,
    /// The packing, where the shape needs a particular one.
    packing: Option<String>,
    /// Whether the shape can hold a rope.
    rope: bool,
}

fn plain(text: String) -> Shape {
    Shape {
        text,
        mesh: None,
        packing: None,
        rope: false,
    }
}

fn mesh(mut mesh: TriMesh) -> Shape {
    mesh.positions.iter_mut().for_each(|p| *p *= LENGTH);
    let text = "{ type = \"mesh\", file = \"FOLDER/body.ply\" }";
    Shape {
        mesh: Some(mesh),
        ..plain(text.into())
    }
}

fn list(p: DVec3) -> String {
    format!("{:?}", p.to_array())
}

fn cylinder(radius: f64, height: f64) -> Shape {
    let text = format!("{{ type = \"cylinder\", radius = {radius}, height = {height} }}");
    Shape {
        rope: true,
        ..plain(text)
    }
}

/// Convex and hollow profiles, with sharp rims.
fn revolved(draw: &mut RandomStream) -> Shape {
    let points = 3 + draw.below(4);
    let profile: Vec<[f64; 2]> = (0..points)
        .map(|k| {
            let radius = draw.between(0.1, 0.5) * LENGTH;
            [radius, (k as f64 / (points - 1) as f64 - 0.5) * LENGTH]
        })
        .collect();
    let segments = draw.pick(&[5, 12, 48]);
    plain(format!(
        "{{ type = \"revolved\", profile = {profile:?}, segments = {segments} }}"
    ))
}

/// A profile with a bend back on itself.
fn bowl(draw: &mut RandomStream) -> Shape {
    let (wall, deep) = (draw.between(0.08, 0.2), draw.between(0.3, 0.8));
    let profile = [
        [0.0, 0.0],
        [0.3, 0.0],
        [0.5, deep],
        [0.5 - wall, deep],
        [0.3 - wall, wall],
        [0.0, wall],
    ];
    let profile = profile.map(|p| p.map(|x| x * LENGTH));
    // The end of a profile must lie above its start.
    plain(format!(
        "{{ type = \"revolved\", profile = {profile:?}, segments = 24 }}"
    ))
}

fn tube(draw: &mut RandomStream) -> Shape {
    let points = 2 + draw.below(3);
    let points: Vec<[f64; 3]> = (0..points)
        .map(|k| {
            let p = DVec3::new(0.8 * k as f64, 0.0, 0.0) + 0.15 * draw.in_cube();
            (p * LENGTH).to_array()
        })
        .collect();
    let radius = draw.between(0.06, 0.15) * LENGTH;
    let text = format!("{{ type = \"tube\", points = {points:?}, radius = {radius} }}");
    Shape {
        rope: true,
        ..plain(text)
    }
}

fn plate(draw: &mut RandomStream, pierced: bool) -> Shape {
    let size = [0, 1].map(|_| draw.between(0.6, 1.2) * LENGTH);
    let layers = 1 + draw.below(4);
    let hole = if pierced {
        format!(", hole = {}", draw.between(0.08, 0.25) * LENGTH)
    } else {
        String::new()
    };
    let text = format!("{{ type = \"plate\", size = {size:?}, layers = {layers}{hole} }}");
    let elements = elements(draw);
    let packing = if draw.chance(0.3) {
        format!("{{ type = \"woven\", elements = {elements} }}")
    } else {
        format!("{{ type = \"hexagonal\", elements = {elements} }}")
    };
    Shape {
        packing: Some(packing),
        ..plain(text)
    }
}

/// A mesh file of this repository.
fn file(draw: &mut RandomStream) -> Shape {
    let name = draw.pick(&[
        "bunny",
        "letter_b",
        "letter_e",
        "letter_m",
        "chocolate",
        "drill",
    ]);
    let path = format!("{}/pipelines/meshes/{name}.obj", env!("CARGO_MANIFEST_DIR"));
    plain(format!(
        "{{ type = \"mesh\", file = {path:?}, height = {LENGTH} }}"
    ))
}

/// A random number of elements, mostly small.
fn elements(draw: &mut RandomStream) -> u32 {
    (FEWEST * (MOST / FEWEST).powf(draw.unit().powi(4))) as u32
}

fn packing(draw: &mut RandomStream, rope: bool) -> String {
    let elements = elements(draw);
    match draw.below(if rope { 9 } else { 7 }) {
        0..=2 => format!("{{ type = \"hexagonal\", elements = {elements} }}"),
        3 | 4 => {
            let elements = elements.min(1_500);
            let spread = draw.pick(&[0.0, 0.3, 0.6]);
            let reach = draw.pick(&[1.1, 1.1, 1.3]);
            format!(
                "{{ type = \"random\", elements = {elements}, spread = {spread}, neighbourhood = {reach} }}"
            )
        }
        5 => {
            let layers = 1 + draw.below(3);
            format!("{{ type = \"shell\", elements = {elements}, layers = {layers} }}")
        }
        6 => match draw.below(3) {
            0 if elements < 800 => format!("{{ type = \"loose\", elements = {elements} }}"),
            0 | 1 => format!("{{ type = \"woven\", elements = {elements} }}"),
            _ => {
                let elements = elements.min(1_000);
                format!("{{ type = \"random\", elements = {elements}, spread = 0.2 }}")
            }
        },
        _ => {
            let (strands, filaments) = (2 + draw.below(4), draw.pick(&[1, 3, 7]));
            let pitch = draw.between(0.5, 2.0) * LENGTH;
            format!(
                "{{ type = \"twisted\", elements = {elements}, strands = {strands}, filaments = {filaments}, pitch = {pitch} }}"
            )
        }
    }
}

fn reconstruct(draw: &mut RandomStream) -> String {
    let voxel = if draw.chance(0.6) {
        0.8
    } else {
        draw.between(0.5, 1.4)
    };
    let roughness = if draw.chance(0.7) {
        0.0
    } else {
        draw.between(0.1, 0.5)
    };
    let simplify = if draw.chance(0.7) {
        0.0
    } else {
        draw.between(0.05, 0.4)
    };
    let mode = if draw.chance(0.08) { "world" } else { "auto" };
    format!(
        "[reconstruct]\nvoxel = {voxel}\nroughness = {roughness}\nsimplify = {simplify}\nmode = \"{mode}\"\n"
    )
}

const MATERIAL: &str = "[time]\nend = 1\nframes_per_second = 1000\n\
    [[material]]\nname = \"m\"\ndensity = 1000\nyoung = \"1 GPa\"\ntensile_strength = \"1 MPa\"\nweibull_modulus = 5\n";

/// The body of a seed; its mesh is written to `folder`.
pub fn body(seed: u64, folder: &Path) -> Body {
    let mut draw = RandomStream::new(seed, 1);
    let shape = SHAPES[seed as usize % SHAPES.len()](&mut draw);
    if let Some(mesh) = &shape.mesh {
        let mut bytes = Vec::new();
        ply::write_ply(mesh, &mut bytes).unwrap();
        std::fs::write(folder.join("body.ply"), bytes).unwrap();
    }
    let axis = list(draw.direction());
    let angle = draw.between(0.0, 3.0);
    let place = list(0.3 * LENGTH * draw.in_cube());
    let reconstruct = reconstruct(&mut draw);
    let mut last = None;
    for attempt in 0..ATTEMPTS {
        // If the shape is too thin for its packing, another packing is tried, in the end a hexagonal one of
        // many elements.
        let packing = match (&shape.packing, attempt) {
            (Some(packing), 0) => packing.clone(),
            (_, 0 | 1) => packing(&mut draw, shape.rope),
            _ => format!("{{ type = \"hexagonal\", elements = {} }}", 400 << attempt),
        };
        let text = format!("shape = {}\npacking = {packing}\n", shape.text);
        let folder_text = folder.display().to_string();
        let whole = format!(
            "{MATERIAL}[simulate]\nseed = {seed}\n{reconstruct}[[body]]\nname = \"b\"\nmaterial = \"m\"\n{text}\
             rotation = {{ axis = {axis}, angle = {angle} }}\nposition = {place}\n"
        );
        let whole = whole.replace("FOLDER", &folder_text);
        match spec::parse(&whole, "torture", &[]) {
            Ok(pipeline) => match pack::pack(&pipeline, folder) {
                Ok(packed) if packed.packing.elements.x.len() as f64 <= 2.0 * MOST => {
                    let text = format!("{text}{reconstruct}").replace('\n', "; ");
                    return Body {
                        pipeline,
                        packed,
                        text,
                    };
                }
                Ok(packed) => {
                    last = Some(format!(
                        "{} elements\n{whole}",
                        packed.packing.elements.x.len()
                    ))
                }
                Err(error) => last = Some(format!("{error}\n{whole}")),
            },
            Err(errors) => last = Some(format!("{errors}\n{whole}")),
        }
    }
    panic!("seed {seed} has no body: {}", last.unwrap_or_default());
}
