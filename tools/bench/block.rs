//! A block of hexagonal packing for benchmarks, built without the packing stage.

use cullet::columns::{BondLaw, Bonds, Elements, Shape};
use cullet::store::Packing;
use glam::DVec3;

const R: f64 = 1e-3;

/// Pipeline file of the scene around the block.
pub const PIPELINE: &str = r#"
[time]
end = 1
frames_per_second = 1
[[material]]
name = "m"
density = 2600
young = 1e7
shear = 4e6
elasticity = "bond"
[[body]]
name = "b"
material = "m"
shape = { type = "box", size = [1, 1, 1] }
packing = { type = "hexagonal", radius = 1e-3 }
"#;

/// A cube of `edge`³ elements in lattice order, with bonds of the same strength (Pa) for σ and τ.
pub fn block(edge: usize, strength: f64) -> Packing {
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
                // A small initial oscillation, so that bonds carry loads.
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
                                push_bond(&mut bonds, (id, other), d, strength);
                            }
                        }
                    }
                }
            }
        }
    }
    Packing {
        elements: e,
        bonds,
        ..Packing::default()
    }
}

fn push_bond(bonds: &mut Bonds, (i, j): (u32, u32), d: DVec3, strength: f64) {
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
    bonds.sigma_c.push(strength);
    bonds.tau_c.push(strength);
    bonds.law.push(BondLaw::Bdem);
}
