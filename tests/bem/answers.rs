//! Bodies with an analytic solution.

use std::f64::consts::PI;

use cullet::bem::{Balance, LoadError, Order, Solution, SolveError, Solver, Surface};
use cullet::solve::Recycled;
use glam::{DMat3, DVec3, dvec3};

use super::bodies::{ball, grid_box, hollow_ball};
use super::solved::{
    YOUNG, cases, directions, elastic, inner_error, loads, moment, norm, outer, solved,
    surface_error, tractions,
};

pub const RATIOS: [f64; 4] = [0.0, 0.2, 0.4, 0.49];

fn nothing(_: DVec3, _: DVec3) -> DVec3 {
    DVec3::ZERO
}

/// Sphere under pressure 1: u = −(1 − 2ν) x/E, σ = −1. Errors of displacement and stress.
pub fn pressed_ball(parts: u32, order: Order, poisson: f64) -> [f64; 3] {
    let press = |_, n: DVec3| -n;
    solved(
        (&ball(parts), order),
        poisson,
        press,
        |_| (),
        |surface, solution| {
            let shrink = (1.0 - 2.0 * poisson) / YOUNG;
            let places = surface.mesh.positions.iter().zip(solution.vertices());
            let off = places.map(|(x, u)| (u + *x * shrink).length() * YOUNG);
            let expected = |_| -DMat3::IDENTITY;
            let [_, surface_off] = surface_error(surface, &solution.surface(), expected, |_| true);
            let points = directions(|k| f64::from(k) / 25.0);
            [
                off.fold(0.0, f64::max),
                surface_off,
                inner_error(solution, &points, expected),
            ]
        },
    )
}

#[test]
fn a_pressed_ball_is_exact() {
    for (order, poisson) in cases(&RATIOS) {
        let off = pressed_ball(4, order, poisson);
        println!("pressed ball, {order:?}, ν = {poisson}: {off:?}");
        assert!(off.iter().all(|off| *off < 1e-6));
    }
}

/// Lamé's hollow sphere of radii 1 and ½ under inner pressure 1. Errors at the inner and the outer wall (root
/// mean square, largest), and inside.
pub fn hollow(coarse: u32, fine: u32, order: Order, poisson: f64) -> [f64; 5] {
    let mesh = hollow_ball((1.0, coarse), (0.5, fine));
    let is_inner = |x: DVec3| x.length() < 0.75;
    let press = |x, n: DVec3| if is_inner(x) { -n } else { DVec3::ZERO };
    let share = 0.125 / (1.0 - 0.125);
    let lame = |x: DVec3| {
        let cube = x.length().powi(3).recip();
        let (radial, hoop) = (share * (1.0 - cube), share * (1.0 + cube / 2.0));
        let n = x.normalize();
        DMat3::IDENTITY * hoop + outer(n, n) * (radial - hoop)
    };
    solved(
        (&mesh, order),
        poisson,
        press,
        |_| (),
        |surface, solution| {
            let found = solution.surface();
            // At the radii of the walls: centroids are not exactly on them.
            let wall = |x: DVec3| lame(x.normalize() * if is_inner(x) { 0.5 } else { 1.0 });
            let [a, b] = surface_error(surface, &found, wall, is_inner);
            let [c, d] = surface_error(surface, &found, wall, |x| !is_inner(x));
            let points = directions(|k| 0.6 + 0.3 * f64::from(k) / 24.0);
            [a, b, c, d, inner_error(solution, &points, lame)]
        },
    )
}

#[test]
fn walls_of_a_hollow_sphere_bear_what_lame_says() {
    for (order, poisson) in cases(&RATIOS) {
        let [low, high] =
            [(2, 3), (4, 6)].map(|(coarse, fine)| hollow(coarse, fine, order, poisson));
        println!("hollow sphere, {order:?}, ν = {poisson}: {low:.4?} {high:.4?}");
        assert!(high[0] < 0.02 && high[2] < 0.03 && high[4] < 0.02);
        assert!(high[0] < 0.5 * low[0] && high[4] < 0.5 * low[4]);
    }
}

