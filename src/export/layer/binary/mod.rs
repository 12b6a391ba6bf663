//! A layer as binary USD (`.usdc`, version 0.8), after Pixar's OpenUSD, `pxr/usd/sdf/crateFile.cpp`.
//!
//! Values are written as they are described, equal arrays once; tables of words, fields, paths and specs follow, and
//! the head of the file says where they are.

mod tables;

use std::collections::HashMap;
use std::io::{self, Seek, SeekFrom, Write};

use self::tables::{Spec, Tables, count};
use super::array::Array;
use super::array_spool::{ArrayKey, ArraySpool, StoredArray};
use super::content::{Content, Layer, Prim, Stage, Value, parts};
use super::encoding::binary::{ArrayTag, Representation, Type, small_integers};

/// Version of the format. Since 0.7 arrays may have more than 2^32 values.
const VERSION: [u8; 8] = [0, 8, 0, 0, 0, 0, 0, 0];
/// Size of the head of the file, bytes.
pub const HEAD: usize = 88;
/// Flags of a list that prepends to what weaker layers say, and of one that replaces it.
const PREPENDED: u8 = 1 << 5;
const EXPLICIT: u8 = 1 | 1 << 1;

/// A prim that is being described.
struct OpenPrim {
    path: String,
    index: u32,
    /// Indices of its fields.
    fields: Vec<u32>,
    /// Names of its properties and children.
    properties: Vec<u32>,
    children: Vec<u32>,
}

/// A binary layer.
pub struct BinaryLayer<'a, W> {
    out: &'a mut W,
    spool: &'a mut ArraySpool,
    position: u64,
    tables: Tables,
    /// The prims from the root to the open one.
    open: Vec<OpenPrim>,
    arrays: HashMap<ArrayKey, Representation>,
    /// Values that are not arrays and may occur again, by type and bytes.
    shared: HashMap<(Type, Vec<u8>), Representation>,
}

impl<'a, W: Write + Seek> BinaryLayer<'a, W> {
    /// Begins a layer at the start of a file.
    pub fn new(out: &'a mut W, spool: &'a mut ArraySpool, stage: &Stage) -> io::Result<Self> {
        let root = OpenPrim {
            path: String::new(),
            index: 0,
            fields: Vec::new(),
            properties: Vec::new(),
            children: Vec::new(),
        };
        let mut layer = BinaryLayer {
            out,
            spool,
            position: 0,
            tables: Tables::new(),
            open: vec![root],
            arrays: HashMap::new(),
            shared: HashMap::new(),
        };
        // The head is written last.
        layer.write(&[0; HEAD])?;
        layer.set_metadata(stage)?;
        Ok(layer)
    }

    /// Writes the tables and the head of the file.
    pub fn finish(mut self) -> io::Result<()> {
        let root = self.open.pop().expect("the root is never ended");
        self.add_prim_spec(root, Spec::Root)?;
        let mut contents = Vec::new();
        for (name, section) in self.tables.sections()? {
            let mut entry = [0; 16];
            entry[..name.len()].copy_from_slice(name.as_bytes());
            contents.extend(entry);
            contents.extend(self.position.to_le_bytes());
            contents.extend(count(section.len()));
            self.write(&section)?;
        }
        let place = self.position;
        self.write(&count(contents.len() / 32))?;
        self.write(&contents)?;
        self.out.seek(SeekFrom::Start(0))?;
        self.write(b"PXR-USDC")?;
        self.write(&VERSION)?;
        self.write(&place.to_le_bytes())?;
        self.out.seek(SeekFrom::End(0)).map(|_| ())
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.position += bytes.len() as u64;
        self.out.write_all(bytes)
    }

    fn set_metadata(&mut self, stage: &Stage) -> io::Result<()> {
        let word = |layer: &mut Self, text: &str| layer.token(text);
        let world = word(self, "World");
        let up = word(self, &stage.up);
        let metre = self.double(stage.metre)?;
        let mut fields = vec![
            ("defaultPrim", world),
            ("upAxis", up),
            ("metersPerUnit", metre),
        ];
        if let Some(timing) = &stage.timing {
            let [first, last] = timing.frames.map(f64::from);
            for (name, number) in [
                ("startTimeCode", first),
                ("endTimeCode", last),
                ("framesPerSecond", timing.playback),
                ("timeCodesPerSecond", timing.playback),
            ] {
                fields.push((name, self.double(number)?));
            }
            let data = [
                ("eventFramesPerSecond", timing.event),
                ("slowMotion", timing.slow_motion),
            ];
            fields.push(("customLayerData", self.dictionary(&data)?));
        }
        for (name, value) in fields {
            self.add_field(name, value);
        }
        Ok(())
    }

