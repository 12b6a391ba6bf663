//! Translates function bodies to WGSL statements and expressions.

use std::cell::RefCell;
use std::collections::BTreeMap;

use syn::spanned::Spanned;
use syn::{BinOp, Block, Error, Expr, Item, Lit, Local, Member, Pat, Stmt, UnOp};

use super::item::Declarations;

/// Methods and functions that WGSL has built in, that are expanded in place, that only such ones use (`halved`), or
/// that the kernel provides (`kept`).
pub const NATIVE: [&str; 17] = [
    "splat",
    "zero",
    "new",
    "sqrt",
    "abs",
    "lt",
    "min",
    "max",
    "select",
    "dot",
    "fused_dot",
    "mul_add",
    "polynomial",
    "halved",
    "kept",
    "times",
    "transposed",
];

/// Modules that access quaternion components: there a member `v` is a quaternion's vector part.
const QUATERNION_MODULES: [&str; 4] = ["quat", "mat3", "relative", "cell"];

/// Context for translating the body of one function.
pub struct Body<'a> {
    /// Module of the function.
    pub module: &'a str,
    /// Names imported from other modules.
    pub uses: &'a BTreeMap<String, String>,
    /// All structs and functions.
    pub known: &'a Declarations,
    /// WGSL type of the result.
    pub result: &'a str,
}

/// Constant tables of a block by name.
type Tables = RefCell<BTreeMap<String, Vec<f64>>>;

