//! Bodies whose elements are too large for the toughness of their material, or for the scatter of its strength in
//! space.

use super::warning::Warning;
use crate::laws::softening::{BondSums, brittle_energy, crack_area, fracture_energy, weakening};
use crate::spec::Pipeline;
use crate::store::Packing;
use crate::units::show::{figures, quantity};

/// Fraction of the bonds of a body that may be weakened: where strengths scatter, a few strong ones always are.
const FEW: f64 = 0.05;
/// Factor on a strength from which on nobody would notice.
const NOTICED: f64 = 0.995;

/// A warning about each body in which more than a few bonds get less strength than asked for.
pub fn coarse_bodies(packing: &Packing, pipeline: &Pipeline) -> Vec<Warning> {
    let bodies = pipeline.bodies.iter().enumerate();
    bodies
        .filter_map(|(number, body)| {
            let material = pipeline.material_of(body)?;
            let toughness = material.toughness?;
            let energy = fracture_energy(toughness, material.young, material.poisson_ratio());
            let (e, b) = (&packing.elements, &packing.bonds);
            let is_own = |i: u32| e.body[i as usize] as usize == number;
            let own: Vec<usize> = (0..b.id.len())
                .filter(|&k| is_own(b.i[k]) && is_own(b.j[k]))
                .collect();
            let volumes = e.volume.iter().zip(&e.body);
            let volume = volumes.filter(|(_, body)| **body as usize == number);
            let volume = volume.map(|(volume, _)| volume).sum();
            let section = |k: usize| std::f64::consts::PI * b.radius[k] * b.radius[k];
            let held = |k: usize| {
                brittle_energy(b.sigma_c[k], section(k), b.young[k] * section(k) / b.l0[k])
            };
            let breakable = |k: &usize| b.sigma_c[*k] > 0.0 && b.sigma_c[*k].is_finite();
            let mut sums = BondSums::default();
            for k in own.iter().copied().filter(breakable) {
                sums.add(section(k), b.l0[k], held(k));
            }
            let rule = pipeline.crack_rule(number);
            let sections = own.iter().map(|&k| section(k) * b.l0[k]).sum();
            let fracture = energy * crack_area(volume, sections, rule.excess);
            let factors = own.iter().copied().filter(breakable).map(|k| {
                weakening(sums.energy(rule, fracture, section(k), held(k)) / held(k))
            });
            let mut factors: Vec<f64> = factors.collect();
            factors.sort_by(f64::total_cmp);
            let weakened = factors.iter().filter(|&&factor| factor < NOTICED);
            let count = weakened.clone().count();
            let part = count as f64 / factors.len().max(1) as f64;
            if part <= FEW {
                return None;
            }
            let mean = weakened.sum::<f64>() / count as f64;
            // All but few bonds keep their strength with elements that are smaller by the square of its factor.
            let most = factors[(FEW * factors.len() as f64) as usize];
            let radius = e.r.iter().zip(&e.body);
            let radius = radius
                .filter(|(_, body)| **body as usize == number)
                .map(|(&r, _)| r)
                .fold(f64::INFINITY, f64::min);
            let text = format!(
                "body {:?}: its elements are too large for the toughness of {}, {}: {} % of its bonds break at {} of their \
                 strength on average, so that cracks take the right energy; elements of a radius below {} would keep it",
                body.name,
                material.name,
                quantity(toughness, "Pa √m"),
                figures((100.0 * part).round()),
                figures(mean),
                quantity(radius * most * most, "m"),
            );
            Some(Warning::about(body, "coarse", 1.0 - mean, text))
        })
        .collect()
}

/// Least correlation length of strengths over the diameter of an element: with less, neighbours hold a weak element.
/// Bodies scatter less than entered, and without `weibull_size` they are also stronger.
const LEAST_LENGTH: f64 = 4.0;

