//! The generated WGSL on a device, compared with the Rust text that it was generated from.

mod bound;
mod draw;
mod laws;
mod principal;
mod probe;

use bound::Bound;
use draw::{RandomStream, half_turn};
use glam::DVec3;
use laws::{LAWS, Law, rotation_between};
use probe::{device, run};

use crate::vectors::{
    SIDES, bond_arguments, bond_expected, bond_results, check_bond, check_contact,
    contact_arguments, contact_expected, contact_results, contact_steps, read, vec3,
};
use crate::vectors_materials::{check_softened, entries, softened_arguments, softened_expected};

/// Number of random rows for each law.
const ROWS: usize = 100_000;
/// Allowed difference between device and Rust, both in single precision, relative to a value's largest
/// component.
const SINGLE_TOLERANCE: f64 = 2e-6;
/// Allowed difference between device and double precision, likewise.
const DOUBLE_TOLERANCE: f64 = 1e-4;

/// Largest of the differences; NaN counts as infinite.
fn largest(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, |m, x| {
        if x.is_nan() {
            f64::INFINITY
        } else {
            m.max(x.abs())
        }
    })
}

/// Statistics of results compared with those of the same law in Rust.
#[derive(Default)]
struct Comparison {
    /// Number of values.
    count: usize,
    /// Number of values with the same bits.
    equal: usize,
    /// Number of values within the tolerance relative to their own largest component.
    plain: usize,
    /// Largest relative deviation, among values that rounding can change by at most 1e-5.
    departure: f64,
    /// Largest deviation over the allowed one.
    part: f64,
}

impl Comparison {
    /// Adds a value; returns whether it is within the tolerance relative to its largest component, or within
    /// the bound where rounding errors are larger.
    fn add(&mut self, found: &[f32], expected: &[f64], error: f64, tolerance: f64) -> bool {
        let found = found.iter().map(|x| f64::from(*x));
        let size = largest(expected.iter().copied());
        let off = largest(found.clone().zip(expected).map(|(x, y)| x - y));
        self.count += 1;
        self.equal += usize::from(found.zip(expected).all(|(x, y)| x == *y));
        self.plain += usize::from(off <= tolerance * size);
        if error <= 1e-5 * size && size > 0.0 {
            self.departure = self.departure.max(off / size);
        }
        let allowed = error.max(tolerance * size);
        if off > 0.0 {
            self.part = self.part.max(off / allowed);
        }
        off <= allowed
    }
}

/// Evaluates a law on the device for random rows.
fn check(law: &Law) {
    let Some(device) = device() else { return };
    let mut draw = RandomStream(7 + law.name.len() as u64);
    let rows: Vec<Vec<f32>> = (0..ROWS)
        .map(|_| {
            (law.draw)(&mut draw)
                .into_iter()
                .map(|x| x as f32)
                .collect()
        })
        .collect();
    let found = run(device, law.name, &rows, law.outputs());
    let (mut same, mut exact) = (Comparison::default(), Comparison::default());
    for (n, (row, found)) in rows.iter().zip(&found).enumerate() {
        let wide: Vec<f64> = row.iter().map(|x| f64::from(*x)).collect();
        let single: Vec<f64> = (law.single)(row).into_iter().map(f64::from).collect();
        let double = (law.double)(&wide);
        let bounds = (law.bound)(&row.iter().map(|x| Bound::exact(*x)).collect::<Vec<_>>());
        let mut at = 0;
        for size in law.values {
            let part = at..at + size;
            let error = largest(bounds[part.clone()].iter().map(|b| b.error));
            let value = &found[part.clone()];
            let holds = same.add(value, &single[part.clone()], error, SINGLE_TOLERANCE)
                & exact.add(value, &double[part.clone()], error, DOUBLE_TOLERANCE);
            assert!(
                holds && error.is_finite(),
                "{} row {n}, value at {at}: device {value:?}, Rust {:?}, exact {:?}, bound {error:.1e}, from {row:?}",
                law.name,
                &single[part.clone()],
                &double[part],
            );
            at += size;
        }
    }
    let percent = |part: usize, all: usize| 100.0 * part as f64 / all as f64;
    println!(
        "{:>20}: {:.2} % same bits; {:.3} % within {SINGLE_TOLERANCE:e} of f32, at most {:.1e} and {:.2} of what is allowed; \
         {:.3} % within {DOUBLE_TOLERANCE:e} of f64, {:.2} of what is allowed",
        law.name,
        percent(same.equal, same.count),
        percent(same.plain, same.count),
        same.departure,
        same.part,
        percent(exact.plain, exact.count),
        exact.part,
    );
}

