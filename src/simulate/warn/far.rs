//! Warns about positions so far from the origin that single precision, used in files, does not resolve them.

use super::warning::Warning;
use crate::spec::Pipeline;
use crate::store::Packing;
use crate::units::show::{figures, quantity};

/// Relative rounding error of coordinates in frames and meshes: half of the last of 24 bits.
const ROUNDING: f64 = 1.0 / (1 << 24) as f64;
/// Largest rounding error relative to the radius of elements: above it, bodies visibly jitter.
const MAX_RELATIVE_ERROR: f64 = 1e-3;

/// A warning about each body that starts too far away.
pub(super) fn far_bodies(packing: &Packing, pipeline: &Pipeline) -> Vec<Warning> {
    let e = &packing.elements;
    // Farthest coordinate and smallest radius of each body, m.
    let mut reach = vec![(0.0_f64, f64::INFINITY); pipeline.bodies.len()];
    for (i, &body) in e.body.iter().enumerate() {
        // A body that the pipeline lacks is refused when the run is built.
        if let Some((farthest, radius)) = reach.get_mut(body as usize) {
            *farthest = farthest.max(e.x[i].abs().max(e.y[i].abs()).max(e.z[i].abs()));
            *radius = radius.min(e.r[i]);
        }
    }
    let bodies = pipeline.bodies.iter().zip(reach);
    bodies.filter(|(_, (farthest, radius))| farthest * ROUNDING > MAX_RELATIVE_ERROR * radius)
        .map(|(body, (farthest, radius))| {
            let text = format!(
                "body {:?} lies up to {} from the origin along an axis, where single precision, in which frames and meshes are written, rounds positions by \
                 up to {}, {} of the radius of an element, {}; a position within {} keeps that below {MAX_RELATIVE_ERROR}",
                body.name,
                quantity(farthest, "m"),
                quantity(farthest * ROUNDING, "m"),
                figures(farthest * ROUNDING / radius),
                quantity(radius, "m"),
                quantity(MAX_RELATIVE_ERROR * radius / ROUNDING, "m"),
            );
            Warning::about(body, "far", farthest / radius, text)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{pack, spec};

    fn found(along: f64) -> Vec<String> {
        let text = format!(
            "[time]\nend = \"1 ms\"\nframes_per_second = 1000\n[[material]]\nname = \"m\"\ndensity = 1000\nyoung = 1e9\n\
             [[body]]\nname = \"near\"\nmaterial = \"m\"\nshape = {{ type = \"block\", rows = [3, 3, 3] }}\n\
             packing = {{ type = \"hexagonal\", radius = \"1 mm\" }}\n\
             [[body]]\nname = \"away\"\nmaterial = \"m\"\nshape = {{ type = \"block\", rows = [3, 3, 3] }}\n\
             packing = {{ type = \"hexagonal\", radius = \"1 mm\" }}\nposition = [0, 0, {along}]\n"
        );
        let pipeline = spec::parse(&text, "shot.toml", &[]).expect("a shot");
        let packing = pack::pack(&pipeline, "".as_ref()).expect("packed").packing;
        let all = far_bodies(&packing, &pipeline).into_iter();
        all.map(|warning| warning.text).collect()
    }

    #[test]
    fn a_body_seventeen_thousand_radii_away_is_far() {
        assert!(found(-16.7).is_empty());
        let [text] = &found(-17.0)[..] else {
            panic!("one body is far");
        };
        for word in [
            "body \"away\"",
            "17 m",
            "radius of an element, 1 mm",
            "within 16.78 m",
        ] {
            assert!(text.contains(word), "{word} in {}", text);
        }
        // The numbers in the message are right.
        let position = -17.0_f64 + 0.3e-6;
        assert!((f64::from(position as f32) - position).abs() <= 17.0 * ROUNDING);
        assert!(f64::from(f32::EPSILON) / 2.0 == ROUNDING);
    }
}
