//! The laws against independently computed values (float64, automatic differentiation).

use cullet::laws::bdem::{BondLoad, Stiffness, bond};
use cullet::laws::contact::{ContactParameters, ContactState, contact, stiffness};
use cullet::laws::failure::{Section, stress};
#[cfg(target_arch = "x86_64")]
use cullet::math::F32x8;
use cullet::math::quat::rotation_between;
use cullet::math::{Lanes, Pass, Quat, Real, Scalar, Vec3};
use cullet::simulate::cpu::Cpu;
use cullet::simulate::{Engine, build};
use glam::DVec3;
use serde_json::Value;

use crate::scenes;

fn read(name: &str) -> Value {
    let path = format!("{}/tests/vectors/{name}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(number).collect()
}

fn vector(value: &Value) -> DVec3 {
    DVec3::from_slice(&numbers(value))
}

fn splat<T: Real>(v: DVec3) -> Vec3<T> {
    Vec3::new(T::splat(v.x), T::splat(v.y), T::splat(v.z))
}

fn quaternion<T: Real>(value: &Value) -> Quat<T> {
    let q = numbers(value);
    Quat::new(
        T::splat(q[0]),
        T::splat(q[1]),
        T::splat(q[2]),
        T::splat(q[3]),
    )
}

/// Lane 0 as f64.
fn lane<L: Lanes>(value: L) -> f64 {
    let mut room = [L::Scalar::default(); 16];
    value.store(&mut room);
    room[0].to_f64()
}

fn components<L: Lanes>(v: Vec3<L>) -> [f64; 3] {
    [lane(v.x), lane(v.y), lane(v.z)]
}

/// A name, the values found and those expected.
type Compared<'a> = (&'a str, Vec<f64>, Vec<f64>);

/// Largest error of the named values, each relative to its largest component, or to `floor` where that is more.
fn worst(floor: f64, pairs: &[Compared]) -> f64 {
    let mut worst = 0.0f64;
    for (_, found, expected) in pairs {
        let largest = expected.iter().fold(0.0, |m: f64, e| m.max(e.abs()));
        let scale = largest.max(floor).max(1e-300);
        for (f, e) in found.iter().zip(expected) {
            worst = worst.max((f - e).abs() / scale);
        }
    }
    worst
}

fn compare(entry: usize, precision: f64, floor: f64, pairs: &[Compared]) {
    let error = worst(floor, pairs);
    assert!(
        error <= precision,
        "entry {entry}: off by {error:.1e}: {pairs:?}"
    );
}

struct BondVector<'a>(&'a Value);

impl<L: Lanes> Pass<L> for BondVector<'_> {
    /// force_i, torque_i, torque_j, σ by lu2021, σ by tension, τ.
    type Out = [Vec<f64>; 6];

    #[inline(always)]
    fn run(self) -> Self::Out {
        let s = &self.0["state"];
        let get = |key: &str| number(&s[key]);
        let r0 = 0.5 * (get("r_i") + get("r_j"));
        let (e, g, l0) = (get("E"), get("G"), get("l0"));
        let area = std::f64::consts::PI * r0 * r0;
        let second = area * r0 * r0 / 4.0;
        let k = Stiffness {
            normal: L::splat(e * area / l0),
            shear: L::splat(g * area),
            twist: L::splat(2.0 * g * second / l0),
            bend: L::splat(e * second / l0),
        };
        // As elements carry it: what rounding keeps out of a quaternion stands beside it as a rotation vector.
        let left_over = |key: &str| {
            let kept: Quat<L> = quaternion(&s[key]);
            let [x, y, z] = components(kept.v);
            rotation_between(Quat::new(x, y, z, lane(kept.w)), quaternion::<f64>(&s[key]))
        };
        let unapplied = left_over("q_j") - left_over("q_i");
        let load: BondLoad<L> = bond(
            splat(vector(&s["p_i"]) - vector(&s["p_j"])),
            quaternion(&s["q_i"]),
            quaternion(&s["q_j"]),
            splat(DVec3::new(unapplied.x, unapplied.y, unapplied.z)),
            splat(vector(&s["d0"])),
            L::splat(l0),
            k,
        );
        let section = |counts: f64| Section {
            inverse_area: L::splat(1.0 / area),
            bend_modulus: L::splat(r0 / second),
            twist_modulus: L::splat(r0 / (2.0 * second)),
            compression_counts: L::splat(counts),
        };
        let (lu, tau) = stress(&load, &section(1.0));
        let (tension, _) = stress(&load, &section(0.0));
        [
            components(load.force).to_vec(),
            components(load.shear_moment + load.moment).to_vec(),
            components(load.shear_moment - load.moment).to_vec(),
            vec![lane(lu)],
            vec![lane(tension)],
            vec![lane(tau)],
        ]
    }
}

