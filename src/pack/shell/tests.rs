use std::path::Path;

use super::*;
use crate::pack::{Calibration, MeshFiles, PackedBody, mesh, pack_body};
use crate::spec::{BodyShape, Fill, MassModel, PackingSpec, Rotation, ThicknessSide};

fn shell(shape: BodyShape, radius: Option<f64>, elements: Option<u32>, layers: u32) -> Body {
    Body {
        name: "shell".into(),
        material: "tin".into(),
        grains: vec![],
        cracks: vec![],
        shape,
        packing: PackingSpec::Shell {
            radius,
            elements,
            layers,
            neighbourhood: 1.2,
        },
        mass: MassModel::Bulk,
        bonded: true,
        rigid: false,
        position: [0.0; 3],
        rotation: Rotation::default(),
        velocity: [0.0; 3],
        spin: [0.0; 3],
    }
}

fn packed(body: &Body) -> PackedBody {
    pack_body(body, &MeshFiles::new(Path::new("pipelines")), (7, 0)).unwrap()
}

fn can() -> BodyShape {
    BodyShape::Cylinder {
        radius: 0.033,
        height: 0.115,
    }
}

fn bunny() -> BodyShape {
    BodyShape::Mesh {
        file: "meshes/bunny.obj".into(),
        object: None,
        each: false,
        up: None,
        unit: None,
        scale: None,
        height: Some(0.1),
        thickness: None,
        thickness_side: ThicknessSide::Both,
        fill: Fill::Closed,
    }
}

/// Deepest overlap over the radius.
fn overlap(body: &PackedBody) -> f64 {
    let near = crate::pack::neighbours::pairs(&body.centres, &body.radii, 1.0);
    let gaps = near
        .iter()
        .map(|pair| pair.map(|end| body.centres[end as usize]))
        .map(|[p, q]| 2.0 - p.distance(q) / body.radius);
    gaps.fold(0.0, f64::max)
}

#[test]
fn layers_lie_at_their_depths_without_overlap_and_are_well_bonded() {
    let ball = BodyShape::Sphere { radius: 0.03 };
    for (shape, layers) in [
        (can(), 3),
        (bunny(), 2),
        (ball.clone(), 3),
        (ball, 1),
        (
            BodyShape::Box {
                size: [0.05, 0.04, 0.03],
            },
            2,
        ),
        (
            BodyShape::Revolved {
                profile: vec![[0.03, -0.05], [0.01, 0.0], [0.03, 0.05]],
                segments: 48,
            },
            2,
        ),
    ] {
        let requested = 6000;
        let start = std::time::Instant::now();
        let found = packed(&shell(shape.clone(), None, Some(requested), layers));
        let (count, r) = (found.centres.len() as f64, found.radius);
        let bonds = 2.0 * found.pairs.len() as f64 / count;
        println!(
            "{shape:?} {layers}: {count} elements, {bonds:.2} bonds, {} parts, {} isolated, overlap {:.1e}, {:?}, {:?}",
            found.parts,
            found.isolated,
            overlap(&found),
            found.calibration,
            start.elapsed()
        );
        assert!((count / f64::from(requested) - 1.0).abs() < 0.03, "{count}");
        assert!(overlap(&found) < 1e-3);
        assert_eq!(found.parts, 1);
        // Where the bunny is as thin as the shell, element-sized hollows contain isolated elements.
        assert!((found.isolated as f64) < 3e-3 * count, "{}", found.isolated);
        let usual = match layers {
            1 => 4.9..6.0,
            2 => 7.2..8.4,
            _ => 8.0..9.0,
        };
        assert!(usual.contains(&bonds), "{bonds}");
        // Each element is on a layer, within the allowed distance from it, and inner layers have fewer
        // elements, as their area is smaller.
        let outer = packed_skin(&shape);
        let surface = SkinSurface::new(&outer);
        let (mut on, mut astray) = (vec![0.0; layers as usize], 0.0);
        for p in &found.centres {
            let depth = surface.depth(*p) / r;
            let k = ((depth - CENTRE_DEPTH) / LAYER_SPACING).round();
            astray += f64::from(u8::from(
                (depth - CENTRE_DEPTH - k * LAYER_SPACING).abs() > 0.21,
            ));
            on[k as usize] += 1.0;
        }
        // Near an edge of the skin, the nearest point jumps from one update to the next.
        assert!(astray < 0.01 * count, "{astray}");
        for pair in on.windows(2) {
            assert!(pair[1] < pair[0] && pair[1] > 0.6 * pair[0], "{on:?}");
        }
        // The volume is that between the two surfaces, and elements fill it about as in other packings.
        let part = count * 4.0 / 3.0 * std::f64::consts::PI * r.powi(3) / found.volume;
        assert!((0.6..1.2).contains(&part), "{part}");
        check::require_solid(&mut found.skin.clone()).unwrap();
    }
}

fn packed_skin(shape: &BodyShape) -> TriMesh {
    let body = shell(shape.clone(), Some(1.0), None, 1);
    let mesh = mesh::skin(&body, &MeshFiles::new(Path::new("pipelines"))).unwrap();
    let mesh = mesh.map(|(mesh, _)| mesh);
    Outline::of(&body, mesh.as_ref()).unwrap().skin
}

#[test]
fn the_volume_of_a_can_is_that_of_its_wall_and_the_same_on_any_number_of_threads() {
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let pool = pool.build().unwrap();
        pool.install(|| packed(&shell(can(), Some(1e-3), None, 3)))
    };
    let (one, three) = (run(1), run(3));
    assert_eq!((&one.centres, &one.pairs), (&three.centres, &three.pairs));
    assert_eq!((&one.skin, one.volume), (&three.skin, three.volume));
    let (r, h, t) = (0.033_f64, 0.115, 4.6e-3);
    let wall = std::f64::consts::PI * (r * r * h - (r - t).powi(2) * (h - 2.0 * t));
    assert!((one.volume / wall - 1.0).abs() < 1e-9, "{}", one.volume);
    let Calibration::Shell {
        moments: [ss, sc, cc],
    } = one.calibration
    else {
        panic!("not a shell's: {:?}", one.calibration);
    };
    // Most bonds run along the wall.
    assert!(ss > 0.6 && (ss + 2.0 * sc + cc - 1.0).abs() < 1e-9, "{ss}");
    let other = pack_body(
        &shell(can(), Some(1e-3), None, 3),
        &MeshFiles::new(Path::new("")),
        (8, 0),
    )
    .unwrap();
    assert_ne!(one.centres, other.centres, "the seed chooses");
}

#[test]
fn what_is_too_thin_is_refused_by_name_and_thickness() {
    for (shape, radius, layers) in [
        (BodyShape::Sphere { radius: 0.01 }, 3e-3, 3),
        (
            BodyShape::Box {
                size: [0.1, 0.1, 0.01],
            },
            1e-3,
            4,
        ),
        (bunny(), 0.02, 2),
    ] {
        let body = shell(shape, Some(radius), None, layers);
        let error = pack_body(&body, &MeshFiles::new(Path::new("pipelines")), (0, 0)).unwrap_err();
        let error = error.to_string();
        assert!(
            error.contains("\"shell\"") && error.contains("too thin"),
            "{error}"
        );
        assert!(error.contains("fewer layers"), "{error}");
    }
}
