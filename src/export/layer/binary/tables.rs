//! Tables of a binary USD file: words, fields, paths and specs, and their sections at its end.

use std::collections::HashMap;
use std::io;

use crate::export::layer::encoding::binary::Representation;
use crate::export::layer::encoding::compress;

/// Kinds of specs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Spec {
    Attribute = 1,
    Prim = 6,
    Root = 7,
    Relationship = 8,
}

/// An element of a path in the order of the tree: an element comes before all that is below it.
struct Node {
    path: u32,
    /// Index of the name; negative for properties.
    name: i32,
    depth: usize,
}

/// Tables that grow while a layer is described.
pub struct Tables {
    words: Vec<String>,
    word_index: HashMap<String, u32>,
    /// Words that are strings.
    strings: Vec<u32>,
    fields: Vec<(u32, Representation)>,
    field_index: HashMap<(u32, Representation), u32>,
    /// Indices of fields; each set ends with [`u32::MAX`].
    field_sets: Vec<u32>,
    field_set_index: HashMap<Vec<u32>, u32>,
    path_index: HashMap<String, u32>,
    nodes: Vec<Node>,
    /// Path, first index in the field sets, and kind.
    specs: Vec<(u32, u32, Spec)>,
}

impl Tables {
    /// Tables without specs. The first word is empty, since the index of a property's name, which is stored negative,
    /// must not be 0.
    pub fn new() -> Self {
        let mut tables = Tables {
            words: Vec::new(),
            word_index: HashMap::new(),
            strings: Vec::new(),
            fields: Vec::new(),
            field_index: HashMap::new(),
            field_sets: Vec::new(),
            field_set_index: HashMap::new(),
            path_index: HashMap::new(),
            nodes: Vec::new(),
            specs: Vec::new(),
        };
        tables.word("");
        tables.add_path("/", "", (0, false));
        tables
    }

    /// Index of a word.
    pub fn word(&mut self, word: &str) -> u32 {
        if let Some(&known) = self.word_index.get(word) {
            return known;
        }
        let index = self.words.len() as u32;
        self.words.push(word.to_owned());
        self.word_index.insert(word.to_owned(), index);
        index
    }

    /// Index of a string.
    pub fn string(&mut self, text: &str) -> u32 {
        let word = self.word(text);
        self.strings.push(word);
        self.strings.len() as u32 - 1
    }

    /// Index of a path, which is added before or after.
    pub fn path(&mut self, path: &str) -> u32 {
        if let Some(&known) = self.path_index.get(path) {
            return known;
        }
        let index = self.path_index.len() as u32;
        self.path_index.insert(path.to_owned(), index);
        index
    }

    /// Adds a path, after all that is above it in the tree. `name` is its last element.
    pub fn add_path(&mut self, path: &str, name: &str, (depth, is_property): (usize, bool)) -> u32 {
        let path = self.path(path);
        let name = self.word(name) as i32;
        self.nodes.push(Node {
            path,
            name: if is_property { -name } else { name },
            depth,
        });
        path
    }

    /// Index of a field.
    pub fn field(&mut self, name: &str, value: Representation) -> u32 {
        let field = (self.word(name), value);
        let next = self.fields.len() as u32;
        let index = *self.field_index.entry(field).or_insert(next);
        if index == next {
            self.fields.push(field);
        }
        index
    }

    /// Adds a spec with its fields.
    pub fn add_spec(&mut self, path: u32, kind: Spec, fields: Vec<u32>) {
        let next = self.field_sets.len() as u32;
        let set = match self.field_set_index.get(&fields) {
            Some(&known) => known,
            None => {
                self.field_sets.extend(&fields);
                self.field_sets.push(u32::MAX);
                self.field_set_index.insert(fields, next);
                next
            }
        };
        self.specs.push((path, set, kind));
    }

