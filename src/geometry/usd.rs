//! USD in its text form: the mesh prims of a stage with their texture coordinates, colours and names of materials, one
//! object per prim.
//!
//! Read are points, faces, `orientation`, the texture coordinates `primvars:st` (or the first primvar of type
//! `texCoord2f[]`), `primvars:displayColor`, materials bound to meshes and to subsets of their faces, and the
//! transforms of prims, all at the first time sample. Whatever needs other files or
//! USD's composition is refused by name: `usdcat --flatten` resolves it.

mod mesh;
mod text;
mod transform;

use glam::DMat4;

use self::mesh::FaceSubset;
use self::text::{Properties, Token, Words};
use super::fault::{FormatFault, FormatSource, ParseResult, ParsedFile, UpAxis};

/// Greatest depth of nested prims.
const MAX_DEPTH: usize = 200;

/// Composition that is refused.
const COMPOSED: &[&str] = &[
    "references",
    "payload",
    "inherits",
    "specializes",
    "variantSets",
    "subLayers",
];

/// Reads all defined and visible meshes of the file.
pub(super) fn parse(source: &FormatSource<'_>) -> ParseResult {
    let name = source
        .path
        .file_name()
        .unwrap_or_default()
        .to_string_lossy();
    let stem = source
        .path
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy();
    if source.bytes.starts_with(b"PXR-USDC") || source.bytes.starts_with(b"PK\x03\x04") {
        return Err(FormatFault::new(
            None,
            format!(
                "binary USD is not read; convert it to text: usdcat --flatten {name} -o {stem}.usda"
            ),
        ));
    }
    if !source.bytes.starts_with(b"#usda") {
        return Err(FormatFault::new(
            None,
            "no USD text: it does not begin with #usda",
        ));
    }
    let text = std::str::from_utf8(source.bytes)
        .map_err(|error| FormatFault::new(None, format!("no UTF-8 text: {error}")))?;
    let mut stage = Stage {
        words: Words::new(text)?,
        parsed: ParsedFile::default(),
        advice: format!("flatten the scene: usdcat --flatten {name} -o {stem}.flat.usda"),
        subsets: Vec::new(),
    };
    if stage.words.peek() == Token::Mark(b'(') {
        let metadata = stage.metadata("the stage")?;
        let length = metadata
            .get("metersPerUnit")
            .and_then(|value| value.numbers.first());
        if let Some(&length) = length {
            if !(length > 0.0 && length.is_finite()) {
                return Err(FormatFault::new(
                    None,
                    format!("metersPerUnit is {length}; it must be positive"),
                ));
            }
            stage.parsed.metres_per_unit = Some(length);
        }
        stage.parsed.up = match metadata.get("upAxis").and_then(|value| value.texts.first()) {
            None => None,
            Some(&"Y") => Some(UpAxis::Y),
            Some(&"Z") => Some(UpAxis::Z),
            Some(axis) => {
                return Err(FormatFault::new(
                    None,
                    format!("upAxis is {axis:?}; \"Y\" and \"Z\" are read"),
                ));
            }
        };
    }
    let root = Place {
        path: String::new(),
        shown: true,
        depth: 0,
    };
    while stage.words.peek() != Token::End {
        match stage.words.next()? {
            Token::Word(word @ ("def" | "over" | "class")) => stage.prim(word, &root)?,
            // Such as `reorder rootPrims = […]`.
            Token::Word(_) => stage.skip_statement()?,
            other => return Err(stage.words.fault(format!("unexpected {other:?}"))),
        }
    }
    Ok(stage.parsed)
}

/// Where a prim stands.
struct Place {
    path: String,
    /// Whether its meshes are read: they are defined, active and visible.
    shown: bool,
    depth: usize,
}

struct Stage<'a> {
    words: Words<'a>,
    parsed: ParsedFile,
    /// What to do about composition.
    advice: String,
    /// Subsets of faces of the mesh whose contents are being read.
    subsets: Vec<FaceSubset>,
}

