//! Numbers of accessors.

use super::document::{Document, SparsePart};

/// A document and the bytes of its buffers.
pub(super) struct SceneReader<'a> {
    pub document: &'a Document,
    pub buffers: Vec<Vec<u8>>,
}

impl SceneReader<'_> {
    /// Reads an accessor of this type, which has `N` components.
    pub(super) fn numbers<const N: usize>(
        &self,
        number: usize,
        kind: &str,
    ) -> Result<Vec<[f64; N]>, String> {
        let name = || format!("accessor {number}");
        let accessor = (self.document.accessors.get(number))
            .ok_or_else(|| format!("there is no accessor {number}"))?;
        if accessor.kind != kind {
            return Err(format!(
                "{} has the type {}; expected {kind}",
                name(),
                accessor.kind
            ));
        }
        let component =
            Component::of(accessor.component_type, accessor.normalized).ok_or_else(|| {
                format!(
                    "{}: unknown component type {}",
                    name(),
                    accessor.component_type
                )
            })?;
        let read = |view, offset, component, count| {
            self.elements::<N>(view, offset, component, count)
                .map_err(|what| format!("{}: {what}", name()))
        };
        let mut values = match accessor.buffer_view {
            Some(view) => read(view, accessor.byte_offset, component, accessor.count)?,
            // Without data all are 0, so only the size of the file bounds their number.
            None if accessor.count <= self.buffers.iter().map(Vec::len).sum() => {
                vec![[0.0; N]; accessor.count]
            }
            None => {
                return Err(format!(
                    "{} has {} elements, but no data",
                    name(),
                    accessor.count
                ));
            }
        };
        if let Some(sparse) = &accessor.sparse {
            let indices = sparse.indices.component_type.unwrap_or_default();
            let indices = Component::of(indices, false)
                .ok_or_else(|| format!("{}: unknown type of sparse indices", name()))?;
            let SparsePart {
                buffer_view,
                byte_offset,
                ..
            } = sparse.indices;
            let indices = self
                .elements::<1>(buffer_view, byte_offset, indices, sparse.count)
                .map_err(|what| format!("{}: {what}", name()))?;
            let SparsePart {
                buffer_view,
                byte_offset,
                ..
            } = sparse.values;
            let replaced = read(buffer_view, byte_offset, component, sparse.count)?;
            for ([index], value) in indices.into_iter().zip(replaced) {
                *values
                    .get_mut(index as usize)
                    .ok_or_else(|| format!("{}: sparse index {index} is too large", name()))? =
                    value;
            }
        }
        Ok(values)
    }

    /// Reads `count` elements of `N` components from a buffer view.
    fn elements<const N: usize>(
        &self,
        view: usize,
        offset: usize,
        component: Component,
        count: usize,
    ) -> Result<Vec<[f64; N]>, String> {
        let number = view;
        let short = || format!("buffer view {number} is too short for {count} elements");
        let view = (self.document.buffer_views.get(view))
            .ok_or_else(|| format!("there is no buffer view {number}"))?;
        if let Some(name) = view
            .extensions
            .iter()
            .flat_map(serde_json::Map::keys)
            .find(|name| name.contains("meshopt"))
        {
            return Err(format!(
                "its data are compressed ({name}), which is not read; export it without compression"
            ));
        }
        let buffer = (self.buffers.get(view.buffer))
            .ok_or_else(|| format!("there is no buffer {}", view.buffer))?;
        let bytes = (view.byte_offset.checked_add(view.byte_length))
            .and_then(|end| buffer.get(view.byte_offset..end))
            .and_then(|bytes| bytes.get(offset..))
            .ok_or_else(short)?;
        let size = N * component.size;
        let stride = view.byte_stride.unwrap_or(size).max(size);
        let Some(last) = count.checked_sub(1) else {
            return Ok(Vec::new());
        };
        let end = last
            .checked_mul(stride)
            .and_then(|start| start.checked_add(size));
        if end.is_none_or(|end| end > bytes.len()) {
            return Err(short());
        }
        let element = |at: usize| {
            std::array::from_fn(|c| component.read(&bytes[at * stride + c * component.size..]))
        };
        Ok((0..count).map(element).collect())
    }
}

/// Number format of an accessor.
#[derive(Clone, Copy)]
struct Component {
    kind: u32,
    /// Bytes.
    size: usize,
    normalized: bool,
}

impl Component {
    fn of(kind: u32, normalized: bool) -> Option<Self> {
        let size = match kind {
            5120 | 5121 => 1,
            5122 | 5123 => 2,
            5125 | 5126 => 4,
            _ => return None,
        };
        Some(Component {
            kind,
            size,
            normalized,
        })
    }

    /// The number at the beginning of `bytes`, which has at least `size`.
    fn read(self, bytes: &[u8]) -> f64 {
        let two = || [bytes[0], bytes[1]];
        let four = || [bytes[0], bytes[1], bytes[2], bytes[3]];
        let (value, most) = match self.kind {
            5120 => (f64::from(bytes[0] as i8), 127.0),
            5121 => (f64::from(bytes[0]), 255.0),
            5122 => (f64::from(i16::from_le_bytes(two())), 32767.0),
            5123 => (f64::from(u16::from_le_bytes(two())), 65535.0),
            5125 => return f64::from(u32::from_le_bytes(four())),
            _ => return f64::from(f32::from_le_bytes(four())),
        };
        match self.normalized {
            true => (value / most).max(-1.0),
            false => value,
        }
    }
}