/// Checks every entry; returns how many hold to `precision` of each value's own largest component.
///
/// The others must hold to that of what a strain of `strain` makes: the rounding of the inputs, which no arithmetic behind it undoes.
fn check_bonds<L: Lanes>(precision: f64, strain: f64) -> usize {
    let mut plain = 0;
    for (n, row) in read("bdem_bond").as_array().unwrap().iter().enumerate() {
        let [force, torque_i, torque_j, lu, tension, tau] = L::run(BondVector(row));
        let scalar = |key: &str| vec![number(&row[key])];
        let get = |key: &str| number(&row["state"][key]);
        let stress = get("E") * strain / precision;
        let r0 = 0.5 * (get("r_i") + get("r_j"));
        let force_floor = stress * std::f64::consts::PI * r0 * r0;
        let minus = force.iter().map(|f| -f).collect();
        let forces = [
            ("force_i", force, numbers(&row["force_i"])),
            ("force_j", minus, numbers(&row["force_j"])),
        ];
        let torques = [
            ("torque_i", torque_i, numbers(&row["torque_i"])),
            ("torque_j", torque_j, numbers(&row["torque_j"])),
        ];
        // A cancelling σ is judged by what it is made of.
        let size = number(&row["sigma_lu2021"]);
        let stresses = [
            ("sigma_lu2021", lu, scalar("sigma_lu2021")),
            ("sigma_tension", tension, scalar("sigma_tension")),
            ("tau", tau, scalar("tau")),
        ];
        let errors = [
            worst(0.0, &forces),
            worst(0.0, &torques),
            worst(size, &stresses),
        ];
        plain += usize::from(errors.iter().all(|error| *error <= precision));
        compare(n, precision, force_floor, &forces);
        compare(n, precision, force_floor * r0, &torques);
        compare(n, precision, stress.max(size), &stresses);
    }
    plain
}

#[test]
fn bond_law_in_double_precision() {
    assert_eq!(check_bonds::<f64>(1e-10, 0.0), 64);
}

#[test]
fn bond_law_in_single_precision_lanes() {
    // Three roundings of half a unit in the last place. The entries' strains go down to 5e-5, where that alone is 4e-3.
    let strain = 1.5 * f64::from(f32::EPSILON);
    let plain = check_bonds::<f32>(1e-4, strain);
    println!("{plain} of 64 entries within 1e-4, the others within the rounding of their inputs");
    assert!(plain >= 38, "{plain}");
    #[cfg(target_arch = "x86_64")]
    if F32x8::available() {
        assert_eq!(check_bonds::<F32x8>(1e-4, strain), plain);
    }
}

/// Force on i, torques on both, spring after a step of the contact sequence.
struct ContactVector<'a>(&'a Value, &'a Value);

impl<L: Lanes> Pass<L> for ContactVector<'_> {
    type Out = [[f64; 3]; 6];

    #[inline(always)]
    fn run(self) -> Self::Out {
        let (case, row) = (self.0, self.1);
        let get = |key: &str| number(&case[key]);
        let normal = stiffness(get("E"), get("r_i"), get("r_j"));
        let k = ContactParameters {
            normal: L::splat(normal),
            tangential: L::splat(normal * get("kt_ratio")),
            friction: L::splat(get("mu")),
            damping: L::zero(),
        };
        let state = |i: &str, j: &str, sign: f64| ContactState::<L> {
            x: splat(vector(&row[&format!("p_{i}")]) - vector(&row[&format!("p_{j}")])),
            v: splat(vector(&row[&format!("v_{i}")]) - vector(&row[&format!("v_{j}")])),
            w_i: splat(vector(&row[&format!("w_{i}")])),
            w_j: splat(vector(&row[&format!("w_{j}")])),
            arm_i: L::splat(get(&format!("r_{i}"))),
            arm_j: L::splat(get(&format!("r_{j}"))),
            touch: L::splat(get("r_i") + get("r_j")),
            spring: splat(vector(&row["xi_before"]) * sign),
        };
        let dt = L::splat(get("dt"));
        let on_i = contact(state("i", "j", 1.0), dt, k);
        let on_j = contact(state("j", "i", -1.0), dt, k);
        [
            on_i.force,
            on_i.torque,
            on_i.spring,
            on_j.force,
            on_j.torque,
            on_j.spring,
        ]
        .map(components)
    }
}

