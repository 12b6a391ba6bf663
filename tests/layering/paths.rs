//! Resolves the paths in a source to modules.
//!
//! The reader works on tokens, so paths in macros and attributes count like those in code. Only paths that
//! begin with `crate`, `self` or `super` lead to other files; one that begins with the name of a module leads
//! from a file to its own parts.

use std::collections::BTreeSet;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// Names from the crate root down.
pub type Module = Vec<String>;

/// A path from one file to another.
#[derive(Debug)]
pub struct PathUse {
    /// The file that contains the path, and the line.
    pub place: (String, usize),
    /// Module of that file.
    pub from: Module,
    /// Module that the path leads to: the innermost one that is a file.
    pub to: Module,
    /// The path as written.
    pub written: String,
}

/// Sources of a crate.
pub struct Sources {
    modules: BTreeSet<Module>,
    uses: Vec<PathUse>,
}

impl Sources {
    /// Reads files (`src/a/b.rs`, text), except those that exist only for tests.
    pub fn parse(files: &[(String, String)]) -> Self {
        let (mut uses, mut for_tests) = (Vec::new(), Vec::new());
        let mut modules = BTreeSet::new();
        for (name, text) in files {
            let module = module_of(name);
            let mut reader = Reader {
                name,
                file: &module,
                here: module.clone(),
                uses: &mut uses,
                for_tests: &mut for_tests,
            };
            let tokens = text.parse::<TokenStream>().unwrap_or_else(|error| {
                panic!("{name}:{}: {error}", error.span().start().line);
            });
            reader.read(tokens);
            modules.insert(module);
        }
        let kept = |module: &Module| !for_tests.iter().any(|test| module.starts_with(test));
        modules.retain(kept);
        uses.retain(|one| kept(&one.from));
        for one in &mut uses {
            while !one.to.is_empty() && !modules.contains(&one.to) {
                one.to.pop();
            }
        }
        uses.retain(|one| one.from != one.to);
        Sources { modules, uses }
    }

    /// Number of files.
    pub fn files(&self) -> usize {
        self.modules.len()
    }

    /// Modules directly under the root.
    pub fn top(&self) -> BTreeSet<&str> {
        let names = self.modules.iter().filter_map(|module| module.first());
        names.map(String::as_str).collect()
    }

    /// All paths that lead from one file to another.
    pub fn uses(&self) -> &[PathUse] {
        &self.uses
    }
}

/// Module of a file; the program's own file is `main`, the library's is the root.
fn module_of(name: &str) -> Module {
    let path = name.trim_start_matches("src/").trim_end_matches(".rs");
    let mut module: Module = path.split('/').map(str::to_owned).collect();
    if matches!(module.last().map(String::as_str), Some("mod" | "lib")) {
        module.pop();
    }
    module
}

/// Reads a file.
struct Reader<'a> {
    name: &'a str,
    /// Module of the file.
    file: &'a Module,
    /// Current module, which may be an inline module of the file.
    here: Module,
    /// Modules that paths lead to, with all names.
    uses: &'a mut Vec<PathUse>,
    /// Modules that exist only for tests.
    for_tests: &'a mut Vec<Module>,
}

