//! Numbers with units, and the pipelines that contain them.

use cullet::spec::{self, Pipeline};
use cullet::units::{self, Dimension};
use proptest::prelude::*;

use super::cases;

/// Units, with the power of ten that each represents.
const UNITS: [(Dimension, &str, i32); 17] = [
    (Dimension::Number, "", 0),
    (Dimension::Number, "%", -2),
    (Dimension::Length, "m", 0),
    (Dimension::Length, "mm", -3),
    (Dimension::Length, "µm", -6),
    (Dimension::Length, "km", 3),
    (Dimension::Time, "us", -6),
    (Dimension::Pressure, "GPa", 9),
    (Dimension::Pressure, "N/mm^2", 6),
    (Dimension::Density, "g/cm^3", 3),
    (Dimension::Density, "t*m⁻³", 3),
    (Dimension::Angle, "mrad", -3),
    (Dimension::Velocity, "cm/s", -2),
    (Dimension::Acceleration, "mm s^-2", -3),
    (Dimension::AngularVelocity, "rad/ms", 3),
    (Dimension::Force, "kN", 3),
    (Dimension::Rate, "kHz", 3),
];

/// A shot with these quantities in its pipeline.
fn shot(end: f64, [density, young]: [f64; 2], radius: f64, position: [f64; 3]) -> String {
    let [x, y, z] = position;
    format!(
        "[time]\nend = \"{end} ms\"\nframes_per_second = \"{} kHz\"\n\
        [[material]]\nname = \"m\"\ndensity = \"{density} g/cm^3\"\nyoung = {young:e}\n\
        [[body]]\nname = \"b\"\nmaterial = \"m\"\nshape = {{ type = \"sphere\", radius = \"{radius} mm\" }}\n\
        packing = {{ type = \"hexagonal\", elements = 9 }}\nposition = [\"{x} um\", {y}, \"{z:e}\"]\n",
        2.0 / end
    )
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn a_number_with_unit_is_the_decimal_that_it_says(
        value in any::<f64>(),
        (dimension, unit, power) in proptest::sample::select(&UNITS[..]),
        spaces in " {0,3}",
    ) {
        let written = format!("{value:e}");
        let (digits, exponent) = written.split_once('e').unwrap();
        let exponent: i32 = exponent.parse::<i32>().unwrap() + power;
        let expected: f64 = format!("{digits}e{exponent}").parse().unwrap();
        let read = units::parse(&format!("{written}{spaces}{unit}"), dimension);
        match read {
            Ok(read) => prop_assert_eq!(read, expected),
            Err(_) => prop_assert!(expected.is_infinite()),
        }
    }

    #[test]
    fn words_are_read_or_refused(text in "\\PC{0,12}", unit in "[a-zA-Z0-9^*/ .µ²⁻%°-]{0,12}") {
        for text in [text, format!("1 {unit}")] {
            for (dimension, ..) in UNITS {
                match units::parse(&text, dimension) {
                    Ok(value) => prop_assert!(value.is_finite()),
                    Err(error) => prop_assert!(error.to_string().contains(&text)),
                }
            }
        }
    }

    #[test]
    fn a_pipeline_in_units_comes_back_from_store_json(
        end in 1e-3..1e6_f64,
        moduli in prop::array::uniform2(1e-6..1e12_f64),
        radius in 1e-9..1e9_f64,
        position in prop::array::uniform3(-1e12..1e12_f64),
    ) {
        let text = shot(end, moduli, radius, position);
        let pipeline = spec::parse(&text, "shot", &[]).unwrap();
        let si = |value: f64, power: i32| format!("{value}e{power}").parse::<f64>().unwrap();
        prop_assert_eq!(pipeline.time.end, si(end, -3));
        prop_assert_eq!(pipeline.materials[0].density, si(moduli[0], 3));
        prop_assert_eq!(pipeline.materials[0].young, moduli[1]);
        prop_assert_eq!(pipeline.bodies[0].position, [si(position[0], -6), position[1], position[2]]);
        let json = serde_json::to_string(&pipeline).unwrap();
        let again: Pipeline = serde_json::from_str(&json).unwrap();
        prop_assert_eq!(again, pipeline);
    }
}
