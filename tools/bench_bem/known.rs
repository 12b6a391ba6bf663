//! Errors for bodies with a known answer, at three sizes.

use cullet::bem::Order;

use super::tested::answers::{hanging_bar, hollow, pulled_cavity, spinning_ball, twisted_bar};
use super::tested::bent::bent_bar;
use super::tested::manufactured::torus_errors;
use super::tested::solved::ORDERS;

/// The quantity whose error is measured.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// Stress on the surface, root mean square, or the largest stress.
    Surface,
    /// Stress inside.
    Inside,
    /// Displacement or stiffness.
    Motion,
}

/// Error as a function of mesh size.
pub struct Curve {
    /// Body and quantity.
    pub name: &'static str,
    /// Order of the displacements.
    pub order: Order,
    /// Quantity whose error it is.
    pub of: Quantity,
    /// Pairs of number of triangles and relative error.
    pub points: Vec<[f64; 2]>,
}

impl Curve {
    /// Order of convergence in the triangles' edge length between neighbouring sizes; NaN where errors are
    /// due to rounding or change sign.
    pub fn orders(&self) -> Vec<f64> {
        let pairs = self.points.windows(2);
        pairs
            .map(|p| 2.0 * (p[0][1].abs() / p[1][1].abs()).ln() / (p[1][0] / p[0][0]).ln())
            .collect()
    }
}

/// A body: number of triangles for each of its sizes, and its errors at a size.
struct Body {
    sizes: [u32; 3],
    triangles: fn(u32) -> u32,
    names: &'static [(&'static str, Quantity)],
    errors: fn(u32, Order, f64) -> Vec<f64>,
}

const BODIES: [Body; 7] = [
    Body {
        sizes: [3, 6, 10],
        triangles: |fine| 20 * (fine * fine + (2 * fine / 3).pow(2)),
        names: &[
            ("hollow sphere, inner wall", Quantity::Surface),
            ("hollow sphere, outer wall", Quantity::Surface),
            ("hollow sphere", Quantity::Inside),
        ],
        errors: |fine, order, poisson| {
            let [inner, _, outer, _, inside] = hollow(2 * fine / 3, fine, order, poisson);
            vec![inner, outer, inside]
        },
    },
    Body {
        sizes: [3, 6, 10],
        triangles: |parts| 28 * parts * parts,
        names: &[
            ("hanging bar", Quantity::Surface),
            ("hanging bar", Quantity::Inside),
        ],
        errors: |parts, order, poisson| {
            let [mean, _, inside] = hanging_bar(parts, order, poisson);
            vec![mean, inside]
        },
    },
    Body {
        sizes: [3, 6, 10],
        triangles: |parts| 28 * parts * parts,
        names: &[
            ("twisted bar, constant", Quantity::Motion),
            ("twisted bar", Quantity::Surface),
            ("twisted bar", Quantity::Inside),
        ],
        errors: |parts, order, poisson| twisted_bar(parts, 3 * parts, order, poisson).to_vec(),
    },
    Body {
        sizes: [3, 6, 12],
        triangles: |parts| 20 * parts * parts,
        names: &[
            ("spinning ball", Quantity::Surface),
            ("spinning ball", Quantity::Inside),
        ],
        errors: |parts, order, poisson| {
            let [mean, _, inside] = spinning_ball(parts, order, poisson);
            vec![mean, inside]
        },
    },
    Body {
        sizes: [3, 6, 11],
        triangles: |fine| 20 * (16 + fine * fine),
        names: &[("cavity, largest stress", Quantity::Surface)],
        errors: |fine, order, poisson| vec![pulled_cavity(4, fine, order, poisson)],
    },
    Body {
        sizes: [2, 4, 6],
        triangles: |across| 80 * across * across,
        names: &[
            ("bent bar, stiffness", Quantity::Motion),
            ("bent bar", Quantity::Surface),
            ("bent bar", Quantity::Inside),
        ],
        errors: |across, order, poisson| bent_bar(across, (order, order), poisson).to_vec(),
    },
    Body {
        sizes: [8, 16, 27],
        triangles: |across| 4 * across * across,
        names: &[
            ("torus", Quantity::Surface),
            ("torus", Quantity::Inside),
            ("torus, displacement", Quantity::Motion),
        ],
        errors: |across, order, poisson| torus_errors(across, order, poisson).0.to_vec(),
    },
];

/// Errors of all bodies with this Poisson's ratio, printed when available.
pub fn measure(poisson: f64) -> Vec<Curve> {
    let mut all = Vec::new();
    for body in BODIES {
        for order in ORDERS {
            let found = body.sizes.map(|size| {
                let triangles = f64::from((body.triangles)(size));
                (triangles, (body.errors)(size, order, poisson))
            });
            for (k, (name, of)) in body.names.iter().enumerate() {
                let curve = Curve {
                    name,
                    order,
                    of: *of,
                    points: found
                        .iter()
                        .map(|(triangles, errors)| [*triangles, errors[k]])
                        .collect(),
                };
                print(&curve, poisson);
                all.push(curve);
            }
        }
    }
    all
}

fn print(curve: &Curve, poisson: f64) {
    let place = match curve.of {
        Quantity::Surface => "on the surface",
        Quantity::Inside => "inside",
        Quantity::Motion => "as a whole",
    };
    let points = curve.points.iter();
    let errors: Vec<String> = points.map(|[n, e]| format!("{n} {e:+.1e}")).collect();
    println!(
        "{}, {place}, {:?}, ν = {poisson}: {}; orders {:.1?}",
        curve.name,
        curve.order,
        errors.join(", "),
        curve.orders()
    );
}
