//! A packed body as rows of elements and bonds.

use glam::DVec3;

use super::body::PackedBody;
use crate::columns::{BondLaw, Shape};
use crate::laws::weibull;
use crate::spec::Pipeline;
use crate::store::Packing;

/// Appends a body, given its index and its material's.
pub fn append(
    packing: &mut Packing,
    body: &PackedBody,
    (index, material): (u32, u32),
    pipeline: &Pipeline,
) {
    let base = packing.elements.id.len() as u32;
    let middle = body.centres.iter().sum::<DVec3>() / body.centres.len().max(1) as f64;
    let [velocity, spin] = body.motion;
    let e = &mut packing.elements;
    for (k, p) in body.centres.iter().enumerate() {
        let v = velocity + spin.cross(*p - middle);
        e.id.push(base + k as u32);
        e.body.push(index);
        e.material.push(material);
        e.kind.push(Shape::Sphere);
        e.x.push(p.x);
        e.y.push(p.y);
        e.z.push(p.z);
        e.r.push(body.radius);
        e.mass.push(body.mass);
        e.inertia.push(0.4 * body.mass * body.radius * body.radius);
        e.volume.push(body.volume);
        e.vx.push(v.x);
        e.vy.push(v.y);
        e.vz.push(v.z);
        e.wx.push(spin.x);
        e.wy.push(spin.y);
        e.wz.push(spin.z);
    }
    let material = &pipeline.materials[material as usize];
    let b = &mut packing.bonds;
    for &[i, j] in &body.pairs {
        let id = b.id.len() as u32;
        let d = body.centres[j as usize] - body.centres[i as usize];
        let length = d.length();
        let factor = material.weibull_modulus.map_or(1.0, |modulus| {
            weibull::factor(weibull::uniform(pipeline.simulate.seed, id), modulus)
        });
        let strength = |mean: Option<f64>| mean.map_or(f64::INFINITY, |mean| mean * factor);
        b.id.push(id);
        b.i.push(base + i);
        b.j.push(base + j);
        b.l0.push(length);
        b.dx.push(d.x / length);
        b.dy.push(d.y / length);
        b.dz.push(d.z / length);
        b.radius.push(body.radius);
        b.young.push(body.young);
        b.shear.push(body.shear);
        b.sigma_c.push(strength(material.tensile_strength));
        b.tau_c.push(strength(material.shear_strength));
        b.law.push(BondLaw::Bdem);
    }
}