/// Bar 1 × 1 × 3 pulled by 1: errors on the surface, inside, and of the change of its length.
pub fn pulled_bar(parts: u32, order: Order, poisson: f64) -> [f64; 3] {
    let mesh = grid_box(dvec3(1.0, 1.0, 3.0), [parts, parts, 3 * parts]);
    let pull = |_, n: DVec3| DVec3::Z * n.z;
    solved(
        (&mesh, order),
        poisson,
        pull,
        |_| (),
        |surface, solution| {
            let expected = |_| outer(DVec3::Z, DVec3::Z);
            let [_, on] = surface_error(surface, &solution.surface(), expected, |_| true);
            let points = directions(|k| 0.49 * f64::from(k) / 25.0);
            let stretch = dvec3(-poisson, -poisson, 1.0) / YOUNG;
            let places = surface.mesh.positions.iter().zip(solution.vertices());
            let off = places.map(|(x, u)| (u - *x * stretch).length() * YOUNG / 1.5);
            [
                on,
                inner_error(solution, &points, expected),
                off.fold(0.0, f64::max),
            ]
        },
    )
}

#[test]
fn a_pulled_bar_is_exact_to_its_edges() {
    for (order, poisson) in cases(&RATIOS) {
        let off = pulled_bar(2, order, poisson);
        println!("pulled bar, {order:?}, ν = {poisson}: {off:?}");
        assert!(off.iter().all(|off| *off < 1e-6));
    }
}

/// Bar 1 × 1 × 3 of density 1 hanging by its end in gravity 1: σ_zz = ρ g (z − bottom). Errors on the surface
/// (root mean square, largest) and inside.
pub fn hanging_bar(parts: u32, order: Order, poisson: f64) -> [f64; 3] {
    let mesh = grid_box(dvec3(1.0, 1.0, 3.0), [parts, parts, 3 * parts]);
    let hold = |_, n: DVec3| {
        if n.z > 0.5 {
            DVec3::Z * 3.0
        } else {
            DVec3::ZERO
        }
    };
    let weigh = |loads: &mut cullet::bem::Loads| {
        loads.density = 1.0;
        loads.gravity = -DVec3::Z;
    };
    solved((&mesh, order), poisson, hold, weigh, |surface, solution| {
        let expected = |x: DVec3| outer(DVec3::Z, DVec3::Z) * (x.z + 1.5);
        let [mean, most] = surface_error(surface, &solution.surface(), expected, |_| true);
        let line: Vec<DVec3> = (1..12)
            .map(|k| dvec3(0.1, 0.2, f64::from(k) / 4.0 - 1.5))
            .collect();
        [mean, most, inner_error(solution, &line, expected)]
    })
}

#[test]
fn a_hanging_bar_bears_the_weight_below() {
    for (order, poisson) in cases(&RATIOS) {
        let [low, high] = [2, 4].map(|parts| hanging_bar(parts, order, poisson));
        println!("hanging bar, {order:?}, ν = {poisson}: {low:.5?} {high:.5?}");
        match order {
            Order::Linear => {
                assert!(high[0] < 0.02 && high[2] < 0.01);
                assert!(high[0] < 0.6 * low[0] && high[2] < 0.5 * low[2]);
            }
            // The displacement is quadratic in position.
            Order::Quadratic => assert!(low.iter().all(|off| *off < 1e-5)),
        }
    }
}

