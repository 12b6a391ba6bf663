//! Columns in device memory, split over several buffers if they exceed the binding limit.

use std::fmt::Write;

use bytemuck::Pod;
use wgpu::{Buffer, BufferUsages, CommandEncoder};

use super::binding::{Access, Binding, ColumnSplit, Item};
use super::device::Device;
use super::error::GpuError;

/// A column of `count` items in device memory: the first `per_part` are in the first buffer, and so on.
#[derive(Debug)]
pub struct Column {
    name: &'static str,
    item: Item,
    count: u64,
    /// A power of two.
    per_part: u64,
    parts: Vec<Buffer>,
}

/// Number of items per part under a binding limit: a power of two, so that an index splits by shift and mask.
fn items_per_part(item: Item, count: u64, limit: u64) -> u64 {
    let fits = (limit / item.size()).max(4);
    if count <= fits {
        count.max(1).next_power_of_two()
    } else {
        1 << fits.ilog2()
    }
}

impl Column {
    /// Makes a column of `count` items, all zero.
    pub fn new(
        device: &Device,
        name: &'static str,
        item: Item,
        count: u64,
    ) -> Result<Self, GpuError> {
        let per_part = items_per_part(item, count, device.limits.binding);
        let usage = BufferUsages::STORAGE | BufferUsages::COPY_DST | BufferUsages::COPY_SRC;
        let parts = (0..count.max(1).div_ceil(per_part))
            .map(|part| {
                let items = (count.max(1) - part * per_part).min(per_part);
                device.buffer(name, items * item.size(), usage)
            })
            .collect::<Result<_, _>>()?;
        Ok(Column {
            name,
            item,
            count,
            per_part,
            parts,
        })
    }

    /// Makes a column with these values, whose memory layout is that of its items.
    pub fn from<T: Pod>(
        device: &Device,
        name: &'static str,
        item: Item,
        values: &[T],
    ) -> Result<Self, GpuError> {
        let count = size_of_val(values) as u64 / item.size();
        let column = Column::new(device, name, item, count)?;
        column.write(device, 0, values);
        Ok(column)
    }

    /// Name.
    pub fn name(&self) -> &'static str {
        self.name
    }
    /// Number of items.
    pub fn count(&self) -> u64 {
        self.count
    }
    /// Size, bytes.
    pub fn bytes(&self) -> u64 {
        self.count * self.item.size()
    }
    /// Type of its items.
    pub fn item(&self) -> Item {
        self.item
    }
    pub(super) fn parts(&self) -> &[Buffer] {
        &self.parts
    }
    pub(super) fn per_part(&self) -> u64 {
        self.per_part
    }

    /// Splits the range of `bytes` bytes from `from` on by parts: (part, offset in the part, length, offset
    /// from `from`).
    fn ranges(&self, from: u64, bytes: u64) -> impl Iterator<Item = (usize, u64, u64, u64)> {
        let part_bytes = self.per_part * self.item.size();
        let end = from + bytes;
        (from / part_bytes..end.div_ceil(part_bytes)).map(move |part| {
            let start = (part * part_bytes).max(from);
            let stop = ((part + 1) * part_bytes).min(end);
            (
                part as usize,
                start - part * part_bytes,
                stop - start,
                start - from,
            )
        })
    }

    /// Writes values from item `first` on; they are in place before the next submission runs.
    pub fn write<T: Pod>(&self, device: &Device, first: u64, values: &[T]) {
        let bytes: &[u8] = bytemuck::cast_slice(values);
        let from = first * self.item.size();
        for (part, offset, length, at) in self.ranges(from, bytes.len() as u64) {
            let part_bytes = &bytes[at as usize..(at + length) as usize];
            device.write(&self.parts[part], offset, part_bytes);
        }
    }

    /// Copies items `first..first + count` into a staging buffer, from byte `to` on; returns the bytes copied.
    pub fn copy_out(
        &self,
        encoder: &mut CommandEncoder,
        (first, count): (u64, u64),
        staging: &Buffer,
        to: u64,
    ) -> u64 {
        let (from, bytes) = (first * self.item.size(), count * self.item.size());
        for (part, offset, length, at) in self.ranges(from, bytes) {
            encoder.copy_buffer_to_buffer(&self.parts[part], offset, staging, to + at, length);
        }
        bytes
    }

    /// Copies items `from..from + count` of this column to items `to..` of another with the same item type.
    pub fn copy_to(
        &self,
        encoder: &mut CommandEncoder,
        (from, count): (u64, u64),
        other: &Column,
        to: u64,
    ) {
        let size = self.item.size();
        for (part, offset, length, at) in self.ranges(from * size, count * size) {
            for (other_part, other_offset, copied, within) in other.ranges(to * size + at, length) {
                encoder.copy_buffer_to_buffer(
                    &self.parts[part],
                    offset + within,
                    &other.parts[other_part],
                    other_offset,
                    copied,
                );
            }
        }
    }

    /// Waits for all submissions and reads the whole column. For tests and rare use; frames are read without waiting.
    pub fn read<T: Pod>(&self, device: &Device) -> Result<Vec<T>, GpuError> {
        let mut encoder = device.encoder();
        let staging = device.staging(self.bytes())?;
        self.copy_out(&mut encoder, (0, self.count), &staging, 0);
        let submission = device.submit(encoder);
        let words = device.read(Some(submission), &[(&staging, self.bytes())])?;
        Ok(bytemuck::pod_collect_to_vec(&words[0]))
    }
}

