//! The same module, written so that it compresses well: a page downloads a twentieth less.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::convert::Infallible;

use anyhow::{Context, Result};
use wasm_encoder::reencode::{Error, Reencode, utils};
use wasm_encoder::{CodeSection, Function, FunctionSection, Instruction, Module, ValType};
use wasmparser::{
    CodeSectionReader, CustomSectionReader, FunctionBody, FunctionSectionReader, KnownCustom, MemArg, Operator, Parser,
};

use crate::contents::Contents;
use crate::similar;

/// How many indices take one byte.
const SHORT: u32 = 128;

/// Functions that have this many instructions in a row in common are alike.
const ALIKE: usize = 3;

/// The module without names. The functions that are called most have the shortest indices, the others stand beside similar ones. In each function
/// the locals that are used most have the first indices.
///
/// # Errors
///
/// When it is no module.
pub(crate) fn compact(module: &[u8]) -> Result<Vec<u8>> {
    let contents = Contents::of(module)?;
    let mut order = Order {
        imported: contents.imported,
        indices: indices(&contents)?,
        parameters: contents.functions.iter().map(|function| function.parameters).collect(),
    };
    let mut written = Module::new();
    order.parse_core_module(&mut written, Parser::new(0), module).context("the module cannot be written anew")?;
    Ok(written.finish())
}

/// Of each of the module's own functions the index of the first that is equal, and so are those that both call.
fn firsts(contents: &Contents<'_>) -> Result<Vec<u32>> {
    let mut order = Order {
        imported: contents.imported,
        indices: (contents.imported..).zip(&contents.functions).map(|(index, _)| index).collect(),
        parameters: Vec::new(),
    };
    loop {
        let mut seen = HashMap::new();
        let mut firsts = Vec::new();
        for (index, function) in (contents.imported..).zip(&contents.functions) {
            let code = order.function(function.parameters, &function.body)?.into_raw_body();
            firsts.push(*seen.entry((function.of, code)).or_insert(index));
        }
        if firsts == order.indices {
            return Ok(firsts);
        }
        order.indices = firsts;
    }
}

/// The index that each of the module's own functions gets: one for all that are equal.
fn indices(contents: &Contents<'_>) -> Result<Vec<u32>> {
    let firsts = firsts(contents)?;
    let mut calls: HashMap<u32, usize> = HashMap::new();
    for function in &contents.functions {
        for operator in function.body.get_operators_reader()? {
            if let Operator::Call { function_index } = operator? {
                *calls.entry(function_index).or_default() += 1;
            }
        }
    }
    let own = (contents.imported..).zip(&contents.functions).zip(&firsts);
    let mut functions: Vec<_> =
        own.filter(|((index, _), first)| index == *first).map(|(function, _)| function).collect();
    functions.sort_by_key(|(index, _)| Reverse(calls.get(index).copied().unwrap_or_default()));
    let mut others = functions.split_off(functions.len().min(SHORT.saturating_sub(contents.imported) as usize));
    others.sort_by_key(|(_, function)| (&*function.name, function.body.range().len(), function.body.as_bytes()));
    let parts = others.iter().map(|(_, function)| parts(&function.body)).collect::<Result<Vec<_>>>()?;
    functions.extend(similar::order(parts).into_iter().filter_map(|position| others.get(position)));
    let indices: HashMap<u32, u32> = functions.into_iter().map(|(index, _)| index).zip(contents.imported..).collect();
    Ok(firsts.into_iter().filter_map(|first| indices.get(&first).copied()).collect())
}

/// All runs of [`ALIKE`] instructions, as bytes.
fn parts<'m>(body: &FunctionBody<'m>) -> Result<Vec<&'m [u8]>> {
    let mut reader = body.get_operators_reader()?;
    let mut starts = vec![reader.original_position()];
    while !reader.eof() {
        reader.read()?;
        starts.push(reader.original_position());
    }
    let (bytes, start) = (body.as_bytes(), body.range().start);
    let run = |run: &[usize]| bytes.get(run.first()? - start..run.last()? - start);
    Ok(starts.windows(ALIKE + 1).filter_map(run).collect())
}

struct Order {
    /// How many functions are imported; these stay.
    imported: u32,
    /// The index that each of the module's own functions gets, by the position that it has.
    indices: Vec<u32>,
    /// How many parameters each takes.
    parameters: Vec<u32>,
}

impl Order {
    /// What is said of each of the module's own functions, in their new order.
    fn arranged<T>(&self, items: Vec<T>) -> impl Iterator<Item = T> + use<T> {
        let mut items: Vec<(u32, T)> = self.indices.iter().copied().zip(items).collect();
        items.sort_by_key(|(index, _)| *index);
        items.dedup_by_key(|(index, _)| *index);
        items.into_iter().map(|(_, item)| item)
    }