impl Body<'_> {
    /// Statements of a function; the last one returns its result.
    pub fn block(&self, block: &Block) -> Result<String, Error> {
        let tables = Tables::default();
        let mut text = String::new();
        for statement in &block.stmts {
            match statement {
                Stmt::Local(local) => self.local(local, &tables, &mut text)?,
                Stmt::Item(Item::Const(item)) => {
                    let table = self.table(&item.expr)?;
                    tables.borrow_mut().insert(item.ident.to_string(), table);
                }
                Stmt::Expr(value, None) => {
                    let value = match value {
                        Expr::Tuple(tuple) => {
                            let members = self.list(tuple.elems.iter(), &tables)?;
                            listed(self.result, &members, "    ")
                        }
                        Expr::Struct(literal) => {
                            let (name, members) = self.members(literal, &tables)?;
                            listed(&name, &members, "    ")
                        }
                        other => self.expression(other, &tables)?,
                    };
                    text += &format!("    return {value};\n");
                }
                other => {
                    return Err(Error::new(
                        other.span(),
                        "only `let` and a last expression are translated",
                    ));
                }
            }
        }
        Ok(text)
    }

    fn local(&self, local: &Local, tables: &Tables, text: &mut String) -> Result<(), Error> {
        let init = local.init.as_ref().filter(|init| init.diverge.is_none());
        let init = init.ok_or_else(|| Error::new(local.span(), "`let` needs a value"))?;
        match (&local.pat, &*init.expr) {
            // Rust skips the `else` branch where the mask holds in every lane: here it is evaluated only if the
            // mask is false.
            (Pat::Ident(name), Expr::If(choice)) if name.mutability.is_none() => {
                let Some((_, other)) = &choice.else_branch else {
                    return Err(Error::new(choice.span(), "`if` needs an `else`"));
                };
                let Expr::Block(other) = &**other else {
                    return Err(Error::new(other.span(), "only one `else` is translated"));
                };
                let condition = self.expression(&choice.cond, tables)?;
                let yes = self.expression(only_expression(&choice.then_branch)?, tables)?;
                let no = self.expression(only_expression(&other.block)?, tables)?;
                let name = &name.ident;
                *text += &format!("    var {name} = {yes};\n");
                *text += &format!("    if !{condition} {{\n        {name} = {no};\n    }}\n");
            }
            (Pat::Ident(name), value) if name.mutability.is_none() => {
                let value = self.expression(value, tables)?;
                *text += &format!("    let {} = {value};\n", name.ident);
            }
            (Pat::Tuple(names), Expr::Tuple(values)) if names.elems.len() == values.elems.len() => {
                for (name, value) in names.elems.iter().zip(&values.elems) {
                    let value = self.expression(value, tables)?;
                    *text += &format!("    let {} = {value};\n", ident(name)?);
                }
            }
            // Rows of a matrix.
            (Pat::Slice(names), Expr::Field(rows)) if is_rows(&rows.member) => {
                let names = names.elems.iter().map(ident);
                let names = names.collect::<Result<Vec<_>, _>>()?;
                let whole = names.join("_and_");
                *text += &format!(
                    "    let {whole} = {};\n",
                    self.expression(&rows.base, tables)?
                );
                for (k, name) in names.iter().enumerate() {
                    *text += &format!("    let {name} = {whole}[{k}];\n");
                }
            }
            (Pat::Tuple(names), value) => {
                let names = names
                    .elems
                    .iter()
                    .map(ident)
                    .collect::<Result<Vec<_>, _>>()?;
                let whole = names.join("_and_");
                *text += &format!("    let {whole} = {};\n", self.expression(value, tables)?);
                for (k, name) in names.iter().enumerate() {
                    *text += &format!("    let {name} = {whole}.x{k};\n");
                }
            }
            _ => {
                return Err(Error::new(
                    local.span(),
                    "`let` takes a name or a tuple of names",
                ));
            }
        }
        Ok(())
    }

    fn list<'e>(
        &self,
        values: impl Iterator<Item = &'e Expr>,
        tables: &Tables,
    ) -> Result<Vec<String>, Error> {
        values.map(|value| self.expression(value, tables)).collect()
    }

    fn expression(&self, value: &Expr, tables: &Tables) -> Result<String, Error> {
        let of = |e: &Expr| self.expression(e, tables);
        // Parentheses around a whole argument are redundant.
        let whole = |e: &Expr| match e {
            Expr::Paren(inner) => of(&inner.expr),
            other => of(other),
        };
        Ok(match value {
            Expr::Paren(inner) => format!("({})", of(&inner.expr)?),
            Expr::Reference(inner) => of(&inner.expr)?,
            Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => {
                format!("-{}", of(&unary.expr)?)
            }
            Expr::Binary(binary) => {
                let (left, right) = (of(&binary.left)?, of(&binary.right)?);
                match binary.op {
                    BinOp::Add(_) => format!("{left} + {right}"),
                    BinOp::Sub(_) => format!("{left} - {right}"),
                    BinOp::Mul(_) => format!("{left} * {right}"),
                    BinOp::Div(_) => format!("{left} / {right}"),
                    BinOp::BitAnd(_) => format!("({left} & {right})"),
                    BinOp::BitOr(_) => format!("({left} | {right})"),
                    _ => return Err(Error::new(binary.span(), "this operator is not translated")),
                }
            }
            Expr::Path(path) => match path.path.get_ident() {
                Some(name) if name == "self" => "own".to_owned(),
                Some(name) => name.to_string(),
                None => {
                    return Err(Error::new(path.span(), "a constant must be in `T::splat`"));
                }
            },
            Expr::Field(field) => {
                let base = of(&field.base)?;
                match &field.member {
                    Member::Named(name)
                        if name == "v" && QUATERNION_MODULES.contains(&self.module) =>
                    {
                        format!("{base}.xyz")
                    }
                    Member::Named(name) => format!("{base}.{name}"),
                    Member::Unnamed(index) => format!("{base}.x{}", index.index),
                }
            }
            Expr::MethodCall(call) => {
                let name = call.method.to_string();
                let mut arguments = vec![whole(&call.receiver)?];
                arguments.extend(self.list(call.args.iter(), tables)?);
                self.method(&name, arguments).ok_or_else(|| {
                    Error::new(call.method.span(), format!("no law is called {name}"))
                })?
            }
            Expr::Call(call) => {
                let Expr::Path(path) = &*call.func else {
                    return Err(Error::new(
                        call.func.span(),
                        "only functions by name are called",
                    ));
                };
                let path: Vec<String> = path
                    .path
                    .segments
                    .iter()
                    .map(|s| s.ident.to_string())
                    .collect();
                let arguments: Vec<&Expr> = call.args.iter().collect();
                self.call(&path, &arguments, call.span(), tables)?
            }
            Expr::Struct(literal) => {
                let (name, members) = self.members(literal, tables)?;
                format!("{name}({})", members.join(", "))
            }
            other => {
                return Err(Error::new(
                    other.span(),
                    "this expression is not translated",
                ));
            }
        })
    }

    /// Constructor and values of a struct literal, in the order of the struct's members.
    fn members(
        &self,
        literal: &syn::ExprStruct,
        tables: &Tables,
    ) -> Result<(String, Vec<String>), Error> {
        let wrong = |what: String| Error::new(literal.span(), what);
        let name = literal
            .path
            .get_ident()
            .map_or_else(String::new, ToString::to_string);
        let (name, members) = match name.as_str() {
            "Quat" => ("vec4<f32>".to_owned(), vec!["v".to_owned(), "w".to_owned()]),
            _ => match self.known.structs.get(&name) {
                Some(members) => (name, members.clone()),
                None => return Err(wrong(format!("no struct {name}"))),
            },
        };
        let values = members.iter().map(|member| {
            let field = literal
                .fields
                .iter()
                .find(|field| matches!(&field.member, Member::Named(name) if name == member))
                .ok_or_else(|| wrong(format!("{member} is missing")))?;
            self.expression(&field.expr, tables)
        });
        Ok((name, values.collect::<Result<_, Error>>()?))
    }

    fn method(&self, name: &str, arguments: Vec<String>) -> Option<String> {
        let joined = arguments.join(", ");
        match name {
            "lt" => Some(format!("({} < {})", arguments[0], arguments.get(1)?)),
            // WGSL has a single lane.
            "all" => Some(arguments[0].clone()),
            // Rows of the Rust matrix are columns in WGSL.
            "times" => Some(format!("({} * {})", arguments.get(1)?, arguments[0])),
            "transposed" => Some(format!("transpose({joined})")),
            "mul_add" => Some(format!("fma({joined})")),
            "fused_dot" => Some(format!("dot({joined})")),
            "sqrt" | "abs" | "min" | "max" | "dot" | "kept" => Some(format!("{name}({joined})")),
            _ => ["vec3", "quat"]
                .into_iter()
                .find(|module| self.is_law(module, name))
                .map(|module| format!("{module}_{name}({joined})")),
        }
    }

    fn is_law(&self, module: &str, name: &str) -> bool {
        self.known
            .functions
            .contains(&(module.to_owned(), name.to_owned()))
    }

    fn call(
        &self,
        path: &[String],
        arguments: &[&Expr],
        span: proc_macro2::Span,
        tables: &Tables,
    ) -> Result<String, Error> {
        let own = match self.module {
            "vec3" => "Vec3",
            "quat" => "Quat",
            _ => "T",
        };
        let path: Vec<&str> = path
            .iter()
            .map(|name| if name == "Self" { own } else { name })
            .collect();
        if let ["T", "splat"] = *path {
            return Ok(literal(constant(arguments[0])?));
        }
        if let ["polynomial"] = *path {
            let Expr::Reference(table) = arguments[0] else {
                return Err(Error::new(
                    span,
                    "`polynomial` takes a reference to a constant table",
                ));
            };
            let name = self.expression(&table.expr, tables)?;
            let x = self.expression(arguments[1], tables)?;
            let tables = tables.borrow();
            let table = tables.get(&name).filter(|table| !table.is_empty());
            let table = table.ok_or_else(|| Error::new(span, format!("no table {name}")))?;
            let mut terms = table.iter().rev().map(|&c| literal(c));
            let first = terms.next().unwrap_or_default();
            return Ok(terms.fold(first, |sum, c| format!("fma({sum}, {x}, {c})")));
        }
        let values = self.list(arguments.iter().copied(), tables)?;
        let joined = values.join(", ");
        let (module, name) = match *path {
            ["T", "zero"] => return Ok("0.0".to_owned()),
            ["T", name @ ("min" | "max" | "sqrt" | "abs")] => {
                return Ok(format!("{name}({joined})"));
            }
            ["T" | "Vec3" | "Quat", "select"] => {
                return Ok(format!(
                    "select({}, {}, {})",
                    values[2], values[1], values[0]
                ));
            }
            ["Vec3", "new"] | ["Vec3", "zero"] => return Ok(format!("vec3<f32>({joined})")),
            ["Quat", "new"] => return Ok(format!("vec4<f32>({joined})")),
            ["Mat3", "new"] => return Ok(format!("mat3x3<f32>({joined})")),
            ["T", name] => ("real", name),
            ["Quat", name] => ("quat", name),
            ["Mat3", name] => ("mat3", name),
            [module, name] => (module, name),
            [name] => (
                self.uses.get(name).map_or(self.module, String::as_str),
                name,
            ),
            _ => return Err(Error::new(span, "this path is not translated")),
        };
        if self.is_law(module, name) {
            Ok(format!("{module}_{name}({joined})"))
        } else {
            Err(Error::new(
                span,
                format!("no law is called {module}::{name}"),
            ))
        }
    }

    fn table(&self, value: &Expr) -> Result<Vec<f64>, Error> {
        match value {
            Expr::Array(array) => array.elems.iter().map(constant).collect(),
            other => Err(Error::new(
                other.span(),
                "a constant must be an array of numbers",
            )),
        }
    }
}

