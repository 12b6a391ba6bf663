//! A synthetic shot for tests: two boxes that move apart; the second splits at frame 3.

use tempfile::TempDir;

use crate::columns::{Bonds, Elements, Frames, Shape};
use crate::geometry::icosphere;
use crate::spec::{
    Body, BodyShape, Criterion, Elasticity, Export, MassModel, Material, PackingSpec, Pipeline,
    Preview, Reconstruct, Rotation, Simulate, Strength, Time, World,
};
use crate::store::{FragmentRange, Manifest, Packing, Store, SurfaceFrame};

const CORNERS: [[f32; 3]; 8] = [
    [0.0, 0.0, 0.0],
    [1.0, 0.0, 0.0],
    [1.0, 1.0, 0.0],
    [0.0, 1.0, 0.0],
    [0.0, 0.0, 1.0],
    [1.0, 0.0, 1.0],
    [1.0, 1.0, 1.0],
    [0.0, 1.0, 1.0],
];
const TRIANGLES: [[u32; 3]; 12] = [
    [0, 2, 1],
    [0, 3, 2],
    [4, 5, 6],
    [4, 6, 7],
    [0, 1, 5],
    [0, 5, 4],
    [2, 3, 7],
    [2, 7, 6],
    [1, 2, 6],
    [1, 6, 5],
    [0, 4, 7],
    [0, 7, 3],
];

/// Adds a closed box; its face at the upper end of x is a crack face if `cracked`.
fn add_box(
    surface: &mut SurfaceFrame,
    (body, fragment): (u32, u32),
    low: [f32; 3],
    size: [f32; 3],
    shift: f32,
    cracked: bool,
) {
    let base = surface.positions.len() as u32;
    surface.pieces.push(FragmentRange {
        body,
        fragment,
        first_vertex: base,
        vertices: 8,
        first_triangle: surface.triangles.len() as u32,
        triangles: 12,
    });
    for corner in CORNERS {
        let rest = [0, 1, 2].map(|axis| low[axis] + corner[axis] * size[axis]);
        surface.rest_positions.push(rest);
        surface.positions.push([rest[0] + shift, rest[1], rest[2]]);
        let normal = corner.map(|c| (c - 0.5) * 2.0 / 3f32.sqrt());
        surface.normals.push(normal);
        surface.velocities.push([0.25, 0.0, -1.5e-6]);
        surface.stress.push(1e5 * corner[2]);
    }
    for (at, triangle) in TRIANGLES.iter().enumerate() {
        surface.triangles.push(triangle.map(|vertex| vertex + base));
        surface
            .inside
            .push(u8::from(cracked && (8..10).contains(&at)));
    }
}

/// The surfaces of frame `frame` with one or two bodies.
pub fn surface(frame: u32, bodies: u32) -> SurfaceFrame {
    let mut surface = SurfaceFrame {
        frame,
        time: f64::from(frame) / 24.0,
        ..SurfaceFrame::default()
    };
    let shift = frame as f32 * 0.25;
    add_box(&mut surface, (0, 0), [0.0; 3], [1.0; 3], -shift, false);
    if bodies > 1 && frame < 3 {
        add_box(
            &mut surface,
            (1, 1),
            [2.0, 0.0, 0.0],
            [1.0; 3],
            shift,
            false,
        );
    } else if bodies > 1 {
        let half = [0.5, 1.0, 1.0];
        add_box(&mut surface, (1, 1), [2.0, 0.0, 0.0], half, shift, true);
        add_box(
            &mut surface,
            (1, 7),
            [2.5, 0.0, 0.0],
            half,
            2.0 * shift,
            false,
        );
    }
    surface
}

/// Adds a ball of radius 1 whose upper half is a crack face, at rest 3 above the origin, as fragment 9 of body 0.
pub fn add_ball(surface: &mut SurfaceFrame) {
    let ball = icosphere(3);
    let base = surface.positions.len() as u32;
    surface.pieces.push(FragmentRange {
        body: 0,
        fragment: 9,
        first_vertex: base,
        vertices: ball.positions.len() as u32,
        first_triangle: surface.triangles.len() as u32,
        triangles: ball.triangles.len() as u32,
    });
    let shift = surface.frame as f32 * 0.25;
    for p in &ball.positions {
        let [x, y, z] = p.as_vec3().to_array();
        surface.rest_positions.push([x, y + 3.0, z]);
        surface.positions.push([x + shift, y + 3.0, z]);
        surface.normals.push([x, y, z]);
        surface.velocities.push([0.25, 0.0, 0.0]);
        surface.stress.push(x);
    }
    for triangle in &ball.triangles {
        let height: f64 = triangle.iter().map(|v| ball.positions[*v as usize].y).sum();
        surface.triangles.push(triangle.map(|v| v + base));
        surface.inside.push((height > 0.0).into());
    }
}

