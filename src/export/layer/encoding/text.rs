//! Arrays as text.

use crate::export::layer::array::{Array, Digits};
use crate::export::text::{
    array, push_f32, push_multiple, push_three_digits, push_tuple, push_u32, push_unit,
};

/// Formats an array, as parts to be concatenated.
pub fn format(values: &Array) -> Vec<String> {
    match *values {
        Array::Ints(values) | Array::Longs(values) => {
            array(values, |out, value| push_u32(out, *value))
        }
        Array::Floats(values, digits) => array(values, |out, value| push(out, *value, digits)),
        Array::Vec2f(values) => tuples(values, Digits::All),
        Array::Vec3f(values, digits) => tuples(values, digits),
        Array::Quath(values) => tuples(values, Digits::Unit),
    }
}

fn tuples<const N: usize>(values: &[[f32; N]], digits: Digits) -> Vec<String> {
    array(values, |out, value| {
        push_tuple(out, value, |out, number| push(out, number, digits))
    })
}

fn push(out: &mut String, value: f32, digits: Digits) {
    match digits {
        Digits::All => push_f32(out, value),
        Digits::Three => push_three_digits(out, value),
        Digits::Unit => push_unit(out, value),
        Digits::MultiplesOf(step) => push_multiple(out, value, step),
    }
}
