use std::f64::consts::PI;
use std::path::Path;

use glam::{DVec2, DVec3};

use super::laid::{MIN_FILAMENT_ELEMENTS, YARN_NEIGHBOURHOOD, bundle_radius, bundle_sites};
use super::*;
use crate::pack::neighbours;
use crate::pack::{Calibration, MeshFiles, PackError, PackedBody, pack_body};
use crate::spec::{Body, BodyShape, MassModel, PackingSpec, Rotation, Weave};

fn body(shape: BodyShape, packing: PackingSpec) -> Body {
    Body {
        name: "yarn".into(),
        material: "hemp".into(),
        grains: vec![],
        cracks: vec![],
        shape,
        packing,
        mass: MassModel::Bulk,
        bonded: true,
        rigid: false,
        position: [0.0; 3],
        rotation: Rotation::default(),
        velocity: [0.0; 3],
        spin: [0.0; 3],
    }
}

fn try_packed(body: &Body) -> Result<PackedBody, PackError> {
    pack_body(body, &MeshFiles::new(Path::new("pipelines")), (0, 0))
}

fn rope(strands: u32, filaments: Option<u32>, radius: Option<f64>, pitch: f64) -> Body {
    let shape = BodyShape::Cylinder {
        radius: 0.01,
        height: 0.3,
    };
    let elements = radius.is_none().then_some(10_000);
    body(
        shape,
        PackingSpec::Twisted {
            radius,
            elements,
            strands,
            filaments,
            pitch,
        },
    )
}

fn cloth(shape: BodyShape, weave: Weave, filaments: u32, radius: Option<f64>) -> Body {
    let elements = radius.is_none().then_some(12_000);
    body(
        shape,
        PackingSpec::Woven {
            radius,
            elements,
            weave,
            filaments,
        },
    )
}

/// Root of each element in the parts that the bonds connect.
fn parts(body: &PackedBody) -> Vec<u32> {
    let mut sets = crate::math::UnionFind::new(body.centres.len());
    for &[i, j] in &body.pairs {
        sets.join(i, j);
    }
    sets.roots()
}

/// Checks overlaps, bond lengths, skin and volume. Returns the smallest distance between elements of
/// different yarns over their diameter.
fn check_yarns(body: &PackedBody, yarns: usize) -> f64 {
    check_spaced_yarns(body, yarns, 1.001)
}

/// The same for filaments of a yarn whose distance is up to `spacing_factor` times their contact distance.
fn check_spaced_yarns(body: &PackedBody, yarns: usize, spacing_factor: f64) -> f64 {
    let r = body.radius;
    assert_eq!((body.parts, body.isolated), (yarns, 0));
    assert_eq!(body.calibration, Calibration::Yarn);
    let of = parts(body);
    let near = neighbours::pairs(&body.centres, &body.radii, 1.2);
    let mut least = f64::INFINITY;
    for [i, j] in near.iter().map(|pair| pair.map(|end| end as usize)) {
        let apart = body.centres[i].distance(body.centres[j]) / (2.0 * r);
        assert!(apart > 1.0 - 0.5e-3, "{apart}");
        if of[i] != of[j] {
            least = least.min(apart);
        }
    }
    for &[i, j] in &body.pairs {
        let length = body.centres[i as usize].distance(body.centres[j as usize]);
        assert!(
            length < 2.0 * YARN_NEIGHBOURHOOD * r * spacing_factor,
            "{length}"
        );
    }
    let each = body.volume / body.centres.len() as f64;
    assert!((each / (2.0 * PI * r.powi(3)) - 1.0).abs() < 1e-12);
    let mut skin = body.skin.clone();
    crate::geometry::check::require_solid(&mut skin).unwrap();
    assert_eq!(skin, body.skin, "already wound outward");
    least
}

#[test]
fn bundles_are_hexagons() {
    for (count, radius) in [(1, 1.0), (7, 3.0), (19, 5.0), (37, 7.0)] {
        let sites = bundle_sites(count);
        assert_eq!(sites.len(), count as usize);
        assert!((bundle_radius(&sites) - radius).abs() < 1e-12);
        let middle: DVec2 = sites.iter().sum();
        assert!(middle.length() < 1e-9);
    }
}

#[test]
fn strands_touch_and_are_bonded_within_alone() {
    for (strands, filaments) in [(2, 1), (3, 7), (4, 19), (3, 4)] {
        let rope = rope(strands, Some(filaments), Some(0.6e-3), 0.08);
        let found = try_packed(&rope).unwrap();
        let least = check_yarns(&found, strands as usize);
        println!(
            "{strands} x {filaments}: {} elements, {} bonds, least {least:.4}",
            found.centres.len(),
            found.pairs.len()
        );
        // The filaments touch; their elements are shifted against each other by up to half their length.
        assert!(least < 1.25_f64.sqrt() * 1.001, "{least}");
        // Bonds along the filament, and one or two to each adjacent filament: seven filaments have twelve
        // adjacent pairs.
        let bonds = found.pairs.len() as f64 / found.centres.len() as f64;
        match filaments {
            1 => assert!((0.98..1.0).contains(&bonds), "{bonds}"),
            7 => assert!((19.0 / 7.0 - 0.1..3.2).contains(&bonds), "{bonds}"),
            _ => assert!(bonds > 2.0, "{bonds}"),
        }
        for p in &found.centres {
            assert!(p.y.abs() < 0.15 && p.x.hypot(p.z) < 0.01 - 0.6e-3 * 0.999);
        }
    }
}

