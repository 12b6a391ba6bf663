//! The law and the step of rigid cells against independently computed values (float64, automatic differentiation).

use cullet::laws::{cell, rattle};
use cullet::math::{Quat, Scalar, Vec3};
use serde_json::Value;

use crate::vectors::{quat, read, vec3};

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    match value.as_array() {
        Some(list) => list.iter().flat_map(numbers).collect(),
        None => vec![number(value)],
    }
}

/// A face of a grid of bricks.
struct Link {
    cells: [usize; 2],
    axis: usize,
}

/// Bricks on a grid, free outside.
struct Bricks {
    links: Vec<Link>,
    sides: [f64; 3],
    /// Volumes of the pyramids over free faces.
    free: Vec<f64>,
    young: f64,
    poisson: f64,
}

impl Bricks {
    fn new(entry: &Value) -> Self {
        let list = |value: &Value| match numbers(value)[..] {
            [one] => [one; 3],
            [a, b, c] => [a, b, c],
            _ => panic!("{value}"),
        };
        let (count, sides) = (list(&entry["n"]).map(|n| n as usize), list(&entry["h"]));
        let number_of = |at: [usize; 3]| (at[0] * count[1] + at[1]) * count[2] + at[2];
        let pyramid = sides.iter().product::<f64>() / 6.0;
        let cells = count.iter().product();
        let (mut links, mut free) = (Vec::new(), vec![6.0 * pyramid; cells]);
        for at in 0..cells {
            let place = [
                at / (count[1] * count[2]),
                at / count[2] % count[1],
                at % count[2],
            ];
            for axis in 0..3 {
                let mut next = place;
                next[axis] += 1;
                if next[axis] < count[axis] {
                    let pair = [at, number_of(next)];
                    pair.iter().for_each(|&cell| free[cell] -= pyramid);
                    links.push(Link { cells: pair, axis });
                }
            }
        }
        Bricks {
            links,
            sides,
            free,
            young: number(&entry["E"]),
            poisson: number(&entry["nu"]),
        }
    }

    /// Energy, and force and torque of each cell.
    fn load<T: Scalar>(&self, x: &[Vec3<T>], q: &[Quat<T>]) -> (T, Vec<[Vec3<T>; 2]>) {
        let volume = self.sides.iter().product::<f64>();
        let volumes: Vec<T> = self
            .free
            .iter()
            .map(|&free| T::from_f64(cell::effective_volume(volume, free, self.poisson)))
            .collect();
        let lame = T::from_f64(cell::lame(self.young, self.poisson));
        let faces: Vec<_> = self
            .links
            .iter()
            .map(|link| self.face(link, x, q))
            .collect();
        let mut dilation = vec![T::zero(); x.len()];
        for (link, (at, half, ..)) in self.links.iter().zip(&faces) {
            for cell in link.cells {
                dilation[cell] = dilation[cell] + cell::dilation(*at, *half) / volumes[cell];
            }
        }
        let mut energy = T::zero();
        for (dilation, volume) in dilation.iter().zip(&volumes) {
            energy = energy + cell::dilation_energy(*dilation, lame, *volume);
        }
        let mut loads = vec![[Vec3::zero(); 2]; x.len()];
        for (link, &(at, half, other, traction, axes, bending)) in self.links.iter().zip(&faces) {
            let [i, j] = link.cells;
            let [n, s, t] = axes;
            let pressure = lame * (dilation[i] + dilation[j]);
            let turned = |q: Quat<T>| axes.map(|axis| q.rotate(axis));
            energy = energy + cell::energy(at, traction, turned(q[i]), turned(q[j]), bending);
            for (own, at, a, b) in [(i, at, q[i], q[j]), (j, other, q[j], q[i])] {
                let load = cell::traction(at, traction, half, pressure);
                let torque = load.torque + cell::bending(a, b, n, s, t, bending);
                loads[own] = [loads[own][0] + load.force, loads[own][1] + torque];
            }
        }
        (energy, loads)
    }

    /// A face as either cell has it, half its area, and its stiffnesses.
    #[expect(clippy::type_complexity)]
    fn face<T: Scalar>(
        &self,
        link: &Link,
        x: &[Vec3<T>],
        q: &[Quat<T>],
    ) -> (cell::Face<T>, T, cell::Face<T>, T, [Vec3<T>; 3], Vec3<T>) {
        let [i, j] = link.cells;
        let [n, s, t] = [0, 1, 2].map(|k| (link.axis + k) % 3);
        let unit = |axis: usize| {
            let mut unit = [0.0; 3];
            unit[axis] = 1.0;
            Vec3::from_f64(unit)
        };
        let [depth, wide, high] = [n, s, t].map(|axis| self.sides[axis]);
        let section = cell::Section {
            area: wide * high,
            distance: depth,
            second: [high * wide.powi(3) / 12.0, wide * high.powi(3) / 12.0],
        };
        let stiffness = cell::stiffness(self.young, self.poisson, section);
        let arm = unit(n) * T::from_f64(0.5 * depth);
        let at = cell::face(x[j] - x[i], q[i], q[j], arm, -arm);
        let other = cell::face(x[i] - x[j], q[j], q[i], -arm, arm);
        let half = T::from_f64(0.5 * section.area);
        let traction = T::from_f64(stiffness.traction);
        let bending = Vec3::from_f64(stiffness.bending);
        (at, half, other, traction, [n, s, t].map(unit), bending)
    }
}

fn vectors<T: Scalar>(value: &Value) -> Vec<Vec3<T>> {
    let all: Vec<T> = numbers(value).into_iter().map(T::from_f64).collect();
    all.chunks(3).map(vec3).collect()
}

