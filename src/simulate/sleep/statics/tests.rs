use std::collections::HashMap;
use std::f64::consts::PI;

use glam::{DMat3, DQuat, DVec3, IVec3};

use super::*;
use crate::laws::failure::CriterionSection;
use crate::math::lanes::LaneRow;
use crate::simulate::bonded::bond_rows::BondRow;
use crate::simulate::bonded::bonds::{BLOCK, Bonds};
use crate::simulate::bonded::rigid_mask::RigidMask;
use crate::simulate::bonded::system::BondClass;

/// Radius of all elements, m.
const R: f64 = 1e-3;
const YOUNG: f64 = 1e9;
const SHEAR: f64 = 4e8;
const AREA: f64 = PI * R * R;
const ES: f64 = YOUNG * AREA;
const EI: f64 = YOUNG * AREA * R * R / 4.0;
const GJ: f64 = SHEAR * AREA * R * R / 2.0;
const MASS: f64 = 4.0 / 3.0 * PI * R * R * R * 2600.0;

type Loads = Vec<(DVec3, DVec3)>;

/// A system, the pairs of its bonds, and positions.
struct Body {
    system: System<f64>,
    pairs: Vec<[u32; 2]>,
    places: Vec<DVec3>,
}

impl Body {
    /// Touching elements of radius R at `places` are bonded.
    fn new(places: Vec<DVec3>) -> Self {
        let pairs = touching(&places);
        let mut rows = Vec::with_capacity(pairs.len());
        for (k, &ends) in pairs.iter().enumerate() {
            let [i, j] = ends.map(|end| places[end as usize]);
            rows.push(BondRow {
                ends,
                direction: (j - i).normalize().to_array(),
                length: 2.0 * R,
                class: 0,
                sigma_c: 1e6,
                tau_c: 1e6,
                id: k as u32,
            });
        }
        let mut system = System::new(places.len(), BLOCK, crate::spec::Law::Bdem);
        system.tail.fill(LaneRow([R; 4]));
        let padded = places.len().next_multiple_of(BLOCK);
        system.bonds = Bonds::new(padded, &rows, system.rigid());
        for (i, &place) in places.iter().enumerate() {
            system.set_position(i, place);
        }
        system.classes = vec![BondClass {
            es: ES,
            gs: SHEAR * AREA,
            gj: GJ,
            ei: EI,
            section: CriterionSection {
                inverse_area: 1.0 / AREA,
                bend_modulus: 4.0 / (AREA * R),
                twist_modulus: 2.0 / (AREA * R),
                compression_counts: 0.0,
                inverse_shear_area: 1.0 / AREA,
            },
            damping: 0.0,
            spin_damping: 0.0,
        }];
        Body {
            system,
            pairs,
            places,
        }
    }

    /// A straight file along x.
    fn chain(count: usize) -> Self {
        Body::new((0..count).map(|k| DVec3::X * 2.0 * R * k as f64).collect())
    }

    fn statics(&self) -> Statics {
        let all: Vec<u32> = (0..self.places.len() as u32).collect();
        self.part(&all)
    }

    fn part(&self, elements: &[u32]) -> Statics {
        let at = elements.iter().map(|&i| self.places[i as usize]);
        let places: Vec<DVec3> = at.collect();
        let (mass, inertia) = weights(elements.len());
        Statics::new(&self.system, elements, &places, &mass, &inertia)
    }

    /// Forces and torques that bonds exert on elements, from a loop of its own.
    fn restoring(&self, moved: &Loads) -> Loads {
        let mut out = self.unloaded();
        for &[a, b] in &self.pairs {
            for (i, j) in [(a as usize, b as usize), (b as usize, a as usize)] {
                let bond = LinearBond {
                    n: (self.places[j] - self.places[i]).normalize(),
                    length: 2.0 * R,
                    normal: ES / (2.0 * R),
                    transverse: SHEAR * AREA / (2.0 * R),
                    twist: GJ / (2.0 * R),
                    bend: EI / (2.0 * R),
                };
                let (own, other) = (moved[i], moved[j]);
                let (force, torque) = bond.restoring(own.0, own.1, other.0, other.1);
                out[i].0 += force;
                out[i].1 += torque;
            }
        }
        out
    }

    fn unloaded(&self) -> Loads {
        vec![(DVec3::ZERO, DVec3::ZERO); self.places.len()]
    }
}