fn check_contacts<L: Lanes>(precision: f64) {
    let mut touching = 0;
    for case in read("contact").as_array().unwrap() {
        for (n, row) in case["steps"].as_array().unwrap().iter().enumerate() {
            let [force_i, torque_i, spring, force_j, torque_j, spring_j] =
                L::run(ContactVector(case, row));
            for (a, b) in force_i
                .iter()
                .zip(&force_j)
                .chain(spring.iter().zip(&spring_j))
            {
                assert_eq!(*a, -b, "both sides see one contact");
            }
            touching += usize::from(force_i != [0.0; 3]);
            compare(
                n,
                precision,
                0.0,
                &[
                    ("force_i", force_i.to_vec(), numbers(&row["force_i"])),
                    ("force_j", force_j.to_vec(), numbers(&row["force_j"])),
                    ("torque_i", torque_i.to_vec(), numbers(&row["torque_i"])),
                    ("torque_j", torque_j.to_vec(), numbers(&row["torque_j"])),
                    ("xi_after", spring.to_vec(), numbers(&row["xi_after"])),
                ],
            );
        }
    }
    assert!(touching > 50, "the sequences touch");
}

#[test]
fn contact_law_in_double_precision() {
    check_contacts::<f64>(1e-10);
}

#[test]
fn contact_law_in_single_precision_lanes() {
    check_contacts::<f32>(1e-4);
    #[cfg(target_arch = "x86_64")]
    if F32x8::available() {
        check_contacts::<F32x8>(1e-4);
    }
}

/// Runs a reference trajectory with the real engine and compares the end and every break.
fn check_trajectory(name: &str) {
    let reference = read(name);
    let get = |key: &str| number(&reference[key]);
    let vectors = |key: &str| -> Vec<DVec3> {
        reference[key]
            .as_array()
            .unwrap()
            .iter()
            .map(vector)
            .collect()
    };
    let mut material = scenes::elastic(get("E"), get("G"), get("rho"));
    material.contact_young = Some(1e-30); // the reference knows no contact
    let mut packing = scenes::packing(
        &vectors("p0"),
        get("r"),
        &material,
        (get("sigma_c"), get("tau_c")),
    );
    scenes::set_motion(&mut packing.elements, &vectors("v0"), &vectors("w0"));
    let pipeline = scenes::pipeline(material);
    let bonds = reference["bonds"].as_array().unwrap();
    assert_eq!(packing.bonds.id.len(), bonds.len());
    let built = build::<f64>(&packing, &pipeline).unwrap();
    let mut engine = Cpu::<f64>::new(built, &packing, &pipeline, get("dt"));
    engine.advance(get("steps") as u64).unwrap();
    let breaks = engine.snapshot(0).unwrap().breaks;

    let system = engine.system();
    let check = |what: &str, found: &dyn Fn(usize) -> Vec<f64>| {
        for (i, expected) in reference[what].as_array().unwrap().iter().enumerate() {
            compare(i, 1e-8, 0.0, &[(what, found(i), numbers(expected))]);
        }
    };
    check("p", &|i| system.position(i).to_array().to_vec());
    check("v", &|i| system.velocity(i).to_array().to_vec());
    check("w", &|i| system.spin(i).to_array().to_vec());
    check("q", &|i| {
        let q = system.rotation(i).to_array();
        let expected = numbers(&reference["q"][i]);
        let sign = q
            .iter()
            .zip(&expected)
            .map(|(a, b)| a * b)
            .sum::<f64>()
            .signum();
        q.iter().map(|v| v * sign).collect()
    });

    let mut expected: Vec<(u64, u32, u32)> = reference["broken"]
        .as_array()
        .unwrap()
        .iter()
        .map(|b| {
            let bond = numbers(&b["bond"]);
            (number(&b["step"]) as u64, bond[0] as u32, bond[1] as u32)
        })
        .collect();
    expected.sort_unstable();
    let mut found: Vec<_> = (0..breaks.bond.len())
        .map(|k| (breaks.step[k], breaks.i[k], breaks.j[k]))
        .collect();
    found.sort_unstable();
    assert_eq!(found, expected, "the same bonds break at the same steps");
}

#[test]
fn elastic_trajectory() {
    check_trajectory("trajectory_elastic");
}

#[test]
fn fracture_trajectory() {
    check_trajectory("trajectory_fracture");
}
