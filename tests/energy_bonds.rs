//! The bond laws with an energy against independently computed values (float64, automatic differentiation).

use cullet::laws::bdem;
use cullet::laws::bond::{self, BondLoad, Stiffness, arm_torque};
use cullet::laws::relative::{Gradient, Relative, relative};
use cullet::laws::tangent::{Curvature, Tangent, exact, gauss_newton};
use cullet::laws::{cosserat, manifold};
use cullet::math::quat::rotation_between;
use cullet::math::{Mat3, Quat, Vec3};
use serde_json::Value;

use crate::vectors::{quat, read, vec3};

/// A bond as given by an entry of the file of vectors.
struct BondEntry {
    x: Vec3<f64>,
    q: [Quat<f64>; 2],
    d0: Vec3<f64>,
    l0: f64,
    k: Stiffness<f64>,
}

fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(values) => values.iter().flat_map(numbers).collect(),
        one => vec![one.as_f64().unwrap()],
    }
}

/// Reads an entry; `r0` is computed from the radii, the shear stiffness is multiplied by `kappa`.
fn read_entry(value: &Value, r0: fn(f64, f64) -> f64, kappa: f64) -> BondEntry {
    let state = &value["state"];
    let get = |key: &str| numbers(&state[key]);
    let one = |key: &str| get(key)[0];
    let r0 = r0(one("r_i"), one("r_j"));
    let (young, shear, l0) = (one("E"), one("G"), one("l0"));
    let area = std::f64::consts::PI * r0 * r0;
    let second = area * r0 * r0 / 4.0;
    let es = young * area;
    BondEntry {
        x: vec3(&get("p_i")) - vec3(&get("p_j")),
        q: [quat(&get("q_i")), quat(&get("q_j"))],
        d0: vec3(&get("d0")),
        l0,
        k: bond::stiffness(
            es,
            kappa * shear * area,
            2.0 * shear * second,
            young * second,
            l0,
        ),
    }
}

impl BondEntry {
    fn relative_state(&self) -> Relative<f64> {
        let [q_i, q_j] = self.q;
        relative(self.x, q_i, q_j, Vec3::zero(), self.d0)
    }
}

/// Largest difference, relative to the largest expected value.
fn relative_error(found: &[f64], expected: &[f64]) -> f64 {
    assert_eq!(found.len(), expected.len());
    let largest = expected.iter().fold(1e-300, |m: f64, e| m.max(e.abs()));
    let pairs = found.iter().zip(expected);
    pairs.map(|(f, e)| (f - e).abs()).fold(0.0, f64::max) / largest
}

/// The 12 × 12 matrix, row by row.
fn full_matrix(t: Tangent<f64>) -> Vec<f64> {
    let minus = |m: Mat3<f64>| m * -1.0;
    let blocks = [
        [t.ww, minus(t.wi), minus(t.ww), minus(t.wj)],
        [minus(t.wi.transposed()), t.ii, t.wi.transposed(), t.ij],
        [minus(t.ww), t.wi, t.ww, t.wj],
        [
            minus(t.wj.transposed()),
            t.ij.transposed(),
            t.wj.transposed(),
            t.jj,
        ],
    ];
    let mut out = Vec::new();
    for band in blocks {
        for line in 0..3 {
            out.extend(band.iter().flat_map(|m| m.rows[line].to_f64()));
        }
    }
    out
}

type Energy = fn(Relative<f64>, f64, Stiffness<f64>) -> f64;
type First = fn(Relative<f64>, f64, Stiffness<f64>) -> Gradient<f64>;
type Second = fn(Relative<f64>, f64, Stiffness<f64>) -> Curvature<f64>;
type Bond =
    fn(Vec3<f64>, Quat<f64>, Quat<f64>, Vec3<f64>, Vec3<f64>, f64, Stiffness<f64>) -> BondLoad<f64>;

/// Largest relative errors of energy, loads and tangent over a file.
fn errors(
    name: &str,
    (r0, kappa): (fn(f64, f64) -> f64, f64),
    (energy, first, second, bond): (Energy, First, Second, Bond),
) -> [f64; 3] {
    let mut worst = [0.0f64; 3];
    for value in read(name).as_array().unwrap() {
        let row = read_entry(value, r0, kappa);
        let (at, l0, k) = (row.relative_state(), row.l0, row.k);
        let [q_i, q_j] = row.q;
        let load = bond(row.x, q_i, q_j, Vec3::zero(), row.d0, l0, k);
        let alike = arm_torque(row.x, load.force);
        let mut loads = 0.0f64;
        for (found, key) in [
            (load.force, "force_i"),
            (-load.force, "force_j"),
            (alike + load.moment, "torque_i"),
            (alike - load.moment, "torque_j"),
        ] {
            loads = loads.max(relative_error(&found.to_f64(), &numbers(&value[key])));
        }
        let tangent = exact(at, first(at, l0, k), second(at, l0, k));
        let found = [
            relative_error(&[energy(at, l0, k)], &numbers(&value["energy"])),
            loads,
            relative_error(&full_matrix(tangent), &numbers(&value["hessian"])),
        ];
        for (worst, found) in worst.iter_mut().zip(found) {
            *worst = worst.max(found);
        }
    }
    worst
}

