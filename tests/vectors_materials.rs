//! The laws of a material, compared with independently computed values: softening, Rankine's criterion, restitution,
//! scatter of strengths and static friction. `vectors/make_material_laws.py` computes them.

use cullet::laws::bond::BondLoad;
use cullet::laws::contact::{ContactParameters, ContactState};
use cullet::laws::rankine::SymmetricTensor;
use cullet::laws::softening::{self, Left};
use cullet::laws::tangent::Tangent;
use cullet::laws::{rankine, restitution, static_friction, weibull};
use cullet::math::{LaneWidth, Lanes, Mat3, OnLanes, Pass, Real, Vec3};
use serde_json::Value;

use crate::vectors::{compare, lane, number, numbers, read, vec3};

/// All entries of a list, of both seeds.
pub fn entries(file: &Value, list: &str) -> Vec<Value> {
    let seeds = file.as_array().unwrap();
    assert_eq!(seeds.len(), 2);
    let all = seeds.iter().flat_map(|seed| seed[list].as_array().unwrap());
    all.cloned().collect()
}

/// Arguments of [`softened_bond`]: x, rest length, k_n, stiffness that is left.
pub fn softened_arguments<T: Real>(entry: &Value) -> Vec<T> {
    let get = |key: &str| number(&entry[key]);
    let mut all = numbers(&entry["x"]);
    all.extend(["rest_length", "normal", "left"].map(get));
    all.into_iter().map(T::splat).collect()
}

/// Force and energy of a softened bond that is only stretched.
pub fn softened_bond<T: Real>(a: &[T]) -> Vec<T> {
    let (x, rest, normal, left) = (vec3(a), a[3], a[4], a[5]);
    let none = Vec3::zero();
    let change = x.norm() - rest;
    let whole = BondLoad {
        force: x * (-(normal * change) / x.norm()),
        moment: none,
        axial: normal * change,
        shear: none,
        twist: none,
        bend: none,
    };
    let force = softening::softened(whole, x, rest, normal, left).force;
    let whole = T::splat(0.5) * normal * change * change;
    let energy = softening::energy(whole, x, rest, normal, left);
    vec![force.x, force.y, force.z, energy]
}

/// Force and energy as given by the file.
pub fn softened_expected(entry: &Value) -> Vec<f64> {
    let mut all = numbers(&entry["force"]);
    all.push(number(&entry["energy"]));
    all
}

/// Compares force and energy with those of the file, each relative to its own size.
pub fn check_softened(n: usize, (found, expected): (&[f64], &[f64]), precision: f64) {
    let part = |name, range: std::ops::Range<usize>| {
        (
            name,
            found[range.clone()].to_vec(),
            expected[range].to_vec(),
        )
    };
    compare(n, precision, 0.0, &[part("force", 0..3)]);
    compare(n, 2.0 * precision, 0.0, &[part("energy", 3..4)]);
}

/// What is left of the stiffness and the strength after each use of strength of a path.
fn damage<L: Lanes>(path: &Value) -> Vec<f64> {
    let one = L::splat(1.0);
    let end = L::splat(number(&path["end"]));
    let (mut left, mut most) = (
        Left {
            stiffness: one,
            strength: one,
        },
        1.0,
    );
    let mut all = Vec::new();
    for use_of_whole in numbers(&path["uses"]) {
        if use_of_whole > most {
            // Stress of the damaged bond over the strength that is left.
            let used = left.stiffness * L::splat(use_of_whole) / left.strength;
            left = softening::left_at(softening::reached(left, used), end);
            most = use_of_whole;
        }
        all.extend([lane(left.stiffness), lane(left.strength)]);
    }
    all
}

struct Softened<'a>(&'a Value);

impl<L: Lanes> Pass<L> for Softened<'_> {
    type Out = Vec<f64>;

    #[inline(always)]
    fn run(self) -> Self::Out {
        let results = softened_bond(&softened_arguments::<L>(self.0));
        results.into_iter().map(lane).collect()
    }
}

struct Damage<'a>(&'a Value);

impl<L: Lanes> Pass<L> for Damage<'_> {
    type Out = Vec<f64>;

    #[inline(always)]
    fn run(self) -> Self::Out {
        damage::<L>(self.0)
    }
}

fn check_softening<L: Lanes>((bonds, paths): (f64, f64)) {
    let file = read("softening");
    for (n, bond) in entries(&file, "bonds").iter().enumerate() {
        let found = L::run(Softened(bond));
        check_softened(n, (&found, &softened_expected(bond)), bonds);
    }
    for (n, path) in entries(&file, "paths").iter().enumerate() {
        let rows = path["left"].as_array().unwrap();
        let expected: Vec<f64> = rows.iter().flat_map(numbers).collect();
        let found = L::run(Damage(path));
        compare(n, paths, 0.0, &[("left", found, expected)]);
    }
}

