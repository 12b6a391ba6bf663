//! Iterations of the solver, and that threads do not change the result.

use cullet::bem::{Balance, Order, Solver, Surface};
use cullet::geometry::TriMesh;
use cullet::solve::Recycled;
use glam::{DVec3, dvec3};

use super::bodies::{ball, grid_box, torus};
use super::solved::{ORDERS, elastic, loads, tractions};

fn uneven(x: DVec3, n: DVec3) -> DVec3 {
    DVec3::Z.cross(x) * x.z + n * x.x * x.x
}

/// Number of iterations under an uneven load.
pub fn iterations(mesh: &TriMesh, order: Order, poisson: f64) -> u32 {
    let surface = Surface::new(mesh).unwrap();
    let solver = Solver::dense(&surface, elastic(poisson), order);
    let tractions = tractions(&surface, uneven);
    let mut loads = loads(&tractions);
    loads.balance = Balance::Inertia;
    let solution = solver.solve(&loads, &mut Recycled::default());
    solution.unwrap().found().iterations
}

/// A ball, a bar and a torus whose triangles have edges of about 1/`parts`.
pub fn bodies(parts: u32) -> [(&'static str, TriMesh); 3] {
    let bar = grid_box(dvec3(1.0, 1.0, 3.0), [parts, parts, 3 * parts]);
    [
        ("ball", ball(parts)),
        ("bar", bar),
        ("torus", torus(0.4, 4 * parts, 2 * parts)),
    ]
}

#[test]
fn iterations_hardly_grow_with_the_mesh() {
    for order in ORDERS {
        let all = |parts| bodies(parts).map(|(_, mesh)| iterations(&mesh, order, 0.3));
        let counts = [3, 6].map(all);
        println!("iterations of a ball, a bar, a torus, {order:?}: {counts:?}");
        for (few, many) in counts[0].iter().zip(&counts[1]) {
            assert!(*many < 60 && f64::from(*many) < 1.4 * f64::from(*few) + 3.0);
        }
    }
}

#[test]
fn threads_change_no_bit() {
    let surface = Surface::new(&torus(0.4, 16, 8)).unwrap();
    let elastic = elastic(0.3);
    let tractions = tractions(&surface, uneven);
    let mut loads = loads(&tractions);
    loads.balance = Balance::Inertia;
    let solve = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build().unwrap().install(|| {
            let solvers = ORDERS.map(|order| {
                [
                    Solver::dense(&surface, elastic, order),
                    Solver::multipole(&surface, elastic, order, 1e-4),
                ]
            });
            solvers
                .as_flattened()
                .iter()
                .map(|solver| {
                    let solution = solver.solve(&loads, &mut Recycled::default()).unwrap();
                    let inside = solution.inside(&[dvec3(1.0, 0.1, 0.1), dvec3(0.0, 1.3, 0.0)]);
                    (solution.vertices(), solution.surface(), inside)
                })
                .collect::<Vec<_>>()
        })
    };
    assert_eq!(solve(1), solve(3));
}
