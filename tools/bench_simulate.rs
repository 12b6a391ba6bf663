//! Whole steps a second of explicit bonded DEM on the CPU: an elastic block of hexagonal packing, contacts watched, criteria on.
//!
//! `cargo run --release --example bench_simulate -- [ELEMENTS] [STEPS]`

use std::time::Instant;

use cullet::columns::{BondLaw, Bonds, Elements, Shape};
use cullet::simulate::{engine, schedule};
use cullet::spec::{self, Backend};
use cullet::store::Packing;
use glam::DVec3;

const R: f64 = 1e-3;

fn main() {
    let mut numbers = std::env::args()
        .skip(1)
        .map(|a| a.parse::<f64>().expect("a number"));
    let elements = numbers.next().unwrap_or(100_000.0);
    let edge = elements.cbrt().round() as usize;
    let packing = block(edge);
    let count = packing.elements.id.len();
    let steps = numbers
        .next()
        .map_or(20_000_000 / count as u64 + 10, |s| s as u64);
    let text = "[time]\nend = 1\nframes_per_second = 1\n[[material]]\nname = \"m\"\ndensity = 2600\nyoung = 1e7\nshear = 4e6\n\
                elasticity = \"bond\"\n[[body]]\nname = \"b\"\nmaterial = \"m\"\nshape = { type = \"box\", size = [1, 1, 1] }\n\
                packing = { type = \"hexagonal\", radius = 1e-3 }\n";
    let pipeline = spec::parse(text, "bench", &[]).expect("a valid pipeline");
    let plan = schedule(&packing, &pipeline).expect("a schedule");
    let dt = 0.4 * plan.critical;
    for threads in [1, 2] {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("threads");
        let rate = pool.install(|| {
            let mut run = engine(&packing, &pipeline, Backend::Cpu, dt).expect("an engine");
            run.advance(steps / 10 + 1).expect("finite");
            let clock = Instant::now();
            run.advance(steps).expect("finite");
            count as f64 * steps as f64 / clock.elapsed().as_secs_f64()
        });
        println!(
            "{count} elements, {threads} threads: {:.2} M element-steps/s",
            rate / 1e6
        );
    }
}

fn block(edge: usize) -> Packing {
    let mass = 4.0 / 3.0 * std::f64::consts::PI * R.powi(3) * 2600.0;
    let index = |i: usize, j: usize, k: usize| (k * edge + j) * edge + i;
    let point = |i: usize, j: usize, k: usize| {
        DVec3::new(
            (2 * i + (j + k) % 2) as f64 * R,
            3f64.sqrt() * (j as f64 + (k % 2) as f64 / 3.0) * R,
            2.0 * 6f64.sqrt() / 3.0 * k as f64 * R,
        )
    };
    let mut e = Elements::default();
    let mut bonds = Bonds::default();
    for k in 0..edge {
        for j in 0..edge {
            for i in 0..edge {
                let (p, id) = (point(i, j, k), index(i, j, k) as u32);
                e.id.push(id);
                e.body.push(0);
                e.material.push(0);
                e.kind.push(Shape::Sphere);
                for (column, value) in [(&mut e.x, p.x), (&mut e.y, p.y), (&mut e.z, p.z)] {
                    column.push(value);
                }
                e.r.push(R);
                e.mass.push(mass);
                e.inertia.push(0.4 * mass * R * R);
                e.volume.push(mass / 2600.0);
                // A slight swing, so that bonds work.
                e.vx.push(0.01 * (300.0 * p.y).sin());
                for column in [&mut e.vy, &mut e.vz, &mut e.wx, &mut e.wy, &mut e.wz] {
                    column.push(0.0);
                }
                for dk in 0..=1 {
                    for dj in -1i64..=1 {
                        for di in -1i64..=1 {
                            let to = [i as i64 + di, j as i64 + dj, (k + dk) as i64];
                            if to.iter().any(|&t| t < 0 || t >= edge as i64) {
                                continue;
                            }
                            let [a, b, c] = to.map(|t| t as usize);
                            let d = point(a, b, c) - p;
                            let other = index(a, b, c) as u32;
                            if other > id && (d.length() - 2.0 * R).abs() < 1e-6 * R {
                                push_bond(&mut bonds, id, other, d);
                            }
                        }
                    }
                }
            }
        }
    }
    Packing { elements: e, bonds }
}

fn push_bond(bonds: &mut Bonds, i: u32, j: u32, d: DVec3) {
    let n = d.normalize();
    bonds.id.push(bonds.id.len() as u32);
    bonds.i.push(i);
    bonds.j.push(j);
    bonds.l0.push(d.length());
    bonds.dx.push(n.x);
    bonds.dy.push(n.y);
    bonds.dz.push(n.z);
    bonds.radius.push(R);
    bonds.young.push(1e7);
    bonds.shear.push(4e6);
    bonds.sigma_c.push(1e9);
    bonds.tau_c.push(1e9);
    bonds.law.push(BondLaw::Bdem);
}