/// Gives every triangle texture coordinates: a separate chart for each side of a box.
pub fn texture(surface: &mut SurfaceFrame) {
    let rest = &surface.rest_positions;
    let chart = |(t, triangle): (usize, &[u32; 3])| {
        let side = (t % 12 / 2) as f32;
        triangle.map(|v| {
            let [x, y, z] = rest[v as usize];
            [side + 0.25 * x + 0.125 * z, 0.5 * y - 0.25 * z]
        })
    };
    surface.uv = surface.triangles.iter().enumerate().map(chart).collect();
}

fn material() -> Material {
    Material {
        name: "plaster".into(),
        density: 1000.0,
        young: 1e9,
        poisson: Some(0.2),
        shear: None,
        elasticity: Elasticity::Material,
        strength: Some(Strength::Bond),
        criterion: Criterion::Tension,
        tensile_strength: None,
        shear_strength: None,
        weibull_modulus: None,
        weibull_size: None,
        weibull_length: None,
        toughness: None,
        hydrostatic_strength: None,
        grain: None,
        damping: 0.02,
        friction: 0.5,
        static_friction: None,
        rolling_friction: 0.0,
        contact_damping: 0.2,
        restitution: None,
        contact_shear_ratio: 0.5,
        contact_young: None,
    }
}

/// A pipeline with one body for each name.
pub fn pipeline(names: &[&str]) -> Pipeline {
    let body = |name: &&str| Body {
        name: (*name).to_owned(),
        material: "plaster".into(),
        grains: vec![],
        cracks: vec![],
        shape: BodyShape::Box { size: [1.0; 3] },
        packing: PackingSpec::Hexagonal {
            radius: Some(0.1),
            elements: None,
        },
        mass: MassModel::Bulk,
        bonded: true,
        rigid: false,
        position: [0.0; 3],
        rotation: Rotation::default(),
        velocity: [0.0; 3],
        spin: [0.0; 3],
    };
    Pipeline {
        time: Time {
            end: 1.0,
            frames_per_second: 24.0,
            step: None,
            fraction: 0.4,
        },
        world: World::default(),
        materials: vec![material()],
        pairs: vec![],
        bodies: names.iter().map(body).collect(),
        colliders: Vec::new(),
        attachments: Vec::new(),
        simulate: Simulate::default(),
        stress: None,
        output: Default::default(),
        reconstruct: Reconstruct::default(),
        export: Export::default(),
        preview: Preview::default(),
    }
}

/// A store of `frames` frames in a temporary folder.
pub fn store(frames: u32, names: &[&str]) -> (TempDir, Store) {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let store = Store::at(folder.path().join("shot"));
    Manifest::new(pipeline(names))
        .write(&store)
        .expect("manifest");
    for frame in 0..frames {
        surface(frame, names.len() as u32)
            .write(&store)
            .expect("surface");
    }
    (folder, store)
}

/// Adds a packing of two elements and frame 0 to a store. Both elements rise and spin; the second is rotated
/// by a quarter turn about x and compressed.
pub fn write_elements(store: &Store) {
    let zeros = || vec![0.0; 2];
    let elements = Elements {
        id: vec![0, 1],
        body: vec![0; 2],
        material: vec![0; 2],
        kind: vec![Shape::Sphere; 2],
        x: vec![0.0, 0.25],
        y: vec![0.5; 2],
        z: zeros(),
        r: vec![0.125; 2],
        mass: vec![1.0; 2],
        inertia: vec![1.0; 2],
        volume: vec![1.0; 2],
        vx: zeros(),
        vy: zeros(),
        vz: zeros(),
        wx: zeros(),
        wy: zeros(),
        wz: zeros(),
    };
    let quarter = std::f32::consts::FRAC_1_SQRT_2;
    let zeros = || vec![0.0; 2];
    let frame = Frames {
        frame: vec![0; 2],
        time: vec![0.0; 2],
        id: vec![0, 1],
        x: vec![0.0, 0.25],
        y: vec![0.5; 2],
        z: zeros(),
        qx: vec![0.0, quarter],
        qy: zeros(),
        qz: zeros(),
        qw: vec![1.0, quarter],
        vx: zeros(),
        vy: vec![1.0; 2],
        vz: zeros(),
        wx: zeros(),
        wy: zeros(),
        wz: vec![0.5; 2],
        fragment: vec![0, 1],
        sigma: vec![0.0, -1e5],
        tau: zeros(),
        broken: vec![0; 2],
    };
    let bonds = Bonds::default();
    store
        .write_packing(&Packing {
            elements,
            bonds,
            ..Packing::default()
        })
        .expect("packing");
    store.write_numbered("frames", 0, &frame).expect("frame");
}