/// A row of the table of bond laws without a probe would be tested on no device, one without vectors only
/// against itself.
#[test]
fn every_bond_law_has_a_probe_and_vectors() {
    let probes = include_str!("gpu_laws/probes.wgsl");
    for (_, name) in cullet::spec::Law::NAMES {
        assert!(
            LAWS.iter().any(|law| law.name == *name),
            "{name} has no row in tests/gpu_laws/laws.rs"
        );
        let vectors = format!("\"{name}_bond\"");
        let readers = [include_str!("vectors.rs"), include_str!("energy_bonds.rs")];
        assert!(
            readers.iter().any(|text| text.contains(&vectors)),
            "tests/vectors/{name}_bond.json is read by no test"
        );
    }
    for law in LAWS {
        let entry = format!("fn {}(@builtin", law.name);
        assert!(
            probes.contains(&entry),
            "tests/gpu_laws/probes.wgsl lacks `{}`",
            law.name
        );
    }
}

#[test]
fn laws_on_a_device_are_those_in_rust() {
    for law in LAWS {
        check(law);
    }
}

/// The two words of a pair represent the sum, even if a compiler simplifies `sum - high`.
#[test]
fn a_pair_keeps_what_its_high_word_cannot() {
    let Some(device) = device() else { return };
    let mut draw = RandomStream(3);
    let rows: Vec<Vec<f32>> = (0..ROWS)
        .map(|_| draw.pair().into_iter().map(|x| x as f32).collect())
        .collect();
    let mut worst = 0.0f64;
    let mut kept = 0;
    for (row, found) in rows.iter().zip(run(device, "add_to_pair", &rows, 2)) {
        let [high, low, small] = row[..] else {
            unreachable!("a pair and a step")
        };
        // The addition of low words is rounded; all else is exact.
        let expected = f64::from(high) + f64::from(low + small);
        let sum = f64::from(found[0]) + f64::from(found[1]);
        let size = f64::from(high.abs().max(small.abs()));
        worst = worst.max((sum - expected).abs() / size);
        kept += usize::from(found[1] != 0.0);
        assert_eq!(found[0], high + (low + small), "{row:?}");
    }
    println!(
        "sums of pairs are off by {:.1} 2^-46",
        worst * 2f64.powi(46)
    );
    assert!(worst <= 2f64.powi(-46), "{worst:.1e}");
    assert!(kept > ROWS / 2, "the low words are used: {kept}");
}

/// The rotation that the quaternion took and the remainder together are the whole rotation, to the precision
/// of the rotation itself.
#[test]
fn a_turn_keeps_what_its_quaternion_cannot() {
    let Some(device) = device() else { return };
    let mut draw = RandomStream(4);
    let rows: Vec<Vec<f32>> = (0..ROWS)
        .map(|_| draw.turn().into_iter().map(|x| x as f32).collect())
        .collect();
    let mut worst = 0.0f64;
    for (row, found) in rows.iter().zip(run(device, "turn", &rows, 7)) {
        let row: Vec<f64> = row.iter().map(|x| f64::from(*x)).collect();
        let found: Vec<f64> = found.iter().map(|x| f64::from(*x)).collect();
        let phi = vec3(&row[7..]) + vec3(&row[4..]);
        let taken = vec3(&rotation_between(&[&row[..4], &found[..4]].concat()));
        let missing = (phi - taken - vec3(&found[4..])).norm();
        // No rotation smaller than the last place of a quaternion is applied or left over.
        worst = worst.max(missing / phi.norm().max(f64::from(f32::EPSILON)));
    }
    println!("turns are off by {worst:.1e}");
    assert!(worst < SINGLE_TOLERANCE, "{worst:.1e}");
}

/// For rotations exactly half a turn apart, either direction of rotation is right.
#[test]
fn half_turns_are_half_turns_about_their_axis() {
    let Some(device) = device() else { return };
    let mut draw = RandomStream(5);
    let (axes, rows): (Vec<_>, Vec<Vec<f32>>) = (0..ROWS)
        .map(|_| {
            let (axis, q_i, q_j) = half_turn(&mut draw);
            let row = [q_i.to_array(), q_j.to_array()].concat();
            (axis, row.into_iter().map(|x| x as f32).collect())
        })
        .unzip();
    let mut worst = 0.0f64;
    for (axis, found) in axes.iter().zip(run(device, "rotation_between", &rows, 3)) {
        let theta = DVec3::new(found[0].into(), found[1].into(), found[2].into());
        let off = |sign: f64| (theta / std::f64::consts::PI - *axis * sign).length();
        worst = worst.max(off(1.0).min(off(-1.0)));
    }
    println!("half turns are off by {worst:.1e}");
    assert!(worst < SINGLE_TOLERANCE, "{worst:.1e}");
}

