//! Reader for the part of Thrift's compact protocol that Parquet metadata needs: integers and lengths of
//! lists, by their field ids.

/// Value at a path of field ids. Entries of a list have the path of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ThriftValue {
    /// An integer.
    Number(i64),
    /// A list, by its number of entries.
    List(u64),
}

/// Limit on nested structs: the reader is recursive, and Parquet needs six.
const MAX_DEPTH: usize = 16;

/// Reads a struct and passes its values to `visit`. Returns the number of bytes read, or `None` if the struct is
/// truncated or invalid.
pub(super) fn read(bytes: &[u8], visit: &mut dyn FnMut(&[i16], ThriftValue)) -> Option<usize> {
    let mut reader = Reader {
        bytes,
        path: Vec::new(),
        visit,
    };
    reader.fields()?;
    Some(bytes.len() - reader.bytes.len())
}

struct Reader<'a> {
    /// Bytes not yet read.
    bytes: &'a [u8],
    path: Vec<i16>,
    visit: &'a mut dyn FnMut(&[i16], ThriftValue),
}

impl Reader<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        Some(*first)
    }

    fn skip(&mut self, count: u64) -> Option<()> {
        self.bytes = self.bytes.get(usize::try_from(count).ok()?..)?;
        Some(())
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7F) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    fn integer(&mut self) -> Option<i64> {
        let coded = self.varint()?;
        Some((coded >> 1) as i64 ^ -((coded & 1) as i64))
    }

    fn fields(&mut self) -> Option<()> {
        if self.path.len() == MAX_DEPTH {
            return None;
        }
        let mut id = 0_i16;
        loop {
            let head = self.byte()?;
            let kind = head & 0x0F;
            if kind == 0 {
                return Some(());
            }
            id = match head >> 4 {
                0 => self.integer()?.try_into().ok()?,
                step => id.checked_add(i16::from(step))?,
            };
            self.path.push(id);
            // A boolean field has its value in the kind, and no further bytes.
            if !matches!(kind, 1 | 2) {
                self.value(kind)?;
            }
            self.path.pop();
        }
    }

    fn value(&mut self, kind: u8) -> Option<()> {
        match kind {
            1..=3 => self.skip(1),
            4..=6 => {
                let value = self.integer()?;
                (self.visit)(&self.path, ThriftValue::Number(value));
                Some(())
            }
            7 => self.skip(8),
            8 => {
                let length = self.varint()?;
                self.skip(length)
            }
            9 | 10 => {
                let head = self.byte()?;
                let count = match head >> 4 {
                    15 => self.varint()?,
                    count => u64::from(count),
                };
                // Each entry takes at least one byte.
                if count > self.bytes.len() as u64 {
                    return None;
                }
                (self.visit)(&self.path, ThriftValue::List(count));
                (0..count).try_for_each(|_| self.value(head & 0x0F))
            }
            12 => self.fields(),
            // Parquet metadata contain no maps.
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type ReadValues = (Vec<(Vec<i16>, ThriftValue)>, usize);

    fn values(bytes: &[u8]) -> Option<ReadValues> {
        let mut values = Vec::new();
        let length = read(bytes, &mut |path, value| {
            values.push((path.to_vec(), value))
        })?;
        Some((values, length))
    }

    #[test]
    fn numbers_and_lists_are_given_by_their_fields() {
        // 1: i32 -3, 2: [{1: true, 2: "ab"}, {17: i64 300}], 3: double; a byte follows.
        let bytes = [
            0x15, 5, 0x19, 0x2C, 0x11, 0x18, 2, b'a', b'b', 0, 0x06, 34, 0xD8, 4, 0, 0x17, 0, 0, 0,
            0, 0, 0, 0, 0, 0, 9,
        ];
        let expected = vec![
            (vec![1], ThriftValue::Number(-3)),
            (vec![2], ThriftValue::List(2)),
            (vec![2, 17], ThriftValue::Number(300)),
        ];
        assert_eq!(values(&bytes), Some((expected, bytes.len() - 1)));
        for end in 0..bytes.len() - 1 {
            assert_eq!(values(&bytes[..end]), None, "{end}");
        }
    }

    #[test]
    fn what_cannot_be_is_refused() {
        assert_eq!(
            values(&[0x18, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F, 0]),
            None,
            "text"
        );
        assert_eq!(values(&[0x19, 0xFC, 0xFF, 0x7F, 0]), None, "entries");
        assert_eq!(values(&[0x1C; 1000]), None, "depth");
        assert_eq!(values(&[0x15; 12].map(|_| 0xFF)), None, "kind");
    }
}