/// The single expression of a block.
fn only_expression(block: &Block) -> Result<&Expr, Error> {
    match block.stmts.as_slice() {
        [Stmt::Expr(value, None)] => Ok(value),
        _ => Err(Error::new(block.span(), "a branch must be one expression")),
    }
}

fn is_rows(member: &Member) -> bool {
    matches!(member, Member::Named(name) if name == "rows")
}

/// The identifier that a pattern consists of.
pub fn ident(pattern: &Pat) -> Result<String, Error> {
    match pattern {
        Pat::Ident(name) if name.mutability.is_none() => Ok(name.ident.to_string()),
        other => Err(Error::new(other.span(), "a pattern must be a name")),
    }
}

/// Value of a constant expression.
fn constant(value: &Expr) -> Result<f64, Error> {
    let unknown = || Error::new(value.span(), "this constant is not translated");
    match value {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Float(number) => number.base10_parse(),
            _ => Err(unknown()),
        },
        Expr::Paren(inner) => constant(&inner.expr),
        Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => Ok(-constant(&unary.expr)?),
        Expr::Binary(binary) => {
            let (left, right) = (constant(&binary.left)?, constant(&binary.right)?);
            match binary.op {
                BinOp::Add(_) => Ok(left + right),
                BinOp::Sub(_) => Ok(left - right),
                BinOp::Mul(_) => Ok(left * right),
                BinOp::Div(_) => Ok(left / right),
                _ => Err(unknown()),
            }
        }
        // `f64::from(…)`
        Expr::Call(call) if call.args.len() == 1 => constant(&call.args[0]),
        Expr::Path(path) => match path
            .path
            .segments
            .last()
            .map(|s| s.ident.to_string())
            .as_deref()
        {
            Some("PI") => Ok(std::f64::consts::PI),
            Some("FRAC_PI_2") => Ok(std::f64::consts::FRAC_PI_2),
            Some("MIN_POSITIVE") => Ok(f64::from(f32::MIN_POSITIVE)),
            _ => Err(unknown()),
        },
        _ => Err(unknown()),
    }
}

/// The shortest text that parses to the nearest f32.
fn literal(value: f64) -> String {
    format!("{:?}", value as f32)
}

/// Longest line that is not wrapped.
const WIDTH: usize = 100;

/// `name(a, b)`, with one item per line if that would be too long.
pub fn listed(name: &str, items: &[String], indent: &str) -> String {
    let line = format!("{name}({})", items.join(", "));
    if indent.len() + line.chars().count() <= WIDTH {
        return line;
    }
    let items: String = items
        .iter()
        .map(|item| format!("{indent}    {item},\n"))
        .collect();
    format!("{name}(\n{items}{indent})")
}
