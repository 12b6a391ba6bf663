//! The laws, compared with independently computed values (float64, automatic differentiation).

use cullet::laws::bdem::bond;
use cullet::laws::bond::{Stiffness, arm_torque};
use cullet::laws::contact::{ContactParameters, ContactState, contact, stiffness};
use cullet::laws::failure::{CriterionSection, stress};
use cullet::math::quat::rotation_between;
use cullet::math::{LaneWidth, Lanes, OnLanes, Pass, Quat, Real, Scalar, Vec3};
use cullet::simulate::methods::explicit::cpu::Cpu;
use cullet::simulate::{Method, build};
use glam::DVec3;
use serde_json::Value;

use crate::scenes;

/// A file of test vectors.
pub fn read(name: &str) -> Value {
    let path = format!("{}/tests/vectors/{name}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// A number.
pub fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

/// A list of numbers.
pub fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(number).collect()
}

fn vector(value: &Value) -> DVec3 {
    DVec3::from_slice(&numbers(value))
}

/// Lane 0 as f64.
pub fn lane<L: Lanes>(value: L) -> f64 {
    let mut room = [L::Scalar::default(); 16];
    value.store(&mut room);
    room[0].to_f64()
}

/// A name, the computed values and the expected ones.
pub type Comparison<'a> = (&'a str, Vec<f64>, Vec<f64>);

/// Largest error of the named values, each relative to its largest component, or to `floor` if that is
/// larger.
fn largest_error(floor: f64, pairs: &[Comparison]) -> f64 {
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

/// Asserts that the errors are within `precision`, as [`largest_error`] measures them.
pub fn compare(entry: usize, precision: f64, floor: f64, pairs: &[Comparison]) {
    let error = largest_error(floor, pairs);
    assert!(
        error <= precision,
        "entry {entry}: off by {error:.1e}: {pairs:?}"
    );
}

/// Three consecutive numbers.
pub fn vec3<T: Real>(a: &[T]) -> Vec3<T> {
    Vec3::new(a[0], a[1], a[2])
}

/// Four consecutive numbers.
pub fn quat<T: Real>(a: &[T]) -> Quat<T> {
    Quat::new(a[0], a[1], a[2], a[3])
}

/// Four consecutive numbers, as the stiffnesses of a bond.
pub fn bond_stiffness<T: Real>(a: &[T]) -> Stiffness<T> {
    Stiffness {
        normal: a[0],
        shear: a[1],
        twist: a[2],
        bend: a[3],
    }
}

/// Five consecutive numbers, as the section of a bond.
pub fn section<T: Real>(a: &[T]) -> CriterionSection<T> {
    CriterionSection {
        inverse_area: a[0],
        bend_modulus: a[1],
        twist_modulus: a[2],
        compression_counts: a[3],
        inverse_shear_area: a[4],
    }
}

/// Arguments of the bond law and the criteria: x, q_i, q_j, unapplied, d0, l0, k, section.
pub fn bond_arguments<L: Lanes>(row: &Value) -> Vec<L> {
    let s = &row["state"];
    let get = |key: &str| number(&s[key]);
    let r0 = 0.5 * (get("r_i") + get("r_j"));
    let (e, g, l0) = (get("E"), get("G"), get("l0"));
    let area = std::f64::consts::PI * r0 * r0;
    let second = area * r0 * r0 / 4.0;
    // As stored for elements: what rounding leaves out of a quaternion is stored next to it as a rotation
    // vector.
    let left_over = |key: &str| {
        let exact = numbers(&s[key]);
        let kept: Vec<f64> = exact.iter().map(|q| lane(L::splat(*q))).collect();
        rotation_between(quat(&kept), quat(&exact))
    };
    let unapplied = left_over("q_j") - left_over("q_i");
    let mut all = (vector(&s["p_i"]) - vector(&s["p_j"])).to_array().to_vec();
    all.extend(numbers(&s["q_i"]));
    all.extend(numbers(&s["q_j"]));
    all.extend([unapplied.x, unapplied.y, unapplied.z]);
    all.extend(numbers(&s["d0"]));
    all.push(l0);
    all.extend([
        e * area / l0,
        g * area,
        2.0 * g * second / l0,
        e * second / l0,
    ]);
    all.extend([1.0 / area, r0 / second, r0 / (2.0 * second), 1.0]);
    // The file's τ is that of criterion `tension`.
    all.push(1.0 / area);
    all.into_iter().map(L::splat).collect()
}

/// force_i, torque_i, torque_j, σ by lu2021, σ by tension, τ.
pub fn bond_results<T: Real>(a: &[T]) -> Vec<T> {
    let (k, l0) = (bond_stiffness(&a[18..]), a[17]);
    let load = bond(
        vec3(a),
        quat(&a[3..]),
        quat(&a[7..]),
        vec3(&a[11..]),
        vec3(&a[14..]),
        l0,
        k,
    );
    let section = section(&a[22..]);
    let (lu, tau) = stress(&load, &section);
    let relieving = CriterionSection {
        compression_counts: T::zero(),
        ..section
    };
    let (tension, _) = stress(&load, &relieving);
    let alike = arm_torque(vec3(a), load.force);
    let (torque_i, torque_j) = (alike + load.moment, alike - load.moment);
    let mut all = Vec::new();
    for v in [load.force, torque_i, torque_j] {
        all.extend([v.x, v.y, v.z]);
    }
    all.extend([lu, tension, tau]);
    all
}

struct BondVector<'a>(&'a Value);

