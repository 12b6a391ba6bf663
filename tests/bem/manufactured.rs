//! Fields of point forces outside a body: their tractions on its surface are the loads, and their field
//! inside is the solution.

use std::path::Path;

use cullet::bem::{Balance, Order, Surface};
use cullet::geometry::{TriMesh, read};
use cullet::laws::kelvin;
use cullet::math::Vec3;
use cullet::solve::Recycled;
use glam::{DMat3, DVec3, dvec3};

use super::bodies::torus;
use super::solved::{ORDERS, cases, elastic, loads, norm, outer, solver, varying};

/// Point forces: position and force.
pub type Forces = Vec<[DVec3; 2]>;

fn stress(forces: &Forces, poisson: f64, x: DVec3) -> DMat3 {
    let of = |[y, f]: &[DVec3; 2]| {
        let [r, f] = [x - *y, *f].map(|v| Vec3::from_f64(v.to_array()));
        let rows = kelvin::stress(r, f, poisson).rows.map(Vec3::to_f64);
        DMat3::from_cols_array_2d(&rows)
    };
    forces.iter().map(of).fold(DMat3::ZERO, |sum, s| sum + s)
}

fn displacement(forces: &Forces, poisson: f64, x: DVec3) -> DVec3 {
    let shear = elastic(poisson).shear;
    let of = |[y, f]: &[DVec3; 2]| {
        let [r, f] = [x - *y, *f].map(|v| Vec3::from_f64(v.to_array()));
        DVec3::from(kelvin::displacement(r, f, shear, poisson).to_f64())
    };
    forces.iter().map(of).sum()
}

/// Root mean square of displacements after subtraction of the rigid motion that fits best.
fn less_rigid(places: &[DVec3], field: &[DVec3]) -> f64 {
    let count = places.len() as f64;
    let middle = places.iter().sum::<DVec3>() / count;
    let shift = field.iter().sum::<DVec3>() / count;
    let (mut inertia, mut moment) = (DMat3::ZERO, DVec3::ZERO);
    for (x, u) in places.iter().zip(field) {
        let r = *x - middle;
        inertia += DMat3::from_diagonal(DVec3::splat(r.length_squared())) - outer(r, r);
        moment += r.cross(*u);
    }
    let turn = inertia.inverse() * moment;
    let rest = places
        .iter()
        .zip(field)
        .map(|(x, u)| *u - shift - turn.cross(*x - middle));
    (rest.map(|u| u.length_squared()).sum::<f64>() / count).sqrt()
}

/// Errors of stress on the surface (root mean square over root mean square), of stress inside (largest over
/// largest), and of displacement inside; number of iterations.
pub fn errors(
    (mesh, order): (&TriMesh, Order),
    poisson: f64,
    forces: &Forces,
    points: &[DVec3],
) -> ([f64; 3], u32) {
    let surface = Surface::new(mesh).unwrap();
    let solver = solver(&surface, elastic(poisson), order);
    let tractions = varying(&surface, order, |x, n| stress(forces, poisson, x) * n);
    let mut loads = loads(&[]);
    loads.balance = Balance::Inertia;
    let solution = solver.solve_varying(&loads, &tractions, &mut Recycled::default());
    let solution = solution.unwrap();
    let (mut off, mut whole) = (0.0, 0.0);
    for (t, field) in solution.surface().iter().enumerate() {
        let expected = stress(forces, poisson, surface.centroids[t]);
        off += norm(field.stress - expected).powi(2) * surface.areas[t];
        whole += norm(expected).powi(2) * surface.areas[t];
    }
    let (mut worst, mut largest) = (0.0f64, 0.0f64);
    let (mut differences, mut expected) = (Vec::new(), Vec::new());
    for (x, field) in points.iter().zip(solution.inside(points)) {
        let known = stress(forces, poisson, *x);
        worst = worst.max(norm(field.stress - known));
        largest = largest.max(norm(known));
        expected.push(displacement(forces, poisson, *x));
        differences.push(field.displacement - displacement(forces, poisson, *x));
    }
    let moved = less_rigid(points, &differences) / less_rigid(points, &expected);
    let found = [(off / whole).sqrt(), worst / largest, moved];
    (found, solution.found().iterations)
}

/// A torus between point forces.
pub fn torus_errors(across: u32, order: Order, poisson: f64) -> ([f64; 3], u32) {
    let forces = vec![
        [dvec3(2.2, 0.3, 0.4), dvec3(1.0, 2.0, -0.5)],
        [dvec3(-0.2, 0.1, 0.1), dvec3(0.3, -1.0, 0.8)],
        [dvec3(0.5, 1.0, 1.3), dvec3(-1.0, 0.4, 1.5)],
    ];
    let point = |k: u32| {
        let (a, b) = (f64::from(k) * 0.9, f64::from(k) * 2.3);
        let radius = 1.0 + 0.25 * b.cos();
        dvec3(radius * a.cos(), radius * a.sin(), 0.25 * b.sin())
    };
    let points: Vec<DVec3> = (0..24).map(point).collect();
    errors(
        (&torus(0.4, 2 * across, across), order),
        poisson,
        &forces,
        &points,
    )
}

#[test]
fn fields_in_a_torus_are_found() {
    for (order, poisson) in cases(&[0.0, 0.3, 0.49]) {
        let [low, high] = [8, 16].map(|across| torus_errors(across, order, poisson));
        println!("torus, {order:?}, ν = {poisson}: {low:.4?} {high:.4?}");
        let ((low, _), (high, iterations)) = (low, high);
        let most = match order {
            Order::Linear => [0.13, 0.05, 0.06],
            Order::Quadratic => [0.03, 0.01, 0.01],
        };
        assert!((0..3).all(|k| high[k] < most[k]));
        assert!((0..3).all(|k| high[k] < 0.5 * low[k]));
        assert!(iterations < 50);
    }
}

/// The bunny, 3674 triangles.
pub fn bunny_errors(order: Order, poisson: f64) -> ([f64; 3], u32) {
    let mesh = read::read(Path::new("pipelines/meshes/bunny.obj")).unwrap();
    let (low, high) = mesh.bounds().unwrap();
    let size = (high - low).max_element();
    let middle = Surface::new(&mesh).unwrap().mass.centre;
    let forces = vec![
        [
            middle + dvec3(0.9, 0.2, 0.3) * size,
            dvec3(1.0, 2.0, -0.5) * size * size,
        ],
        [
            middle + dvec3(-0.5, 0.7, -0.4) * size,
            dvec3(0.3, -1.0, 0.8) * size * size,
        ],
        [
            middle + dvec3(0.1, -0.6, 0.6) * size,
            dvec3(-1.0, 0.4, 1.5) * size * size,
        ],
    ];
    let points: Vec<DVec3> = super::solved::directions(|k| 0.15 * size * f64::from(k) / 24.0)
        .iter()
        .map(|x| middle + *x)
        .collect();
    errors((&mesh, order), poisson, &forces, &points)
}

#[test]
fn fields_in_the_bunny_are_found() {
    for order in ORDERS {
        let (found, iterations) = bunny_errors(order, 0.3);
        println!("bunny, {order:?}: {found:.4?}, {iterations} iterations");
        assert!(found[0] < 0.1 && found[1] < 0.01 && found[2] < 0.01);
        assert!(iterations < 150);
    }
}