#[test]
fn softening_in_double_precision() {
    check_softening::<f64>((1e-7, 1e-12));
}

struct CheckSoftening;

impl OnLanes for CheckSoftening {
    type Out = ();
    fn on<L: Lanes<Scalar = f32>>(self) {
        check_softening::<L>((1e-4, 1e-5));
    }
}

#[test]
fn softening_in_single_precision_lanes() {
    for width in LaneWidth::ALL {
        if width.run(CheckSoftening).is_none() {
            println!("skipped: this machine has no instructions for {width:?} lanes");
        }
    }
}

#[test]
fn a_softened_bond_takes_the_energy_of_its_crack_and_breaks_at_its_end() {
    let file = read("softening");
    for seed in file.as_array().unwrap() {
        let [toughness, young, poisson] =
            ["toughness", "young", "poisson"].map(|key| number(&seed[key]));
        let energy = softening::fracture_energy(toughness, young, poisson);
        assert!((energy / number(&seed["fracture_energy"]) - 1.0).abs() < 1e-12);
    }
    for path in entries(&file, "paths") {
        let (end, ratio) = (number(&path["end"]), number(&path["energy_ratio"]));
        assert!(
            (softening::end(ratio * 3.0, 1.0, 3.0) / end - 1.0).abs() < 1e-9,
            "{end} {ratio}"
        );
        let whole = Left {
            stiffness: 1.0,
            strength: 1.0,
        };
        assert!(softening::damaged(whole, end, end).is_none());
        assert!(softening::damaged(whole, 0.999 * end, end).is_some());
    }
}

