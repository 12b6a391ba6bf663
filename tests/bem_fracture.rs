//! Fracture by boundary elements of bodies whose fracture is known: where the crack begins, along which
//! surface it runs, and at which load.

use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI, TAU};

use cullet::bem::crack::{
    CrackEnd, Criterion, FixedLoads, FractureError, FractureOptions, Fractured, Inertia, Sheet,
    Steering, fracture,
};
use cullet::bem::{Elastic, Surface};
use cullet::geometry::remesh::remesh_or_finer;
use cullet::geometry::{TriMesh, shapes};
use glam::{DVec3, Vec3Swizzles, dvec2, dvec3};

use super::bem::bodies::grid_box;

/// Strength, Pa.
const STRENGTH: f64 = 1.0;

/// Inertia of bodies at rest.
const NO_INERTIA: Inertia = Inertia {
    density: 0.0,
    gravity: DVec3::ZERO,
    spin: DVec3::ZERO,
};

/// Breaks a body with one crack; checks its pieces, and compares the load at the first crack with the one at
/// which the analytic stress reaches the strength.
fn broken(
    mesh: &TriMesh,
    poisson: f64,
    options: FractureOptions,
    load: f64,
    traction: &dyn Fn(DVec3, DVec3) -> DVec3,
) -> Fractured {
    let forces = FixedLoads {
        traction: &|x, n| traction(x, n) * load,
        inertia: NO_INERTIA,
    };
    let elastic = Elastic::new(1000.0, poisson).unwrap();
    let options = FractureOptions {
        cracks: 1,
        ..options
    };
    let fractured = fracture(mesh, elastic, STRENGTH, &forces, &options).unwrap();
    let first = fractured.load_factor_at_first_crack * load;
    let [sheet] = &fractured.sheets[..] else {
        panic!(
            "{} cracks, {:?}",
            fractured.sheets.len(),
            fractured.unsolved
        );
    };
    println!(
        "{} triangles, first crack at {first:.4} of the analytic load, at {:.3}, normal {:.3}; {} steps, {} pieces",
        mesh.triangles.len(),
        sheet.start,
        sheet.normal,
        fractured.steps,
        fractured.pieces.len()
    );
    assert!((first - 1.0).abs() < 0.03);
    assert!(sheet.end == CrackEnd::Through && fractured.pieces.len() == 2);
    let volume: f64 = fractured.pieces.iter().map(TriMesh::volume).sum();
    assert!((volume / mesh.volume() - 1.0).abs() < 1e-12);
    for (piece, faces) in fractured.pieces.iter().zip(&fractured.faces) {
        // Closed, wound outward, one solid, no self-intersection.
        Surface::new(piece).unwrap();
        assert!(piece.volume() > 0.2 * volume);
        assert!(faces.iter().any(|face| *face) && !faces.iter().all(|face| *face));
    }
    fractured
}

/// Centroids of the triangles of a sheet that are inside a body, with their areas.
fn middles(sheet: &Sheet, contains: impl Fn(DVec3) -> bool) -> Vec<(DVec3, f64)> {
    let triangles = 0..sheet.mesh.triangles.len();
    triangles
        .map(|t| {
            let middle = sheet.mesh.corners(t).iter().sum::<DVec3>() / 3.0;
            (middle, sheet.mesh.area_of(t))
        })
        .filter(|(middle, _)| contains(*middle))
        .collect()
}

/// Mean of a function over a sheet inside a body.
fn mean(middles: &[(DVec3, f64)], of: impl Fn(DVec3) -> f64) -> f64 {
    let area: f64 = middles.iter().map(|(_, area)| area).sum();
    middles.iter().map(|(x, area)| of(*x) * area).sum::<f64>() / area
}

/// A bar pulled along x breaks across, with either criterion for the direction of the crack.
#[test]
fn a_pulled_bar_breaks_across() {
    let mesh = grid_box(dvec3(3.0, 1.0, 1.0), [12, 4, 4]);
    let pull = |_, n: DVec3| DVec3::X * n.x;
    for steering in [Steering::Load, Steering::Rim] {
        let options = FractureOptions {
            steering,
            ..FractureOptions::new(0.2)
        };
        let found = broken(&mesh, 0.2, options, 1.2, &pull);
        let sheet = &found.sheets[0];
        assert!(sheet.normal.x.abs() > 0.999);
        let inside = middles(sheet, |x| x.y.abs() < 0.5 && x.z.abs() < 0.5);
        assert!(mean(&inside, |x| (x.x - sheet.start.x).abs()) < 0.1);
    }
}

