//! Panics become bare traps. The module has no hook that shows a message, so nobody sees what is prepared for one: values, texts, places in
//! the source. A page need not download it.

use std::convert::Infallible;

use anyhow::{Context, Result};
use wasm_encoder::reencode::{Error, Reencode};
use wasm_encoder::{CodeSection, Module};
use wasmparser::{FunctionBody, Operator, Parser};

use crate::contents::Contents;

/// The module without calls of the standard library that never return.
///
/// # Errors
///
/// When it is no module.
pub(crate) fn bare(module: &[u8]) -> Result<Vec<u8>> {
    let contents = Contents::of(module)?;
    let is_standard =
        |name: &str| ["core::", "alloc::", "std::"].iter().any(|of| name.trim_start_matches('<').starts_with(of));
    let standard = contents.functions.iter().map(|function| is_standard(&function.name)).collect();
    let mut written = Module::new();
    Traps { imported: contents.imported, standard }
        .parse_core_module(&mut written, Parser::new(0), module)
        .context("the module cannot be written anew")?;
    Ok(written.finish())
}

struct Traps {
    imported: u32,
    /// Whether a function is the standard library's.
    standard: Vec<bool>,
}

impl Traps {
    fn is_standard(&self, function: u32) -> bool {
        function.checked_sub(self.imported).and_then(|at| self.standard.get(at as usize)).is_some_and(|is| *is)
    }
}

impl Reencode for Traps {
    type Error = Infallible;

    fn parse_function_body(&mut self, code: &mut CodeSection, body: FunctionBody<'_>) -> Result<(), Error> {
        let mut kept = Vec::new();
        for operator in body.get_operators_reader()? {
            let operator = operator?;
            if matches!(operator, Operator::Unreachable) {
                let is_panic = |last: &mut Operator<'_>| matches!(last, Operator::Call { function_index } if self.is_standard(*function_index));
                kept.pop_if(is_panic);
                while kept.pop_if(|last| only_prepares(last)).is_some() {}
            }
            kept.push(operator);
        }
        let mut function = self.new_function_with_parsed_locals(&body)?;
        for operator in kept {
            function.instruction(&self.instruction(operator)?);
        }
        code.function(&function);
        Ok(())
    }
}

/// Nothing sees what it did once the instance has trapped. Before a trap any values may lie on the stack, so each can go alone.
fn only_prepares(operator: &Operator<'_>) -> bool {
    matches!(
        operator,
        Operator::LocalGet { .. }
            | Operator::LocalSet { .. }
            | Operator::LocalTee { .. }
            | Operator::GlobalGet { .. }
            | Operator::I32Const { .. }
            | Operator::I64Const { .. }
            | Operator::I32Add
            | Operator::I32Sub
            | Operator::I32Load { .. }
            | Operator::I64Load { .. }
            | Operator::I32Store { .. }
            | Operator::I64Store { .. }
    )
}

#[cfg(test)]
mod tests {
    use wasm_encoder::{Function, FunctionSection, NameMap, NameSection, TypeSection, ValType};

    use super::*;

    #[test]
    fn only_the_standard_library_is_not_called_before_a_trap() {
        let mut types = TypeSection::new();
        types.ty().function([ValType::I32], []);
        let (mut functions, mut code, mut named) = (FunctionSection::new(), CodeSection::new(), NameMap::new());
        for (index, name) in (0..).zip(["core::panicking::panic", "wasm_bindgen::throw_str"]) {
            let mut function = Function::new([]);
            function.instructions().i32_const(7).call(index).unreachable().end();
            functions.function(0);
            code.function(&function);
            named.append(index, name);
        }
        let mut names = NameSection::new();
        names.functions(&named);
        let mut module = Module::new();
        module.section(&types).section(&functions).section(&code).section(&names);
        let written = bare(&module.finish()).unwrap();
        let contents = Contents::of(&written).unwrap();
        let bodies: Vec<&[u8]> = contents.functions.iter().map(|function| function.body.as_bytes()).collect();
        assert_eq!(bodies, [&[0, 0x00, 0x0b][..], &[0, 0x41, 7, 0x10, 1, 0x00, 0x0b]]);
    }
}
