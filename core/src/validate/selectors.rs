//! CEL selectors: what the API server says when it admits them.

use super::node::Node;
use super::report::Report;
use crate::cel::{COST_LIMIT, CompileError, CompileErrorKind, Environment, Lint, MOST_BYTES, compile_and_lint};
use crate::finding::{Code, ErrorKind, Finding};

const MOST: usize = 32;

/// A list of selectors. Expressions that are stored already were admitted once and are not looked at again.
pub(super) fn check_all(out: &mut Report<'_>, selectors: &Node<'_, '_>, stored: bool) {
    out.list(selectors, MOST, |out, selector| {
        let cel = selector.field("cel");
        if !cel.is_set() {
            out.required(cel.at, "a selector needs `cel`");
            out.hint("write `cel: {expression: ...}`");
            return;
        }
        check(out, &cel.field("expression"), stored);
    });
}

fn check(out: &mut Report<'_>, expression: &Node<'_, '_>, stored: bool) {
    let text = expression.text();
    if text.len() > MOST_BYTES {
        if !stored {
            out.too_long(expression.at, text.len(), MOST_BYTES);
        }
        return;
    }
    let environment = if stored {
        Environment::stored(out.profile.version, out.features())
    } else {
        Environment::new_expressions(out.profile.version, out.features())
    };
    match compile_and_lint(text, &environment) {
        Ok((program, lints)) => {
            for lint in lints {
                out.note(explain(&lint, expression));
            }
            if !stored && limit(out, expression, program.max_cost()) {
                out.hint("loop over fewer values, or compare with `==` instead of searching in texts");
            }
        }
        Err(error) => refuse(out, expression, error),
    }
}

/// An expression that does not compile. What cannot be compiled here is left to the API server.
pub(super) fn refuse(out: &mut Report<'_>, expression: &Node<'_, '_>, error: CompileError) {
    if error.kind != CompileErrorKind::NotSupportedHere {
        out.error(ErrorKind::Invalid, Code::ValidateSelector, expression.at, error.message);
        error.hint.into_iter().for_each(|hint| out.hint(hint));
    }
}

/// An expression that may cost too much. False where it may not.
pub(super) fn limit(out: &mut Report<'_>, expression: &Node<'_, '_>, cost: u64) -> bool {
    if cost > COST_LIMIT {
        let message = format!("the expression may cost {cost} units, at most {COST_LIMIT} are allowed");
        out.error(ErrorKind::Forbidden, Code::ValidateSelectorCost, expression.at, message);
    }
    cost > COST_LIMIT
}

fn explain(lint: &Lint, at: &Node<'_, '_>) -> Finding {
    let code = match lint {
        Lint::Unguarded { .. } => Code::LintUnguarded,
        Lint::Unqualified { .. } => Code::LintUnqualified,
        Lint::WireMember { .. } => Code::LintWireMember,
        Lint::NeverEqual { .. } => Code::LintNeverEqual,
        Lint::Fails(_) => Code::LintSelectorFails,
    };
    let (message, hint) = lint.in_words();
    Finding::new(code, at.at, message).with_hint(hint)
}
