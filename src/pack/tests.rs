use std::path::Path;

use glam::DVec3;

use super::*;
use crate::spec::*;

fn glass() -> Material {
    Material {
        name: "glass".into(),
        density: 2500.0,
        young: 7e10,
        poisson: Some(0.2),
        shear: None,
        elasticity: Elasticity::Material,
        strength: Some(Strength::Bond),
        criterion: Criterion::Tension,
        tensile_strength: Some(5e7),
        shear_strength: None,
        weibull_modulus: Some(6.0),
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

fn body(name: &str, shape: BodyShape, radius: Option<f64>, elements: Option<u32>) -> Body {
    Body {
        name: name.into(),
        material: "glass".into(),
        grains: vec![],
        cracks: vec![],
        shape,
        packing: PackingSpec::Hexagonal { radius, elements },
        mass: MassModel::Bulk,
        bonded: true,
        rigid: false,
        position: [0.0; 3],
        rotation: Rotation::default(),
        velocity: [0.0; 3],
        spin: [0.0; 3],
    }
}

fn shot(bodies: Vec<Body>) -> Pipeline {
    Pipeline {
        time: Time {
            end: 1.0,
            frames_per_second: 24.0,
            step: None,
            fraction: 0.4,
        },
        world: World::default(),
        materials: vec![glass()],
        pairs: vec![],
        bodies,
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

fn packed(bodies: Vec<Body>) -> Result<Packed, PackError> {
    pack(&shot(bodies), Path::new("pipelines"))
}

fn message(bodies: Vec<Body>) -> String {
    packed(bodies).unwrap_err().to_string()
}

fn bunny(fill: Fill, radius: Option<f64>, elements: Option<u32>) -> Body {
    let shape = BodyShape::Mesh {
        file: "meshes/bunny.obj".into(),
        object: None,
        each: false,
        up: None,
        unit: None,
        scale: None,
        height: Some(0.1),
        thickness: None,
        thickness_side: ThicknessSide::Both,
        fill,
    };
    body("bunny", shape, radius, elements)
}

#[test]
fn meshes_are_placed_by_up_and_unit_and_odd_sizes_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    // A box of 2 x 3 x 4 in a file, upright along z.
    let points =
        "(0, 0, 0), (2, 0, 0), (2, 3, 0), (0, 3, 0), (0, 0, 4), (2, 0, 4), (2, 3, 4), (0, 3, 4)";
    let faces = "0, 3, 2, 1, 4, 5, 6, 7, 0, 1, 5, 4, 1, 2, 6, 5, 2, 3, 7, 6, 3, 0, 4, 7";
    let prim = format!(
        "def Mesh \"box\"\n{{\nint[] faceVertexCounts = [4, 4, 4, 4, 4, 4]\n\
        int[] faceVertexIndices = [{faces}]\npoint3f[] points = [{points}]\n}}\n"
    );
    let header = |metadata: &str| format!("#usda 1.0\n({metadata})\n");
    let said = header("upAxis = \"Z\" metersPerUnit = 0.01");
    std::fs::write(folder.path().join("said.usda"), said + &prim).unwrap();
    std::fs::write(folder.path().join("mute.usda"), header("") + &prim).unwrap();
    let skin = |name: &str, keys: (Option<Up>, Option<MeshUnit>, Option<f64>)| {
        let shape = BodyShape::Mesh {
            file: name.into(),
            object: Some("box".into()),
            each: false,
            up: keys.0,
            unit: keys.1,
            scale: keys.2,
            height: None,
            thickness: None,
            thickness_side: ThicknessSide::Both,
            fill: Fill::Closed,
        };
        let body = body("box", shape, None, Some(50));
        let packed = pack(&shot(vec![body.clone()]), folder.path()).unwrap();
        let (low, high) = packed.shapes[0].bounds().unwrap();
        let said = size_message(&body, &packed.shapes[0]);
        ((low, high), said)
    };
    let near = |a: (DVec3, DVec3), low: [f64; 3], high: [f64; 3]| {
        let error =
            (a.0 - DVec3::from_array(low)).length() + (a.1 - DVec3::from_array(high)).length();
        assert!(error < 1e-12, "{a:?}");
    };
    let (bounds, said) = skin("said.usda", (None, None, None));
    near(bounds, [0.0, 0.0, -0.03], [0.02, 0.04, 0.0]);
    assert_eq!(said, None);
    let large = header("metersPerUnit = 20") + &prim;
    std::fs::write(folder.path().join("large.usda"), large).unwrap();
    let said = skin("large.usda", (None, None, None)).1.unwrap();
    assert!(
        said.contains("large.usda makes it 80 m across") && said.contains("unit = "),
        "{said}"
    );
    let (bounds, said) = skin("said.usda", (Some(Up::Y), Some(MeshUnit::Mm), None));
    near(bounds, [0.0; 3], [0.002, 0.003, 0.004]);
    assert_eq!(said, None);
    let (bounds, said) = skin("mute.usda", (Some(Up::Z), None, None));
    near(bounds, [0.0, 0.0, -3.0], [2.0, 4.0, 0.0]);
    assert_eq!(said, None);
    // A scale takes the place of the file's unit.
    let (bounds, _) = skin("said.usda", (None, None, Some(2.0)));
    near(bounds, [0.0, 0.0, -6.0], [4.0, 8.0, 0.0]);
}

fn hourglass() -> BodyShape {
    BodyShape::Revolved {
        profile: vec![[0.2, -0.3], [0.08, 0.0], [0.2, 0.3]],
        segments: 48,
    }
}

fn close(a: f64, b: f64, tolerance: f64) {
    assert!((a / b - 1.0).abs() < tolerance, "{a} {b}");
}

#[test]
fn block_has_the_bonds_of_close_packing_and_the_mass_of_its_box() {
    let rows = [8, 7, 6];
    let mut block = body("block", BodyShape::Block { rows }, Some(1e-3), None);
    block.rotation = Rotation {
        axis: [1.0, 2.0, 3.0],
        angle: 0.8,
    };
    block.position = [3.0, 1.0, -2.0];
    let Packed {
        packing, shapes, ..
    } = packed(vec![block]).unwrap();
    let (e, b) = (&packing.elements, &packing.bonds);
    assert_eq!(e.id.len(), 336);
    let mut degree = vec![0; e.id.len()];
    for end in b.i.iter().chain(&b.j) {
        degree[*end as usize] += 1;
    }
    // Interior elements: six per row (ends have neighbours on one side only), without the border rows and
    // layers.
    assert_eq!(degree.iter().filter(|d| **d == 12).count(), 6 * 5 * 4);
    assert_eq!(degree.iter().max(), Some(&12));
    let ends: Vec<_> = b.i.iter().zip(&b.j).collect();
    assert!(ends.is_sorted() && ends.iter().all(|(i, j)| i < j));
    for ((l0, dx), (dy, dz)) in b.l0.iter().zip(&b.dx).zip(b.dy.iter().zip(&b.dz)) {
        close(*l0, 2e-3, 1e-10);
        close(DVec3::new(*dx, *dy, *dz).length(), 1.0, 1e-14);
    }
    let volume = 336.0 * 4.0 * 2.0_f64.sqrt() * 1e-9;
    close(e.mass.iter().sum(), 2500.0 * volume, 1e-12);
    close(e.volume.iter().sum(), volume, 1e-12);
    close(shapes[0].volume(), volume, 1e-9);
}

#[test]
fn moduli_follow_from_the_lattice_whatever_the_border() {
    // With six bonds per element E_bond is E over the estimate at λ = (1 − 4ν)/(1 + ν) = 1/6: 1.333.
    let block = |rows| {
        let block = body("a", BodyShape::Block { rows }, Some(1e-3), None);
        packed(vec![block]).unwrap().packing.bonds
    };
    for rows in [[40, 40, 40], [30, 4, 2], [9, 1, 1]] {
        close(block(rows).young[0] * 4.0 / 3.0, 7e10, 1e-3);
    }
    let bonds = block([40, 40, 40]);
    close(bonds.shear[0] / bonds.young[0], 1.0 / 6.0, 1e-12);
    assert!(bonds.tau_c.iter().all(|t| *t == f64::INFINITY));
    let mean = bonds.sigma_c.iter().sum::<f64>() / bonds.sigma_c.len() as f64;
    close(mean, 5e7, 2e-3);
    let mut pipeline = shot(vec![body(
        "a",
        BodyShape::Block { rows: [4, 4, 4] },
        Some(1e-3),
        None,
    )]);
    pipeline.materials[0].poisson = Some(0.3);
    let error = pack(&pipeline, Path::new("")).unwrap_err().to_string();
    assert!(
        error.contains("0.25") && error.contains("energy-preserving"),
        "{error}"
    );
    pipeline.materials[0].elasticity = Elasticity::Bond;
    assert!(matches!(
        pack(&pipeline, Path::new("")),
        Err(PackError::MissingShear { .. })
    ));
    pipeline.materials[0].shear = Some(1e10);
    let bonds = pack(&pipeline, Path::new("")).unwrap().packing.bonds;
    assert_eq!((bonds.young[0], bonds.shear[0]), (7e10, 1e10));
}

#[test]
fn requested_numbers_are_met_in_every_shape() {
    let shapes = [
        BodyShape::Box {
            size: [0.1, 0.05, 0.2],
        },
        BodyShape::Sphere { radius: 0.3 },
        BodyShape::Cylinder {
            radius: 0.1,
            height: 0.5,
        },
        BodyShape::Plate {
            size: [0.5, 0.4],
            layers: 3,
            hole: None,
        },
        BodyShape::Plate {
            size: [0.5, 0.4],
            layers: 3,
            hole: Some(0.1),
        },
        hourglass(),
        BodyShape::Tube {
            points: vec![[0.0, 0.0, 0.0], [0.3, 0.05, 0.1], [0.6, 0.2, 0.1]],
            radius: 0.06,
        },
    ];
    for shape in shapes {
        for requested in [1000, 20_000] {
            let body = body("a", shape.clone(), None, Some(requested));
            let Packed {
                packing,
                shapes,
                bodies,
                ..
            } = packed(vec![body]).unwrap();
            let found = packing.elements.id.len() as f64;
            close(found, f64::from(requested), 0.03);
            close(
                packing.elements.mass.iter().sum(),
                2500.0 * shapes[0].volume(),
                1e-12,
            );
            assert_eq!((bodies[0].isolated, bodies[0].parts), (0, 1));
            // The elements' own cells fill the shape except for a layer under the skin.
            let cells = found * 4.0 * 2.0_f64.sqrt() * bodies[0].radius.powi(3);
            let filled = cells / shapes[0].volume();
            assert!(
                (0.75..1.1).contains(&filled),
                "{shape:?} {requested}: {filled}"
            );
        }
    }
}

#[test]
fn poured_grains_lie_apart_unbonded_and_as_loosely_as_asked_for_in_every_shape() {
    let shapes = [
        (
            BodyShape::Cylinder {
                radius: 0.05,
                height: 0.12,
            },
            0.5,
        ),
        (BodyShape::Sphere { radius: 0.06 }, 0.57),
        (hourglass(), 0.55),
    ];
    for (shape, fraction) in shapes {
        let mut body = body("grains", shape, None, None);
        body.packing = PackingSpec::Loose {
            radius: None,
            elements: Some(12_000),
            spread: 0.2,
            fraction,
        };
        let found = packed(vec![body]).unwrap();
        let e = &found.packing.elements;
        close(e.id.len() as f64, 12_000.0, 0.03);
        assert_eq!(found.packing.bonds.id.len(), 0);
        assert_eq!(found.bodies[0].parts, e.id.len());
        let centres: Vec<DVec3> = (0..e.id.len())
            .map(|i| DVec3::new(e.x[i], e.y[i], e.z[i]))
            .collect();
        let skin = &found.shapes[0];
        let statistics = figures(&centres, &e.r, &[], Some(skin)).unwrap();
        let bulk = statistics.bulk.unwrap();
        println!(
            "{fraction}: {:.4} full, overlap {:.1e}",
            bulk.filling, statistics.overlap
        );
        close(bulk.filling, fraction, 0.02);
        assert!(statistics.overlap <= 0.0 && bulk.contacts == 0.0);
        // Grains lie inside as a whole. The skin of a round shape is a prism of the same volume, whose sides
        // lie a little further in.
        let bvh = crate::geometry::bvh::Bvh::new(skin);
        let mut grains = centres.iter().zip(&e.r);
        assert!(grains.all(|(p, r)| !bvh.any_within(skin, *p, 0.97 * r)));
    }
}

#[test]
fn a_rod_between_unequal_balls_is_as_thick_as_the_smaller() {
    let radii = |law| {
        let mut body = body("b", BodyShape::Sphere { radius: 0.05 }, None, None);
        body.packing = PackingSpec::Random {
            radius: None,
            elements: Some(400),
            spread: 0.5,
            neighbourhood: 1.1,
        };
        let mut pipeline = shot(vec![body]);
        pipeline.simulate.law = Some(law);
        let packing = pack(&pipeline, Path::new(".")).unwrap().packing;
        let (b, r) = (packing.bonds, packing.elements.r);
        let ends: Vec<[f64; 2]> = (b.i.iter().zip(&b.j))
            .map(|(&i, &j)| [r[i as usize], r[j as usize]])
            .collect();
        (b.radius, ends)
    };
    let (radius, ends) = radii(Law::Cosserat);
    assert!(radius.len() > 1000);
    assert!(radius.iter().zip(&ends).all(|(s, [a, b])| *s == a.min(*b)));
    let (radius, ends) = radii(Law::Manifold);
    assert!(
        radius
            .iter()
            .zip(&ends)
            .all(|(s, [a, b])| *s == (a + b) / 2.0)
    );
}

#[test]
fn a_closed_mesh_is_filled_alike_by_every_fill() {
    let closed = packed(vec![bunny(Fill::Closed, None, Some(20_000))]).unwrap();
    let count = closed.packing.elements.id.len();
    close(count as f64, 20_000.0, 0.03);
    let radius = closed.bodies[0].radius;
    let again = packed(vec![bunny(Fill::Closed, Some(radius), None)]).unwrap();
    for fill in [Fill::Auto, Fill::Winding] {
        let other = packed(vec![bunny(fill, Some(radius), None)]).unwrap();
        assert_eq!(other.packing, again.packing, "{fill:?}");
    }
    let (low, high) = closed.shapes[0].bounds().unwrap();
    close(high.y - low.y, 0.1, 1e-12);
}

#[test]
fn cubes_that_overlap_in_one_file_are_united() {
    let folder = tempfile::tempdir().unwrap();
    let mut text = String::new();
    for shift in [0.0, 0.5] {
        let cube = crate::geometry::shapes::cuboid(DVec3::ONE);
        for p in cube.positions {
            text += &format!("v {} {} {}\n", p.x + shift, p.y + shift, p.z + shift);
        }
    }
    for base in [1, 9] {
        for t in crate::geometry::shapes::cuboid(DVec3::ONE).triangles {
            let [a, b, c] = t.map(|v| v + base);
            text += &format!("f {a} {b} {c}\n");
        }
    }
    std::fs::write(folder.path().join("cubes.obj"), text).unwrap();
    let cubes = |fill| {
        let (file, scale, height) = ("cubes.obj".into(), None, None);
        let shape = BodyShape::Mesh {
            file,
            object: None,
            each: false,
            up: None,
            unit: None,
            scale,
            height,
            thickness: None,
            thickness_side: ThicknessSide::Both,
            fill,
        };
        pack(
            &shot(vec![body("cubes", shape, Some(0.03), None)]),
            folder.path(),
        )
    };
    let error = cubes(Fill::Closed).unwrap_err().to_string();
    assert!(
        error.contains("cubes.obj") && error.contains("auto"),
        "{error}"
    );
    let wound = cubes(Fill::Auto).unwrap();
    close(wound.bodies[0].volume, 2.0 - 0.125, 1e-12);
    assert!(wound.bodies[0].closing.as_ref().unwrap().cut > 0);
    assert_eq!(wound.shapes, cubes(Fill::Winding).unwrap().shapes);
    // The inner walls leave no gap: the body is one part, filled as if it had no walls.
    assert_eq!(wound.bodies[0].parts, 1);
    let cells = wound.packing.elements.id.len() as f64 * 4.0 * 2.0_f64.sqrt() * 0.03_f64.powi(3);
    assert!(cells / 1.875 > 0.87, "{}", cells / 1.875);
}

#[test]
fn the_same_on_any_number_of_threads() {
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| packed(vec![bunny(Fill::Closed, Some(2e-3), None)]).unwrap())
    };
    let (one, three) = (run(1), run(3));
    assert_eq!(one.packing, three.packing);
    assert_eq!(one.shapes, three.shapes);
}

#[test]
fn errors_name_the_cause() {
    let sphere = BodyShape::Sphere { radius: 0.1 };
    let both = message(vec![body("ball", sphere.clone(), Some(0.01), Some(10))]);
    assert!(both.contains("ball") && both.contains("both"), "{both}");
    let neither = message(vec![body("ball", sphere.clone(), None, None)]);
    assert!(neither.contains("neither"), "{neither}");
    let large = message(vec![body("ball", sphere.clone(), Some(0.12), None)]);
    assert!(
        large.contains("ball") && large.contains("0.12") && large.contains("0.2"),
        "{large}"
    );
    let box_ = BodyShape::Box {
        size: [1.0, 1.0, 0.01],
    };
    let large = message(vec![body("sheet", box_, Some(0.1), None)]);
    assert!(
        large.contains("sheet") && large.contains("0.01 m"),
        "{large}"
    );
    let tiny = message(vec![body("ball", sphere.clone(), Some(1e-6), None)]);
    assert!(tiny.contains("at most"), "{tiny}");
    let mut moved = body("second", sphere.clone(), Some(0.01), None);
    moved.position = [0.19, 0.0, 0.0];
    let first = body("first", sphere, Some(0.01), None);
    let overlap = message(vec![first.clone(), moved.clone()]);
    assert!(
        overlap.contains("first") && overlap.contains("second"),
        "{overlap}"
    );
    moved.position = [0.21, 0.0, 0.0];
    assert_eq!(packed(vec![first, moved]).unwrap().shapes.len(), 2);
    let mut stray = bunny(Fill::Closed, Some(1e-3), None);
    stray.material = "steel".into();
    let unknown = message(vec![stray]);
    assert!(
        unknown.contains("steel") && unknown.contains("glass"),
        "{unknown}"
    );
}

#[test]
fn elements_keep_away_from_a_hole_and_fill_the_sheet_about_it() {
    let (hole, radius) = (0.1, 0.005);
    let sheet = BodyShape::Plate {
        size: [0.5, 0.4],
        layers: 2,
        hole: Some(hole),
    };
    let found = packed(vec![body("sheet", sheet, Some(radius), None)]).unwrap();
    let e = &found.packing.elements;
    let distances = e.x.iter().zip(&e.z).map(|(x, z)| x.hypot(*z));
    let nearest = distances.fold(f64::INFINITY, f64::min);
    assert!(
        (hole + 0.5 * radius..hole + 1.5 * radius).contains(&nearest),
        "{nearest}"
    );
    let area = 0.2 - std::f64::consts::PI * hole * hole;
    let thickness = 2.0 * lattice::LAYER_SPACING * radius;
    close(found.bodies[0].volume, area * thickness, 1e-12);
    close(found.shapes[0].volume(), area * thickness, 1e-12);
}

#[test]
fn motion_is_that_of_a_rigid_body() {
    let mut ball = body("ball", BodyShape::Sphere { radius: 0.1 }, Some(0.01), None);
    ball.position = [5.0, 0.0, 0.0];
    ball.velocity = [1.0, 2.0, 3.0];
    ball.spin = [0.0, 4.0, 0.0];
    let e = packed(vec![ball]).unwrap().packing.elements;
    let n = e.id.len() as f64;
    for (column, mean) in [(&e.vx, 1.0), (&e.vy, 2.0), (&e.vz, 3.0)] {
        close(column.iter().sum::<f64>() / n, mean, 1e-9);
    }
    let centre = e.x.iter().sum::<f64>() / n;
    for (x, vz) in e.x.iter().zip(&e.vz) {
        assert!((vz - (3.0 - 4.0 * (x - centre))).abs() < 1e-9);
    }
}

#[test]
fn a_store_gives_back_what_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::at(folder.path());
    let rows = [4, 3, 2];
    let packed = packed(vec![body("a", BodyShape::Block { rows }, Some(1e-3), None)]).unwrap();
    write(&store, &packed).unwrap();
    assert_eq!(store.read_packing().unwrap(), packed.packing);
    let skin = crate::geometry::read::read(&store.shape_path(0)).unwrap();
    assert_eq!(skin, packed.shapes[0]);
}

#[test]
fn a_mesh_with_a_vertex_astray_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("astray.obj");
    for far in [1e12, 1e300] {
        let text = format!(
            "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 {far:e}\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n"
        );
        std::fs::write(&path, text).unwrap();
        for fill in [Fill::Closed, Fill::Winding] {
            let shape = BodyShape::Mesh {
                file: "astray.obj".into(),
                object: None,
                each: false,
                up: None,
                unit: None,
                scale: None,
                height: None,
                thickness: None,
                thickness_side: ThicknessSide::Both,
                fill,
            };
            for (radius, elements) in [(Some(0.1), None), (None, Some(100))] {
                let body = body("stone", shape.clone(), radius, elements);
                let error = pack_body(&body, &MeshFiles::new(folder.path()), (0, 0))
                    .unwrap_err()
                    .to_string();
                // Refused because its box is too large for the number of elements, or because of that number;
                // for the farthest vertex no volume is found.
                assert!(
                    error.contains("is a vertex of the mesh astray?")
                        || error.contains("at most 700000000 are possible")
                        || error.contains("no volume in its box of 1e0 x 1e0 x 1e300 m"),
                    "{error}"
                );
            }
        }
    }
}