    /// Adds a field to the open prim.
    fn add_field(&mut self, name: &str, value: Representation) {
        let field = self.tables.field(name, value);
        self.open
            .last_mut()
            .expect("the root is open")
            .fields
            .push(field);
    }

    fn add_prim_spec(&mut self, prim: OpenPrim, kind: Spec) -> io::Result<()> {
        let mut fields = prim.fields;
        for (name, words) in [
            ("primChildren", prim.children),
            ("properties", prim.properties),
        ] {
            if !words.is_empty() {
                let bytes = indices(&words);
                let value = self.shared_value(Type::TokenVector, bytes)?;
                fields.push(self.tables.field(name, value));
            }
        }
        self.tables.add_spec(prim.index, kind, fields);
        Ok(())
    }

    fn token(&mut self, word: &str) -> Representation {
        Representation::inline(Type::Token, self.tables.word(word))
    }

    fn double(&mut self, number: f64) -> io::Result<Representation> {
        let single = number as f32;
        match f64::from(single) == number {
            true => Ok(Representation::inline(Type::Double, single.to_bits())),
            false => self.shared_value(Type::Double, number.to_le_bytes().to_vec()),
        }
    }

    /// A value that is not an array and does not fit in its representation; equal ones are stored once.
    fn shared_value(&mut self, kind: Type, bytes: Vec<u8>) -> io::Result<Representation> {
        let key = (kind, bytes);
        if let Some(&known) = self.shared.get(&key) {
            return Ok(known);
        }
        let value = self.unshared(kind, &key.1)?;
        self.shared.insert(key, value);
        Ok(value)
    }

    /// A value that hardly any other equals.
    fn unshared(&mut self, kind: Type, bytes: &[u8]) -> io::Result<Representation> {
        self.align()?;
        let value = Representation::at(kind, self.position);
        self.write(bytes)?;
        Ok(value)
    }

    /// Arrays begin at multiples of eight bytes, so that readers can use them where they are.
    fn align(&mut self) -> io::Result<()> {
        let gap = self.position.next_multiple_of(8) - self.position;
        self.write(&[0; 8][..gap as usize])
    }

    fn dictionary(&mut self, entries: &[(&str, f64)]) -> io::Result<Representation> {
        let mut bytes = count(entries.len());
        for (name, number) in entries {
            let value = self.double(*number)?;
            bytes.extend(self.tables.string(name).to_le_bytes());
            push_apart(&mut bytes, value);
        }
        self.shared_value(Type::Dictionary, bytes)
    }

    fn array(&mut self, array: StoredArray) -> io::Result<Representation> {
        let key = array.key();
        if let Some(&known) = self.arrays.get(&key) {
            return Ok(known);
        }
        if key.1.is_empty() {
            return Ok(Representation::array(key.1, 0));
        }
        self.align()?;
        let value = Representation::array(key.1, self.position);
        self.position += self.spool.copy(array, self.out)?;
        self.arrays.insert(key, value);
        Ok(value)
    }

    fn value(&mut self, value: Value) -> io::Result<Representation> {
        match value {
            Value::Token(word) => Ok(self.token(word)),
            Value::Tokens(words) => {
                let words: Vec<u32> = words.iter().map(|word| self.tables.word(word)).collect();
                let Representation(at) = self.shared_value(Type::Token, indices(&words))?;
                let place = at & ((1 << 48) - 1);
                Ok(Representation::array(ArrayTag::tokens(words.len()), place))
            }
            Value::Int(number) => Ok(Representation::inline(Type::Int, number)),
            Value::Float(number) => Ok(Representation::inline(Type::Float, number.to_bits())),
            Value::Double(number) => self.double(number),
            Value::Vec3f(values) => match small_integers(values) {
                Some(bits) => Ok(Representation::inline(Type::Vec3f, bits)),
                None => {
                    let bytes = values.map(f32::to_le_bytes);
                    self.shared_value(Type::Vec3f, bytes.as_flattened().to_vec())
                }
            },
            Value::Vec3d(values) => {
                let bytes = values.map(|value| f64::from(value).to_le_bytes());
                self.unshared(Type::Vec3d, bytes.as_flattened())
            }
            // The real part is last in memory.
            Value::Quatd([w, x, y, z]) => {
                let bytes = [x, y, z, w].map(f64::to_le_bytes);
                self.unshared(Type::Quatd, bytes.as_flattened())
            }
            Value::Array(array) => self.array(array),
        }
    }