/// So does a bar with uneven triangles.
#[test]
fn a_bar_of_uneven_triangles_breaks_across() {
    let bar = shapes::cuboid(dvec3(3.0, 1.0, 1.0));
    for (size, step) in [(0.3, 0.25), (0.2, 0.2)] {
        let mesh = remesh_or_finer(&bar, size).unwrap();
        let found = broken(&mesh, 0.2, FractureOptions::new(step), 1.2, &|_, n| {
            DVec3::X * n.x
        });
        assert!(found.sheets[0].normal.x.abs() > 0.999);
    }
}

/// Stress along a strip of length `length` and height 1 at the middle of its lower face under pressures on
/// patches of the upper and of the lower face, in plane stress. By Fourier series of period `length` (Filon
/// 1903), with the moment at the ends subtracted. Patches: centre of the one on the right or the one at 0,
/// width, pressure.
fn strip(length: f64, upper: (f64, f64, f64), lower: (f64, f64, f64)) -> f64 {
    let mut stress = 0.0;
    for m in 1..=400 {
        let k = TAU * f64::from(m) / length;
        let share = |(middle, width, pressure): (f64, f64, f64)| {
            let both = if middle == 0.0 { 1.0 } else { 2.0 };
            both * pressure * 4.0 / (length * k) * (k * width / 2.0).sin() * (k * middle).cos()
        };
        let (above, below) = (share(upper), share(lower));
        let (even, odd) = ((above + below) / 2.0, (above - below) / 2.0);
        let half = k / 2.0;
        // half/(sinh half · cosh half), without overflow.
        let part = if half < 20.0 {
            half / (half.sinh() * half.cosh())
        } else {
            0.0
        };
        let ratio = (1.0 + part) / (1.0 - part);
        let end = if m % 2 == 0 { 1.0 } else { -1.0 };
        stress += odd * ratio - even / ratio - 3.0 * odd / (half * half) * end;
    }
    stress
}

/// A beam on two supports with a load at mid-span breaks there, from below.
#[test]
fn a_bent_beam_breaks_in_the_middle() {
    let mesh = grid_box(dvec3(3.0, 0.25, 1.0), [30, 1, 6]);
    // Without lateral contraction the plane solution is exact.
    let pressure = 1.0 / strip(3.0, (0.0, 0.4, 1.0), (1.3, 0.4, 0.5));
    let press = |x: DVec3, n: DVec3| {
        if n.z > 0.9 && x.x.abs() < 0.2 {
            DVec3::Z * -pressure
        } else if n.z < -0.9 && (x.x.abs() - 1.3).abs() < 0.2 {
            DVec3::Z * (0.5 * pressure)
        } else {
            DVec3::ZERO
        }
    };
    let found = broken(&mesh, 0.0, FractureOptions::new(0.12), 1.5, &press);
    let sheet = &found.sheets[0];
    assert!(sheet.start.z == -0.5 && sheet.start.x.abs() < 0.1);
    assert!(sheet.normal.x.abs() > 0.99);
    let inside = middles(sheet, |x| x.y.abs() < 0.125 && x.z.abs() < 0.5);
    assert!(mean(&inside, |x| x.x.abs()) < 0.12);
}

/// From a square to a disc: circles of squares, equal angles.
fn round([u, v]: [f64; 2]) -> [f64; 2] {
    let (far, near) = if u.abs() > v.abs() { (u, v) } else { (v, u) };
    if far == 0.0 {
        return [0.0; 2];
    }
    let (sin, cos) = (FRAC_PI_4 * near / far).sin_cos();
    if u.abs() > v.abs() {
        [far * cos, far * sin]
    } else {
        [far * sin, far * cos]
    }
}

/// Disc of radius 1, and tractions that press it between two arcs to a stress of 1 across the diameter at its
/// centre (Hondros 1959).
fn pressed_disc() -> (TriMesh, impl Fn(DVec3, DVec3) -> DVec3) {
    let parts = 12;
    let mut mesh = grid_box(dvec3(2.0, 0.5, 2.0), [parts, 2, parts]);
    for p in &mut mesh.positions {
        [p.x, p.z] = round([p.x, p.z]);
    }
    let half = FRAC_PI_2 / f64::from(parts);
    let pressure = FRAC_PI_2 / ((2.0 * half).sin() - half);
    let press = move |x: DVec3, n: DVec3| {
        if n.y.abs() < 0.5 && (x.x / x.z).atan().abs() < half {
            n * -pressure
        } else {
            DVec3::ZERO
        }
    };
    (mesh, press)
}