/// Shear stresses σ_zx and σ_zy at a point of the cross-section of a square bar 1 × 1 with shear modulus 1,
/// twisted by 1 rad/m (Saint-Venant).
fn torsion(x: DVec3) -> [f64; 2] {
    let (mut zx, mut zy) = (-2.0 * x.y, 0.0);
    for k in 0..40 {
        let n = PI * f64::from(2 * k + 1);
        let sign = if k % 2 == 0 { 8.0 } else { -8.0 };
        // cosh and sinh over the cosh at half the side, without overflow.
        let [up, down, most] = [x.x - 0.5, -x.x - 0.5, -1.0].map(|e| (n * e).exp());
        let (cosh, sinh) = ((up + down) / (1.0 + most), (up - down) / (1.0 + most));
        zx += sign / (n * n) * cosh * (n * x.y).sin();
        zy += sign / (n * n) * sinh * (n * x.y).cos();
    }
    [zx, zy]
}

/// Square bar 1 × 1 × 3 twisted by 1 rad/m: errors of the torsion constant 0.1406 a⁴, of stress on the
/// surface (root mean square) and inside.
pub fn twisted_bar(across: u32, along: u32, order: Order, poisson: f64) -> [f64; 3] {
    let mesh = grid_box(dvec3(1.0, 1.0, 3.0), [across, across, along]);
    let shear = elastic(poisson).shear;
    let expected = |x: DVec3| {
        let [zx, zy] = torsion(x);
        let pull = dvec3(zx, zy, 0.0) * shear;
        outer(pull, DVec3::Z) + outer(DVec3::Z, pull)
    };
    let twist = |x: DVec3, n: DVec3| expected(x) * DVec3::Z * n.z;
    solved(
        (&mesh, order),
        poisson,
        twist,
        |_| (),
        |surface, solution| {
            let turn = |z: f64| {
                let field = &solution.inside(&[dvec3(0.0, 0.0, z)])[0];
                (field.gradient.col(0).y - field.gradient.col(1).x) / 2.0
            };
            let moment = moment(surface, order, twist).z;
            let constant = moment / (shear * 0.1406 * (turn(0.5) - turn(-0.5)));
            let [mean, _] = surface_error(surface, &solution.surface(), expected, |_| true);
            let points: Vec<DVec3> = directions(|k| 0.45 * f64::from(k) / 24.0);
            [
                constant - 1.0,
                mean,
                inner_error(solution, &points, expected),
            ]
        },
    )
}

#[test]
fn a_twisted_bar_has_its_torsion_constant() {
    // ∫ (x σ_zy − y σ_zx) dA.
    let place = |k: u32| (f64::from(k) + 0.5) / 100.0 - 0.5;
    let section = (0..10_000).map(|k| dvec3(place(k % 100), place(k / 100), 0.0));
    let moments = section.map(|x| x.x * torsion(x)[1] - x.y * torsion(x)[0]);
    assert!((moments.sum::<f64>() / 10_000.0 - 0.1406).abs() < 1e-4);
    for (order, poisson) in cases(&RATIOS) {
        let [low, high] = [2, 4].map(|parts| twisted_bar(parts, 2 * parts, order, poisson));
        println!("twisted bar, {order:?}, ν = {poisson}: {low:.4?} {high:.4?}");
        let most = match order {
            Order::Linear => [0.07, 0.12, 0.1],
            Order::Quadratic => [0.005, 0.03, 0.01],
        };
        assert!((0..3).all(|k| high[k].abs() < most[k] && high[k].abs() < 0.6 * low[k].abs()));
    }
}

