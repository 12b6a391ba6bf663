//! WGSL texts of kernels: declarations of constants and columns, generated from lists in Rust, followed by the source
//! texts in a fixed order.

use std::fmt::Write;

use super::binding::{Binding, ColumnSplit, Constant};
use super::column::{Column, declare};
use super::error::GpuError;
use super::sizes::{STORAGE_BUFFERS, WORKGROUP};

/// The text of a kernel, independent of a device.
#[derive(Clone, Copy, Debug)]
pub struct KernelText {
    name: &'static str,
    constants: &'static [&'static [Constant]],
    sources: &'static [&'static str],
    bindings: &'static [Binding],
}

impl KernelText {
    /// A kernel with the name of its file. `sources` are joined in order; the last one has the entry points.
    /// Columns are bound in the order of `bindings`.
    ///
    /// A constant with more bindings than every adapter supports fails to compile.
    pub const fn new(
        name: &'static str,
        constants: &'static [&'static [Constant]],
        sources: &'static [&'static str],
        bindings: &'static [Binding],
    ) -> Self {
        assert!(
            bindings.len() <= STORAGE_BUFFERS as usize,
            "a kernel binds more columns than every adapter has storage buffers"
        );
        KernelText {
            name,
            constants,
            sources,
            bindings,
        }
    }

    /// Name of its file.
    pub fn name(&self) -> &'static str {
        self.name
    }
    /// Columns, in order of binding.
    pub fn bindings(&self) -> &'static [Binding] {
        self.bindings
    }
    /// Source texts, in order.
    pub fn sources(&self) -> &'static [&'static str] {
        self.sources
    }

    /// Looks up the columns that the text names. Fails if there is no column of a name, or if it has other items.
    pub fn bound<'a>(
        &self,
        find: impl Fn(&str) -> Option<&'a Column>,
    ) -> Result<BoundColumns<'a>, GpuError> {
        let found = |binding: &Binding| {
            let column =
                find(binding.name).ok_or_else(|| format!("there is no column {}", binding.name))?;
            // Kernels that need no atomic access may bind a column of atomics as plain numbers.
            if binding.item.plain() != column.item().plain() {
                return Err(format!(
                    "column {} of {} is bound as {} of {}",
                    column.name(),
                    column.item().wgsl(),
                    binding.name,
                    binding.item.wgsl()
                ));
            }
            Ok(column)
        };
        let columns: Result<Vec<_>, String> = self.bindings.iter().map(found).collect();
        Ok(BoundColumns {
            text: *self,
            columns: columns.map_err(|reason| GpuError::Refused {
                what: format!("kernel {}", self.name),
                reason,
            })?,
        })
    }
}

/// The columns of a kernel's bindings, in their order.
#[derive(Clone, Debug)]
pub struct BoundColumns<'a> {
    pub(super) text: KernelText,
    pub(super) columns: Vec<&'a Column>,
}

impl BoundColumns<'_> {
    /// How each column is split.
    pub fn splits(&self) -> Vec<ColumnSplit> {
        let columns = self.columns.iter();
        columns
            .map(|column| ColumnSplit {
                parts: column.parts().len(),
                per_part: column.per_part(),
            })
            .collect()
    }
}

/// The whole WGSL text of a kernel, for columns that are split in this way.
pub fn compose(kernel: &KernelText, splits: &[ColumnSplit]) -> String {
    let mut text = String::new();
    let own: &[Constant] = &[("WORKGROUP", WORKGROUP)];
    for (name, value) in own.iter().chain(kernel.constants.iter().copied().flatten()) {
        let _ = writeln!(text, "const {name}: u32 = {value}u;");
    }
    let mut next = 0;
    for (binding, split) in kernel.bindings.iter().zip(splits) {
        declare(&mut text, binding, *split, next);
        next += split.parts as u32;
    }
    for source in kernel.sources {
        text.push('\n');
        text.push_str(source);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::{ColumnName, Item};

    const TEXT: KernelText = KernelText::new(
        "sample",
        &[&[("ROWS", 3)]],
        &["fn last() -> u32 { return counts(ROWS); }"],
        &[ColumnName {
            name: "counts",
            item: Item::U32,
        }
        .read()],
    );

    #[test]
    fn a_kernel_that_names_an_unknown_column_is_refused() {
        let error = TEXT.bound(|_| None).unwrap_err().to_string();
        assert_eq!(
            error,
            "the graphics device refused kernel sample: there is no column counts"
        );
    }

    #[test]
    fn constants_and_columns_are_written_before_the_text() {
        let split = ColumnSplit {
            parts: 1,
            per_part: 64,
        };
        let text = compose(&TEXT, &[split]);
        let lines: Vec<_> = text.lines().collect();
        let expected = [
            "const WORKGROUP: u32 = 64u;",
            "const ROWS: u32 = 3u;",
            "@group(0) @binding(0) var<storage, read> counts_part_0: array<u32>;",
        ];
        assert_eq!(lines[..3], expected);
        assert!(text.ends_with(TEXT.sources[0]));
    }
}