    /// The sections with their names.
    pub fn sections(&self) -> io::Result<[(&'static str, Vec<u8>); 6]> {
        debug_assert_eq!(
            self.path_index.len(),
            self.nodes.len(),
            "a path is missing or twice"
        );
        Ok([
            ("TOKENS", self.word_section()?),
            ("STRINGS", self.string_section()),
            ("FIELDS", self.field_section()?),
            ("FIELDSETS", self.field_set_section()?),
            ("PATHS", self.path_section()?),
            ("SPECS", self.spec_section()?),
        ])
    }

    fn word_section(&self) -> io::Result<Vec<u8>> {
        let mut plain = Vec::new();
        for word in &self.words {
            plain.extend(word.as_bytes());
            plain.push(0);
        }
        let mut out = count(self.words.len());
        out.extend(count(plain.len()));
        push_sized(&mut out, &compress::bytes(&plain)?);
        Ok(out)
    }

    fn string_section(&self) -> Vec<u8> {
        let mut out = count(self.strings.len());
        out.extend(self.strings.iter().flat_map(|word| word.to_le_bytes()));
        out
    }

    fn field_section(&self) -> io::Result<Vec<u8>> {
        let mut out = count(self.fields.len());
        let names = self.fields.iter().map(|(name, _)| *name);
        push_sized(&mut out, &compress::integers(names)?);
        let values = self.fields.iter();
        let values: Vec<u8> = values
            .flat_map(|(_, value)| value.0.to_le_bytes())
            .collect();
        push_sized(&mut out, &compress::bytes(&values)?);
        Ok(out)
    }

    fn field_set_section(&self) -> io::Result<Vec<u8>> {
        let mut out = count(self.field_sets.len());
        let sets = self.field_sets.iter().copied();
        push_sized(&mut out, &compress::integers(sets)?);
        Ok(out)
    }

    fn path_section(&self) -> io::Result<Vec<u8>> {
        let mut out = count(self.nodes.len());
        out.extend(count(self.nodes.len()));
        let paths = self.nodes.iter().map(|node| node.path);
        push_sized(&mut out, &compress::integers(paths)?);
        let names = self.nodes.iter().map(|node| node.name as u32);
        push_sized(&mut out, &compress::integers(names)?);
        let jumps = self.jumps();
        let jumps = jumps.iter().map(|jump| *jump as u32);
        push_sized(&mut out, &compress::integers(jumps)?);
        Ok(out)
    }

    /// For each node: elements to the next one of its parent, or 0 if that is the next node; -1 if it is the last of
    /// its parent and has nodes below it, -2 if it has none.
    fn jumps(&self) -> Vec<i32> {
        // Of each depth, the last node seen from the end, if it has the same parent.
        let mut after: Vec<Option<usize>> = Vec::new();
        let mut jumps = vec![0; self.nodes.len()];
        for (at, node) in self.nodes.iter().enumerate().rev() {
            let is_parent = after.get(node.depth + 1).is_some_and(Option::is_some);
            after.resize(node.depth + 1, None);
            jumps[at] = match (after[node.depth], is_parent) {
                (Some(next), true) => (next - at) as i32,
                (Some(_), false) => 0,
                (None, true) => -1,
                (None, false) => -2,
            };
            after[node.depth] = Some(at);
        }
        jumps
    }

    fn spec_section(&self) -> io::Result<Vec<u8>> {
        let mut out = count(self.specs.len());
        let paths = self.specs.iter().map(|(path, ..)| *path);
        push_sized(&mut out, &compress::integers(paths)?);
        let sets = self.specs.iter().map(|(_, set, _)| *set);
        push_sized(&mut out, &compress::integers(sets)?);
        let kinds = self.specs.iter().map(|(.., kind)| *kind as u32);
        push_sized(&mut out, &compress::integers(kinds)?);
        Ok(out)
    }
}

/// A number of entries or bytes.
pub fn count(number: usize) -> Vec<u8> {
    (number as u64).to_le_bytes().to_vec()
}

/// Appends the number of bytes, then the bytes.
fn push_sized(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend(count(bytes.len()));
    out.extend(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jumps_lead_to_the_next_element_of_the_same_parent() {
        let mut tables = Tables::new();
        for (name, depth) in [("a", 1), ("b", 2), ("c", 3), ("d", 2), ("e", 1), ("f", 2)] {
            tables.add_path(name, name, (depth, false));
        }
        // The root, then a to f.
        assert_eq!(tables.jumps(), [-1, 4, 2, -2, -2, -1, -2]);
    }
}
