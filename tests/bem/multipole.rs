//! The fast multipole method of the boundary elements, compared with exact integrals over every panel.

use std::sync::Arc;

use cullet::bem::dense::DenseLayers;
use cullet::bem::layers::Layers;
use cullet::bem::split::MultipoleLayers;
use cullet::bem::{Balance, Basis, Field, Order, Solver, Surface, Traction};
use cullet::geometry::{TriMesh, winding::Winding};
use cullet::solve::Recycled;
use glam::{DVec3, dvec3};

use super::bodies::{ball, grid_box, torus};
use super::solved::{ORDERS, cases, elastic, loads, norm, tractions};

/// A ball with a dent, so that no errors cancel by symmetry.
fn dented(parts: u32) -> TriMesh {
    let mut mesh = ball(parts);
    let dent = |p: DVec3| p * (1.0 + 0.3 * (3.0 * p.x).sin() * p.y);
    mesh.positions.iter_mut().for_each(|p| *p = dent(*p));
    mesh
}

/// Pseudorandom number from 0 to 1.
fn scattered(k: usize, factor: f64) -> f64 {
    ((k as f64 + 1.0) * factor).fract()
}

/// Relative L2 difference.
fn error(found: &[[f64; 3]], exact: &[[f64; 3]]) -> f64 {
    let pairs = found.as_flattened().iter().zip(exact.as_flattened());
    let (mut wrong, mut size) = (0.0, 0.0);
    for (a, b) in pairs {
        wrong += (a - b) * (a - b);
        size += b * b;
    }
    f64::sqrt(wrong / size)
}

/// Errors of the double layer of a smooth and of a random displacement, and of the single layer, for each
/// accuracy.
fn errors(mesh: &TriMesh, order: Order, poisson: f64, accuracies: &[f64]) -> Vec<[f64; 3]> {
    let surface = Surface::new(mesh).unwrap();
    let basis = Arc::new(Basis::new(&surface, order));
    let elastic = elastic(poisson);
    let (low, high) = mesh.bounds().unwrap();
    let unit = |p: DVec3| (p - low) / (high - low).max_element();
    let smooth = |p: DVec3| [(3.0 * p.x).sin() * p.y, p.z * p.z, p.x * p.y + p.z];
    let smooth: Vec<[f64; 3]> = basis.places.iter().map(|p| smooth(unit(*p))).collect();
    let random = |k: usize| [0.7548, 0.5698, 0.382].map(|f| scattered(k, f) - 0.5);
    let random: Vec<[f64; 3]> = (0..smooth.len()).map(random).collect();
    let pull = |x: DVec3, n: DVec3| dvec3(unit(x).z, 0.3, unit(x).x) + n * unit(x).x;
    let tractions = tractions(&surface, pull);
    let tractions: Vec<Traction> = tractions.into_iter().map(Traction::uniform).collect();
    let all = |layers: &dyn Layers| {
        let double = |u: &[[f64; 3]]| {
            let mut y = vec![[0.0; 3]; u.len()];
            layers.times(u, &mut y);
            y
        };
        [double(&smooth), double(&random), layers.single(&tractions)]
    };
    let exact = all(&DenseLayers::new(&basis, elastic));
    let of = |accuracy: &f64| {
        let found = all(&MultipoleLayers::new(&basis, elastic, *accuracy));
        [0, 1, 2].map(|k| error(&found[k], &exact[k]))
    };
    accuracies.iter().map(of).collect()
}

/// A case for both degrees of the displacement.
fn both<T>(case: &T) -> [(&T, Order); 2] {
    ORDERS.map(|order| (case, order))
}

#[test]
fn products_are_as_accurate_as_asked() {
    let accuracies = [1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8];
    let bodies = [
        ("dented ball", dented(8), 0.3, &accuracies[..]),
        ("torus", torus(0.4, 36, 18), 0.49, &accuracies[1..4]),
        (
            "plate",
            grid_box(dvec3(1.0, 1.0, 0.02), [14, 14, 1]),
            0.2,
            &accuracies[1..4],
        ),
    ];
    for ((name, mesh, poisson, accuracies), order) in bodies.iter().flat_map(both) {
        let found = errors(mesh, order, *poisson, accuracies);
        for (accuracy, found) in accuracies.iter().zip(found) {
            let [smooth, random, single] = found;
            let count = mesh.triangles.len();
            println!(
                "{name} of {count}, {order:?}, {accuracy:.0e}: {smooth:.1e} {random:.1e} {single:.1e}"
            );
            assert!(
                smooth < *accuracy && single < *accuracy,
                "{name} {accuracy}"
            );
            // Quadrature points are less accurate for displacements that vary from vertex to vertex.
            assert!(random < 3.0 * accuracy, "{name} {accuracy}");
        }
    }
}

/// Points inside the body.
fn inner(mesh: &TriMesh, count: usize) -> Vec<DVec3> {
    let (low, high) = mesh.bounds().unwrap();
    let place = |k: usize| DVec3::from([0.7548, 0.5698, 0.382].map(|f| scattered(k, f)));
    let winding = Winding::new(mesh);
    let places = (0..).map(|k| low + (high - low) * place(k));
    places
        .filter(|x| winding.contains(*x))
        .take(count)
        .collect()
}

