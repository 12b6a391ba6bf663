//! The law and the time step of rigid cells against independently computed values (float64, automatic
//! differentiation).

use cullet::geometry::cells::{Cells, SharedFace};
use cullet::geometry::voronoi;
use cullet::laws::cell::{self, CellRotation};
use cullet::laws::rattle;
use cullet::math::{Quat, Scalar, Vec3};
use glam::DVec3;
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

/// A face between two cells at rest.
struct Link {
    cells: [usize; 2],
    /// Vectors from the centre of each cell to the centre of the face.
    arms: [DVec3; 2],
    /// Normal from the first cell to the second, and principal axes of the face.
    axes: [DVec3; 3],
    section: cell::FaceSection,
}

/// Cells that fill a body, free outside.
struct Body {
    links: Vec<Link>,
    /// Cell volumes, including the volumes over free faces.
    volumes: Vec<f64>,
    young: f64,
    poisson: f64,
}

impl Body {
    /// Bricks on a grid.
    fn bricks(entry: &Value) -> Self {
        let list = |value: &Value| match numbers(value)[..] {
            [one] => [one; 3],
            [a, b, c] => [a, b, c],
            _ => panic!("{value}"),
        };
        let (count, sides) = (list(&entry["n"]).map(|n| n as usize), list(&entry["h"]));
        let number_of = |at: [usize; 3]| (at[0] * count[1] + at[1]) * count[2] + at[2];
        let volume = sides.iter().product::<f64>();
        let cells = count.iter().product();
        let (mut links, mut free) = (Vec::new(), vec![volume; cells]);
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
                    pair.iter().for_each(|&cell| free[cell] -= volume / 6.0);
                    let axes = [0, 1, 2].map(|k| (axis + k) % 3);
                    let [depth, wide, high] = axes.map(|axis| sides[axis]);
                    let arm = DVec3::AXES[axis] * (0.5 * depth);
                    links.push(Link {
                        cells: pair,
                        arms: [arm, -arm],
                        axes: axes.map(|axis| DVec3::AXES[axis]),
                        section: cell::FaceSection {
                            area: wide * high,
                            distance: depth,
                            second: [high * wide.powi(3) / 12.0, wide * high.powi(3) / 12.0],
                        },
                    });
                }
            }
        }
        let (young, poisson) = (number(&entry["E"]), number(&entry["nu"]));
        let effective = |free: &f64| cell::effective_volume(volume, *free, poisson);
        Body {
            links,
            volumes: free.iter().map(effective).collect(),
            young,
            poisson,
        }
    }

    /// Voronoi cells of random generators in a cube of edge 1.
    fn voronoi(generators: &[DVec3], young: f64, poisson: f64) -> (Self, Vec<DVec3>) {
        let bounds = [DVec3::ZERO, DVec3::ONE];
        let solids = voronoi::cells(generators, generators.len(), bounds, [u32::MAX; 6]);
        let cells = Cells::of(&solids.unwrap()).unwrap();
        let centres: Vec<DVec3> = cells.masses.iter().map(|mass| mass.centre).collect();
        let link = |one: &SharedFace| {
            let pair = one.cells.map(|cell| cell as usize);
            let [s, t] = one.section.axes;
            Link {
                cells: pair,
                arms: pair.map(|cell| one.section.centre - centres[cell]),
                axes: [one.section.normal, s, t],
                section: cell::FaceSection {
                    area: one.section.area,
                    distance: one.distance,
                    second: one.section.second,
                },
            }
        };
        let volumes = cells.masses.iter().zip(cells.free_volumes());
        let body = Body {
            links: cells.between.iter().map(link).collect(),
            volumes: volumes
                .map(|(mass, free)| cell::effective_volume(mass.volume, free, poisson))
                .collect(),
            young,
            poisson,
        };
        (body, centres)
    }

    /// Energy, and force and torque on each cell.
    fn load<T: Scalar>(&self, x: &[Vec3<T>], q: &[Quat<T>]) -> (T, Vec<[Vec3<T>; 2]>) {
        let volumes: Vec<T> = self.volumes.iter().map(|&v| T::from_f64(v)).collect();
        let lame = T::from_f64(cell::lame(self.young, self.poisson));
        let vector = |v: DVec3| Vec3::from_f64(v.to_array());
        let half = |link: &Link| T::from_f64(0.5 * link.section.area);
        let face = |link: &Link, own: usize| {
            let (i, j) = (link.cells[own], link.cells[1 - own]);
            let [a, b] = [link.arms[own], link.arms[1 - own]].map(vector);
            let own = CellRotation::new(q[i], Vec3::zero());
            cell::face(x[j] - x[i], &own, (q[j], Vec3::zero()), (a, b))
        };
        let mut dilation = vec![T::zero(); x.len()];
        for link in &self.links {
            let more = cell::dilation(face(link, 0), half(link));
            for cell in link.cells {
                dilation[cell] = dilation[cell] + more / volumes[cell];
            }
        }
        let mut energy = T::zero();
        for (dilation, volume) in dilation.iter().zip(&volumes) {
            energy = energy + cell::dilation_energy(*dilation, lame, *volume);
        }
        let mut loads = vec![[Vec3::zero(); 2]; x.len()];
        for link in &self.links {
            let [i, j] = link.cells;
            let [n, s, _] = link.axes.map(vector);
            let stiffness = cell::stiffness(self.young, self.poisson, link.section, None, None);
            let (traction, bending) = (
                T::from_f64(stiffness.traction),
                Vec3::from_f64(stiffness.bending),
            );
            let pressure = lame * (dilation[i] + dilation[j]);
            let bend = |a: usize, b: usize| {
                let own = CellRotation::new(q[a], Vec3::zero());
                cell::bending(&own, (q[b], Vec3::zero()), n, s, bending)
            };
            // The reference measures bending energies from the state in which all axes are square to each
            // other.
            let rest = bending.x + bending.y + bending.z;
            energy = energy + cell::gap_energy(face(link, 0), traction) + bend(i, j).energy - rest;
            for own in 0..2 {
                let (a, b) = (link.cells[own], link.cells[1 - own]);
                let load = cell::traction(face(link, own), traction, half(link), pressure);
                let torque = load.torque + bend(a, b).torque;
                loads[a] = [loads[a][0] + load.force, loads[a][1] + torque];
            }
        }
        (energy, loads)
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

/// Largest difference, relative to the largest component.
fn relative_error<T: Scalar>(found: &[Vec3<T>], expected: &Value) -> f64 {
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
        let bricks = Body::bricks(&entry);
        let (x, q) = (vectors::<T>(&entry["X"]), quats::<T>(&entry["q"]));
        let (energy, loads) = bricks.load(&x, &q);
        let (forces, torques): (Vec<_>, Vec<_>) = loads.iter().map(|[f, t]| (*f, *t)).unzip();
        let found = [
            relative_error(&forces, &entry["force"]),
            relative_error(&torques, &entry["torque"]),
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

/// One step of rotation, checked to the last bit.
fn turn(momentum: Vec3<f64>, inertia: Vec3<f64>) -> Vec3<f64> {
    let inverse = Vec3::new(1.0 / inertia.x, 1.0 / inertia.y, 1.0 / inertia.z);
    assert!(rattle::convergence_measure(momentum, inverse) < rattle::CONVERGENCE_LIMIT);
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
            assert!(
                relative_error(&[l], &wanted["l"]) < 1e-12
                    && relative_error(&[phi], &wanted["phi"]) < 1e-8
            );
            let wanted: Quat<f64> = quat(&numbers(&wanted["q"]));
            assert!((q.dot(wanted).abs() - 1.0).abs() < 1e-12 && (q.v - wanted.v).norm() < 1e-8);
        }
        assert!(next.is_none());
    }
}

#[test]
fn bricks_move_as_the_independent_ones_and_keep_energy_and_momenta() {
    for entry in read("mka3d_trajectory").as_array().unwrap() {
        let bricks = Body::bricks(entry);
        let dt = number(&entry["dt"]);
        let mass = number(&entry["rho"]) * numbers(&entry["h"]).iter().product::<f64>();
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
            relative_error(&x, &entry["X"]),
            relative_error(&v, &entry["v"]),
            relative_error(&l, &entry["l"]),
        ];
        println!("{found:?}");
        assert!(found.iter().all(|off| *off < 1e-8), "{found:?}");
    }
}