/// Appends WGSL declarations and accessors of a column: `NAME(i)` reads, `NAME_set(i, value)` writes; atomics have
/// `NAME_load`, `NAME_store` and one function per operation.
pub(super) fn declare(
    text: &mut String,
    binding: &Binding,
    split: ColumnSplit,
    first_binding: u32,
) {
    let &Binding { name, item, access } = binding;
    let ColumnSplit { parts, per_part } = split;
    let wgsl = item.wgsl();
    let space = match access {
        Access::Read => "storage, read",
        Access::Write => "storage, read_write",
    };
    for part in 0..parts {
        let binding = first_binding + part as u32;
        let _ = writeln!(
            text,
            "@group(0) @binding({binding}) var<{space}> {name}_part_{part}: array<{wgsl}>;"
        );
    }
    // Finds the part by a chain of comparisons: parts are few, and most of a workgroup takes the same branch.
    let mut function = |head: &str, make: &dyn Fn(String) -> String| {
        let _ = writeln!(text, "{head} {{");
        for part in 0..parts {
            let index = if parts == 1 {
                "i".to_owned()
            } else {
                format!("i & {}u", per_part - 1)
            };
            let body = make(format!("{name}_part_{part}[{index}]"));
            if part + 1 < parts {
                let end = (part as u64 + 1) * per_part;
                let _ = writeln!(text, "    if i < {end}u {{ {body} }}");
            } else {
                let _ = writeln!(text, "    {body}");
            }
        }
        text.push_str("}\n");
    };
    if item == Item::Atomic {
        function(&format!("fn {name}_load(i: u32) -> u32"), &|at| {
            format!("return atomicLoad(&{at});")
        });
        function(&format!("fn {name}_store(i: u32, value: u32)"), &|at| {
            format!("atomicStore(&{at}, value); return;")
        });
        for operation in ["Add", "And", "Or", "Min", "Max", "Exchange"] {
            let lower = operation.to_lowercase();
            function(
                &format!("fn {name}_{lower}(i: u32, value: u32) -> u32"),
                &|at| format!("return atomic{operation}(&{at}, value);"),
            );
        }
        return;
    }
    function(&format!("fn {name}(i: u32) -> {wgsl}"), &|at| {
        format!("return {at};")
    });
    if access == Access::Write {
        function(&format!("fn {name}_set(i: u32, value: {wgsl})"), &|at| {
            format!("{at} = value; return;")
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_hold_a_power_of_two_of_items() {
        assert_eq!(items_per_part(Item::Vec4, 100, 1 << 20), 128);
        assert_eq!(items_per_part(Item::Vec4, 100_000, 1 << 20), 65_536);
        assert_eq!(items_per_part(Item::Vec4, 100_000, (1 << 20) + 7), 65_536);
        assert_eq!(items_per_part(Item::U32, 0, 1 << 20), 1);
    }
}
