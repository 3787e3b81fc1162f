//! Macros: calls that the parser rewrites.

use std::sync::Arc;

use super::ast::{Ast, Element, Fold, Kind, Literal, NodeId};
use super::error::Report;
use super::parser::MOST_NODES;

/// The name of the accumulator, which no source text can spell.
pub(super) const ACCUMULATOR: &str = "@result";
/// The name of the accumulator before that; still refused as a variable.
const OLD_ACCUMULATOR: &str = "__result__";
const UNUSED: &str = "#unused";
const SORT_INPUT: &str = "@__sortBy_input__";

/// A call of a global function, expanded if it is a macro.
pub(super) fn global_call(
    ast: &mut Ast,
    report: &mut Report<'_>,
    offset: u32,
    function: &Arc<str>,
    args: Vec<NodeId>,
) -> NodeId {
    if let ("has", [argument]) = (&**function, args.as_slice()) {
        return match ast.kind(*argument).clone() {
            Kind::Select { operand, field, .. } => ast.add(offset, Kind::Select { operand, field, is_test: true }),
            _ => invalid(ast, report, ast.offset(*argument), "invalid argument to has() macro"),
        };
    }
    ast.add(offset, Kind::Call { function: Arc::clone(function), target: None, args })
}

/// A call of a member function, expanded if it is a macro.
pub(super) fn member_call(
    ast: &mut Ast,
    report: &mut Report<'_>,
    has_lists: bool,
    offset: u32,
    function: &Arc<str>,
    target: NodeId,
    args: Vec<NodeId>,
) -> NodeId {
    let mut expansion = Expansion { ast, offset };
    let expanded = match (&**function, args.as_slice()) {
        ("all" | "exists" | "exists_one", [var, predicate]) => {
            expansion.quantifier(function, target, &[*var], *predicate)
        }
        ("all" | "exists" | "exists_one" | "existsOne", [var, var2, predicate]) => {
            expansion.quantifier(function, target, &[*var, *var2], *predicate)
        }
        ("map", [var, transform]) => expansion.map(target, *var, None, *transform),
        ("map", [var, filter, transform]) => expansion.map(target, *var, Some(*filter), *transform),
        ("filter", [var, filter]) => expansion.map(target, *var, Some(*filter), *var),
        ("bind", [var, init, body]) if expansion.ast.ident(target).is_some_and(|name| &**name == "cel") => {
            expansion.bind_macro(*var, *init, *body)
        }
        ("optMap", [var, transform]) => expansion.opt_map(target, *var, *transform, "optMap"),
        ("optFlatMap", [var, transform]) => expansion.opt_map(target, *var, *transform, "optFlatMap"),
        ("transformList" | "transformMap" | "transformMapEntry", [var, var2, transform]) => {
            expansion.transform(function, target, [*var, *var2], None, *transform)
        }
        ("transformList" | "transformMap" | "transformMapEntry", [var, var2, filter, transform]) => {
            expansion.transform(function, target, [*var, *var2], Some(*filter), *transform)
        }
        ("sortBy", [var, key]) if has_lists => expansion.sort_by(target, *var, *key),
        _ => Ok(ast.add(offset, Kind::Call { function: Arc::clone(function), target: Some(target), args })),
    };
    expanded.unwrap_or_else(|(at, message)| invalid(ast, report, at, &message))
}

fn invalid(ast: &mut Ast, report: &mut Report<'_>, offset: u32, message: &str) -> NodeId {
    report.add(offset, message);
    ast.add(offset, Kind::Invalid)
}

/// Where and why the arguments do not suit the macro.
type Refused = (u32, String);

struct Expansion<'a> {
    ast: &'a mut Ast,
    offset: u32,
}

