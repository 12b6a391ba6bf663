//! Notices to the user about a packing and the machine.

use crate::pack::{BareSkin, BodySummary, Packed, size_message};
use crate::spec::Pipeline;
use crate::units::show::{grouped, quantity};

/// Notices to the user about a packing.
pub fn notices(packed: &Packed) -> Vec<String> {
    let mut out = Vec::new();
    for body in &packed.bodies {
        if let Some(closing) = &body.closing {
            out.push(format!("body {:?}: {closing}", body.name));
        }
        if body.isolated > 0 {
            out.push(format!(
                "body {:?}: {} elements without contact to others were left out",
                body.name, body.isolated
            ));
        }
        if body.parts > 1 && body.bonds > 0 && !body.yarns {
            out.push(format!(
                "body {:?} falls into {} separate parts, as it is thinner than an element somewhere; use a smaller {}",
                body.name,
                body.parts,
                if body.free_faces.is_some() { "size" } else { "radius" },
            ));
        }
        if let Some(bare) = &body.bare {
            out.push(bare_notice(body, bare));
        }
    }
    let colliders = packed.closed_colliders.iter();
    out.extend(colliders.map(|(name, done)| format!("collider {name:?}: {done}")));
    out
}

/// Notice about a processor on which steps are slow.
pub fn machine(has_fused_multiply_add: bool) -> Option<String> {
    let text = "this processor has no fused multiply-add instruction (FMA): steps on the CPU give the same bits, but \
                take many times as long";
    (!has_fused_multiply_add).then(|| text.to_owned())
}

/// Warnings about the sizes of bodies that only their mesh files say.
pub fn size_warnings(pipeline: &Pipeline, packed: &Packed) -> Vec<String> {
    let bodies = pipeline.bodies.iter().zip(&packed.shapes);
    bodies
        .filter_map(|(body, skin)| size_message(body, skin))
        .collect()
}

/// Notice that no element lies under a part of a body's surface.
fn bare_notice(body: &BodySummary, bare: &BareSkin) -> String {
    // To about the radius of an element.
    let step = 10_f64.powf(body.radius.log10().floor());
    let near = bare.near.to_array();
    let near = near.map(|x| quantity((x / step).round() * step, "m"));
    let length = |x: f64| quantity(rounded(x), "m");
    format!(
        "body {:?}: no element lies under {:.1} % of its surface, where it is thinner than an element; the largest such part, {:.1} %, is near [{}]. It is about {} thick: elements of radius {}, about {} of them, would fit under most of it",
        body.name,
        100.0 * bare.part,
        100.0 * bare.largest,
        near.join(", "),
        length(bare.thickness),
        length(bare.radius),
        grouped(rounded(body.elements_of(bare.radius)), 0),
    )
}

/// A number rounded to two significant digits.
fn rounded(x: f64) -> f64 {
    let step = 10_f64.powf(x.abs().max(f64::MIN_POSITIVE).log10().floor() - 1.0);
    (x / step).round() * step
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DVec3;

    #[test]
    fn a_processor_without_fused_multiply_adds_is_told() {
        assert_eq!(machine(true), None);
        assert!(machine(false).expect("a notice").contains("FMA"));
    }

    #[test]
    fn a_surface_without_elements_is_reported_with_the_radius_that_would_fit() {
        let bare = BareSkin {
            part: 0.2588,
            largest: 0.1412,
            near: DVec3::new(-0.0312, 0.1789, 0.0005),
            thickness: 5.97e-3,
            radius: 2.27e-3,
        };
        let body = BodySummary {
            name: "cat".into(),
            elements: 792,
            bonds: 3788,
            radius: 9e-3,
            volume: 1e-3,
            free_faces: None,
            isolated: 0,
            closing: None,
            parts: 1,
            yarns: false,
            bare: Some(bare),
        };
        let packed = Packed {
            packing: Default::default(),
            shapes: Vec::new(),
            bodies: vec![body],
            closed_colliders: Vec::new(),
        };
        let expected = "body \"cat\": no element lies under 25.9 % of its surface, where it is thinner than an \
            element; the largest such part, 14.1 %, is near [−31 mm, 179 mm, 1 mm]. It is about 6 mm thick: elements \
            of radius 2.3 mm, about 49 000 of them, would fit under most of it";
        assert_eq!(notices(&packed), [expected]);
    }
}
