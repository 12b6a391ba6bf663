//! Places so far from the origin that files in single precision lose them.

use crate::spec::Pipeline;
use crate::store::Packing;
use crate::units::show::{figures, quantity};

/// Frames and meshes round a coordinate by up to so many times itself: half of the last of 24 bits.
const ROUNDING: f64 = 1.0 / (1 << 24) as f64;
/// Rounded by more than this over the radius of its elements, a body is seen to tremble.
const LARGEST: f64 = 1e-3;

/// What to say of each body that begins too far away.
pub(super) fn far(packing: &Packing, pipeline: &Pipeline) -> Vec<String> {
    let e = &packing.elements;
    // Of each body its farthest coordinate and its smallest radius, m.
    let mut reach = vec![(0.0_f64, f64::INFINITY); pipeline.bodies.len()];
    for (i, &body) in e.body.iter().enumerate() {
        // One that the pipeline lacks is refused when the run is built.
        if let Some((farthest, radius)) = reach.get_mut(body as usize) {
            *farthest = farthest.max(e.x[i].abs().max(e.y[i].abs()).max(e.z[i].abs()));
            *radius = radius.min(e.r[i]);
        }
    }
    let lost = pipeline.bodies.iter().zip(reach);
    lost.filter(|(_, (farthest, radius))| farthest * ROUNDING > LARGEST * radius)
        .map(|(body, (farthest, radius))| {
            format!(
                "body {:?} lies up to {} from the origin along an axis, where single precision, which frames and meshes are written in, rounds places by \
                 up to {}, {} of the radius of an element, {}; a place within {} keeps that below {LARGEST}",
                body.name,
                quantity(farthest, "m"),
                quantity(farthest * ROUNDING, "m"),
                figures(farthest * ROUNDING / radius),
                quantity(radius, "m"),
                quantity(LARGEST * radius / ROUNDING, "m"),
            )
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
        far(&packing, &pipeline)
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
        // What the message says is so.
        let place = -17.0_f64 + 0.3e-6;
        assert!((f64::from(place as f32) - place).abs() <= 17.0 * ROUNDING);
        assert!(f64::from(f32::EPSILON) / 2.0 == ROUNDING);
    }
}