/// Each end of a bond or contact may evaluate it separately.
#[test]
fn exchanging_the_ends_flips_the_forces() {
    let Some(device) = device() else { return };
    let minus = |values: &[f32]| values.iter().map(|x| -x).collect::<Vec<_>>();
    let mut draw = RandomStream(6);
    let mut check = |name,
                     draw_row: fn(&mut RandomStream) -> Vec<f64>,
                     outputs,
                     exchange: &dyn Fn(&[f32]) -> Vec<f32>| {
        let rows: Vec<Vec<f32>> = (0..ROWS)
            .map(|_| draw_row(&mut draw).into_iter().map(|x| x as f32).collect())
            .collect();
        let other: Vec<Vec<f32>> = rows.iter().map(|row| exchange(row)).collect();
        let on_i = run(device, name, &rows, outputs);
        let on_j = run(device, name, &other, outputs);
        let flipped = on_i
            .iter()
            .zip(&on_j)
            .filter(|(i, j)| i[..3] == minus(&j[..3]))
            .count();
        println!("{name}: {flipped} of {ROWS} forces on the other end are exactly opposite");
        assert_eq!(flipped, ROWS, "{name}");
    };
    check("bdem", RandomStream::bond, 12, &|row| {
        [
            &minus(&row[..3]),
            &row[7..11],
            &row[3..7],
            &minus(&row[11..17]),
            &row[17..],
        ]
        .concat()
    });
    check("contact", RandomStream::contact, 10, &|row| {
        [
            &minus(&row[..6]),
            &row[9..12],
            &row[6..9],
            &[row[13], row[12], row[14]],
            &minus(&row[15..18]),
            &row[18..],
        ]
        .concat()
    });
    check("damping", RandomStream::damping, 9, &|row| {
        [&minus(&row[..6]), &row[9..12], &row[6..9], &row[12..]].concat()
    });
}

/// The bond vectors: 2e-6 against the f32 law and 1e-4 against the file, for entries at small strain within
/// the rounding of their inputs.
#[test]
fn bond_vectors_on_a_device() {
    let Some(device) = device() else { return };
    let file = read("bdem_bond");
    let entries = file.as_array().unwrap();
    let rows: Vec<Vec<f32>> = entries.iter().map(bond_arguments::<f32>).collect();
    let found = run(device, "bdem", &rows, 12);
    // As for the CPU lanes: three roundings of half a unit in the last place.
    let strain = 1.5 * f64::from(f32::EPSILON);
    let (mut same, mut exact) = (0, 0);
    for (n, (entry, found)) in entries.iter().zip(&found).enumerate() {
        let found: Vec<f64> = found.iter().map(|x| f64::from(*x)).collect();
        let single: Vec<f64> = bond_results(&rows[n]).into_iter().map(f64::from).collect();
        same += usize::from(check_bond(
            n,
            entry,
            (&found, &single),
            (SINGLE_TOLERANCE, strain),
        ));
        let expected = bond_expected(entry);
        exact += usize::from(check_bond(
            n,
            entry,
            (&found, &expected),
            (DOUBLE_TOLERANCE, strain),
        ));
    }
    println!(
        "{same} of 64 within {SINGLE_TOLERANCE:e} of f32, {exact} within {DOUBLE_TOLERANCE:e} of f64, the others within the rounding of their inputs"
    );
    assert!(exact >= 38, "{exact}");
}

/// The vectors of softened bonds: 1e-4 against the file.
#[test]
fn softening_vectors_on_a_device() {
    let Some(device) = device() else { return };
    let entries = entries(&read("softening"), "bonds");
    let rows: Vec<Vec<f32>> = entries.iter().map(softened_arguments::<f32>).collect();
    for (n, (entry, found)) in entries
        .iter()
        .zip(run(device, "softened", &rows, 4))
        .enumerate()
    {
        let found: Vec<f64> = found.iter().map(|x| f64::from(*x)).collect();
        check_softened(n, (&found, &softened_expected(entry)), DOUBLE_TOLERANCE);
    }
}

/// Error of a device's square root that WGSL allows, relative: that of the quotient 1/(1/√x), 2 units in the last
/// place for 1/√x and 2.5 for the quotient.
const ROOT_ERROR: f64 = 4.5 * f32::EPSILON as f64;

/// The contact sequences, both sides: 2e-6 against the f32 law and 1e-4 against the file, without a floor. An
/// error of the distance counts as one of the overlap, which is far smaller.
#[test]
fn contact_vectors_on_a_device() {
    let Some(device) = device() else { return };
    let file = read("contact");
    for side in SIDES {
        let rows: Vec<Vec<f32>> = contact_steps(&file)
            .map(|(case, row)| contact_arguments(case, row, side))
            .collect();
        let found = run(device, "contact", &rows, 10);
        for (n, (_, row)) in contact_steps(&file).enumerate() {
            let found: Vec<f64> = found[n].iter().map(|x| f64::from(*x)).collect();
            let single: Vec<f64> = contact_results(&rows[n])
                .into_iter()
                .map(f64::from)
                .collect();
            let (touch, overlap) = (f64::from(rows[n][14]), single[9]);
            let root = ROOT_ERROR * touch / overlap.max(1e-3 * touch);
            check_contact(n, (&found, &single), SINGLE_TOLERANCE + root);
            check_contact(n, (&found, &contact_expected(row, side)), DOUBLE_TOLERANCE);
        }
    }
}