fn weights(count: usize) -> (Vec<f64>, Vec<f64>) {
    (vec![MASS; count], vec![0.4 * MASS * R * R; count])
}

/// Pairs of places at a distance of 2R, by a grid of cells.
fn touching(places: &[DVec3]) -> Vec<[u32; 2]> {
    let cell = |p: DVec3| (p / (2.0 * R)).floor().as_ivec3();
    let mut cells = HashMap::<IVec3, Vec<u32>>::new();
    for (i, &p) in places.iter().enumerate() {
        cells.entry(cell(p)).or_default().push(i as u32);
    }
    let mut pairs = Vec::new();
    for (i, &p) in places.iter().enumerate() {
        let near = (0..27).flat_map(|k| {
            let at = cell(p) + IVec3::new(k % 3, k / 3 % 3, k / 9) - 1;
            cells.get(&at).into_iter().flatten()
        });
        let near = near.filter(|&&j| {
            j as usize > i && (p.distance(places[j as usize]) - 2.0 * R).abs() < 1e-6 * R
        });
        pairs.extend(near.map(|&j| [i as u32, j]));
    }
    pairs
}

/// Hexagonal close packing with these numbers of spheres along each axis.
fn packing(nx: usize, ny: usize, nz: usize) -> Vec<DVec3> {
    let place = |k: usize| {
        let (i, j, k) = (k % nx, k / nx % ny, k / nx / ny);
        let x = 2.0 * i as f64 + ((j + k) % 2) as f64;
        let y = 3f64.sqrt() * (j as f64 + (k % 2) as f64 / 3.0);
        DVec3::new(x, y, 2.0 * 6f64.sqrt() / 3.0 * k as f64) * R
    };
    (0..nx * ny * nz).map(place).collect()
}

/// Reproducible loads of about 1 N and 1 N × R on some elements.
fn random_loads(count: usize, every: usize) -> Loads {
    let mut state = 7_u64;
    let mut number = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    };
    let mut vector = || DVec3::new(number(), number(), number());
    let load = |k: usize| match k % every {
        0 => (vector(), R * vector()),
        _ => (DVec3::ZERO, DVec3::ZERO),
    };
    (0..count).map(load).collect()
}

/// The loads less the inertia of the acceleration that they cause, from sums of its own.
fn relieved(places: &[DVec3], loads: &Loads) -> Loads {
    let count = places.len() as f64;
    let centre = places.iter().sum::<DVec3>() / count;
    let force: DVec3 = loads.iter().map(|load| load.0).sum();
    let (mut torque, mut inertia) = (DVec3::ZERO, DMat3::ZERO);
    for (place, load) in places.iter().zip(loads) {
        let r = *place - centre;
        torque += load.1 + r.cross(load.0);
        let across = DMat3::from_cols(r.cross(DVec3::X), r.cross(DVec3::Y), r.cross(DVec3::Z));
        inertia += MASS * (0.4 * R * R * DMat3::IDENTITY - across * across);
    }
    let (a, alpha) = (force / count / MASS, inertia.inverse() * torque);
    let less = |(place, load): (&DVec3, &(DVec3, DVec3))| {
        let a = a + alpha.cross(*place - centre);
        (load.0 - MASS * a, load.1 - 0.4 * MASS * R * R * alpha)
    };
    places.iter().zip(loads).map(less).collect()
}

/// Norm of loads, torques over R.
fn size(loads: &Loads) -> f64 {
    let squares = loads
        .iter()
        .map(|(f, t)| f.length_squared() + (*t / R).length_squared());
    squares.sum::<f64>().sqrt()
}

fn assert_balanced(body: &Body, loads: &Loads, moved: &Loads, accuracy: f64) {
    let loads = relieved(&body.places, loads);
    let pairs = loads.iter().zip(body.restoring(moved));
    let left: Loads = pairs.map(|(a, b)| (a.0 + b.0, a.1 + b.1)).collect();
    let found = size(&left) / size(&loads);
    assert!(found < accuracy, "{found}");
}

#[test]
fn the_energy_is_that_of_the_bond_between_unequal_masses() {
    let body = Body::chain(2);
    let (mass, inertia) = ([MASS, 3.0 * MASS], [0.4 * MASS * R * R; 2]);
    let statics = Statics::new(&body.system, &[0, 1], &body.places, &mass, &inertia);
    let force = 0.5;
    let loads = [(DVec3::X * force, DVec3::ZERO), (DVec3::ZERO, DVec3::ZERO)];
    let moved = statics.solve(&loads, 1e-9).unwrap();
    let (carried, stiffness) = (0.75 * force, ES / (2.0 * R));
    let expected = 0.5 * carried * carried / stiffness;
    let energy = statics.energy(&loads, &moved);
    assert!(
        (energy / expected - 1.0).abs() < 1e-8,
        "{energy} {expected}"
    );
}

