//! Errors of bodies with a known answer, at three sizes.

use cullet::bem::Order;

use super::tested::answers::{hanging_bar, hollow, pulled_cavity, spinning_ball, twisted_bar};
use super::tested::bent::bent_bar;
use super::tested::manufactured::torus_errors;
use super::tested::solved::ORDERS;

/// What an error is of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Of {
    /// Stress on the surface, root mean square, or the largest stress.
    Surface,
    /// Stress inside.
    Inside,
    /// Displacement or stiffness.
    Motion,
}

/// An error over the size of the mesh.
pub struct Curve {
    /// Body and quantity.
    pub name: &'static str,
    /// Of the displacement.
    pub order: Order,
    /// What it is of.
    pub of: Of,
    /// Triangles and error, relative.
    pub points: Vec<[f64; 2]>,
}

impl Curve {
    /// Order of convergence in the triangles' size between neighbouring sizes; none where errors are rounding
    /// or change sign.
    pub fn orders(&self) -> Vec<f64> {
        let pairs = self.points.windows(2);
        pairs
            .map(|p| 2.0 * (p[0][1].abs() / p[1][1].abs()).ln() / (p[1][0] / p[0][0]).ln())
            .collect()
    }
}

/// A body: triangles of each of its sizes, and its errors at one of them.
struct Body {
    sizes: [u32; 3],
    triangles: fn(u32) -> u32,
    names: &'static [(&'static str, Of)],
    errors: fn(u32, Order, f64) -> Vec<f64>,
}

const BODIES: [Body; 7] = [
    Body {
        sizes: [3, 6, 10],
        triangles: |fine| 20 * (fine * fine + (2 * fine / 3).pow(2)),
        names: &[
            ("hollow sphere, inner wall", Of::Surface),
            ("hollow sphere, outer wall", Of::Surface),
            ("hollow sphere", Of::Inside),
        ],
        errors: |fine, order, poisson| {
            let [inner, _, outer, _, inside] = hollow(2 * fine / 3, fine, order, poisson);
            vec![inner, outer, inside]
        },
    },
    Body {
        sizes: [3, 6, 10],
        triangles: |parts| 28 * parts * parts,
        names: &[("hanging bar", Of::Surface), ("hanging bar", Of::Inside)],
        errors: |parts, order, poisson| {
            let [mean, _, inside] = hanging_bar(parts, order, poisson);
            vec![mean, inside]
        },
    },
    Body {
        sizes: [3, 6, 10],
        triangles: |parts| 28 * parts * parts,
        names: &[
            ("twisted bar, constant", Of::Motion),
            ("twisted bar", Of::Surface),
            ("twisted bar", Of::Inside),
        ],
        errors: |parts, order, poisson| twisted_bar(parts, 3 * parts, order, poisson).to_vec(),
    },
    Body {
        sizes: [3, 6, 12],
        triangles: |parts| 20 * parts * parts,
        names: &[
            ("spinning ball", Of::Surface),
            ("spinning ball", Of::Inside),
        ],
        errors: |parts, order, poisson| {
            let [mean, _, inside] = spinning_ball(parts, order, poisson);
            vec![mean, inside]
        },
    },
    Body {
        sizes: [3, 6, 11],
        triangles: |fine| 20 * (16 + fine * fine),
        names: &[("cavity, largest stress", Of::Surface)],
        errors: |fine, order, poisson| vec![pulled_cavity(4, fine, order, poisson)],
    },
    Body {
        sizes: [2, 4, 6],
        triangles: |across| 80 * across * across,
        names: &[
            ("bent bar, stiffness", Of::Motion),
            ("bent bar", Of::Surface),
            ("bent bar", Of::Inside),
        ],
        errors: |across, order, poisson| bent_bar(across, (order, order), poisson).to_vec(),
    },
    Body {
        sizes: [8, 16, 27],
        triangles: |across| 4 * across * across,
        names: &[
            ("torus", Of::Surface),
            ("torus", Of::Inside),
            ("torus, displacement", Of::Motion),
        ],
        errors: |across, order, poisson| torus_errors(across, order, poisson).0.to_vec(),
    },
];

/// Errors of all bodies with this ratio of Poisson, printed as they come.
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
        Of::Surface => "on the surface",
        Of::Inside => "inside",
        Of::Motion => "as a whole",
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