impl<L: Lanes> Pass<L> for BondVector<'_> {
    type Out = Vec<f64>;

    #[inline(always)]
    fn run(self) -> Self::Out {
        let results = bond_results(&bond_arguments::<L>(self.0));
        results.into_iter().map(lane).collect()
    }
}

/// Expected results of an entry of the file.
pub fn bond_expected(row: &Value) -> Vec<f64> {
    let mut all = numbers(&row["force_i"]);
    for key in ["torque_i", "torque_j"] {
        all.extend(numbers(&row[key]));
    }
    all.extend(["sigma_lu2021", "sigma_tension", "tau"].map(|key| number(&row[key])));
    all
}

/// Checks the results of an entry; returns whether they are within `precision`, relative to each value's own
/// largest component.
///
/// Otherwise they must be within the stress of a strain of `strain`: the rounding of the inputs, which no
/// later arithmetic can undo.
pub fn check_bond(
    n: usize,
    row: &Value,
    (found, expected): (&[f64], &[f64]),
    (precision, strain): (f64, f64),
) -> bool {
    let get = |key: &str| number(&row["state"][key]);
    let stress = get("E") * strain / precision;
    let r0 = 0.5 * (get("r_i") + get("r_j"));
    let force_floor = stress * std::f64::consts::PI * r0 * r0;
    let part = |name, range: std::ops::Range<usize>| -> Comparison {
        (
            name,
            found[range.clone()].to_vec(),
            expected[range].to_vec(),
        )
    };
    let forces = [part("force_i", 0..3)];
    let torques = [part("torque_i", 3..6), part("torque_j", 6..9)];
    // A σ with cancellation is compared relative to its summands.
    let size = number(&row["sigma_lu2021"]);
    let stresses = [
        part("sigma_lu2021", 9..10),
        part("sigma_tension", 10..11),
        part("tau", 11..12),
    ];
    compare(n, precision, force_floor, &forces);
    compare(n, precision, force_floor * r0, &torques);
    compare(n, precision, stress.max(size), &stresses);
    largest_error(0.0, &forces)
        .max(largest_error(0.0, &torques))
        .max(largest_error(size, &stresses))
        <= precision
}

/// Checks every entry; returns the number of those within `precision` without an allowance for the rounding
/// of the inputs.
fn check_bonds<L: Lanes>(precision: f64, strain: f64) -> usize {
    let mut plain = 0;
    for (n, row) in read("bdem_bond").as_array().unwrap().iter().enumerate() {
        let found = L::run(BondVector(row));
        let expected = bond_expected(row);
        plain += usize::from(check_bond(n, row, (&found, &expected), (precision, strain)));
        let other: Vec<f64> = numbers(&row["force_j"]).iter().map(|f| -f).collect();
        assert_eq!(other, expected[..3], "both sides of entry {n}");
    }
    plain
}

#[test]
fn bond_law_in_double_precision() {
    assert_eq!(check_bonds::<f64>(1e-10, 0.0), 64);
}

/// [`check_bonds`] in single precision.
struct CheckBonds {
    strain: f64,
}

impl OnLanes for CheckBonds {
    type Out = usize;
    fn on<L: Lanes<Scalar = f32>>(self) -> usize {
        check_bonds::<L>(1e-4, self.strain)
    }
}

#[test]
fn bond_law_in_single_precision_lanes() {
    // Three roundings of half a unit in the last place. The strains of the entries go down to 5e-5, where
    // that alone is an error of 4e-3.
    let strain = 1.5 * f64::from(f32::EPSILON);
    let plain = check_bonds::<f32>(1e-4, strain);
    println!("{plain} of 64 entries within 1e-4, the others within the rounding of their inputs");
    assert!(plain >= 38, "{plain}");
    for width in LaneWidth::ALL {
        let found = width.run(CheckBonds { strain });
        assert!(found.is_none_or(|found| found == plain), "{width:?}");
    }
}

/// Four consecutive numbers, as the parameters of a contact.
pub fn contact_parameters<T: Real>(a: &[T]) -> ContactParameters<T> {
    ContactParameters {
        normal: a[0],
        tangential: a[1],
        friction: a[2],
        damping: a[3],
    }
}

