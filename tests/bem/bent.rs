//! A bar under pure bending, with few triangles over its height.

use cullet::bem::Order::{self, Linear, Quadratic};
use cullet::bem::Surface;
use glam::{DVec3, dvec3};

use super::bodies::grid_box;
use super::solved::{
    YOUNG, directions, inner_error, moment, outer, solved_under, surface_error, varying,
};

/// Bar 1 × 1 × 6 with `across` triangles over its height, and twice as many over its width so that its ends
/// are symmetric, bent by σ_zz = x: errors of its stiffness, of stress on its surface (root mean square) and
/// inside. The tractions are linear on the panels if the displacement is quadratic, and constant otherwise.
pub fn bent_bar(across: u32, (order, load): (Order, Order), poisson: f64) -> [f64; 3] {
    let mesh = grid_box(dvec3(1.0, 1.0, 6.0), [across, 2 * across, 6 * across]);
    let pull = |x: DVec3, n: DVec3| DVec3::Z * (n.z * x.x);
    solved_under(
        (&mesh, order),
        poisson,
        |surface: &Surface| varying(surface, load, pull),
        |_| (),
        |surface, solution| {
            let turn = |z: f64| {
                let field = &solution.inside(&[dvec3(0.0, 0.0, z)])[0];
                (field.gradient.col(2).x - field.gradient.col(0).z) / 2.0
            };
            // E I is E/12.
            let moment = -moment(surface, load, pull).y;
            let curvature = -(turn(1.0) - turn(-1.0)) / 2.0;
            let stiffness = moment / (curvature * YOUNG / 12.0) - 1.0;
            let expected = |x: DVec3| outer(DVec3::Z, DVec3::Z) * (x.x * 12.0 * moment);
            let middle = |x: DVec3| x.z.abs() < 2.0;
            let [on, _] = surface_error(surface, &solution.surface(), expected, middle);
            let points = directions(|k| 0.45 * f64::from(k) / 24.0);
            [stiffness, on, inner_error(solution, &points, expected)]
        },
    )
}

#[test]
fn a_bent_bar_is_as_stiff_as_a_beam() {
    // A quadratic displacement is exact. With constant tractions the load at the ends is different, and with
    // one triangle over the height its effect reaches far.
    for (across, most) in [(1, 0.1), (2, 0.01), (4, 0.01)] {
        for poisson in [0.0, 0.3, 0.49] {
            let cases = [
                (Linear, Linear),
                (Quadratic, Linear),
                (Quadratic, Quadratic),
            ];
            let found = cases.map(|orders| bent_bar(across, orders, poisson));
            println!("bent bar, {across} across, ν = {poisson}: {found:.4?}");
            assert!(found[1][0].abs() < most && found[1][0].abs() < 0.2 * found[0][0]);
            assert!(found[2].iter().all(|off| off.abs() < 1e-5));
        }
    }
}
