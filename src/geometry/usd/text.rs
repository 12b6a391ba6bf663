//! Words of USD's text format, and values made of them.

use std::collections::BTreeMap;

use crate::geometry::fault::FormatFault;

/// A word of the text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Token<'a> {
    /// A name, keyword or number, also with `:` `.` and a trailing `[]`.
    Word(&'a str),
    /// The contents of quotes, escapes as written.
    Text(&'a str),
    /// `<path>` or `@asset@`, without its marks.
    Reference(&'a str),
    /// One of `( ) [ ] { } = , ;`.
    Mark(u8),
    /// The end of the file.
    End,
}

/// Reads a text word by word.
pub(super) struct Words<'a> {
    text: &'a str,
    at: usize,
    /// Line of the next word, counted from 1.
    pub line: usize,
    /// Line of the last word.
    pub last_line: usize,
    next: Token<'a>,
}

/// Properties of a prim that are read, by name. Metadata of properties have the name `property@key`.
pub(super) type Properties<'a> = BTreeMap<String, Value<'a>>;

/// The numbers and strings of a value, in order; brackets are forgotten.
#[derive(Clone, Debug, Default)]
pub(super) struct Value<'a> {
    pub numbers: Vec<f64>,
    pub texts: Vec<&'a str>,
}

impl<'a> Words<'a> {
    pub fn new(text: &'a str) -> Result<Self, FormatFault> {
        let mut words = Words {
            text,
            at: 0,
            line: 1,
            last_line: 1,
            next: Token::End,
        };
        words.next()?;
        Ok(words)
    }

    pub fn peek(&self) -> Token<'a> {
        self.next
    }

    pub fn fault(&self, what: impl Into<String>) -> FormatFault {
        FormatFault::new(Some(self.last_line), what)
    }

    /// Takes the next word.
    pub fn next(&mut self) -> Result<Token<'a>, FormatFault> {
        let taken = self.next;
        self.last_line = self.line;
        self.skip_space();
        self.next = self.scan()?;
        Ok(taken)
    }

    /// Takes the next word if it is this mark.
    pub fn take(&mut self, mark: u8) -> Result<bool, FormatFault> {
        let found = self.next == Token::Mark(mark);
        if found {
            self.next()?;
        }
        Ok(found)
    }

    fn skip_space(&mut self) {
        let bytes = self.text.as_bytes();
        while let Some(byte) = bytes.get(self.at) {
            match byte {
                b'\n' => self.line += 1,
                b'#' => {
                    let rest = &bytes[self.at..];
                    let length = rest.iter().position(|byte| *byte == b'\n');
                    self.at += length.unwrap_or(rest.len());
                    continue;
                }
                byte if byte.is_ascii_whitespace() => {}
                _ => return,
            }
            self.at += 1;
        }
    }

    fn scan(&mut self) -> Result<Token<'a>, FormatFault> {
        let rest = &self.text[self.at..];
        let Some(&first) = rest.as_bytes().first() else {
            return Ok(Token::End);
        };
        match first {
            b'(' | b')' | b'[' | b']' | b'{' | b'}' | b'=' | b',' | b';' => {
                self.at += 1;
                Ok(Token::Mark(first))
            }
            b'"' | b'\'' => self.quoted(first),
            b'<' => self.enclosed("<", ">"),
            b'@' if rest.starts_with("@@@") => self.enclosed("@@@", "@@@"),
            b'@' => self.enclosed("@", "@"),
            _ => {
                let is_part = |c: char| c.is_alphanumeric() || "_:.+-!|&".contains(c);
                let length = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
                if length == 0 {
                    let c = rest.chars().next().unwrap_or_default();
                    return Err(FormatFault::new(
                        Some(self.line),
                        format!("unexpected {c:?}"),
                    ));
                }
                let array = if rest[length..].starts_with("[]") {
                    2
                } else {
                    0
                };
                self.at += length + array;
                Ok(Token::Word(&rest[..length + array]))
            }
        }
    }

    fn quoted(&mut self, quote: u8) -> Result<Token<'a>, FormatFault> {
        let bytes = self.text.as_bytes();
        let triple = bytes[self.at..].starts_with(&[quote; 3]);
        let width = if triple { 3 } else { 1 };
        let start = self.at + width;
        let mut at = start;
        while at < bytes.len() {
            match bytes[at] {
                b'\\' => at += 1,
                b'\n' if !triple => break,
                byte if byte == quote && (!triple || bytes[at..].starts_with(&[quote; 3])) => {
                    self.at = at + width;
                    let text = &self.text[start..at];
                    self.line += text.matches('\n').count();
                    return Ok(Token::Text(text));
                }
                _ => {}
            }
            at += 1;
        }
        Err(FormatFault::new(Some(self.line), "a string does not end"))
    }

    fn enclosed(&mut self, open: &str, close: &str) -> Result<Token<'a>, FormatFault> {
        let inner = &self.text[self.at + open.len()..];
        let Some(length) = inner.find(close) else {
            let what = format!("{open} without {close}");
            return Err(FormatFault::new(Some(self.line), what));
        };
        self.at += open.len() + length + close.len();
        self.line += inner[..length].matches('\n').count();
        Ok(Token::Reference(&inner[..length]))
    }

    /// Takes a value with all it encloses in brackets. Numbers and strings are kept if `keep`.
    pub fn value(&mut self, keep: bool) -> Result<Value<'a>, FormatFault> {
        let mut value = Value::default();
        let mut depth = 0_usize;
        loop {
            match self.next()? {
                Token::Mark(b'(' | b'[' | b'{') => depth += 1,
                Token::Mark(b')' | b']' | b'}') if depth > 0 => depth -= 1,
                Token::Mark(b',' | b'=' | b';') if depth > 0 => {}
                Token::Text(text) | Token::Reference(text) if keep => value.texts.push(text),
                Token::Word(word) if keep => match word.parse::<f64>() {
                    Ok(number) => value.numbers.push(number),
                    // A word such as `None` or `true`.
                    Err(_) => value.texts.push(word),
                },
                Token::Text(_) | Token::Reference(_) | Token::Word(_) => {}
                Token::Mark(mark) => {
                    return Err(self.fault(format!("unexpected {:?}", char::from(mark))));
                }
                Token::End => return Err(self.fault("the file is cut off")),
            }
            if depth == 0 {
                return Ok(value);
            }
        }
    }

    /// Takes a table of time samples `{ time: value, … }`; returns the first value.
    pub fn first_sample(&mut self) -> Result<Value<'a>, FormatFault> {
        if !self.take(b'{')? {
            return Err(self.fault("expected { after timeSamples"));
        }
        let mut first = None;
        while !self.take(b'}')? {
            // The time, with its colon.
            match self.next()? {
                Token::Word(_) => {}
                Token::End => return Err(self.fault("the file is cut off")),
                _ => return Err(self.fault("expected the time of a sample")),
            }
            if self.peek() == Token::Word(":") {
                self.next()?;
            }
            let value = self.value(first.is_none())?;
            first.get_or_insert(value);
            self.take(b',')?;
        }
        Ok(first.unwrap_or_default())
    }
}