#[test]
fn ropes_fill_their_cylinder_and_meet_the_number_asked_for() {
    let found = try_packed(&rope(3, None, Some(0.5e-3), 0.1)).unwrap();
    let largest = found.centres.iter().map(|p| p.x.hypot(p.z));
    let reach = largest.fold(0.0, f64::max) + found.radius;
    assert!((0.006..=0.01).contains(&reach), "{reach}");
    let found = try_packed(&rope(3, Some(7), None, 0.1)).unwrap();
    let count = found.centres.len() as f64;
    assert!((count / 1e4 - 1.0).abs() < 0.03, "{count}");
    let error = try_packed(&rope(3, Some(37), Some(1e-3), 0.1)).unwrap_err();
    let error = error.to_string();
    assert!(
        error.contains("37 filaments") && error.contains("largest"),
        "{error}"
    );
    // Turns would overlap.
    let error = try_packed(&rope(3, Some(7), Some(0.6e-3), 0.01)).unwrap_err();
    assert!(error.to_string().contains("pitch of 0.01 m"), "{error}");
}

#[test]
fn a_rope_along_a_quarter_circle_is_the_straight_one_bent() {
    let (bend, r) = (0.12, 0.6e-3);
    let point = |k: u32| {
        let (sin, cos) = (f64::from(k) * PI / 12.0).sin_cos();
        [bend * cos, bend * sin, 0.0]
    };
    let along = |points: Vec<[f64; 3]>, filaments| {
        let mut rope = rope(3, Some(filaments), Some(r), 0.08);
        rope.shape = BodyShape::Tube {
            points,
            radius: 0.01,
        };
        try_packed(&rope).unwrap()
    };
    for filaments in [1, 7, 19] {
        let length = bend * PI / 2.0;
        let straight = along(vec![[0.0; 3], [0.0, length, 0.0]], filaments);
        let bent = along((0..=6).map(point).collect(), filaments);
        let least = [
            check_yarns(&straight, 3),
            check_spaced_yarns(&bent, 3, 1.03),
        ];
        let counts = [&straight, &bent].map(|rope| (rope.centres.len(), rope.pairs.len()));
        println!("{filaments} filaments: straight and bent {counts:?}, strands apart {least:.4?}");
        let [(elements, bonds), (bent_elements, bent_bonds)] =
            counts.map(|(a, b)| (a as f64, b as f64));
        assert!((bent_elements / elements - 1.0).abs() < 0.01);
        assert!((bent_bonds / bonds - 1.0).abs() < 0.05);
        // Strands touch still.
        assert!(least[1] < 1.25_f64.sqrt() * 1.03, "{least:?}");
        for p in &bent.centres {
            let off = (p.truncate().length() - bend).hypot(p.z);
            assert!(off < 0.01 - 0.99 * r && p.x > -r && p.y > -r, "{p}");
        }
    }
    // A straight tube gives the same rope as a cylinder.
    let mut body = rope(3, Some(7), Some(r), 0.08);
    let within = try_packed(&body).unwrap();
    body.shape = BodyShape::Tube {
        points: vec![[0.0; 3], [0.0, 0.3, 0.0]],
        radius: 0.01,
    };
    let straight = try_packed(&body).unwrap();
    assert_eq!(within.centres.len(), straight.centres.len());
    assert_eq!(within.pairs.len(), straight.pairs.len());
}

#[test]
fn ropes_along_curves_that_cannot_be_are_refused() {
    let error_of = |points: Vec<[f64; 3]>, strands, filaments| {
        let mut rope = rope(strands, Some(filaments), Some(0.6e-3), 0.08);
        rope.shape = BodyShape::Tube {
            points,
            radius: 0.01,
        };
        try_packed(&rope).unwrap_err().to_string()
    };
    let sharp = error_of(vec![[0.0; 3], [0.1, 0.0, 0.0], [0.1, 0.005, 0.0]], 3, 7);
    assert!(sharp.contains("bends about a radius"), "{sharp}");
    // A loop that comes back through its own beginning.
    let around = (0..=13).map(|k| {
        let (sin, cos) = (f64::from(k) * PI / 6.0).sin_cos();
        [0.05 * cos, 0.05 * sin, 0.0]
    });
    let crossed = error_of(around.collect(), 3, 7);
    assert!(crossed.contains("meets itself"), "{crossed}");
}