/// Stress of a ball of radius 1 and density 1 that spins about z at 1 rad/s. f = s r + D r; the field C r + κ
/// s r² r and a D r + A r² D r + B (r·D r) r, made free of traction (as Chree 1895 did): a and C are uniform;
/// κ, and A and B up to one factor, follow from Navier's equation.
fn spinning_stress(x: DVec3, poisson: f64) -> DMat3 {
    let shear = YOUNG / (2.0 * (1.0 + poisson));
    let lambda = 2.0 * shear * poisson / (1.0 - 2.0 * poisson);
    let (s, d) = (2.0 / 3.0, DMat3::from_diagonal(dvec3(1.0, 1.0, -2.0) / 3.0));
    let kappa = -s / (10.0 * (lambda + 2.0 * shear));
    let uniform = -kappa * (5.0 * lambda + 6.0 * shear) / (3.0 * lambda + 2.0 * shear);
    // G (10 A + 4 B) + (λ + G) (4 A + 10 B) = −1 and, from the traction, 2 (λ + G) A + (5λ + 4G) B = 0.
    let ratio = -2.0 * (lambda + shear) / (5.0 * lambda + 4.0 * shear);
    let a = -1.0 / (shear * (10.0 + 4.0 * ratio) + (lambda + shear) * (4.0 + 10.0 * ratio));
    let b = ratio * a;
    let deviating = -(2.0 * a + b);
    let (q, square, pulled) = (x.dot(d * x), x.length_squared(), d * x);
    let gradient = (DMat3::IDENTITY * square + outer(x, x) * 2.0) * kappa
        + DMat3::IDENTITY * uniform
        + d * deviating
        + (outer(pulled, x) * 2.0 + d * square) * a
        + (outer(x, pulled) * 2.0 + DMat3::IDENTITY * q) * b;
    let trace: f64 = (0..3).map(|k| gradient.col(k)[k]).sum();
    (gradient + gradient.transpose()) * shear + DMat3::IDENTITY * (lambda * trace)
}

/// Errors on the surface (root mean square, largest) and inside.
pub fn spinning_ball(parts: u32, order: Order, poisson: f64) -> [f64; 3] {
    let spin = |loads: &mut cullet::bem::Loads| {
        loads.density = 1.0;
        loads.spin = DVec3::Z;
    };
    solved(
        (&ball(parts), order),
        poisson,
        nothing,
        spin,
        |surface, solution| {
            let expected = |x| spinning_stress(x, poisson);
            let [mean, most] = surface_error(surface, &solution.surface(), expected, |_| true);
            let points = directions(|k| 0.9 * f64::from(k) / 24.0);
            [mean, most, inner_error(solution, &points, expected)]
        },
    )
}

#[test]
fn a_spinning_ball_bears_its_centrifugal_load() {
    for (order, poisson) in cases(&RATIOS) {
        let n = DVec3::new(0.48, 0.6, 0.64);
        assert!((spinning_stress(n, poisson) * n).length() < 1e-12);
        let [low, high] = [3, 6].map(|parts| spinning_ball(parts, order, poisson));
        println!("spinning ball, {order:?}, ν = {poisson}: {low:.4?} {high:.4?}");
        assert!(high[0] < 0.03 && high[2] < 0.02);
        assert!(high[0] < 0.5 * low[0] && high[2] < 0.5 * low[2]);
    }
}

/// Ball of radius 8 pulled by 1 along z, with a cavity of radius 1: error of the largest stress, (27 −
/// 15ν)/(2(7 − 5ν)), at the equator.
pub fn pulled_cavity(coarse: u32, fine: u32, order: Order, poisson: f64) -> f64 {
    let mesh = hollow_ball((8.0, coarse), (1.0, fine));
    let pull = |x: DVec3, n: DVec3| {
        if x.length() > 4.0 {
            DVec3::Z * n.z
        } else {
            DVec3::ZERO
        }
    };
    solved(
        (&mesh, order),
        poisson,
        pull,
        |_| (),
        |surface, solution| {
            let mut ratios = Vec::new();
            for (x, field) in surface.centroids.iter().zip(solution.surface()) {
                let up = x.normalize().z;
                if x.length() > 4.0 || up.abs() > 0.1 {
                    continue;
                }
                let along = (DVec3::Z - x.normalize() * up).normalize();
                // Goodier 1933: 27 − 15ν at the equator, −3 − 15ν at the poles.
                let expected =
                    (27.0 - 15.0 * poisson - 30.0 * up * up) / (2.0 * (7.0 - 5.0 * poisson));
                ratios.push(along.dot(field.stress * along) / expected - 1.0);
            }
            ratios.iter().sum::<f64>() / ratios.len() as f64
        },
    )
}