/// The second derivatives that Newton's method of the implicit steps uses.
#[test]
fn second_derivatives_of_a_softened_bond() {
    for (n, entry) in entries(&read("softening"), "bonds").iter().enumerate() {
        let a = softened_arguments::<f64>(entry);
        let (x, rest, normal, left) = (vec3(&a), a[3], a[4], a[5]);
        let (length, along) = (x.norm(), Mat3::outer(x, x) * (1.0 / x.dot(x)));
        let mut whole = Tangent::zero();
        let across = (Mat3::diagonal(1.0) - along) * ((length - rest) / length);
        whole.ww = (along + across) * normal;
        let found = softening::tangent(whole, x, (rest, normal), left, true).ww;
        let found = found.rows.iter().flat_map(|row| row.to_f64()).collect();
        let expected = entry["hessian"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(numbers)
            .collect();
        compare(n, 1e-6, 0.0, &[("hessian", found, expected)]);
    }
}

#[test]
fn stresses_of_elements_and_their_largest_principal_value() {
    for (n, entry) in entries(&read("rankine"), "elements").iter().enumerate() {
        let volume = number(&entry["volume"]);
        let vectors = |key: &str| -> Vec<Vec3<f64>> {
            entry[key]
                .as_array()
                .unwrap()
                .iter()
                .map(|v| vec3(&numbers(v)))
                .collect()
        };
        let (arms, forces) = (vectors("arms"), vectors("forces"));
        let (mut sum, mut bound) = (SymmetricTensor::from_array([0.0; 6]), 0.0);
        for (arm, force) in arms.iter().zip(&forces) {
            let more = rankine::virial(*arm, *force);
            let more = more.to_array().map(|part| part / volume);
            sum = rankine::sum(sum, SymmetricTensor::from_array(more));
            bound += rankine::bound_of_bond(*arm, *force) / volume;
        }
        let rows: Vec<f64> = entry["stress"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(numbers)
            .collect();
        let expected = [0, 4, 8, 5, 2, 1].map(|at| rows[at]).to_vec();
        compare(
            n,
            1e-12,
            0.0,
            &[("stress", sum.to_array().to_vec(), expected)],
        );
        let (largest, direction) = rankine::largest_principal(sum);
        let known = number(&entry["largest"]);
        let size = rows.iter().fold(0.0, |most: f64, s| most.max(s.abs()));
        assert!(
            (largest - known).abs() < 1e-10 * size,
            "{n}: {largest} {known}"
        );
        let pulled = [0, 3, 6].map(|at| vec3(&rows[at..at + 3]).dot(direction));
        assert!(
            (Vec3::from_f64(pulled) - direction * known).norm() < 1e-9 * size,
            "{n}"
        );
        assert!(rankine::bound(sum) >= known && bound >= known, "{n}");
        assert_eq!(rankine::sigma(sum, direction), largest.max(0.0), "{n}");
    }
}

#[test]
fn contacts_rebound_as_their_damping_says() {
    for entry in entries(&read("restitution"), "contacts") {
        let [ratio, known] = ["damping_ratio", "restitution"].map(|key| number(&entry[key]));
        let found = restitution::restitution(ratio);
        assert!((found - known).abs() < 1e-9, "{ratio}: {found} {known}");
        let back = restitution::damping_ratio(known);
        assert!((back / ratio - 1.0).abs() < 1e-6, "{ratio}: {back}");
    }
}

#[test]
fn strengths_scatter_about_their_mean() {
    for entry in entries(&read("scatter"), "moduli") {
        let modulus = number(&entry["modulus"]);
        for (u, known) in numbers(&entry["u"])
            .into_iter()
            .zip(numbers(&entry["factor"]))
        {
            let found = weibull::factor(u, modulus);
            assert!(
                (found / known - 1.0).abs() < 1e-12,
                "{modulus} {u}: {found} {known}"
            );
        }
        let count = 20_000;
        let draws = (0..count).map(|id| weibull::factor(weibull::uniform(7, id), modulus));
        let (mut mean, mut square) = (0.0, 0.0);
        for factor in draws {
            mean += factor / f64::from(count);
            square += factor * factor / f64::from(count);
        }
        let (deviation, known) = ((square - mean * mean).sqrt(), number(&entry["deviation"]));
        // Three standard errors of the mean; a few per cent for the deviation.
        let error = 3.0 * known / f64::from(count).sqrt();
        assert!((mean - 1.0).abs() < error, "{modulus}: {mean}");
        assert!(
            (deviation / known - 1.0).abs() < 0.03,
            "{modulus}: {deviation} {known}"
        );
    }
}

/// Force of a contact with static friction, and whether it slides, after each step of a path.
fn friction<L: Lanes>(path: &Value) -> Vec<f64> {
    let get = |key: &str| L::splat(number(&path[key]));
    let k = ContactParameters {
        normal: get("normal"),
        tangential: get("tangential"),
        friction: get("friction"),
        damping: L::zero(),
    };
    let (mut spring, mut slides) = (Vec3::zero(), L::mask(0));
    let mut all = Vec::new();
    for step in path["steps"].as_array().unwrap() {
        let of = |key: &str| {
            let v: Vec<L> = numbers(&step[key]).into_iter().map(L::splat).collect();
            vec3(&v)
        };
        let arm = get("touch") * L::splat(0.5);
        let state = ContactState {
            x: of("x"),
            v: of("v"),
            w_i: Vec3::zero(),
            w_j: Vec3::zero(),
            arm_i: arm,
            arm_j: arm,
            touch: get("touch"),
            spring,
        };
        let (load, now) =
            static_friction::pair(state, get("dt"), k, get("static_friction"), slides);
        (spring, slides) = (load.spring, now);
        all.extend([load.force.x, load.force.y, load.force.z].map(lane));
        all.push(f64::from(L::bits(now) & 1));
    }
    all
}

struct Friction<'a>(&'a Value);

impl<L: Lanes> Pass<L> for Friction<'_> {
    type Out = Vec<f64>;

    #[inline(always)]
    fn run(self) -> Self::Out {
        friction::<L>(self.0)
    }
}

/// Compares the steps of all paths.
fn check_friction<L: Lanes>(precision: f64) {
    for (n, path) in entries(&read("static_friction"), "contacts")
        .iter()
        .enumerate()
    {
        let found = L::run(Friction(path));
        let steps = path["steps"].as_array().unwrap();
        let (mut stuck, mut slid) = (0, 0);
        for (at, (step, found)) in steps.iter().zip(found.chunks(4)).enumerate() {
            let slides = step["slides"].as_bool().unwrap();
            assert_eq!(found[3] == 1.0, slides, "{n}, step {at}");
            compare(
                n,
                precision,
                0.0,
                &[("force", found[..3].to_vec(), numbers(&step["force"]))],
            );
            *(if slides { &mut slid } else { &mut stuck }) += 1;
        }
        assert!(stuck > 5 && slid > 5, "{n}: {stuck} {slid}");
    }
}

#[test]
fn static_friction_in_double_precision() {
    check_friction::<f64>(1e-11);
}

struct CheckFriction;

impl OnLanes for CheckFriction {
    type Out = ();
    fn on<L: Lanes<Scalar = f32>>(self) {
        check_friction::<L>(2e-4);
    }
}

#[test]
fn static_friction_in_single_precision_lanes() {
    for width in LaneWidth::ALL {
        if width.run(CheckFriction).is_none() {
            println!("skipped: this machine has no instructions for {width:?} lanes");
        }
    }
}
