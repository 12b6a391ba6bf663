//! Objects, properties and times of an Alembic archive.
//!
//! There is no specification. The layout is that of Alembic 1.8, `lib/Alembic/AbcCoreOgawa/WriteUtil.cpp` and
//! `ReadUtil.cpp`.

use std::collections::HashMap;
use std::io::{self, Seek, Write};

use super::ogawa::{Child, NO_DATA, Ogawa};

/// Version of the layout, and version of Alembic that the file is like.
const VERSIONS: [i32; 2] = [0, 10_805];
/// Seconds per cycle that mark times as a list.
const LISTED: f64 = f64::MAX / 32.0;
/// Bytes at the end of headers of objects for hashes of properties and children, which no reader needs.
const HASHES: [u8; 32] = [0; 32];
/// Index that says that metadata follows.
const INLINE: u32 = 0xFF;
/// Number of the times that properties have that do not change.
pub const STILL: u32 = 0;

/// Type of the values of a property: number of the type, and how many make up a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Type(u32, u32);

impl Type {
    /// Truth values.
    pub const BOOL: Type = Type(0, 1);
    /// Unsigned integers of 8 bits.
    pub const U8: Type = Type(1, 1);
    /// Integers of 8 bits.
    pub const I8: Type = Type(2, 1);
    /// Unsigned integers of 32 bits.
    pub const U32: Type = Type(5, 1);
    /// Integers of 32 bits.
    pub const I32: Type = Type(6, 1);
    /// Single precision.
    pub const F32: Type = Type(10, 1);
    /// Pairs in single precision.
    pub const F32X2: Type = Type(10, 2);
    /// Vectors in single precision.
    pub const F32X3: Type = Type(10, 3);
    /// Boxes in double precision.
    pub const F64X6: Type = Type(11, 6);
    /// Matrices in double precision.
    pub const F64X16: Type = Type(11, 16);

    /// Name of the type of the numbers in metadata, and how many make up a value.
    pub fn numbers(self) -> (&'static str, u32) {
        let name = match self.0 {
            0 => "bool_t",
            1 => "uint8_t",
            2 => "int8_t",
            5 => "uint32_t",
            6 => "int32_t",
            10 => "float32_t",
            _ => "float64_t",
        };
        (name, self.1)
    }
}

/// Name, metadata and type of a property.
#[derive(Clone, Copy, Debug)]
pub struct Header<'a> {
    /// Name.
    pub name: &'a str,
    /// Metadata, as `key=value;key=value`.
    pub metadata: &'a str,
    /// Type of its values.
    pub kind: Type,
}

/// Properties under construction.
#[derive(Default)]
pub struct Properties {
    children: Vec<Child>,
    headers: Vec<u8>,
}

/// An object that is written.
pub struct Object {
    /// Name.
    pub name: String,
    /// Metadata, which name its schema.
    pub metadata: String,
    /// Its place.
    pub place: Child,
}

/// Times of samples.
struct Times {
    /// Largest number of samples of a property that has them.
    used: u32,
    seconds: Vec<f64>,
}

/// An archive that is being written.
pub struct Archive<'a, W> {
    ogawa: Ogawa<'a, W>,
    times: Vec<Times>,
    time_index: HashMap<Vec<u64>, u32>,
    /// Short metadata, which headers refer to.
    metadata: Vec<String>,
}

impl<'a, W: Write + Seek> Archive<'a, W> {
    /// Begins an archive.
    pub fn new(out: &'a mut W) -> io::Result<Self> {
        Ok(Archive {
            ogawa: Ogawa::new(out)?,
            times: vec![Times {
                used: 0,
                seconds: vec![0.0],
            }],
            time_index: HashMap::new(),
            metadata: Vec::new(),
        })
    }

    /// Index of ascending times, s.
    pub fn times(&mut self, seconds: Vec<f64>) -> u32 {
        let bits: Vec<u64> = seconds.iter().map(|time| time.to_bits()).collect();
        let next = self.times.len() as u32;
        let index = *self.time_index.entry(bits).or_insert(next);
        if index == next {
            self.times.push(Times { used: 0, seconds });
        }
        index
    }

    /// Writes a sample, once if it occurs again.
    pub fn sample(&mut self, bytes: &[u8]) -> io::Result<Child> {
        self.ogawa.sample(bytes)
    }

