//! Columns as kernels declare them: names, item types, access, and how they are split over buffers.

/// A constant shared by Rust and kernels: name and value of a `const NAME: u32`.
pub type Constant = (&'static str, u32);

/// Name and item type of a column in kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnName {
    /// Name in WGSL.
    pub name: &'static str,
    /// Type of its items.
    pub item: Item,
}

impl ColumnName {
    /// Binding for a kernel that reads it.
    pub const fn read(self) -> Binding {
        self.bound(Access::Read)
    }
    /// Binding for a kernel that reads and writes it.
    pub const fn write(self) -> Binding {
        self.bound(Access::Write)
    }
    /// The same column without atomic access, for a kernel that runs while nothing writes it: loads may be cached.
    pub const fn plain(self) -> Self {
        ColumnName {
            name: self.name,
            item: self.item.plain(),
        }
    }
    const fn bound(self, access: Access) -> Binding {
        let ColumnName { name, item } = self;
        Binding { name, item, access }
    }
}

/// A column that a kernel binds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Binding {
    /// Name in WGSL.
    pub name: &'static str,
    /// Type of its items.
    pub item: Item,
    /// Access of the kernel.
    pub access: Access,
}

/// Access of a kernel to a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Read only.
    Read,
    /// Read and write.
    Write,
}

/// WGSL type of the items of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item {
    /// `u32`.
    U32,
    /// `atomic<u32>`; accessed by `NAME_load`, `_store`, `_add`, `_and`, `_or`, `_min`, `_max`.
    Atomic,
    /// `f32`.
    F32,
    /// `vec2<f32>`.
    Vec2,
    /// `vec4<f32>`.
    Vec4,
}

impl Item {
    /// Size, bytes.
    pub fn size(self) -> u64 {
        match self {
            Item::U32 | Item::Atomic | Item::F32 => 4,
            Item::Vec2 => 8,
            Item::Vec4 => 16,
        }
    }
    /// The same type without atomic access.
    pub(super) const fn plain(self) -> Self {
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
            Item::F32 => "f32",
            Item::Vec2 => "vec2<f32>",
            Item::Vec4 => "vec4<f32>",
        }
    }
}

/// How a column is split over buffers; the text of a kernel depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnSplit {
    /// Number of buffers.
    pub parts: usize,
    /// Items in each buffer except the last.
    pub per_part: u64,
}