    fn function(&mut self, parameters: u32, body: &FunctionBody<'_>) -> Result<Function, Error> {
        let mut locals: Vec<Local> = Vec::new();
        for declared in body.get_locals_reader()? {
            let (count, of) = declared?;
            let of = self.val_type(of)?;
            locals.extend((0..count).map(|_| Local { of, uses: 0, first: usize::MAX }));
        }
        let operators = body.get_operators_reader()?.into_iter().collect::<Result<Vec<_>, _>>()?;
        for (at, operator) in operators.iter().enumerate() {
            let own = local(operator).and_then(|index| locals.get_mut(index.checked_sub(parameters)? as usize));
            if let Some(local) = own {
                local.uses += 1;
                local.first = local.first.min(at);
            }
        }
        let mut used: Vec<(Local, u32)> =
            locals.into_iter().zip(parameters..).filter(|(local, _)| local.uses > 0).collect();
        used.sort_unstable_by_key(|(Local { of, uses, first }, _)| {
            (*of != ValType::I32, *of != ValType::I64, *of != ValType::F64, Reverse(*uses), *first)
        });
        let mut function = Function::new_with_locals_types(used.iter().map(|(local, _)| local.of));
        let indices: HashMap<u32, u32> = used.into_iter().map(|(_, index)| index).zip(parameters..).collect();
        let new = |index: u32| indices.get(&index).copied().unwrap_or(index);
        for operator in operators {
            function.instruction(&match operator {
                Operator::LocalGet { local_index } => Instruction::LocalGet(new(local_index)),
                Operator::LocalSet { local_index } => Instruction::LocalSet(new(local_index)),
                Operator::LocalTee { local_index } => Instruction::LocalTee(new(local_index)),
                other => self.instruction(other)?,
            });
        }
        Ok(function)
    }
}

/// A local of a function that is no parameter.
struct Local {
    of: ValType,
    uses: usize,
    /// The first instruction that uses it.
    first: usize,
}

fn local(operator: &Operator<'_>) -> Option<u32> {
    match operator {
        Operator::LocalGet { local_index }
        | Operator::LocalSet { local_index }
        | Operator::LocalTee { local_index } => Some(*local_index),
        _ => None,
    }
}

impl Reencode for Order {
    type Error = Infallible;

    fn function_index(&mut self, function: u32) -> Result<u32, Error> {
        let own = function.checked_sub(self.imported).and_then(|at| self.indices.get(at as usize));
        Ok(own.copied().unwrap_or(function))
    }

    /// Alignment is a hint that machines of today do not need; one that promises nothing always holds.
    fn mem_arg(&mut self, argument: MemArg) -> Result<wasm_encoder::MemArg, Error> {
        Ok(wasm_encoder::MemArg { align: 0, ..utils::mem_arg(self, argument)? })
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
        for (parameters, body) in self.arranged(self.parameters.iter().copied().zip(bodies).collect()) {
            code.function(&self.function(parameters, &body)?);
        }
        Ok(())
    }

    fn parse_custom_section(&mut self, module: &mut Module, section: CustomSectionReader<'_>) -> Result<(), Error> {
        match section.as_known() {
            KnownCustom::Name(_) => Ok(()),
            _ => utils::parse_custom_section(self, module, section),
        }
    }
}

#[cfg(test)]
mod tests {
    use wasm_encoder::{BlockType, FunctionSection, TypeSection};

    use super::*;

    #[test]
    fn equal_functions_are_one_and_locals_stand_by_use() {
        let mut types = TypeSection::new();
        types.ty().function([ValType::I32], []);
        let mut functions = FunctionSection::new();
        let mut code = CodeSection::new();
        // Both keep their parameter in a local, in the second and in the first; the third calls both.
        for of in [[(1, ValType::I64), (1, ValType::I32)], [(1, ValType::I32), (1, ValType::I64)]] {
            let mut function = Function::new(of);
            let kept = if of[0].1 == ValType::I64 { 2 } else { 1 };
            function.instructions().local_get(0).local_set(kept).end();
            functions.function(0);
            code.function(&function);
        }
        let mut caller = Function::new([]);
        caller.instructions().block(BlockType::Empty).local_get(0).call(0).local_get(0).call(1).end().end();
        functions.function(0);
        code.function(&caller);
        let mut module = Module::new();
        module.section(&types).section(&functions).section(&code);
        let written = compact(&module.finish()).unwrap();
        let contents = Contents::of(&written).unwrap();
        let bodies: Vec<&[u8]> = contents.functions.iter().map(|function| function.body.as_bytes()).collect();
        assert_eq!(
            bodies,
            [
                &[1, 1, 0x7f, 0x20, 0, 0x21, 1, 0x0b][..],
                &[0, 0x02, 0x40, 0x20, 0, 0x10, 0, 0x20, 0, 0x10, 0, 0x0b, 0x0b]
            ]
        );
    }
}
