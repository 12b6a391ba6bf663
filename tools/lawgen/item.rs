//! Translates structs and functions of a Rust file to WGSL declarations.

use std::collections::{BTreeMap, BTreeSet};

use syn::spanned::Spanned;
use syn::{
    Attribute, Error, Expr, Fields, File, FnArg, GenericParam, Generics, ImplItem, Item, Lit, Meta,
    Pat, ReturnType, Signature, TraitItem, Type, TypeParamBound, UseTree,
};

use super::expression::{Body, NATIVE, listed};

/// Items of one file to translate.
pub struct Module {
    name: String,
    structs: Vec<syn::ItemStruct>,
    functions: Vec<Function>,
    /// Imported names, with the module that each comes from.
    uses: BTreeMap<String, String>,
}

struct Function {
    attributes: Vec<Attribute>,
    signature: Signature,
    block: syn::Block,
}

/// Structs and functions of all files, for translation.
pub struct Declarations {
    /// Members of each struct, in order.
    pub structs: BTreeMap<String, Vec<String>>,
    /// Module and name of every translated function.
    pub functions: BTreeSet<(String, String)>,
}

impl Declarations {
    /// Declarations of all modules.
    pub fn of<'a>(modules: impl Iterator<Item = &'a Module>) -> Self {
        let mut known = Declarations {
            structs: BTreeMap::new(),
            functions: BTreeSet::new(),
        };
        for module in modules {
            for item in &module.structs {
                let members = item.fields.iter().filter_map(|f| f.ident.as_ref());
                let members = members.map(ToString::to_string).collect();
                known.structs.insert(item.ident.to_string(), members);
            }
            for function in &module.functions {
                let name = function.signature.ident.to_string();
                known.functions.insert((module.name.clone(), name));
            }
        }
        known
    }
}

/// Collects the items of a file that are generic over `Real`.
pub fn module(source: &str, file: File) -> Module {
    let stem = source.rsplit('/').next().unwrap_or(source);
    let mut module = Module {
        name: stem.trim_end_matches(".rs").to_owned(),
        structs: Vec::new(),
        functions: Vec::new(),
        uses: BTreeMap::new(),
    };
    for item in file.items {
        match item {
            Item::Use(item) => uses(&item.tree, "", &mut module.uses),
            // Vectors, quaternions and matrices are built-in types of WGSL.
            Item::Struct(item)
                if !item.generics.params.is_empty() && native_type(&item.ident).is_none() =>
            {
                module.structs.push(item);
            }
            Item::Fn(item) if over_real(&item.sig.generics) && !for_host(&item.sig.output) => {
                module.function(item.attrs, item.sig, *item.block);
            }
            Item::Impl(item) if item.trait_.is_none() && over_real(&item.generics) => {
                for inner in item.items {
                    if let ImplItem::Fn(inner) = inner {
                        module.function(inner.attrs, inner.sig, inner.block);
                    }
                }
            }
            Item::Trait(item) if item.ident == "Real" => {
                for inner in item.items {
                    if let TraitItem::Fn(inner) = inner
                        && let Some(block) = inner.default
                    {
                        module.function(inner.attrs, inner.sig, block);
                    }
                }
            }
            _ => {}
        }
    }
    module
}

/// Whether a function returns second derivatives, which no kernel uses.
fn for_host(output: &ReturnType) -> bool {
    matches!(output, ReturnType::Type(_, ty)
        if matches!(&**ty, Type::Path(path)
            if path.path.segments.last().is_some_and(|last| last.ident == "Curvature")))
}

impl Module {
    fn function(&mut self, attributes: Vec<Attribute>, signature: Signature, block: syn::Block) {
        if !NATIVE.contains(&signature.ident.to_string().as_str()) {
            self.functions.push(Function {
                attributes,
                signature,
                block,
            });
        }
    }

    /// WGSL declarations, in order.
    pub fn wgsl(&self, known: &Declarations) -> Result<Vec<String>, Error> {
        let structs = self.structs.iter().map(structure);
        let functions = self.functions.iter().map(|f| self.translate(f, known));
        structs.chain(functions).collect()
    }

    fn translate(&self, function: &Function, known: &Declarations) -> Result<String, Error> {
        let signature = &function.signature;
        let name = format!("{}_{}", self.name, signature.ident);
        let mut parameters = Vec::new();
        for input in &signature.inputs {
            match input {
                FnArg::Receiver(_) => parameters.push(format!("own: {}", self.own_type())),
                FnArg::Typed(input) => self.parameter(&input.pat, &input.ty, &mut parameters)?,
            }
        }
        let mut text = String::new();
        let result = match &signature.output {
            ReturnType::Type(_, ty) => match &**ty {
                Type::Tuple(tuple) => {
                    let name = format!("{name}_result");
                    text = format!(
                        "// What {}_{} returns.\nstruct {name} {{\n",
                        self.name, signature.ident
                    );
                    for (k, element) in tuple.elems.iter().enumerate() {
                        text += &format!("    x{k}: {},\n", self.wgsl_type(element)?);
                    }
                    text += "}\n\n";
                    name
                }
                other => self.wgsl_type(other)?,
            },
            ReturnType::Default => {
                return Err(Error::new(signature.span(), "a law must return something"));
            }
        };
        let body = Body {
            module: &self.name,
            uses: &self.uses,
            known,
            result: &result,
        };
        text += &plain_comments(&function.attributes, "");
        text += &listed(&format!("fn {name}"), &parameters, "");
        text += &format!(" -> {result} {{\n");
        text += &body.block(&function.block)?;
        text += "}\n";
        Ok(text)
    }

