//! The binary form of answers: a JSON header that lists the arrays, then the arrays.
//!
//! The first four bytes are the length of the header, little-endian. Spaces follow the header up to the next multiple
//! of 8 bytes, where the data begins. Offsets of arrays count from there and are multiples of 8.

use bytemuck::{NoUninit, cast_slice};
use serde_json::{Value, json};

/// A number type that answers may contain.
pub trait Number: NoUninit {
    /// Name in the header.
    const TYPE: &'static str;
    /// The number for the range of the header.
    fn value(self) -> f64;
}

macro_rules! number {
    ($($type:ident)*) => {$(
        impl Number for $type {
            const TYPE: &'static str = stringify!($type);
            fn value(self) -> f64 {
                self.into()
            }
        }
    )*};
}
number! { f32 u32 u8 i8 }

/// Builder of an answer.
#[derive(Default)]
pub struct Arrays {
    header: serde_json::Map<String, Value>,
    arrays: Vec<Value>,
    data: Vec<u8>,
}

/// Arrays begin at multiples of this number of bytes.
const ALIGNMENT: usize = 8;

impl Arrays {
    /// An answer about a frame at this time, s.
    pub fn of_frame(frame: u32, time: f64) -> Self {
        let mut arrays = Arrays::default();
        arrays.set("frame", json!(frame));
        arrays.set("time", json!(time));
        arrays
    }

    /// Sets an entry of the header.
    pub fn set(&mut self, key: &str, value: Value) {
        self.header.insert(key.to_owned(), value);
    }

    /// Adds an array of single numbers, with their range.
    pub fn add<T: Number>(&mut self, name: &str, values: &[T]) {
        let finite = values.iter().map(|v| v.value()).filter(|v| v.is_finite());
        let range = finite.fold(None, |range: Option<(f64, f64)>, v| {
            Some(range.map_or((v, v), |(low, high)| (low.min(v), high.max(v))))
        });
        self.push::<T>(name, (1, values.len()), range, cast_slice(values));
    }

    /// Adds an array of vectors.
    pub fn add_vectors<T: Number, const N: usize>(&mut self, name: &str, values: &[[T; N]])
    where
        [T; N]: NoUninit,
    {
        self.push::<T>(name, (N, values.len()), None, cast_slice(values));
    }

    fn push<T: Number>(
        &mut self,
        name: &str,
        (components, count): (usize, usize),
        range: Option<(f64, f64)>,
        bytes: &[u8],
    ) {
        self.arrays.push(json!({
            "name": name,
            "type": T::TYPE,
            "components": components,
            "offset": self.data.len(),
            "count": count,
            "min": range.map(|(low, _)| low),
            "max": range.map(|(_, high)| high),
        }));
        self.data.extend_from_slice(bytes);
        let padded = self.data.len().next_multiple_of(ALIGNMENT);
        self.data.resize(padded, 0);
    }

    /// The bytes of the answer.
    pub fn finish(mut self) -> Vec<u8> {
        self.header
            .insert("arrays".to_owned(), Value::Array(self.arrays));
        let mut header = Value::Object(self.header).to_string().into_bytes();
        header.resize((4 + header.len()).next_multiple_of(ALIGNMENT) - 4, b' ');
        let length = (header.len() as u32).to_le_bytes();
        [&length[..], &header, &self.data].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_are_aligned_and_listed_with_their_range() {
        let mut answer = Arrays::of_frame(3, 0.5);
        answer.add("speed", &[f32::NAN, -1.0, 2.5]);
        answer.add_vectors("triangles", &[[1u32, 2, 3]]);
        let bytes = answer.finish();
        let length = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]) as usize;
        assert_eq!((4 + length) % 8, 0);
        let header: Value = serde_json::from_slice(&bytes[4..4 + length]).expect("JSON");
        let data = &bytes[4 + length..];
        assert_eq!(
            (&header["frame"], &header["time"]),
            (&json!(3), &json!(0.5))
        );
        assert_eq!(
            header["arrays"][0],
            json!({ "name": "speed", "type": "f32", "components": 1, "offset": 0, "count": 3, "min": -1.0, "max": 2.5 })
        );
        let second = &header["arrays"][1];
        assert_eq!(
            (&second["offset"], &second["count"]),
            (&json!(16), &json!(1))
        );
        assert_eq!(data[16..28], [1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0]);
        assert_eq!(data.len(), 32);
    }
}