/// Compares forces with central differences of the energy of Voronoi cells that were displaced and rotated.
#[test]
fn forces_of_voronoi_cells_are_the_derivative_of_the_energy() {
    let mut state = 3u64;
    let mut number = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) as f64 / f64::from(1u32 << 31)
    };
    let mut vector = |scale: f64| Vec3::new(number() - 0.5, number() - 0.5, number() - 0.5) * scale;
    let generators: Vec<DVec3> = (0..30)
        .map(|_| DVec3::from_array(vector(1.0).to_f64()) + 0.5)
        .collect();
    for poisson in [-0.5, 0.0, 0.3, 0.49] {
        let (body, centres) = Body::voronoi(&generators, 1e7, poisson);
        let x: Vec<Vec3<f64>> = centres
            .iter()
            .map(|centre| Vec3::from_f64(centre.to_array()) + vector(0.02))
            .collect();
        let q: Vec<Quat<f64>> = x
            .iter()
            .map(|_| Quat::from_rotation_vector(vector(0.1)))
            .collect();
        let (_, loads) = body.load(&x, &q);
        let largest = loads.iter().flatten().map(|load| load.norm());
        let largest = largest.fold(0.0, f64::max);
        let step = 1e-5;
        for cell in 0..x.len() {
            for axis in 0..3 {
                let unit = Vec3::from_f64(DVec3::AXES[axis].to_array());
                let [force, torque] = loads[cell].map(|load| load.dot(unit));
                let moved = |by: f64| {
                    let mut x = x.clone();
                    x[cell] = x[cell] + unit * by;
                    body.load(&x, &q).0
                };
                let turned = |by: f64| {
                    let mut q = q.clone();
                    q[cell] = Quat::from_rotation_vector(unit * by).product(q[cell]);
                    body.load(&x, &q).0
                };
                let slopes = [
                    (moved(-step) - moved(step)) / (2.0 * step),
                    (turned(-step) - turned(step)) / (2.0 * step),
                ];
                for (found, expected) in [force, torque].into_iter().zip(slopes) {
                    let off = (found - expected).abs() / largest;
                    assert!(off < 1e-7, "{poisson} {cell} {axis}: {found} {expected}");
                }
            }
        }
    }
}
