//! Solves a body and compares the result with a known solution.

use cullet::bem::traction::SIDE_MIDPOINTS;
use cullet::bem::{Balance, Elastic, Field, Loads, Order, Solution, Solver, Surface, Traction};
use cullet::geometry::TriMesh;
use cullet::solve::Recycled;
use glam::{DMat3, DVec3};

/// Young's modulus, Pa.
pub const YOUNG: f64 = 2.0;

/// Both degrees of the displacement.
pub const ORDERS: [Order; 2] = [Order::Linear, Order::Quadratic];

pub fn elastic(poisson: f64) -> Elastic {
    Elastic::new(YOUNG, poisson).unwrap()
}

/// Both degrees of the displacement with each of these numbers.
pub fn cases(poissons: &[f64]) -> impl Iterator<Item = (Order, f64)> {
    let with = |order| poissons.iter().map(move |poisson| (order, *poisson));
    ORDERS.into_iter().flat_map(with)
}

/// Tractions at the centroids, from a function of position and normal.
pub fn tractions(surface: &Surface, of: impl Fn(DVec3, DVec3) -> DVec3) -> Vec<DVec3> {
    let places = surface.centroids.iter().zip(&surface.normals);
    places.map(|(x, n)| of(*x, *n)).collect()
}

/// Tractions from a function of position and normal: linear on the panels if the displacement is quadratic,
/// otherwise constant, with the value at the centroid.
pub fn varying(
    surface: &Surface,
    order: Order,
    of: impl Fn(DVec3, DVec3) -> DVec3,
) -> Vec<Traction> {
    let at = |t: usize| {
        let n = surface.normals[t];
        match order {
            Order::Linear => Traction::uniform(of(surface.centroids[t], n)),
            Order::Quadratic => {
                let [a, b, c] = surface.mesh.corners(t);
                Traction::of_middles([a + b, b + c, c + a].map(|twice| of(twice / 2.0, n)))
            }
        }
    };
    (0..surface.len()).map(at).collect()
}

/// Moment about the origin of such tractions on the upper end of a bar along z.
pub fn moment(surface: &Surface, order: Order, of: impl Fn(DVec3, DVec3) -> DVec3) -> DVec3 {
    let tractions = varying(surface, order, of);
    let tops = (0..surface.len()).filter(|t| surface.normals[*t].z > 0.5);
    let moments = tops.map(|t| {
        let [a, b, c] = surface.mesh.corners(t);
        let middles = SIDE_MIDPOINTS.into_iter().zip([a + b, b + c, c + a]);
        let sum: DVec3 = middles
            .map(|(at, twice)| (twice / 2.0).cross(tractions[t].at(at)))
            .sum();
        sum * (surface.areas[t] / 3.0)
    });
    moments.sum()
}

/// Loads that must balance.
pub fn loads(tractions: &[DVec3]) -> Loads<'_> {
    Loads {
        tractions,
        density: 0.0,
        gravity: DVec3::ZERO,
        spin: DVec3::ZERO,
        balance: Balance::Required,
    }
}

/// Exact for few triangles, and much more accurate than the discretization for many.
pub fn solver(surface: &Surface, elastic: Elastic, order: Order) -> Solver<'_> {
    let few = match order {
        Order::Linear => 3000,
        Order::Quadratic => 1000,
    };
    if surface.len() <= few {
        Solver::dense(surface, elastic, order)
    } else {
        Solver::multipole(surface, elastic, order, 1e-6)
    }
}

/// Solves with loads and passes the solution to a function.
pub fn solved<T>(
    (mesh, order): (&TriMesh, Order),
    poisson: f64,
    traction: impl Fn(DVec3, DVec3) -> DVec3,
    load: impl Fn(&mut Loads),
    look: impl Fn(&Surface, &Solution) -> T,
) -> T {
    let tractions = |surface: &Surface| varying(surface, order, &traction);
    solved_under((mesh, order), poisson, tractions, load, look)
}

/// The same with tractions that vary on the panels.
pub fn solved_under<T>(
    (mesh, order): (&TriMesh, Order),
    poisson: f64,
    tractions: impl Fn(&Surface) -> Vec<Traction>,
    load: impl Fn(&mut Loads),
    look: impl Fn(&Surface, &Solution) -> T,
) -> T {
    let surface = Surface::new(mesh).unwrap();
    let solver = solver(&surface, elastic(poisson), order);
    let mut loads = loads(&[]);
    load(&mut loads);
    let solution = solver.solve_varying(&loads, &tractions(&surface), &mut Recycled::default());
    look(&surface, &solution.unwrap())
}

/// Root mean square, weighted by area, and largest difference of stress on the surface, over the largest
/// stress expected.
pub fn surface_error(
    surface: &Surface,
    found: &[Field],
    expected: impl Fn(DVec3) -> DMat3,
    here: impl Fn(DVec3) -> bool,
) -> [f64; 2] {
    let (mut squares, mut area, mut worst, mut largest) = (0.0, 0.0, 0.0f64, 0.0f64);
    for (t, field) in found.iter().enumerate() {
        let x = surface.centroids[t];
        if !here(x) {
            continue;
        }
        let expected = expected(x);
        let off = norm(field.stress - expected);
        squares += off * off * surface.areas[t];
        area += surface.areas[t];
        worst = worst.max(off);
        largest = largest.max(norm(expected));
    }
    [(squares / area).sqrt() / largest, worst / largest]
}

/// Largest difference of stress inside over the largest stress expected.
pub fn inner_error(
    solution: &Solution,
    points: &[DVec3],
    expected: impl Fn(DVec3) -> DMat3,
) -> f64 {
    let found = solution.inside(points);
    let worst = |off: f64, (x, field): (&DVec3, &Field)| off.max(norm(field.stress - expected(*x)));
    let largest = points
        .iter()
        .fold(0.0, |l: f64, x| l.max(norm(expected(*x))));
    points.iter().zip(&found).fold(0.0, worst) / largest
}

/// Directions all around, at these radii.
pub fn directions(radii: impl Fn(u32) -> f64) -> Vec<DVec3> {
    let point = |k: u32| {
        let a = f64::from(k);
        let v = DVec3::new(
            (a * 1.3).sin(),
            (a * 2.7 + 0.4).cos(),
            (a * 0.77 + 0.2).sin(),
        );
        v.normalize() * radii(k)
    };
    (0..24).map(point).collect()
}

/// Frobenius norm.
pub fn norm(m: DMat3) -> f64 {
    m.to_cols_array().iter().map(|v| v * v).sum::<f64>().sqrt()
}

/// a bᵀ.
pub fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}
