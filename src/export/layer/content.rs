//! What a layer consists of: prims, their attributes and relationships.

use std::io;

use super::array::Array;
use super::array_spool::StoredArray;

/// Metadata of a layer.
pub struct Stage {
    /// Metres per unit of length.
    pub metre: f64,
    /// Axis that points up, `Y` or `Z`.
    pub up: String,
    /// Frames and their rates; `None`: nothing moves.
    pub timing: Option<Timing>,
}

/// Frames of a layer. Time codes are frame numbers.
pub struct Timing {
    /// First and last frame.
    pub frames: [u32; 2],
    /// Frames per second that a host plays.
    pub playback: f64,
    /// Frames per second of the event.
    pub event: f64,
    /// Factor by which playback is slower than the event.
    pub slow_motion: f64,
}

/// Head of a prim.
#[derive(Clone, Copy)]
pub struct Prim<'a> {
    /// Its schema, such as `Mesh`.
    pub schema: &'a str,
    /// Name, an identifier that no other child of its parent has.
    pub name: &'a str,
    /// Kind of a model.
    pub kind: Option<&'a str>,
    /// API schema that is applied to it.
    pub api: Option<&'a str>,
}

impl<'a> Prim<'a> {
    /// A prim without metadata.
    pub fn new(schema: &'a str, name: &'a str) -> Self {
        Prim {
            schema,
            name,
            kind: None,
            api: None,
        }
    }
}

/// A value of an attribute.
#[derive(Clone, Copy, Debug)]
pub enum Value<'a> {
    /// `token`
    Token(&'a str),
    /// `token[]`
    Tokens(&'a [&'a str]),
    /// `int`
    Int(u32),
    /// `float`
    Float(f32),
    /// `double`
    Double(f64),
    /// `float3` and `color3f`
    Vec3f([f32; 3]),
    /// `double3`, with the precision of single numbers
    Vec3d([f32; 3]),
    /// `quatd`, w first
    Quatd([f64; 4]),
    /// An array.
    Array(StoredArray),
}

/// What an attribute holds.
#[derive(Clone, Copy, Debug)]
pub enum Content<'a> {
    /// Nothing: it is only declared.
    Declared,
    /// One value for all times.
    Constant(Value<'a>),
    /// Values by time, in frames; times ascend.
    Samples(&'a [(f64, Value<'a>)]),
    /// The value of another attribute, given by its path.
    Connection(&'a str),
}

/// A layer that is being written. Every prim that is begun must be ended.
pub trait Layer {
    /// Begins a child of the prim that is open.
    fn begin(&mut self, prim: Prim) -> io::Result<()>;

    /// Adds an attribute to the open prim. `declaration` is its type and name, as `point3f[] points`, after `uniform`
    /// if its value is the same at all times by definition; `interpolation` says what has a value of a primvar, or
    /// is empty.
    fn attribute(
        &mut self,
        declaration: &str,
        interpolation: &str,
        content: Content,
    ) -> io::Result<()>;

    /// Adds a relationship of the open prim to the prims at some paths.
    fn relationship(&mut self, name: &str, targets: &[String]) -> io::Result<()>;

    /// Ends the open prim.
    fn end(&mut self) -> io::Result<()>;

    /// Keeps an array for a later value.
    fn store(&mut self, array: &Array) -> io::Result<StoredArray>;
}

impl dyn Layer + '_ {
    /// Adds an attribute with one value.
    pub fn set(&mut self, declaration: &str, value: Value) -> io::Result<()> {
        self.attribute(declaration, "", Content::Constant(value))
    }

    /// Adds an attribute with a new array.
    pub fn set_array(
        &mut self,
        declaration: &str,
        interpolation: &str,
        array: &Array,
    ) -> io::Result<()> {
        let stored = self.store(array)?;
        self.set_stored(declaration, interpolation, stored)
    }

    /// Adds an attribute with a stored array.
    pub fn set_stored(
        &mut self,
        declaration: &str,
        interpolation: &str,
        array: StoredArray,
    ) -> io::Result<()> {
        let content = Content::Constant(Value::Array(array));
        self.attribute(declaration, interpolation, content)
    }

    /// Adds an attribute with stored arrays by time.
    pub fn animate(
        &mut self,
        declaration: &str,
        interpolation: &str,
        samples: &[(f64, StoredArray)],
    ) -> io::Result<()> {
        let samples = samples.iter();
        let samples: Vec<(f64, Value)> = samples.map(|&(t, a)| (t, Value::Array(a))).collect();
        self.attribute(declaration, interpolation, Content::Samples(&samples))
    }
}

/// Parts of a declaration: whether it is uniform, the type and the name.
pub fn parts(declaration: &str) -> (bool, &str, &str) {
    let typed = declaration.strip_prefix("uniform ");
    let (kind, name) = typed
        .unwrap_or(declaration)
        .split_once(' ')
        .unwrap_or_default();
    (typed.is_some(), kind, name)
}