impl<'a> Stage<'a> {
    /// Takes metadata in parentheses; refuses what would compose `owner` of other prims or files.
    fn metadata(&mut self, owner: &str) -> Result<Properties<'a>, FormatFault> {
        let mut found = Properties::new();
        self.words.take(b'(')?;
        while !self.words.take(b')')? {
            let mut key = match self.words.next()? {
                Token::Word(word) => word,
                // A comment in quotes, or a separator.
                Token::Text(_) | Token::Mark(b';' | b',') => continue,
                Token::End => return Err(self.words.fault("the file is cut off")),
                other => {
                    return Err(self
                        .words
                        .fault(format!("unexpected {other:?} in metadata")));
                }
            };
            // A list edit: `prepend references = …`.
            if let (true, Token::Word(word)) = (is_list_edit(key), self.words.peek()) {
                key = word;
                self.words.next()?;
            }
            if COMPOSED.contains(&key) {
                return Err(self.words.fault(format!(
                    "{owner} has {key}, which are not read; {}",
                    self.advice
                )));
            }
            if self.words.take(b'=')? {
                let value = self.words.value(true)?;
                found.insert(key.to_owned(), value);
            }
        }
        Ok(found)
    }

    /// Skips the rest of a statement that is not read.
    fn skip_statement(&mut self) -> Result<(), FormatFault> {
        let line = self.words.last_line;
        while self.words.line == line
            && matches!(self.words.peek(), Token::Word(_) | Token::Text(_))
        {
            self.words.next()?;
        }
        if self.words.take(b'=')? {
            self.words.value(false)?;
        }
        Ok(())
    }

    /// Takes a prim after `def`, `over` or `class`.
    fn prim(&mut self, specifier: &str, parent: &Place) -> Result<(), FormatFault> {
        let mut kind = "";
        if let Token::Word(word) = self.words.peek() {
            kind = word;
            self.words.next()?;
        }
        let Token::Text(name) = self.words.next()? else {
            return Err(self.words.fault("expected the name of a prim in quotes"));
        };
        let path = format!("{}/{name}", parent.path);
        if parent.depth >= MAX_DEPTH {
            return Err(self
                .words
                .fault(format!("prims are nested deeper than {MAX_DEPTH}")));
        }
        let mut shown = parent.shown && specifier == "def";
        if self.words.peek() == Token::Mark(b'(') {
            let metadata = self.metadata(&path)?;
            let active = metadata.get("active").and_then(|value| value.texts.first());
            let active_number = metadata
                .get("active")
                .and_then(|value| value.numbers.first());
            shown &= active != Some(&"false") && active_number != Some(&0.0);
        }
        if !self.words.take(b'{')? {
            return Err(self.words.fault(format!("expected {{ after {path}")));
        }
        if kind == "PointInstancer" && shown {
            return Err(self.words.fault(format!(
                "{path} is a PointInstancer, which is not read; make its instances real"
            )));
        }
        self.body(
            kind,
            name,
            Place {
                path,
                shown,
                depth: parent.depth + 1,
            },
        )
    }

    /// Takes the contents of a prim with its closing brace. Children may stand before the properties that place
    /// them, so all are placed at the end.
    fn body(&mut self, kind: &str, name: &str, place: Place) -> Result<(), FormatFault> {
        let mut properties = Properties::new();
        let line = self.words.last_line;
        let first = self.parsed.mesh.positions.len();
        let first_triangle = self.parsed.mesh.triangles.len();
        let first_name = self.parsed.names.len();
        let first_subset = self.subsets.len();
        while !self.words.take(b'}')? {
            match self.words.next()? {
                Token::Word(word @ ("def" | "over" | "class")) => self.prim(word, &place)?,
                Token::Word("variantSet") if place.shown => {
                    let what = format!(
                        "{} has variants, which are not read; {}",
                        place.path, self.advice
                    );
                    return Err(self.words.fault(what));
                }
                Token::Word("variantSet") => {
                    self.words.next()?;
                    self.words.take(b'=')?;
                    self.words.value(false)?;
                }
                Token::Word("reorder") => self.skip_statement()?,
                Token::Word(word) => self.property(word, &mut properties)?,
                Token::Mark(b';') => {}
                Token::End => return Err(self.words.fault("the file is cut off")),
                other => return Err(self.words.fault(format!("unexpected {other:?}"))),
            }
        }
        let what_of =
            |what: String| FormatFault::new(Some(line), format!("{}: {what}", place.path));
        let text = |key: &str| {
            properties
                .get(key)
                .and_then(|value| value.texts.first())
                .copied()
        };
        let hidden = text("visibility") == Some("invisible")
            || matches!(text("purpose"), Some("guide" | "proxy"));
        if hidden {
            let mesh = &mut self.parsed.mesh;
            mesh.positions.truncate(first);
            mesh.triangles.truncate(first_triangle);
            mesh.uv.truncate(first_triangle);
            mesh.paint.resize(first_triangle);
            self.parsed.object_of.truncate(first_triangle);
            self.parsed.names.truncate(first_name);
            return Ok(());
        }
        let subsets = self.subsets.split_off(first_subset);
        if kind == "GeomSubset" && place.shown {
            self.subsets.extend(FaceSubset::of(&properties, name));
        }
        let (local, resets) = transform::transform(&properties).map_err(what_of)?;
        if kind == "Mesh" && place.shown {
            self.parsed.names.push(name.to_owned());
            let object = self.parsed.names.len() as u32 - 1;
            mesh::append(&properties, &subsets, &mut self.parsed).map_err(what_of)?;
            self.parsed
                .object_of
                .resize(self.parsed.mesh.triangles.len(), object);
        }
        self.place(first, first_triangle, local);
        if resets && place.depth > 1 {
            return Err(what_of(
                "!resetXformStack! is not read below another prim".to_owned(),
            ));
        }
        for position in &self.parsed.mesh.positions[first..] {
            if !position.is_finite() {
                return Err(what_of("a coordinate is not finite".to_owned()));
            }
        }
        Ok(())
    }

    /// Moves what was read since `first` from a prim's coordinates to those of its parent.
    fn place(&mut self, first: usize, first_triangle: usize, matrix: DMat4) {
        if matrix == DMat4::IDENTITY {
            return;
        }
        for position in &mut self.parsed.mesh.positions[first..] {
            *position = matrix.transform_point3(*position);
        }
        if matrix.determinant() < 0.0 {
            for t in first_triangle..self.parsed.mesh.triangles.len() {
                self.parsed.mesh.flip(t);
            }
        }
    }

    /// Takes a property whose first word was taken, and keeps it where meshes need it.
    fn property(
        &mut self,
        first: &'a str,
        properties: &mut Properties<'a>,
    ) -> Result<(), FormatFault> {
        let line = self.words.last_line;
        let (mut name, mut kind) = (first, "");
        while let (Token::Word(word), true) = (self.words.peek(), self.words.line == line) {
            (kind, name) = (name, word);
            self.words.next()?;
        }
        let (base, sampled) = match name.strip_suffix(".timeSamples") {
            Some(base) => (base, true),
            None => (name, false),
        };
        let keep = is_read(base) || kind == "texCoord2f[]" && base.starts_with("primvars:");
        if self.words.take(b'=')? {
            let value = match (sampled, keep) {
                (true, true) => self.words.first_sample()?,
                _ => self.words.value(keep)?,
            };
            if keep && (sampled || !properties.contains_key(base)) {
                properties.insert(base.to_owned(), value);
                if kind == "texCoord2f[]" {
                    properties
                        .entry("@texture".to_owned())
                        .or_default()
                        .texts
                        .push(base);
                }
            }
        }
        if self.words.peek() == Token::Mark(b'(') {
            for (key, value) in self.metadata(base)? {
                if keep {
                    properties.insert(format!("{base}@{key}"), value);
                }
            }
        }
        Ok(())
    }
}

fn is_list_edit(word: &str) -> bool {
    matches!(word, "prepend" | "append" | "add" | "delete" | "reorder")
}

fn is_read(name: &str) -> bool {
    let names = [
        "points",
        "faceVertexIndices",
        "faceVertexCounts",
        "orientation",
        "visibility",
        "purpose",
        "primvars:st",
        "primvars:displayColor",
        "material:binding",
        "elementType",
        "indices",
    ];
    names.contains(&name)
        || name.starts_with("xformOp")
        || name.starts_with("primvars:") && name.ends_with(":indices")
}

#[cfg(test)]
mod tests;