/// Relative L2 difference of stress.
fn stress_error(found: &[Field], exact: &[Field]) -> f64 {
    let wrong = found
        .iter()
        .zip(exact)
        .map(|(a, b)| norm(a.stress - b.stress).powi(2));
    let size = exact.iter().map(|b| norm(b.stress).powi(2));
    (wrong.sum::<f64>() / size.sum::<f64>()).sqrt()
}

fn twist(x: DVec3, n: DVec3) -> DVec3 {
    DVec3::Z.cross(x) * x.z + n * x.x * x.x
}

/// Differences of stress inside between the fast and the exact sums for one solution, at points some of which
/// are very close to quadrature points of panels.
fn inner_error(mesh: &TriMesh, order: Order, accuracy: f64) -> f64 {
    let surface = Surface::new(mesh).unwrap();
    let solver = Solver::multipole(&surface, elastic(0.3), order, accuracy);
    let tractions = tractions(&surface, twist);
    let mut loads = loads(&tractions);
    loads.balance = Balance::Inertia;
    let solution = solver.solve(&loads, &mut Recycled::default()).unwrap();
    let mut points = inner(mesh, 600);
    for t in 0..10 {
        let [a, b, _] = mesh.corners(t);
        points.push((a + b) / 2.0 - surface.normals[t] * (1e-6 * surface.sizes[t]));
    }
    let fast = solution.inside(&points);
    // For few points the sums are exact.
    let exact = points.chunks(100).flat_map(|some| solution.inside(some));
    let exact: Vec<Field> = exact.collect();
    assert!(fast != exact);
    stress_error(&fast, &exact)
}

#[test]
fn stress_inside_is_as_accurate_as_asked() {
    let mesh = dented(8);
    for (order, accuracy) in cases(&[1e-3, 1e-4, 1e-6]) {
        let found = inner_error(&mesh, order, accuracy);
        println!("stress inside, {order:?}, {accuracy:.0e}: {found:.1e}");
        assert!(found < accuracy);
    }
}

/// Relative L2 difference of stress on the surface from that with the stored matrix, and iterations of both.
fn solution_error(mesh: &TriMesh, order: Order, accuracy: f64) -> (f64, [u32; 2]) {
    let surface = Surface::new(mesh).unwrap();
    let tractions = tractions(&surface, twist);
    let mut loads = loads(&tractions);
    loads.balance = Balance::Inertia;
    let elastic = elastic(0.3);
    let solvers = [
        Solver::multipole(&surface, elastic, order, accuracy),
        Solver::dense(&surface, elastic, order),
    ];
    let [found, exact] = solvers.each_ref().map(|solver| {
        let solution = solver.solve(&loads, &mut Recycled::default()).unwrap();
        (solution.surface(), solution.found().iterations)
    });
    (stress_error(&found.0, &exact.0), [found.1, exact.1])
}

#[test]
fn solutions_err_no_more_than_products() {
    for (name, mesh) in [
        ("dented ball", dented(6)),
        ("bar", grid_box(dvec3(1.0, 1.0, 3.0), [5, 5, 15])),
    ] {
        for (order, accuracy) in cases(&[1e-3, 1e-4, 1e-6]) {
            let (found, iterations) = solution_error(&mesh, order, accuracy);
            println!(
                "{name}, {order:?}, {accuracy:.0e}: stress {found:.1e}, iterations {iterations:?}"
            );
            assert!(found < 10.0 * accuracy);
        }
    }
}

#[test]
fn small_surfaces_have_a_matrix_and_large_ones_multipoles() {
    for (parts, is_dense) in [(3, true), (8, false)] {
        let mesh = dented(parts);
        let surface = Surface::new(&mesh).unwrap();
        let tractions = tractions(&surface, |x, n| n * x.x * x.y);
        let mut loads = loads(&tractions);
        loads.balance = Balance::Inertia;
        let elastic = elastic(0.3);
        let other = match is_dense {
            true => Solver::dense(&surface, elastic, Order::Quadratic),
            false => Solver::multipole(&surface, elastic, Order::Quadratic, 1e-3),
        };
        let solve = |solver: &Solver| {
            let solution = solver.solve(&loads, &mut Recycled::default()).unwrap();
            solution.vertices()
        };
        let automatic = Solver::automatic(&surface, elastic, 1e-3);
        assert_eq!(solve(&automatic), solve(&other));
    }
}

#[test]
fn threads_change_no_bit() {
    let mesh = dented(9);
    let surface = Surface::new(&mesh).unwrap();
    let points = inner(&mesh, 600);
    let tractions = tractions(&surface, twist);
    let mut loads = loads(&tractions);
    loads.balance = Balance::Inertia;
    let solve = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build().unwrap().install(|| {
            let solver = Solver::multipole(&surface, elastic(0.3), Order::Quadratic, 1e-4);
            let solution = solver.solve(&loads, &mut Recycled::default()).unwrap();
            (solution.vertices(), solution.inside(&points))
        })
    };
    assert_eq!(solve(1), solve(2));
}