/// A disc pressed between two arcs splits along the diameter between them.
#[test]
fn a_pressed_disc_splits_along_its_diameter() {
    let (mesh, press) = pressed_disc();
    let found = broken(&mesh, 0.0, FractureOptions::new(0.2), 1.6, &press);
    let sheet = &found.sheets[0];
    assert!(sheet.start.x.abs() < 0.1 && sheet.start.z.abs() < 0.3);
    assert!(sheet.normal.x.abs() > 0.99);
    let inside = middles(sheet, |x| x.y.abs() < 0.25 && x.x.hypot(x.z) < 1.0);
    assert!(mean(&inside, |x| x.x.abs()) < 0.05);
}

/// The same disc if only stress drives the crack: near the arcs there is no tension, so the crack ends there,
/// and the disc stays in one piece.
#[test]
fn by_stress_alone_a_crack_comes_to_rest_where_nothing_pulls() {
    let (mesh, press) = pressed_disc();
    let forces = FixedLoads {
        traction: &|x, n| press(x, n) * 1.6,
        inertia: NO_INERTIA,
    };
    let elastic = Elastic::new(1000.0, 0.0).unwrap();
    let options = FractureOptions {
        criterion: Criterion::Stress,
        ..FractureOptions::new(0.2)
    };
    let found = fracture(&mesh, elastic, STRENGTH, &forces, &options).unwrap();
    assert_eq!(found.pieces, [mesh]);
    let [sheet] = &found.sheets[..] else {
        panic!("{} cracks", found.sheets.len());
    };
    let inside = middles(sheet, |x| x.y.abs() < 0.25 && x.x.hypot(x.z) < 1.0);
    let reach = inside.iter().map(|(x, _)| x.z.abs()).fold(0.0, f64::max);
    assert!(
        sheet.end == CrackEnd::AtRest && reach > 0.5 && reach < 0.9,
        "{reach}"
    );
}

/// Plate of width 1 with a half-circle cut out of each long side: `m` columns in half of a notch, some outside.
fn notched(radius: f64, m: usize, outside: &[f64]) -> TriMesh {
    let columns = (m + outside.len()) as u32;
    let mut mesh = grid_box(dvec3(f64::from(2 * columns), 0.3, 2.0), [2 * columns, 2, 8]);
    for p in &mut mesh.positions {
        let i = p.x.abs().round() as usize;
        let (edge, middle) = if i <= m {
            let part = i as f64 / m as f64;
            let (sin, cos) = (FRAC_PI_2 * part).sin_cos();
            (dvec2(radius * sin, 0.5 - radius * cos), 1.1 * radius * part)
        } else {
            (dvec2(outside[i - m - 1], 0.5), outside[i - m - 1])
        };
        // Finer towards the notch.
        let off = 1.0 - p.z.abs();
        let part = 1.0 - 0.5 * off * (1.0 + off);
        let place = dvec2(middle, 0.0).lerp(edge, part);
        (p.x, p.z) = (p.x.signum() * place.x, p.z.signum() * place.y);
    }
    mesh
}

/// A pulled plate with two notches breaks from the root of one notch to the other; stress there by Ling 1947
/// (Peterson's fit to the net section).
#[test]
fn a_notched_plate_breaks_from_its_notch() {
    let radius = 0.15;
    let mesh = notched(radius, 5, &[0.25, 0.45, 0.8, 1.2]);
    let part: f64 = 2.0 * radius;
    let net = 3.065 - 3.472 * part + 1.009 * part.powi(2) + 0.405 * part.powi(3);
    let factor = net / (1.0 - part);
    let pull = |x: DVec3, n: DVec3| {
        if x.x.abs() > 1.19 {
            n / factor
        } else {
            DVec3::ZERO
        }
    };
    let found = broken(&mesh, 0.0, FractureOptions::new(0.1), 1.3, &pull);
    let sheet = &found.sheets[0];
    assert!(sheet.start.x.abs() < 0.05 && (sheet.start.z.abs() - 0.35).abs() < 0.01);
    let inside = middles(sheet, |x| x.y.abs() < 0.15 && x.z.abs() < 0.35);
    assert!(mean(&inside, |x| x.x.abs()) < 0.08);
}

