//! Tokens to a syntax tree, by precedence climbing.

use std::sync::Arc;

use super::ast::{Ast, Element, Entry, Kind, Literal, NodeId};
use super::error::{NOWHERE, Report};
use super::lexer::{Spanned, Token, tokens, unescape};
use super::{Environment, macros};

/// How deep an expression may nest.
const MOST_NESTED: usize = 250;
const MOST_CODE_POINTS: usize = 100_000;
/// Macros copy their arguments; a chain of `optMap` doubles with each link.
pub(super) const MOST_NODES: usize = 400_000;

/// Parses and expands macros. `None` when errors were reported.
pub(super) fn parse<'a>(source: &'a str, env: &Environment, report: &mut Report<'a>) -> Option<(Ast, NodeId)> {
    let size = source.chars().count();
    if size > MOST_CODE_POINTS {
        let message = format!("expression code point size exceeds limit: size: {size}, limit {MOST_CODE_POINTS}");
        report.add(NOWHERE, message);
        return None;
    }
    let tokens = tokens(source, report);
    let mut parser = Parser {
        tokens,
        position: 0,
        report,
        ast: Ast::default(),
        depth: 0,
        has_lists: env.has_lists(),
        has_escaped_names: env.is_after_1_36(),
        is_lost: false,
    };
    let root = parser.expression();
    if let Ok((_, height)) = root
        && height > MOST_NESTED
    {
        parser.report.add(NOWHERE, "max recursion depth exceeded");
    }
    if root.is_ok() && parser.peek() != Token::End {
        parser.unexpected("<EOF>");
    }
    let Parser { ast, report, .. } = parser;
    root.ok().filter(|_| report.is_empty()).map(|(root, _)| (ast, root))
}

/// Parsing stopped; the reason was reported.
pub(super) struct Stop;

/// A node and how deep operators, selections and calls nest in it.
type Parsed = Result<(NodeId, usize), Stop>;

struct Parser<'a, 'r> {
    tokens: Vec<Spanned<'a>>,
    position: usize,
    report: &'r mut Report<'a>,
    ast: Ast,
    depth: usize,
    has_lists: bool,
    /// Whether names can be written in backticks after a dot.
    has_escaped_names: bool,
    is_lost: bool,
}

const EXPECTED: &str =
    "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";

const RESERVED: [&str; 17] = [
    "as",
    "break",
    "const",
    "continue",
    "else",
    "for",
    "function",
    "if",
    "import",
    "let",
    "loop",
    "package",
    "namespace",
    "return",
    "var",
    "void",
    "while",
];

/// How strongly `&&` binds; `||` binds less, everything else more.
const AND: u8 = 1;

/// Binary operators, their functions, and how strongly they bind.
const OPERATORS: [(&str, &str, u8); 13] = [
    ("||", "_||_", 0),
    ("&&", "_&&_", AND),
    ("<", "_<_", 2),
    ("<=", "_<=_", 2),
    (">=", "_>=_", 2),
    (">", "_>_", 2),
    ("==", "_==_", 2),
    ("!=", "_!=_", 2),
    ("+", "_+_", 3),
    ("-", "_-_", 3),
    ("*", "_*_", 4),
    ("/", "_/_", 4),
    ("%", "_%_", 4),
];

