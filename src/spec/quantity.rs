//! Kinds of quantity that fields of the pipeline file hold: dimension and range, as the JSON Schema tells them.
//!
//! A field names its kind with `#[schemars(with = "PositiveLength")]`; the schema made of it is what a file
//! is checked by, so a kind stands at one place. These types are never constructed.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};
use std::borrow::Cow;

use crate::units::Dimension;

/// Key of the schema that names a quantity's dimension.
pub(super) const DIMENSION: &str = "x-dimension";

/// Key of the schema that names a word which may stand instead of a quantity.
pub(super) const WORD: &str = "x-word";

/// Least or greatest value.
#[derive(Clone, Copy)]
enum Bound {
    Open(f64),
    Closed(f64),
    None,
}
use Bound::{Closed, Open};

fn schema(dimension: Dimension, least: Bound, greatest: Bound) -> Schema {
    let mut range = String::new();
    let mut schema = json_schema!({ "type": ["number", "string"] });
    for (bound, open, closed, signs) in [
        (least, "exclusiveMinimum", "minimum", [">", "≥"]),
        (greatest, "exclusiveMaximum", "maximum", ["<", "≤"]),
    ] {
        let (key, value, sign) = match bound {
            Open(value) => (open, value, signs[0]),
            Closed(value) => (closed, value, signs[1]),
            Bound::None => continue,
        };
        schema.insert(key.to_owned(), json!(value));
        range += &format!(", {sign} {value}");
    }
    let description = match dimension {
        Dimension::Number => format!("A pure number{range}."),
        _ => format!(
            "{}{range}: a number in {}, or a string with unit such as \"{}\".",
            sentence(dimension.name()),
            dimension.unit(),
            dimension.example()
        ),
    };
    schema.insert("description".to_owned(), Value::String(description));
    schema.insert(DIMENSION.to_owned(), json!(dimension.name()));
    schema
}

fn sentence(text: &str) -> String {
    let (first, rest) = text.split_at(1);
    first.to_ascii_uppercase() + rest
}

macro_rules! quantities {
    ($($name:ident: $dimension:ident, $least:expr, $greatest:expr;)*) => {$(
        /// Field of this kind.
        pub(super) struct $name;

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                schema(Dimension::$dimension, $least, $greatest)
            }
        }
    )*};
}

/// A rate above 0, or the event's own.
pub(super) struct PlaybackRate;

impl JsonSchema for PlaybackRate {
    fn schema_name() -> Cow<'static, str> {
        "PlaybackRate".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let mut schema = schema(Dimension::Rate, Open(0.0), Bound::None);
        let rate = schema.get("description").and_then(Value::as_str);
        let description = format!("{} Or \"event\".", rate.unwrap_or_default());
        schema.insert("description".to_owned(), Value::String(description));
        schema.insert(WORD.to_owned(), json!("event"));
        schema
    }
}

quantities! {
    Number: Number, Bound::None, Bound::None;
    PositiveNumber: Number, Open(0.0), Bound::None;
    NonNegativeNumber: Number, Closed(0.0), Bound::None;
    Fraction: Number, Open(0.0), Closed(1.0);
    Accuracy: Number, Closed(1e-8), Closed(1e-3);
    Spread: Number, Closed(0.0), Closed(0.6);
    LooseFraction: Number, Closed(0.1), Closed(0.62);
    Neighbourhood: Number, Closed(1.02), Closed(1.5);
    PoissonRatio: Number, Open(-1.0), Open(0.5);
    Length: Length, Bound::None, Bound::None;
    PositiveLength: Length, Open(0.0), Bound::None;
    NonNegativeLength: Length, Closed(0.0), Bound::None;
    NonNegativeTime: Time, Closed(0.0), Bound::None;
    PositiveTime: Time, Open(0.0), Bound::None;
    Pressure: Pressure, Bound::None, Bound::None;
    PositivePressure: Pressure, Open(0.0), Bound::None;
    PositiveDensity: Density, Open(0.0), Bound::None;
    Angle: Angle, Bound::None, Bound::None;
    PositiveAngle: Angle, Open(0.0), Closed(std::f64::consts::TAU);
    PolarAngle: Angle, Closed(0.0), Closed(std::f64::consts::PI);
    ViewAngle: Angle, Open(0.0), Open(std::f64::consts::PI);
    Velocity: Velocity, Bound::None, Bound::None;
    Acceleration: Acceleration, Bound::None, Bound::None;
    AngularVelocity: AngularVelocity, Bound::None, Bound::None;
    Force: Force, Bound::None, Bound::None;
    PositiveStiffness: Stiffness, Open(0.0), Bound::None;
    PositiveRate: Rate, Open(0.0), Bound::None;
    NonNegativeRate: Rate, Closed(0.0), Bound::None;
}