/// A twisted piece of chalk, slightly thinner in the middle, breaks along a helix at 45° to its axis.
#[test]
fn twisted_chalk_breaks_along_a_helix() {
    let (radius, length, parts) = (0.5, 3.6, 6);
    let mut mesh = grid_box(dvec3(length, 2.0, 2.0), [18, parts, parts]);
    let sector = TAU / f64::from(4 * parts);
    // A prism with the cross-section area of the cylinder.
    let outer = radius * (sector / sector.sin()).sqrt();
    for p in &mut mesh.positions {
        let reach = outer * (1.0 + 0.15 * (2.0 * p.x / length).powi(2));
        let [y, z] = round([p.y, p.z]);
        (p.y, p.z) = (reach * y, reach * z);
    }
    // The shear stress at the surface of the middle is 2T/πR³.
    let torque = PI * radius.powi(3) / 2.0;
    let slope = torque / (PI * (1.15 * radius).powi(4) / 2.0);
    let twist = |x: DVec3, n: DVec3| {
        if x.x.abs() > 0.49 * length {
            n.cross(x) * slope
        } else {
            DVec3::ZERO
        }
    };
    let found = broken(&mesh, 0.2, FractureOptions::new(0.18), 1.5, &twist);
    let sheet = &found.sheets[0];
    assert!(sheet.start.x.abs() < 0.4 && sheet.start.yz().length() > 0.45);
    assert!((sheet.normal.x.abs() - 0.5_f64.sqrt()).abs() < 0.05);
    helix(&found, radius);
}

/// Along the surface, the crack climbs by the length of the arc, up to a right angle on both sides of where
/// it began. A plane cut would climb at 38° on average.
fn helix(found: &Fractured, radius: f64) {
    let sheet = &found.sheets[0];
    let angle =
        |x: DVec3| (x.yz().perp_dot(sheet.start.yz()) / x.yz().dot(sheet.start.yz())).atan();
    let mouth: Vec<DVec3> = (0..found.pieces[0].triangles.len())
        .filter(|t| found.faces[0][*t])
        .flat_map(|t| found.pieces[0].corners(t))
        .filter(|x| x.yz().length() > 0.97 * radius && x.yz().dot(sheet.start.yz()) > 0.0)
        .collect();
    let squares: f64 = mouth.iter().map(|x| (radius * angle(*x)).powi(2)).sum();
    let products = mouth
        .iter()
        .map(|x| (x.x - sheet.start.x) * radius * angle(*x));
    let slope = (products.sum::<f64>() / squares).abs().atan().to_degrees();
    let reach = mouth.iter().map(|x| angle(*x).abs()).fold(0.0, f64::max);
    println!(
        "{} places of the mouth, to {reach:.2} rad, climb at {slope:.1}°",
        mouth.len()
    );
    assert!(reach > 1.2 && (slope - 45.0).abs() < 4.0);
}

/// A bar that is thinner than a step also breaks, by stress alone: its first disc crosses it.
#[test]
fn a_bar_thinner_than_a_step_breaks() {
    let mesh = grid_box(dvec3(3.0, 0.3, 0.3), [20, 2, 2]);
    for criterion in [Criterion::Stress, Criterion::Energy] {
        let options = FractureOptions {
            criterion,
            ..FractureOptions::new(0.4)
        };
        let found = broken(&mesh, 0.2, options, 1.2, &|_, n| DVec3::X * n.x);
        assert_eq!(found.steps, 0);
        assert!(found.sheets[0].normal.x.abs() > 0.999);
    }
}

/// A bar under twice the load at which it cracks, with steps of this length.
fn cracked_bar(options: FractureOptions) -> Result<Fractured, FractureError> {
    let mesh = grid_box(dvec3(3.0, 1.0, 1.0), [12, 4, 4]);
    let forces = FixedLoads {
        traction: &|_, n| DVec3::X * n.x * (2.0 * STRENGTH),
        inertia: NO_INERTIA,
    };
    let elastic = Elastic::new(1000.0, 0.2).unwrap();
    fracture(&mesh, elastic, STRENGTH, &forces, &options)
}

#[test]
fn steps_that_are_too_short_are_refused() {
    let refused = |step: f64| match cracked_bar(FractureOptions::new(step)) {
        Err(FractureError::TooFine { least, .. }) => least,
        other => panic!("{other:?}"),
    };
    let least = refused(1e-6);
    // About a hundredth of the section's edge.
    assert!(least > 0.005 && least < 0.1, "{least}");
    assert_eq!(refused(0.99 * least), least);
}

/// A crack whose steps are used up has not come to rest, and the result says why the body is whole.
#[test]
fn a_crack_without_steps_left_is_told_from_one_at_rest() {
    let options = FractureOptions {
        steps: 1,
        ..FractureOptions::new(0.1)
    };
    let found = cracked_bar(options).unwrap();
    assert_eq!(found.pieces.len(), 1);
    assert_eq!(found.sheets[0].end, CrackEnd::Growing);
    assert_eq!(found.unsolved, [(0, FractureError::Steps(1))]);
}