    fn samples(&mut self, samples: &[(f64, Value)]) -> io::Result<Representation> {
        let mut values = Vec::with_capacity(samples.len());
        for (_, value) in samples {
            values.push(self.value(*value)?);
        }
        let mut times = count(samples.len());
        times.extend(samples.iter().flat_map(|(time, _)| time.to_le_bytes()));
        let times = self.shared_value(Type::DoubleVector, times)?;
        let mut bytes = Vec::new();
        push_apart(&mut bytes, times);
        bytes.extend(NOTHING_BETWEEN);
        bytes.extend(count(values.len()));
        bytes.extend(values.iter().flat_map(|value| value.0.to_le_bytes()));
        self.unshared(Type::TimeSamples, &bytes)
    }

    /// Adds a property to the open prim, with its fields.
    fn add_property(&mut self, name: &str, kind: Spec, fields: Vec<u32>) {
        let depth = self.open.len();
        let prim = self.open.last_mut().expect("the root is open");
        let path = format!("{}.{name}", prim.path);
        prim.properties.push(self.tables.word(name));
        let path = self.tables.add_path(&path, name, (depth, true));
        self.tables.add_spec(path, kind, fields);
    }

    /// A list of paths that replaces weaker ones.
    fn paths(&mut self, paths: &[&str]) -> io::Result<Representation> {
        let paths: Vec<u32> = paths.iter().map(|path| self.tables.path(path)).collect();
        let mut bytes = vec![EXPLICIT];
        bytes.extend(indices(&paths));
        self.shared_value(Type::PathListOp, bytes)
    }
}

/// Distance to what follows a nested value that stands elsewhere.
const NOTHING_BETWEEN: [u8; 8] = 8u64.to_le_bytes();

/// Appends a value that stands elsewhere.
fn push_apart(bytes: &mut Vec<u8>, value: Representation) {
    bytes.extend(NOTHING_BETWEEN);
    bytes.extend(value.0.to_le_bytes());
}

/// A number of indices, and the indices.
fn indices(values: &[u32]) -> Vec<u8> {
    let mut bytes = count(values.len());
    bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    bytes
}

impl<W: Write + Seek> Layer for BinaryLayer<'_, W> {
    fn begin(&mut self, prim: Prim) -> io::Result<()> {
        let depth = self.open.len();
        let parent = self.open.last_mut().expect("the root is open");
        let path = format!("{}/{}", parent.path, prim.name);
        parent.children.push(self.tables.word(prim.name));
        self.open.push(OpenPrim {
            index: self.tables.add_path(&path, prim.name, (depth, false)),
            path,
            fields: Vec::new(),
            properties: Vec::new(),
            children: Vec::new(),
        });
        self.add_field("specifier", Representation::inline(Type::Specifier, 0));
        let schema = self.token(prim.schema);
        self.add_field("typeName", schema);
        if let Some(kind) = prim.kind {
            let kind = self.token(kind);
            self.add_field("kind", kind);
        }
        if let Some(api) = prim.api {
            let mut bytes = vec![PREPENDED];
            bytes.extend(indices(&[self.tables.word(api)]));
            let schemas = self.shared_value(Type::TokenListOp, bytes)?;
            self.add_field("apiSchemas", schemas);
        }
        Ok(())
    }

    fn attribute(
        &mut self,
        declaration: &str,
        interpolation: &str,
        content: Content,
    ) -> io::Result<()> {
        let (is_uniform, kind, name) = parts(declaration);
        let kind = self.token(kind);
        let mut fields = vec![self.tables.field("typeName", kind)];
        if is_uniform {
            let uniform = Representation::inline(Type::Variability, 1);
            fields.push(self.tables.field("variability", uniform));
        }
        if !interpolation.is_empty() {
            let interpolation = self.token(interpolation);
            fields.push(self.tables.field("interpolation", interpolation));
        }
        let (field, value) = match content {
            Content::Declared => ("", None),
            Content::Constant(value) => ("default", Some(self.value(value)?)),
            Content::Samples(samples) => ("timeSamples", Some(self.samples(samples)?)),
            Content::Connection(path) => ("connectionPaths", Some(self.paths(&[path])?)),
        };
        if let Some(value) = value {
            fields.push(self.tables.field(field, value));
        }
        self.add_property(name, Spec::Attribute, fields);
        Ok(())
    }

    fn relationship(&mut self, name: &str, targets: &[String]) -> io::Result<()> {
        let targets: Vec<&str> = targets.iter().map(String::as_str).collect();
        let paths = self.paths(&targets)?;
        // Relationships are uniform.
        let uniform = Representation::inline(Type::Variability, 1);
        let fields = vec![
            self.tables.field("variability", uniform),
            self.tables.field("targetPaths", paths),
        ];
        self.add_property(name, Spec::Relationship, fields);
        Ok(())
    }

    fn end(&mut self) -> io::Result<()> {
        let prim = self.open.pop().expect("a prim is open");
        self.add_prim_spec(prim, Spec::Prim)
    }

    fn store(&mut self, array: &Array) -> io::Result<StoredArray> {
        self.spool.store(array)
    }
}
