//! What is read of a module before it is written anew.

use std::collections::HashMap;

use anyhow::Result;
use wasmparser::{FunctionBody, KnownCustom, Name, Parser, Payload, TypeRef};

/// A module's functions.
pub(crate) struct Contents<'m> {
    /// How many are imported; these have the first indices.
    pub(crate) imported: u32,
    /// The module's own, by index.
    pub(crate) functions: Vec<Function<'m>>,
}

/// A function of the module.
pub(crate) struct Function<'m> {
    /// As a person writes it; empty when the module has no names.
    pub(crate) name: String,
    /// The index of its type.
    pub(crate) of: u32,
    /// How many parameters it takes.
    pub(crate) parameters: u32,
    /// Its code.
    pub(crate) body: FunctionBody<'m>,
}

impl<'m> Contents<'m> {
    /// # Errors
    ///
    /// When it is no module.
    pub(crate) fn of(module: &'m [u8]) -> Result<Self> {
        let (mut types, mut declared, mut bodies, mut names) = (Vec::new(), Vec::new(), Vec::new(), HashMap::new());
        let mut imported = 0;
        for payload in Parser::new(0).parse_all(module) {
            match payload? {
                Payload::TypeSection(section) => {
                    for of in section.into_iter_err_on_gc_types() {
                        types.push(u32::try_from(of?.params().len())?);
                    }
                }
                Payload::ImportSection(section) => {
                    for import in section.into_imports() {
                        imported += u32::from(matches!(import?.ty, TypeRef::Func(_)));
                    }
                }
                Payload::FunctionSection(section) => {
                    for of in section {
                        declared.push(of?);
                    }
                }
                Payload::CodeSectionEntry(body) => bodies.push(body),
                Payload::CustomSection(section) => {
                    let KnownCustom::Name(section) = section.as_known() else { continue };
                    for part in section {
                        let Name::Function(functions) = part? else { continue };
                        for naming in functions {
                            let naming = naming?;
                            names.insert(naming.index, format!("{:#}", rustc_demangle::demangle(naming.name)));
                        }
                    }
                }
                _ => {}
            }
        }
        let function = |((index, of), body)| Function {
            name: names.remove(&index).unwrap_or_default(),
            of,
            parameters: types.get(of as usize).copied().unwrap_or_default(),
            body,
        };
        let functions = (imported..).zip(declared).zip(bodies).map(function).collect();
        Ok(Self { imported, functions })
    }
}