/// A warning about each body whose elements are too large for the correlation length of its strengths.
pub fn bodies_coarser_than_flaws(packing: &Packing, pipeline: &Pipeline) -> Vec<Warning> {
    let bodies = pipeline.bodies.iter().enumerate();
    bodies
        .filter_map(|(number, body)| {
            let material = pipeline.material_of(body)?;
            let breaks = material.has_strength() && body.is_bonded() && !body.rigid;
            let length = material.weibull_length.filter(|_| breaks)?;
            let radii = packing.elements.r.iter().zip(&packing.elements.body);
            let own = radii.filter(|(_, owner)| **owner as usize == number);
            let (sum, count) = own.fold((0.0, 0.0), |(sum, count), (r, _)| (sum + r, count + 1.0));
            let across = length / (2.0 * sum / count);
            // Radii are rounded, such as those found for a number of elements.
            (across < 0.999 * LEAST_LENGTH).then(|| {
                let text = format!(
                    "body {:?}: `weibull_length` of material {:?} ({}) spans only {across:.1} elements; below \
                     {LEAST_LENGTH} bodies scatter less than entered, and are stronger without `weibull_size`: elements \
                     of a radius below {} would resolve it",
                    body.name,
                    material.name,
                    quantity(length, "m"),
                    quantity(length / (2.0 * LEAST_LENGTH), "m"),
                );
                Warning::about(body, "coarse_scatter", 1.0 / across, text)
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{pack, spec};

    fn packed(radius: &str, key: &str) -> (Packing, Pipeline) {
        let text = format!(
            "[time]\nend = \"1 ms\"\nframes_per_second = 1000\n[[material]]\nname = \"stone\"\ndensity = 2000\n\
             young = \"1 GPa\"\ntensile_strength = \"2.5 MPa\"\n{key}\n\
             [[body]]\nname = \"block\"\nmaterial = \"stone\"\nshape = {{ type = \"block\", rows = [9, 9, 9] }}\n\
             packing = {{ type = \"hexagonal\", radius = \"{radius}\" }}\n"
        );
        let pipeline = spec::parse(&text, "shot.toml", &[]).expect("a shot");
        let packing = pack::pack(&pipeline, "".as_ref()).expect("packed").packing;
        (packing, pipeline)
    }

    fn found(radius: &str, toughness: &str) -> Vec<String> {
        let (packing, pipeline) = packed(radius, toughness);
        texts(coarse_bodies(&packing, &pipeline))
    }

    fn texts(found: Vec<Warning>) -> Vec<String> {
        found.into_iter().map(|warning| warning.text).collect()
    }

    #[test]
    fn elements_are_too_large_where_four_are_wider_than_a_weak_place() {
        let scatter = "weibull_modulus = 8\nweibull_length = \"8 mm\"";
        let found = |radius: &str, key: &str| {
            let (packing, pipeline) = packed(radius, key);
            texts(bodies_coarser_than_flaws(&packing, &pipeline))
        };
        assert_eq!(found("1 mm", scatter), [""; 0]);
        assert_eq!(found("2 mm", "weibull_modulus = 8"), [""; 0]);
        let texts = found("2 mm", scatter);
        assert!(
            texts[0].contains("(8 mm) spans only 2.0 elements"),
            "{texts:?}"
        );
        assert!(texts[0].contains("radius below 1 mm"), "{texts:?}");
    }

    #[test]
    fn elements_are_too_large_where_a_bond_holds_more_than_its_part_of_a_crack_takes() {
        let tough = "toughness = \"0.2 MPa √m\"";
        assert_eq!(found("1 mm", tough), [""; 0]);
        assert_eq!(found("10 mm", ""), [""; 0]);
        let text = found("10 mm", tough).pop().expect("a warning");
        let (_, advised) = text.split_once("of a radius below ").expect("a radius");
        let advised = advised.split_once(" would").expect("a radius").0;
        assert_eq!(found(advised, tough), [""; 0], "{text}");
    }
}