    /// Adds a property with one value for all times.
    pub fn add_scalar(
        &mut self,
        to: &mut Properties,
        header: Header,
        value: &[u8],
    ) -> io::Result<()> {
        let value = self.sample(value)?;
        self.add_scalars(to, header, STILL, &[value])
    }

    /// Adds a property with values by time; `times` is the index of the times.
    pub fn add_scalars(
        &mut self,
        to: &mut Properties,
        header: Header,
        times: u32,
        values: &[Child],
    ) -> io::Result<()> {
        let stored = &values[..stored(values)];
        to.children.push(self.ogawa.group(stored)?);
        self.add_header(to, (header, 1), times, (values.len(), stored.len()));
        Ok(())
    }

    /// Adds a property with one array of `count` values for all times.
    pub fn add_array(
        &mut self,
        to: &mut Properties,
        header: Header,
        count: usize,
        array: &[u8],
    ) -> io::Result<()> {
        let array = self.sample(array)?;
        self.add_arrays(to, header, (STILL, count), &[array])
    }

    /// Adds a property with arrays of `count` values by time.
    pub fn add_arrays(
        &mut self,
        to: &mut Properties,
        header: Header,
        (times, count): (u32, usize),
        arrays: &[Child],
    ) -> io::Result<()> {
        let stored = &arrays[..stored(arrays)];
        // After each array its dimensions, which follow from its size.
        let children: Vec<Child> = stored.iter().flat_map(|array| [*array, NO_DATA]).collect();
        to.children.push(self.ogawa.group(&children)?);
        let shape = 2 | u32::from(count == 1);
        self.add_header(to, (header, shape), times, (arrays.len(), stored.len()));
        Ok(())
    }

    /// Adds properties of a property.
    pub fn add_compound(
        &mut self,
        to: &mut Properties,
        (name, metadata): (&str, &str),
        properties: Properties,
    ) -> io::Result<()> {
        to.children.push(self.properties(properties)?);
        let index = self.metadata_index(metadata);
        let hint = size_hint(&[name.len(), metadata.len()]);
        let info = hint << 2 | index << 20;
        to.headers.extend(info.to_le_bytes());
        push_name(&mut to.headers, (name, metadata), index, hint);
        Ok(())
    }

    /// Writes an object with its properties and children.
    pub fn object(&mut self, properties: Properties, children: &[Object]) -> io::Result<Child> {
        let mut group = vec![self.properties(properties)?];
        let mut headers = Vec::new();
        for child in children {
            group.push(child.place);
            let index = self.metadata_index(&child.metadata);
            headers.extend((child.name.len() as u32).to_le_bytes());
            headers.extend(child.name.as_bytes());
            headers.push(index as u8);
            if index == INLINE {
                headers.extend((child.metadata.len() as u32).to_le_bytes());
                headers.extend(child.metadata.as_bytes());
            }
        }
        group.push(self.ogawa.data(&[&headers, &HASHES])?);
        self.ogawa.group(&group)
    }

    /// Writes what belongs to the whole archive; `top` is the object that contains all others.
    pub fn finish(mut self, top: Child, metadata: &str) -> io::Result<()> {
        let [layout, library] = VERSIONS.map(i32::to_le_bytes);
        let mut times = Vec::new();
        for (index, one) in self.times.iter().enumerate() {
            let cycle = if index as u32 == STILL { 1.0 } else { LISTED };
            times.extend(one.used.to_le_bytes());
            times.extend(cycle.to_le_bytes());
            times.extend((one.seconds.len() as u32).to_le_bytes());
            times.extend(one.seconds.iter().flat_map(|time| time.to_le_bytes()));
        }
        let mut known = Vec::new();
        for text in &self.metadata {
            known.push(text.len() as u8);
            known.extend(text.as_bytes());
        }
        let root = [
            self.ogawa.data(&[&layout])?,
            self.ogawa.data(&[&library])?,
            top,
            self.ogawa.data(&[metadata.as_bytes()])?,
            self.ogawa.data(&[&times])?,
            self.ogawa.data(&[&known])?,
        ];
        self.ogawa.finish(&root)
    }

    fn properties(&mut self, properties: Properties) -> io::Result<Child> {
        let mut group = properties.children;
        if !group.is_empty() {
            group.push(self.ogawa.data(&[&properties.headers])?);
        }
        self.ogawa.group(&group)
    }