fn mean(r_i: f64, r_j: f64) -> f64 {
    0.5 * (r_i + r_j)
}

#[test]
fn the_manifold_bond_is_that_of_the_vectors() {
    let [energy, loads, hessian] = errors(
        "manifold_bond",
        (mean, 1.0),
        (
            manifold::energy,
            manifold::gradient,
            manifold::curvature,
            manifold::bond,
        ),
    );
    println!("manifold: energy {energy:.1e}, loads {loads:.1e}, Hessian {hessian:.1e}");
    assert!(energy < 1e-10 && loads < 1e-10 && hessian < 1e-8);
}

#[test]
fn the_cosserat_bond_is_that_of_the_vectors() {
    let kappa = cosserat::SHEAR_CORRECTION;
    let [energy, loads, hessian] = errors(
        "cosserat_bond",
        (f64::min, kappa),
        (
            cosserat::energy,
            cosserat::gradient,
            cosserat::curvature,
            cosserat::bond,
        ),
    );
    let mut gauss = 0.0f64;
    for value in read("cosserat_bond").as_array().unwrap() {
        let row = read_entry(value, f64::min, kappa);
        let at = row.relative_state();
        let tangent = gauss_newton(at, cosserat::gauss_newton(at, row.l0, row.k));
        gauss = gauss.max(relative_error(
            &full_matrix(tangent),
            &numbers(&value["hessian_gauss_newton"]),
        ));
    }
    println!(
        "cosserat: energy {energy:.1e}, loads {loads:.1e}, Hessian {hessian:.1e}, Gauss-Newton {gauss:.1e}"
    );
    assert!(energy < 1e-10 && loads < 1e-10 && hessian < 1e-8 && gauss < 1e-8);
}

#[test]
fn a_manifold_bond_leans_by_any_angle() {
    // At rest length and with the rotations of both ends unchanged, V is ½ k_s l0 θ² and the force k_s θ,
    // across the bond and towards the director.
    let (l0, k_s) = (0.3, 2.0);
    let k = Stiffness {
        normal: 5.0,
        shear: k_s,
        twist: 1.0,
        bend: 1.0,
    };
    let unturned = Quat::new(0.0, 0.0, 0.0, 1.0);
    let ahead = Vec3::new(1.0, 0.0, 0.0);
    for degrees in [1e-3f64, 10.0, 44.0, 60.0, 89.0, 91.0, 120.0, 150.0, 179.9] {
        let angle = degrees.to_radians();
        let u = Vec3::new(angle.cos(), angle.sin(), 0.0) * l0;
        let at = relative(-u, unturned, unturned, Vec3::zero(), ahead);
        let energy = manifold::energy(at, l0, k);
        let force = manifold::gradient(at, l0, k).force;
        let expected = Vec3::new(-angle.sin(), angle.cos(), 0.0) * (k_s * angle);
        let off = (force - expected).norm() / (k_s * angle);
        let energy = energy / (0.5 * k_s * l0 * angle * angle) - 1.0;
        assert!(
            off < 1e-8 && energy.abs() < 1e-7,
            "{degrees}: {off:.1e} {energy:.1e}"
        );
    }
    let back = relative(ahead * l0, unturned, unturned, Vec3::zero(), ahead);
    assert!(manifold::gradient(back, l0, k).force.norm().is_finite());
}

#[test]
fn to_first_order_all_bond_laws_agree() {
    // Strains of the same state made ten times smaller: the differences shrink a hundredfold.
    let differ = |scale: f64| {
        let mut worst = [0.0f64; 2];
        for value in read("bdem_bond").as_array().unwrap() {
            let row = read_entry(value, mean, 1.0);
            let [q_i, q_j] = row.q;
            let base = q_i;
            let turn = rotation_between(q_i, q_j) * scale;
            let q_j = Quat::from_rotation_vector(turn).product(base);
            let rest = -(base.rotate(row.d0) * row.l0);
            let x = rest + (row.x - rest) * scale;
            let none = Vec3::zero();
            let explicit = bdem::bond(x, q_i, q_j, none, row.d0, row.l0, row.k);
            for (k, bond) in [manifold::bond as Bond, cosserat::bond]
                .into_iter()
                .enumerate()
            {
                let found = bond(x, q_i, q_j, none, row.d0, row.l0, row.k);
                let apart = (found.force - explicit.force).norm() / explicit.force.norm();
                worst[k] = worst[k].max(apart);
            }
        }
        worst
    };
    let (small, smaller) = (differ(1e-2), differ(1e-3));
    for (small, smaller) in small.into_iter().zip(smaller) {
        assert!(small < 0.05 && smaller < 0.15 * small, "{small} {smaller}");
    }
}