#[test]
fn one_element_stays_and_two_are_pulled_apart() {
    let body = Body::chain(2);
    let still = (DVec3::ZERO, DVec3::ZERO);
    let push = (DVec3::X, DVec3::Y);
    assert_eq!(body.part(&[1]).solve(&[push], 1e-9), Some(vec![still]));
    assert_eq!(body.part(&[]).solve(&[], 1e-9), Some(Vec::new()));
    let force = 3.0;
    let loads = vec![
        (-force * DVec3::X, DVec3::ZERO),
        (force * DVec3::X, DVec3::ZERO),
    ];
    let moved = body.statics().solve(&loads, 1e-10).unwrap();
    let expected = force * 2.0 * R / ES;
    let apart = moved[1].0 - moved[0].0;
    assert!((apart - expected * DVec3::X).length() < 1e-9 * expected);
    assert!((moved[1].0 + moved[0].0).length() < 1e-9 * expected);
}

#[test]
fn a_chain_is_stretched_and_bent_evenly() {
    let body = Body::chain(10);
    let (force, moment) = (3.0 * DVec3::X, 2e-3 * DVec3::Z);
    let mut loads = body.unloaded();
    (loads[0], loads[9]) = ((-force, -moment), (force, moment));
    let moved = body.statics().solve(&loads, 1e-11).unwrap();
    let (stretch, bend) = (force * 2.0 * R / ES, moment * 2.0 * R / EI);
    for ends in moved.windows(2) {
        let (apart, turn) = (ends[1].0 - ends[0].0, ends[1].1 - ends[0].1);
        assert!((apart.x - stretch.x).abs() < 1e-8 * stretch.x, "{apart}");
        assert!((turn - bend).length() < 1e-8 * bend.z, "{turn}");
    }
    assert_balanced(&body, &loads, &moved, 1e-9);
}

#[test]
fn loads_on_a_block_are_balanced() {
    let body = Body::new(packing(8, 7, 6));
    let loads = random_loads(body.places.len(), 5);
    let moved = body.statics().solve(&loads, 1e-8).unwrap();
    assert_balanced(&body, &loads, &moved, 2e-8);
    let shift: DVec3 = moved.iter().map(|(u, _)| *u).sum();
    let largest = moved.iter().map(|(u, _)| u.length()).fold(0.0, f64::max);
    assert!(shift.length() < 1e-12 * largest);
}

#[test]
fn the_force_in_a_pushed_chain_falls_to_zero() {
    let count = 12;
    let body = Body::chain(count);
    let mut loads = body.unloaded();
    loads[0].0 = 5.0 * DVec3::X;
    let moved = body.statics().solve(&loads, 1e-10).unwrap();
    for (k, ends) in moved.windows(2).enumerate() {
        let axial = (ends[1].0 - ends[0].0).x * ES / (2.0 * R);
        let expected = -5.0 * (count - 1 - k) as f64 / count as f64;
        assert!((axial - expected).abs() < 1e-7, "{axial} {expected}");
    }
}

#[test]
fn gravity_and_angular_acceleration_strain_nothing() {
    let body = Body::new(packing(5, 4, 3));
    let (a, alpha) = (DVec3::new(1.0, -2.0, 9.0), DVec3::new(20.0, 5.0, -70.0));
    let load = |place: &DVec3| (MASS * (a + alpha.cross(*place)), 0.4 * MASS * R * R * alpha);
    let loads: Loads = body.places.iter().map(load).collect();
    let moved = body.statics().solve(&loads, 1e-6).unwrap();
    assert!(size(&body.restoring(&moved)) < 1e-12 * size(&loads));
}