impl Expansion<'_> {
    fn refuse<T>(&self, at: NodeId, message: &str) -> Result<T, Refused> {
        Err((self.ast.offset(at), message.to_owned()))
    }

    /// The name of an iteration variable.
    fn variable(&self, id: NodeId, message: &str) -> Result<Arc<str>, Refused> {
        match self.ast.ident(id) {
            None => self.refuse(id, message),
            Some(name) if matches!(&**name, ACCUMULATOR | OLD_ACCUMULATOR) => {
                self.refuse(id, "iteration variable overwrites accumulator variable")
            }
            Some(name) => Ok(Arc::clone(name)),
        }
    }

    /// One or two iteration variables with different names.
    fn variables(&self, ids: &[NodeId]) -> Result<(Arc<str>, Option<Arc<str>>), Refused> {
        let mut names = Vec::new();
        for id in ids {
            let name = self.variable(*id, "argument must be a simple name")?;
            if names.contains(&name) {
                return self.refuse(*id, &format!("duplicate variable name: {name}"));
            }
            names.push(name);
        }
        let second = names.get(1).cloned();
        Ok((names.first().cloned().unwrap_or_else(|| UNUSED.into()), second))
    }

    fn add(&mut self, kind: Kind) -> NodeId {
        self.ast.add(self.offset, kind)
    }

    fn literal(&mut self, literal: Literal) -> NodeId {
        self.add(Kind::Literal(literal))
    }

    fn ident(&mut self, name: &str) -> NodeId {
        self.add(Kind::Ident(name.into()))
    }

    fn accu(&mut self) -> NodeId {
        self.ident(ACCUMULATOR)
    }

    fn call(&mut self, function: &str, args: Vec<NodeId>) -> NodeId {
        self.add(Kind::Call { function: function.into(), target: None, args })
    }

    fn member(&mut self, function: &str, target: NodeId, args: Vec<NodeId>) -> NodeId {
        self.add(Kind::Call { function: function.into(), target: Some(target), args })
    }

    fn list(&mut self, values: &[NodeId]) -> NodeId {
        let elements = values.iter().map(|value| Element { value: *value, is_optional: false }).collect();
        self.add(Kind::List(elements))
    }

    fn fold(
        &mut self,
        range: NodeId,
        vars: (Arc<str>, Option<Arc<str>>),
        [init, condition, step, result]: [NodeId; 4],
    ) -> NodeId {
        let (iter_var, iter_var2) = vars;
        let accu_var = ACCUMULATOR.into();
        self.add(Kind::Fold(Box::new(Fold { range, iter_var, iter_var2, accu_var, init, condition, step, result })))
    }

    fn quantifier(
        &mut self,
        function: &str,
        target: NodeId,
        vars: &[NodeId],
        predicate: NodeId,
    ) -> Result<NodeId, Refused> {
        let vars = self.variables(vars)?;
        let parts = match function {
            "all" => {
                let init = self.literal(Literal::Bool(true));
                let accu = self.accu();
                let condition = self.call("@not_strictly_false", vec![accu]);
                let accu = self.accu();
                [init, condition, self.call("_&&_", vec![accu, predicate]), self.accu()]
            }
            "exists" => {
                let init = self.literal(Literal::Bool(false));
                let accu = self.accu();
                let not = self.call("!_", vec![accu]);
                let condition = self.call("@not_strictly_false", vec![not]);
                let accu = self.accu();
                [init, condition, self.call("_||_", vec![accu, predicate]), self.accu()]
            }
            _ => {
                let init = self.literal(Literal::Int(0));
                let condition = self.literal(Literal::Bool(true));
                let (accu, one) = (self.accu(), self.literal(Literal::Int(1)));
                let sum = self.call("_+_", vec![accu, one]);
                let accu = self.accu();
                let step = self.call("_?_:_", vec![predicate, sum, accu]);
                let (accu, one) = (self.accu(), self.literal(Literal::Int(1)));
                [init, condition, step, self.call("_==_", vec![accu, one])]
            }
        };
        Ok(self.fold(target, vars, parts))
    }

    /// `accu + [transform]`, or only if `filter`, else `accu`.
    fn append(&mut self, filter: Option<NodeId>, transform: NodeId) -> NodeId {
        let accu = self.accu();
        let list = self.list(&[transform]);
        let step = self.call("_+_", vec![accu, list]);
        self.only_if(filter, step)
    }

    fn only_if(&mut self, filter: Option<NodeId>, step: NodeId) -> NodeId {
        match filter {
            None => step,
            Some(filter) => {
                let accu = self.accu();
                self.call("_?_:_", vec![filter, step, accu])
            }
        }
    }

    fn map(
        &mut self,
        target: NodeId,
        var: NodeId,
        filter: Option<NodeId>,
        transform: NodeId,
    ) -> Result<NodeId, Refused> {
        let name = self.variable(var, "argument is not an identifier")?;
        let init = self.list(&[]);
        let condition = self.literal(Literal::Bool(true));
        // `filter` yields its own variable: the node stands in the tree once.
        let step = self.append(filter, transform);
        let result = self.accu();
        Ok(self.fold(target, (name, None), [init, condition, step, result]))
    }

    fn transform(
        &mut self,
        function: &str,
        target: NodeId,
        vars: [NodeId; 2],
        filter: Option<NodeId>,
        transform: NodeId,
    ) -> Result<NodeId, Refused> {
        let vars = self.variables(&vars)?;
        let is_list = function == "transformList";
        let init = if is_list { self.list(&[]) } else { self.add(Kind::Map(Vec::new())) };
        let condition = self.literal(Literal::Bool(true));
        let step = if is_list {
            self.append(filter, transform)
        } else {
            let accu = self.accu();
            let args = if function == "transformMap" {
                vec![accu, self.ident(&vars.0), transform]
            } else {
                vec![accu, transform]
            };
            let insert = self.call("cel.@mapInsert", args);
            self.only_if(filter, insert)
        };
        let result = self.accu();
        Ok(self.fold(target, vars, [init, condition, step, result]))
    }

    /// `name` is `init` within `body`.
    fn bind(&mut self, name: Arc<str>, init: NodeId, body: NodeId) -> NodeId {
        let range = self.list(&[]);
        let condition = self.literal(Literal::Bool(false));
        let step = self.ident(&name);
        let (iter_var, iter_var2, accu_var) = (UNUSED.into(), None, name);
        let fold = Fold { range, iter_var, iter_var2, accu_var, init, condition, step, result: body };
        self.add(Kind::Fold(Box::new(fold)))
    }

    fn bind_macro(&mut self, var: NodeId, init: NodeId, body: NodeId) -> Result<NodeId, Refused> {
        match self.ast.ident(var).cloned() {
            Some(name) => Ok(self.bind(name, init, body)),
            None => self.refuse(var, "cel.bind() variable names must be simple identifiers"),
        }
    }

    fn opt_map(&mut self, target: NodeId, var: NodeId, transform: NodeId, macro_name: &str) -> Result<NodeId, Refused> {
        let Some(name) = self.ast.ident(var).cloned() else {
            return self.refuse(var, &format!("{macro_name}() variable name must be a simple identifier"));
        };
        let room = MOST_NODES.saturating_sub(self.ast.len());
        if self.ast.size(target, room) >= room {
            return self.refuse(target, "expression is too large");
        }
        let condition = self.member("hasValue", target, Vec::new());
        let copy = self.ast.copy(target);
        let value = self.member("value", copy, Vec::new());
        let bound = self.bind(name, value, transform);
        let yes = if macro_name == "optMap" { self.call("optional.of", vec![bound]) } else { bound };
        let no = self.call("optional.none", Vec::new());
        Ok(self.call("_?_:_", vec![condition, yes, no]))
    }

    fn sort_by(&mut self, target: NodeId, var: NodeId, key: NodeId) -> Result<NodeId, Refused> {
        let is_suitable = matches!(
            self.ast.kind(target),
            Kind::List(_) | Kind::Select { .. } | Kind::Ident(_) | Kind::Fold(_) | Kind::Call { .. }
        );
        if !is_suitable {
            let message = "sortBy can only be applied to a list, identifier, comprehension, call or select expression";
            return self.refuse(target, message);
        }
        let input = self.ident(SORT_INPUT);
        let keys = self.map(input, var, None, key)?;
        let input = self.ident(SORT_INPUT);
        let sorted = self.member("@sortByAssociatedKeys", input, vec![keys]);
        Ok(self.bind(SORT_INPUT.into(), target, sorted))
    }
}