    /// Adds the header of a property that is no compound. Its shape is 1 for single values, 2 for arrays, 3 for
    /// arrays of one value. Of all its samples some are stored: all, or one if they are equal.
    fn add_header(
        &mut self,
        to: &mut Properties,
        (header, shape): (Header, u32),
        times: u32,
        (samples, stored): (usize, usize),
    ) {
        let Header {
            name,
            metadata,
            kind: Type(kind, extent),
        } = header;
        let used = &mut self.times[times as usize].used;
        *used = (*used).max(samples as u32);
        let index = self.metadata_index(metadata);
        let hint = size_hint(&[name.len(), metadata.len(), samples, times as usize]);
        let has_times = u32::from(times != STILL);
        let is_constant = u32::from(stored == 1);
        // All arrays of a property have the same size.
        let info = shape
            | hint << 2
            | kind << 4
            | has_times << 8
            | 1 << 10
            | is_constant << 11
            | extent << 12
            | index << 20;
        to.headers.extend(info.to_le_bytes());
        push_number(&mut to.headers, samples, hint);
        if times != STILL {
            push_number(&mut to.headers, times as usize, hint);
        }
        push_name(&mut to.headers, (name, metadata), index, hint);
    }

    fn metadata_index(&mut self, text: &str) -> u32 {
        if text.is_empty() {
            return 0;
        }
        if let Some(known) = self.metadata.iter().position(|known| known == text) {
            return known as u32 + 1;
        }
        if text.len() > 255 || self.metadata.len() == 254 {
            return INLINE;
        }
        self.metadata.push(text.to_owned());
        self.metadata.len() as u32
    }
}

/// Number of samples that must be stored: one if all are equal.
fn stored(samples: &[Child]) -> usize {
    match samples.iter().all(|sample| *sample == samples[0]) {
        true => samples.len().min(1),
        false => samples.len(),
    }
}

/// Number that stands for the bytes that all these numbers fit in: 0 for one, 1 for two, 2 for four.
fn size_hint(numbers: &[usize]) -> u32 {
    match numbers.iter().max() {
        Some(0x100..=0xFFFF) => 1,
        Some(0x1_0000..) => 2,
        _ => 0,
    }
}

fn push_number(out: &mut Vec<u8>, number: usize, hint: u32) {
    out.extend(&(number as u32).to_le_bytes()[..1 << hint]);
}

/// Appends a name, and metadata where the index does not stand for them.
fn push_name(out: &mut Vec<u8>, (name, metadata): (&str, &str), index: u32, hint: u32) {
    push_number(out, name.len(), hint);
    out.extend(name.as_bytes());
    if index == INLINE {
        push_number(out, metadata.len(), hint);
        out.extend(metadata.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    /// The same bytes as the reference library writes for the same properties.
    #[test]
    fn headers_are_those_of_the_reference_library() {
        let mut file = Cursor::new(Vec::new());
        let mut archive = Archive::new(&mut file).expect("written");
        let mut properties = Properties::default();
        let times = archive.times(vec![0.5, 0.75, 1.0]);
        assert_eq!((times, archive.times(vec![0.5, 0.75, 1.0])), (1, 1));
        let header = |name, metadata, kind| Header {
            name,
            metadata,
            kind,
        };
        let flag = header("visible", "", Type::I8);
        let samples = [0u8, 1, 0].map(|value| archive.sample(&[value]).expect("written"));
        archive
            .add_scalars(&mut properties, flag, times, &samples)
            .expect("written");
        let places = header("P", "geoScope=vtx;interpretation=point", Type::F32X3);
        archive
            .add_array(&mut properties, places, 2, &[0; 24])
            .expect("written");
        // Type, numbers of samples and times, length of the name, name.
        let visible = [&[0x21, 0x15, 0, 0, 3, 1, 7][..], b"visible"].concat();
        let place = [&[0xA2, 0x3C, 0x10, 0, 1, 1][..], b"P"].concat();
        assert_eq!(properties.headers, [visible, place].concat());
    }

    #[test]
    fn long_names_and_metadata_have_longer_counts() {
        assert_eq!(
            [255, 256, 65_535, 65_536].map(|n| size_hint(&[3, n])),
            [0, 1, 1, 2]
        );
        let mut file = Cursor::new(Vec::new());
        let mut archive = Archive::new(&mut file).expect("written");
        let long = "a".repeat(300);
        assert_eq!(archive.metadata_index(&long), INLINE);
        assert_eq!(
            ["", "b", "c", "b"].map(|text| archive.metadata_index(text)),
            [0, 1, 2, 1]
        );
    }
}