#[test]
fn a_turned_fragment_has_turned_displacements() {
    let body = Body::new(packing(6, 5, 3));
    let loads = random_loads(body.places.len(), 4);
    let turn = DQuat::from_scaled_axis(DVec3::new(0.7, -1.1, 0.4));
    // Rest directions stay: only present places count.
    let turned = Body {
        places: body.places.iter().map(|p| turn * *p + DVec3::ONE).collect(),
        system: body.system.clone(),
        pairs: Vec::new(),
    };
    let moved = body.statics().solve(&loads, 1e-11).unwrap();
    let turned_loads: Loads = loads.iter().map(|l| (turn * l.0, turn * l.1)).collect();
    let found = turned.statics().solve(&turned_loads, 1e-11).unwrap();
    let pairs = moved.iter().zip(&found);
    let apart: Loads = pairs
        .map(|(a, b)| (turn * a.0 - b.0, (turn * a.1 - b.1) * R * R))
        .collect();
    let whole: Loads = moved.iter().map(|(u, t)| (*u, *t * R * R)).collect();
    assert!(size(&apart) < 1e-8 * size(&whole));
}

#[test]
fn only_intact_bonds_inside_the_fragment_count() {
    // Two chains of 4 in one; the bond between them is broken, the first one is rigid.
    let mut body = Body::chain(9);
    let entry = body.system.bonds.find(4, 5).unwrap().entry;
    body.system.bonds.unbond(entry, 2.0 * R);
    body.system
        .set_rigid(RigidMask::new(vec![0, 3, 3, 3, 3, 0, 0, 0, 0]));
    let pull = |count: usize| {
        let mut loads = vec![(DVec3::ZERO, DVec3::ZERO); count];
        (loads[0].0, loads[count - 1].0) = (-DVec3::X, DVec3::X);
        loads
    };
    let moved = body.part(&[1, 2, 3, 4]).solve(&pull(4), 1e-10).unwrap();
    let stretch = 2.0 * R / ES;
    for ends in moved.windows(2) {
        assert!(((ends[1].0 - ends[0].0).x - stretch).abs() < 1e-8 * stretch);
    }
    let across: Vec<u32> = (1..9).collect();
    assert_eq!(body.part(&across).solve(&pull(8), 1e-6), None);
}

#[test]
fn threads_change_no_bit() {
    let body = Body::new(packing(16, 15, 8));
    let loads = random_loads(body.places.len(), 3);
    let solve = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let pool = pool.build().unwrap();
        pool.install(|| body.statics().solve(&loads, 1e-8).unwrap())
    };
    assert_eq!(solve(1), solve(3));
}

/// Solves for opposite forces on the ends of a body; returns the number of iterations.
fn iterations(places: Vec<DVec3>, accuracy: f64) -> u32 {
    let body = Body::new(places);
    let mut loads = body.unloaded();
    let (last, middle) = (loads.len() - 1, loads.len() / 2);
    let force = DVec3::new(0.3, 0.5, 1.0);
    (loads[0].0, loads[middle].0, loads[last].0) = (force, -1.5 * force, force);
    let clock = std::time::Instant::now();
    let statics = body.statics();
    let built = clock.elapsed();
    let clock = std::time::Instant::now();
    let moved = statics.solve(&loads, accuracy).unwrap();
    let solved = clock.elapsed();
    assert_balanced(&body, &loads, &moved, 2.0 * accuracy);
    let row = |&(force, torque): &(DVec3, DVec3)| six(force, torque / statics.length);
    let b: Vec<Six> = relieved(&body.places, &loads).iter().map(row).collect();
    let (_, report) = statics.balance(&b, accuracy).unwrap();
    println!(
        "{} elements, {accuracy:e}: {} iterations, built in {built:.1?}, solved in {solved:.1?}",
        loads.len(),
        report.iterations
    );
    report.iterations
}

#[test]
fn slender_and_thin_fragments_take_few_iterations() {
    assert!(iterations(packing(12, 12, 12), 1e-6) <= 30);
    assert!(iterations(packing(45, 45, 1), 1e-6) <= 60);
    assert!(iterations(packing(500, 1, 1), 1e-6) <= 60);
}

#[test]
#[ignore = "takes a minute; run with -- --ignored --nocapture"]
fn iterations_of_ten_thousand_elements_and_more() {
    for accuracy in [1e-4, 1e-6] {
        iterations(packing(22, 22, 21), accuracy);
        iterations(packing(60, 58, 3), accuracy);
        iterations(packing(100, 100, 1), accuracy);
        iterations(packing(200, 50, 1), accuracy);
        iterations(packing(1000, 1, 1), accuracy);
        iterations(packing(47, 47, 46), accuracy);
        iterations(packing(320, 310, 1), accuracy);
    }
}