#[test]
fn a_cavity_doubles_a_pull() {
    for (order, poisson) in cases(&RATIOS) {
        let [low, high] = [3, 6].map(|fine| pulled_cavity(2, fine, order, poisson));
        println!("cavity, {order:?}, ν = {poisson}: {low:.4} {high:.4}");
        assert!(high.abs() < 0.03 && high.abs() < low.abs());
    }
}

/// A brick accelerated by an off-centre impact: it is refused without inertia relief; with inertia relief the
/// stress at the surface matches the tractions, and it is zero at distant corners.
#[test]
fn an_unbalanced_blow_needs_inertia() {
    let mesh = grid_box(dvec3(1.0, 1.0, 2.0), [4, 4, 8]);
    let surface = Surface::new(&mesh).unwrap();
    let solver = Solver::dense(&surface, elastic(0.3), Order::Quadratic);
    let blow = |x: DVec3, n: DVec3| {
        if n.z > 0.5 && x.x > 0.0 {
            -DVec3::Z
        } else {
            DVec3::ZERO
        }
    };
    let tractions = tractions(&surface, blow);
    let mut loads = loads(&tractions);
    loads.density = 1.0;
    let error = solver.solve(&loads, &mut Recycled::default()).unwrap_err();
    let SolveError::Load(LoadError::Unbalanced { force, .. }) = &error else {
        panic!("{error}");
    };
    assert!(force.distance(DVec3::Z * -0.5) < 1e-12, "{error}");
    loads.balance = Balance::Inertia;
    let mut recycled = Recycled::default();
    let solution = solver.solve(&loads, &mut recycled).unwrap();
    assert!(solution.found().iterations > 5);
    check_cut(&solution);
    check_mean(&solution);
    // Solving the same loads again, or any multiple of them, takes no iterations.
    let twice: Vec<DVec3> = tractions.iter().map(|t| *t * 2.0).collect();
    let again = super::solved::loads(&twice);
    let again = cullet::bem::Loads {
        density: 1.0,
        balance: Balance::Inertia,
        ..again
    };
    let second = solver.solve(&again, &mut recycled).unwrap();
    assert_eq!(second.found().iterations, 0);
}

/// Half the force acts across the middle of the brick: it accelerates the lower half, of half the mass.
fn check_cut(solution: &Solution) {
    let count = 20;
    let mut force = DVec3::ZERO;
    let place = |k: i32| (f64::from(k) + 0.5) / f64::from(count) - 0.5;
    for i in 0..count {
        let row: Vec<DVec3> = (0..count).map(|j| dvec3(place(i), place(j), 0.0)).collect();
        let fields = solution.inside(&row);
        force += fields.iter().map(|f| f.stress * DVec3::Z).sum::<DVec3>();
    }
    force /= f64::from(count * count);
    println!("force through the middle {force}");
    assert!((force.z + 0.25).abs() < 0.005);
}

/// The mean displacement and rotation over the brick are zero.
fn check_mean(solution: &Solution) {
    let place = |k: u32, parts: u32| (f64::from(k) + 0.5) / f64::from(parts) - 0.5;
    let points: Vec<DVec3> = (0..2000)
        .map(|k| {
            dvec3(
                place(k % 10, 10),
                place(k / 10 % 10, 10),
                2.0 * place(k / 100, 20),
            )
        })
        .collect();
    let fields = solution.inside(&points);
    let mean = fields.iter().map(|f| f.displacement).sum::<DVec3>() / 2000.0;
    let skew = fields.iter().map(|f| f.gradient - f.gradient.transpose());
    let skew = skew.fold(DMat3::ZERO, |sum, m| sum + m) * (0.5 / 2000.0);
    let places = fields.iter().map(|f| f.displacement.length());
    let largest = places.fold(0.0, f64::max);
    println!("mean displacement {mean}, rotation {skew}, largest displacement {largest}");
    assert!(mean.length() < 0.01 * largest && norm(skew) < 0.01 * largest);
}