fn quats<T: Scalar>(value: &Value) -> Vec<Quat<T>> {
    let all: Vec<T> = numbers(value).into_iter().map(T::from_f64).collect();
    all.chunks(4).map(quat).collect()
}

/// Largest difference over the largest component.
fn off<T: Scalar>(found: &[Vec3<T>], expected: &Value) -> f64 {
    let expected = numbers(expected);
    let largest = expected.iter().fold(0.0f64, |m, e| m.max(e.abs()));
    let found = found.iter().flat_map(|v| v.to_f64());
    let worst = found.zip(&expected).map(|(f, e)| (f - e).abs());
    worst.fold(0.0, f64::max) / largest
}

fn entries() -> Vec<Value> {
    let files = ["mka3d", "mka3d_bricks"].map(read);
    files
        .iter()
        .flat_map(|file| file.as_array().unwrap().clone())
        .collect()
}

fn compare<T: Scalar>(precision: f64) {
    for entry in entries() {
        let bricks = Bricks::new(&entry);
        let (x, q) = (vectors::<T>(&entry["X"]), quats::<T>(&entry["q"]));
        let (energy, loads) = bricks.load(&x, &q);
        let (forces, torques): (Vec<_>, Vec<_>) = loads.iter().map(|[f, t]| (*f, *t)).unzip();
        let found = [
            off(&forces, &entry["force"]),
            off(&torques, &entry["torque"]),
            (energy.to_f64() / number(&entry["U"]) - 1.0).abs(),
        ];
        println!("{found:?}");
        assert!(found.iter().all(|off| *off < precision), "{found:?}");
    }
}

#[test]
fn forces_torques_and_energy_are_the_independent_ones() {
    compare::<f64>(1e-10);
    compare::<f32>(1e-4);
}

/// The rotation of a step, to the last bit.
fn turn(momentum: Vec3<f64>, inertia: Vec3<f64>) -> Vec3<f64> {
    let inverse = Vec3::new(1.0 / inertia.x, 1.0 / inertia.y, 1.0 / inertia.z);
    assert!(rattle::reach(momentum, inverse) < rattle::LIMIT);
    let first = Vec3::new(
        momentum.x * inverse.x,
        momentum.y * inverse.y,
        momentum.z * inverse.z,
    );
    (0..40).fold(first, |phi, _| {
        rattle::next(phi, momentum, inertia, inverse)
    })
}

fn conjugate(q: Quat<f64>) -> Quat<f64> {
    Quat { v: -q.v, w: q.w }
}

#[test]
fn a_body_turns_as_the_independent_one() {
    for entry in read("rattle_body").as_array().unwrap() {
        let inertia = vec3(&numbers(&entry["inertia"]));
        let torque = vec3(&numbers(&entry["torque"]));
        let dt = number(&entry["dt"]);
        let (mut q, mut l) = (quat(&numbers(&entry["q0"])), vec3(&numbers(&entry["l0"])));
        let mut path = entry["path"].as_array().unwrap().iter();
        let mut next = path.next();
        for step in 1..=entry["steps"].as_u64().unwrap() {
            l = l + torque * (0.5 * dt);
            let phi = turn(conjugate(q).rotate(l) * dt, inertia);
            q = q.product(Quat::from_rotation_vector(phi)).normalised();
            l = l + torque * (0.5 * dt);
            let Some(wanted) = next.filter(|wanted| wanted["step"] == step) else {
                continue;
            };
            next = path.next();
            assert!(off(&[l], &wanted["l"]) < 1e-12 && off(&[phi], &wanted["phi"]) < 1e-8);
            let wanted: Quat<f64> = quat(&numbers(&wanted["q"]));
            assert!((q.dot(wanted).abs() - 1.0).abs() < 1e-12 && (q.v - wanted.v).norm() < 1e-8);
        }
        assert!(next.is_none());
    }
}

#[test]
fn bricks_move_as_the_independent_ones_and_keep_energy_and_momenta() {
    for entry in read("mka3d_trajectory").as_array().unwrap() {
        let bricks = Bricks::new(entry);
        let dt = number(&entry["dt"]);
        let mass = number(&entry["rho"]) * bricks.sides.iter().product::<f64>();
        let inertia = vec3(&numbers(&entry["inertia"]));
        let (mut x, mut q) = (vectors::<f64>(&entry["X0"]), quats::<f64>(&entry["q0"]));
        let (mut v, mut l) = (vectors::<f64>(&entry["v0"]), vectors::<f64>(&entry["l0"]));
        let (_, mut loads) = bricks.load(&x, &q);
        for _ in 0..entry["steps"].as_u64().unwrap() {
            for c in 0..x.len() {
                v[c] = v[c] + loads[c][0] * (0.5 * dt / mass);
                l[c] = l[c] + loads[c][1] * (0.5 * dt);
                x[c] = x[c] + v[c] * dt;
                let phi = turn(conjugate(q[c]).rotate(l[c]) * dt, inertia);
                q[c] = q[c].product(Quat::from_rotation_vector(phi)).normalised();
            }
            loads = bricks.load(&x, &q).1;
            for c in 0..x.len() {
                v[c] = v[c] + loads[c][0] * (0.5 * dt / mass);
                l[c] = l[c] + loads[c][1] * (0.5 * dt);
            }
        }
        let found = [
            off(&x, &entry["X"]),
            off(&v, &entry["v"]),
            off(&l, &entry["l"]),
        ];
        println!("{found:?}");
        assert!(found.iter().all(|off| *off < 1e-8), "{found:?}");
    }
}