/// Arguments of the contact law for one side of a step: x, v, ω_i, ω_j, arms, touch, ξ, Δt, k.
pub fn contact_arguments<T: Real>(
    case: &Value,
    row: &Value,
    (i, j, sign): (&str, &str, f64),
) -> Vec<T> {
    let get = |key: &str| number(&case[key]);
    let at = |key: &str, of: &str| vector(&row[&format!("{key}_{of}")]);
    let normal = stiffness(get("E"), get("r_i"), get("r_j"));
    let mut all = Vec::new();
    for v in [
        at("p", i) - at("p", j),
        at("v", i) - at("v", j),
        at("w", i),
        at("w", j),
    ] {
        all.extend(v.to_array());
    }
    all.extend([get(&format!("r_{i}")), get(&format!("r_{j}"))]);
    all.push(get("r_i") + get("r_j"));
    all.extend((vector(&row["xi_before"]) * sign).to_array());
    all.push(get("dt"));
    all.extend([normal, normal * get("kt_ratio"), get("mu"), 0.0]);
    all.into_iter().map(T::splat).collect()
}

/// Both sides of a contact, in the order in which they are evaluated.
pub const SIDES: [(&str, &str, f64); 2] = [("i", "j", 1.0), ("j", "i", -1.0)];

/// Force and torque on this side, its tangential spring after the step, overlap.
pub fn contact_results<T: Real>(a: &[T]) -> Vec<T> {
    let state = ContactState {
        x: vec3(a),
        v: vec3(&a[3..]),
        w_i: vec3(&a[6..]),
        w_j: vec3(&a[9..]),
        arm_i: a[12],
        arm_j: a[13],
        touch: a[14],
        spring: vec3(&a[15..]),
    };
    let load = contact(state, a[18], contact_parameters(&a[19..]));
    let mut all = Vec::new();
    for v in [load.force, load.torque, load.spring] {
        all.extend([v.x, v.y, v.z]);
    }
    all.push(load.overlap);
    all
}

struct ContactVector<'a>(&'a Value, &'a Value, (&'a str, &'a str, f64));

impl<L: Lanes> Pass<L> for ContactVector<'_> {
    type Out = Vec<f64>;

    #[inline(always)]
    fn run(self) -> Self::Out {
        let results = contact_results(&contact_arguments::<L>(self.0, self.1, self.2));
        results.into_iter().map(lane).collect()
    }
}

/// Force and torque on one side and its tangential spring after the step, as given by the file.
pub fn contact_expected(row: &Value, (i, _, sign): (&str, &str, f64)) -> Vec<f64> {
    let mut all = numbers(&row[&format!("force_{i}")]);
    all.extend(numbers(&row[&format!("torque_{i}")]));
    all.extend(numbers(&row["xi_after"]).iter().map(|x| x * sign));
    all
}

/// Checks force, torque and spring of one side of a step, each against its own largest component.
pub fn check_contact(n: usize, (found, expected): (&[f64], &[f64]), precision: f64) {
    let part = |name, at: usize| -> Comparison {
        (
            name,
            found[at..at + 3].to_vec(),
            expected[at..at + 3].to_vec(),
        )
    };
    let parts = [part("force", 0), part("torque", 3), part("xi_after", 6)];
    compare(n, precision, 0.0, &parts);
}

/// All steps of all contact sequences.
pub fn contact_steps(file: &Value) -> impl Iterator<Item = (&Value, &Value)> {
    let cases = file.as_array().unwrap().iter();
    cases.flat_map(|case| {
        case["steps"]
            .as_array()
            .unwrap()
            .iter()
            .map(move |row| (case, row))
    })
}

fn check_contacts<L: Lanes>(precision: f64) {
    let mut touching = 0;
    for (n, (case, row)) in contact_steps(&read("contact")).enumerate() {
        let sides = SIDES.map(|side| L::run(ContactVector(case, row, side)));
        for (found, side) in sides.iter().zip(SIDES) {
            check_contact(n, (found, &contact_expected(row, side)), precision);
        }
        for k in [0, 1, 2, 6, 7, 8] {
            assert_eq!(sides[0][k], -sides[1][k], "both sides see one contact");
        }
        touching += usize::from(sides[0][..3] != [0.0; 3]);
    }
    assert!(touching > 50, "the sequences touch");
}

#[test]
fn contact_law_in_double_precision() {
    check_contacts::<f64>(1e-10);
}

/// [`check_contacts`] in single precision.
struct CheckContacts;

impl OnLanes for CheckContacts {
    type Out = ();
    fn on<L: Lanes<Scalar = f32>>(self) {
        check_contacts::<L>(1e-4);
    }
}

#[test]
fn contact_law_in_single_precision_lanes() {
    for width in LaneWidth::ALL {
        if width.run(CheckContacts).is_none() {
            println!("skipped: this machine has no instructions for {width:?} lanes");
        }
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
    material.contact_young = Some(1e-30); // the reference has no contacts
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
    let mut engine = Cpu::<f64>::new(built, &pipeline, get("dt"));
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