#[test]
fn yarns_cross_touching_and_are_bonded_along_themselves_alone() {
    let plate = |layers| BodyShape::Plate {
        size: [0.06, 0.05],
        layers,
        hole: None,
    };
    let r = 0.5e-3;
    for (weave, filaments, layers) in [
        (Weave::Plain, 1, 1),
        (Weave::Twill, 1, 1),
        (Weave::Plain, 7, 1),
        (Weave::Plain, 1, 2),
    ] {
        let found = try_packed(&cloth(plate(layers), weave, filaments, Some(r))).unwrap();
        let least = check_yarns(&found, found.parts);
        println!(
            "{weave:?} {filaments} {layers}: {} elements in {} yarns, least {least:.5}",
            found.centres.len(),
            found.parts
        );
        // At the crossings of plain weave one element lies on another.
        match (weave, filaments) {
            (Weave::Plain, 1) => assert!((least - 1.0).abs() < 1e-6, "{least}"),
            (Weave::Twill, 1) => assert!(least < 1.1, "{least}"),
            _ => {}
        }
        // Warp and weft span the whole plate at equal distances.
        assert!(found.parts > layers as usize * 6);
        let low = found
            .centres
            .iter()
            .copied()
            .fold(DVec3::INFINITY, DVec3::min);
        let high = found
            .centres
            .iter()
            .copied()
            .fold(DVec3::NEG_INFINITY, DVec3::max);
        let reach = 3.0 * r + 2.0 * r * f64::from(filaments).sqrt();
        assert!(
            low.x < -0.03 + reach && high.x > 0.03 - reach,
            "{low} {high}"
        );
        assert!(
            low.z < -0.025 + reach && high.z > 0.025 - reach,
            "{low} {high}"
        );
        assert!(low.x > -0.03 && low.z > -0.025 && high.x < 0.03 && high.z < 0.025);
        let levels = 0.5 * f64::from(layers) * (woven::thickness_of(weave, filaments) * r);
        assert!(
            high.y < levels - 0.99 * r && low.y > -levels + 0.99 * r,
            "{low} {high}"
        );
        // Yarns pass through the middle.
        let nearest = found.centres.iter().map(|p| p.x.hypot(p.z));
        assert!(nearest.fold(1.0, f64::min) < 2.0 * r);
        if filaments == 1 {
            // A chain has one bond less than elements.
            assert_eq!(found.pairs.len(), found.centres.len() - found.parts);
        }
    }
}

#[test]
fn cloth_is_cut_to_shape_and_meets_the_number_asked_for() {
    let ball = BodyShape::Sphere { radius: 0.02 };
    let found = try_packed(&cloth(ball, Weave::Plain, 1, None)).unwrap();
    let count = found.centres.len() as f64;
    assert!((count / 12e3 - 1.0).abs() < 0.05, "{count}");
    assert!(
        found
            .centres
            .iter()
            .all(|p| p.length() < 0.02 - 0.49 * found.radius)
    );
    let of = parts(&found);
    let mut sizes = std::collections::BTreeMap::new();
    for part in of {
        *sizes.entry(part).or_insert(0) += 1;
    }
    assert!(
        sizes.values().all(|size| *size >= MIN_FILAMENT_ELEMENTS),
        "no crumbs"
    );
    let sheet = |height| BodyShape::Box {
        size: [0.05, height, 0.05],
    };
    let error = try_packed(&cloth(sheet(1e-3), Weave::Plain, 1, Some(0.5e-3))).unwrap_err();
    assert!(error.to_string().contains("2.0000e-3 m thick"), "{error}");
    let two = try_packed(&cloth(sheet(4e-3), Weave::Plain, 1, Some(0.5e-3))).unwrap();
    let above = two.centres.iter().filter(|p| p.y > 0.0).count();
    assert_eq!(2 * above, two.centres.len());
    let hole = BodyShape::Plate {
        size: [0.06, 0.05],
        layers: 1,
        hole: Some(0.01),
    };
    let found = try_packed(&cloth(hole, Weave::Twill, 1, Some(0.5e-3))).unwrap();
    let nearest = found
        .centres
        .iter()
        .map(|p| p.x.hypot(p.z))
        .fold(1.0, f64::min);
    assert!((0.01..0.0125).contains(&nearest), "{nearest}");
}

#[test]
fn yarns_are_the_same_on_any_number_of_threads() {
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let shape = BodyShape::Plate {
            size: [0.03, 0.03],
            layers: 1,
            hole: None,
        };
        let bodies = [
            rope(3, Some(7), Some(0.6e-3), 0.08),
            cloth(shape, Weave::Plain, 1, Some(0.5e-3)),
        ];
        pool.build().unwrap().install(|| {
            bodies.map(|body| {
                let found = try_packed(&body).unwrap();
                (found.centres, found.pairs, found.skin)
            })
        })
    };
    assert!(run(1) == run(3));
}
