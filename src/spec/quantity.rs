//! Kinds of quantity that keys of the pipeline file hold: dimension and range, as in the JSON Schema.
//!
//! A field names its kind with `#[schemars(with = "PositiveLength")]`. Files are checked by the schema generated
//! from that, so each kind is defined once. These types are never constructed.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};
use std::borrow::Cow;

use crate::units::Dimension;

/// Key of the schema that holds the dimension of a quantity.
pub(super) const DIMENSION_KEY: &str = "x-dimension";

/// Key of the schema that holds a word allowed in place of a quantity.
pub(super) const WORD_KEY: &str = "x-word";

/// Least or greatest value of a quantity, excluded (`Open`) or included (`Closed`).
#[derive(Clone, Copy)]
enum RangeBound {
    Open(f64),
    Closed(f64),
    None,
}
use RangeBound::{Closed, Open};

fn schema(dimension: Dimension, least: RangeBound, greatest: RangeBound) -> Schema {
    let mut range = String::new();
    let mut schema = json_schema!({ "type": ["number", "string"] });
    for (bound, open, closed, signs) in [
        (least, "exclusiveMinimum", "minimum", [">", "≥"]),
        (greatest, "exclusiveMaximum", "maximum", ["<", "≤"]),
    ] {
        let (key, value, sign) = match bound {
            Open(value) => (open, value, signs[0]),
            Closed(value) => (closed, value, signs[1]),
            RangeBound::None => continue,
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
    schema.insert(DIMENSION_KEY.to_owned(), json!(dimension.name()));
    schema
}

fn sentence(text: &str) -> String {
    let (first, rest) = text.split_at(1);
    first.to_ascii_uppercase() + rest
}

macro_rules! quantities {
    ($($name:ident: $dimension:ident, $least:expr, $greatest:expr;)*) => {$(
        /// Kind of quantity.
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

/// A rate above 0, or "event".
pub(super) struct PlaybackRate;

impl JsonSchema for PlaybackRate {
    fn schema_name() -> Cow<'static, str> {
        "PlaybackRate".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let mut schema = schema(Dimension::Rate, Open(0.0), RangeBound::None);
        let rate = schema.get("description").and_then(Value::as_str);
        let description = format!("{} Or \"event\".", rate.unwrap_or_default());
        schema.insert("description".to_owned(), Value::String(description));
        schema.insert(WORD_KEY.to_owned(), json!("event"));
        schema
    }
}

quantities! {
    Number: Number, RangeBound::None, RangeBound::None;
    PositiveNumber: Number, Open(0.0), RangeBound::None;
    NonNegativeNumber: Number, Closed(0.0), RangeBound::None;
    Fraction: Number, Open(0.0), Closed(1.0);
    ProperFraction: Number, Open(0.0), Open(1.0);
    Accuracy: Number, Closed(1e-8), Closed(1e-3);
    Spread: Number, Closed(0.0), Closed(0.64);
    LooseFraction: Number, Closed(0.1), Closed(0.62);
    Neighbourhood: Number, Closed(1.02), Closed(1.5);
    PoissonRatio: Number, Open(-1.0), Open(0.5);
    Length: Length, RangeBound::None, RangeBound::None;
    PositiveLength: Length, Open(0.0), RangeBound::None;
    NonNegativeLength: Length, Closed(0.0), RangeBound::None;
    NonNegativeTime: Time, Closed(0.0), RangeBound::None;
    PositiveTime: Time, Open(0.0), RangeBound::None;
    Pressure: Pressure, RangeBound::None, RangeBound::None;
    PositivePressure: Pressure, Open(0.0), RangeBound::None;
    PositiveToughness: Toughness, Open(0.0), RangeBound::None;
    PositiveDensity: Density, Open(0.0), RangeBound::None;
    Angle: Angle, RangeBound::None, RangeBound::None;
    PositiveAngle: Angle, Open(0.0), Closed(std::f64::consts::TAU);
    PolarAngle: Angle, Closed(0.0), Closed(std::f64::consts::PI);
    ViewAngle: Angle, Open(0.0), Open(std::f64::consts::PI);
    Velocity: Velocity, RangeBound::None, RangeBound::None;
    PositiveVelocity: Velocity, Open(0.0), RangeBound::None;
    Acceleration: Acceleration, RangeBound::None, RangeBound::None;
    AngularVelocity: AngularVelocity, RangeBound::None, RangeBound::None;
    Force: Force, RangeBound::None, RangeBound::None;
    PositiveStiffness: Stiffness, Open(0.0), RangeBound::None;
    PositiveRate: Rate, Open(0.0), RangeBound::None;
    NonNegativeRate: Rate, Closed(0.0), RangeBound::None;
}
