//! A penny-shaped crack in a large block (Sneddon 1946).

use std::f64::consts::PI;

use glam::DVec3;

use super::inside::Inside;
use super::opening::{BodyEquations, OpenCrack};
use super::sheet::Sheet;
use crate::bem::{Balance, Elastic, Loads, Order, Solver, Surface};
use crate::geometry::shapes;

/// Jump at the centre over the exact one, 8 (1 − ν²) σ a/(π E), and stress at 1.25 a over the exact one.
fn penny(rings: u32) -> [f64; 2] {
    let mesh = shapes::cuboid(DVec3::splat(16.0));
    let surface = Surface::new(&mesh).unwrap();
    let (young, poisson) = (3.0, 0.2);
    let elastic = Elastic::new(young, poisson).unwrap();
    let solver = Solver::dense(&surface, elastic, Order::Linear);
    let tractions: Vec<DVec3> = surface.normals.iter().map(|n| DVec3::Z * n.z).collect();
    let loads = Loads {
        tractions: &tractions,
        density: 0.0,
        gravity: DVec3::ZERO,
        spin: DVec3::ZERO,
        balance: Balance::Inertia,
    };
    let base = solver.solve(&loads, &mut Default::default()).unwrap();
    let body = BodyEquations {
        surface: &surface,
        solver: &solver,
        elastic,
    };
    let inside = Inside::new(&mesh);
    let step = 1.0 / f64::from(rings);
    let mut sheet = Sheet::disc(DVec3::ZERO, DVec3::ZERO, DVec3::Z, step);
    for ring in 1..rings {
        let radial = |f: &super::sheet::RimFrame| {
            f.place.normalize() * (f64::from(ring + 1) * step) - f.place
        };
        let out: Vec<DVec3> = sheet.frames().iter().map(radial).collect();
        sheet.grow(&out, step);
    }
    let opened = OpenCrack::new(&body, &base, &sheet, |x| inside.contains(x)).unwrap();
    let jump = opened.jumps()[0].z * PI * young / (8.0 * (1.0 - poisson * poisson));
    let ahead: f64 = 1.25;
    let places: Vec<DVec3> = (0..12)
        .map(|k| {
            let (sin, cos) = (0.1 + PI / 6.0 * f64::from(k)).sin_cos();
            DVec3::new(cos, sin, 0.0) * ahead
        })
        .collect();
    let found = opened
        .stress(&places)
        .iter()
        .map(|s| s.z_axis.z)
        .sum::<f64>()
        / 12.0;
    let root = (ahead * ahead - 1.0).sqrt();
    let exact = 1.0 + 2.0 / PI * (1.0 / root - (1.0 / ahead).asin());
    [jump, found / exact]
}

#[test]
fn a_penny_opens_as_sneddon_says() {
    for (rings, most) in [(1, 0.1), (2, 0.1), (4, 0.04)] {
        let found = penny(rings);
        println!("{rings} rings: {found:.4?}");
        assert!(found.iter().all(|ratio| (ratio - 1.0).abs() < most));
    }
}
