//! Functions in the order of their names. Those that are compiled of one generic function for several types are nearly equal; side by side
//! they compress best: a page downloads a twentieth less.

use std::collections::HashMap;
use std::convert::Infallible;

use anyhow::{Context, Result};
use wasm_encoder::reencode::{Error, Reencode, utils};
use wasm_encoder::{CodeSection, FunctionSection, Module};
use wasmparser::{
    CodeSectionReader, CustomSectionReader, FunctionBody, FunctionSectionReader, KnownCustom, Name, NameSectionReader,
    Parser, Payload, TypeRef,
};

/// The module with its functions in the order of their names, and without the names.
///
/// # Errors
///
/// When it is no module.
pub(crate) fn by_name(module: &[u8]) -> Result<Vec<u8>> {
    let mut order = Order::of(module)?;
    let mut sorted = Module::new();
    order.parse_core_module(&mut sorted, Parser::new(0), module).context("the module cannot be written anew")?;
    Ok(sorted.finish())
}

/// Where functions of a module go.
struct Order {
    /// How many functions are imported; these stay.
    imported: u32,
    /// The index that each of the module's own functions gets, by the position that it has.
    indices: Vec<u32>,
}

impl Order {
    fn of(module: &[u8]) -> Result<Self> {
        let (mut imported, mut bodies, mut names) = (0, Vec::new(), HashMap::new());
        for payload in Parser::new(0).parse_all(module) {
            match payload? {
                Payload::ImportSection(imports) => {
                    for import in imports.into_imports() {
                        imported += u32::from(matches!(import?.ty, TypeRef::Func(_)));
                    }
                }
                Payload::CodeSectionEntry(body) => bodies.push(body.as_bytes()),
                Payload::CustomSection(section) => {
                    if let KnownCustom::Name(section) = section.as_known() {
                        names = function_names(section)?;
                    }
                }
                _ => {}
            }
        }
        let named = |index: u32| names.get(&index).copied().map(stem).unwrap_or_default();
        let mut keys: Vec<_> =
            (imported..).zip(bodies).map(|(index, body)| (named(index), body.len(), body, index)).collect();
        keys.sort_unstable();
        let mut indices: Vec<(u32, u32)> = keys.into_iter().map(|(.., index)| index).zip(imported..).collect();
        indices.sort_unstable();
        Ok(Self { imported, indices: indices.into_iter().map(|(_, index)| index).collect() })
    }

    /// What is said of each of the module's own functions, in their new order.
    fn arranged<T>(&self, items: Vec<T>) -> impl Iterator<Item = T> + use<T> {
        let mut items: Vec<(u32, T)> = self.indices.iter().copied().zip(items).collect();
        items.sort_unstable_by_key(|(index, _)| *index);
        items.into_iter().map(|(_, item)| item)
    }
}

fn function_names(section: NameSectionReader<'_>) -> Result<HashMap<u32, &str>> {
    let mut names = HashMap::new();
    for part in section {
        if let Name::Function(functions) = part? {
            for naming in functions {
                let naming = naming?;
                names.insert(naming.index, naming.name);
            }
        }
    }
    Ok(names)
}

/// A mangled name without the digest that tells instances apart.
fn stem(name: &str) -> &str {
    name.rsplit_once("17h").map_or(name, |(stem, _)| stem)
}

impl Reencode for Order {
    type Error = Infallible;

    fn function_index(&mut self, function: u32) -> Result<u32, Error> {
        let own = function.checked_sub(self.imported).and_then(|at| self.indices.get(at as usize));
        Ok(own.copied().unwrap_or(function))
    }

    fn parse_function_section(
        &mut self,
        functions: &mut FunctionSection,
        section: FunctionSectionReader<'_>,
    ) -> Result<(), Error> {
        let types = section.into_iter().collect::<Result<Vec<u32>, _>>()?;
        for of in self.arranged(types) {
            functions.function(of);
        }
        Ok(())
    }

    fn parse_code_section(&mut self, code: &mut CodeSection, section: CodeSectionReader<'_>) -> Result<(), Error> {
        let bodies = section.into_iter().collect::<Result<Vec<FunctionBody<'_>>, _>>()?;
        self.arranged(bodies).try_for_each(|body| self.parse_function_body(code, body))
    }

    fn parse_custom_section(&mut self, module: &mut Module, section: CustomSectionReader<'_>) -> Result<(), Error> {
        match section.as_known() {
            KnownCustom::Name(_) => Ok(()),
            _ => utils::parse_custom_section(self, module, section),
        }
    }
}
