//! What kernels know of columns: names, entries, what is done with them, how they are split.

/// A number that Rust and kernels share: name and value of a `const NAME: u32`.
pub type Constant = (&'static str, u32);

/// A column as kernels call it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnName {
    /// Name in the texts.
    pub name: &'static str,
    /// What its entries are.
    pub item: Item,
}

impl ColumnName {
    /// Binding of a kernel that reads it.
    pub const fn read(self) -> Binding {
        self.bound(Access::Read)
    }
    /// Binding of a kernel that reads and writes it.
    pub const fn write(self) -> Binding {
        self.bound(Access::Write)
    }
    const fn bound(self, access: Access) -> Binding {
        let ColumnName { name, item } = self;
        Binding { name, item, access }
    }
}

/// A column as a kernel knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Binding {
    /// Name in the text.
    pub name: &'static str,
    /// What its entries are.
    pub item: Item,
    /// What is done with it.
    pub access: Access,
}

/// What a kernel does with a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Reads.
    Read,
    /// Reads and writes.
    Write,
}

/// What an entry of a column is in WGSL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item {
    /// `u32`.
    U32,
    /// `atomic<u32>`; reached by `NAME_load`, `_store`, `_add`, `_and`, `_or`, `_min`, `_max`.
    Atomic,
    /// `vec2<f32>`.
    Vec2,
    /// `vec4<f32>`.
    Vec4,
}

impl Item {
    /// Bytes.
    pub fn size(self) -> u64 {
        match self {
            Item::U32 | Item::Atomic => 4,
            Item::Vec2 => 8,
            Item::Vec4 => 16,
        }
    }
    /// The same without atomic access.
    pub(super) fn plain(self) -> Self {
        match self {
            Item::Atomic => Item::U32,
            other => other,
        }
    }
    /// Type in WGSL.
    pub(super) fn wgsl(self) -> &'static str {
        match self {
            Item::U32 => "u32",
            Item::Atomic => "atomic<u32>",
            Item::Vec2 => "vec2<f32>",
            Item::Vec4 => "vec4<f32>",
        }
    }
}

/// How a column lies in buffers: what a kernel's text depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Split {
    /// Buffers.
    pub parts: usize,
    /// Items of each but the last.
    pub per_part: u64,
}