    /// A name and its type; each member of a tuple becomes a parameter.
    fn parameter(&self, pattern: &Pat, ty: &Type, to: &mut Vec<String>) -> Result<(), Error> {
        match (pattern, ty) {
            (Pat::Ident(name), _) => to.push(format!("{}: {}", name.ident, self.wgsl_type(ty)?)),
            (Pat::Tuple(names), Type::Tuple(types)) => {
                for (name, ty) in names.elems.iter().zip(&types.elems) {
                    self.parameter(name, ty, to)?;
                }
            }
            (other, _) => {
                let what = "a parameter must be a name or a tuple of names";
                return Err(Error::new(other.span(), what));
            }
        }
        Ok(())
    }

    /// Type of `self`.
    fn own_type(&self) -> &'static str {
        match self.name.as_str() {
            "quat" => "vec4<f32>",
            "vec3" => "vec3<f32>",
            "mat3" => "mat3x3<f32>",
            _ => "f32",
        }
    }

    fn wgsl_type(&self, ty: &Type) -> Result<String, Error> {
        match ty {
            Type::Reference(reference) => self.wgsl_type(&reference.elem),
            Type::Path(path) => {
                let last = path.path.segments.last();
                let name = last.map_or_else(String::new, |s| s.ident.to_string());
                Ok(match name.as_str() {
                    "T" => "f32".to_owned(),
                    "Self" => self.own_type().to_owned(),
                    "Mask" => "bool".to_owned(),
                    _ => native_type(&name).map_or(name, str::to_owned),
                })
            }
            other => Err(Error::new(other.span(), "this type has no WGSL")),
        }
    }
}

/// WGSL's own type for vectors, quaternions and matrices; columns of a WGSL matrix are rows of the Rust one.
fn native_type(name: &(impl ToString + ?Sized)) -> Option<&'static str> {
    match name.to_string().as_str() {
        "Vec3" => Some("vec3<f32>"),
        "Quat" => Some("vec4<f32>"),
        "Mat3" => Some("mat3x3<f32>"),
        _ => None,
    }
}

fn over_real(generics: &Generics) -> bool {
    generics.params.iter().any(|parameter| {
        matches!(parameter, GenericParam::Type(parameter) if parameter.bounds.iter().any(|bound| {
            matches!(bound, TypeParamBound::Trait(bound) if bound.path.is_ident("Real"))
        }))
    })
}

fn uses(tree: &UseTree, module: &str, found: &mut BTreeMap<String, String>) {
    match tree {
        UseTree::Path(path) => uses(&path.tree, &path.ident.to_string(), found),
        UseTree::Name(name) => {
            found.insert(name.ident.to_string(), module.to_owned());
        }
        UseTree::Group(group) => group.items.iter().for_each(|t| uses(t, module, found)),
        UseTree::Rename(_) | UseTree::Glob(_) => {}
    }
}

fn structure(item: &syn::ItemStruct) -> Result<String, Error> {
    let Fields::Named(fields) = &item.fields else {
        return Err(Error::new(item.span(), "a struct must name its fields"));
    };
    let nowhere = Module {
        name: String::new(),
        structs: Vec::new(),
        functions: Vec::new(),
        uses: BTreeMap::new(),
    };
    let mut text = plain_comments(&item.attrs, "");
    text += &format!("struct {} {{\n", item.ident);
    for field in &fields.named {
        let name = field
            .ident
            .as_ref()
            .map_or_else(String::new, ToString::to_string);
        text += &plain_comments(&field.attrs, "    ");
        text += &format!("    {name}: {},\n", nowhere.wgsl_type(&field.ty)?);
    }
    text += "}\n";
    Ok(text)
}

/// Doc comments as plain comments.
fn plain_comments(attributes: &[Attribute], indent: &str) -> String {
    let mut text = String::new();
    for attribute in attributes {
        if let Meta::NameValue(doc) = &attribute.meta
            && doc.path.is_ident("doc")
            && let Expr::Lit(literal) = &doc.value
            && let Lit::Str(line) = &literal.lit
        {
            text += format!("{indent}//{}", line.value()).trim_end();
            text.push('\n');
        }
    }
    text
}
