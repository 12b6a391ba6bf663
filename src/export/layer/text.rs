//! A layer as text.

use std::io::{self, Write};

use super::array::Array;
use super::array_spool::{ArraySpool, StoredArray};
use super::content::{Content, Layer, Prim, Stage, Value};
use crate::export::text::{push_f32, push_tuple};

/// A text layer.
pub struct TextLayer<'a, W> {
    out: &'a mut W,
    spool: &'a mut ArraySpool,
    /// Number of open prims.
    depth: usize,
    /// Whether the prim that is open has a line.
    is_begun: bool,
}

impl<'a, W: Write> TextLayer<'a, W> {
    /// Writes the metadata of a layer.
    pub fn new(out: &'a mut W, spool: &'a mut ArraySpool, stage: &Stage) -> io::Result<Self> {
        writeln!(out, "#usda 1.0\n(")?;
        if let Some(timing) = &stage.timing {
            let (event, slow) = (timing.event, timing.slow_motion);
            write!(
                out,
                "    customLayerData = {{\n        double eventFramesPerSecond = {event}\n        \
                 double slowMotion = {slow}\n    }}\n"
            )?;
        }
        writeln!(out, "    defaultPrim = \"World\"")?;
        if let Some(timing) = &stage.timing {
            let ([_, last], fps) = (timing.frames, timing.playback);
            writeln!(out, "    endTimeCode = {last}\n    framesPerSecond = {fps}")?;
        }
        writeln!(out, "    metersPerUnit = {}", stage.metre)?;
        if let Some(timing) = &stage.timing {
            let ([first, _], fps) = (timing.frames, timing.playback);
            write!(
                out,
                "    startTimeCode = {first}\n    timeCodesPerSecond = {fps}\n"
            )?;
        }
        writeln!(out, "    upAxis = \"{}\"\n)", stage.up)?;
        Ok(TextLayer {
            out,
            spool,
            depth: 0,
            is_begun: true,
        })
    }

    /// Begins a line.
    fn indent(&mut self) -> io::Result<()> {
        self.is_begun = true;
        write!(self.out, "{:1$}", "", 4 * self.depth)
    }

    fn value(&mut self, value: Value) -> io::Result<()> {
        let tuple = |values: &[f32]| {
            let mut text = String::new();
            push_tuple(&mut text, values, push_f32);
            text
        };
        match value {
            Value::Token(word) => write!(self.out, "\"{word}\""),
            Value::Tokens(words) => {
                let words: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
                write!(self.out, "[{}]", words.join(", "))
            }
            Value::Int(value) => write!(self.out, "{value}"),
            Value::Float(value) => write!(self.out, "{value}"),
            Value::Double(value) => write!(self.out, "{value}"),
            Value::Vec3f(values) | Value::Vec3d(values) => write!(self.out, "{}", tuple(&values)),
            Value::Quatd(parts) => {
                let [w, x, y, z] = parts.map(|part| part + 0.0); // + 0.0 turns -0 into 0
                write!(self.out, "({w}, {x}, {y}, {z})")
            }
            Value::Array(array) => self.spool.copy(array, self.out).map(|_| ()),
        }
    }
}

impl<W: Write> Layer for TextLayer<'_, W> {
    fn begin(&mut self, prim: Prim) -> io::Result<()> {
        // Prims next to others at the top begin a paragraph.
        if self.depth < 2 && self.is_begun {
            writeln!(self.out)?;
        }
        self.indent()?;
        write!(self.out, "def {} \"{}\"", prim.schema, prim.name)?;
        let kind = prim.kind.map(|kind| format!("kind = \"{kind}\""));
        let api = prim.api;
        let api = api.map(|api| format!("prepend apiSchemas = [\"{api}\"]"));
        let metadata: Vec<String> = kind.into_iter().chain(api).collect();
        if !metadata.is_empty() {
            writeln!(self.out, " (")?;
            for line in metadata {
                self.indent()?;
                writeln!(self.out, "    {line}")?;
            }
            self.indent()?;
            write!(self.out, ")")?;
        }
        writeln!(self.out)?;
        self.indent()?;
        self.depth += 1;
        self.is_begun = false;
        writeln!(self.out, "{{")
    }

    fn attribute(
        &mut self,
        declaration: &str,
        interpolation: &str,
        content: Content,
    ) -> io::Result<()> {
        let varies = match interpolation {
            "" => String::new(),
            name => format!(" (interpolation = \"{name}\")"),
        };
        if matches!(content, Content::Samples(_)) && !varies.is_empty() {
            self.indent()?;
            writeln!(self.out, "{declaration}{varies}")?;
        }
        self.indent()?;
        write!(self.out, "{declaration}")?;
        match content {
            Content::Declared => writeln!(self.out, "{varies}"),
            Content::Constant(value) => {
                write!(self.out, " = ")?;
                self.value(value)?;
                writeln!(self.out, "{varies}")
            }
            Content::Samples(samples) => {
                writeln!(self.out, ".timeSamples = {{")?;
                for &(time, value) in samples {
                    self.indent()?;
                    write!(self.out, "    {time}: ")?;
                    self.value(value)?;
                    writeln!(self.out, ",")?;
                }
                self.indent()?;
                writeln!(self.out, "}}")
            }
            Content::Connection(path) => writeln!(self.out, ".connect = <{path}>"),
        }
    }

    fn relationship(&mut self, name: &str, targets: &[String]) -> io::Result<()> {
        let paths: Vec<String> = targets.iter().map(|path| format!("<{path}>")).collect();
        self.indent()?;
        match &paths[..] {
            [path] => writeln!(self.out, "rel {name} = {path}"),
            paths => writeln!(self.out, "rel {name} = [{}]", paths.join(", ")),
        }
    }

    fn end(&mut self) -> io::Result<()> {
        self.depth -= 1;
        self.indent()?;
        writeln!(self.out, "}}")
    }

    fn store(&mut self, array: &Array) -> io::Result<StoredArray> {
        self.spool.store(array)
    }
}