impl<'a> Parser<'a, '_> {
    fn peek(&self) -> Token {
        self.tokens.get(self.position).map_or(Token::End, |spanned| spanned.token)
    }

    fn peek_at(&self, ahead: usize) -> Token {
        self.tokens.get(self.position.saturating_add(ahead)).map_or(Token::End, |spanned| spanned.token)
    }

    fn is(&self, sign: &str) -> bool {
        matches!(self.peek(), Token::Sign(found) if found == sign)
    }

    fn current(&self) -> Spanned<'a> {
        let end = Spanned { token: Token::End, text: "<EOF>", offset: 0 };
        self.tokens.get(self.position).or(self.tokens.last()).copied().unwrap_or(end)
    }

    fn next(&mut self) -> Spanned<'a> {
        let current = self.current();
        self.position = self.position.saturating_add(1);
        current
    }

    /// Takes the sign if it comes next.
    fn take(&mut self, sign: &str) -> Option<u32> {
        self.is(sign).then(|| self.next().offset)
    }

    fn expect(&mut self, sign: &str) -> Result<u32, Stop> {
        match self.take(sign) {
            Some(offset) => Ok(offset),
            None => Err(self.unexpected(&format!("'{sign}'"))),
        }
    }

    fn unexpected(&mut self, expected: &str) -> Stop {
        if !self.is_lost {
            let found = self.current();
            let message = if expected == EXPECTED || expected == "<EOF>" {
                format!("extraneous input '{}' expecting {expected}", found.text)
            } else {
                format!("mismatched input '{}' expecting {expected}", found.text)
            };
            self.report.syntax(found.offset, &message);
        }
        self.is_lost = true;
        Stop
    }

    fn too_deep(&mut self) -> Stop {
        self.report.add(NOWHERE, format!("expression recursion limit exceeded: {MOST_NESTED}"));
        self.is_lost = true;
        Stop
    }

    fn expression(&mut self) -> Parsed {
        self.depth += 1;
        if self.depth > MOST_NESTED {
            return Err(self.too_deep());
        }
        if self.ast.len() > MOST_NODES {
            self.report.add(NOWHERE, "expression is too large");
            return Err(Stop);
        }
        let (condition, height) = self.operation(0)?;
        let result = match self.take("?") {
            None => (condition, height),
            Some(offset) => {
                let (yes, yes_height) = self.operation(0)?;
                self.expect(":")?;
                let (no, no_height) = self.expression()?;
                let node = self.call(offset, "_?_:_", vec![condition, yes, no]);
                (node, height.max(yes_height).max(no_height).saturating_add(1))
            }
        };
        self.depth -= 1;
        Ok(result)
    }

    /// Operands and operators that bind at least as strongly as `level`.
    fn operation(&mut self, level: u8) -> Parsed {
        let mut left = self.unary()?;
        while let Some((function, strength)) = self.operator()
            && strength >= level
        {
            let offset = self.next().offset;
            let right = self.operation(strength.saturating_add(1))?;
            left = if strength <= AND {
                self.chain(function, strength, offset, [left, right])?
            } else {
                (self.call(offset, function, vec![left.0, right.0]), left.1.max(right.1).saturating_add(1))
            };
        }
        Ok(left)
    }

    /// The binary operator that comes next and how strongly it binds.
    fn operator(&self) -> Option<(&'static str, u8)> {
        match self.peek() {
            Token::In => Some(("@in", AND + 1)),
            Token::Sign(sign) => {
                let found = OPERATORS.iter().find(|(operator, _, _)| *operator == sign);
                found.map(|(_, function, strength)| (*function, *strength))
            }
            _ => None,
        }
    }

    /// All operands of one kind of logical operator in a row.
    #[inline(never)]
    fn chain(&mut self, function: &'static str, strength: u8, offset: u32, first: [(NodeId, usize); 2]) -> Parsed {
        let [left, right] = first;
        let mut height = left.1.max(right.1);
        let (mut terms, mut offsets) = (vec![left.0, right.0], vec![offset]);
        while self.operator() == Some((function, strength)) {
            offsets.push(self.next().offset);
            let (term, term_height) = self.operation(strength.saturating_add(1))?;
            height = height.max(term_height);
            terms.push(term);
        }
        Ok((self.balanced(function, &terms, &offsets), height))
    }

    /// A tree of small depth: the operator in the middle is the root.
    fn balanced(&mut self, function: &str, terms: &[NodeId], offsets: &[u32]) -> NodeId {
        let middle = offsets.len() / 2;
        let (Some(offset), Some((left, right))) =
            (offsets.get(middle), terms.split_at_checked(middle.saturating_add(1)))
        else {
            let invalid = || NodeId::default();
            return terms.first().copied().unwrap_or_else(invalid);
        };
        let left = self.balanced(function, left, offsets.get(..middle).unwrap_or_default());
        let right = self.balanced(function, right, offsets.get(middle.saturating_add(1)..).unwrap_or_default());
        self.call(*offset, function, vec![left, right])
    }

    fn unary(&mut self) -> Parsed {
        for (sign, function) in [("!", "!_"), ("-", "-_")] {
            let starts_number = sign == "-" && matches!(self.peek_at(1), Token::Int | Token::Double);
            if !self.is(sign) || starts_number {
                continue;
            }
            let offset = self.current().offset;
            let mut is_odd = false;
            while self.take(sign).is_some() {
                is_odd = !is_odd;
            }
            let (operand, height) = self.member()?;
            return Ok(if is_odd { (self.call(offset, function, vec![operand]), height) } else { (operand, height) });
        }
        self.member()
    }

    fn member(&mut self) -> Parsed {
        let (mut node, mut height) = self.primary()?;
        loop {
            if self.is(".") {
                let offset = self.next().offset;
                let is_optional = self.take("?").is_some();
                let name = self.field_name()?;
                if !is_optional && self.is("(") {
                    let open = self.next().offset;
                    let (args, args_height) = self.arguments()?;
                    height = height.max(args_height);
                    node = macros::member_call(&mut self.ast, self.report, self.has_lists, open, &name.0, node, args);
                } else if is_optional {
                    let literal = self.ast.add(name.1, Kind::Literal(Literal::Str(name.0)));
                    node = self.call(offset, "_?._", vec![node, literal]);
                } else {
                    node = self.ast.add(offset, Kind::Select { operand: node, field: name.0, is_test: false });
                }
            } else if self.is("[") {
                let offset = self.next().offset;
                let function = if self.take("?").is_some() { "_[?_]" } else { "_[_]" };
                let (index, index_height) = self.expression()?;
                self.expect("]")?;
                height = height.max(index_height);
                node = self.call(offset, function, vec![node, index]);
            } else if self.is("{")
                && let Some(name) = self.ast.qualified_name(node)
            {
                node = self.message(&name)?;
                continue;
            } else {
                break;
            }
            height = height.saturating_add(1);
        }
        Ok((node, height))
    }

    /// A name after a dot, with its place.
    fn field_name(&mut self) -> Result<(Arc<str>, u32), Stop> {
        match self.peek() {
            Token::Ident => {
                let name = self.next();
                Ok((name.text.into(), name.offset))
            }
            Token::EscapedIdent => {
                let name = self.next();
                if !self.has_escaped_names {
                    self.report.add(name.offset, "unsupported syntax: '`'");
                }
                Ok((name.text.trim_matches('`').into(), name.offset))
            }
            _ => {
                let found = self.current();
                self.report.syntax(found.offset, &format!("no viable alternative at input '.{}'", found.text));
                self.is_lost = true;
                Err(Stop)
            }
        }
    }

    /// Arguments up to and with the closing bracket.
    #[inline(never)]
    fn arguments(&mut self) -> Result<(Vec<NodeId>, usize), Stop> {
        let (mut args, mut height) = (Vec::new(), 0);
        if self.take(")").is_some() {
            return Ok((args, height));
        }
        loop {
            let (arg, arg_height) = self.expression()?;
            height = height.max(arg_height);
            args.push(arg);
            if self.take(",").is_none() {
                self.expect(")")?;
                return Ok((args, height));
            }
        }
    }

    fn primary(&mut self) -> Parsed {
        let token = self.current();
        match token.token {
            Token::Ident => self.name(false),
            Token::Sign(".") => {
                self.next();
                if self.peek() == Token::Ident { self.name(true) } else { Err(self.unexpected("IDENTIFIER")) }
            }
            Token::Sign("(") => {
                self.next();
                let inner = self.expression()?;
                self.expect(")")?;
                Ok(inner)
            }
            Token::Sign("[") => self.list(),
            Token::Sign("{") => self.map(),
            _ => match self.literal() {
                Some(literal) => Ok((self.ast.add(token.offset, literal), 0)),
                None => Err(self.unexpected(EXPECTED)),
            },
        }
    }

    /// An identifier or a call of a global function.
    #[inline(never)]
    fn name(&mut self, has_dot: bool) -> Parsed {
        let name = self.next();
        if RESERVED.contains(&name.text) {
            let offset = if has_dot { name.offset.saturating_sub(1) } else { name.offset };
            self.report.add(offset, format!("reserved identifier: {}", name.text));
        }
        let text: Arc<str> = if has_dot { format!(".{}", name.text).into() } else { name.text.into() };
        if !self.is("(") {
            return Ok((self.ast.add(name.offset, Kind::Ident(text)), 0));
        }
        let open = self.next().offset;
        let (args, height) = self.arguments()?;
        Ok((macros::global_call(&mut self.ast, self.report, open, &text, args), height))
    }

    #[inline(never)]
    fn list(&mut self) -> Parsed {
        let offset = self.next().offset;
        let (mut elements, mut height) = (Vec::new(), 0);
        while !self.is("]") {
            if self.is(",") && elements.is_empty() {
                self.next();
                break;
            }
            let is_optional = self.take("?").is_some();
            let (value, value_height) = self.expression()?;
            height = height.max(value_height);
            elements.push(Element { value, is_optional });
            if self.take(",").is_none() {
                break;
            }
        }
        self.expect("]")?;
        Ok((self.ast.add(offset, Kind::List(elements)), height))
    }

    #[inline(never)]
    fn map(&mut self) -> Parsed {
        let offset = self.next().offset;
        let (mut entries, mut height) = (Vec::new(), 0);
        while !self.is("}") {
            if self.is(",") && entries.is_empty() {
                self.next();
                break;
            }
            let is_optional = self.take("?").is_some();
            let (key, key_height) = self.expression()?;
            self.expect(":")?;
            let (value, value_height) = self.expression()?;
            height = height.max(key_height).max(value_height);
            entries.push(Entry { key, value, is_optional });
            if self.take(",").is_none() {
                break;
            }
        }
        self.expect("}")?;
        Ok((self.ast.add(offset, Kind::Map(entries)), height))
    }

    /// The fields of a message after its type's name.
    #[inline(never)]
    fn message(&mut self, name: &str) -> Result<NodeId, Stop> {
        let offset = self.next().offset;
        let mut values = Vec::new();
        while !self.is("}") {
            if self.is(",") && values.is_empty() {
                self.next();
                break;
            }
            let _ = self.take("?");
            self.field_name()?;
            self.expect(":")?;
            values.push(self.expression()?.0);
            if self.take(",").is_none() {
                break;
            }
        }
        self.expect("}")?;
        Ok(self.ast.add(offset, Kind::Struct { name: name.into(), values }))
    }

    #[inline(never)]
    fn literal(&mut self) -> Option<Kind> {
        let sign = if self.is("-") { self.next().text } else { "" };
        let token = self.current();
        let literal = match token.token {
            Token::Int => {
                let digits = token.text.strip_prefix("0x");
                let text = format!("{sign}{}", digits.unwrap_or(token.text));
                let parsed = i64::from_str_radix(&text, if digits.is_some() { 16 } else { 10 });
                self.number(parsed.ok().map(Literal::Int), "invalid int literal", sign)
            }
            Token::Uint => {
                let text = token.text.trim_end_matches(['u', 'U']);
                let digits = text.strip_prefix("0x");
                let parsed = u64::from_str_radix(digits.unwrap_or(text), if digits.is_some() { 16 } else { 10 });
                self.number(parsed.ok().map(Literal::Uint), "invalid uint literal", sign)
            }
            Token::Double => {
                let parsed: Option<f64> = format!("{sign}{}", token.text).parse().ok();
                let finite = parsed.filter(|value| value.is_finite());
                self.number(finite.map(Literal::Double), "invalid double literal", sign)
            }
            Token::Str => match unescape(token.text, false).map(String::from_utf8) {
                Ok(Ok(text)) => Kind::Literal(Literal::Str(text.into())),
                Ok(Err(_)) => self.bad(token.offset, "unable to unescape string"),
                Err(message) => self.bad(token.offset, message),
            },
            Token::Bytes => match unescape(token.text, true) {
                Ok(bytes) => Kind::Literal(Literal::Bytes(bytes.into())),
                Err(message) => self.bad(token.offset, message),
            },
            Token::True => Kind::Literal(Literal::Bool(true)),
            Token::False => Kind::Literal(Literal::Bool(false)),
            Token::Null => Kind::Literal(Literal::Null),
            Token::Ident | Token::EscapedIdent | Token::In | Token::Sign(_) | Token::End => return None,
        };
        self.next();
        Some(literal)
    }

    fn number(&mut self, literal: Option<Literal>, message: &str, sign: &str) -> Kind {
        let start = self.current().offset.saturating_sub(u32::from(!sign.is_empty()));
        match literal {
            Some(literal) => Kind::Literal(literal),
            None => self.bad(start, message),
        }
    }

    fn bad(&mut self, offset: u32, message: &str) -> Kind {
        self.report.add(offset, message);
        Kind::Invalid
    }

    fn call(&mut self, offset: u32, function: &str, args: Vec<NodeId>) -> NodeId {
        self.ast.add(offset, Kind::Call { function: function.into(), target: None, args })
    }
}