impl Reader<'_> {
    fn read(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while at < tokens.len() {
            at = match &tokens[at..] {
                // An attribute, which may mark the next item as test code.
                [TokenTree::Punct(mark), TokenTree::Group(group), ..]
                    if mark.as_char() == '#' && is_for_tests(group.stream()) =>
                {
                    self.skip(&tokens, at + 2)
                }
                // The path of a visibility, as in `pub(in path)`, is not a use of the modules named.
                [TokenTree::Ident(name), TokenTree::Group(group), ..]
                    if name == "pub" && group.delimiter() == Delimiter::Parenthesis =>
                {
                    at + 2
                }
                [
                    TokenTree::Ident(word),
                    TokenTree::Ident(name),
                    TokenTree::Group(group),
                    ..,
                ] if word == "mod" && group.delimiter() == Delimiter::Brace => {
                    self.here.push(name.to_string());
                    self.read(group.stream());
                    self.here.pop();
                    at + 3
                }
                [TokenTree::Ident(_), ..] => match self.base_module(&tokens, at) {
                    Some(base) => self.path(&tokens, at, base, String::new()),
                    None => at + 1,
                },
                [TokenTree::Group(group), ..] => {
                    self.read(group.stream());
                    at + 1
                }
                _ => at + 1,
            };
        }
    }

    /// Skips the item after `at`, which is test code; returns the index of its end.
    fn skip(&mut self, tokens: &[TokenTree], at: usize) -> usize {
        let mut with_value = false;
        for (place, token) in tokens.iter().enumerate().skip(at) {
            match token {
                TokenTree::Ident(word) if word == "mod" => {
                    let name = tokens[place + 1].to_string();
                    self.for_tests.push([&self.here[..], &[name]].concat());
                }
                TokenTree::Ident(word) if word == "fn" => with_value = false,
                TokenTree::Ident(word) => {
                    with_value |= ["use", "const", "static", "let"].iter().any(|w| word == w);
                }
                TokenTree::Punct(mark) if mark.as_char() == ';' => return place + 1,
                TokenTree::Group(group) if group.delimiter() == Delimiter::Brace && !with_value => {
                    return place + 1;
                }
                _ => {}
            }
        }
        tokens.len()
    }

    /// The module that a path at `at` begins in, if the path may lead to another file.
    fn base_module(&self, tokens: &[TokenTree], at: usize) -> Option<Module> {
        let (first, program) = (tokens[at].to_string(), ["main".to_owned()]);
        if !is_mark(tokens, at + 1, "::") || is_mark(tokens, at.wrapping_sub(2), "::") {
            return None;
        }
        match first.as_str() {
            "crate" => Some(Vec::new()),
            "cullet" if self.file[..] == program => Some(Vec::new()),
            "self" => Some(self.here.clone()),
            "super" => Some(parent(self.here.clone())),
            _ => None,
        }
    }

    /// Records the target of the path whose word at `at` leads to `to`; returns the index of its end.
    fn path(&mut self, tokens: &[TokenTree], at: usize, to: Module, before: String) -> usize {
        let written = before + &tokens[at].to_string();
        if is_mark(tokens, at + 1, "::") {
            let before = written.clone() + "::";
            match tokens.get(at + 3) {
                Some(TokenTree::Ident(name)) => {
                    let next = resolve(to, &name.to_string());
                    return self.path(tokens, at + 3, next, before);
                }
                Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                    self.group(group.stream(), &to, &before);
                    return at + 4;
                }
                _ => {}
            }
        }
        let line = tokens[at].span().start().line;
        self.uses.push(PathUse {
            place: (self.name.to_owned(), line),
            from: self.file.clone(),
            to,
            written,
        });
        at + 1
    }

    /// The paths of `{a, b::{c}, self, *}` after a path that leads to `to`.
    fn group(&mut self, tokens: TokenStream, to: &Module, before: &str) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while at < tokens.len() {
            let next = match &tokens[at] {
                TokenTree::Ident(name) => resolve(to.clone(), &name.to_string()),
                _ => to.clone(),
            };
            self.path(&tokens, at, next, before.to_owned());
            // Continue after the comma.
            let rest = tokens[at..].iter();
            at += rest.take_while(|token| token.to_string() != ",").count() + 1;
        }
    }
}

/// The module that `name` leads to, starting from `module`.
fn resolve(mut module: Module, name: &str) -> Module {
    match name {
        "self" => {}
        "super" => return parent(module),
        name => module.push(name.to_owned()),
    }
    module
}

fn parent(mut module: Module) -> Module {
    module.pop();
    module
}

/// Whether the tokens from `at` on are these punctuation marks.
fn is_mark(tokens: &[TokenTree], at: usize, marks: &str) -> bool {
    marks.chars().enumerate().all(|(offset, wanted)| {
        let token = tokens.get(at.wrapping_add(offset));
        matches!(token, Some(TokenTree::Punct(mark)) if mark.as_char() == wanted)
    })
}

/// Whether an attribute is `[cfg(test)]` or `[cfg(all(test, ...))]`.
fn is_for_tests(attribute: TokenStream) -> bool {
    fn wants_test(tokens: TokenStream) -> bool {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        tokens.iter().enumerate().any(|(at, token)| match token {
            TokenTree::Ident(name) => name == "test",
            TokenTree::Group(group) => {
                let before = at.checked_sub(1).map(|before| tokens[before].to_string());
                before.as_deref() == Some("all") && wants_test(group.stream())
            }
            _ => false,
        })
    }
    let tokens: Vec<TokenTree> = attribute.into_iter().collect();
    match &tokens[..] {
        [TokenTree::Ident(name), TokenTree::Group(group)] => {
            name == "cfg" && wants_test(group.stream())
        }
        _ => false,
    }
}
